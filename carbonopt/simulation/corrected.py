"""A forecast of which the errors, the end of its window, or both have been taken away."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from carbonopt.core.arrays import FloatArray, frozen_float
from carbonopt.simulation.forecast import Forecast


class CorrectedForecast(Forecast):
    """Another forecast, with the truth in the place of some of what it says.

    Parameters
    ----------
    base
        The forecast.
    g_per_kwh
        The truth, shape (T,).
    right
        Whether its values are the true ones, as far as it looks.
    whole
        Whether the true values stand after its end.

    Attributes
    ----------
    is_read
        Whether anybody has looked at it.
    """

    def __init__(self, base: Forecast, g_per_kwh: npt.ArrayLike, right: bool = False, whole: bool = False) -> None:
        super().__init__(base.slots, base.slot_hours, None if whole else base.window_hours)
        self.base = base
        self.truth = frozen_float(g_per_kwh)
        self.right = right
        self.whole = whole
        self.is_read = False

    def issued(self, slot: int) -> FloatArray:
        """Return the forecast from `slot` on."""
        self.is_read = True
        true = self.truth[slot:]
        told = self.base.issued(slot)[: true.size]
        if self.right:
            told = true[: told.size]
        return np.concatenate([told, true[told.size :]]) if self.whole else told

    def describe(self) -> dict[str, Any]:
        """Return what the other forecast says of itself, and what has been taken away."""
        return {**self.base.describe(), "right": self.right, "whole": self.whole}

    @property
    def revised(self) -> bool:
        """As the other forecast: the same policy then looks as often."""
        return self.base.revised

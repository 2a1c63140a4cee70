"""Forecasts as they were issued, e.g. read from a file."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from carbonopt.core.arrays import FloatArray, frozen_float
from carbonopt.core.errors import Fault, InputError
from carbonopt.simulation.forecast import Forecast


class TableForecast(Forecast):
    """Forecasts as they were issued: the latest one at or before a slot is looked at.

    Parameters
    ----------
    issues
        Values [g/kWh] of slots ``slot``, ``slot + 1``, ... by the slot at whose beginning they were known.
    slots, slot_hours, window_hours
        As in `Forecast`.
    source
        Where they come from, for the solution file.

    Raises
    ------
    InputError
        If nothing was issued by slot 0, or an issue is empty, negative or not finite.
    """

    def __init__(
        self,
        issues: Mapping[int, npt.ArrayLike],
        slots: int,
        slot_hours: float = 1.0,
        window_hours: float | None = None,
        source: str = "",
    ) -> None:
        super().__init__(slots, slot_hours, window_hours)
        self.issues = {slot: frozen_float(issues[slot]) for slot in sorted(issues)}
        self.source = source
        self._order = list(self.issues)
        faults = [
            Fault("forecast", "must hold values that are finite and at least 0", row=slot)
            for slot, values in self.issues.items()
            if values.ndim != 1 or not values.size or not bool(np.all((values >= 0) & (values < np.inf)))
        ]
        if not self._order or self._order[0] > 0:
            faults.append(Fault("forecast", "must begin with one that was issued by the beginning of slot 0"))
        if faults:
            raise InputError(faults)

    def issued(self, slot: int) -> FloatArray:
        """Return what the latest issue says of `slot` and later; its last value where it ended before."""
        issue = self._order[bisect_right(self._order, slot) - 1]
        values = self.issues[issue]
        kept = values[min(slot - issue, values.size - 1) :]
        return self._seen(kept, 0)

    def describe(self) -> dict[str, Any]:
        """Return kind, window and source."""
        return {"kind": "table", "window_hours": self.window_hours, "source": self.source}

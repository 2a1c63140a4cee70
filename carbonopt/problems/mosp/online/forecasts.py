"""Forecasts of several zones as one object, so that every policy finds them in `State.forecast`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.simulation import Forecast


class ZoneForecasts(Forecast):
    """The forecasts of all zones; as a `Forecast` of its own, that of the first.

    Parameters
    ----------
    zones
        The forecast of each zone, by name; at least one.
    """

    def __init__(self, zones: Mapping[str, Forecast]) -> None:
        self.zones = dict(zones)
        self.first = next(iter(self.zones.values()))
        super().__init__(self.first.slots, self.first.slot_hours, self.first.window_hours)

    def issued(self, slot: int) -> FloatArray:
        """Return the first zone's forecast from `slot` on."""
        return self.first.issued(slot)

    def describe(self) -> dict[str, Any]:
        """Return what a solution file says of the first zone's forecast."""
        return self.first.describe()

    @property
    def revised(self) -> bool:
        """Whether that of any zone is."""
        return any(forecast.revised for forecast in self.zones.values())

    def of_zones(self, names: tuple[str, ...], slot: int, slots: int) -> FloatArray:
        """Return what is forecast at `slot` for the `slots` from it on [g/kWh], shape (zones, slots)."""
        until = (slot + slots) * self.slot_hours
        return np.array([self.zones[name].view(slot, until).values[:slots] for name in names])

"""Price of electricity in some zones over the slots of an instance: the second signal beside carbon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray, frozen_float
from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.core.ranges import LARGEST_NUMBER


@dataclass(frozen=True, eq=False)
class EnergyPrice:
    """Price of a kWh in each zone and slot.

    Parameters
    ----------
    zones
        Names of the Z zones, all different.
    per_kwh
        Price [currency/kWh], shape (Z, T), finite; it may be negative.
    currency
        Name of the unit of money, e.g. ``EUR``.

    Raises
    ------
    InputError
        For every zone or value that is wrong, all at once.
    """

    zones: tuple[str, ...]
    per_kwh: FloatArray
    currency: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "zones", tuple(self.zones))
        object.__setattr__(self, "per_kwh", frozen_float(self.per_kwh))
        if self.per_kwh.ndim != 2 or len(self.per_kwh) != len(self.zones):
            words = f"must have one row for each of the {len(self.zones)} zones"
            raise InputError(Fault("energy_price.per_kwh", words, f"shape {self.per_kwh.shape}"))
        faults = [
            Fault("energy_price.zones", "is a duplicate name", shown(zone), row)
            for row, zone in enumerate(self.zones)
            if zone in self.zones[:row]
        ]
        faults += [
            Fault(
                f"energy_price.per_kwh[{zone}]",
                f"must be a finite number, at most {LARGEST_NUMBER:g} in size",
                shown(float(self.per_kwh[zone, slot])),
                int(slot),
            )
            for zone, slot in np.argwhere(~(np.abs(self.per_kwh) <= LARGEST_NUMBER))
        ]
        if faults:
            raise InputError(faults)

    def faults(self, zones: Sequence[str], slots: int) -> list[Fault]:
        """Return what is wrong with the price for clusters in `zones` over `slots`."""
        faults = [
            Fault("energy_price.zones", "must name every zone of a cluster", f"no {shown(zone)}")
            for zone in dict.fromkeys(zones)
            if zone not in self.zones
        ]
        if self.per_kwh.shape[1] != slots:
            words = f"must have {slots} values in each row, one a slot (time.slots)"
            faults.append(Fault("energy_price.per_kwh", words, f"{self.per_kwh.shape[1]} values"))
        return faults

    def of(self, zones: Sequence[str]) -> FloatArray:
        """Return the price in each of `zones`, shape (len(zones), T)."""
        return self.per_kwh[[self.zones.index(zone) for zone in zones]]

    def to_dict(self) -> dict[str, Any]:
        """Return the price as an instance file holds it."""
        return {"zones": self.zones, "per_kwh": self.per_kwh, "currency": self.currency}

"""Carbon intensity of the zones over the slots of an instance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray, frozen_float, prefix_sums
from carbonopt.core.errors import Fault, InputError, UnsupportedError, one_of, shown
from carbonopt.core.jobs import HTML_ROWS
from carbonopt.core.time import TimeGrid, format_utc

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class CarbonSignal:
    """Average carbon intensity of each zone in each slot.

    Parameters
    ----------
    zones
        Names of the Z zones, all different, e.g. ``("CA-ON", "DE")``.
    g_per_kwh
        Intensity [gCO2eq/kWh], shape (Z, T), finite and not negative.
    time
        The T slots that the columns stand for.
    labels
        What the sources say about the values, by zone: average or marginal, life cycle or direct, unit as read.

    Raises
    ------
    InputError
        For every zone or value that is wrong, all at once.

    Examples
    --------
    >>> signal = CarbonSignal(("DE",), [[400.0, 300.0, 200.0]], TimeGrid(slots=3))
    >>> float(signal.between("DE", 1, 3))
    500.0
    """

    zones: tuple[str, ...]
    g_per_kwh: FloatArray
    time: TimeGrid
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "zones", tuple(self.zones))
        object.__setattr__(self, "g_per_kwh", frozen_float(self.g_per_kwh))
        faults = list(self._faults())
        if faults:
            raise InputError(faults)

    def _faults(self) -> list[Fault]:
        shape = (len(self.zones), self.time.slots)
        if self.g_per_kwh.shape != shape:
            return [
                Fault(
                    "carbon.g_per_kwh", f"must be {shape[0]} zones x {shape[1]} slots", f"shape {self.g_per_kwh.shape}"
                )
            ]
        faults = [
            Fault("carbon.zones", "is a duplicate name", shown(zone), row)
            for row, zone in enumerate(self.zones)
            if zone in self.zones[:row]
        ]
        bad = ~np.isfinite(self.g_per_kwh) | (self.g_per_kwh < 0)
        faults += [
            Fault(
                f"carbon.g_per_kwh[{zone}]",
                "must be a finite number of g/kWh, at least 0",
                shown(float(self.g_per_kwh[zone, slot])),
                int(slot),
            )
            for zone, slot in np.argwhere(bad)
        ]
        return faults

    def __repr__(self) -> str:
        grid = self.time
        slots = f"{grid.slots} slots of {grid.slot_hours:g} h from {format_utc(grid.start)}"
        return f"CarbonSignal({', '.join(self.zones)}: {slots})"

    def to_frame(self) -> pd.DataFrame:
        """Return the intensity as a DataFrame [gCO2eq/kWh]: one row a slot by its beginning, one column a zone."""
        import pandas as pd

        moments = pd.DatetimeIndex([self.time.slot_start(slot) for slot in range(self.time.slots)], name="slot")
        return pd.DataFrame(self.g_per_kwh.T, index=moments, columns=list(self.zones))

    def _repr_html_(self) -> str:
        html: str = self.to_frame().to_html(max_rows=HTML_ROWS, notebook=True)
        return html

    def provenance(self) -> dict[str, object]:
        """Return what an instance tells of where its signal comes from: nothing where no source does."""
        if not self.labels:
            return {}
        return {"signals": {zone: dict(self.labels[zone]) for zone in self.zones if zone in self.labels}}

    @cached_property
    def prefix(self) -> FloatArray:
        """Sums of the first t slots [g/kWh x slots], shape (Z, T + 1)."""
        return prefix_sums(self.g_per_kwh)

    def index(self, zone: str) -> int:
        """Return the row of `zone`.

        Raises
        ------
        UnsupportedError
            If the signal has no such zone.
        """
        try:
            return self.zones.index(zone)
        except ValueError:
            raise UnsupportedError(f"unknown zone {zone!r}: the signal has {one_of(self.zones)}") from None

    def between(self, zone: str, start: IntArray | int, end: IntArray | int) -> FloatArray:
        """Return the sum of intensity over slots ``start..end-1`` [g/kWh x slots], elementwise."""
        row = self.prefix[self.index(zone)]
        return np.asarray(row[end] - row[start])

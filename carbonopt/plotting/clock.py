"""The x-axis of a picture over time: the clock on the wall of a chosen time zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR
from typing import Any

import numpy as np
import numpy.typing as npt

from carbonopt.core.arrays import FloatArray
from carbonopt.core.time import TimeGrid, zone_of_time
from carbonopt.plotting.style import current

LEAST_HOURS = 1 / 60
"""Shorter horizons are drawn in hours: ticks of a clock are whole microseconds [h]."""
YEAR_HOURS = 8766.0
"""Of a mean year [h]."""


@dataclass(frozen=True)
class Clock:
    """Where moments stand on an x-axis.

    Parameters
    ----------
    grid
        The slots of the instance.
    """

    grid: TimeGrid

    @property
    def on_the_wall(self) -> bool:
        """Whether the horizon has dates; a made-up one may be longer than the calendar. Then hours are counted."""
        years = self.grid.hours / YEAR_HOURS
        begin = self.grid.start.year
        return begin > MINYEAR and begin + years + 1 < MAXYEAR and self.grid.hours >= LEAST_HOURS

    def at(self, hours: npt.ArrayLike) -> FloatArray:
        """Return the places of moments that are `hours` after the beginning of slot 0."""
        after = np.asarray(hours, dtype=float)
        if not self.on_the_wall:
            return after
        from matplotlib.dates import date2num

        return np.asarray(date2num(self.grid.start) + after / 24)

    def edges(self) -> FloatArray:
        """Return the places of the beginnings of the slots, and of the end of the last one."""
        return self.at(slot_edges(self.grid))

    def label(self, axis: Any) -> None:
        """Set limits, ticks and label of an x-axis."""
        axis.set_xlim(*self.at([0.0, self.grid.hours]))
        if not self.on_the_wall:
            axis.set_xlabel("hours since the start [h]")
            return
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        zone = zone_of_time(current().tz)
        narrow = current().size == "column"  # three days of 24 h must fit as hours where they are too few for days
        ticks = AutoDateLocator(tz=zone, minticks=2 if narrow else 3, maxticks=5 if narrow else 9)
        axis.xaxis.set_major_locator(ticks)
        axis.xaxis.set_major_formatter(ConciseDateFormatter(ticks, tz=zone, show_offset=False))
        axis.set_xlabel(f"time ({current().tz}) from {self.grid.start.astimezone(zone):%Y-%m-%d} on")


def slot_edges(grid: TimeGrid) -> FloatArray:
    """Return the beginnings of the slots, and the end of the last one, from slot 0 on [h], shape (T + 1,)."""
    return np.asarray(np.arange(grid.slots + 1) * grid.slot_hours, dtype=np.float64)

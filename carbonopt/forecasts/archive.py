"""An archive of forecasts of one zone: what was issued when, how far it looked, and what each member said."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray, frozen_float, frozen_int
from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.core.time import TimeGrid, format_utc
from carbonopt.simulation.forecast_table import TableForecast


@dataclass(frozen=True, eq=False)
class ForecastArchive:
    """Forecasts of one zone in the order of their issue.

    Parameters
    ----------
    zone
        Name of the zone.
    time
        The T slots of the signal that is forecast.
    issued_at
        Slots at whose beginning the forecasts were known, increasing, shape (I,). Those from before the
        signal are negative.
    g_per_kwh
        Values [g/kWh], shape (I, M, H). Entry ``[i, m, h]`` is what member m of issue i says of slot
        ``issued_at[i] + h``. Lead 0 is a forecast too: it was issued when that slot began. NaN stands after
        the end of an issue that looks less far than H; all members of an issue end together.
    source
        Where the forecasts come from.

    Raises
    ------
    InputError
        For issues out of order, a value that is no intensity, and members of unequal length.

    Examples
    --------
    >>> archive = ForecastArchive("DE", TimeGrid(slots=3), [0, 2], [[[300, 250]], [[220, 210]]])
    >>> archive.latest(1), archive.point.tolist()
    (0, [[300.0, 250.0], [220.0, 210.0]])
    """

    zone: str
    time: TimeGrid
    issued_at: IntArray
    g_per_kwh: FloatArray
    source: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "issued_at", frozen_int(self.issued_at, "forecast.issued_at"))
        object.__setattr__(self, "g_per_kwh", frozen_float(self.g_per_kwh))
        faults = list(self._faults())
        if faults:
            raise InputError(faults)

    def _faults(self) -> Iterator[Fault]:
        shape = self.g_per_kwh.shape
        if len(shape) != 3 or 0 in shape or self.issued_at.shape != shape[:1]:
            words = f"must be {self.issued_at.size} issues x members x horizon, at least one of each"
            yield Fault("forecast.g_per_kwh", words, f"shape {shape}")
            return
        for row in np.flatnonzero(np.diff(self.issued_at) <= 0):
            words = "must be later than the issue before"
            yield Fault("forecast.issued_at", words, shown(int(self.issued_at[row + 1])), int(row) + 1)
        told = ~np.isnan(self.g_per_kwh)
        ends = told.sum(axis=2)
        for issue, member in np.argwhere(ends != ends[:, :1]):
            words = (
                f"must have {ends[issue, 0]} values as the first member of its issue has: members are of equal length"
            )
            yield Fault(self._place(issue, member), words, f"{ends[issue, member]} values")
        gaps = told != (np.arange(shape[2]) < ends[:, :, None])
        for issue, member in np.argwhere(gaps.any(axis=2) | (ends == 0)):
            yield Fault(self._place(issue, member), "must have a value of each slot until its end, and at least one")
        with np.errstate(invalid="ignore"):
            bad = told & ~((self.g_per_kwh >= 0) & (self.g_per_kwh < np.inf))
        for issue, member, lead in np.argwhere(bad):
            value = shown(float(self.g_per_kwh[issue, member, lead]))
            yield Fault(self._place(issue, member), "must be a finite number of g/kWh, at least 0", value, int(lead))

    def _place(self, issue: int, member: int) -> str:
        return f"forecast.g_per_kwh[{issue}][{member}]"

    @property
    def members(self) -> int:
        """Number of members M; 1 for a point forecast."""
        return int(self.g_per_kwh.shape[1])

    @property
    def horizon(self) -> int:
        """Largest number of slots H that an issue tells of."""
        return int(self.g_per_kwh.shape[2])

    @property
    def lengths(self) -> IntArray:
        """Number of slots that each issue tells of, shape (I,)."""
        return np.asarray((~np.isnan(self.g_per_kwh[:, 0])).sum(axis=1))

    @property
    def point(self) -> FloatArray:
        """Mean over the members [g/kWh], shape (I, H)."""
        return np.asarray(self.g_per_kwh.mean(axis=1))

    def latest(self, slot: int) -> int:
        """Return the row of the last issue that is known at the beginning of `slot`.

        Raises
        ------
        InputError
            If all were issued after it: a decision cannot know them.
        """
        row = int(np.searchsorted(self.issued_at, slot, side="right")) - 1
        if row < 0:
            first = format_utc(self.time.slot_start(int(self.issued_at[0])))
            words = f"is after the decision at {format_utc(self.time.slot_start(slot))}: must be known by then"
            raise InputError(Fault("forecast.issued_at", words, first, file=self.source or None))
        return row

    def known(self, slot: int, until: int) -> FloatArray:
        """Return what the latest issue says of ``slot .. until-1`` [g/kWh], shape (M, until - slot).

        Raises
        ------
        InputError
            If it was issued after `slot`, or its horizon ends before `until`.
        """
        row = self.latest(slot)
        begin = int(self.issued_at[row])
        end = begin + int(self.lengths[row])
        if end < until:
            told = format_utc(self.time.slot_start(end))
            words = f"ends too early: must reach {format_utc(self.time.slot_start(until))}"
            raise InputError(Fault(f"forecast.horizon[{row}]", words, told, file=self.source or None))
        return np.asarray(self.g_per_kwh[row, :, slot - begin : until - begin])

    def forecast(self, member: int | None = None, window_hours: float | None = None) -> TableForecast:
        """Return what a policy sees: the latest issue at each slot.

        Parameters
        ----------
        member
            Which one it sees; None for their mean.
        window_hours
            How far it looks; None for as far as the issue does.

        Raises
        ------
        InputError
            If slot 0 has no issue, an issue ends before the next one begins, or there is no such member.
        """
        if member is not None and not 0 <= member < self.members:
            raise InputError(Fault("forecast.member", f"must be 0 to {self.members - 1}", shown(member)))
        first = self.latest(0)
        rows = [row for row in range(first, self.issued_at.size) if self.issued_at[row] < self.time.slots]
        follow = [max(int(self.issued_at[row]), 0) for row in rows[1:]]
        issues: dict[int, FloatArray] = {}
        for row, next_slot in zip(rows, [*follow, self.time.slots], strict=True):
            slot = max(int(self.issued_at[row]), 0)
            needed = next_slot if row != rows[-1] else slot + 1
            self.known(slot, needed)
            values = self.point[row] if member is None else self.g_per_kwh[row, member]
            begin = slot - int(self.issued_at[row])
            issues[slot] = values[begin : min(self.lengths[row], begin + self.time.slots - slot)]
        return TableForecast(issues, self.time.slots, self.time.slot_hours, window_hours, self.source)

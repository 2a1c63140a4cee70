"""Gaps, duplicates and missing values of a series: told with their times, or filled where that was asked for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.errors import Fault
from carbonopt.io.csvfile import Table
from carbonopt.io.times import HOUR_NS, TimeArray, has_offset, utc_text

WITHOUT_OFFSET = "; or name the time zone (tz, --signal-tz) of local times without an offset"


class Spacing(NamedTuple):
    """The steps of one zone's rows: usual `step_ns` (0 where there is none), and what is wrong with them."""

    step_ns: int
    faults: list[Fault]


def spacing(table: Table, column: int, times: TimeArray, order: IntArray, fill: str | None, local: bool) -> Spacing:
    """Return the step that most rows of a zone have, and a fault for each row that is not one step after the last.

    Parameters
    ----------
    table, column
        The table, and its column of times.
    times
        Of each row, UTC, shape (N,).
    order
        Rows of the zone, sorted by time.
    fill
        Not None: gaps of whole steps are no faults.
    local
        Whether times without an offset may be local ones.
    """
    gaps = np.diff(times[order].astype(np.int64))
    lengths, counts = np.unique(gaps[gaps > 0], return_counts=True)
    if not lengths.size:
        return Spacing(0, [table.fault(column, int(order[-1]), "must be followed: a zone needs two times or more")])
    step = int(lengths[np.argmax(counts)])
    faults = []
    for place in np.flatnonzero(gaps != step):
        if fill is not None and gaps[place] and gaps[place] % step == 0:
            continue
        row = int(order[place + 1])
        hint = WITHOUT_OFFSET if local and not has_offset(table.cells[column][row]) else ""
        before = table.place(int(order[place]))
        problem = f"is a duplicate of {before}: a zone has each time once{hint}"
        if gaps[place]:
            first = int(times[order[place]].astype(np.int64)) + step
            problem = (
                f"must be {step / HOUR_NS:g} h after {before}, not {gaps[place] / HOUR_NS:g} h: a zone's rows must"
                f" leave no gap; missing {_told(first, int(gaps[place]) // step - 1, step)}{hint}"
            )
        faults.append(table.fault(column, row, problem))
    return Spacing(step, faults)


def _told(first: int, count: int, step: int) -> str:
    if count < 1:
        return "is no whole step"
    if count == 1:
        return utc_text(first)
    return f"{count} times from {utc_text(first)} to {utc_text(first + (count - 1) * step)}"


def filled(times: TimeArray, values: FloatArray, step: int, fill: str) -> tuple[TimeArray, FloatArray, str]:
    """Return times without gaps, their values, and which were filled; empty text where none was.

    Parameters
    ----------
    times
        Sorted, shape (N,), a whole number of steps apart.
    values
        NaN where one is missing, shape (N,); the first and the last are there.
    step
        Between two times [ns].
    fill
        ``interpolate`` or ``previous``.
    """
    begin = times[0].astype(np.int64)
    rows = (times.astype(np.int64) - begin) // step
    every = np.arange(int(rows[-1]) + 1)
    spread = np.full(len(every), np.nan)
    spread[rows] = values
    known = ~np.isnan(spread)
    missing = np.flatnonzero(~known)
    if not missing.size:
        return times, values, ""
    if fill == "interpolate":
        spread = np.interp(every, every[known], spread[known])
    else:
        spread = spread[np.maximum.accumulate(np.where(known, every, 0))]
    runs = np.split(missing, np.flatnonzero(np.diff(missing) > 1) + 1)
    told = "; ".join(_told(int(begin) + int(run[0]) * step, len(run), step) for run in runs)
    moments = (begin + every * step).astype("datetime64[ns]")
    return moments, spread, f"{fill}: {told}"

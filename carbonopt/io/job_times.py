"""Arrivals and deadlines of a job table in GAIA's format: numbers in a unit, or times by the clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray
from carbonopt.core.errors import Fault, shown
from carbonopt.io.csvfile import Table
from carbonopt.io.times import HOUR_NS, TIME, has_offset, utc_text, utc_times

ROUNDING = 1e-9
"""Relative difference of times that counts as rounding: 0.1 + 0.2 is 0.3."""
_TIMES = ("arrival_time", "deadline")
_ISO = "an ISO 8601 time with its offset from UTC, e.g. 2026-03-03T00:06:00+00:00"


class Times(NamedTuple):
    """Arrivals and deadlines since `zero` [h], shapes (N,), NaN where a job has no deadline; and their faults.

    `deadline` is None where the table has none; `zero` is empty where it does not tell.
    """

    arrival: FloatArray
    deadline: FloatArray | None
    zero: str
    faults: list[Fault]


def read_times(table: Table, at: Mapping[str, int], time_unit: str, to_hours: float, latest_hours: float) -> Times:
    """Return the times of a table.

    Parameters
    ----------
    table
        The N jobs.
    at
        Where its columns stand: ``arrival_time``, and ``deadline`` if there is one.
    time_unit, to_hours
        Of times that are numbers: the unit and its length [h]. Times by the clock count from the whole hour (UTC) in
        which the first job arrives.
    latest_hours
        Latest time that is a number [h].
    """
    found = {name: at[name] for name in _TIMES if name in at}
    arrivals = table.cells[at["arrival_time"]]
    if any(TIME.match(arrivals[row]) for row in np.flatnonzero(np.isnan(table.numbers(at["arrival_time"])))):
        return _by_the_clock(table, found)
    faults = []
    hours = dict[str, FloatArray]()
    for name, column in found.items():
        values = table.numbers(column)
        hours[name] = values * to_hours
        faults += _number_faults(table, name, column, values, time_unit)
        late = (hours[name] > latest_hours) & (values < np.inf)
        faults += table.faults(column, late, f"must be at most {latest_hours / to_hours:g} {time_unit}")
    return Times(hours["arrival_time"], hours.get("deadline"), "", faults)


def _number_faults(table: Table, name: str, column: int, values: FloatArray, time_unit: str) -> list[Fault]:
    bad = ~((values >= 0) & (values < np.inf) | _may_be_blank(table, name, column))
    number = f"must be a number of {time_unit}"
    if name == "deadline":
        return table.faults(column, bad, f"{number} since the same zero as arrival_time, or blank")
    dated = bad & np.isnan(values)
    for row in np.flatnonzero(dated):
        dated[row] = any(map(str.isdigit, table.cells[column][row]))
    return [
        *table.faults(column, bad & ~dated, f"{number}, at least 0"),
        *table.faults(column, dated, f"{number}, at least 0, or {_ISO}"),
    ]


def _by_the_clock(table: Table, found: Mapping[str, int]) -> Times:
    moments = {name: utc_times(table.cells[column]) for name, column in found.items()}
    faults = []
    for name, column in found.items():
        offset = np.array([has_offset(cell) for cell in table.cells[column]], dtype=np.bool_)
        good = ~np.isnat(moments[name]) & offset | _may_be_blank(table, name, column)
        faults += table.faults(column, ~good, f"must be {_ISO}" + (", or blank" if name == "deadline" else ""))
    if faults:
        return Times(np.full(len(table.lines), np.nan), None, "", faults)
    zero = int(moments["arrival_time"].astype(np.int64).min()) // HOUR_NS * HOUR_NS
    hours = {
        name: np.where(np.isnat(times), np.nan, (times.astype(np.int64) - zero) / HOUR_NS)
        for name, times in moments.items()
    }
    return Times(hours["arrival_time"], hours.get("deadline"), utc_text(zero), [])


def _may_be_blank(table: Table, name: str, column: int) -> BoolArray:
    """Return where a cell is blank, and may be: a job needs no deadline, but an arrival."""
    blank = name == "deadline"
    return np.array([blank and not cell.strip() for cell in table.cells[column]], dtype=np.bool_)


def deadline_faults(table: Table, at: Mapping[str, int], times: Times, length_hours: FloatArray) -> list[Fault]:
    """Return a fault for each deadline before arrival + length."""
    if times.deadline is None:
        return []
    faults = []
    for row in np.flatnonzero(times.deadline < (times.arrival + length_hours) * (1 - ROUNDING)):
        beside = ", ".join(f"{name} = {shown(table.cells[at[name]][row])}" for name in ("arrival_time", "length"))
        fault = table.fault(at["deadline"], int(row), "must be at least arrival_time + length")
        faults.append(replace(fault, value=f"{fault.value} ({beside})"))
    return faults

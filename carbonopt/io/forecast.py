"""Reader of carbon forecasts: when each was issued, for when, and what it said."""

from __future__ import annotations

import os

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.errors import Fault, InputError
from carbonopt.core.time import TimeGrid
from carbonopt.io.csvfile import Table, read_table
from carbonopt.io.times import HOUR_NS, TIME_RULE, nanoseconds, utc_times

COLUMNS = {name: (name,) for name in ("issue_time", "target_time", "carbon_intensity_g_per_kwh")}


def read_forecast(
    path: str | os.PathLike[str], time: TimeGrid, zone: str | None = None
) -> dict[str, dict[int, FloatArray]]:
    r"""Read forecasts from a CSV file, plain or gzip.

    Parameters
    ----------
    path
        The file, with the columns ``issue_time,target_time,carbon_intensity_g_per_kwh``; where it has a
        column ``zone``, only the rows of `zone` are read, and where it has a column ``member``, each member
        has issues of its own. Rows may stand in any order.
    time
        The slots of the signal. An issue counts from the first slot that begins at or after it; one from
        before slot 0 counts there, if it is the latest. Targets are the beginnings of slots, without a gap
        from the slot at which the issue counts.

    Returns
    -------
    dict of str to dict of int to FloatArray
        By member (empty where the file has no such column) and slot at which a forecast counts: its values for
        this and the following slots [g/kWh].

    Raises
    ------
    InputError
        With every fault: file, column, line, value and what would be right.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> rows = "2023-01-01T00:00Z,2023-01-01T00:00Z,300\n2023-01-01T00:00Z,2023-01-01T01:00Z,250\n"
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "forecast.csv")
    ...     _ = path.write_text("issue_time,target_time,carbon_intensity_g_per_kwh\n" + rows)
    ...     issues = read_forecast(path, TimeGrid(slots=2))
    >>> {slot: values.tolist() for slot, values in issues[""].items()}
    {0: [300.0, 250.0]}
    """
    table = read_table(path)
    at = table.columns(COLUMNS)
    issue, target = (utc_times(table.cells[at[name]]) for name in ("issue_time", "target_time"))
    values = table.numbers(at["carbon_intensity_g_per_kwh"])
    faults = [
        *table.faults(at["issue_time"], np.isnat(issue), TIME_RULE),
        *table.faults(at["target_time"], np.isnat(target), TIME_RULE),
        *table.faults(
            at["carbon_intensity_g_per_kwh"], ~((values >= 0) & (values < np.inf)), "must be at least 0 g/kWh"
        ),
    ]
    slot_ns = round(time.slot_hours * HOUR_NS)
    since = [moments.astype(np.int64) - nanoseconds(time.start) for moments in (issue, target)]
    if not faults:
        rule = f"must be the beginning of a slot: whole {time.slot_hours:g} h after {time.start.isoformat()}"
        faults += table.faults(at["target_time"], since[1] % slot_ns != 0, rule)
    if faults:
        raise InputError(faults)
    rows = _rows_of(table, zone)
    slots = (-(-since[0] // slot_ns), since[1] // slot_ns)
    own = table.spelled(("member",))
    if not own:
        return {"": _issues(table, at["target_time"], *slots, values, rows)}
    names = np.array([cell.strip() for cell in table.cells[own[0]]])
    return {
        str(name): _issues(table, at["target_time"], *slots, values, rows[names[rows] == name])
        for name in dict.fromkeys(names[rows].tolist())
    }


def _rows_of(table: Table, zone: str | None) -> IntArray:
    found = table.spelled(("zone",))
    if not found or zone is None:
        return np.arange(len(table.lines))
    rows = np.flatnonzero(np.array([cell.strip() == zone for cell in table.cells[found[0]]]))
    if not rows.size:
        raise InputError(Fault("zone", f"has no row of {zone!r}", file=table.file))
    return rows


def _issues(
    table: Table, column: int, issue: IntArray, target: IntArray, values: FloatArray, rows: IntArray
) -> dict[int, FloatArray]:
    """Return the values of each issue from the slot on at which it counts."""
    rows = rows[target[rows] >= np.maximum(issue[rows], 0)]
    rows = rows[np.lexsort((target[rows], issue[rows]))]
    found: dict[int, FloatArray] = {}
    faults = []
    for own in np.split(rows, np.flatnonzero(np.diff(issue[rows])) + 1):
        if not own.size:
            continue
        slot = max(int(issue[own[0]]), 0)
        gaps = np.flatnonzero(target[own] != slot + np.arange(own.size))
        if gaps.size:
            words = f"must be slot {slot + gaps[0]}: an issue has each slot once and leaves no gap"
            faults.append(table.fault(column, int(own[gaps[0]]), words))
        found[slot] = values[own]  # of those from before slot 0 the latest is the last
    if not found or min(found) > 0:
        words = "must hold a forecast that was issued by the beginning of slot 0 and tells of it"
        faults.append(Fault("issue_time", words, file=table.file))
    if faults:
        raise InputError(faults)
    return found

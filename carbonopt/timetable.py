"""A schedule by the clock: which job runs where, from when to when, whatever its problem."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.instance import Instance
from carbonopt.core.solution import Solution
from carbonopt.core.time import TimeGrid, zone_of_time

if TYPE_CHECKING:
    import pandas as pd

PLACES = ("cluster", "machine")
"""Columns of schedules that say where a job runs."""
CLOCK = (datetime(1, 1, 3, tzinfo=UTC), datetime(9999, 12, 29, tzinfo=UTC))
"""Moments between which deadlines are shown: no clock goes on for ever."""
KINDS = ("option", "servers", "gpus")
"""Columns of schedules that say how it runs."""


def timetable(instance: Instance, solution: Solution, tz: str = "UTC") -> pd.DataFrame:
    """Return the runs of a schedule with begin and end on the clock, in the order of their begins.

    Parameters
    ----------
    instance, solution
        An instance and a solution of it.
    tz
        Name of the time zone of the clock, e.g. ``Europe/Berlin``.

    Returns
    -------
    DataFrame
        One row a run: ``job``; ``cluster`` or ``machine`` where the problem has several; ``option``, ``servers`` or
        ``gpus`` where it has those; what the job needs, ``cpus``, or ``demand.gpu`` and ``use.cpu`` by resource;
        ``begin`` and ``end``, whole seconds with their time zone, and ``deadline`` where jobs have one, NaT where no
        clock shows it. Slots of a job that follow each other with the same number of servers are one run. In `ecas`,
        a row with no job (``""``) says when a machine is on.

    Raises
    ------
    UnsupportedError
        If there is no such time zone, or the schedule does not say when its jobs end, or ends after the year 9999.
    ValueError
        If the solution has no schedule.
    """
    zone = zone_of_time(tz)
    rows = in_hours(instance, solution)
    for name in ("begin", "end"):
        rows[name] = _moments(instance.time, rows[name].to_numpy(dtype=float)).tz_convert(zone)
    needs, deadline = _needs(instance), _deadline_hours(instance)
    index = {name: row for row, name in enumerate(instance.jobs.name)}
    job = np.array([index.get(name, -1) for name in rows["job"]], dtype=np.int64)
    for place, (name, values) in enumerate(needs.items(), start=len(rows.columns) - 2):
        rows.insert(place, name, np.where(job < 0, np.nan, values[job]))
    if deadline is not None:
        first, last = ((moment - instance.time.start).total_seconds() / 3600.0 for moment in CLOCK)
        told = (job >= 0) & (deadline[job] > first) & (deadline[job] < last)
        moments = _moments(instance.time, np.where(told, deadline[job], 0.0)).tz_convert(zone)
        rows["deadline"] = moments.where(told)
    return rows


def _needs(instance: Instance) -> dict[str, FloatArray]:
    """Return what each job needs, as columns: of the job table, and of each resource, shape (N,)."""
    jobs: Any = instance.jobs
    if hasattr(jobs, "cpus"):
        return {"cpus": np.asarray(jobs.cpus, dtype=float)}
    return {
        f"{field}.{resource}": np.asarray(getattr(jobs, field)[:, r], dtype=float)
        for field in ("demand", "use")
        if hasattr(jobs, field)
        for r, resource in enumerate(getattr(instance, "resources", ()))
    }


def _deadline_hours(instance: Instance) -> FloatArray | None:
    """Return by when each job should end, or has to [h], shape (N,); None where the problem has no deadlines."""
    jobs: Any = instance.jobs
    for field in ("deadline", "window_end"):
        if hasattr(jobs, field):
            return np.asarray(getattr(jobs, field), dtype=float) * instance.time.slot_hours
    latest: Any = getattr(instance, "latest_end_hours", None)
    return None if latest is None else np.asarray(latest, dtype=float)


def in_hours(instance: Instance, solution: Solution) -> pd.DataFrame:
    """Return the same with begin and end since the beginning of slot 0 [h].

    Raises
    ------
    UnsupportedError
        If the columns of the schedule do not say when its jobs end.
    """
    rows = solution.schedule
    rows["begin"], rows["end"] = _hours(instance, rows)
    rows["job"] = rows["job"].fillna("").astype(str)
    told = [name for name in (*PLACES, *KINDS) if name in rows]
    if "slot" in rows:
        rows = _joined(rows, ["job", *told])
    return rows[["job", *told, "begin", "end"]].sort_values(["begin", "job", "end"], ignore_index=True)


def _hours(instance: Instance, rows: pd.DataFrame) -> tuple[FloatArray, FloatArray]:
    """Return begin and end of each row [h]."""
    for begin, end, unit in (("start_hours", "end_hours", 1.0), ("start_minutes", "end_minutes", 1 / 60)):
        if begin in rows:
            return rows[begin].to_numpy(dtype=float) * unit, rows[end].to_numpy(dtype=float) * unit
    slot = instance.time.slot_hours
    if "slot" in rows:
        first = rows["slot"].to_numpy(dtype=float)
        return first * slot, (first + 1) * slot
    duration: Any = getattr(instance.jobs, "duration", None)
    if "start" not in rows or (duration is None and "end" not in rows):
        raise UnsupportedError(f"a schedule of {instance.problem} does not say when its jobs end")
    first = rows["start"].to_numpy(dtype=float)
    if "end" in rows:
        return first * slot, rows["end"].to_numpy(dtype=float) * slot
    index = {name: i for i, name in enumerate(instance.jobs.name)}
    length = np.array([duration[index[name]] for name in rows["job"]], dtype=float)
    return first * slot, (first + length) * slot


def _joined(rows: pd.DataFrame, told: list[str]) -> pd.DataFrame:
    """Return the rows, those as one that follow each other and tell the same."""
    rows = rows.sort_values(["job", "begin"], ignore_index=True)
    before = rows.shift()
    is_new = (rows[told] != before[told]).any(axis=1) | (rows["begin"] != before["end"])
    runs = rows.groupby(is_new.cumsum())
    return runs.first().assign(end=runs["end"].last())


def _moments(time: TimeGrid, hours: FloatArray) -> pd.DatetimeIndex:
    """Return moments in UTC, in whole seconds."""
    import pandas as pd

    try:
        if len(hours):
            time.start + timedelta(hours=float(hours.max()) + 24.0)  # a day more: in any time zone
    except OverflowError:
        raise UnsupportedError("the schedule ends after the year 9999: no clock shows it") from None
    seconds = np.round(hours * 3600.0).astype("timedelta64[s]")
    return pd.DatetimeIndex(np.datetime64(time.start.replace(tzinfo=None), "s") + seconds).tz_localize("UTC")

"""The runs of a schedule, whatever its problem: which job runs where, from when to when."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.instance import Instance
from carbonopt.core.solution import Solution

EVERYWHERE = "jobs"
"""Name of the one place where the problem has one cluster."""
PLACES = ("cluster", "machine")
"""Columns of schedules that say where a job runs."""
KINDS = ("option", "servers", "gpus")
"""Columns of schedules that say how it runs, with which the bars are coloured."""


class Runs(NamedTuple):
    """One entry a run.

    Parameters
    ----------
    place, kind
        Where each job runs, and how; ``""`` where the problem does not tell runs apart. Shape (R,).
    begin, end
        Since the beginning of slot 0 [h], shape (R,).
    """

    place: list[str]
    kind: list[str]
    begin: FloatArray
    end: FloatArray


def runs_of(instance: Instance, solution: Solution) -> Runs:
    """Return the runs of a schedule.

    Raises
    ------
    UnsupportedError
        If the columns of the schedule do not say from when to when a job runs.
    """
    rows = solution.schedule
    if "job" in rows:
        rows = rows[rows["job"].isin(instance.jobs.name)]  # in ecas others say when a machine is on
    place = next((rows[name].astype(str).tolist() for name in PLACES if name in rows), [EVERYWHERE] * len(rows))
    column = next((name for name in KINDS if name in rows), None)
    if column is None:
        kind = [""] * len(rows)
    elif column == "option":
        kind = rows[column].astype(str).tolist()
    else:
        kind = [f"{value} {column}" for value in rows[column]]
    return Runs(place, kind, *_hours(instance, rows))


def _hours(instance: Instance, rows: Any) -> tuple[FloatArray, FloatArray]:
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


def lanes(begin: FloatArray, end: FloatArray) -> list[int]:
    """Return the lane of each run such that no two runs of a lane overlap, with as few lanes as possible.

    Examples
    --------
    >>> lanes(np.array([0.0, 0.0, 1.0]), np.array([2.0, 1.0, 3.0]))
    [0, 1, 1]
    """
    lane = [0] * len(begin)
    busy: list[tuple[float, int]] = []
    free: list[int] = []
    used = 0
    for run in np.lexsort((-end, begin)):
        while busy and busy[0][0] <= begin[run]:
            heappush(free, heappop(busy)[1])
        if free:
            lane[run] = heappop(free)
        else:
            lane[run] = used
            used += 1
        heappush(busy, (float(end[run]), lane[run]))
    return lane

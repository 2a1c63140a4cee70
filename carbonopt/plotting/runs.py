"""The runs of a schedule, whatever its problem: which job runs where, from when to when."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.instance import Instance
from carbonopt.core.solution import Solution
from carbonopt.timetable import KINDS, PLACES, in_hours

EVERYWHERE = "jobs"
"""Name of the one place where the problem has one cluster."""
OPTIONS = {"shared": "free reserved CPUs, the rest on demand"}
"""Options whose name does not say what is bought."""
UNITS = {"servers": ("server", "servers"), "gpus": ("GPU", "GPUs")}
"""What a job runs on, one and several, by the column that counts them."""


class Runs(NamedTuple):
    """One entry a run.

    Parameters
    ----------
    job
        Name of each job, shape (R,).
    place, kind
        Where each job runs, and how; ``""`` where the problem does not tell runs apart. Shape (R,).
    begin, end
        Since the beginning of slot 0 [h], shape (R,).
    """

    job: list[str]
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
    rows = in_hours(instance, solution)
    rows = rows[rows["job"] != ""]  # in ecas others say when a machine is on
    place = next((rows[name].astype(str).tolist() for name in PLACES if name in rows), [EVERYWHERE] * len(rows))
    column = next((name for name in KINDS if name in rows), None)
    if column is None:
        kind = [""] * len(rows)
    elif column == "option":
        kind = [OPTIONS.get(option, option) for option in rows[column].astype(str)]
    else:
        one, several = UNITS[column]
        kind = [f"{value} {one if value == 1 else several}" for value in rows[column]]
    return Runs(rows["job"].tolist(), place, kind, rows["begin"].to_numpy(), rows["end"].to_numpy())


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

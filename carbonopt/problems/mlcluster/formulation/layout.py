"""The GPU time of a relaxed solution laid out on whole GPUs, by McNaughton's wrap-around rule.

In each cell the jobs' GPU times are laid one after the other on the cell's GPUs, one GPU after the other; what goes
beyond the end of one continues at the beginning of the next. A job of GPU time A has floor(A / delta) GPUs or one
more at each moment, so with concave throughput and convex power it does the work of the relaxation, or more, at no
more power. What the rule does not know are restarts, arrivals within a cell, and fewest GPUs above 1: schedules that
suffer from those are the checker's to refuse.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.options import Schedule
from carbonopt.problems.mlcluster.data.instance import MlClusterInstance

LEAST_MINUTES = 1e-9
"""GPU time below this is a solver's tolerance."""

Row = tuple[int, float, float, int]


def wrapped(
    instance: MlClusterInstance, job: IntArray, cell: IntArray, gpu_minutes: FloatArray, cells: int
) -> Schedule:
    """Return a schedule that has the given GPU times.

    Parameters
    ----------
    instance
        The instance.
    job, cell, gpu_minutes
        GPU time of jobs in cells, one entry a pair [GPU min], sorted by cell and job.
    cells
        Cells of each slot.
    """
    minutes = instance.slot_minutes / cells
    edges = minutes * np.arange(instance.time.slots * cells + 1)
    rows: list[Row] = []
    bounds = np.searchsorted(cell, np.arange(len(edges)))
    for t, (first, last) in enumerate(pairwise(bounds)):
        times = gpu_minutes[first:last]
        most = instance.cluster.gpus * minutes
        if times.sum() > 0:
            times = times * min(1.0, most / float(times.sum()))
            rows += _cell_rows(job[first:last], times, float(edges[t]), float(edges[t + 1]))
    names = instance.jobs.name
    return {
        "job": [names[row[0]] for row in rows],
        "start_minutes": [row[1] for row in rows],
        "end_minutes": [row[2] for row in rows],
        "gpus": [row[3] for row in rows],
    }


def _cell_rows(job: IntArray, times: FloatArray, begin: float, end: float) -> list[Row]:
    """Return the rows of one cell, from `begin` to `end`."""
    rows: list[Row] = []
    length = end - begin
    moment = begin
    for j, time in zip(job.tolist(), times.tolist(), strict=True):
        if time <= LEAST_MINUTES:
            continue
        whole, rest = divmod(time, length)
        after = moment + rest  # the rest goes from `moment` on, and wraps around at the end
        if after < end:
            pieces = [(begin, moment, 0), (moment, after, 1), (after, end, 0)]
            moment = after
        else:
            after -= length
            pieces = [(begin, after, 1), (after, moment, 0), (moment, end, 1)]
            moment = after
        rows += [(j, a, b, int(whole) + more) for a, b, more in pieces if b > a and whole + more > 0]
    return rows

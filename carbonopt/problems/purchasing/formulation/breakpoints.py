"""Starts at which the cost of a run changes its slope: all that an optimum needs to look at, where cost is linear."""

from __future__ import annotations

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.purchasing.data.instance import PurchasingInstance

SAME = 1e-12
"""Breakpoints closer than this share of the horizon are one."""
WHOLE = 1e-9
"""Part of a slot that counts as none."""


def breakpoints(instance: PurchasingInstance, job: IntArray, times: tuple[int, ...] = (0, 1)) -> FloatArray:
    """Return the ends of the window of each job and the starts between at which it passes an edge of a slot.

    Parameters
    ----------
    instance
        The instance.
    job
        Of which jobs, shape (J,).
    times
        What passes an edge: the start plus this many lengths of the job.

    Returns
    -------
    FloatArray
        Sorted, equal ones repeated, shape (J, B).
    """
    jobs = instance.jobs
    step = instance.time.slot_hours
    arrival = jobs.arrival_hours[job, None]
    wait = instance.max_wait_hours[job, None]
    count = np.arange(int(np.ceil(wait.max(initial=0.0) / step)) + 2)
    found = [arrival, arrival + wait]
    for number in times:
        shift = number * jobs.length_hours[job, None]
        found.append((np.floor((arrival + shift) / step) + count) * step - shift)
    return np.sort(np.clip(np.concatenate(found, axis=1), arrival, arrival + wait), axis=1)


def distinct(instance: PurchasingInstance, points: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the row and the value of each point that is not the same as the one before, in the rows' order."""
    new = np.diff(points, axis=1, prepend=-np.inf) > SAME * instance.time.hours
    row, _ = np.nonzero(new)
    return row.astype(np.int64), points[new]


def is_whole(instance: PurchasingInstance) -> bool:
    """Whether arrivals, lengths and waiting limits are whole slots: then whole slots are the best starts, too."""
    step = instance.time.slot_hours
    parts = (instance.jobs.arrival_hours, instance.jobs.length_hours, instance.max_wait_hours)
    return all(bool((np.abs(part / step - np.rint(part / step)) <= WHOLE).all()) for part in parts)


def slot_hours_of_runs(
    instance: PurchasingInstance, start: FloatArray, end: FloatArray
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return for each slot of each run: the run, the slot, and the hours of the run in the slot."""
    step = instance.time.slot_hours
    first = np.clip(np.floor(start / step), 0, instance.time.slots - 1).astype(np.int64)
    last = np.clip(np.ceil(end / step), first + 1, instance.time.slots).astype(np.int64)
    count = last - first
    run = np.repeat(np.arange(len(start)), count)
    slot = first[run] + np.arange(len(run)) - np.repeat(np.cumsum(count) - count, count)
    hours = np.minimum((slot + 1) * step, end[run]) - np.maximum(slot * step, start[run])
    kept = hours > SAME * instance.time.hours
    return run[kept], slot[kept], hours[kept]

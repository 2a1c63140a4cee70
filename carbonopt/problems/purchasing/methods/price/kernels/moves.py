"""Jobs near a moment, those that leave the pool, and how all is as before again: parts of ruin and recreate."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.problems.purchasing.methods.price.grid import Jobs
from carbonopt.problems.purchasing.methods.price.kernels.cell_responses import Choice
from carbonopt.problems.purchasing.methods.price.kernels.exact_responses import SAME_HOURS, Events, put, take
from carbonopt.problems.purchasing.methods.price.kernels.free_starts import RunCosts, cost_of_run


class Luck(NamedTuple):
    """Random numbers from 0 to 1, and which comes next, shape (1,)."""

    number: FloatArray
    next: IntArray


class Near(NamedTuple):
    """Jobs that may be on the pool.

    Attributes
    ----------
    by_arrival, arrival
        By arrival, and when that is [h], shape (movable,).
    span_hours
        Longest time from the arrival of a job to its end.
    running, waiting
        Scratch for jobs on the pool near a moment, and for jobs off it, shape (movable,).
    """

    by_arrival: IntArray
    arrival: FloatArray
    span_hours: float
    running: IntArray
    waiting: IntArray


class Moved(NamedTuple):
    """Jobs of a try, and where they were before it; what decides the order in which they start, and that order."""

    job: IntArray
    start: FloatArray
    on_pool: BoolArray
    key: FloatArray
    order: IntArray


@kernel
def drawn(luck: Luck) -> float:
    """Return the next random number."""
    at = luck.next[0]
    luck.next[0] = at + 1
    return float(luck.number[at])


@kernel
def cost_now(j: int, jobs: Jobs, choice: Choice, events: Events, costs: RunCosts) -> float:
    """Return what a job costs where it is: no load is above R."""
    if not choice.on_pool[j]:
        return float(choice.other[j])
    return float(cost_of_run(choice.start[j], j, 0.0, jobs, events, costs))


@kernel
def list_running(begin: float, end: float, but: int, jobs: Jobs, choice: Choice, near: Near) -> int:
    """List the jobs, but for one, that run on the pool between two moments or from the last one on; return how many."""
    first = np.searchsorted(near.arrival, begin - near.span_hours)
    last = np.searchsorted(near.arrival, end + SAME_HOURS, side="right")
    count = 0
    for k in range(first, last):
        j = near.by_arrival[k]
        start = choice.start[j]
        if j != but and choice.on_pool[j] and start <= end + SAME_HOURS and start + jobs.length[j] > begin:
            near.running[count] = j
            count += 1
    return count


@kernel
def list_waiting(begin: float, end: float, but: int, jobs: Jobs, choice: Choice, near: Near) -> int:
    """List the jobs, but for one, that are off the pool and could run between two moments; return how many."""
    first = np.searchsorted(near.arrival, begin - near.span_hours)
    last = np.searchsorted(near.arrival, end, side="right")
    count = 0
    for k in range(first, last):
        j = near.by_arrival[k]
        if j != but and not choice.on_pool[j] and jobs.arrival[j] + jobs.wait[j] + jobs.length[j] >= begin:
            near.waiting[count] = j
            count += 1
    return count


@kernel
def leave(j: int, number: int, jobs: Jobs, choice: Choice, events: Events, costs: RunCosts, moved: Moved) -> float:
    """Take a job off the pool, as number so many of a try; return what it cost."""
    cost = cost_now(j, jobs, choice, events, costs)
    moved.job[number] = j
    moved.start[number] = choice.start[j]
    moved.on_pool[number] = choice.on_pool[j]
    if choice.on_pool[j]:
        take(jobs.cpus[j], choice.start[j], choice.start[j] + jobs.length[j], events)
        choice.on_pool[j] = False
    return float(cost)


@kernel
def undo(count: int, jobs: Jobs, choice: Choice, events: Events, moved: Moved) -> None:
    """Let the first jobs of a try be where they were."""
    for number in range(count):
        j = moved.job[number]
        if choice.on_pool[j]:
            take(jobs.cpus[j], choice.start[j], choice.start[j] + jobs.length[j], events)
    for number in range(count):
        j = moved.job[number]
        choice.start[j] = moved.start[number]
        choice.on_pool[j] = moved.on_pool[number]
        if choice.on_pool[j]:
            put(jobs.cpus[j], choice.start[j], choice.start[j] + jobs.length[j], events)

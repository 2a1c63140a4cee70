"""The GPUs that runs hold, as steps in time, and the stretches that they leave to one job: compiled loops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.mlcluster.methods.price.path import Stretches


class Held(NamedTuple):
    """Steps in time; arrays have room for more than there are.

    Attributes
    ----------
    moment
        When the number of GPUs changes [min], increasing; the first is before everything.
    gpus
        Held from that moment to the next.
    steps
        Number of steps, shape (1,).
    """

    moment: FloatArray
    gpus: IntArray
    steps: IntArray


class Window(NamedTuple):
    """What a job finds in the cells, before others.

    Attributes
    ----------
    carbon, price, least
        See `path.Stretches`, by cell, shape (T,).
    minutes
        Length of a cell.
    arrival
        When the job may begin [min].
    late
        What an hour of its completion time costs [objective].
    """

    carbon: FloatArray
    price: FloatArray
    least: FloatArray
    minutes: float
    arrival: float
    late: float


def nothing_held(steps: int) -> Held:
    """Return a time without runs, with room for so many steps."""
    moment = np.full(steps, -np.inf)
    return Held(moment, np.zeros(steps, dtype=np.int64), np.ones(1, dtype=np.int64))


def with_room(held: Held, steps: int) -> Held:
    """Return the same with room for so many steps more."""
    needed = int(held.steps[0]) + steps
    if needed <= len(held.moment):
        return held
    larger = nothing_held(2 * needed)
    larger.moment[: len(held.moment)] = held.moment
    larger.gpus[: len(held.gpus)] = held.gpus
    return Held(larger.moment, larger.gpus, held.steps)


@kernel
def step_at(held: Held, moment: float) -> int:
    """Return the step that a moment is in."""
    low, high = 0, held.steps[0]
    while high - low > 1:
        middle = (low + high) // 2
        if held.moment[middle] <= moment:
            low = middle
        else:
            high = middle
    return low


@kernel
def split(held: Held, moment: float) -> int:
    """Return the step that begins at a moment, after making it."""
    k = step_at(held, moment)
    if held.moment[k] == moment:
        return k
    for i in range(held.steps[0], k + 1, -1):
        held.moment[i] = held.moment[i - 1]
        held.gpus[i] = held.gpus[i - 1]
    held.moment[k + 1] = moment
    held.gpus[k + 1] = held.gpus[k]
    held.steps[0] += 1
    return k + 1


@kernel
def merge(held: Held, k: int) -> None:
    """Drop a step at which nothing changes."""
    if held.gpus[k] != held.gpus[k - 1]:
        return
    for i in range(k, held.steps[0] - 1):
        held.moment[i] = held.moment[i + 1]
        held.gpus[i] = held.gpus[i + 1]
    held.steps[0] -= 1


@kernel
def hold(held: Held, start: FloatArray, end: FloatArray, gpus: IntArray, sign: int) -> None:
    """Add runs, or take them away, of `sign` -1; each needs room for two steps."""
    for i in range(len(start)):
        if end[i] <= start[i]:
            continue
        first = split(held, start[i])
        last = split(held, end[i])
        for k in range(first, last):
            held.gpus[k] += sign * gpus[i]
        merge(held, last)
        merge(held, first)


@kernel
def free_stretches(held: Held, window: Window, all_gpus: int, most: int, moments: FloatArray, over: Stretches) -> int:
    """Fill the stretches from a job's arrival to the horizon, and the `moments` between them; return their number.

    Of GPUs that nobody holds, more than `most` count as `most`. Where nothing changes, stretches are one; but not where
    completion times cost, which are those of the ends of stretches.
    """
    n = 0
    begin = window.arrival
    t = int(begin / window.minutes)
    while (t + 1) * window.minutes <= begin:
        t += 1
    cell = -1
    k = step_at(held, begin)
    while t < len(window.carbon):
        cell_end = (t + 1) * window.minutes
        step_end = np.inf
        if k + 1 < held.steps[0]:
            step_end = held.moment[k + 1]
        end = min(cell_end, step_end)
        free = min(most, all_gpus - held.gpus[k])
        if n > 0 and window.late == 0.0 and free == over.free[n - 1] and (free == 0 or t == cell):
            n -= 1
        else:
            moments[n] = begin
            cell = t
            over.carbon[n] = window.carbon[t]
            over.price[n] = window.price[t]
            over.free[n] = free
            over.least[n] = window.least[t]
            if free == 0:
                over.least[n] = np.inf
        over.length[n] = end - moments[n]
        over.late[n] = window.late * (end - window.arrival) / 60
        n += 1
        moments[n] = end
        begin = end
        if end == cell_end:
            t += 1
        if end == step_end:
            k += 1
    return n

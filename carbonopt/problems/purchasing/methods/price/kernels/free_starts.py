"""The best start at which a job runs wholly on reserved CPUs and the load nowhere exceeds R.

A walk over the changes of the load in a job's window finds the gaps in which the job fits. Within a gap the cost of a
run is linear in its start between the edges of slots, or of cells where runs pay the bound's prices. So only the ends
of a gap and these edges are looked at: a fifth of the time of a path with the cost of each moment (`exact_responses`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import FloatArray
from carbonopt.problems.purchasing.methods.price.grid import Jobs
from carbonopt.problems.purchasing.methods.price.kernels.exact_responses import SAME_HOURS, Events


class RunCosts(NamedTuple):
    """What a run costs where no load is above R; rates are those of the `Events` beside it.

    Attributes
    ----------
    carbon_until, toll_until
        Weighted carbon of a CPU, and the bound's prices, from the beginning to each bucket, shapes (B + 1,) and
        (sizes, B + 1).
    slot_hours, cell_hours
        Of a slot, and of a cell of the prices [h].
    wait
        Weighted price of an hour of waiting.
    reserved
        R with its allowance.
    """

    carbon_until: FloatArray
    toll_until: FloatArray
    slot_hours: float
    cell_hours: float
    wait: float
    reserved: float


@kernel
def cost_until(moment: float, size: int, tolled: float, events: Events, costs: RunCosts) -> float:
    """Return what a CPU costs from the beginning to a moment; `tolled` is the share of the prices that it pays."""
    b = min(int(moment / events.hours), len(events.number) - 1)
    beyond = moment - b * events.hours
    cost = costs.carbon_until[b] + beyond * events.carbon[b]
    if tolled > 0.0:
        cost += tolled * (costs.toll_until[size, b] + beyond * events.toll[size, b])
    return float(cost)


@kernel
def cost_of_run(start: float, j: int, tolled: float, jobs: Jobs, events: Events, costs: RunCosts) -> float:
    """Return what a run of job `j` costs."""
    size = jobs.size[j]
    end = start + jobs.length[j]
    each = cost_until(end, size, tolled, events, costs) - cost_until(start, size, tolled, events, costs)
    return float(jobs.cpus[j] * each + costs.wait * (start - jobs.arrival[j]))


@kernel
def best_of_gap(
    first: float, last: float, j: int, tolled: float, most: float, jobs: Jobs, events: Events, costs: RunCosts
) -> tuple[float, float]:
    """Return the least cost of starts from `first` to `last`, and that start; `most` and -1 where none costs less."""
    best = -1.0
    value = cost_of_run(first, j, tolled, jobs, events, costs)
    if value < most:
        most, best = value, first
    if last <= first:
        return most, best
    value = cost_of_run(last, j, tolled, jobs, events, costs)
    if value < most:
        most, best = value, last
    step = costs.cell_hours if tolled > 0.0 else costs.slot_hours
    for shift in (0.0, jobs.length[j]):  # starts, then ends, at edges
        edge = (np.floor((first + shift) / step) + 1.0) * step
        while edge - shift < last:
            start = max(edge - shift, first)
            value = cost_of_run(start, j, tolled, jobs, events, costs)
            if value < most:
                most, best = value, start
            edge += step
    return most, best


@kernel
def free_start(j: int, tolled: float, most: float, jobs: Jobs, events: Events, costs: RunCosts) -> float:
    """Return the start of least cost at which a job that is not on the pool fits; -1 where none costs less than `most`.

    `tolled` is the share of the bound's prices that it pays.
    """
    earliest = jobs.arrival[j]
    latest = earliest + jobs.wait[j]
    length = jobs.length[j]
    least = length - SAME_HOURS  # a gap that ends as the job does may be shorter by rounding
    end = latest + length
    free = costs.reserved - jobs.cpus[j]
    final = len(events.number) - 1
    b = min(int(earliest / events.hours), final)
    load = events.before[b]
    at = 0
    while at < events.number[b] and events.moment[b, at] <= earliest + SAME_HOURS:
        load += events.change[b, at]
        at += 1
    fits = load <= free
    begun = earliest  # of the gap, where it fits
    best = -1.0
    while True:
        while at >= events.number[b] and b < final:
            b += 1
            at = 0
            load = events.before[b]
        now = min(events.moment[b, at], end) if at < events.number[b] else end
        if now >= end:
            if fits and end - begun >= least:
                most, found = best_of_gap(begun, latest, j, tolled, most, jobs, events, costs)
                best = found if found >= 0.0 else best
            return best
        passed = now
        while at < events.number[b] and events.moment[b, at] <= now + SAME_HOURS:
            passed = events.moment[b, at]
            load += events.change[b, at]
            at += 1
        if fits and load > free:
            fits = False
            if now - begun >= least:
                last = min(now - length, latest)
                most, found = best_of_gap(begun, last, j, tolled, most, jobs, events, costs)
                best = found if found >= 0.0 else best
            if now >= latest:
                return best
        elif not fits and load <= free:
            fits = True
            begun = passed
            if begun > latest:
                return best

"""A job is forced in where load above R has a price, and the jobs in its way leave: a part of ruin and recreate."""

from __future__ import annotations

import numpy as np

from carbonopt.algorithms.kernel import kernel
from carbonopt.problems.purchasing.methods.price.grid import Jobs
from carbonopt.problems.purchasing.methods.price.kernels.cell_responses import Choice, draw
from carbonopt.problems.purchasing.methods.price.kernels.exact_responses import (
    SAME_HOURS,
    Events,
    LoadPrices,
    Path,
    fill_candidates,
    fill_path,
    put,
)
from carbonopt.problems.purchasing.methods.price.kernels.free_starts import RunCosts, cost_of_run
from carbonopt.problems.purchasing.methods.price.kernels.moves import (
    Luck,
    Moved,
    Near,
    drawn,
    leave,
    list_running,
    undo,
)

MOST_FORCED = 200
"""Jobs that leave in a try, at most, where one is forced in."""


@kernel
def first_excess(start: float, end: float, events: Events, reserved: float) -> float:
    """Return the first moment of a run at which the load is above R; -1 for none."""
    final = len(events.number) - 1
    b = min(int(start / events.hours), final)
    load = events.before[b]
    at = 0
    now = start
    while True:
        while at < events.number[b] and events.moment[b, at] <= now + SAME_HOURS:
            load += events.change[b, at]
            at += 1
        if load > reserved:
            return now
        if at < events.number[b]:
            now = events.moment[b, at]
        elif b < final:
            b += 1
            at = 0
            load = events.before[b]
            now = max(now, b * events.hours)
        else:
            return -1.0
        if now >= end - SAME_HOURS:
            return -1.0


@kernel
def force_in(
    j: int,
    price: float,
    temperature: float,
    luck: Luck,
    jobs: Jobs,
    choice: Choice,
    events: Events,
    costs: RunCosts,
    path: Path,
) -> bool:
    """Let a job that is not on the pool respond where load above R has a price; return False for lack of space."""
    earliest = jobs.arrival[j]
    latest = earliest + jobs.wait[j]
    length = jobs.length[j]
    prices = LoadPrices(costs.reserved, price, costs.wait)
    count = fill_path(earliest, latest + length, jobs.cpus[j], 0.0, 0, events, prices, path)
    if count < 0:
        return False
    starts = fill_candidates(earliest, latest, length, count, costs.wait, path)
    path.value[starts] = choice.other[j]
    best = 0
    for q in range(1, starts + 1):
        if path.value[q] <= path.value[best]:
            best = q
    if temperature > 0.0:
        best = draw(starts + 1, path.value[best], temperature, drawn(luck), path.value)
    if best == starts:
        return True
    choice.start[j] = path.start[best]
    choice.on_pool[j] = put(jobs.cpus[j], path.start[best], path.start[best] + length, events)
    return bool(choice.on_pool[j])


@kernel
def in_the_way(
    moment: float,
    but: int,
    contest: int,
    luck: Luck,
    jobs: Jobs,
    choice: Choice,
    events: Events,
    costs: RunCosts,
    near: Near,
) -> int:
    """Return a job that runs on the pool at a moment, but for one; -1 for none.

    Of some drawn, it is the one that saves least for each CPU-hour at the prices of the bound.
    """
    count = list_running(moment, moment, but, jobs, choice, near)
    found = -1
    least = np.inf
    if count > 0:
        for _ in range(contest):
            j = near.running[int(drawn(luck) * count)]
            saved = choice.other[j] - cost_of_run(choice.start[j], j, 1.0, jobs, events, costs)
            saved /= jobs.cpus[j] * jobs.length[j]
            if found < 0 or saved < least:
                least, found = saved, j
    return int(found)


@kernel
def make_room(
    number: int,
    most_compared: int,
    luck: Luck,
    jobs: Jobs,
    choice: Choice,
    events: Events,
    costs: RunCosts,
    near: Near,
    moved: Moved,
) -> tuple[int, float]:
    """Let jobs in the way of the first one leave the pool, after so many that have left.

    Returns how many have left then, or 0 where more would have to than may, and what these others cost.
    """
    j = moved.job[0]
    cost = 0.0
    if not choice.on_pool[j]:
        return number, cost
    contest = 1 + int(drawn(luck) * most_compared)
    most = number + MOST_FORCED
    end = choice.start[j] + jobs.length[j]
    moment = first_excess(choice.start[j], end, events, costs.reserved)
    while moment >= 0.0:
        k = in_the_way(moment, j, contest, luck, jobs, choice, events, costs, near) if number < most else -1
        if k < 0:
            undo(number, jobs, choice, events, moved)
            return 0, cost
        cost += leave(k, number, jobs, choice, events, costs, moved)
        number += 1
        moment = first_excess(moment, end, events, costs.reserved)
    return number, cost

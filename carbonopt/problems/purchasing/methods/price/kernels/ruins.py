"""Ruin and recreate at the exact load: some jobs near a moment leave the pool, and each starts where it then fits best.

Where jobs may not split, a response never finds that two small jobs should make room for a large one: each step on the
way costs more. So several jobs leave at once, with some that were off the pool, and all of them choose anew, one after
the other in some order (Schrimpf et al. 2000, "Record breaking optimization results using the ruin and recreate
principle", Journal of Computational Physics 159, 139-171). In some of these tries one job is forced in first: load
above R has a price for it, and the jobs that are in its way leave, too. A try stays if it costs less, or by the chance
that a temperature gives it; else all is as before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
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
    take,
)
from carbonopt.problems.purchasing.methods.price.kernels.free_starts import RunCosts, cost_of_run, free_start

MOST_FORCED = 200
"""Jobs that leave in a try, at most, where one is forced in."""
MOST_DRAWS = 40
"""Random numbers of a try, beside those for each job that may leave."""
LEAST_LUCK = 1e-300
"""Random number that is taken for 0, which has no logarithm."""
RANDOM, WORK, CPUS, LENGTH, ARRIVAL = 0.3, 0.6, 0.7, 0.8, 0.9
"""Up to which random number jobs start in random order, by work, CPUs, length, arrival; beyond, by latest start."""
OUT_OF_ORDER = 0.1
"""Chance of a job to start earlier or later than that."""


class Luck(NamedTuple):
    """Random numbers from 0 to 1, and which comes next, shape (1,)."""

    number: FloatArray
    next: IntArray


class Rules(NamedTuple):
    """What a try may do, see `RuinParameters`, and the weighted price of a CPU-hour on demand."""

    leaving: int
    called: int
    reach_hours: float
    tolled_share: float
    forced_share: float
    eager: float
    contest: int
    on_demand: float


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
def lacks_luck(rules: Rules, luck: Luck, moved: Moved) -> bool:
    """Return whether random numbers may run out in the next try."""
    return bool(luck.next[0] + MOST_DRAWS + (4 + rules.contest) * len(moved.job) > len(luck.number))


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
def shuffle(listed: IntArray, count: int, most: int, luck: Luck) -> int:
    """Draw so many of the jobs listed to the front, or all; return how many."""
    most = min(most, count)
    for k in range(most):
        i = k + int(drawn(luck) * (count - k))
        listed[k], listed[i] = listed[i], listed[k]
    return most


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


@kernel
def settle_in(j: int, tolled: float, jobs: Jobs, choice: Choice, events: Events, costs: RunCosts) -> bool:
    """Let a job that is not on the pool start where it fits best, if anywhere; return False where a bucket is full."""
    start = free_start(j, tolled, choice.other[j], jobs, events, costs)
    if start < 0.0:
        return True
    choice.start[j] = start
    choice.on_pool[j] = put(jobs.cpus[j], start, start + jobs.length[j], events)
    return bool(choice.on_pool[j])


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
    rules: Rules,
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
    contest = 1 + int(drawn(luck) * rules.contest)
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


@kernel
def put_in_order(first: int, count: int, luck: Luck, jobs: Jobs, moved: Moved) -> None:
    """Decide in which order jobs start, from number `first` on."""
    kind = drawn(luck)
    for k in range(first, count):
        j = moved.job[k]
        moved.order[k] = k
        if kind < RANDOM:
            moved.key[k] = drawn(luck)
        elif kind < WORK:
            moved.key[k] = -jobs.cpus[j] * jobs.length[j]
        elif kind < CPUS:
            moved.key[k] = -jobs.cpus[j]
        elif kind < LENGTH:
            moved.key[k] = -jobs.length[j]
        elif kind < ARRIVAL:
            moved.key[k] = jobs.arrival[j]
        else:
            moved.key[k] = jobs.arrival[j] + jobs.wait[j]
        if drawn(luck) < OUT_OF_ORDER:
            moved.key[k] *= drawn(luck)
    for k in range(first + 1, count):
        who = moved.order[k]
        i = k
        while i > first and moved.key[moved.order[i - 1]] > moved.key[who]:
            moved.order[i] = moved.order[i - 1]
            i -= 1
        moved.order[i] = who


@kernel
def moment_of(j: int, jobs: Jobs, choice: Choice, luck: Luck) -> float:
    """Return a moment at which a job runs, or could run if it is off the pool."""
    if choice.on_pool[j]:
        return float(choice.start[j] + drawn(luck) * jobs.length[j])
    return float(jobs.arrival[j] + drawn(luck) * (jobs.wait[j] + jobs.length[j]))


@kernel
def share_of(most: int, luck: Luck) -> int:
    """Return a number from 1 to `most`; small ones have better chances."""
    return int((most + 1.0) ** drawn(luck))


@kernel
def ruin(
    tries: IntArray,
    begin: int,
    temperature: float,
    rules: Rules,
    luck: Luck,
    jobs: Jobs,
    choice: Choice,
    events: Events,
    costs: RunCosts,
    near: Near,
    moved: Moved,
    path: Path,
    change: FloatArray,
) -> int:
    """Make tries, each around one job, from one on; return where it stopped for lack of space or luck, or the end.

    What those that stay cost is added to `change`, shape (1,).
    """
    for z in range(begin, len(tries)):
        if lacks_luck(rules, luck, moved):
            return z
        j = tries[z]
        moment = moment_of(j, jobs, choice, luck)
        reach = rules.reach_hours * drawn(luck) ** 3
        count = list_running(moment - reach, moment + reach, j, jobs, choice, near)
        running = shuffle(near.running, count, share_of(rules.leaving, luck), luck)
        called = share_of(rules.called, luck) - int(2.0 * drawn(luck))
        count = list_waiting(moment - reach, moment + reach, j, jobs, choice, near)
        waiting = shuffle(near.waiting, count, called, luck)
        added = -leave(j, 0, jobs, choice, events, costs, moved)
        number = 1
        for k in range(running):
            added -= leave(near.running[k], number, jobs, choice, events, costs, moved)
            number += 1
        for k in range(waiting):
            added -= leave(near.waiting[k], number, jobs, choice, events, costs, moved)
            number += 1
        first = 0
        if drawn(luck) < rules.forced_share:
            first = 1
            price = rules.eager * drawn(luck) * rules.on_demand
            if not force_in(j, price, temperature, luck, jobs, choice, events, costs, path):
                undo(number, jobs, choice, events, moved)
                return z
            added += cost_now(j, jobs, choice, events, costs)
            number, cost = make_room(number, rules, luck, jobs, choice, events, costs, near, moved)
            if number == 0:
                continue
            added -= cost
        put_in_order(first, number, luck, jobs, moved)
        tolled = drawn(luck) if drawn(luck) < rules.tolled_share else 0.0
        for k in range(first, number):
            i = moved.job[moved.order[k]]
            if not settle_in(i, tolled, jobs, choice, events, costs):
                undo(number, jobs, choice, events, moved)
                return z
            added += cost_now(i, jobs, choice, events, costs)
        most = -temperature * np.log(max(drawn(luck), LEAST_LUCK)) if temperature > 0.0 else 0.0
        if added > most:
            undo(number, jobs, choice, events, moved)
        else:
            change[0] += added
    return len(tries)

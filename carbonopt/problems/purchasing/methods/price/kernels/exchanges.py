"""Exchanges of whole jobs at the exact load: one takes the room of others, and these go where they then cost least.

Where jobs may not split, a response never finds that two small jobs should make room for a large one: each step on the
way costs more. So a job starts where load above R costs a price of its own, from nothing to more than on demand. Jobs
that are in its way leave the pool one after the other, and respond to what is left, each without load above R. The
exchange stays if it costs less, or by the chance that a temperature gives it; else all is as before.
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

MOST_MOVED = 12
"""Jobs of an exchange, at most."""
DEAR = 1e6
"""Price of load above R, over that on demand, for who may not be there: a long job might still pay it for a second.

So each start is looked at, too. A price so high that nobody pays it would leave few digits for all that is less dear.
"""
LUCK = MOST_MOVED + 2
"""Random numbers of an exchange."""
LEAST_LUCK = 1e-300
"""Random number that is taken for 0, which has no logarithm."""


class Tries(NamedTuple):
    """Exchanges to be tried: the job of each, random numbers from 0 to 1, shape (count, LUCK), and the temperature."""

    job: IntArray
    luck: FloatArray
    temperature: float


class ExchangeTerms(NamedTuple):
    """What exchanges cost.

    Attributes
    ----------
    until
        Weighted carbon of a CPU from the beginning to each bucket, shape (B + 1,).
    on_demand
        Weighted price of a CPU-hour on demand.
    eager
        Largest price of load above R that the first job sees, over that.
    wait
        Weighted price of an hour of waiting.
    reserved
        R with its allowance.
    by_arrival
        Jobs that may be on the pool, by arrival.
    arrival
        Of these, shape (movable,) [h].
    span_hours
        Longest time from the arrival of a job to its end.
    """

    until: FloatArray
    on_demand: float
    eager: float
    wait: float
    reserved: float
    by_arrival: IntArray
    arrival: FloatArray
    span_hours: float


class Moved(NamedTuple):
    """Jobs of an exchange, and where they were before it; shape (MOST_MOVED,)."""

    job: IntArray
    start: FloatArray
    on_pool: BoolArray


@kernel
def carbon_until(moment: float, events: Events, until: FloatArray) -> float:
    """Return the weighted carbon of a CPU from the beginning to a moment."""
    b = min(int(moment / events.hours), len(events.number) - 1)
    return float(until[b] + (moment - b * events.hours) * events.carbon[b])


@kernel
def cost_now(j: int, jobs: Jobs, choice: Choice, events: Events, terms: ExchangeTerms) -> float:
    """Return what a job costs where it is: no load is above R."""
    if not choice.on_pool[j]:
        return float(choice.other[j])
    start = choice.start[j]
    carbon = carbon_until(start + jobs.length[j], events, terms.until) - carbon_until(start, events, terms.until)
    return float(jobs.cpus[j] * carbon + terms.wait * (start - jobs.arrival[j]))


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
def runs_at(moment: float, j: int, jobs: Jobs, choice: Choice) -> bool:
    """Return whether a job runs on the pool at a moment, or from it on."""
    start = choice.start[j]
    return bool(choice.on_pool[j] and start <= moment + SAME_HOURS and start + jobs.length[j] > moment)


@kernel
def in_the_way(moment: float, but: int, luck: float, jobs: Jobs, choice: Choice, terms: ExchangeTerms) -> int:
    """Return a job that runs on the pool at a moment, but for one, drawn by its CPUs; -1 for none."""
    last = np.searchsorted(terms.arrival, moment + SAME_HOURS, side="right")
    first = np.searchsorted(terms.arrival, moment - terms.span_hours)
    total = 0.0
    for k in range(first, last):
        j = terms.by_arrival[k]
        if j != but and runs_at(moment, j, jobs, choice):
            total += jobs.cpus[j]
    wanted = luck * total
    found = -1
    for k in range(first, last):
        j = terms.by_arrival[k]
        if j != but and runs_at(moment, j, jobs, choice):
            found = j
            wanted -= jobs.cpus[j]
            if wanted < 0.0:
                break
    return int(found)


@kernel
def least_of(count: int, path: Path) -> int:
    """Return which of the first candidates costs least, the last one of several."""
    best = 0
    for q in range(1, count):
        if path.value[q] <= path.value[best]:
            best = q
    return best


@kernel
def place(
    j: int,
    price: float,
    temperature: float,
    luck: float,
    jobs: Jobs,
    choice: Choice,
    events: Events,
    terms: ExchangeTerms,
    path: Path,
) -> bool:
    """Let a job that is not on the pool respond to the load; return False where there is no space for that.

    At a price of `DEAR` and more it takes no start at which load is above R.
    """
    earliest = jobs.arrival[j]
    latest = earliest + jobs.wait[j]
    length = jobs.length[j]
    prices = LoadPrices(terms.reserved, price, terms.wait)
    count = fill_path(earliest, latest + length, jobs.cpus[j], 0.0, 0, events, prices, path)
    if count < 0:
        return False
    found = fill_candidates(earliest, latest, length, count, terms.wait, path)
    starts = found
    path.value[found] = choice.other[j]
    found += 1
    best = least_of(found, path)
    free = terms.reserved - jobs.cpus[j]
    while best < starts and price >= DEAR * terms.on_demand:
        if first_excess(path.start[best], path.start[best] + length, events, free) < 0.0:
            break
        path.value[best] = np.inf
        best = least_of(found, path)
    if temperature > 0.0:
        best = draw(found, path.value[best], temperature, luck, path.value)
    if best == starts:
        return True
    choice.start[j] = path.start[best]
    choice.on_pool[j] = put(jobs.cpus[j], path.start[best], path.start[best] + length, events)
    return bool(choice.on_pool[j])


@kernel
def leave(j: int, number: int, jobs: Jobs, choice: Choice, events: Events, moved: Moved) -> None:
    """Take a job off the pool, as number so many of an exchange."""
    moved.job[number] = j
    moved.start[number] = choice.start[j]
    moved.on_pool[number] = choice.on_pool[j]
    if choice.on_pool[j]:
        take(jobs.cpus[j], choice.start[j], choice.start[j] + jobs.length[j], events)
        choice.on_pool[j] = False


@kernel
def undo(count: int, jobs: Jobs, choice: Choice, events: Events, moved: Moved) -> None:
    """Let the first jobs of an exchange be where they were."""
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
def make_room(
    luck: FloatArray, jobs: Jobs, choice: Choice, events: Events, terms: ExchangeTerms, moved: Moved
) -> tuple[int, float]:
    """Let jobs in the way of the first one leave the pool.

    Returns how many jobs have moved with it, and what these others cost where they were. Where more would have to leave
    than may, all are back, and the number is 0.
    """
    j = moved.job[0]
    count = 1
    cost = 0.0
    if not choice.on_pool[j]:
        return count, cost
    end = choice.start[j] + jobs.length[j]
    moment = first_excess(choice.start[j], end, events, terms.reserved)
    while moment >= 0.0:
        k = in_the_way(moment, j, luck[count], jobs, choice, terms) if count < MOST_MOVED else -1
        if k < 0:
            undo(count, jobs, choice, events, moved)
            return 0, cost
        cost += cost_now(k, jobs, choice, events, terms)
        leave(k, count, jobs, choice, events, moved)
        count += 1
        moment = first_excess(moment, end, events, terms.reserved)
    return count, cost


@kernel
def exchange(
    tries: Tries, begin: int, jobs: Jobs, choice: Choice, events: Events, terms: ExchangeTerms, moved: Moved, path: Path
) -> int:
    """Try exchanges from one on; return where it stopped for lack of space, or the end."""
    heat = tries.temperature
    for z in range(begin, len(tries.job)):
        eager, where, luck = tries.luck[z, 0], tries.luck[z, 1], tries.luck[z, 2:]
        j = tries.job[z]
        change = -cost_now(j, jobs, choice, events, terms)
        leave(j, 0, jobs, choice, events, moved)
        price = eager * terms.eager * terms.on_demand
        if not place(j, price, heat, where, jobs, choice, events, terms, path):
            undo(1, jobs, choice, events, moved)
            return z
        change += cost_now(j, jobs, choice, events, terms)
        count, cost = make_room(luck, jobs, choice, events, terms, moved)
        if count == 0:
            continue
        change -= cost
        for number in range(1, count):
            k = moved.job[number]
            if not place(k, DEAR * terms.on_demand, 0.0, 0.0, jobs, choice, events, terms, path):
                undo(count, jobs, choice, events, moved)
                return z
            change += cost_now(k, jobs, choice, events, terms)
        most = -heat * np.log(max(luck[0], LEAST_LUCK)) if heat > 0.0 else 0.0
        if change > most:
            undo(count, jobs, choice, events, moved)
    return len(tries.job)

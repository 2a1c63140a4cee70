"""Best responses to the exact load: the pool as moments at which its load changes, in buckets of equal length.

A job is taken out, walks over the moments of its window, and starts where its cost is least; that is where its start
or its end meets a moment, a slot's edge or an end of its window. Every step lowers the exact objective (or, at a
temperature, almost). Without a price of load above R, it never exceeds R.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.purchasing.methods.price.grid import Jobs
from carbonopt.problems.purchasing.methods.price.kernels.cell_responses import Choice, Turns, draw

SAME_HOURS = 1e-9
"""Moments that differ by less are one."""


class Events(NamedTuple):
    """Changes of the load by bucket, in time order: (B, capacity), their number, and the load at its beginning, (B,).

    `carbon` and `toll` are what a CPU pays in each bucket, as in `cell_responses.Pool`: buckets are within slots.
    """

    hours: float
    moment: FloatArray
    change: FloatArray
    number: IntArray
    before: FloatArray
    carbon: FloatArray
    toll: FloatArray


class LoadPrices(NamedTuple):
    """R with its allowance, the price of load above R, and that of waiting."""

    reserved: float
    price: float
    wait: float


class Path(NamedTuple):
    """Scratch: moments of a job's window, its cost until each, its rate after each; candidates' costs and starts."""

    moment: FloatArray
    until: FloatArray
    rate: FloatArray
    value: FloatArray
    start: FloatArray


@kernel
def insert(moment: float, change: float, events: Events) -> bool:
    """Insert a change of the load; return False where the bucket is full."""
    final = len(events.number) - 1
    b = min(int(moment / events.hours), final)
    at = events.number[b]
    if at >= events.moment.shape[1]:
        return False
    while at > 0 and events.moment[b, at - 1] > moment:
        events.moment[b, at], events.change[b, at] = events.moment[b, at - 1], events.change[b, at - 1]
        at -= 1
    events.moment[b, at], events.change[b, at] = moment, change
    events.number[b] += 1
    return True


@kernel
def remove(moment: float, change: float, events: Events) -> None:
    """Take out a change of the load."""
    b = min(int(moment / events.hours), len(events.number) - 1)
    at = 0
    while events.moment[b, at] != moment or events.change[b, at] != change:
        at += 1
    events.number[b] -= 1
    for e in range(at, events.number[b]):
        events.moment[b, e], events.change[b, e] = events.moment[b, e + 1], events.change[b, e + 1]


@kernel
def shift(cpus: float, start: float, end: float, events: Events) -> None:
    """Add to the load at the beginnings of the buckets within a run."""
    final = len(events.number) - 1
    for b in range(min(int(start / events.hours), final) + 1, min(int(end / events.hours), final) + 1):
        events.before[b] += cpus


@kernel
def put(cpus: float, start: float, end: float, events: Events) -> bool:
    """Put in a run; return False, with nothing changed, where a bucket is full."""
    if not insert(start, cpus, events):
        return False
    if not insert(end, -cpus, events):
        remove(start, cpus, events)
        return False
    shift(cpus, start, end, events)
    return True


@kernel
def put_all(jobs: Jobs, choice: Choice, events: Events) -> bool:
    """Put in the runs of all jobs on the pool; return False where a bucket is full."""
    for j in range(len(jobs.cpus)):
        start = choice.start[j]
        if choice.on_pool[j] and not put(jobs.cpus[j], start, start + jobs.length[j], events):
            return False
    return True


@kernel
def take(cpus: float, start: float, end: float, events: Events) -> None:
    """Take out a run."""
    remove(start, cpus, events)
    remove(end, -cpus, events)
    shift(-cpus, start, end, events)


@kernel
def fill_path(
    begin: float, end: float, cpus: float, shared: float, size: int, events: Events, prices: LoadPrices, path: Path
) -> int:
    """Fill the moments from `begin` to `end`, and the job's cost until and rate after each; return their number."""
    final = len(events.number) - 1
    free = prices.reserved - cpus
    b = min(int(begin / events.hours), final)
    load = events.before[b]
    at = 0
    while at < events.number[b] and events.moment[b, at] <= begin:
        load += events.change[b, at]
        at += 1
    now = begin
    total = 0.0
    count = 0
    most = len(path.moment) - 2
    while True:
        limit = (b + 1) * events.hours if b < final else end
        following = events.moment[b, at] if at < events.number[b] else limit
        following = min(following, end)
        if following > now + SAME_HOURS or following >= end:
            above = min(max(load - free, 0.0), cpus)
            rate = cpus * events.carbon[b] + shared * events.toll[size, b] + prices.price * above
            path.moment[count] = now
            path.until[count] = total
            path.rate[count] = rate
            count += 1
            total += rate * (following - now)
            now = following
        if following >= end or count >= most:
            path.moment[count] = end
            path.until[count] = total
            path.rate[count] = 0.0
            return count + 1 if count < most else -1
        if at < events.number[b] and events.moment[b, at] <= following:
            load += events.change[b, at]
            at += 1
        elif b < final:
            b += 1
            at = 0
            load = events.before[b]


@kernel
def fill_candidates(earliest: float, latest: float, length: float, count: int, wait: float, path: Path) -> int:
    """Fill the costs of the starts that may be best; return their number."""
    i = 0
    k = 0
    found = 0
    s = earliest
    while True:
        while k < count - 2 and path.moment[k + 1] <= s + length:
            k += 1
        while i < count - 2 and path.moment[i + 1] <= s:
            i += 1
        value = path.until[k] + (s + length - path.moment[k]) * path.rate[k]
        value -= path.until[i] + (s - path.moment[i]) * path.rate[i]
        path.value[found] = value + wait * (s - earliest)
        path.start[found] = s
        found += 1
        if s >= latest:
            return found
        by_start = path.moment[i + 1]
        by_end = path.moment[k + 1] - length
        if by_end <= s:
            by_end = latest
        s = min(max(min(by_start, by_end), s + SAME_HOURS), latest)


@kernel
def respond(
    turns: Turns, begin: int, jobs: Jobs, choice: Choice, events: Events, prices: LoadPrices, path: Path
) -> int:
    """Let the jobs from `begin` on choose anew; return where it stopped for lack of space, or the end."""
    order, luck, temperature, reach = turns
    for z in range(begin, len(order)):
        j = order[z]
        cpus = jobs.cpus[j]
        shared = jobs.shared[j]
        length = jobs.length[j]
        earliest = jobs.arrival[j]
        latest = earliest + jobs.wait[j]
        if choice.on_pool[j]:
            take(cpus, choice.start[j], choice.start[j] + length, events)
            earliest = max(earliest, choice.start[j] - reach)
            latest = min(latest, choice.start[j] + reach)
        count = fill_path(earliest, latest + length, cpus, shared, jobs.size[j], events, prices, path)
        if count < 0:
            if choice.on_pool[j]:
                put(cpus, choice.start[j], choice.start[j] + length, events)
            return z
        found = fill_candidates(earliest, latest, length, count, prices.wait, path)
        best = 0
        for q in range(1, found):
            if path.value[q] < path.value[best]:
                best = q
        starts = found
        if choice.other[j] < np.inf:
            path.value[found] = choice.other[j] - prices.wait * (earliest - jobs.arrival[j])
            best = starts if path.value[starts] < path.value[best] else best
            found += 1
        if temperature > 0.0:
            best = draw(found, path.value[best], temperature, luck[z], path.value)
        on_pool = best < starts
        start = path.start[min(best, starts - 1)]
        if on_pool and not put(cpus, start, start + length, events):
            if choice.on_pool[j]:
                put(cpus, choice.start[j], choice.start[j] + length, events)
            return z
        choice.on_pool[j] = on_pool
        if on_pool:
            choice.start[j] = start
    return len(order)

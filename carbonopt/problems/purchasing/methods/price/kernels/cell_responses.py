"""Best responses on a grid of cells, at a temperature: sweeps over the jobs that settle the load of the pool.

Cells hold the mean load. A job is taken out, sees in each cell what it would add to the cost,

    n alpha + m lambda + p clip(load + n - R, 0, n)      (alpha: weighted carbon; p: price of load above R)

an hour, with a toll lambda on the m CPUs that may be reserved, and starts at an edge of a cell (or an end of its
window) with a chance proportional to exp(- cost / temperature). Cells between the starts and the ends of all its
runs are never looked at. What a job may do beside the pool is one more choice, of known cost.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.problems.purchasing.methods.price.grid import Jobs


class Pool(NamedTuple):
    """What a job meets: carbon (weighted) and load of each cell, R, prices of load above R and of waiting.

    The toll of each cell is that of a CPU of jobs of each size, shape (sizes, G).
    """

    hours: float
    carbon: FloatArray
    toll: FloatArray
    load: FloatArray
    reserved: float
    price: float
    wait: float


class Choice(NamedTuple):
    """What the jobs do: when they start, and whether on the pool; and what it costs to do something else, (N,)."""

    start: FloatArray
    on_pool: BoolArray
    other: FloatArray


class Turns(NamedTuple):
    """Jobs in the order of a sweep, a random number from 0 to 1 for each, temperature, and farthest move [h]."""

    order: IntArray
    luck: FloatArray
    temperature: float
    reach: float


class Room(NamedTuple):
    """Scratch: cost of each start of a job, and its cost rate in each cell of its window."""

    value: FloatArray
    rate: FloatArray


@kernel
def add_load(cpus: float, start: float, length: float, pool: Pool) -> None:
    """Add a run to the load."""
    hours = pool.hours
    end = start + length
    final = len(pool.load) - 1
    i = min(int(start / hours), final)
    k = min(int(end / hours), final)
    if i == k:
        pool.load[i] += cpus * length / hours
        return
    pool.load[i] += cpus * ((i + 1) * hours - start) / hours
    for c in range(i + 1, k):
        pool.load[c] += cpus
    pool.load[k] += cpus * (end - k * hours) / hours


@kernel
def add_loads(jobs: Jobs, choice: Choice, pool: Pool) -> None:
    """Add the runs of all jobs on the pool to the load."""
    for j in range(len(jobs.cpus)):
        if choice.on_pool[j]:
            add_load(jobs.cpus[j], choice.start[j], jobs.length[j], pool)


@kernel
def fill_rates(
    first: int, last: int, origin: int, cpus: float, shared: float, size: int, pool: Pool, room: Room
) -> None:
    """Fill the cost rate of a job of so many CPUs in cells `first` to `last`, cell `origin` at 0."""
    free = pool.reserved - cpus
    for c in range(first, min(last, len(pool.load) - 1) + 1):
        above = min(max(pool.load[c] - free, 0.0), cpus)
        room.rate[c - origin] = cpus * pool.carbon[c] + shared * pool.toll[size, c] + pool.price * above
    for c in range(max(first, len(pool.load)), last + 1):
        room.rate[c - origin] = 0.0


@kernel
def fill_values(
    earliest: float, latest: float, length: float, cpus: float, shared: float, size: int, pool: Pool, room: Room
) -> tuple[int, int]:
    """Fill the costs of the starts of a job, relative to one from the edge below its window.

    The first is at `earliest`, the last at `latest`, the others at the edges between. Returns their number, and which
    is the least.
    """
    hours = pool.hours
    i = int(earliest / hours)
    x = int(earliest / hours) * hours + length
    k = int(x / hours)
    inner = int((latest - i * hours) / hours)
    fill_rates(i, i + inner + 1, i, cpus, shared, size, pool, room)
    fill_rates(max(k, i + inner + 2), k + inner + 2, i, cpus, shared, size, pool, room)
    part = (x - k * hours) / hours
    b = k - i
    rate, value = room.rate, room.value
    ahead = (earliest - i * hours) / hours
    low = min(ahead, 1.0 - part)
    value[0] = hours * (low * rate[b] + (ahead - low) * rate[b + 1] - ahead * rate[0]) + pool.wait * ahead * hours
    step = pool.wait * hours
    for q in range(inner):
        value[q + 1] = hours * ((1.0 - part) * rate[b + q] + part * rate[b + q + 1] - rate[q]) + step
    total = 0.0
    least = value[0]
    best = 0
    for q in range(1, inner + 1):
        total += value[q]
        value[q] = total
        if total < least:
            least, best = total, q
    ahead = (latest - (i + inner) * hours) / hours
    low = min(ahead, 1.0 - part)
    change = low * rate[b + inner] + (ahead - low) * rate[b + inner + 1] - ahead * rate[inner]
    value[inner + 1] = total + hours * change + pool.wait * ahead * hours
    return inner + 2, (inner + 1 if value[inner + 1] < least else best)


@kernel
def base_value(
    earliest: float, arrival: float, length: float, cpus: float, shared: float, size: int, pool: Pool
) -> float:
    """Return the cost of a run from the edge below `earliest`: what the values of starts are relative to."""
    hours = pool.hours
    free = pool.reserved - cpus
    i = int(earliest / hours)
    end = i * hours + length
    total = pool.wait * (i * hours - arrival)
    c = i
    while c * hours < end and c < len(pool.load):
        above = min(max(pool.load[c] - free, 0.0), cpus)
        rate = cpus * pool.carbon[c] + shared * pool.toll[size, c] + pool.price * above
        total += min(hours, end - c * hours) * rate
        c += 1
    return total


@kernel
def draw(count: int, least: float, temperature: float, luck: float, value: FloatArray) -> int:
    """Return one of the first values, with a chance proportional to (1 - value / 64 T)^64, almost exp(-value / T)."""
    scale = 1.0 / (64.0 * temperature)
    for q in range(count):  # a loop by itself: it is vectorised, other than exp
        x = max(1.0 - (value[q] - least) * scale, 0.0)
        x *= x
        x *= x
        x *= x
        x *= x
        x *= x
        value[q] = x * x
    total = 0.0
    for q in range(count):
        total += value[q]
        value[q] = total
    goal = luck * total
    low = 0
    high = count - 1
    while low < high:
        middle = (low + high) // 2
        if value[middle] > goal:
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def sweep(turns: Turns, jobs: Jobs, pool: Pool, choice: Choice, room: Room) -> None:
    """Let the jobs choose anew, one after the other."""
    order, luck, temperature, reach = turns
    for z in range(len(order)):
        j = order[z]
        cpus = jobs.cpus[j]
        shared = jobs.shared[j]
        size = jobs.size[j]
        length = jobs.length[j]
        earliest = jobs.arrival[j]
        latest = earliest + jobs.wait[j]
        if choice.on_pool[j]:
            add_load(-cpus, choice.start[j], length, pool)
            earliest = max(earliest, choice.start[j] - reach)
            latest = min(latest, choice.start[j] + reach)
        count, best = fill_values(earliest, latest, length, cpus, shared, size, pool, room)
        starts, value = count, room.value
        if choice.other[j] < np.inf:
            value[count] = choice.other[j] - base_value(earliest, jobs.arrival[j], length, cpus, shared, size, pool)
            best = count if value[count] < value[best] else best
            count += 1
        if temperature > 0.0:
            best = draw(count, value[best], temperature, luck[z], value)
        choice.on_pool[j] = best < starts
        if best < starts:
            start = earliest if best == 0 else (int(earliest / pool.hours) + best) * pool.hours
            choice.start[j] = min(start, latest) if best < starts - 1 else latest
            add_load(cpus, choice.start[j], length, pool)

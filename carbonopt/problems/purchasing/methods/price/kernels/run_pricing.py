"""Compiled pricing of uninterrupted runs: each job's least, or soft least, over its breakpoints.

The cost of a run from s, n (A(s + L) - A(s)) + m (B(s + L) - B(s)) + g (s - a) with A and B the integrals of
weighted carbon and of the price, is linear between breakpoints, where s or s + L passes an edge of the grid.
Two pointers, to the cells of s and of s + L, walk over them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.purchasing.methods.price.grid import Jobs, Tariff, Terms

LEAST_MASS = 1e-300
"""Sum of the terms of a soft minimum, at least: at a low temperature all of them vanish."""
NEGLIGIBLE = 25.0
"""Terms of a soft minimum that are less than e^-25 of the largest are left out."""


class Walk(NamedTuple):
    """Scratch of one job's breakpoints: value, start, and the cells of start and end."""

    value: FloatArray
    start: FloatArray
    first: IntArray
    last: IntArray


class Found(NamedTuple):
    """What the pricing fills; arrays of cells add up over the jobs, arrays of jobs are set.

    `whole` and `part` hold the load by its prefix: what is full below each cell, and hours inside it. `whole_all`
    and `part_all` count all CPUs, shape (G + 1,), `whole` and `part` those that may be reserved by the sizes of jobs,
    shape (sizes, G + 1).
    """

    whole: FloatArray
    part: FloatArray
    whole_all: FloatArray
    part_all: FloatArray
    start: FloatArray
    other: FloatArray
    waited: FloatArray


@kernel
def walk_starts(j: int, tariff: Tariff, jobs: Jobs, walk: Walk) -> tuple[int, int]:
    """Fill the breakpoints of job `j` into `walk`; return their number, and which is the least."""
    hours, carbon, price, wait = tariff
    beyond = len(carbon.rate) - 1
    a = jobs.arrival[j]
    length = jobs.length[j]
    n = jobs.cpus[j]
    m = jobs.shared[j]
    row = jobs.size[j]
    latest = a + jobs.wait[j]
    s = a
    count = 0
    best = 0
    i = min(int(s / hours), beyond)
    k = min(int((s + length) / hours), beyond)
    while True:
        before = s - i * hours
        inside = s + length - k * hours
        value = n * (carbon.until[k] + inside * carbon.rate[k] - carbon.until[i] - before * carbon.rate[i])
        value += m * (price.until[row, k] + inside * price.rate[row, k])
        value -= m * (price.until[row, i] + before * price.rate[row, i])
        value += wait * (s - a)
        walk.value[count] = value
        walk.start[count] = s
        walk.first[count] = i
        walk.last[count] = k
        if value < walk.value[best]:
            best = count
        count += 1
        if s >= latest:
            return count, best
        by_start = (i + 1) * hours
        by_end = (k + 1) * hours - length
        if min(by_start, by_end) >= latest:
            s = latest
        elif by_start <= by_end:
            s = max(s, by_start)
            i = min(i + 1, beyond)
        else:
            s = max(s, by_end)
            k = min(k + 1, beyond)


@kernel
def add_run(weight: float, c: int, hours: float, jobs: Jobs, j: int, walk: Walk, found: Found) -> None:
    """Add a run from breakpoint `c` of job `j` to the loads."""
    s = walk.start[c]
    i = walk.first[c]
    k = walk.last[c]
    before = s - i * hours
    inside = s + jobs.length[j] - k * hours
    shared = weight * jobs.shared[j]
    cpus = weight * jobs.cpus[j]
    row = jobs.size[j]
    found.whole[row, k] += shared
    found.whole[row, i] -= shared
    found.part[row, k] += shared * inside
    found.part[row, i] -= shared * before
    found.whole_all[k] += cpus
    found.whole_all[i] -= cpus
    found.part_all[k] += cpus * inside
    found.part_all[i] -= cpus * before
    found.waited[j] += weight * (s - jobs.arrival[j])


@kernel
def price_runs(tariff: Tariff, terms: Terms, jobs: Jobs, walk: Walk, found: Found) -> float:
    """Return the sum of the jobs' least costs, soft where the heat is above 0, and add up their loads.

    A job whose `extra` is infinite cannot run on the pool.
    """
    extra, other, heat = terms
    total = 0.0
    for j in range(len(jobs.arrival)):
        found.waited[j], found.other[j] = 0.0, 1.0
        if extra[j] == np.inf:
            total += other[j]
            continue
        count, best = walk_starts(j, tariff, jobs, walk)
        found.start[j] = walk.start[best]
        least = walk.value[best]
        rival = other[j] - extra[j]
        low = min(least, rival)
        tau = heat[j]
        if tau <= 0.0:
            total += extra[j] + low
            if least <= rival:
                found.other[j] = 0.0
                add_run(1.0, best, tariff.hours, jobs, j, walk, found)
            continue
        mass = np.exp((low - rival) / tau) if rival < np.inf else 0.0
        found.other[j] = mass
        for c in range(count):
            gap = (walk.value[c] - low) / tau
            walk.value[c] = np.exp(-gap) if gap < NEGLIGIBLE else 0.0
            mass += walk.value[c]
        mass = max(mass, LEAST_MASS)
        total += extra[j] + low - tau * np.log(mass)
        found.other[j] /= mass
        for c in range(count):
            if walk.value[c] > 0.0:
                add_run(walk.value[c] / mass, c, tariff.hours, jobs, j, walk, found)
    return total

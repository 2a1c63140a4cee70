"""Weights of sizes of jobs that a load exceeds, though whole jobs with room together never do.

The relaxation says how many jobs of each size run in a slot, on average. If these numbers are a mean of sets of jobs
that may run then and have room on R CPUs, no weights tell them apart from such sets. Whether they are is a linear
program over sets: weights at which no set has more than 1, and the load as much as possible (`knapsack_loops`). Sizes
that the slot has none of get as much weight as changes nothing, the largest first (`lifting`). In other slots other
jobs may run, so what the same weights add up to at most differs from slot to slot.

References
----------
Boyd (1993), "Generating Fenchel cutting planes for knapsack polyhedra", SIAM Journal on Optimization 3, 734-750.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from carbonopt.algorithms.kernel import managed_kernel
from carbonopt.algorithms.knapsack_loops import LEAST_SHARE, cover, cover_prices
from carbonopt.algorithms.lifting import lift
from carbonopt.algorithms.whole_weights import whole_weights
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.options import Options
from carbonopt.core.time import TimeGrid
from carbonopt.problems.purchasing.data.instance import ROUNDING_HOURS, PurchasingInstance
from carbonopt.problems.purchasing.methods.price.places import Windows
from carbonopt.problems.purchasing.methods.price.rounded_sizes import RoundedSizes, Units, Weighing
from carbonopt.problems.purchasing.verify.certificate_rounded import (
    LARGEST_WEIGHT,
    MOST_SUMS,
    sums_to_work_out,
)

MOST_CPUS = 8192
"""R up to which weights are sought, in units that divide all sizes: a knapsack takes as long as that."""
MOST_ITEMS = 60
"""Sizes that are looked at, at most, the largest: small jobs hardly exclude each other."""
MOST_TOGETHER = 120
"""Jobs that a set may have, at most, counted for each size alone: a knapsack takes so long."""
LEAST_EXCESS = 0.005
"""Share of the most that a set of jobs weighs by which a load must weigh more."""
LOOKED_AT = 4
"""For each weighing that is wanted, how many are compared by what they are at most in all slots."""
LEAST_SUM = 1e-3
"""The same, added up over slots [slots], beyond what the weights that are chosen already say."""
ALLOWANCE = 4 * ROUNDING_HOURS
"""By which a run counts as beginning before its window, or ending after it [h]: more than that of the checker."""
USES = np.array([[0, 1]])
"""One slot counts as the second of two in the loops."""


class Weighings:
    """The search for weights of one instance.

    Parameters
    ----------
    instance
        The instance, R given.
    shared
        CPUs of each job that may be reserved, shape (N,); 0 for one that may not.
    """

    def __init__(self, instance: PurchasingInstance, shared: FloatArray) -> None:
        self.reserved = float(instance.reserved_cpus or 0)
        self.instance = instance
        self.cpus = np.unique(shared[shared > 0])
        self.size: IntArray = np.searchsorted(self.cpus, shared)
        is_whole = bool((self.cpus == np.floor(self.cpus)).all())
        self.unit = int(np.gcd.reduce(self.cpus.astype(np.int64))) if is_whole and len(self.cpus) else 0
        self.is_possible = self.unit > 0 and self.reserved <= MOST_CPUS * self.unit
        if not self.is_possible:
            return
        self.need: IntArray = self.cpus.astype(np.int64) // self.unit
        self.capacity = int(self.reserved // self.unit)
        # How many jobs of each size may run in each slot, and how many of them have room together; shape (sizes, T).
        every = Windows.of(instance.jobs.arrival_hours, instance.max_wait_hours)
        self.count = self._count(replace(every, on_pool=shared > 0))
        self.together: IntArray = np.minimum(self.count, (self.capacity // self.need)[:, None])

    def exceeded(self, load: FloatArray, most: int, options: Options, has_time: Callable[[], bool]) -> list[Weighing]:
        """Return weights that a load exceeds the most, `most` at most, each by more than those before it say.

        Parameters
        ----------
        load
            CPUs of jobs of each size in each slot, shape (sizes, T).
        most
            How many, at most.
        options
            Count the work.
        has_time
            Asked before each slot, and before weights are compared: whether the search goes on.
        """
        jobs = np.round(load / self.cpus[:, None], 9)
        found: dict[tuple[int, ...], int] = {}
        for t in range(load.shape[1]):
            if not has_time():
                break
            weights = self._of_slot(t, jobs[:, t], options)
            if weights is not None:
                found.setdefault(*weights)
        tried = (self._weighing(weights, options) for weights in self._likely(found, jobs, most) if has_time())
        every = [weighing for weighing in tried if weighing is not None]
        excess = RoundedSizes(self.cpus, self.reserved, (), apart=True).excess(load, every)
        chosen: list[Weighing] = []
        known = np.zeros(load.shape[1])
        while len(chosen) < min(most, len(every)):
            more = np.maximum(0.0, excess - known).sum(axis=1)
            k = int(more.argmax())
            if more[k] <= LEAST_SUM:
                break
            chosen.append(every[k])
            known = np.maximum(known, excess[k])
        return chosen

    def _likely(self, found: dict[tuple[int, ...], int], jobs: FloatArray, most: int) -> list[tuple[int, ...]]:
        """Return the weights that are exceeded the most if each set weighs as much as in the slot that they are of."""
        every = list(found)
        limit = np.array(list(found.values()), dtype=np.float64)[:, None]
        above = np.array(every, dtype=np.float64).reshape(len(every), len(self.cpus)) @ jobs / limit - 1
        order = np.argsort(-np.maximum(above, 0.0).sum(axis=1), kind="stable")
        return [every[k] for k in order[: LOOKED_AT * most]]

    def _of_slot(self, t: int, jobs: FloatArray, options: Options) -> tuple[tuple[int, ...], int] | None:
        """Return weights of all sizes that jobs of a slot exceed, and what a set weighs there at most.

        `jobs` has how many of each size run, shape (sizes,).
        """
        together = self.together[:, t]
        there = np.flatnonzero((jobs > LEAST_SHARE) & (together > 0))[::-1][:MOST_ITEMS]
        there = np.sort(there[np.cumsum(together[there]) <= MOST_TOGETHER])
        if not len(there):
            return None
        share, kind, together = jobs[there], np.arange(len(there)), together[there]
        need = self.need[there, None] * USES
        capacity = np.array([0, self.capacity])
        options.spend(float(len(there) * (len(there) + self.capacity)))
        total, sets = cover(share, kind, need, together, capacity)
        if total <= 1 + LEAST_EXCESS:
            return None
        found = cover_prices(share, kind, need, together, capacity, sets, LEAST_EXCESS)
        prices, violation, _, pivots, knapsacks = found
        options.spend((pivots + 1) * float(len(there) ** 2) + knapsacks * float(together.sum() * self.capacity))
        if violation <= LEAST_EXCESS:
            return None
        weights, most = whole_weights(prices, share, kind, need, together, capacity)
        if weights @ share <= most * (1 + LEAST_EXCESS):
            return None
        return self._lifted(t, there, weights, most), most

    def _lifted(self, t: int, there: IntArray, weights: IntArray, most: int) -> tuple[int, ...]:
        """Return weights of all sizes: those of other sizes are as large as they may be."""
        every = np.zeros((len(self.cpus), 1), dtype=np.int64)
        every[there, 0] = weights
        may = (self.count[:, t] > 0)[:, None]
        others = np.flatnonzero((every[:, 0] == 0) & may[:, 0])[::-1]
        best = np.zeros((1, self.capacity + 1), dtype=np.int64)
        lift(every, self.need, self.count[:, t], may, USES, np.flatnonzero(every[:, 0]), others, most, best)
        return tuple(every[:, 0].tolist())

    def there(self, units: Sequence[Units], windows: Windows) -> FloatArray:
        """Return how much of all units of each kind there is in each slot where jobs keep to windows, shape (Q, T)."""
        slots = self.instance.time.slots
        there = np.ones((len(units), slots))
        if not any(isinstance(each, Weighing) for each in units):
            return there
        count = self._count(windows)
        together = np.minimum(count, (self.capacity // self.need)[:, None])
        for row, each in enumerate(units):
            if isinstance(each, Weighing):
                sizes = np.searchsorted(self.cpus, each.cpus)
                sums = largest_sums(np.array(each.weights), self.need[sizes], together[sizes], self.capacity)
                there[row] = sums / each.largest
        return there

    def _count(self, windows: Windows) -> IntArray:
        """Return how many jobs of each size may run on the pool in each slot, or touch it, shape (sizes, T)."""
        which = windows.on_pool
        end = windows.last + self.instance.jobs.length_hours
        return jobs_that_may_run(self.instance.time, windows.first[which], end[which], self.size[which], len(self.cpus))

    def _weighing(self, weights: tuple[int, ...], options: Options) -> Weighing | None:
        """Return weights of all sizes with what they add up to at most in each slot; None if a check takes too long."""
        sizes = np.flatnonzero(weights)
        chosen = np.array(weights)[sizes]
        count, slots = np.unique(self.count[sizes], axis=1, return_inverse=True)
        together = np.minimum(count, (self.capacity // self.need[sizes])[:, None])
        options.spend(float(together.sum()) * self.capacity)
        most = largest_sums(chosen, self.need[sizes], together, self.capacity)
        largest = int(most.max())
        if largest > LARGEST_WEIGHT or sums_to_work_out(chosen, count, largest) > MOST_SUMS:
            return None
        return Weighing(tuple(self.cpus[sizes].tolist()), tuple(chosen.tolist()), most[slots.reshape(-1)])


def jobs_that_may_run(time: TimeGrid, begin: FloatArray, end: FloatArray, size: IntArray, sizes: int) -> IntArray:
    """Return how many jobs of each size may run in each slot, or touch it, shape (sizes, T).

    Parameters
    ----------
    time
        The slots.
    begin, end
        From when and until when each job may run [h], shape (J,).
    size, sizes
        Row of each, and how many there are.
    """
    first = np.floor((begin - ALLOWANCE) / time.slot_hours).astype(np.int64)
    last = np.floor((end + ALLOWANCE) / time.slot_hours).astype(np.int64)
    changes = np.zeros((sizes, time.slots + 1), dtype=np.int64)
    np.add.at(changes, (size, np.clip(first, 0, time.slots)), 1)
    np.add.at(changes, (size, np.clip(last + 1, 0, time.slots)), -1)
    return np.asarray(changes.cumsum(axis=1)[:, :-1])


@managed_kernel
def largest_sums(weights: IntArray, need: IntArray, count: IntArray, capacity: int) -> IntArray:
    """Return the largest sum of weights of jobs with room together in each slot, shape (T,).

    Parameters
    ----------
    weights, need
        Of a job of each size, shape (sizes,).
    count
        How many there may be of each size in each slot, shape (sizes, T).
    capacity
        Room for the needs of all.
    """
    slots = count.shape[1]
    most = np.zeros(slots, dtype=np.int64)
    best = np.zeros(capacity + 1, dtype=np.int64)
    for t in range(slots):
        is_known = t > 0
        for s in range(len(weights)):
            is_known = is_known and count[s, t] == count[s, t - 1]
        if is_known:
            most[t] = most[t - 1]
            continue
        best[:] = 0
        for s in range(len(weights)):
            for b in range(capacity, need[s] - 1, -1):
                for k in range(1, count[s, t] + 1):
                    if k * need[s] > b:
                        break
                    best[b] = max(best[b], best[b - k * need[s]] + k * weights[s])
        most[t] = best[capacity]
    return most

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

import numpy as np

from carbonopt.algorithms.kernel import managed_kernel
from carbonopt.algorithms.knapsack_loops import LEAST_SHARE, cover, cover_prices
from carbonopt.algorithms.lifting import lift
from carbonopt.algorithms.whole_weights import whole_weights
from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.core.options import Options
from carbonopt.problems.purchasing.data.instance import ROUNDING_HOURS, PurchasingInstance
from carbonopt.problems.purchasing.methods.price.rounded_sizes import RoundedSizes, Weighing
from carbonopt.problems.purchasing.verify.certificate_rounded import LARGEST_WEIGHT

MOST_CPUS = 8192
"""R up to which weights are sought: a knapsack takes as long as that."""
MOST_ITEMS = 60
"""Sizes that are looked at, at most, the largest: small jobs hardly exclude each other."""
MOST_TOGETHER = 120
"""Jobs that a set may have, at most, counted for each size alone: a knapsack takes so long."""
LEAST_EXCESS = 0.005
"""By which a load must exceed weights, over what they are at most."""
LEAST_SUM = 1e-3
"""The same, added up over slots [slots], beyond what the weights that are chosen already say."""
ALLOWANCE = 3 * ROUNDING_HOURS
"""By which a run may begin before its window, or end after it, as the checker has it, and a little more [h]."""
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
        self.cpus, size = np.unique(shared[shared > 0], return_inverse=True)
        is_whole = bool((self.cpus == np.floor(self.cpus)).all())
        self.unit = int(np.gcd.reduce(self.cpus.astype(np.int64))) if is_whole and len(self.cpus) else 0
        self.is_possible = self.unit > 0 and self.reserved <= MOST_CPUS
        if not self.is_possible:
            return
        self.need: IntArray = self.cpus.astype(np.int64) // self.unit
        self.capacity = int(self.reserved // self.unit)
        # How many jobs of each size may run in each slot, and how many of them have room together; shape (sizes, T).
        self.count = jobs_that_may_run(instance, shared > 0, size.reshape(-1), len(self.cpus))
        self.together: IntArray = np.minimum(self.count, (self.capacity // self.need)[:, None])

    def exceeded(self, load: FloatArray, most: int, options: Options) -> list[Weighing]:
        """Return weights that a load exceeds the most, `most` at most, each by more than those before it say.

        `load` has the CPUs of jobs of each size in each slot, shape (sizes, T).
        """
        jobs = np.round(load / self.cpus[:, None], 9)
        of_slots = (self._of_slot(t, jobs[:, t], options) for t in range(load.shape[1]))
        every = [self._weighing(weights, options) for weights in dict.fromkeys(of_slots) if weights is not None]
        every = [weighing for weighing in every if weighing.largest <= LARGEST_WEIGHT]
        sizes = RoundedSizes(self.cpus, self.reserved, (), apart=True)
        excess = sizes.excess(load, every)
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

    def _of_slot(self, t: int, jobs: FloatArray, options: Options) -> tuple[int, ...] | None:
        """Return weights of all sizes that jobs of a slot exceed; `jobs` has how many of each size run, (sizes,)."""
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
        return self._lifted(t, there, weights, most)

    def _lifted(self, t: int, there: IntArray, weights: IntArray, most: int) -> tuple[int, ...]:
        """Return weights of all sizes: those of other sizes are as large as they may be."""
        every = np.zeros((len(self.cpus), 1), dtype=np.int64)
        every[there, 0] = weights
        may = (self.count[:, t] > 0)[:, None]
        others = np.flatnonzero((every[:, 0] == 0) & may[:, 0])[::-1]
        best = np.zeros((1, self.capacity + 1), dtype=np.int64)
        lift(every, self.need, self.count[:, t], may, USES, np.flatnonzero(every[:, 0]), others, most, best)
        return tuple(every[:, 0].tolist())

    def _weighing(self, weights: tuple[int, ...], options: Options) -> Weighing:
        """Return weights of all sizes with what they add up to at most in each slot."""
        sizes = np.flatnonzero(weights)
        chosen = np.array(weights)[sizes]
        together = self.together[sizes]
        options.spend(float(together.sum()) * self.capacity)
        most = largest_sums(chosen, self.need[sizes], together, self.capacity)
        return Weighing(tuple(self.cpus[sizes].tolist()), tuple(chosen.tolist()), most)


def jobs_that_may_run(instance: PurchasingInstance, which: BoolArray, size: IntArray, sizes: int) -> IntArray:
    """Return how many jobs of each size may run in each slot, or touch it, of those of `which`; shape (sizes, T).

    `size` is the row of each of these.
    """
    hours = instance.time.slot_hours
    slots = instance.time.slots
    begin = (instance.jobs.arrival_hours[which] - ALLOWANCE) / hours
    end = (instance.latest_end_hours[which] + ALLOWANCE) / hours
    changes = np.zeros((sizes, slots + 1), dtype=np.int64)
    np.add.at(changes, (size, np.clip(np.floor(begin).astype(np.int64), 0, slots)), 1)
    np.add.at(changes, (size, np.clip(np.floor(end).astype(np.int64) + 1, 0, slots)), -1)
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

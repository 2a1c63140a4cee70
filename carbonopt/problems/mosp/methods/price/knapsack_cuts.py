"""Weighted cliques of the jobs that use one slot: what sets of jobs with room there have in weights, at most.

A point of the linear program gives each job the share that runs in a slot of a cluster. If it is a mean of schedules,
these shares are a mean of sets of jobs that have room beside each other. Whether they are is a linear program over such
sets: prices of jobs at which no set with room costs more than 1, and the shares as much as possible. Where that is more
than 1, the prices are a violated inequality. Sets are added as a knapsack at the prices finds them. The simplex method
of `knapsack_loops` does this in a tenth of a millisecond; a library takes longer to be called.

References
----------
Boyd (1993), "Generating Fenchel cutting planes for knapsack polyhedra", SIAM Journal on Optimization 3, 734-750.
Kaparis, Letchford (2010), "Separation algorithms for 0-1 knapsack polytopes", Mathematical Programming 124, 69-91.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.core.options import Options
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.methods.price.clique_cuts import MARGIN, Clique, ends_of, running
from carbonopt.problems.mosp.methods.price.knapsack_loops import LEAST_SHARE, cover, cover_prices, knapsack, lift

UNITS = 1024
"""Into so many units a capacity is divided, at most. Demands are rounded down, so no set with room is overlooked."""
KEPT_SHARE = 0.9
"""Share of the violation of prices that whole weights must keep."""
DIVISORS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 18, 20, 24, 30, 36, 48, 60, 120, 240, 1000)
"""Weights are prices in parts of one, rounded down: halves, thirds, and so on, as few parts as keep enough."""


class SlotKnapsacks:
    """The knapsacks of all slots of an instance.

    Parameters
    ----------
    instance
        The instance.

    Attributes
    ----------
    demand, capacity
        In whole units, shapes (N, R) and (M, R, T).
    """

    def __init__(self, instance: MospInstance) -> None:
        self.instance = instance
        limit = instance.clusters.limit * (1 + MARGIN)
        demand = instance.jobs.demand
        largest = limit.max(axis=(0, 2))
        is_whole = (demand == np.round(demand)).all(axis=0) & (largest <= UNITS)
        there = largest > 0
        units = np.where(is_whole | ~there, 1.0, UNITS / np.where(there, largest, 1.0))
        rounded = demand * np.where(is_whole, 1.0, units * (1 - MARGIN))
        self.capacity: IntArray = np.floor(limit * units[:, None]).astype(np.int64)
        self.demand: IntArray = np.floor(np.minimum(rounded, 2.0 * UNITS)).astype(np.int64)  # more has no room anyway
        self._sets: dict[tuple[int, int, int], BoolArray] = {}  # that covered a slot last time

    def violated(self, starts: FloatArray, least: float, options: Options) -> Iterator[Clique]:
        """Yield violated inequalities, at most one for each slot and resource of a cluster, until the time is out.

        `starts` has the share of each job that starts on a cluster in a slot, shape (N, M, T). The weights of an
        inequality add up to at least 1 + `least` times the most that a schedule has.
        """
        share = np.cumsum(starts - ends_of(self.instance, starts), axis=2)
        clusters, resources, slots = self.capacity.shape
        for j, t, r in product(range(clusters), range(slots), range(resources)):
            if options.remaining == 0:
                return
            items = np.flatnonzero(share[:, j, t] > LEAST_SHARE)
            if not (share[items, j, t] < 1 - LEAST_SHARE).any():
                continue
            cut = self._cut((j, r, t), items, share[items, j, t], least, options)
            if cut is not None:
                yield cut

    def _cut(
        self, slot: tuple[int, int, int], items: IntArray, share: FloatArray, least: float, options: Options
    ) -> Clique | None:
        """Return an inequality that `share` violates: the part of each of `items` that uses a slot."""
        j, r, t = slot
        capacity = int(self.capacity[j, r, t])
        demand = self.demand[items, r]
        if demand.sum() <= capacity:
            return None
        options.spend(len(items) * (len(items) + capacity))
        total, sets = cover(share, demand, capacity)
        if total <= 1 + least:
            return None
        prices = self._prices(slot, items, share, sets, least, options)
        if prices is None:
            return None
        weights, most = whole_weights(prices, share, demand, capacity)
        if weights @ share <= most * (1 + least):
            return None
        return self._lifted(slot, items, weights, most)

    def _prices(
        self,
        slot: tuple[int, int, int],
        items: IntArray,
        share: FloatArray,
        sets: BoolArray,
        least: float,
        options: Options,
    ) -> FloatArray | None:
        """Return prices of jobs at which no set with room costs more than 1 and the shares do; None if there are none.

        `sets` are those that are looked at first, beside those of last time.
        """
        capacity = int(self.capacity[slot])
        demand = self.demand[items, slot[1]]
        known = self._sets.get(slot)
        if known is not None:
            sets = np.concatenate([sets, known[:, items]])
        prices, violation, basis, pivots = cover_prices(share, demand, capacity, sets, least)
        count = len(items)
        options.spend((pivots + 1) * (float(count * (count + capacity)) + float(sets.size)))
        used = np.zeros((len(basis), len(self.instance.jobs)), dtype=np.bool_)
        used[:, items] = basis
        self._sets[slot] = used
        return prices if violation > least else None

    def _lifted(self, slot: tuple[int, int, int], items: IntArray, weights: IntArray, most: int) -> Clique:
        """Return the inequality with weights of other jobs as large as they may be, the largest jobs first."""
        j, r, t = slot
        jobs = self.instance.jobs
        slots = self.instance.time.slots
        every = np.zeros(len(jobs), dtype=np.int64)
        every[items] = weights
        there = self.instance.eligible[:, j] & (jobs.arrival <= t) & (jobs.arrival + jobs.duration <= slots)
        others = np.flatnonzero(there & (every == 0))
        others = others[np.argsort(-self.demand[others, r], kind="stable")]
        best = np.zeros(self.capacity[slot] + 1, dtype=np.int64)
        lift(every, np.ascontiguousarray(self.demand[:, r]), items, others, most, best)
        chosen = np.flatnonzero(there & (every > 0))
        return running(self.instance, j, t, chosen, every[chosen], most)


def whole_weights(prices: FloatArray, share: FloatArray, demand: IntArray, capacity: int) -> tuple[IntArray, int]:
    """Return whole weights that are nearly in proportion to prices, and the most that a set with room has of them."""
    violation = float(prices @ share) - 1
    for divisor in DIVISORS:
        weights = np.floor(prices * divisor + 1e-6)
        most, _ = knapsack(weights, demand, capacity)
        if most > 0 and float(weights @ share) / most - 1 >= KEPT_SHARE * violation:
            break
    return weights.astype(np.int64), max(1, int(most))

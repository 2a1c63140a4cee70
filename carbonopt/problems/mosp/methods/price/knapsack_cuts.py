"""Weighted cliques: what sets of jobs with room in a slot, or in two slots, have in weights, at most.

A point of the linear program gives each job the share that runs in a slot of a cluster. If it is a mean of schedules,
these shares are a mean of sets of jobs that have room beside each other. Whether they are is a linear program over such
sets: prices of jobs at which no set with room costs more than 1, and the shares as much as possible. Where that is more
than 1, the prices are a violated inequality. Sets are added as a knapsack at the prices finds them. The simplex method
of `knapsack_loops` does this in a tenth of a millisecond; a library takes longer to be called.

Of two slots that follow each other, a run uses the first alone, the second alone, or both. Each of these has a share
and a price of its own, and a set with room has one of them for each job, at most.

References
----------
Boyd (1993), "Generating Fenchel cutting planes for knapsack polyhedra", SIAM Journal on Optimization 3, 734-750.
Kaparis, Letchford (2010), "Separation algorithms for 0-1 knapsack polytopes", Mathematical Programming 124, 69-91.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from carbonopt.algorithms.knapsack_loops import LEAST_SHARE, cover, cover_prices
from carbonopt.algorithms.lifting import lift
from carbonopt.algorithms.whole_weights import whole_weights
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.options import Options
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.methods.price.clique_cuts import MARGIN, Clique, Units, ends_of

WHOLE_UNITS = 8192
"""Units up to which whole demands in one slot are counted as they are."""
UNITS = 1024
PAIR_UNITS = 128
"""Into so many units a capacity is divided otherwise: of one slot, and of two, where tables have the square of it.

Demands are rounded down, so no set with room is overlooked.
"""
MOST_ITEMS = 60
"""Items that are looked at, at most, those of the largest jobs: the smallest ones hardly exclude each other."""
MOST_TOGETHER = 120
"""Jobs that all items together may have in sets, at most, counted for each item alone: a knapsack takes so long."""
WAYS = {
    1: np.array([[0, 1]]),
    2: np.array([[1, 0], [0, 1], [1, 1]]),
}
"""Ways to use one slot, or two that follow each other: which of the two a run uses. One alone counts as the second."""
BOTH = 2
"""The way to use both."""


class Items(NamedTuple):
    """Kinds of jobs of which some use slots in some way, the largest ones.

    Attributes
    ----------
    kind, way
        Kinds in ascending order, and how their jobs use the slots: a row of `WAYS`. Shape (items,).
    share
        How many jobs do so, shape (items,).
    number, need
        Of the kind among those here, and units of a job in both slots, shapes (items,) and (items, 2).
    together
        Jobs that have room together, at most, shape (items,).
    capacity
        Units of both slots, shape (2,).
    size
        How many units of the instance are one here: of one slot, what divides all that these jobs need.
    """

    kind: IntArray
    way: IntArray
    share: FloatArray
    number: IntArray
    need: IntArray
    together: IntArray
    capacity: IntArray
    size: int = 1


class Knapsacks:
    """The knapsacks of all slots of an instance, or of all two slots that follow each other.

    Parameters
    ----------
    instance
        With one job of each kind.
    count
        Jobs of each kind, shape (K,).
    width
        1 or 2 slots. Over two slots only jobs that are alone of their kinds count.

    Attributes
    ----------
    demand
        Of a job of each kind, in whole units, shape (K, R).
    capacity
        Units of both slots of each knapsack, shape (M, R, knapsacks, 2). Of one slot, it is the second.
    unit
        Size of a unit of each resource, shape (R,).
    """

    def __init__(self, instance: MospInstance, count: IntArray, width: int = 1) -> None:
        self.instance = instance
        self.count = count
        self.ways = WAYS[width]
        self.is_pair = width == 2
        units = PAIR_UNITS if self.is_pair else UNITS
        limit = instance.clusters.limit * (1 + MARGIN)
        demand = instance.jobs.demand
        largest = limit.max(axis=(0, 2))
        most = units if self.is_pair else WHOLE_UNITS
        is_whole = (demand == np.round(demand)).all(axis=0) & (largest < most + 1)
        there = largest > 0
        self.unit: FloatArray = np.where(is_whole | ~there, 1.0, np.where(there, largest, 1.0) / units)
        rounded = np.where(is_whole, demand, demand / self.unit * (1 - MARGIN))
        whole = np.floor(limit / self.unit[:, None]).astype(np.int64)
        first, second = (whole[..., :-1], whole[..., 1:]) if self.is_pair else (np.zeros_like(whole), whole)
        self.capacity: IntArray = np.stack([first, second], axis=3)
        self.demand: IntArray = np.floor(np.minimum(rounded, 2.0 * most)).astype(np.int64)  # more has no room anyway
        # The sets that covered the shares of a knapsack last time, by cluster, resource and slot.
        self._sets: dict[tuple[int, int, int], npt.NDArray[np.int8]] = {}

    def violated(self, starts: FloatArray, least: float, options: Options) -> Iterator[Clique]:
        """Yield violated inequalities, at most one for each slot and resource of a cluster, until the time is out.

        `starts` has how many of each kind start on a cluster in a slot, shape (K, M, T). The weights of an inequality
        add up to at least 1 + `least` times the most that a schedule has.
        """
        running = np.cumsum(starts - ends_of(self.instance, starts), axis=2)
        for j in range(len(self.capacity)):
            shares = self._shares(running[:, j], starts[:, j])
            for t, r in self.tight(j, shares).tolist():
                if options.remaining == 0:
                    return
                cut = self._cut((j, r, t), self._items((j, r, t), shares[:, t]), least, options)
                if cut is not None:
                    yield cut

    def _shares(self, running: FloatArray, starts: FloatArray) -> FloatArray:
        """Return how many of each kind use the slots of each knapsack of a cluster, shape (K, knapsacks, ways).

        `running` has how many use each slot, `starts` those of them that have just started; shapes (K, T).
        """
        if not self.is_pair:
            return running[:, :, None]
        begins = starts[:, 1:]
        stays = running[:, 1:] - begins
        shares = np.stack([running[:, :-1] - stays, begins, stays], axis=2)
        return np.asarray(shares * (self.count == 1)[:, None, None])

    def tight(self, j: int, shares: FloatArray) -> IntArray:
        """Return the knapsacks of a cluster that split a job, and in which not all of the jobs there have room.

        Parameters
        ----------
        j
            Row of the cluster.
        shares
            How many of each kind use the slots of each knapsack in each way, shape (K, knapsacks, ways).

        Returns
        -------
        IntArray
            First slot and resource of each, shape (count, 2), by slot and then by resource.
        """
        there = shares > LEAST_SHARE
        splits = (np.abs(shares - np.rint(shares)) > LEAST_SHARE).any(axis=(0, 2))
        uses = there @ self.ways.astype(np.float64)
        load = np.tensordot(self.demand * self.count.astype(np.float64)[:, None], uses, axes=(0, 0))
        exceeds = (load > self.capacity[j]).any(axis=2)
        return np.argwhere((splits & exceeds).T)

    def _items(self, slot: tuple[int, int, int], shares: FloatArray) -> Items:
        """Return the kinds of the largest jobs; `shares` has how many of them use it in each way, shape (K, ways)."""
        j, r, t = slot
        kind, way = np.nonzero(shares > LEAST_SHARE)
        capacity = self.capacity[j, r, t]
        demand, count = self.demand[kind, r], self.count[kind]
        together = np.where(demand > 0, np.clip(capacity.max() // np.maximum(demand, 1), 1, count), count)
        largest = np.argsort(-demand, kind="stable")
        largest = largest[:MOST_ITEMS]
        chosen = np.sort(largest[np.cumsum(together[largest]) <= MOST_TOGETHER])
        kind, way, together = kind[chosen], way[chosen], together[chosen]
        number = np.cumsum(np.diff(kind, prepend=-1) > 0) - 1
        need = self.demand[kind, r, None] * self.ways[way]
        size = 1 if self.is_pair or not len(kind) else max(1, int(np.gcd.reduce(self.demand[kind, r])))
        return Items(kind, way, shares[kind, way], number, need // size, together, capacity // size, size)

    def _cut(self, slot: tuple[int, int, int], items: Items, least: float, options: Options) -> Clique | None:
        """Return an inequality that the shares of `items` violate."""
        share, number, need, together, capacity = items.share, items.number, items.need, items.together, items.capacity
        if not len(share):
            return None
        states = float((capacity + 1).prod())
        options.spend(len(share) * (len(share) + float(capacity.max())))
        total, sets = cover(share, number, need, together, capacity)
        if total <= 1 + least:
            return None
        j, r, t = slot
        for other in (t, t - 1):  # long runs use both, so the sets of one slot are often those of the next
            known = self._sets.get((j, r, other))
            if known is not None and (self.capacity[j, r, other] <= self.capacity[slot]).all():
                sets = np.concatenate([sets, known[:, items.kind, items.way]])
        found = cover_prices(share, number, need, together, capacity, sets, least)
        prices, violation, basis, pivots, knapsacks = found
        count = len(share)
        options.spend((pivots + 1) * (float(count**2) + float(sets.size)) + knapsacks * float(together.sum()) * states)
        used = np.zeros((len(basis), len(self.count), len(self.ways)), dtype=np.int8)
        used[:, items.kind, items.way] = basis
        self._sets[slot] = used
        if violation <= least:
            return None
        weights, most = whole_weights(prices, share, number, need, together, capacity)
        if weights @ share <= most * (1 + least):
            return None
        return self._lifted(slot, items, weights, most)

    def _lifted(self, slot: tuple[int, int, int], items: Items, weights: IntArray, most: int) -> Clique:
        """Return the inequality with weights of other kinds as large as they may be, the largest jobs first."""
        j, r, t = slot
        first, last = self._starts(t)
        may = (first <= last) & self.instance.eligible[:, j, None]
        if self.is_pair:
            may &= (self.count == 1)[:, None]
        every = np.zeros(may.shape, dtype=np.int64)
        every[items.kind, items.way] = weights
        if self.is_pair:  # both take the room of each
            every[:, BOTH] = every.max(axis=1)
        chosen = (every > 0).any(axis=1)
        others = np.flatnonzero(may.any(axis=1) & ~chosen)
        others = others[np.argsort(-self.demand[others, r], kind="stable")]
        best = np.zeros(items.capacity + 1, dtype=np.int64)
        demand = self.demand[:, r] // items.size  # rounded down: no set with room is overlooked
        lift(every, demand, self.count, may, self.ways, np.flatnonzero(chosen), others, most, best)
        kind, way = np.nonzero(may & (every > 0))
        units = Units(t, r, float(self.unit[r])) if self.is_pair else None
        return Clique(j, kind, first[kind, way], last[kind, way], every[kind, way], most, units)

    def _starts(self, t: int) -> tuple[IntArray, IntArray]:
        """Return the first and last start from which a job of each kind uses slot t, or t and t + 1, in each way."""
        jobs = self.instance.jobs
        begin = t - jobs.duration + 1
        end = np.full(len(jobs), t)
        columns = [(begin, end)] if not self.is_pair else [(begin, begin), (end + 1, end + 1), (begin + 1, end)]
        latest = self.instance.time.slots - jobs.duration
        first = np.column_stack([np.maximum(jobs.arrival, one) for one, _ in columns])
        last = np.column_stack([np.minimum(latest, other) for _, other in columns])
        return first, last

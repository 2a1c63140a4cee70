"""Cliques that a point of the linear program violates: starts of which at most one is in a schedule.

With weights, those of the starts in a schedule add up to at most `most`; see `knapsack_cuts`.

Of jobs that use a slot: a job, and all those of more than half the capacity beside which it has no room. Of two jobs
that never fit together: the starts of one from slot a to a + u, and those of the other from which a run meets all of
these.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.methods.price.kinds import Kinds

MARGIN = 1e-9
"""Relative, by which demands must exceed a capacity to have no room."""
LARGEST_WEIGHT = 1_000
"""Of a job in a clique: what it takes to recheck one grows with it."""


class Units(NamedTuple):
    """In what a clique over two slots counts demands and capacities, rounded down, and which slots these are.

    Attributes
    ----------
    slot
        The first of the two; the other one follows it.
    resource
        Its row.
    unit
        Size of one unit of it.
    """

    slot: int
    resource: int
    unit: float


@dataclass(frozen=True, eq=False)
class Clique:
    """Starts of jobs on a cluster, for each job from a first to a last slot; the weights of a schedule's are limited.

    Parameters
    ----------
    cluster
        Row of the cluster.
    jobs, first, last
        Rows of jobs, or their kinds, and the first and last start that counts, shape (m,) [slots].
    weights
        Of each job, shape (m,), whole numbers; None where each counts 1.
    most
        What the weights of the starts in a schedule add up to at most.
    units
        Of a clique over two slots, in which a job may be named up to three times, with different starts; else None.
    """

    cluster: int
    jobs: IntArray
    first: IntArray
    last: IntArray
    weights: IntArray | None = None
    most: int = 1
    units: Units | None = None

    @property
    def weight(self) -> IntArray:
        """Weight of each job, shape (m,)."""
        return np.ones(len(self.jobs), dtype=np.int64) if self.weights is None else self.weights

    def key(self) -> tuple[Any, ...]:
        """Return what tells it from others."""
        weights = None if self.weights is None else self.weights.tobytes()
        return self.cluster, self.jobs.tobytes(), self.first.tobytes(), self.last.tobytes(), weights, self.most

    def of_jobs(self, kinds: Kinds) -> Clique:
        """Return the clique of the jobs themselves: this one names their kinds."""
        count = kinds.count[self.jobs]
        if (count == 1).all():
            return replace(self, jobs=kinds.first[self.jobs])
        weights = None if self.weights is None else np.repeat(self.weights, count)
        first, last = np.repeat(self.first, count), np.repeat(self.last, count)
        return replace(self, jobs=kinds.jobs(self.jobs), first=first, last=last, weights=weights)

    def members(self, kinds: Kinds, _: IntArray) -> dict[str, Any]:
        """Return what a certificate holds of it: `kinds` are those of its jobs."""
        named = self.of_jobs(kinds)
        numbers = {"jobs": named.jobs, "first": named.first, "last": named.last}
        entry = {"cluster": named.cluster} | {name: column.tolist() for name, column in numbers.items()}
        if named.weights is not None:
            entry |= {"weights": named.weights.tolist(), "most": named.most}
        return entry if named.units is None else entry | named.units._asdict()


def violated(instance: MospInstance, count: IntArray, starts: FloatArray, least: float) -> list[Clique]:
    """Return cliques whose starts add up to at least 1 + `least`, the largest sums first.

    Parameters
    ----------
    instance
        With one job of each kind.
    count
        Jobs of each kind, shape (K,).
    starts
        How many of these start on a cluster in a slot, shape (K, M, T).
    least
        By which the starts of a clique exceed 1.
    """
    found = _in_slots(instance, count, starts, least) + _of_pairs(instance, count, starts, least)
    found.sort(key=lambda entry: -entry[0])
    return [clique for _, clique in found]


def _in_slots(instance: MospInstance, count: IntArray, starts: FloatArray, least: float) -> list[tuple[float, Clique]]:
    """Return violated cliques of jobs that use one slot, with their violation.

    A large job excludes all jobs of a small kind beside which it has no room: so many as fit together of that kind
    weigh as much as it does.
    """
    share = np.cumsum(starts - ends_of(instance, starts), axis=2)
    demand = instance.jobs.demand
    found = []
    for r in range(demand.shape[1]):
        order = np.argsort(-demand[:, r], kind="stable")
        ranked = -demand[order, r]
        for j in range(starts.shape[1]):
            above = np.concatenate([np.zeros((1, starts.shape[2])), np.cumsum(share[order, j], axis=0)])
            for t in np.flatnonzero(above[-1] > 1 + least).tolist():
                limit = instance.clusters.limit[j, r, t] * (1 + MARGIN)
                large = np.searchsorted(ranked, -np.maximum(limit - demand[:, r], limit / 2), side="left")
                together = most_together(count, demand[:, r], limit)
                small = (demand[:, r] <= limit / 2) & (together <= LARGEST_WEIGHT)
                of_small = np.where(small, share[:, j, t] / np.maximum(together, 1), 0.0)
                excess = above[large, t] + of_small - 1
                chosen = np.flatnonzero((excess > least) & (of_small > least))
                if not len(chosen) and excess.max() > least:
                    chosen = np.array([excess.argmax()])
                for k in chosen.tolist():
                    jobs = np.concatenate([order[: large[k]], [k]] if small[k] else [order[: large[k]]])
                    most = int(together[k]) if small[k] else 1
                    weights = None if most == 1 else np.append(np.full(len(jobs) - 1, most), 1)
                    found.append((float(excess[k]), running(instance, j, t, jobs, weights, most)))
    return found


def most_together(count: IntArray, demand: FloatArray, limit: float) -> IntArray:
    """Return how many jobs of each kind have room together at most, shape (K,), of `count` with a demand each."""
    together = count.copy()
    some = count * demand > limit
    together[some] = np.floor(limit / demand[some])
    return together


def ends_of(instance: MospInstance, starts: FloatArray) -> FloatArray:
    """Return the share of each job whose run is over by a slot, for the first time."""
    ends = np.zeros_like(starts)
    for length in np.unique(instance.jobs.duration).tolist():
        alike = instance.jobs.duration == length
        ends[alike, :, length:] = starts[alike, :, : max(0, starts.shape[2] - length)]
    return ends


def running(
    instance: MospInstance, j: int, t: int, jobs: IntArray, weights: IntArray | None = None, most: int = 1
) -> Clique:
    """Return the starts from which jobs use slot t."""
    duration = instance.jobs.duration[jobs]
    first = np.maximum(instance.jobs.arrival[jobs], t - duration + 1)
    last = np.minimum(t, instance.time.slots - duration)
    there = (first <= last) & instance.eligible[jobs, j]
    return Clique(j, jobs[there], first[there], last[there], None if weights is None else weights[there], most)


def _of_pairs(instance: MospInstance, count: IntArray, starts: FloatArray, least: float) -> list[tuple[float, Clique]]:
    """Return violated cliques of two jobs that never fit together on a cluster, with their violation.

    Both are alone of their kinds: one of several has too small a share of its kind's starts to violate one.
    """
    before = np.concatenate([np.zeros((*starts.shape[:2], 1)), np.cumsum(starts, axis=2)], axis=2)
    duration = instance.jobs.duration
    found = []
    for j in range(starts.shape[1]):
        part = np.flatnonzero((count == 1) & (starts[:, j].max(axis=1) > least) & (before[:, j, -1] > least))
        room = instance.clusters.limit[j].max(axis=1) * (1 + MARGIN)
        together = (instance.jobs.demand[part][:, None] + instance.jobs.demand[part] > room).any(axis=2)
        if not together.any():
            continue
        best = np.zeros((len(part), len(part)))
        at = np.zeros((len(part), len(part), 2), dtype=np.int64)
        find_windows(np.ascontiguousarray(before[part, j]), duration[part], np.triu(together, 1), best, at)
        for b, k in np.argwhere(best > 1 + least).tolist():
            one, other = part[[b, k]].tolist()
            begin, more = at[b, k].tolist()
            first = np.array([begin, begin + more - duration[other] + 1])
            last = np.array([begin + more, begin + duration[one] - 1])
            pair = part[[b, k]]
            first = np.maximum(first, instance.jobs.arrival[pair])
            last = np.minimum(last, instance.time.slots - duration[pair])
            if (first <= last).all():
                found.append((float(best[b, k]) - 1, Clique(j, pair, first, last)))
    return found


@kernel
def find_windows(before: FloatArray, duration: IntArray, together: BoolArray, best: FloatArray, at: IntArray) -> None:
    """Fill the largest sum of the starts of two jobs that exclude each other, and where the first one's begin and end.

    `before` has the sums of starts before each slot, shape (jobs, T + 1).
    """
    slots = before.shape[1] - 1
    for b in range(len(before)):
        for k in range(b + 1, len(before)):
            if not together[b, k]:
                continue
            for a in range(slots):
                if before[b, a + 1] == before[b, a]:
                    continue
                for u in range(min(duration[b] + duration[k] - 1, slots - a)):
                    low = max(a + u - duration[k] + 1, 0)
                    high = max(min(a + duration[b], slots), low)
                    total = before[b, a + u + 1] - before[b, a] + before[k, high] - before[k, low]
                    if total > best[b, k]:
                        best[b, k] = total
                        at[b, k, 0] = a
                        at[b, k, 1] = u

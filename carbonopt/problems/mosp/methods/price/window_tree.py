"""A better bound where few large jobs make most of the costs: branching on where and when these start.

The relaxation splits a large job over many starts, and lets small ones run beside its parts. A branch holds the starts
of large jobs in windows; see `windows` for what that rules out. A window is split where the relaxation puts the job:
on the cluster that has most of it or elsewhere, or where half of its starts are before. The largest job comes first,
until its place is certain: only then is it known what fits beside it, so that half-known places of many jobs gain less.
The branch of least bound is split next, and the least bound of all that are open holds for every schedule.

Cliques have prices of their own in each branch: where a window rules out what a clique did, its price falls.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray, prefix_sums
from carbonopt.core.directed import EPS
from carbonopt.core.options import Options
from carbonopt.problems.mosp.data.instance import CAPACITY_ROUNDING, MospInstance
from carbonopt.problems.mosp.formulation.objective import PlacementValue, prefix_rounding
from carbonopt.problems.mosp.formulation.program import possible_placements
from carbonopt.problems.mosp.methods.price.bound_parameters import WindowParameters
from carbonopt.problems.mosp.methods.price.clique_cuts import Clique
from carbonopt.problems.mosp.methods.price.dual import Dual
from carbonopt.problems.mosp.methods.price.window_ascent import ascend, members_of
from carbonopt.problems.mosp.methods.price.windows import Field, allowed_of, restrict, sizes_of

FLOAT_ERROR = 1e-11
"""Relative allowance for the rounding of sums in double precision; more where very many prices are added."""
DIGITS = 5
"""Of the largest price: with more, certificates are longer and prove as much."""
LEAST_ROUNDED = 1e-200
"""Prices below which none is rounded: powers of ten have an end."""
STEP_SIZE = 0.03
"""Of the first step, over that of Polyak: prices of a branch are near those of the one it came from."""

FIRST_GOAL = 0.02
"""How far above the bound steps aim where no schedule is known, as a share of it; no bound depends on it."""
SEEN = 0.4
"""Share of the places that an evaluation looks at, about: clusters that cost too much in any slot are passed over."""

STEPS_OF_MEMBER = 4.0
"""Loop steps of an evaluation for each job of a clique, about."""


class Split(NamedTuple):
    """How a branch is split: a large job, on a cluster or not (slot -1); or up to a slot, or later (cluster -1)."""

    job: int
    cluster: int
    slot: int


@dataclass(eq=False)
class Branch:
    """A branch.

    Parameters
    ----------
    windows
        First and last start of each large job on each cluster, and beside these of its being left out, (K, M + 1, 2).
    prices
        Of capacity, then of cliques, shape (M x R x T + Q,): what proves the bound; None once it is split.
    bound
        On the cost of all its schedules; infinite where it has none.
    split
        How to split it; None where no large job is left.
    parts
        Numbers of the two branches it is split into.
    """

    windows: IntArray
    prices: FloatArray | None
    bound: float
    split: Split | None
    parts: tuple[int, int] = (-1, -1)


class WindowTree:
    """The tree of one instance.

    Parameters
    ----------
    instance, value, dual
        The problem.
    prices
        Of capacity, flat, then of cliques: where it begins.
    params, options
        Of windows, and of the run.
    cliques
        Starts that exclude each other, or have weights of which a schedule has a limited sum.

    Attributes
    ----------
    branches
        All, the root first.
    bound
        On the cost of every schedule.
    goal
        A branch with this bound is not split: the cost of a schedule, infinite if none is known.
    """

    def __init__(
        self,
        instance: MospInstance,
        value: PlacementValue,
        dual: Dual,
        prices: FloatArray,
        params: WindowParameters,
        options: Options,
        cliques: Sequence[Clique] = (),
    ) -> None:
        self.params = params
        self.field = field_of(instance, value, dual, params.most_jobs)
        self.cliques = cliques
        self.members = members_of(cliques, len(instance.jobs), len(instance.clusters))
        self.entries = np.array([clique.most + clique.weight.sum() for clique in cliques], dtype=np.float64)
        self.float_error = max(FLOAT_ERROR, 4 * EPS * (instance.time.slots + 2 * len(self.members.clique)))
        self.allowed = allowed_of(self.field)
        self.rounding = float(value.rounding().sum())
        self.demand = instance.jobs.demand.sum(axis=0)
        finite = np.where(np.isfinite(self.field.cost), np.abs(self.field.cost), 0.0)
        self.size = float(finite.max(axis=(1, 2), initial=0.0).sum())
        self.rejected = float(self.field.rejected[np.isfinite(self.field.rejected)].sum())
        self.place = np.full(len(instance.jobs), -1, dtype=np.int64)
        self.goal = np.inf
        in_cliques = float((np.diff(self.members.begin) > 0).sum()) * self.field.cost.shape[2]
        self.steps_of_bound = SEEN * (float(np.isfinite(self.field.cost).sum()) + in_cliques)
        self.steps_of_bound += STEPS_OF_MEMBER * len(self.members.clique)
        root = self._raised(self._all_windows(), prices, options)
        self.most_branches = min(params.most_branches, 2 * params.most_prices // len(prices))
        self.branches = [root]
        self.open = [(root.bound, 0)]
        self.bound = root.bound

    def _all_windows(self) -> IntArray:
        """Return the windows of all schedules."""
        field = self.field
        _, clusters, slots = field.cost.shape
        windows = np.zeros((len(field.job), clusters + 1, 2), dtype=np.int64)
        windows[:, :clusters, 0] = field.arrival[field.job][:, None]
        windows[:, :clusters, 1] = (slots - field.duration[field.job])[:, None]
        windows[~np.isfinite(field.rejected[field.job]), clusters, 1] = -1
        return windows

    def _raised(self, windows: IntArray, prices: FloatArray, options: Options) -> Branch:
        """Return a branch with the best prices found from those of the branch it comes from."""
        field = self.field
        clusters, _, slots = field.limit.shape
        options.spend(self.steps_of_bound * (self.params.steps + 2))
        if not restrict(windows, field, self.allowed):
            return Branch(windows, prices, np.inf, None)
        is_open = np.maximum(0, windows[:, :, 1] - windows[:, :, 0] + 1).sum(axis=1) > 1
        k = int(np.argmax(is_open)) if is_open.any() else -1
        shares = np.zeros((clusters + 1, slots))
        value = self._value(prices)
        goal = self.goal if np.isfinite(self.goal) else value + FIRST_GOAL * (abs(value) or self.size)
        better = prices.copy()
        ascend(better, self.params.steps, goal, STEP_SIZE, k, self.place, shares, field, self.allowed, self.members)
        better = np.concatenate([rounded(part) for part in self._in_parts(better)])
        better_value = self._value(better)
        if better_value > value:  # if not, digits cost more than the steps gained
            prices = better
            value = better_value
        of_capacity, of_cliques = self._in_parts(prices)
        of_capacity = of_capacity.reshape(field.limit.shape)
        size = self.size + self.rejected + 2 * float((of_capacity * field.limit).sum())
        size += 2 * float((of_cliques * self.entries).sum())  # each is taken off, and added to the costs of its jobs
        rounding = self.rounding + float((self.demand * prefix_rounding(prefix_sums(of_capacity))).sum())
        bound = value - rounding - self.float_error * size
        return Branch(windows, prices, bound, _split(k, windows[k], shares, field) if k >= 0 else None)

    def _in_parts(self, prices: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return prices of capacity and of cliques."""
        size = self.field.limit.size
        return prices[:size], prices[size:]

    def _value(self, prices: FloatArray) -> float:
        """Return the value of the relaxation under the windows that were restricted last."""
        shares = np.zeros((self.field.limit.shape[0] + 1, self.field.limit.shape[2]))
        return ascend(prices.copy(), 1, 0.0, STEP_SIZE, -1, self.place, shares, self.field, self.allowed, self.members)

    def grow(self, options: Options) -> Iterator[None]:
        """Split the branch of least bound again and again, up to a bound of `goal`; yield after each split."""
        while self.open and len(self.branches) + 2 <= self.most_branches and options.remaining > 0:
            bound, number = self.open[0]
            branch = self.branches[number]
            if bound >= self.goal or branch.split is None:
                return
            heapq.heappop(self.open)
            for part in self._parts(branch, options):
                if part.bound < np.inf:
                    heapq.heappush(self.open, (part.bound, len(self.branches)))
                self.branches.append(part)
            branch.parts = len(self.branches) - 2, len(self.branches) - 1
            branch.prices = None
            self.bound = self.open[0][0] if self.open else np.inf
            yield

    def _parts(self, branch: Branch, options: Options) -> list[Branch]:
        """Return the two parts of a branch."""
        assert branch.split is not None
        assert branch.prices is not None
        return [self._raised(windows, branch.prices, options) for windows in halves(branch.windows, branch.split)]

    def certificate(self) -> dict[str, Any]:
        """Return what proves the bound."""
        nodes: list[dict[str, Any]] = []
        for branch in self.branches:
            if branch.prices is not None:
                nodes.append(self._leaf(branch.prices))
                continue
            assert branch.split is not None
            node: dict[str, Any] = {"job": int(self.field.job[branch.split.job])}
            if branch.split.slot < 0:
                node["cluster"] = branch.split.cluster
            else:
                node["last"] = branch.split.slot
            nodes.append(node | {"parts": list(branch.parts)})
        proof = {"kind": "windows", "jobs": self.field.job.tolist(), "nodes": nodes}
        return proof | {"cliques": [clique.members() for clique in self.cliques]} if self.cliques else proof

    def _leaf(self, prices: FloatArray) -> dict[str, Any]:
        """Return what a certificate holds of a leaf."""
        of_capacity, of_cliques = self._in_parts(prices)
        leaf = {"prices": of_capacity.reshape(self.field.limit.shape).tolist()}
        return leaf | {"clique_prices": of_cliques.tolist()} if self.cliques else leaf


def rounded(prices: FloatArray) -> FloatArray:
    """Return prices with so many digits as a certificate holds."""
    most = float(prices.max(initial=0.0))
    if most < LEAST_ROUNDED:
        return prices
    return np.round(prices, DIGITS - 1 - int(np.floor(np.log10(most))))


def field_of(instance: MospInstance, value: PlacementValue, dual: Dual, most_jobs: int) -> Field:
    """Return what holds under all windows, with the `most_jobs` largest jobs as the large ones."""
    jobs = instance.jobs
    limit = instance.clusters.limit
    places = possible_placements(instance)
    cost = np.full((len(jobs), limit.shape[0], limit.shape[2]), np.inf)
    cost[places.job, places.cluster, places.start] = value.sign * value.of(places.job, places.cluster, places.start)
    size = sizes_of(jobs.demand, limit, jobs.duration)
    large = np.argsort(-size, kind="stable")[:most_jobs]
    number = np.full(len(jobs), -1, dtype=np.int64)
    number[large] = np.arange(len(large))
    table = dual.table
    shape = dual.jobs.shape
    return Field(
        cost,
        np.full(len(jobs), instance.objective.rejection_cost),
        jobs.arrival.astype(np.int64),
        jobs.duration.astype(np.int64),
        jobs.demand.astype(np.float64),
        number,
        large,
        limit,
        CAPACITY_ROUNDING * limit,
        table.group[shape],
        table.scale[shape],
        table.length,
        table.mix,
    )


def _split(k: int, windows: IntArray, shares: FloatArray, field: Field) -> Split:
    """Return how to split the windows of large job k, shape (M + 1, 2), of which the relaxation has `shares`."""
    clusters = len(windows) - 1
    has = windows[:, 0] <= windows[:, 1]
    of_cluster = shares.sum(axis=1)
    of_cluster[~has] = -1.0
    by_start = shares[:clusters].sum(axis=0)
    spread = 0.0
    first = int(windows[:clusters, 0][has[:clusters]].min(initial=np.iinfo(np.int64).max))
    last = int(windows[:clusters, 1][has[:clusters]].max(initial=-1))
    slot = -1
    if first < last:
        cumulated = np.cumsum(by_start)
        cuts = np.arange(first, last)
        balance = np.minimum(cumulated[cuts], cumulated[-1] - cumulated[cuts])
        slot = int(cuts[np.argmax(balance - 1e-4 * np.abs(cuts - (first + last) / 2))])
        median = int(np.searchsorted(cumulated, 0.5 * cumulated[-1]))
        length = int(field.duration[field.job[k]])
        spread = float((by_start * np.minimum(np.abs(np.arange(len(by_start)) - median), length)).sum()) / length
    if has.sum() > 1 and (slot < 0 or 1.0 - of_cluster.max() >= spread):
        return Split(k, int(of_cluster.argmax()), -1)
    return Split(k, -1, slot)


def halves(windows: IntArray, split: Split) -> tuple[IntArray, IntArray]:
    """Return the windows of the two parts: on the cluster and elsewhere; or up to the slot, and later or left out."""
    one = windows.copy()
    other = windows.copy()
    if split.slot < 0:
        rest = np.arange(windows.shape[1]) != split.cluster
        one[split.job, rest] = (1, 0)
        other[split.job, split.cluster] = (1, 0)
    else:
        one[split.job, :-1, 1] = np.minimum(one[split.job, :-1, 1], split.slot)
        one[split.job, -1] = (1, 0)
        other[split.job, :-1, 0] = np.maximum(other[split.job, :-1, 0], split.slot + 1)
    return one, other

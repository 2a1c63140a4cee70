"""A better bound where few large jobs make most of the costs: branching on where and when these start.

The linear program splits a large job over many starts, and lets small ones run beside its parts. A branch holds the
starts of large jobs in windows; see `windows` for what that rules out. In each branch the program is solved again from
the basis of the branch it comes from. Cliques that its solution violates become rows there and in all later branches.

A window is split where the program puts the job: on the cluster that has most of it or elsewhere, or where half of its
starts are before. Among the largest jobs that are split, the one is chosen by which a few iterations in both parts
raise the program most. The branch of least bound is split next, and the least bound of all that are open holds for
every schedule.

References
----------
Achterberg, Koch, Martin (2005), "Branching rules revisited", Operations Research Letters 33, 42-54.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray, prefix_sums
from carbonopt.core.directed import EPS
from carbonopt.core.options import Options
from carbonopt.milp.warm import Point
from carbonopt.problems.mosp.data.instance import CAPACITY_ROUNDING
from carbonopt.problems.mosp.formulation.objective import prefix_rounding
from carbonopt.problems.mosp.methods.price.bound_parameters import WindowParameters
from carbonopt.problems.mosp.methods.price.cliques import CliqueBound, named_in, with_parts
from carbonopt.problems.mosp.methods.price.growing import PLACE_STEPS, GrowingProgram, ProgramBasis, Start
from carbonopt.problems.mosp.methods.price.window_splits import Split, halves, split_of
from carbonopt.problems.mosp.methods.price.windows import Field, allowed_of, restrict, sizes_of

COLUMN_ROUNDS = 2
"""Further programs of a branch, at most, that only get the places that prices call for."""
FLOAT_ERROR = 1e-11
"""Relative allowance for the rounding of sums in double precision; more where very many prices are added."""
DIGITS = 6
"""Of the largest price: with more, certificates are longer and prove as much."""
LOST_BY_DIGITS = 1e-6
"""Share of a bound that fewer digits may cost."""
LEAST_ROUNDED = 1e-200
"""Prices below which none is rounded: powers of ten have an end."""
WHOLE = 1 - 1e-4
"""Share of a job in a place from which it is not split."""
LEAST_GAIN = 1e-6
"""Of a part, over the mean cost of a job: less counts as so much, so that the other part counts as well."""

STEPS_OF_PLACE = 0.4
STEPS_OF_MEMBER = 4.0
"""Loop steps of a leaf's bound for each place and each job of a clique, about, when a certificate is rechecked."""
LEAF_SECONDS = 1e-3
"""What it takes to recheck a leaf, about, on a slow machine [s]."""
STEP_SECONDS = 1.2e-7
"""What it takes more for each step of a leaf's bound [s]."""


@dataclass(eq=False)
class Branch:
    """A branch.

    Parameters
    ----------
    windows
        First and last start of each large job on each cluster, and beside these of its being left out, (K, M + 1, 2).
    prices, clique_prices
        Of capacity, shape (M, R, T), and of the cliques that were known, shape (Q,): what proves the bound.
    bound
        On the cost of all its schedules; infinite where it has none.
    splits
        Ways to split it, those of the largest jobs first; empty where no large job is left.
    basis
        Where its program ended, or that of the branch it is a part of; None where it needs none any more.
    parts
        How it is split, and the numbers of its two branches; None before.
    """

    windows: IntArray
    prices: FloatArray
    clique_prices: FloatArray
    bound: float
    splits: list[Split]
    basis: ProgramBasis | None = None
    parts: tuple[Split, int, int] | None = None


class WindowTree:
    """The tree of one instance.

    Parameters
    ----------
    program
        Over all places, with its cliques, and the prices where the tree begins.
    goal
        Cost of a schedule, infinite if none is known: a branch with this bound is not split.
    params, options
        Of windows, and of the run.

    Attributes
    ----------
    branches
        All, the root first.
    bound
        On the cost of every schedule.
    """

    def __init__(self, program: GrowingProgram, goal: float, params: WindowParameters, options: Options) -> None:
        self.params = params
        self.program = program
        self.cliques = cliques = program.cliques
        self.goal = goal
        self.field = field_of(cliques, params.most_jobs)
        self.allowed = allowed_of(self.field)
        self.demand = cliques.instance.jobs.demand.sum(axis=0)
        self.count = cliques.kinds.count
        finite = np.where(np.isfinite(self.field.cost), np.abs(self.field.cost), 0.0)
        self.size = float((self.count * finite.max(axis=(1, 2), initial=0.0)).sum())
        may_be_out = np.isfinite(self.field.rejected)
        self.size += float((self.count * self.field.rejected)[may_be_out].sum())
        proof = cliques.proof
        clique_prices = np.zeros(len(cliques.cliques))
        clique_prices[proof.numbers] = proof.clique_prices
        root = Branch(self._all_windows(), proof.prices, clique_prices, -np.inf, [])
        self.branches: list[Branch] = []
        self._priced: set[int] = set()
        self._keep(self._solved(root, options))
        self.open = [(self.branches[0].bound, 0)]
        self.bound = self.branches[0].bound

    @property
    def steps_of_bound(self) -> float:
        """Loop steps of the bound of a leaf, about, when a certificate is rechecked: it holds cliques with a price."""
        places = int(self.count[self.cliques.places.job].sum())
        return STEPS_OF_PLACE * places + STEPS_OF_MEMBER * int(self.cliques.sizes[sorted(self._priced)].sum())

    @property
    def check_seconds(self) -> float:
        """What it takes to recheck the tree, about [s]: every second branch is a leaf."""
        return (LEAF_SECONDS + STEP_SECONDS * self.steps_of_bound) * len(self.branches) / 2

    @property
    def is_full(self) -> bool:
        """Whether two more branches would be too many, by their number or by the prices in a certificate."""
        begin, end = self.program.slots
        prices = self.field.limit[:, :, begin:end].size + len(self.cliques.cliques)
        most = min(self.params.most_branches, 2 * self.params.most_prices // prices)
        return len(self.branches) + 2 > most

    def _all_windows(self) -> IntArray:
        """Return the windows of all schedules."""
        field = self.field
        _, clusters, slots = field.cost.shape
        windows = np.zeros((len(field.job), clusters + 1, 2), dtype=np.int64)
        windows[:, :clusters, 0] = field.arrival[field.job][:, None]
        windows[:, :clusters, 1] = (slots - field.duration[field.job])[:, None]
        windows[~np.isfinite(field.rejected[field.job]), clusters, 1] = -1
        return windows

    def _keep(self, branch: Branch) -> None:
        """Keep a branch, and which cliques have a price in some branch."""
        self.branches.append(branch)
        self._priced.update(np.flatnonzero(branch.clique_prices).tolist())

    # What a branch proves

    def _solved(self, branch: Branch, options: Options) -> Branch:
        """Return a branch with the best prices that its program finds, and the ways to split it.

        It comes with the prices, the bound and the basis of the branch that it is a part of.
        """
        if not restrict(branch.windows, self.field, self.allowed):
            branch.bound = np.inf
            branch.basis = None
            return branch
        is_open = self._open_places()
        program, cliques = self.program, self.cliques
        if branch.basis is not None:
            program.begin_at(branch.basis, options)
        branch.splits = self._splits(branch.windows, np.zeros(self.cliques.row.shape))
        inherited = branch.bound
        bound, _ = self._bound(branch.prices, branch.clique_prices, is_open, options)
        branch.bound = max(bound, inherited)
        for left in reversed(range(self.params.rounds + COLUMN_ROUNDS)):
            point = self._point(is_open, options)
            if point is None:
                break
            prices = program.prices(point)
            bound, cost = self._bound(prices.capacity, prices.cliques, is_open, options)
            if bound > branch.bound:
                branch.prices, branch.clique_prices, branch.bound = prices.capacity, prices.cliques, bound
            branch.basis = program.basis()
            starts = program.starts(point)
            branch.splits = self._splits(branch.windows, starts)
            if not left or branch.bound >= self.goal:
                break
            if left > COLUMN_ROUNDS:
                given = point, starts, cost, prices, self.params.least_violation, options
                if not program.extend(*given) and not (
                    cliques.params.halves and program.extend(*given, by_halves=True)
                ):
                    break
            elif not program.add_places(cost, prices, options):
                break
        if branch.bound >= self.goal:
            branch.basis = None
        return self._rounded(branch, inherited, is_open, options)

    def _point(self, is_open: BoolArray, options: Options) -> Point | None:
        """Return the solution of the program in open places, all of them where the columns so far have none."""
        program = self.program
        point = program.solve(self._upper(is_open), np.inf, options, self._required)
        if point is None and options.remaining > 0:
            missing = np.flatnonzero(is_open & ~program.is_column)
            if program.add_columns(missing, options):
                point = program.solve(self._upper(is_open), np.inf, options, self._required)
        return point

    def _rounded(self, branch: Branch, least: float, is_open: BoolArray, options: Options) -> Branch:
        """Return a branch with prices of few digits, if these prove at least `least`."""
        prices, clique_prices = rounded(branch.prices), rounded(branch.clique_prices)
        bound, _ = self._bound(prices, clique_prices, is_open, options)
        if bound >= max(least, branch.bound - LOST_BY_DIGITS * abs(branch.bound)):
            branch.prices, branch.clique_prices, branch.bound = prices, clique_prices, bound
        return branch

    def _open_places(self) -> BoolArray:
        """Return whether the windows that were restricted last leave each possible placement."""
        at = self.cliques.places
        allowed = self.allowed
        is_open = allowed.first[at.job, at.cluster] <= at.start
        is_open &= at.start <= allowed.last[at.job, at.cluster]
        return np.asarray(is_open & np.isfinite(allowed.cost[at.job, at.cluster, at.start]))

    @property
    def _required(self) -> BoolArray:
        """Whether jobs of each kind must run in the windows that were restricted last, shape (K,)."""
        return ~np.isfinite(self.allowed.rejected)

    def _upper(self, is_open: BoolArray) -> FloatArray:
        """Return how many jobs may be in each column: none in a closed place."""
        columns = self.program.columns
        runs = columns.row >= 0
        may = np.ones(len(runs))
        may[runs] = is_open[columns.row[runs]]
        return np.asarray(may * self.program.counts)

    def _bound(
        self, prices: FloatArray, clique_prices: FloatArray, is_open: BoolArray, options: Options
    ) -> tuple[float, FloatArray]:
        """Return what prices prove, and the reduced cost of each place, infinite where it is closed."""
        cliques = self.cliques
        options.spend(PLACE_STEPS * len(cliques.cost) + cliques.use.nnz)
        full = np.zeros(len(cliques.cliques))
        full[: len(clique_prices)] = clique_prices
        cost = cliques.priced(prices, full)
        cost[~is_open] = np.inf
        least = self.allowed.rejected.copy()
        np.minimum.at(least, cliques.places.job, cost)
        least *= self.count
        of_capacity = float((prices * self.field.limit).sum())
        of_cliques = float(full @ cliques.most)
        size = self.size + float(np.abs(least).sum()) + 2 * (of_capacity + of_cliques)
        rounding = cliques.rounding + float((self.demand * prefix_rounding(prefix_sums(prices))).sum())
        error = max(FLOAT_ERROR, 4 * EPS * (prices.shape[2] + 2 * len(full)))
        return float(least.sum()) - of_capacity - of_cliques - rounding - error * size, cost

    # Where it is split

    def _splits(self, windows: IntArray, starts: FloatArray) -> list[Split]:
        """Return ways to split a branch: by the largest jobs that its program splits, else by the largest."""
        field = self.field
        shares = self._shares(starts)
        is_open = np.maximum(0, windows[:, :, 1] - windows[:, :, 0] + 1).sum(axis=1) > 1
        split = np.flatnonzero(is_open & (shares.max(axis=(1, 2)) < WHOLE))[: self.params.tried]
        if not len(split):
            split = np.flatnonzero(is_open)[:1]
        return [split_of(k, windows[k], shares[k], field) for k in split.tolist()]

    def _shares(self, starts: FloatArray) -> FloatArray:
        """Return which share of each large job starts in each place, or is left out (slot 0), shape (K, M + 1, T)."""
        job = self.field.job
        shares = np.zeros((len(job), starts.shape[1] + 1, starts.shape[2]))
        shares[:, :-1] = starts[job]
        may_be_out = np.isfinite(self.field.rejected[job])
        shares[may_be_out, -1, 0] = np.maximum(0.0, 1.0 - shares[may_be_out, :-1].sum(axis=(1, 2)))
        return shares

    def _best_split(self, branch: Branch, options: Options) -> Split:
        """Return the split by which some iterations in both parts raise the program most."""
        if len(branch.splits) == 1 or branch.basis is None:
            return branch.splits[0]
        best, most = branch.splits[0], -np.inf
        least = LEAST_GAIN * abs(self.bound) / len(self.cliques.instance.jobs)
        for split in branch.splits:
            gains = [self._gain(windows, branch, options) for windows in halves(branch.windows, split)]
            if options.remaining == 0:
                break
            score = float(np.prod(np.maximum(gains, least)))
            if score > most:
                best, most = split, score
        return best

    def _gain(self, windows: IntArray, branch: Branch, options: Options) -> float:
        """Return by how much some iterations raise the bound of a part of a branch, up to the goal."""
        assert branch.basis is not None
        highest = self.goal if np.isfinite(self.goal) else branch.bound + self.size
        options.spend(PLACE_STEPS * len(self.cliques.cost))
        if not restrict(windows, self.field, self.allowed):
            return highest - branch.bound
        self.program.begin_at(branch.basis, options)
        upper = self._upper(self._open_places())
        found = self.program.bound_after(self.params.iterations, upper, options, self._required)
        return min(found, highest) - branch.bound

    def grow(self, options: Options) -> Iterator[None]:
        """Split the branch of least bound again and again, up to a bound of `goal`; yield after each split."""
        while self.open and not self.is_full and options.remaining > 0:
            bound, number = self.open[0]
            branch = self.branches[number]
            if bound >= self.goal or not branch.splits:
                return
            split = self._best_split(branch, options)
            if options.remaining == 0:
                return
            parts = [
                self._solved(
                    Branch(windows, branch.prices, branch.clique_prices, branch.bound, [], branch.basis), options
                )
                for windows in halves(branch.windows, split)
            ]
            heapq.heappop(self.open)
            for part in parts:
                if part.bound < np.inf:
                    heapq.heappush(self.open, (part.bound, len(self.branches)))
                self._keep(part)
            branch.parts = split, len(self.branches) - 2, len(self.branches) - 1
            branch.basis = None
            self.bound = self.open[0][0] if self.open else np.inf
            yield

    def starts(self, goal: Callable[[], float]) -> Iterator[Start]:
        """Yield where dives may begin: in each open branch of a bound below `goal` by then, the least bound first."""
        for bound, number in sorted(self.open):
            if bound >= goal():
                return
            branch = self.branches[number]
            restrict(branch.windows, self.field, self.allowed)
            yield Start(self._open_places(), branch.basis)

    def certificate(self) -> dict[str, Any]:
        """Return what proves the bound."""
        has_price = np.zeros(len(self.cliques.cliques), dtype=np.bool_)
        for branch in self.branches:
            if branch.parts is None:
                has_price[: len(branch.clique_prices)] |= branch.clique_prices > 0
        numbers = with_parts(self.cliques.cliques, np.flatnonzero(has_price))
        nodes: list[dict[str, Any]] = []
        for branch in self.branches:
            if branch.parts is None:
                nodes.append(_leaf(branch, numbers, self.program.slots))
                continue
            split, *parts = branch.parts
            node: dict[str, Any] = {"job": int(self.cliques.kinds.first[self.field.job[split.job]])}
            if split.slot < 0:
                node["cluster"] = split.cluster
            else:
                node["last"] = split.slot
            nodes.append(node | {"parts": parts})
        kinds = self.cliques.kinds
        proof = {"kind": "windows", "jobs": kinds.first[self.field.job].tolist(), "nodes": nodes}
        named = named_in(self.cliques.cliques, numbers, kinds)
        return proof | {"cliques": named} if named else proof


def _leaf(branch: Branch, numbers: IntArray, slots: tuple[int, int]) -> dict[str, Any]:
    """Return what a certificate with some cliques, and prices in some slots, holds of a leaf."""
    leaf: dict[str, Any] = {"prices": branch.prices[:, :, slice(*slots)].tolist()}
    if not len(numbers):
        return leaf
    prices = np.zeros(max(len(branch.clique_prices), int(numbers[-1]) + 1))
    prices[: len(branch.clique_prices)] = branch.clique_prices
    return leaf | {"clique_prices": prices[numbers].tolist()}


def rounded(prices: FloatArray) -> FloatArray:
    """Return prices with so many digits as a certificate holds."""
    most = float(prices.max(initial=0.0))
    if most < LEAST_ROUNDED:
        return prices
    return np.round(prices, DIGITS - 1 - int(np.floor(np.log10(most))))


def field_of(cliques: CliqueBound, most_jobs: int) -> Field:
    """Return what holds under all windows, with the `most_jobs` largest jobs as the large ones.

    These are alone of their kinds: where one of several alike starts, another one could.
    """
    jobs = cliques.samples.jobs
    limit = cliques.samples.clusters.limit
    at = cliques.places
    cost = np.full(cliques.row.shape, np.inf)
    cost[at.job, at.cluster, at.start] = cliques.cost
    size = sizes_of(jobs.demand, limit, jobs.duration)
    order = np.argsort(-size, kind="stable")
    large = order[cliques.kinds.count[order] == 1][:most_jobs]
    number = np.full(len(jobs), -1, dtype=np.int64)
    number[large] = np.arange(len(large))
    return Field(
        cost,
        cliques.choices.rejection_cost,
        jobs.arrival.astype(np.int64),
        jobs.duration.astype(np.int64),
        jobs.demand.astype(np.float64),
        number,
        large,
        limit,
        CAPACITY_ROUNDING * limit,
    )

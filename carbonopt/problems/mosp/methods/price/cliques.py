"""Places, cliques, and the bound that their prices prove: most where a few large jobs leave no room beside them.

Capacity alone lets half of a job that fills a cluster run beside all small jobs. Cliques do not: at most one of their
starts is in a schedule, or, with weights, so many that their weights add up to at most a given number. Prices come from
a linear program, see `growing`. Whatever they are, they prove a bound by Lagrangian relaxation over all places, and
this is what the certificate holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from scipy import sparse

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray, prefix_sums, rank_within
from carbonopt.core.options import Options
from carbonopt.problems.mosp.formulation.objective import prefix_rounding
from carbonopt.problems.mosp.methods.price import half_cuts
from carbonopt.problems.mosp.methods.price.bound_parameters import CliqueParameters
from carbonopt.problems.mosp.methods.price.choices import Choices
from carbonopt.problems.mosp.methods.price.clique_cuts import Clique, violated
from carbonopt.problems.mosp.methods.price.half_cuts import HalfCut, Limits
from carbonopt.problems.mosp.methods.price.kinds import Kinds
from carbonopt.problems.mosp.methods.price.knapsack_cuts import Knapsacks
from carbonopt.problems.mosp.methods.price.place_program import priced

MANY_KINDS = 200
"""Above so many kinds a program has fewer places for each: as many times fewer as the root of their number is more."""
LEAST_PLACES = 8
"""Places of each kind of jobs that a program begins with, if the mean is not less.

The excess of a large job is large everywhere, so by excess alone it would have few.
"""
FLOAT_ERROR = 1e-11
"""Relative allowance for the rounding of sums in double precision."""


@dataclass(frozen=True, eq=False)
class CliqueProof:
    """A bound and the prices that prove it, in the sense of a minimisation.

    Parameters
    ----------
    bound
        On the cost of every schedule.
    prices
        Of capacity, shape (M, R, T).
    every
        All cliques of the program, with those that come later.
    clique_prices, numbers
        The prices above 0 of cliques, and which these are.
    excess
        Reduced cost of each possible placement above the least of its kind of jobs, rejection included.
    kinds
        Of the jobs: what cliques name.
    """

    bound: float
    prices: FloatArray
    every: list[Clique | HalfCut]
    clique_prices: FloatArray
    numbers: IntArray
    excess: FloatArray
    kinds: Kinds

    @property
    def cliques(self) -> list[Clique | HalfCut]:
        """The cliques whose price is above 0."""
        return [self.every[q] for q in self.numbers]

    def certificate(self) -> dict[str, Any]:
        """Return what a certificate holds of it."""
        numbers = with_parts(self.every, self.numbers)
        prices = np.zeros(len(numbers))
        prices[np.searchsorted(numbers, self.numbers)] = self.clique_prices
        named = zip(named_in(self.every, numbers, self.kinds), prices.tolist(), strict=True)
        cliques = [clique | {"price": price} for clique, price in named]
        return {"kind": "lagrangian", "prices": self.prices.tolist(), "cliques": cliques}


def with_parts(every: list[Clique | HalfCut], numbers: IntArray) -> IntArray:
    """Return the numbers of some cliques, and of those that their cuts by halves are made of, in order."""
    parts = [clique.cliques for clique in (every[q] for q in numbers) if isinstance(clique, HalfCut)]
    return np.unique(np.concatenate([numbers, *parts]))


def named_in(every: list[Clique | HalfCut], numbers: IntArray, kinds: Kinds) -> list[dict[str, Any]]:
    """Return what a certificate holds of some cliques, which are `with_parts`."""
    return [clique.members(kinds, numbers) for clique in (every[q] for q in numbers)]


class CliqueBound:
    """The places and cliques of one instance, and the best bound that prices of these have proven so far.

    Parameters
    ----------
    choices
        Of its jobs.
    prices
        Of capacity: where it begins, shape (M, R, T).
    params
        Of cliques.

    Attributes
    ----------
    instance, kinds, samples, places, cost
        Those of `choices`.
    row
        Number of each place, -1 for none, shape (K, M, T).
    proof
        The best bound so far.
    cliques, most
        All cliques, and what their weights in a schedule add up to at most, shape (Q,).
    sizes
        How many jobs start in each, shape (Q,).
    use
        Share of its limit that each possible placement uses of each clique, shape (placements, Q).
    """

    def __init__(self, choices: Choices, prices: FloatArray, params: CliqueParameters) -> None:
        self.choices = choices
        self.params = params
        self.instance = choices.instance
        self.kinds = choices.kinds
        self.samples = choices.samples
        self.places = places = choices.places
        self.cost = choices.cost
        self.rounding = float(choices.value.rounding().sum())
        self.row = np.full((len(self.kinds.first), *prices.shape[::2]), -1, dtype=np.int64)
        self.row[places.job, places.cluster, places.start] = np.arange(len(places.job))
        self.cliques: list[Clique | HalfCut] = []
        self.use = sparse.csc_array((len(self.cost), 0))
        self.most: FloatArray = np.zeros(0)
        self.sizes: IntArray = np.zeros(0, dtype=np.int64)
        self._known: set[tuple[Any, ...]] = set()
        self.knapsacks = Knapsacks(self.samples, self.kinds.count)
        self.pairs = Knapsacks(self.samples, self.kinds.count, width=2)
        self.proof, _ = self._proof(prices, np.zeros(0))

    def likely(self, goal: float, known: BoolArray | None = None) -> BoolArray:
        """Return whether each place is in a program from the beginning, shape (placements,).

        These are `known` ones, and of each kind of jobs those of its least excess.

        Parameters
        ----------
        goal
            Cost of a schedule: places that are in no better one are left out.
        known
            Whether each place is in a program already, shape (placements,); None for those of least excess of all.
        """
        kinds = len(self.kinds.first)
        excess = self.proof.excess
        most = round(self.params.places_per_job * kinds * min(1.0, MANY_KINDS / kinds) ** 0.5)
        if known is None:
            known = excess <= (np.inf if len(excess) <= most else np.partition(excess, most)[most])
        order = np.argsort(excess, kind="stable")
        of_kind = np.zeros(len(excess), dtype=np.bool_)
        of_kind[order] = rank_within(self.places.job[order]) < min(LEAST_PLACES, most // kinds)
        return (known | of_kind) & (excess <= goal - self.proof.bound)

    def prove(self, prices: FloatArray, clique_prices: FloatArray) -> FloatArray:
        """Take what prices prove, where it is better; return what each place costs at these, shape (placements,)."""
        proof, cost = self._proof(prices, clique_prices)
        if proof.bound > self.proof.bound:
            self.proof = proof
        return cost

    def _proof(self, prices: FloatArray, clique_prices: FloatArray) -> tuple[CliqueProof, FloatArray]:
        """Return what prices prove over all places, and what each of these costs."""
        places = self.places
        cost = self.priced(prices, clique_prices)
        least = self.choices.rejection_cost.copy()
        np.minimum.at(least, places.job, cost)
        of_jobs = self.kinds.count * least
        paid = float((prices * self.instance.clusters.limit).sum()) + float(clique_prices @ self.most)
        rounding = self.rounding + float((self.instance.jobs.demand @ prefix_rounding(prefix_sums(prices))).sum())
        bound = float(of_jobs.sum())
        if bound < np.inf:  # else a job that must run has no place
            bound -= paid + rounding + FLOAT_ERROR * (float(np.abs(of_jobs).sum()) + 2 * paid)
        chosen = np.flatnonzero(clique_prices > 0)
        excess = cost - least[places.job]
        proof = CliqueProof(bound, prices, self.cliques, clique_prices[chosen], chosen, excess, self.kinds)
        return proof, cost

    def priced(self, prices: FloatArray, clique_prices: FloatArray) -> FloatArray:
        """Return the reduced cost of each possible placement, at prices of capacity and of all cliques."""
        cost = priced(self.samples, self.places, self.cost, prices)
        return np.asarray(cost + self.use @ (clique_prices * self.most))

    def add_violated(self, starts: FloatArray, least: float, options: Options, *, over_pairs: bool = False) -> int:
        """Add new cliques, or cliques with weights, of which `starts` has at least 1 + `least`; return how many.

        `over_pairs`: those of two slots, too, where there are few others.
        """
        options.spend(float(starts.size + self.use.nnz))
        found = violated(self.samples, self.kinds.count, starts, least)
        cliques: list[Clique | HalfCut] = list(islice(filter(self._is_new, found), self.params.most_new))
        if len(cliques) < self.params.few:
            cliques += filter(self._is_new, self.knapsacks.violated(starts, least, options))
        if over_pairs and len(cliques) < self.params.few_of_slots:
            cliques += filter(self._is_new, self.pairs.violated(starts, least, options))
        return self._added(cliques)

    def add_halves(self, amount: FloatArray, least: float, options: Options) -> int:
        """Add new cuts by halves that a solution violates by `least`; return how many.

        `amount` is how many jobs it has in each possible placement, shape (placements,).
        """
        there = np.flatnonzero(amount > 0)
        kinds = len(self.kinds.count)
        cliques = np.array([q for q, clique in enumerate(self.cliques) if isinstance(clique, Clique)], dtype=np.int64)
        of_kinds = sparse.csr_array(
            (np.ones(len(there)), (self.places.job[there], np.arange(len(there)))), shape=(kinds, len(there))
        )
        of_cliques = sparse.csc_array(self.use[:, cliques])[there].T
        most = np.concatenate([self.kinds.count, np.rint(self.most[cliques]).astype(np.int64)])
        shares = sparse.csr_array(sparse.vstack([of_kinds, sparse.csr_array(of_cliques)]))
        factors = sparse.csr_array(sparse.diags_array(np.concatenate([np.ones(kinds), self.most[cliques]])) @ shares)
        factors.data = np.rint(factors.data)
        options.spend(float(self.use.nnz))
        sets = half_cuts.violated(Limits(factors, most, amount[there]), least, options)
        halves = []
        for rows in sets:
            own = rows[rows < kinds], cliques[rows[rows >= kinds] - kinds]
            halves.append(HalfCut(*own, int(most[rows].sum()) // 2))
        return self.add(halves)

    def add(self, cliques: Sequence[Clique | HalfCut]) -> int:
        """Add those of some cliques that are new; return how many."""
        return self._added(list(filter(self._is_new, cliques)))

    def _added(self, cliques: Sequence[Clique | HalfCut]) -> int:
        """Add new cliques; return how many."""
        if not cliques:
            return 0
        members, use = zip(*(self._members(clique) for clique in cliques), strict=True)
        begin = np.cumsum([0, *map(len, members)])
        new = sparse.csc_array(
            (np.concatenate(use), np.concatenate(members), begin), shape=(len(self.cost), len(cliques))
        )
        self.cliques += cliques
        self.use = sparse.csc_array(sparse.hstack([self.use, new]))
        self.most = np.concatenate([self.most, [float(clique.most) for clique in cliques]])
        of_kinds = (np.unique(self.places.job[part]) for part in members)
        self.sizes = np.concatenate([self.sizes, [self.kinds.count[kinds].sum() for kinds in of_kinds]])
        return len(cliques)

    def _is_new(self, clique: Clique | HalfCut) -> bool:
        """Return whether a clique is not there yet, and remember it."""
        key = clique.key()
        if key in self._known:
            return False
        self._known.add(key)
        return True

    def _members(self, clique: Clique | HalfCut) -> tuple[IntArray, FloatArray]:
        """Return the placements in a clique, and the share of its limit that each uses."""
        if isinstance(clique, HalfCut):
            both = np.rint(np.asarray(self.use[:, clique.cliques] @ self.most[clique.cliques]))
            both += np.isin(self.places.job, clique.kinds)
            members = np.flatnonzero(both >= 2)
            return members, both[members] // 2 / clique.most
        starts = zip(clique.jobs, clique.first, clique.last, strict=True)
        rows = [self.row[job, clique.cluster, first : last + 1] for job, first, last in starts]
        members = np.concatenate(rows)
        use = np.repeat(clique.weight / clique.most, [len(row) for row in rows])
        return members[members >= 0], use[members >= 0]

    def entries(self, numbers: IntArray, column_of: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Return the rows of some cliques, of at most 1, over columns.

        Parameters
        ----------
        numbers
            Which cliques, shape (q,).
        column_of
            Column of each possible placement, -1 for none.

        Returns
        -------
        begin
            Where the entries of each row begin, and the end, shape (q + 1,).
        columns, values
            Of the entries.
        """
        part = self.use[:, numbers]
        column = column_of[part.indices]
        there = column >= 0
        begin = np.concatenate([[0], np.cumsum(there)])[part.indptr]
        return begin, column[there], part.data[there]

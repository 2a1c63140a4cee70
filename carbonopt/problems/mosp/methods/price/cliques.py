"""The bound of the linear program with cliques: where a few large jobs leave no room beside them.

Capacity alone lets half of a job that fills a cluster run beside all small jobs. Cliques do not: at most one of their
starts is in a schedule. The program has the places of least reduced cost, more come where prices say that they are
missing, and violated cliques are added round by round. Whatever prices it ends with prove a bound by Lagrangian
relaxation over all places, and this is what the certificate holds.

On 200 jobs of a heavy tail on clusters of 128 nodes that are little used, capacity proves 60.42, cliques of runs in
one slot 68.46, both kinds 71.78; the optimum is 72.45.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray, prefix_sums
from carbonopt.core.options import Options
from carbonopt.core.status import Status
from carbonopt.milp import highs
from carbonopt.milp.program import Program
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.formulation.objective import PlacementValue, prefix_rounding
from carbonopt.problems.mosp.formulation.program import Placements, possible_placements
from carbonopt.problems.mosp.methods.price.bound_parameters import CliqueParameters
from carbonopt.problems.mosp.methods.price.clique_cuts import Clique, violated
from carbonopt.problems.mosp.methods.price.place_program import priced, program_over

FLOAT_ERROR = 1e-11
"""Relative allowance for the rounding of sums in double precision."""
TOLERANCE = 1e-7
"""Of HiGHS on this program; prices of any quality prove a bound."""


@dataclass(frozen=True, eq=False)
class CliqueProof:
    """A bound and the prices that prove it, in the sense of a minimisation.

    Parameters
    ----------
    bound
        On the cost of every schedule.
    prices
        Of capacity, shape (M, R, T).
    cliques, clique_prices
        The cliques whose price is above 0, and these prices.
    excess
        Reduced cost of each possible placement above the least of its job, rejection included.
    """

    bound: float
    prices: FloatArray
    cliques: list[Clique]
    clique_prices: FloatArray
    excess: FloatArray

    def certificate(self) -> dict[str, Any]:
        """Return what a certificate holds of it."""
        priced = zip(self.cliques, self.clique_prices.tolist(), strict=True)
        cliques = [clique.members() | {"price": price} for clique, price in priced]
        return {"kind": "lagrangian", "prices": self.prices.tolist(), "cliques": cliques}


class CliqueBound:
    """The program of one instance, and what it has proven so far.

    Parameters
    ----------
    instance, value
        The problem.
    prices
        Of capacity: where it begins, shape (M, R, T).
    params
        Of cliques.

    Attributes
    ----------
    proof
        The best bound so far.
    starts
        Share of each job that starts in each place by the last program, shape (N, M, T).
    """

    def __init__(
        self, instance: MospInstance, value: PlacementValue, prices: FloatArray, params: CliqueParameters
    ) -> None:
        self.instance = instance
        self.params = params
        self.places: Placements = possible_placements(instance)
        places = self.places
        self.cost = value.sign * value.of(places.job, places.cluster, places.start)
        self.rounding = float(value.rounding().sum())
        self.rejection_cost = instance.objective.rejection_cost
        self.row = np.full((len(instance.jobs), *prices.shape[::2]), -1, dtype=np.int64)
        self.row[places.job, places.cluster, places.start] = np.arange(len(places.job))
        self.cliques: list[Clique] = []
        self.members: list[IntArray] = []
        self.proof = self._proof(prices, np.zeros(0))
        self.columns = self.proof.excess <= self.least_excess(params.most_columns)
        self.starts = np.zeros(self.row.shape)

    def least_excess(self, most: int) -> float:
        """Return the excess below which there are so many places."""
        if len(self.cost) <= most:
            return np.inf
        return float(np.partition(self.proof.excess, most)[most])

    def _proof(self, prices: FloatArray, clique_prices: FloatArray) -> CliqueProof:
        """Return what prices prove over all places."""
        places = self.places
        jobs = self.instance.jobs
        cost = self._priced(prices, clique_prices)
        least = np.full(len(jobs), self.rejection_cost)
        np.minimum.at(least, places.job, cost)
        paid = float((prices * self.instance.clusters.limit).sum()) + float(clique_prices.sum())
        rounding = self.rounding + float((jobs.demand @ prefix_rounding(prefix_sums(prices))).sum())
        bound = float(least.sum()) - paid - rounding - FLOAT_ERROR * (float(np.abs(least).sum()) + 2 * paid)
        chosen = [c for c, price in enumerate(clique_prices.tolist()) if price > 0]
        cliques = [self.cliques[c] for c in chosen]
        return CliqueProof(bound, prices, cliques, clique_prices[chosen], cost - least[places.job])

    def _priced(self, prices: FloatArray, clique_prices: FloatArray) -> FloatArray:
        """Return the reduced cost of each possible placement."""
        cost = priced(self.instance, self.places, self.cost, prices)
        for members, price in zip(self.members, clique_prices.tolist(), strict=True):
            cost[members] += price
        return cost

    def rounds(self, options: Options) -> Iterator[float]:
        """Solve the program, then add what it lacks; yield the best bound after each round."""
        for _ in range(self.params.rounds):
            options.spend(float(len(self.cost)))
            if options.remaining == 0 or not self._solve(options):
                return
            yield self.proof.bound
            if not self._add(violated(self.instance, self.starts, self.params.least_violation, self.params.most_new)):
                return

    def _add(self, cliques: list[Clique]) -> bool:
        """Add cliques, and places that the prices call for; return whether there are any."""
        for clique in cliques:
            self.cliques.append(clique)
            rows = [
                self.row[job, clique.cluster, first : last + 1]
                for job, first, last in zip(clique.jobs, clique.first, clique.last, strict=True)
            ]
            members = np.concatenate(rows)
            self.members.append(members[members >= 0])
        return bool(cliques) or self.is_extended

    def program(self, columns: BoolArray) -> Program:
        """Return the linear program over some places."""
        program = program_over(self.instance, self.places, self.cost, columns)
        x = program.variables["x"]
        if self.cliques:
            cuts = program.add_rows("cliques", len(self.cliques), upper=1.0)
            of = np.full(len(columns), -1, dtype=np.int64)
            of[columns] = x.index
            members = of[np.concatenate(self.members)]
            row = np.repeat(cuts.index, [len(members) for members in self.members])
            program.add_entries(row[members >= 0], members[members >= 0], 1.0)
        return program

    def _solve(self, options: Options) -> bool:
        """Solve the program and prove what its prices prove; return whether there is more to do."""
        program = self.program(self.columns)
        result = highs.solve(program, replace(options, callback=None), tolerance=TOLERANCE)
        if result.status is Status.INFEASIBLE and not self.columns.all():
            self.columns[:] = True
            self.is_extended = True
            return True
        if result.values is None or result.row_dual is None:
            return False
        limit = self.instance.clusters.limit
        prices = np.maximum(0.0, -result.row_dual[program.constraints["capacity"].slice]).reshape(limit.shape)
        clique_prices = np.zeros(0)
        if self.cliques:
            clique_prices = np.maximum(0.0, -result.row_dual[program.constraints["cliques"].slice])
        proof = self._proof(prices, clique_prices)
        if proof.bound > self.proof.bound:
            self.proof = proof
        chosen = np.flatnonzero(self.columns)
        places = self.places
        self.starts[:] = 0.0
        shares = result.values[program.variables["x"].slice]
        self.starts[places.job[chosen], places.cluster[chosen], places.start[chosen]] = shares
        least = result.row_dual[program.constraints["jobs"].slice]
        missing = ~self.columns & (
            self._priced(prices, clique_prices) < (least - TOLERANCE * np.abs(least))[places.job]
        )
        self.is_extended = bool(missing.any())
        self.columns |= missing
        return True

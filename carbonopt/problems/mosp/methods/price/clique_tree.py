"""Schedules by HiGHS over places of low excess, at prices of capacity and cliques.

1. Large jobs first: a tree in which only they are whole, then all others around them.
2. Neighbourhoods: some jobs choose among places of low excess, the others stay where they are.
3. Every place that the prices do not rule out: the bound of this tree holds for all schedules.

References
----------
Shaw (1998), "Using constraint programming and local search methods to solve vehicle routing problems", CP 1998,
417-431.
Danna, Rothberg, Le Pape (2005), "Exploring relaxation induced neighborhoods to improve MIP solutions", Mathematical
Programming 102, 71-90.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.core.options import Options
from carbonopt.core.status import Status
from carbonopt.milp import highs
from carbonopt.problems.mosp.methods.price.cliques import FLOAT_ERROR, CliqueBound
from carbonopt.problems.mosp.methods.price.exact import Closed

LARGE_GAP = 1e-3
"""Relative gap at which the places of large jobs are good enough: the others are fractional there."""
FIRST_SHARE = 0.7
"""Of the time for large jobs first: for these alone."""
EXCESS_SHARES = (0.2, 0.4, 0.8)
"""Of the gap, one drawn for each neighbourhood: the most excess of a place in it."""
NEARNESS = (0.0, 1.0, 4.0)
"""Powers of the distance by which jobs are less likely in a neighbourhood, one drawn for each."""
MOST_JOBS = 0.4
"""Of all, those that a neighbourhood may have: more make trees without an end."""
LARGEST = 4
"""The largest neighbourhood over the first one."""


class CliqueTree:
    """Programs of one instance over some of its places.

    Parameters
    ----------
    bound
        By cliques. Those without a price are dropped.
    options
        Of the run.
    """

    def __init__(self, bound: CliqueBound, options: Options) -> None:
        bound.keep_priced()
        self.bound = bound
        self.params = bound.params
        self.rng = np.random.default_rng(options.seed)
        self.size = float(self.params.neighbourhood_columns)

    def search(
        self, known: Callable[[], tuple[IntArray, float] | None], largest: IntArray, count: float, options: Options
    ) -> Iterator[Closed]:
        """Yield schedules: with large jobs first, then neighbours of the best one.

        Parameters
        ----------
        known
            Returns place and cost of the best schedule, -1 for rejected jobs; None where there is none.
        largest
            The jobs, largest first.
        count
            Number of jobs that count.
        options
            Of the run.
        """
        params = self.params
        for share in params.large_shares:
            if options.remaining == 0:
                return
            large = largest[: max(1, round(share * count))]
            closed = self.large_first(large, options.part(params.large_time_share))
            yield closed
            if closed.place is not None:
                break
        options = options.part(params.neighbourhoods_time_share)
        most = params.neighbourhood_time_share * options.remaining
        for _ in range(params.most_neighbourhoods):
            best = known()
            if best is None or options.remaining == 0:
                return
            part = options.part(min(1.0, most / options.remaining)) if np.isfinite(most) else options
            yield self.neighbourhood(best, part)

    def large_first(self, large: IntArray, options: Options) -> Closed:
        """Place some jobs while the others may be split, then the others; there is no bound."""
        whole = np.zeros(len(self.bound.instance.jobs), dtype=np.bool_)
        whole[large] = True
        every = np.ones_like(whole)
        rough = replace(options, mip_rel_gap=max(LARGE_GAP, options.mip_rel_gap)).part(FIRST_SHARE)
        closed = self._over_least(every, np.zeros(0, dtype=np.int64), whole, rough)
        if closed.place is None or closed.status is Status.INTERRUPTED:
            return replace(closed, place=None, bound=None)
        taken = self._rows(np.where(whole, closed.place, -1))
        return replace(self._over_least(~whole, taken, every, options), bound=None)

    def _over_least(self, free: BoolArray, taken: IntArray, whole: BoolArray, options: Options) -> Closed:
        """Branch over the places of least excess of the jobs that are free, and those that are taken.

        HiGHS finds out at once where these are too few; then there are twice as many.
        """
        bound = self.bound
        most = self.params.large_columns
        while True:
            low = (bound.proof.excess <= bound.least_excess(most)) & free[bound.places.job]
            low[taken] = True
            closed = self._solve(low, whole, None, options, self.params.most_nodes)
            if closed.status is not Status.INFEASIBLE or most >= len(low):
                return closed
            most *= 2

    def neighbourhood(self, known: tuple[IntArray, float], options: Options) -> Closed:
        """Let some jobs of a schedule, given by places and cost, leave their places; there is no bound."""
        proof = self.bound.proof
        job = self.bound.places.job
        most = float(self.rng.choice(EXCESS_SHARES)) * (known[1] - proof.bound)
        low = proof.excess <= most
        order = self._order(known[0])
        count = np.cumsum(np.bincount(job[low], minlength=len(order))[order])
        most_jobs = min(int(np.searchsorted(count, self.size)), round(MOST_JOBS * len(order)))
        chosen = order[: max(2, most_jobs)]
        low &= np.isin(job, chosen)
        every = np.ones(len(order), dtype=np.bool_)
        closed = self._solve(low, every, known, options, self.params.neighbourhood_nodes)
        nodes = closed.info.get("nodes", 0)
        if nodes <= 1:
            self.size = min(1.1 * self.size, LARGEST * self.params.neighbourhood_columns)
        elif nodes >= self.params.neighbourhood_nodes:
            self.size *= 0.8
        return replace(closed, bound=None)

    def _order(self, place: IntArray) -> IntArray:
        """Draw an order of the jobs: those of large excess are likely first, and those that run near one of these."""
        excess = self._excess(place)
        weight = excess + 0.05 * excess.mean() + 1e-12
        slots = self.bound.row.shape[2]
        start = np.where(place < 0, self.bound.instance.jobs.arrival, place % slots)
        end = start + self.bound.instance.jobs.duration
        i = self.rng.choice(len(place), p=weight / weight.sum())
        middle = (start[i] + end[i]) // 2
        distance = np.maximum(0, np.maximum(start - middle, middle + 1 - end))
        weight /= (1.0 + distance) ** self.rng.choice(NEARNESS)
        return np.argsort(-np.log(1.0 - self.rng.random(len(place))) / weight, kind="stable")

    def _excess(self, place: IntArray) -> FloatArray:
        """Return the excess of each job's place; of rejected ones as much as the largest."""
        excess = np.zeros(len(place))
        excess[place >= 0] = self.bound.proof.excess[self._rows(place)]
        excess[place < 0] = excess.max(initial=0.0)
        return excess

    def close(self, known: tuple[IntArray, float] | None, options: Options) -> Closed:
        """Branch over the places that the prices do not rule out.

        Parameters
        ----------
        known
            Place of each job, cluster x T + start, in the best schedule, and its cost; None where there is none.
        options
            Of the run.

        Returns
        -------
        Closed
            What HiGHS says of it.
        """
        most = np.inf
        if known is not None:
            most = known[1] - self.bound.proof.bound + 2 * self.bound.rounding + FLOAT_ERROR * abs(known[1])
        whole = np.ones(len(self.bound.instance.jobs), dtype=np.bool_)
        closed = self._solve(self.bound.proof.excess <= most, whole, known, options, self.params.most_nodes)
        if closed.bound is None or known is None:
            return closed
        return replace(closed, bound=min(closed.bound, known[1]))  # what costs more is not in the program

    def _solve(
        self,
        columns: BoolArray,
        whole: BoolArray,
        known: tuple[IntArray, float] | None,
        options: Options,
        nodes: int,
    ) -> Closed:
        """Let HiGHS branch over some places and those of a known schedule; its bound holds for these places alone."""
        bound = self.bound
        columns = columns.copy()
        if known is not None:
            columns[self._rows(known[0])] = True
        program = bound.program(columns, whole)
        chosen = np.flatnonzero(columns)
        start = None
        if known is not None:
            start = np.zeros(program.columns)
            start[np.searchsorted(chosen, self._rows(known[0]))] = 1.0
            if np.isfinite(bound.rejection_cost):
                start[len(chosen) :] = known[0] < 0
        limits = {"mip_max_nodes": nodes} | dict(options.solver_options)
        result = highs.solve(
            program,
            replace(options, callback=None, solver_options=limits),
            start=start,
            typical_cost=abs(bound.proof.bound) / len(whole) or 1.0,
            bound_error=(len(whole), bound.rounding),
        )
        place = None
        if result.values is not None:
            place = np.full(len(whole), -1, dtype=np.int64)
            runs = chosen[result.values[: len(chosen)] > 0.5]
            place[bound.places.job[runs]] = bound.places.cluster[runs] * bound.row.shape[2] + bound.places.start[runs]
        return Closed(result.status, result.info, place, result.bound)

    def _rows(self, place: IntArray) -> IntArray:
        """Return the row of each job's place among the possible ones, without those that are rejected."""
        job = np.flatnonzero(place >= 0)
        slots = self.bound.row.shape[2]
        return np.asarray(self.bound.row[job, place[job] // slots, place[job] % slots])

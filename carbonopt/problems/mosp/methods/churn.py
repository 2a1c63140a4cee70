"""Schedules near one that was announced: each job whose place changes costs a price beside its carbon."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.options import Options, Schedule
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.formulation.objective import PlacementValue, placement_value
from carbonopt.problems.mosp.formulation.program import refuse_if_too_large
from carbonopt.problems.mosp.methods import heuristics
from carbonopt.problems.mosp.methods.fixed import keeps_fixed
from carbonopt.problems.mosp.methods.incumbent import report_best
from carbonopt.problems.mosp.methods.milp import branch
from carbonopt.problems.mosp.methods.partial_schedule import PartialSchedule


@dataclass(frozen=True, eq=False)
class PricedMoves(PlacementValue):
    """Coefficients of the objective, and a price for each announced job that runs elsewhere.

    Parameters
    ----------
    cluster, start
        Announced place of each job, shape (N,); -1 where none was.
    price
        In units of the objective.
    """

    cluster: IntArray
    start: IntArray
    price: float

    def of(self, job: IntArray, cluster: IntArray, start: IntArray) -> FloatArray:
        """Return the value of each (job, cluster, start), elementwise."""
        moves = (self.cluster[job] >= 0) & ((self.cluster[job] != cluster) | (self.start[job] != start))
        return np.asarray(super().of(job, cluster, start) + self.price * moves)

    def table(self, job: int, starts: IntArray) -> FloatArray:
        """Return the value of one job at every cluster and each of `starts`, shape (M, len(starts))."""
        found = super().table(job, starts)
        if self.cluster[job] < 0:
            return found
        kept = np.zeros(found.shape, dtype=np.bool_)
        kept[self.cluster[job]] = starts == self.start[job]
        return np.asarray(found + self.price * ~kept)


@keeps_fixed
def solve_near(instance: MospInstance, options: Options, announced: Schedule, price: float) -> Outcome:
    """Minimise the objective and a price on moves.

    Parameters
    ----------
    instance
        Under the carbon objective; every job must run. Its fixed runs are no moves.
    options
        Time limit, gaps and seed.
    announced
        Places of some of its jobs; those that are impossible now are moved whatever they cost.
    price
        Of a move, in units of the objective.

    Returns
    -------
    Outcome
        Its bound is on the objective plus the price of moves, and proven by HiGHS.
    """
    refuse_if_too_large(instance)
    value = _priced(instance, announced, price)
    partials = [_kept(instance, value), heuristics.best_insertion(instance, value, options)]
    best = report_best(partials, None, options)
    return branch(instance, value, best, Outcome(Status.TIME_LIMIT), options)


def _priced(instance: MospInstance, announced: Schedule, price: float) -> PricedMoves:
    job_row = {name: i for i, name in enumerate(instance.jobs.name)}
    cluster_row = {name: j for j, name in enumerate(instance.clusters.name)}
    cluster = np.full(len(instance.jobs), -1, dtype=np.int64)
    start = cluster.copy()
    for job, name, slot in zip(announced["job"], announced["cluster"], announced["start"], strict=True):
        if job in job_row:
            cluster[job_row[job]] = cluster_row[name]
            start[job_row[job]] = slot
    return PricedMoves(**vars(placement_value(instance)), cluster=cluster, start=start, price=price)


def _kept(instance: MospInstance, value: PricedMoves) -> PartialSchedule:
    """Return the announced places that are still possible, and the other jobs where they then cost least."""
    partial = PartialSchedule(instance, value)
    for job in range(len(instance.jobs)):
        cluster, start = int(value.cluster[job]), int(value.start[job])
        starts = partial.starts(job)
        known = cluster >= 0 and len(starts) and starts[0] <= start <= starts[-1]
        if known and partial.eligible[job, cluster] and partial.fits_at(job, cluster, start):
            partial.place(job, cluster, start)
    for job in np.flatnonzero(partial.cluster < 0).tolist():
        best = partial.cheapest(job)
        if best is not None:
            partial.place(job, best[0], best[1])
    return partial

"""Method `price`: the bound by prices of GPU time, and schedules that follow the prices.

Where there is a JCT budget, a schedule that follows the prices ends somewhat later than the relaxation says. The
prices are then made anew for a smaller budget, until the schedule keeps the true one.
"""

from __future__ import annotations

from collections.abc import Iterator

from carbonopt.core.options import Options, Schedule
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.problems.mlcluster.check import check
from carbonopt.problems.mlcluster.instance import MlClusterInstance
from carbonopt.problems.mlcluster.objective import Limits
from carbonopt.problems.mlcluster.policies.run import simulate
from carbonopt.problems.mlcluster.prices.bound import Priced, ascend, ceiling
from carbonopt.problems.mlcluster.prices.rounding import rounded
from carbonopt.simulation import ForecastModel
from carbonopt.simulation.options import SimulationOptions

PREMIUMS = (1.0, 2.0, 0.5)
"""Worth of restarts that are tried, over the work they would take."""
BUDGET_ROUNDS = 6
"""Budgets that are tried at most."""
HASTES = (1.5, 2.0, 4.0, 16.0, 1e6)
RULES = ("fixed-1", "fixed-2", "tiresias", "green")
"""What is tried where no schedule ends in time."""
CLOSE = 0.995
"""A mean completion time this close to its budget is not to be made any closer."""


def price(instance: MlClusterInstance, options: Options) -> Outcome:
    """Bound an instance by prices, and follow them to a schedule."""
    if not len(instance.jobs):
        empty: Schedule = {"job": [], "start_minutes": [], "end_minutes": [], "gpus": []}
        return Outcome(Status.OPTIMAL, empty, 0.0)
    incumbent = _Incumbent(instance, options)
    if options.start is not None:
        incumbent.offer(options.start)
    priced = ascend(instance, options)
    if priced.bound > ceiling(instance):
        return Outcome(Status.INFEASIBLE, certificate=priced.certificate(), info=priced.info)
    options.report(bound=priced.bound)
    proof = priced.certificate()
    return follow(instance, options, priced, incumbent, proof)


def follow(
    instance: MlClusterInstance,
    options: Options,
    priced: Priced,
    incumbent: _Incumbent | None = None,
    proof: dict[str, object] | None = None,
    values: Schedule | None = None,
) -> Outcome:
    """Make schedules of prices, and return the best; `values` is one to begin with."""
    best = incumbent or _Incumbent(instance, options)
    bound, info = priced.bound, dict(priced.info)
    if values is not None:
        best.offer(values)
    for follower in _tightened(instance, options, priced, best):
        for premium in PREMIUMS:
            if options.remaining <= 0 and best.schedule is not None:
                break
            best.offer(rounded(follower, premium))
    if best.schedule is None:
        _rescue(priced, best, options)
    status = Status.FEASIBLE if best.schedule is not None else Status.UNKNOWN
    if options.remaining <= 0:
        status = Status.TIME_LIMIT
    return Outcome(status, best.schedule, bound, proof or priced.certificate(), info)


def _rescue(priced: Priced, best: _Incumbent, options: Options) -> None:
    """Look for any schedule where time is short: in more and more haste, and by simple rules."""
    instance = priced.program.instance
    for haste in HASTES if options.remaining > 0 else ():
        best.offer(rounded(priced, haste=haste))
    for policy in RULES:
        forecast = ForecastModel().of(instance.intensity, instance.time.slot_hours)
        best.offer(simulate(instance, policy, SimulationOptions(forecast)).schedule)


def _tightened(instance: MlClusterInstance, options: Options, priced: Priced, best: _Incumbent) -> Iterator[Priced]:
    """Yield prices for smaller and smaller budgets, as long as schedules exceed the true one."""
    yield priced
    limit, budget = instance.limits.mean_jct_hours, instance.limits.mean_jct_hours
    for _ in range(BUDGET_ROUNDS):
        if limit is None or budget is None or best.mean_jct is None or options.remaining <= 0:
            return
        if CLOSE * limit <= best.mean_jct <= limit:
            return
        budget *= limit / best.mean_jct
        best.mean_jct = None
        priced = ascend(instance.with_objective(limits=Limits(budget)), options, priced)
        yield priced


class _Incumbent:
    """The best schedule so far."""

    def __init__(self, instance: MlClusterInstance, options: Options) -> None:
        self.instance, self.options = instance, options
        self.schedule: Schedule | None = None
        self.objective = float("inf")
        self.mean_jct: float | None = None

    def offer(self, schedule: Schedule | None) -> None:
        """Keep a schedule if it is feasible and better; note the mean completion time of the last offers."""
        if schedule is None:
            return
        report = check(self.instance, schedule)
        if report.objective is None:
            return
        found = report.metrics["mean_jct_hours"]
        self.mean_jct = found if self.mean_jct is None else min(self.mean_jct, found)
        if not report.violations and report.objective < self.objective:
            self.schedule, self.objective = schedule, report.objective
            self.options.report(objective=self.objective, incumbent=lambda: schedule)

"""The best schedule so far, as the checker sees it."""

from __future__ import annotations

from typing import Self

from carbonopt.core.options import Options, Schedule
from carbonopt.core.solution import relative_gap
from carbonopt.problems.mlcluster import PROBLEM
from carbonopt.problems.mlcluster.data.instance import MlClusterInstance
from carbonopt.problems.mlcluster.online.run import schedule_in_time
from carbonopt.problems.mlcluster.verify.check import check
from carbonopt.simulation import make_policy

FIRST_RULES = ("fixed-1", "green")
"""Policies whose schedule is the incumbent before there are prices."""


class Incumbent:
    """The best schedule so far."""

    def __init__(self, instance: MlClusterInstance, options: Options) -> None:
        self.instance, self.options = instance, options
        self.schedule: Schedule | None = None
        self.objective = float("inf")
        self.mean_jct: float | None = None

    @classmethod
    def early(cls, instance: MlClusterInstance, options: Options) -> Self:
        """Return the user's start, or else what a simple rule does: something to have before there are prices."""
        incumbent = cls(instance, options)
        incumbent.offer(options.start)
        incumbent.follow_rules(FIRST_RULES)
        return incumbent

    def offer(self, schedule: Schedule | None, close: bool = False) -> None:
        """Keep a schedule if it is feasible and better; note the least mean completion time of `close` ones."""
        if schedule is None:
            return
        report = check(self.instance, schedule)
        if report.objective is None:
            return
        if close:
            found = report.metrics["mean_jct_hours"]
            self.mean_jct = found if self.mean_jct is None else min(self.mean_jct, found)
        if report.cost < self.objective:
            self.schedule, self.objective = schedule, report.cost
            self.options.report(incumbent=self.objective, schedule=lambda: schedule)

    def is_within(self, bound: float) -> bool:
        """Whether the schedule is as close to the bound as the options ask."""
        gap = relative_gap(self.objective, bound) if self.schedule is not None else None
        return gap is not None and gap <= self.options.mip_rel_gap

    def follow_rules(self, rules: tuple[str, ...]) -> None:
        """Offer what simple policies do, as long as there is time and nothing to keep."""
        for rule in rules:
            if self.schedule is None and self.options.remaining > 0:
                self.offer(schedule_in_time(self.instance, make_policy(PROBLEM, rule), self.options))

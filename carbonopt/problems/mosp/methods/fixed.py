"""How methods respect fixed runs: they decide on the other jobs, in the capacity that is left.

Under the carbon objective the cost of a schedule is a sum over jobs. So the problem of the free jobs is a mosp
instance of its own, its optimum plus the cost of the fixed runs is the optimum of the whole, and prices that
certify a bound of the one certify it of the other.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from carbonopt.core.options import Options, Progress, Schedule
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.problems.mosp.data.fixed import fixed_load, fixed_rows
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.formulation.objective import placement_value
from carbonopt.problems.mosp.verify.certificate import proven_bound

SolveMethod = Callable[..., Outcome]
VALUES = ("tree_bound", "root_bound", "lp_objective")
"""Entries of an outcome's `info` that are values of the objective."""


def free_part(instance: MospInstance) -> MospInstance:
    """Return the instance of the jobs that are not fixed, on what the fixed ones leave of the capacity."""
    if instance.fixed is None:
        return instance
    job, _, _ = fixed_rows(instance)
    left = np.maximum(0.0, instance.clusters.capacity - fixed_load(instance))
    free = np.setdiff1d(np.arange(len(instance.jobs)), job)
    return replace(
        instance, fixed=None, jobs=instance.jobs.part(free), clusters=replace(instance.clusters, capacity=left)
    )


def keeps_fixed(method: SolveMethod) -> SolveMethod:
    """Let a method that knows no fixed runs solve instances that have them."""

    @functools.wraps(method)
    def around(instance: MospInstance, options: Options, **settings: Any) -> Outcome:
        if instance.fixed is None:
            return method(instance, options, **settings)
        whole = _Whole(instance)
        free = free_part(instance)
        if not len(free.jobs):
            return whole.outcome(Outcome(Status.OPTIMAL, {"job": [], "cluster": [], "start": []}, 0.0))
        outcome = method(free, whole.options(options), **settings)
        return whole.outcome(outcome)

    return around


class _Whole:
    """Turns what is said of the free jobs into what is true of all."""

    def __init__(self, instance: MospInstance) -> None:
        assert instance.fixed is not None
        self.instance = instance
        runs = instance.fixed
        self.job = set(runs.job)
        self.rows: Schedule = {"job": list(runs.job), "cluster": list(runs.cluster), "start": runs.start.tolist()}
        self.cost = float(placement_value(instance).of(*fixed_rows(instance)).sum())

    def options(self, options: Options) -> Options:
        """Return the options of the free part: its start, and a callback that hears of the whole."""
        start = None if options.start is None else self._without(options.start)
        callback = options.callback
        if callback is None:
            return replace(options, start=start)
        return replace(options, start=start, callback=lambda progress: callback(self._progress(progress)))

    def _without(self, schedule: Schedule) -> Schedule:
        keep = [row for row, job in enumerate(schedule["job"]) if job not in self.job]
        return {name: [schedule[name][row] for row in keep] for name in self.rows}

    def _with(self, schedule: Schedule) -> Schedule:
        return {name: [*rows, *schedule[name]] for name, rows in self.rows.items()}

    def _plus(self, number: float | None) -> float | None:
        return None if number is None else number + self.cost

    def _progress(self, progress: Progress) -> Progress:
        schedule = progress.schedule
        made = None if schedule is None else lambda: self._with(schedule())
        certificate = progress.certificate
        return replace(
            progress,
            incumbent=self._plus(progress.incumbent),
            bound=self._plus(progress.bound),
            schedule=made,
            certificate=None if certificate is None else lambda: self._proof(certificate(), progress.info),
        )

    def _proof(self, certificate: dict[str, Any] | None, info: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the same prices with the bound that they prove of the whole.

        The rounding that the checker allows is of the whole capacity, and a little more than of what is left.
        """
        if certificate is None or not isinstance(certificate.get("bound"), float):
            return certificate
        proven, _ = proven_bound(self.instance, certificate, dict(info))
        return {**certificate, "bound": proven}

    def outcome(self, outcome: Outcome) -> Outcome:
        """Return what a method found for the free jobs as an outcome of the whole instance."""
        schedule = None if outcome.schedule is None else self._with(outcome.schedule)
        values = {key: self._plus(outcome.info[key]) for key in VALUES if key in outcome.info}
        info = {**outcome.info, **values}
        bound = self._plus(outcome.bound)
        proof = outcome.certificate
        certificate = self._proof(proof, info)
        if proof is not None and certificate is not None and outcome.bound == proof.get("bound"):
            bound = certificate.get("bound")
        return replace(outcome, schedule=schedule, bound=bound, certificate=certificate, info=info)

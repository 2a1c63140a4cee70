"""Schedules without a solver and without loops: every job at its arrival, and what best responses make of it."""

from __future__ import annotations

import numpy as np

from carbonopt.core.options import Options
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.problems.purchasing.data.instance import PurchasingInstance
from carbonopt.problems.purchasing.data.purchase_options import OPTIONS, SHARED
from carbonopt.problems.purchasing.methods.parameters import PolishParameters
from carbonopt.problems.purchasing.methods.polish import polished
from carbonopt.problems.purchasing.methods.rounding import CheckedSchedule, best_reserved, checked, reserve, runs_of


def no_wait(instance: PurchasingInstance, options: Options) -> Outcome:  # noqa: ARG001
    """Run every job at its arrival: on reserved CPUs as far as they are free, else on demand."""
    found = _no_wait(instance)
    if not np.isfinite(found.objective):
        return Outcome(Status.UNKNOWN, info={"stopped": "a limit is exceeded where no job waits"})
    return Outcome(Status.FEASIBLE, found.schedule, info=found.info)


def first_schedule(instance: PurchasingInstance, options: Options) -> CheckedSchedule | None:
    """Return the better one of the schedule given and that without waiting, if there is one."""
    best = _no_wait(instance)
    if options.start is not None:
        best = min(best, checked(instance, options.start), key=lambda one: one.objective)
    return best if np.isfinite(best.objective) else None


def improved(instance: PurchasingInstance, found: CheckedSchedule, polish: PolishParameters) -> CheckedSchedule:
    """Return a schedule of one run a job after best responses; others, and those within limits, as they are."""
    if not np.isfinite(found.objective):
        return found
    index = {name: j for j, name in enumerate(instance.jobs.name)}
    job = np.array([index[name] for name in found.schedule["job"]], dtype=np.int64)
    if instance.limits or instance.model == "suspend-resume" or len(np.unique(job)) < len(job):
        return found
    start = np.array(found.schedule["start_hours"], dtype=np.float64)
    option = np.array([OPTIONS.index(name) for name in found.schedule["option"]], dtype=np.int64)
    reserved = instance.reserved_cpus
    if reserved is None:
        reserved = int(found.info["reserved_cpus"])
    start, option = polished(instance, reserved, job, start, option, polish)
    return min(found, checked(instance, runs_of(instance, job, start, option), reserved), key=lambda one: one.objective)


def _no_wait(instance: PurchasingInstance) -> CheckedSchedule:
    jobs = instance.jobs
    job = np.arange(len(jobs))
    start = jobs.arrival_hours
    reserved = instance.reserved_cpus
    if reserved is None:
        reserved = best_reserved(instance, job, start, start + jobs.length_hours)
    option = np.full(len(job), SHARED, dtype=np.int64)
    if instance.model == "no-split":
        option = reserve(instance, reserved, job, start, np.argsort(start, kind="stable"))
    return checked(instance, runs_of(instance, job, start, option), reserved)

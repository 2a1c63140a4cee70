"""Schedules without a solver and without loops: every job at its arrival, and what best responses make of it."""

from __future__ import annotations

import numpy as np

from carbonopt.core.options import Options
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.problems.purchasing.data.instance import PurchasingInstance
from carbonopt.problems.purchasing.methods.polish import polished
from carbonopt.problems.purchasing.methods.primal import Plan, best_reserved, plan_of, reserve, runs_of
from carbonopt.problems.purchasing.verify.accounts import OPTIONS, SHARED


def no_wait(instance: PurchasingInstance, options: Options) -> Outcome:  # noqa: ARG001
    """Run every job at its arrival: on reserved CPUs as far as they are free, else on demand."""
    plan = _no_wait(instance)
    if not np.isfinite(plan.objective):
        return Outcome(Status.UNKNOWN, info={"stopped": "a limit is exceeded where no job waits"})
    return Outcome(Status.FEASIBLE, plan.schedule, info=plan.info)


def first_plan(instance: PurchasingInstance, options: Options) -> Plan | None:
    """Return the better one of the schedule given and that without waiting, if there is one."""
    plans = [_no_wait(instance)] + ([] if options.start is None else [plan_of(instance, options.start)])
    best = min(plans, key=lambda plan: plan.objective)
    return best if np.isfinite(best.objective) else None


def improved(instance: PurchasingInstance, plan: Plan) -> Plan:
    """Return a schedule of one run a job after best responses; others, and those within limits, as they are."""
    index = {name: j for j, name in enumerate(instance.jobs.name)}
    job = np.array([index[name] for name in plan.schedule["job"]], dtype=np.int64)
    if instance.limits or instance.model == "suspend-resume" or len(np.unique(job)) < len(job):
        return plan
    start = np.array(plan.schedule["start_hours"], dtype=np.float64)
    option = np.array([OPTIONS.index(name) for name in plan.schedule["option"]], dtype=np.int64)
    reserved = instance.reserved_cpus
    if reserved is None:
        reserved = int(plan.info["reserved_cpus"])
    start, option = polished(instance, reserved, job, start, option)
    return min(plan, plan_of(instance, runs_of(instance, job, start, option), reserved), key=lambda one: one.objective)


def _no_wait(instance: PurchasingInstance) -> Plan:
    jobs = instance.jobs
    job, start = np.arange(len(jobs)), jobs.arrival_hours
    reserved = instance.reserved_cpus
    if reserved is None:
        reserved = best_reserved(instance, job, start, start + jobs.length_hours)
    option = np.full(len(job), SHARED, dtype=np.int64)
    if instance.model == "no-split":
        option = reserve(instance, reserved, job, start, np.argsort(start, kind="stable"))
    return plan_of(instance, runs_of(instance, job, start, option), reserved)

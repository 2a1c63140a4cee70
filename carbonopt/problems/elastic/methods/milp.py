"""Methods `milp` and `lp` of elastic, with HiGHS, and which method `auto` stands for."""

from __future__ import annotations

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.options import Options, Schedule
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.milp import highs
from carbonopt.milp.program import Program
from carbonopt.milp.reading import Reading
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.data.schedule import levels_of
from carbonopt.problems.elastic.formulation.program import ElasticProgram, add_precedence, build, estimate_size, implied
from carbonopt.problems.elastic.methods.bounds import certified_bound, unit_rounding
from carbonopt.problems.elastic.methods.greedy import first_schedule
from carbonopt.problems.elastic.methods.price.fluid.method import prove_shortage
from carbonopt.problems.elastic.verify.check import check

MILP_COLUMNS = 4_000
"""`auto` solves integer programs up to this size with HiGHS alone. Whoever wants another method names it."""


def choose(instance: ElasticInstance) -> str:
    """Return the method that `auto` stands for, by model and size."""
    if instance.model == "integer" and estimate_size(instance)[0] <= MILP_COLUMNS:
        return "milp"
    return "price"


def formulate(instance: ElasticInstance, form: str) -> Program:
    """Return the program that `milp` (or, relaxed, `lp`) solves."""
    if form not in ("milp", "lp"):
        raise UnsupportedError(f"unknown form {form!r}: must be 'milp' or 'lp'")
    built = build(instance, integer=None if form == "milp" else False)
    whole = form == "milp" or instance.model == "fluid"
    built.program.reading = Reading(
        (lambda values: (built.schedule(values, instance), {})) if whole else None,
        bound_error=(len(built.job), unit_rounding(instance)),
        when_added_to=lambda program: add_precedence(program, built.y, built.unit) if implied(instance) else None,
    )
    return built.program


def milp(instance: ElasticInstance, options: Options) -> Outcome:
    """Solve the whole program with HiGHS, from the greedy's schedule; the fluid model is its LP."""
    if instance.model == "fluid":
        return lp(instance, options)
    form = build(instance)
    first = first_schedule(instance, options)
    result = highs.solve(
        form.program,
        options,
        start=None if first is None else column_values(form, instance, first),
        schedule_of=lambda values: form.schedule(values, instance),
        bound_error=(len(form.job), unit_rounding(instance)),
    )
    if result.status is Status.INFEASIBLE and first is None:
        proof = prove_shortage(instance, options)
        certificate = proof.certificate() if proof.status is Status.INFEASIBLE else None
        return Outcome(Status.INFEASIBLE, certificate=certificate, info=result.info)
    found = None if result.values is None else form.schedule(result.values, instance)
    schedule = best_schedule(instance, found, first)
    status = result.status
    if status is Status.OPTIMAL and schedule is None:
        status = Status.UNKNOWN
    elif status is Status.INFEASIBLE:  # refuted by the schedule at hand
        status = Status.FEASIBLE
    bound = None if result.bound is None else max(0.0, result.bound)  # no schedule costs less than nothing
    return Outcome(status, schedule, bound, info=result.info)


def lp(instance: ElasticInstance, options: Options) -> Outcome:
    """Solve the LP with HiGHS: the optimum of the fluid model, and for the integer model a bound."""
    for exact in (True, False):  # all of the work; then what the checker's allowance leaves of it
        form = build(instance, integer=False, whole_work=exact)
        result = highs.solve(form.program, options)
        if result.status is not Status.INFEASIBLE:
            break
        proof = prove_shortage(instance, options)
        if proof.status is Status.INFEASIBLE:
            return Outcome(Status.INFEASIBLE, certificate=proof.certificate(), info=result.info)
    if result.status is Status.INFEASIBLE:
        return Outcome(Status.UNKNOWN, info=result.info)
    bound, certificate = None, None
    if result.row_dual is not None:
        prices = np.maximum(0.0, -result.row_dual[form.capacity.slice])
        bound, certificate = certified_bound(instance, prices)
    schedule = None
    if result.values is not None and instance.model == "fluid":
        schedule = form.schedule(result.values, instance)
    return Outcome(result.status, schedule, bound, certificate, result.info | {"lp_optimum": result.objective})


def best_schedule(instance: ElasticInstance, *schedules: Schedule | None) -> Schedule | None:
    """Return the schedule of least carbon of those that pass the checker, the first of equal ones; None without any."""
    best, least = None, np.inf
    for schedule in schedules:
        cost = np.inf if schedule is None else check(instance, schedule).cost
        if cost < least:
            best, least = schedule, cost
    return best


def column_values(form: ElasticProgram, instance: ElasticInstance, schedule: Schedule) -> FloatArray:
    """Return the columns at which the program has `schedule`; HiGHS completes the rest."""
    job, slot, servers = levels_of(instance, schedule)
    table = np.zeros((len(instance.jobs), instance.time.slots), dtype=np.int64)
    table[job, slot] = servers
    k_min = instance.units.servers[instance.profile_of_job[form.job], 0]
    values = np.zeros(form.program.columns)
    values[form.y.slice] = table[form.job, form.slot] >= k_min + form.unit
    if "switched" in form.program.variables:
        values[form.program.block("switched").slice] = form.switched(values)
    return values

"""Methods `milp` and `lp` of purchasing, with HiGHS, and which method `auto` stands for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.options import Options, Schedule
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.milp import highs
from carbonopt.milp.program import Program
from carbonopt.milp.reading import Reading
from carbonopt.problems.purchasing.data.instance import PurchasingInstance
from carbonopt.problems.purchasing.data.purchase_options import OPTIONS, SHARED, SPOT
from carbonopt.problems.purchasing.formulation.form import Form, form_of
from carbonopt.problems.purchasing.formulation.piece_program import PieceProgram
from carbonopt.problems.purchasing.formulation.program import estimate_size
from carbonopt.problems.purchasing.methods.certificates import certificate_of, infeasible, stated
from carbonopt.problems.purchasing.methods.no_wait import first_schedule, improved
from carbonopt.problems.purchasing.methods.parameters import LpParameters, MilpParameters
from carbonopt.problems.purchasing.methods.rounding import CheckedSchedule, rounded, tightened

MILP_COLUMNS = 3_000
"""`auto` solves programs up to this size with HiGHS alone."""

NONZEROS_A_SECOND = 5e6
"""Of `estimate_size`, what is built in a second of one processor (measured: 6 to 9 million)."""


def choose(instance: PurchasingInstance) -> str:
    """Return the method that `auto` stands for, by size.

    The program knows means of slots alone, so that the costs it limits are too low: `price` keeps such a limit better.
    Nor does it know which whole jobs have room together within a slot, so its gap stays at several percent.
    """
    packs = instance.model == "no-split" and bool(instance.reserved_cpus) and not instance.limits
    small = instance.limits.cost_usd is None and estimate_size(instance)[0] <= MILP_COLUMNS
    return "milp" if small and not packs else "price"


def formulate(instance: PurchasingInstance, form: str) -> Program:
    """Return the program that `milp` (or, relaxed, `lp`) solves."""
    if form not in ("milp", "lp"):
        raise UnsupportedError(f"unknown form {form!r}: must be 'milp' or 'lp'")
    built = form_of(instance, integer=form == "milp")

    def schedule_of(values: FloatArray) -> tuple[Schedule, dict[str, Any]]:
        found = rounded(instance, built, values)
        return found.schedule, found.info

    built.program.reading = Reading(
        schedule_of if form == "milp" else None, bound_error=(len(instance.jobs), _cost_rounding(built.program))
    )
    return built.program


def milp(instance: PurchasingInstance, options: Options) -> Outcome:
    """Solve the program over slots with HiGHS, and place what it finds in continuous time.

    The bound is the program's: it holds in continuous time. The schedule is what the checker says of it, so that a gap
    remains where the means of slots hide a shortage.
    """
    return branch(instance, first_schedule(instance, options), Outcome(Status.TIME_LIMIT), options)


def branch(instance: PurchasingInstance, first: CheckedSchedule | None, known: Outcome, options: Options) -> Outcome:
    """Give the whole program to HiGHS.

    Parameters
    ----------
    instance
        The problem.
    first
        A schedule to start from.
    known
        Its bound is returned, with its certificate, where HiGHS proves no better one.
    options
        Of the run.

    Raises
    ------
    TooLargeError
        If the program would not fit into memory.
    """
    if first is not None:
        options.report(incumbent=first.objective, schedule=lambda: first.schedule, info=first.info)
    seconds = estimate_size(instance)[1] / NONZEROS_A_SECOND
    if seconds > options.seconds_left:
        left = f"more than the {options.seconds_left:.1f} s that are left"
        words = f"to build the program takes about {seconds:.1f} s, {left}"
        stopped = replace(known, status=Status.TIME_LIMIT, info=known.info | {"stopped": words})
        if first is None:
            return stopped
        return replace(stopped, schedule=first.schedule, info=stopped.info | first.info)
    form = form_of(instance, integer=True)
    polish = options.parameters(MilpParameters).polish
    result = highs.solve(
        form.program,
        options,
        start=None if first is None else _columns_of(instance, form, first.schedule),
        judge=lambda values: rounded(instance, form, values),
        bound_error=(len(instance.jobs), _cost_rounding(form.program)),
    )
    info = known.info | result.info
    if result.status is Status.INFEASIBLE and first is None:
        return infeasible(instance, options, info)
    best = first
    for found in _found(instance, form, result, options):
        polished = improved(instance, found, polish)
        if np.isfinite(polished.objective) and (best is None or polished.objective <= best.objective):
            best = polished
    bound, certificate = known.bound, known.certificate
    if result.bound is not None and result.bound > (bound or 0.0):
        bound, certificate = result.bound, None
    elif bound is None and result.bound is not None:
        bound = 0.0  # no schedule costs less than nothing
    status = result.status
    if best is None:
        return Outcome(Status.UNKNOWN if status is Status.OPTIMAL else status, None, bound, certificate, info)
    if status is Status.INFEASIBLE:  # refuted by the schedule at hand
        status = Status.FEASIBLE
    return Outcome(status, best.schedule, bound, certificate, info | best.info)


def _found(
    instance: PurchasingInstance, form: Form, result: highs.Result, options: Options
) -> Iterator[CheckedSchedule]:
    """Yield the schedules of the solver's last columns, and of those on its way that cost least.

    The program's value is only a bound of what a schedule costs, so the last need not be the best.
    """
    if result.values is None:
        return
    found = rounded(instance, form, result.values)
    if result.best is not None and result.best.objective < found.objective:
        yield CheckedSchedule(result.best.schedule, dict(result.best.info), result.best.objective)
    if instance.limits and not np.isfinite(found.objective):
        found = _within_limits(instance, found, options)
    yield found


def _within_limits(instance: PurchasingInstance, found: CheckedSchedule, options: Options) -> CheckedSchedule:
    """Return a schedule within the limits, from programs with tighter ones.

    The program takes the mean load of a slot, so a schedule may cost more than the program says. The limits of the
    next program are tighter by what the last schedule exceeded them by, or by half of it where the next program has no
    solution. Only the first program bounds the optimum.
    """
    quiet = replace(options, callback=None, log_file=None, verbose=False)
    limits = instance.limits
    share = 1.0
    for _ in range(options.parameters(MilpParameters).tightenings):
        if np.isfinite(found.objective) or options.remaining <= 0:
            break
        nearer = tightened(instance, limits, found, share)
        form = form_of(replace(instance, limits=nearer), integer=True)
        result = highs.solve(form.program, quiet, bound_error=(len(instance.jobs), 0.0))
        if result.values is None:
            share /= 2
            continue
        limits = nearer
        found = rounded(instance, form, result.values)
    return found


def lp(instance: PurchasingInstance, options: Options) -> Outcome:
    """Bound the optimum by the LP relaxation; the duals of the slots' rows certify it."""
    return relaxed(instance, form_of(instance, integer=False), options)[0]


def relaxed(instance: PurchasingInstance, form: Form, options: Options) -> tuple[Outcome, FloatArray | None]:
    """Solve the LP relaxation of a program.

    Parameters
    ----------
    instance, form
        The instance and its relaxed program.
    options
        Of the run.

    Returns
    -------
    Outcome
        With a certified bound and no schedule.
    ndarray or None
        Columns of the optimum; None where HiGHS has none.
    """
    most = options.parameters(LpParameters).interior_point_columns
    solver = "ipm" if form.program.columns > most else "choose"
    result = highs.solve(form.program, options, lp_solver=solver)
    if result.status is Status.INFEASIBLE:
        return infeasible(instance, options, result.info), None
    info = result.info | {"lp_optimum": result.objective}
    duals = np.zeros(form.program.rows) if result.row_dual is None else result.row_dual
    bound, certificate = stated(instance, certificate_of(instance, form.program, duals))
    return Outcome(result.status, None, bound, certificate, info), result.values


def _columns_of(instance: PurchasingInstance, form: Form, schedule: Schedule) -> FloatArray | None:
    """Return columns from which the solver can find back to a schedule; None where it cannot be told in columns."""
    index: dict[Any, int] = {name: i for i, name in enumerate(instance.jobs.name)}
    job = np.array([index[name] for name in schedule["job"]], dtype=np.int64)
    start, end = (np.array(schedule[key], dtype=np.float64) for key in ("start_hours", "end_hours"))
    option = np.array([OPTIONS.index(name) for name in schedule["option"]], dtype=np.int64)
    if isinstance(form, PieceProgram):
        return None if (option == SPOT).any() else form.columns_of(instance, job, start, end)
    if instance.model == "splitting":  # what is reserved or on demand as a whole shares just as well
        option = np.where(option == SPOT, SPOT, SHARED)
    return form.columns_of(instance, job, start, option)


def _cost_rounding(program: Program) -> float:
    """Return by how much the costs of any point may be wrong for rounding."""
    cost = np.abs(program.arrays().cost)
    return float(4 * np.finfo(float).eps * cost.sum())

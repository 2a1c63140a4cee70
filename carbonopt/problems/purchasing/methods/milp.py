"""Methods `milp` and `lp` of purchasing, with HiGHS, and which method `auto` stands for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.options import Options, Schedule
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.milp import highs
from carbonopt.milp.program import Program
from carbonopt.problems.purchasing.data.instance import PurchasingInstance
from carbonopt.problems.purchasing.data.purchase_options import OPTIONS, RESERVED, SHARED, SPOT
from carbonopt.problems.purchasing.formulation.piece_program import PieceProgram, build_pieces
from carbonopt.problems.purchasing.formulation.program import RunProgram, build, estimate_size
from carbonopt.problems.purchasing.methods.dual_bound import dual_bound, stated
from carbonopt.problems.purchasing.methods.no_wait import first_schedule
from carbonopt.problems.purchasing.methods.parameters import LpParameters, MilpParameters, PolishParameters
from carbonopt.problems.purchasing.methods.polish import polished
from carbonopt.problems.purchasing.methods.rounding import CheckedSchedule, checked, pieces_of, reserve, runs_of

MILP_COLUMNS = 3_000
"""`auto` solves programs up to this size with HiGHS alone."""


def choose(instance: PurchasingInstance) -> str:
    """Return the method that `auto` stands for, by size; limits are kept better by `price`, which mixes schedules."""
    small = not instance.limits and estimate_size(instance)[0] <= MILP_COLUMNS
    return "milp" if small else "price"


def formulate(instance: PurchasingInstance, form: str) -> Program:
    """Return the program that `milp` (or, relaxed, `lp`) solves."""
    if form not in ("milp", "lp"):
        raise UnsupportedError(f"unknown form {form!r}: must be 'milp' or 'lp'")
    return _form(instance, integer=form == "milp").program


def milp(instance: PurchasingInstance, options: Options) -> Outcome:
    """Solve the program over slots with HiGHS, and place what it finds in continuous time.

    The bound is the program's: it holds in continuous time. The schedule is what the checker says of it, so that a gap
    remains where the means of slots hide a shortage.
    """
    form, polish = _form(instance, integer=True), options.parameters(MilpParameters).polish
    first = first_schedule(instance, options)
    decided = instance.reserved_cpus is None  # what HiGHS finds on its way comes without R: it could not be judged
    if first is not None:
        options.report(objective=first.objective, incumbent=lambda: first.schedule, info=first.info)
    result = highs.solve(
        form.program,
        options,
        start=None if first is None else _columns_of(instance, form, first.schedule),
        schedule_of=None if decided else lambda values: _best(instance, form, values, polish).schedule,
        bound_error=(len(instance.jobs), _cost_rounding(form.program)),
    )
    if result.status is Status.INFEASIBLE and first is None:
        return Outcome(Status.INFEASIBLE, info=result.info)
    best = first
    if result.values is not None:
        found = _best(instance, form, result.values, polish)
        if np.isfinite(found.objective) and (best is None or found.objective <= best.objective):
            best = found
    bound = None if result.bound is None else max(0.0, result.bound)  # no schedule costs less than nothing
    status = result.status
    if best is None:
        return Outcome(Status.UNKNOWN if status is Status.OPTIMAL else status, bound=bound, info=result.info)
    if status is Status.INFEASIBLE:  # refuted by the schedule at hand
        status = Status.FEASIBLE
    return Outcome(status, best.schedule, bound, info=result.info | best.info)


def lp(instance: PurchasingInstance, options: Options) -> Outcome:
    """Bound the optimum by the LP relaxation; the duals of the slots' rows certify it."""
    program = _form(instance, integer=False).program
    most = options.parameters(LpParameters).interior_point_columns
    solver = "ipm" if program.columns > most else "choose"
    result = highs.solve(program, options, lp_solver=solver)
    if result.status is Status.INFEASIBLE:
        return Outcome(Status.INFEASIBLE, info=result.info)
    info = result.info | {"lp_optimum": result.objective}
    duals = np.zeros(program.rows) if result.row_dual is None else result.row_dual
    bound, certificate = stated(instance, *dual_bound(instance, program, duals))
    return Outcome(result.status, None, bound, certificate, info)


def _form(instance: PurchasingInstance, integer: bool) -> RunProgram | PieceProgram:
    return build_pieces(instance, integer) if instance.model == "suspend-resume" else build(instance, integer)


def _best(
    instance: PurchasingInstance, form: RunProgram | PieceProgram, values: FloatArray, polish: PolishParameters
) -> CheckedSchedule:
    """Return the best schedule that the columns stand for."""
    return min(_candidates(instance, form, values, polish), key=lambda one: one.objective)


def _candidates(
    instance: PurchasingInstance, form: RunProgram | PieceProgram, values: FloatArray, polish: PolishParameters
) -> Iterator[CheckedSchedule]:
    reserved = instance.reserved_cpus
    if reserved is None:
        reserved = round(float(values[form.program.block("reserved").start]))
    if isinstance(form, PieceProgram):
        for level in (True, False):
            yield checked(instance, pieces_of(instance, form, values, level))
        return
    job, start, option = form.runs(values)
    if instance.model != "no-split":
        yield checked(instance, runs_of(instance, job, start, option))
        yield from _polished(instance, reserved, job, start, option, polish)
        return
    pool = np.flatnonzero(option != SPOT)
    worth = (instance.jobs.cpus * instance.jobs.length_hours)[job[pool]]
    order = pool[np.lexsort((-worth, option[pool] != RESERVED))]  # as chosen as far as they fit, then any that fits
    fitted = reserve(instance, reserved, job, start, order)
    option = np.where(option == SPOT, SPOT, fitted)
    yield checked(instance, runs_of(instance, job, start, option), reserved)
    yield from _polished(instance, reserved, job, start, option, polish)


def _polished(
    instance: PurchasingInstance,
    reserved: float,
    job: IntArray,
    start: FloatArray,
    option: IntArray,
    polish: PolishParameters,
) -> Iterator[CheckedSchedule]:
    if not instance.limits:
        start, option = polished(instance, reserved, job, start, option, polish)
        yield checked(instance, runs_of(instance, job, start, option))


def _columns_of(instance: PurchasingInstance, form: RunProgram | PieceProgram, schedule: Schedule) -> FloatArray | None:
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

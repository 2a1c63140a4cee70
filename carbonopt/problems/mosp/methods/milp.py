"""Methods `milp` and `lp` of mosp, with HiGHS, and which method `auto` stands for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.options import Options
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.milp import highs
from carbonopt.milp.program import Program
from carbonopt.milp.reading import Reading
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.data.objectives import CaspianObjective
from carbonopt.problems.mosp.formulation.objective import PlacementValue
from carbonopt.problems.mosp.formulation.program import (
    MospProgram,
    build,
    estimate_size,
    refuse_if_too_large,
)
from carbonopt.problems.mosp.methods import heuristics
from carbonopt.problems.mosp.methods.bounds import free_bound, tighter, typical_cost
from carbonopt.problems.mosp.methods.fixed import keeps_fixed
from carbonopt.problems.mosp.methods.incumbent import report_best
from carbonopt.problems.mosp.methods.normalizers import value_of
from carbonopt.problems.mosp.methods.partial_schedule import PartialSchedule
from carbonopt.problems.mosp.methods.relaxation import infeasible, relaxation
from carbonopt.problems.mosp.verify.check import check

MILP_COLUMNS = 2_000
"""`auto` gives programs up to this size to HiGHS as they are: it closes them before numba is loaded."""
LP_COLUMNS = 600_000
"""Above this size LPs take minutes, and so does what needs their optimum: Caspian's normalizers."""
START_COLUMNS = 200_000
"""Up to this size `milp` starts from a rounding of the LP, if that is found in `START_SHARE` of the time."""
START_SHARE = 0.4
"""Of the time that is left, what `milp` spends at most on finding a schedule to start from."""


def choose(instance: MospInstance) -> str:
    """Return the method that `auto` stands for, by size."""
    columns, _ = estimate_size(instance)
    if "limits" in instance.constraints:
        return "milp"
    if columns <= MILP_COLUMNS:
        return "milp"
    objective = instance.objective
    needs_lp = isinstance(objective, CaspianObjective) and objective.normalizers is None
    if needs_lp and columns > LP_COLUMNS:
        return "greedy-clean"
    return "price"


def formulate(instance: MospInstance, form: str) -> Program:
    """Return the program that `milp` (or, relaxed, `lp`) solves."""
    if form not in ("milp", "lp"):
        raise UnsupportedError(f"unknown form {form!r}: must be 'milp' or 'lp'")
    value, info = value_of(instance, Options(time_limit=None))
    built = build(instance, value, integer=form == "milp")
    built.program.reading = Reading(
        (lambda values: (built.schedule(values, instance), info)) if form == "milp" else None,
        bound_error=(len(instance.jobs), float(value.rounding().sum())),
    )
    return built.program


@keeps_fixed
def milp(instance: MospInstance, options: Options) -> Outcome:
    """Solve the whole program with HiGHS, from the best schedule that insertion and rounding find."""
    value, info = value_of(instance, options)
    refuse_if_too_large(instance)
    if "limits" in instance.constraints:  # insertion and rounding know none
        known = Outcome(Status.TIME_LIMIT, bound=free_bound(instance, value), info=info)
        return branch(instance, value, None, known, options)
    if options.start is None:
        partials = []
    else:
        partials = [PartialSchedule.of(instance, value, options.start)]
    partials.append(heuristics.best_insertion(instance, value, options))
    bound = free_bound(instance, value)
    best = report_best(partials, bound, options)
    if estimate_size(instance)[0] <= START_COLUMNS and options.remaining > 0:
        rounded, bound = _first_rounding(instance, value, options, bound)
        partials += rounded
        best = report_best(partials, bound, options)
    return branch(instance, value, best, Outcome(Status.TIME_LIMIT, bound=bound, info=info), options)


def branch(
    instance: MospInstance, value: PlacementValue, best: PartialSchedule | None, known: Outcome, options: Options
) -> Outcome:
    """Give the whole program to HiGHS.

    Parameters
    ----------
    instance, value
        The problem.
    best
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
    form = build(instance, value)
    result = highs.solve(
        form.program,
        options,
        start=None if best is None else column_values(form, best),
        schedule_of=lambda values: form.schedule(values, instance),
        typical_cost=typical_cost(instance, value),
        bound_error=(len(instance.jobs), float(value.rounding().sum())),
    )
    info = known.info | result.info
    if result.status is Status.INFEASIBLE and best is None:
        return infeasible(form, options, info)
    schedule = None if best is None else best.schedule()
    if result.values is not None and (best is None or _improves(form, value.sign, result.values, best)):
        found = form.schedule(result.values, instance)
        if not check(instance, found, info).violations:  # a whole job may not fit where almost all of it does
            schedule = found
    status = result.status
    if status is Status.OPTIMAL and schedule is None:
        status = Status.UNKNOWN
    elif status is Status.INFEASIBLE:  # refuted by the schedule at hand
        status = Status.FEASIBLE
    bound = tighter(value.sense, result.bound, known.bound)
    return Outcome(status, schedule, bound, known.certificate if bound == known.bound else None, info)


def _first_rounding(
    instance: MospInstance, value: PlacementValue, options: Options, bound: float | None
) -> tuple[list[PartialSchedule], float | None]:
    """Round the LP within a share of the time; return what came of it and the better bound."""
    share = replace(options.part(START_SHARE), callback=None)
    relaxed, form, x = relaxation(instance, value, share)
    if relaxed.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    if x is None:
        partials = []
    else:
        partials = [heuristics.price_rounding(instance, value, form, x, share, rounds=4)]
    return partials, tighter(value.sense, bound, relaxed.bound)


def _improves(form: MospProgram, sign: float, values: FloatArray, best: PartialSchedule) -> bool:
    cost = form.program.arrays().cost
    return bool(sign * (cost @ values) < sign * (cost @ column_values(form, best)))


@keeps_fixed
def lp(instance: MospInstance, options: Options) -> Outcome:
    """Bound the optimum by the LP relaxation; the duals of the capacity rows certify it."""
    value, info = value_of(instance, options)
    outcome, _, _ = relaxation(instance, value, options)
    return replace(outcome, info=info | outcome.info)


def column_values(form: MospProgram, partial: PartialSchedule) -> FloatArray:
    """Return the column values that stand for the schedule in `partial`."""
    placements = form.placements
    values = np.zeros(form.program.columns)
    chosen = (partial.cluster[placements.job] == placements.cluster) & (
        partial.start[placements.job] == placements.start
    )
    values[form.x.slice] = chosen
    if "rejected" in form.program.variables:
        values[form.program.variables["rejected"].slice] = partial.cluster < 0
    return values

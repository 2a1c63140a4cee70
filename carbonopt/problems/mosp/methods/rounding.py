"""Methods that round the LP optimum: to where it places the jobs, and Caspian's Algorithms 2 and 3."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from carbonopt.core.arrays import FloatArray
from carbonopt.core.options import Options
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.formulation.objective import PlacementValue
from carbonopt.problems.mosp.formulation.program import (
    MospProgram,
    refuse_if_too_large,
)
from carbonopt.problems.mosp.methods import heuristics
from carbonopt.problems.mosp.methods.fixed import keeps_fixed
from carbonopt.problems.mosp.methods.incumbent import heuristic_outcome, report_best
from carbonopt.problems.mosp.methods.normalizers import value_of
from carbonopt.problems.mosp.methods.partial_schedule import PartialSchedule
from carbonopt.problems.mosp.methods.relaxation import relaxation


@keeps_fixed
def lp_rounding(instance: MospInstance, options: Options) -> Outcome:
    """Round the LP optimum to where it places the jobs, and improve by single moves.

    An insertion comes first, so that there is a schedule even if the LP takes all the time.
    """

    def rounded(value: PlacementValue, form: MospProgram, x: FloatArray) -> PartialSchedule:
        return heuristics.price_rounding(instance, value, form, x, options)

    return _rounded(instance, options, rounded, insert_first=True)


@keeps_fixed
def caspian_rounding(instance: MospInstance, options: Options) -> Outcome:
    """Caspian's Algorithms 2 and 3."""

    def rounded(value: PlacementValue, form: MospProgram, x: FloatArray) -> PartialSchedule:
        return heuristics.caspian_rounding(instance, value, form, x)

    return _rounded(instance, options, rounded)


def _rounded(
    instance: MospInstance,
    options: Options,
    rounding: Callable[[PlacementValue, MospProgram, FloatArray], PartialSchedule],
    insert_first: bool = False,
) -> Outcome:
    refuse_if_too_large(instance)
    value, info = value_of(instance, options)
    partials = []
    if insert_first:
        partials = [] if options.start is None else [PartialSchedule.of(instance, value, options.start)]
        partials.append(heuristics.best_insertion(instance, value, options))
    best = report_best(partials, None, options)
    relaxed, form, x = relaxation(instance, value, options)
    if relaxed.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    info |= relaxed.info
    if x is not None:
        options.report(bound=relaxed.bound)
        partials.append(rounding(value, form, x))
        best = report_best(partials, relaxed.bound, options) or partials[-1]
    if best is None:
        return replace(relaxed, schedule=None, info=info)
    outcome = heuristic_outcome(best, relaxed.bound, info, options)
    return replace(outcome, certificate=relaxed.certificate)

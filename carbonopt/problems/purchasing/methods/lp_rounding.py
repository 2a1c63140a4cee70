"""Method `lp-rounding`: the LP relaxation, rounded to what each job does most, and to draws by its shares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.options import Options
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.problems.purchasing.data.instance import PurchasingInstance
from carbonopt.problems.purchasing.formulation.form import Form, form_of
from carbonopt.problems.purchasing.formulation.piece_program import PieceProgram
from carbonopt.problems.purchasing.methods.milp import relaxed
from carbonopt.problems.purchasing.methods.no_wait import first_schedule, improved
from carbonopt.problems.purchasing.methods.parameters import RoundingParameters
from carbonopt.problems.purchasing.methods.rounding import CheckedSchedule, rounded


def lp_rounding(instance: PurchasingInstance, options: Options) -> Outcome:
    """Bound the optimum by the LP relaxation, round that one, and improve the best schedule by best responses.

    A schedule without waiting comes first, so that there is one even if the LP takes all the time.
    """
    parameters = options.parameters(RoundingParameters)
    best = first_schedule(instance, options)
    if best is not None:
        _tell(best, None, options)
    form = form_of(instance, integer=False)
    outcome, values = relaxed(instance, form, options)
    if outcome.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    if values is not None:
        for columns in _roundings(form, values, options.seed, parameters.draws):
            found = rounded(instance, form, columns)
            if np.isfinite(found.objective) and (best is None or found.objective < best.objective):
                best = found
                _tell(best, outcome.bound, options)
            if options.remaining <= 0:
                break
    late = options.remaining <= 0
    if best is None:
        unknown = Status.TIME_LIMIT if late else Status.UNKNOWN
        if outcome.status is Status.INFEASIBLE:
            return outcome
        return replace(outcome, status=unknown)
    status = Status.TIME_LIMIT if late else Status.FEASIBLE
    best = improved(instance, best, parameters.polish)
    if outcome.status is Status.INFEASIBLE:  # refuted by the schedule at hand
        return Outcome(status, best.schedule, info=best.info)
    return replace(outcome, status=status, schedule=best.schedule, info=outcome.info | best.info)


def _roundings(form: Form, values: FloatArray, seed: int, draws: int) -> Iterator[FloatArray]:
    """Yield the columns of the optimum, then those of draws: what a job does is drawn with the chance of its share."""
    yield values
    if isinstance(form, PieceProgram):  # its hours in each slot need no rounding
        return
    random = np.random.default_rng(seed)
    x = form.program.block("x").slice
    for _ in range(draws):
        drawn = values.copy()
        drawn[x] = np.maximum(values[x], 0.0) / random.exponential(size=len(values[x]))  # the largest is a draw
        yield drawn


def _tell(best: CheckedSchedule, bound: float | None, options: Options) -> None:
    options.report(incumbent=best.objective, bound=bound, schedule=lambda: best.schedule, info=best.info)

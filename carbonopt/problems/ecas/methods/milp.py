"""Method `milp` of ecas, the whole program with HiGHS, and which method `auto` stands for."""

from __future__ import annotations

from carbonopt.core.options import Options
from carbonopt.core.solution import Outcome
from carbonopt.milp import highs
from carbonopt.problems.ecas.data.instance import EcasInstance
from carbonopt.problems.ecas.formulation.program import build, estimate_size

MILP_COLUMNS = 800
"""`auto` solves programs up to this size with HiGHS alone."""


def choose(instance: EcasInstance) -> str:
    """Return the method that `auto` stands for, by size."""
    return "milp" if estimate_size(instance)[0] <= MILP_COLUMNS else "price"


def milp(instance: EcasInstance, options: Options) -> Outcome:
    """Solve the whole program."""
    form = build(instance)
    result = highs.solve(form.program, options, schedule_of=lambda values: form.schedule(instance, values))
    schedule = None if result.values is None else form.schedule(instance, result.values)
    return Outcome(result.status, schedule, result.bound, info=result.info)

"""Methods `lp` and `lp-rounding` of ecas: the relaxation with HiGHS, and a schedule near it."""

from __future__ import annotations

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.options import Options
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.milp import highs
from carbonopt.problems.ecas.data.instance import EcasInstance
from carbonopt.problems.ecas.formulation.program import EcasProgram, build
from carbonopt.problems.ecas.methods.price.bound import certificate
from carbonopt.problems.ecas.methods.price.kernels import change, move, overfull, place_anywhere, settle
from carbonopt.problems.ecas.methods.price.method import compiled
from carbonopt.problems.ecas.methods.price.search import greedy_steps
from carbonopt.problems.ecas.methods.price.tables import by_energy, empty_state, schedule_of, tables_of
from carbonopt.problems.ecas.verify.certificate import proven_bound

PENALTY = 1.0
"""Jobs without a place end the rounding, so what they count means nothing."""


def lp(instance: EcasInstance, options: Options) -> Outcome:
    """Bound the optimum by the relaxation; the duals of the capacity rows certify the bound."""
    return _relaxed(instance, options)[0]


def lp_rounding(instance: EcasInstance, options: Options) -> Outcome:
    """Give each job the place where most of it is in the relaxation, or else the cheapest one that is left."""
    outcome, form, values = _relaxed(instance, options)
    if form is None or values is None:
        return outcome
    with compiled(greedy_steps(instance), options) as ready:
        schedule = _rounded(instance, form, values) if ready else None
    status = Status.UNKNOWN if schedule is None else Status.FEASIBLE
    return Outcome(status, schedule, outcome.bound, outcome.certificate, outcome.info)


def _relaxed(instance: EcasInstance, options: Options) -> tuple[Outcome, EcasProgram | None, FloatArray | None]:
    """Return the bound of the relaxation, and where it has an optimum, its program and values."""
    form = build(instance, integer=False)
    result = highs.solve(form.program, options)
    if result.row_dual is None or result.status is not Status.OPTIMAL:
        return Outcome(result.status, info=result.info), None, None
    prices = np.maximum(0.0, -result.row_dual[form.capacity.slice]).reshape(form.capacity.shape)
    proof = certificate(prices)
    bound, _ = proven_bound(instance, proof, {})
    if bound is None or bound == np.inf:
        return Outcome(Status.INFEASIBLE, certificate=proof, info=result.info), None, None
    proof["bound"] = bound
    info = {**result.info, "lp_optimum": result.objective}
    return Outcome(Status.UNKNOWN, None, bound, proof, info), form, result.values


def _rounded(instance: EcasInstance, form: EcasProgram, values: FloatArray) -> dict[str, list[object]] | None:
    """Return a schedule near the relaxation's; None where some job finds no room."""
    tables = tables_of(instance, PENALTY)
    state = empty_state(instance, tables)
    for m in range(len(instance.machines)):
        settle(tables, state, m)
    ranking = by_energy(tables)
    job, machine, start, share = _largest_parts(form, values)
    for k in np.argsort(-share, kind="stable"):
        j = int(job[k])
        m = int(machine[k])
        s = int(start[k])
        change(tables, state, j, m, s, 1)
        fits = overfull(tables, state, m, s, s + int(instance.jobs.duration[j])) < 0
        change(tables, state, j, m, s, -1)
        if fits:
            move(tables, state, j, m, s, 1)
        elif not place_anywhere(tables, state, ranking, j):
            return None
    return schedule_of(instance, state)


def _largest_parts(form: EcasProgram, values: FloatArray) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    """Return for each job the (machine, start) that has most of it, and how much that is."""
    assert form.starts.at is not None
    job, machine, start = form.starts.at
    share = values[form.starts.slice]
    order = np.lexsort((-share, job))
    first = order[np.unique(job[order], return_index=True)[1]]
    return job[first], machine[first], start[first], share[first]

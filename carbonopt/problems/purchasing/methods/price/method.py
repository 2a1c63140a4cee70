"""Method `price`: the Lagrangian bound of slot prices, and a schedule by annealed best responses to the load.

1. Maximise the dual function over prices of reserved CPU-hours and multipliers of the limits: the bound.
2. From each job's best answer to the prices, let the jobs respond to the load of all others, at a temperature that
   falls; at last each to the exact load. Repeat in longer rounds until the gap is closed or time is out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from carbonopt.core.options import Options
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.problems.purchasing.data.instance import PurchasingInstance
from carbonopt.problems.purchasing.methods.bounds import stated
from carbonopt.problems.purchasing.methods.milp import first_plan
from carbonopt.problems.purchasing.methods.price.bound import maximise, worst
from carbonopt.problems.purchasing.methods.price.rounds import Rounds

BOUND_SHARE = 0.35
"""Of the time limit, what the bound may take."""


@dataclass
class _Share:
    """Seconds that are left of a share of the time, counted from the first question.

    The bound asks after its first evaluation, in which numba loads its code: of 2 s that took its whole share.
    """

    options: Options
    share: float
    until: float | None = None

    def __call__(self) -> float:
        if self.until is None:
            self.until = self.options.elapsed + self.share * self.options.remaining
        return self.until - self.options.elapsed


def price(instance: PurchasingInstance, options: Options) -> Outcome:
    """Bound an instance by prices of reserved CPUs, and search for a schedule near the bound.

    Parameters
    ----------
    instance
        Of any model, with or without spot CPUs and limits, R given or to be decided.
    options
        `mip_rel_gap` and `mip_abs_gap` end the method early.

    Returns
    -------
    Outcome
        With certificate ``{"kind": "lagrangian", "grid_slots": k, "prices": [k T], "multipliers": {...} or None,
        "bound": ...}``. ``infeasible`` where the multipliers prove that the limits cannot be kept.
    """
    if not len(instance.jobs):
        return _empty(instance)
    first = first_plan(instance, options)
    if first is not None:
        options.report(objective=first.objective, incumbent=lambda: first.schedule, info=first.info)
    bound = maximise(instance, _Share(options, BOUND_SHARE), options)
    if bound.value > worst(instance):
        return Outcome(Status.INFEASIBLE, info={"certificate": bound.certificate})
    value, certificate = stated(instance, bound.value, bound.certificate)
    rounds = Rounds(instance, options, bound)
    info = rounds.run()
    plan = rounds.best.plan
    if first is not None and first.objective < rounds.best.objective:
        status = Status.TIME_LIMIT if options.remaining <= 0 else Status.FEASIBLE
        return Outcome(status, first.schedule, value, certificate, info | first.info)
    if plan is None:
        late = options.remaining <= 0
        status = Status.TIME_LIMIT if late else Status.UNKNOWN
        return Outcome(status, None, value, certificate, info)
    if instance.reserved_cpus is None:
        info["reserved_cpus"] = int(plan.reserved)
    return Outcome(_status(rounds, options), plan.columns(instance), value, certificate, info)


def _status(rounds: Rounds, options: Options) -> Status:
    if rounds.closed():
        return Status.OPTIMAL
    return Status.TIME_LIMIT if options.remaining <= 0 else Status.FEASIBLE


def _empty(instance: PurchasingInstance) -> Outcome:
    columns: dict[str, Any] = {"job": [], "start_hours": [], "end_hours": [], "option": []}
    info = {"reserved_cpus": 0} if instance.reserved_cpus is None else {}
    return Outcome(Status.OPTIMAL, columns, 0.0, None, info)

"""What a method or a policy claims becomes a solution: the checker evaluates it, and what it refutes is left out."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from carbonopt.check import FARKAS, PROVABLE_GAP, on_its_side, recheck_certificate, report_on
from carbonopt.core.instance import Instance
from carbonopt.core.solution import Outcome, Solution, relative_gap
from carbonopt.core.status import Status
from carbonopt.core.versions import installed_versions


@dataclass(frozen=True)
class Run:
    """What a solution records of the run that made it.

    Parameters
    ----------
    method
        Of the problem, or ``simulate:`` and a policy.
    options
        As the solution file holds them.
    wall_seconds
        Since the run began.
    mip_rel_gap, mip_abs_gap
        A gap of at most one of these makes a schedule an optimum.
    work
        That the run counted [work units]; None where it counts none.
    """

    method: str
    options: Mapping[str, Any]
    wall_seconds: float
    mip_rel_gap: float = 0.0
    mip_abs_gap: float = 0.0
    work: float | None = None

    def closes(self, objective: float | None, bound: float | None) -> bool:
        """Return whether the bound is close enough to the objective."""
        if objective is None or bound is None:
            return False
        gap = relative_gap(objective, bound)
        closed = gap is not None and gap <= max(self.mip_rel_gap, PROVABLE_GAP)
        return closed or abs(objective - bound) <= self.mip_abs_gap


def judged(instance: Instance, outcome: Outcome, run: Run) -> Solution:
    """Let the checker evaluate what an outcome claims, and keep only what survives.

    Parameters
    ----------
    instance
        That the outcome is of.
    outcome
        Of a method or a policy.
    run
        What made it.

    Returns
    -------
    Solution
        Its objective and metrics are the checker's. A schedule or a bound that is refuted is not in it: the status
        is then ``error``, and `info` says why.
    """
    status = outcome.status
    schedule = outcome.schedule
    info = dict(outcome.info)
    bound, certificate = outcome.bound, outcome.certificate
    objective: float | None = None
    metrics: dict[str, Any] = {}
    if schedule is not None:
        report = report_on(instance, schedule, info)
        objective, metrics = report.objective, report.metrics
        if report.violations or objective is None:
            info["violations"] = [str(violation) for violation in report.violations]
            status = Status.ERROR
            schedule = None
            objective = None
            metrics = {}
    if objective is not None and bound is not None and not on_its_side(instance.sense, bound, objective):
        info["refuted_bound"] = bound
        status = Status.ERROR
        bound = None
        certificate = None
    elif objective is not None and bound is not None:
        bound = _at_most(instance.sense, bound, objective)
    if schedule is not None and status in (Status.OPTIMAL, Status.FEASIBLE, Status.TIME_LIMIT):
        if run.closes(objective, bound):
            status = Status.OPTIMAL
        elif status is Status.OPTIMAL:
            status = Status.FEASIBLE
    solution = Solution(
        problem=instance.problem,
        instance=instance.name,
        instance_sha256=instance.sha256,
        method=run.method,
        status=status,
        sense=instance.sense,
        objective=objective,
        bound=bound,
        certificate=certificate,
        metrics=metrics,
        columns=schedule,
        info=info,
        options=dict(run.options),
        versions=installed_versions(),
        wall_seconds=run.wall_seconds,
        work=run.work,
    )
    return _proven(instance, solution, run)


def _proven(instance: Instance, solution: Solution, run: Run) -> Solution:
    """Return the solution with no more than its certificate proves; what is taken back is told in `info`.

    It warns of what is taken back: a method claimed what the checker does not confirm, which is a fault of the method.
    """
    claimed = solution.status is Status.INFEASIBLE
    if claimed and solution.certificate is None:
        return _not_rechecked(solution)
    proven, _, violations = recheck_certificate(instance, solution)
    if not violations:
        return solution
    if claimed and solution.certificate is not None and solution.certificate.get("kind") == FARKAS:
        return _not_rechecked(replace(solution, certificate=None))  # the solver's tolerances allow no more
    words = "; ".join(violation.message for violation in violations)
    warnings.warn(f"{solution.instance}: {solution.method}: the certificate does not hold: {words}", stacklevel=4)
    told = {**solution.info, "claim_not_proven": words}
    status = Status.UNKNOWN if solution.status is Status.INFEASIBLE else solution.status
    if proven is None or not isfinite(proven) or solution.certificate is None:
        changed = replace(solution, status=status, bound=None, certificate=None, info=told)
    else:
        certificate = {**solution.certificate, "bound": proven}
        if solution.objective is None:
            bound = proven
        else:
            bound = _at_most(solution.sense, proven, solution.objective)
        changed = replace(solution, status=status, bound=bound, certificate=certificate, info=told)
    if changed.status is Status.OPTIMAL and not run.closes(changed.objective, changed.bound):
        changed = replace(changed, status=Status.FEASIBLE if changed.has_solution else Status.UNKNOWN)
    return changed


def _not_rechecked(solution: Solution) -> Solution:
    """Return an infeasible solution without certificate, which says on whose word it is so."""
    by = "HiGHS" if "highs_status" in solution.info else f"method {solution.method}"
    return replace(solution, info={**solution.info, "infeasible_by": f"{by}, without a certificate: not rechecked"})


def _at_most(sense: str, bound: float, objective: float) -> float:
    """Return a bound that rounding may have put beyond the objective, moved onto it."""
    return min(bound, objective) if sense == "min" else max(bound, objective)

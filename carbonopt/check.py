"""`check` a solution: the schedule against the instance, and the claims against the truth. No solver."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf, isfinite
from typing import Any

import numpy as np

from carbonopt.core.errors import InputError
from carbonopt.core.instance import Instance
from carbonopt.core.options import Schedule
from carbonopt.core.registry import problem_of
from carbonopt.core.report import Report, Violation
from carbonopt.core.solution import Solution, relative_gap
from carbonopt.core.status import Status
from carbonopt.io.schedule import solution_of

FARKAS = "farkas"
"""Kind of a certificate that there is no schedule: a Lagrangian bound above 0 where nothing costs anything."""
AGREEMENT = 1e-6
"""Largest relative difference between two evaluations of one number that is called rounding."""
PROVABLE_GAP = 1e-7
"""Relative gap that counts as none, whatever is asked for: a solver's tolerances allow no finer proof."""
LARGEST_ASKED_GAP = 0.1
"""A gap above this that a file says was asked for makes nothing an optimum."""
LEAST_SCALE = 1e-6
"""Size below which numbers are compared absolutely."""
CERTIFICATE_SLACK = 1e-9
"""By how much safe rounding may weaken a bound that was computed in plain doubles, relative."""


def report_on(instance: Instance, schedule: Schedule, info: dict[str, Any] | None = None) -> Report:
    """Return the checker's report on a bare schedule; a metric that overflows is None, as one that is not defined."""
    with np.errstate(over="ignore"):
        report: Report = problem_of(instance.problem).role("check")(instance, schedule, info)
    beyond = {name: None for name, value in report.metrics.items() if isinstance(value, float) and not isfinite(value)}
    return replace(report, metrics={**report.metrics, **beyond}) if beyond else report


def check(instance: Instance, solution: Any) -> Report:
    """Check a solution against its instance, and what it claims against what is true.

    Parameters
    ----------
    instance
        The instance.
    solution
        From `solve` or `read_solution`; or a bare schedule, which claims nothing: a `pandas.DataFrame`, a mapping of
        columns, or the path of a CSV file (see `carbonopt.evaluate`).

    Returns
    -------
    Report
        Every violated constraint by name, job, cluster, slot and amount; also violations named
        ``instance`` (made for other data), ``sense``, ``status``, ``objective``, ``metrics``,
        ``bound`` and ``certificate`` (claims that are not so).
    """
    if not isinstance(solution, Solution):
        solution = solution_of(instance, solution)
    identity = tuple(_identity_faults(instance, solution))
    proven, assumes, certificate = recheck_certificate(instance, solution)
    impossible = _is_impossible(instance.sense, proven)
    proven = None if impossible else proven
    if solution.columns is None:
        faults = (*identity, *_empty_claims(solution), *certificate)
        return Report(faults, None, proven_bound=proven, proven_infeasible=impossible, assumes=assumes)
    report = report_on(instance, solution.columns, solution.info)
    claims = _claim_faults(instance, solution, report)
    violations = (*identity, *report.violations, *claims, *certificate)
    taken = tuple(dict.fromkeys((*report.assumes, *assumes)))
    return replace(report, violations=violations, proven_bound=proven, assumes=taken)


def recheck_certificate(
    instance: Instance, solution: Solution
) -> tuple[float | None, tuple[str, ...], list[Violation]]:
    """Recompute the bound that a solution's certificate proves, and compare it with the claimed one.

    Returns
    -------
    bound : float or None
        What is proven; infinite where there is no schedule, None where nothing is proven.
    assumes : tuple of str
        What the proof takes from the solution file.
    violations : list of Violation
        Why the claim does not hold; empty where it does.
    """
    if solution.certificate is None or solution.instance_sha256 != instance.sha256:
        return None, (), []
    try:
        proven, assumes = _proven_by(instance, solution.certificate, solution.info)
    except InputError as error:
        return None, (), [Violation("certificate", line) for line in error.lines()]
    claimed = solution.bound
    stated = solution.certificate.get("bound")
    text = None
    if is_of_a_tree(solution) and _finite(stated) is not None:
        claimed = _finite(stated)  # what is claimed beyond it has no certificate
    if solution.status is Status.INFEASIBLE and not _is_impossible(instance.sense, proven):
        text = "it does not prove that there is no schedule"
    elif isinstance(stated, (int, float)) and claimed is not None and not _agree(stated, claimed):
        text = f"it states a bound of {stated:.9g}, the solution {claimed:.9g}"
    elif claimed is not None and (proven is None or not _not_above(instance.sense, claimed, proven)):
        shown_bound = "none" if proven is None else f"{proven:.9g}"
        text = f"the file claims a bound of {claimed:.9g}, the prices prove {shown_bound}"
    return proven, assumes, [] if text is None else [Violation("certificate", text)]


def _proven_by(
    instance: Instance, certificate: dict[str, Any], info: dict[str, Any]
) -> tuple[float | None, tuple[str, ...]]:
    """Return the bound that a certificate proves.

    Prices of kind `FARKAS` are read as those of a bound on nothing: on the instance without its objective, every
    schedule costs 0. Where the bound is above 0, there is none.
    """
    problem = problem_of(instance.problem)
    if certificate.get("kind") != FARKAS or "without_objective" not in problem.roles:
        found: tuple[float | None, tuple[str, ...]] = problem.role("proven_bound")(instance, certificate, info)
        return found
    free = problem.role("without_objective")(instance)
    bound, assumes = problem.role("proven_bound")(free, {**certificate, "kind": "lagrangian"}, info)
    if bound is None or bound <= 0:
        return None, assumes
    return (inf if instance.sense == "min" else -inf), assumes


def is_of_a_tree(solution: Solution) -> bool:
    """Return whether a solution with a schedule says that its bound is one of a search tree, without certificate."""
    told = _finite(solution.info.get("tree_bound"))
    if told is None or solution.bound is None or solution.columns is None:
        return False
    return _agree(told, solution.bound)


def _finite(value: Any) -> float | None:
    """Return a finite number as such, None for all else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value) if isfinite(value) else None
    except OverflowError:
        return None


def _is_impossible(sense: str, proven: float | None) -> bool:
    """Return whether a bound is one that no schedule can keep."""
    return proven == (inf if sense == "min" else -inf)


def _not_above(sense: str, claimed: float, proven: float) -> bool:
    slack = CERTIFICATE_SLACK * max(LEAST_SCALE, abs(proven))
    return claimed <= proven + slack if sense == "min" else claimed >= proven - slack


def _identity_faults(instance: Instance, solution: Solution) -> Iterator[Violation]:
    if solution.problem != instance.problem or solution.instance_sha256 != instance.sha256:
        than = "" if solution.instance == instance.name else f" than those of {instance.name!r}"
        text = f"the solution was made for {solution.instance!r} with other data{than} (content hash differs)"
        yield Violation("instance", text)
    if solution.sense != instance.sense:
        yield Violation("sense", f"the file claims {solution.sense!r}, the instance's is {instance.sense!r}")


def _claim_faults(instance: Instance, solution: Solution, report: Report) -> Iterator[Violation]:
    """Compare what the file claims of its schedule with what is so."""
    claimed = solution.objective
    found = report.objective
    bound = solution.bound
    if claimed is not None and found is not None and not _agree(claimed, found):
        text = f"the file claims {claimed:.9g}, the schedule's is {found:.9g}"
        yield Violation("objective", text, amount=abs(claimed - found))
    for name, value in solution.metrics.items() if report.metrics else ():
        if not _same_metric(value, report.metrics.get(name)):
            text = f"the file claims {name} = {value}, the schedule's is {report.metrics.get(name)}"
            yield Violation("metrics", text)
    if solution.status is Status.INFEASIBLE:
        yield Violation("status", "the file claims that there is no schedule, and holds one")
    if bound is not None and report.incomparable:
        yield Violation("bound", f"the file claims a bound of {bound:.9g}, and none compares: {report.incomparable}")
    elif bound is not None and found is not None and not on_its_side(instance.sense, bound, found):
        text = f"the claimed bound {bound:.9g} is beaten by the schedule's {found:.9g}"
        yield Violation("bound", text, amount=abs(bound - found))
    elif solution.status is Status.OPTIMAL and found is not None and not _closes(solution, found):
        text = "no bound" if bound is None else f"a bound of {bound:.9g}"
        yield Violation("status", f"the file claims an optimum on the ground of {text}")


def _empty_claims(solution: Solution) -> Iterator[Violation]:
    """Yield what is claimed of a schedule that is not there."""
    if solution.objective is not None:
        yield Violation("objective", f"the file claims {solution.objective:.9g} without a schedule")
    if solution.metrics:
        yield Violation("metrics", "the file claims metrics without a schedule")


def _same_metric(claimed: Any, found: Any) -> bool:
    if isinstance(claimed, (int, float)) and isinstance(found, (int, float)):
        return _agree(claimed, found)
    return bool(claimed == found)


def _closes(solution: Solution, objective: float) -> bool:
    """Return whether the claimed bound closes the gap that the file says was asked for."""
    gap = relative_gap(objective, solution.bound)
    if gap is None or solution.bound is None:
        return False
    relative, absolute = (solution.options.get(name) for name in ("mip_rel_gap", "mip_abs_gap"))
    asked = relative if isinstance(relative, (int, float)) else 0.0
    if isinstance(absolute, (int, float)) and objective:
        asked = max(asked, absolute / abs(objective))
    return gap <= max(min(asked, LARGEST_ASKED_GAP), PROVABLE_GAP)


def _agree(first: float, second: float) -> bool:
    return abs(first - second) <= AGREEMENT * max(LEAST_SCALE, abs(first), abs(second))


def on_its_side(sense: str, bound: float, objective: float) -> bool:
    """Return whether `bound` is on its side of `objective`, up to rounding."""
    slack = AGREEMENT * max(LEAST_SCALE, abs(objective))
    return bound <= objective + slack if sense == "min" else bound >= objective - slack

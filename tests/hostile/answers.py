"""Answers: every method on extreme instances against brute force, with every claim checked."""

from __future__ import annotations

import random
import warnings
from typing import Any

import carbonopt as co
from carbonopt.core.registry import problem_of
from carbonopt.io.solution import solution_from_dict
from hostile.drawn import drawn, optimum
from hostile.found import Found
from hostile.small import instance_of

LIMIT_SECONDS = 60.0
"""Far above what these instances take: no attempt ends by the clock."""
TOLERANCE = 1e-6


def attempt(rng: random.Random) -> None:
    """Solve a random instance by a random method, and compare all that is claimed with what is so.

    Raises
    ------
    Found
        If a claim is wrong, or is not proven, or anything but an error in words ends the run.
    """
    raw = drawn(rng)
    method = rng.choice(sorted(problem_of(raw["problem"]).methods))
    try:
        instance = instance_of(raw)
    except co.InputError:
        return
    solution = solved(instance, method, raw)
    if solution is None:
        return
    again = solution_from_dict(solution.to_dict())
    violations = [str(violation) for violation in co.check(instance, again).violations]
    if violations:
        raise Found(f"{method}: check refuses its answer: {violations[0]}", instance=raw, solution=solution.to_dict())
    best, is_exact = optimum(raw)
    words = _false_claim(solution, best, is_exact)
    if words:
        raise Found(f"{method}: {words}", instance=raw, solution=solution.to_dict())


def solved(instance: co.Instance, method: str, raw: dict[str, Any]) -> co.Solution | None:
    """Return what a method answers; None where it says that it does not apply."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            solution = co.solve(instance, method, time_limit=LIMIT_SECONDS)
        except (co.UnsupportedError, co.InputError):
            return None
        except Exception as error:
            raise Found(f"{method}: {error!r}", instance=raw) from error
    refuted = [str(warning.message) for warning in told if "does not hold" in str(warning.message)]
    if any("cost coefficients span" in str(warning.message) for warning in told):
        solution.info.pop("refuted_bound", None)  # the solver's tolerances are wider than the answer, as it is told
    refuted += [f"{name}: {solution.info[name]}" for name in ("violations", "refuted_bound") if name in solution.info]
    if refuted:
        raise Found(f"{method}: {refuted[0]}", instance=raw, solution=solution.to_dict())
    return solution


def _false_claim(solution: co.Solution, best: float | None, is_exact: bool) -> str | None:
    if best is None:
        return f"a schedule of {solution.objective} where none exists" if is_exact and solution.has_solution else None
    if solution.status is co.Status.INFEASIBLE:
        return f"infeasible, with a schedule of {best}"
    sign = 1.0 if solution.sense == "min" else -1.0
    slack = TOLERANCE * max(1e-6, abs(best))
    if solution.bound is not None and sign * (solution.bound - best) > slack:
        return f"a bound of {solution.bound} beyond a schedule of {best}"
    if is_exact and solution.objective is not None and sign * (best - solution.objective) > slack:
        return f"an objective of {solution.objective} better than the optimum {best}"
    return None

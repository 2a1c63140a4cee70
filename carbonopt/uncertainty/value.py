"""What it is worth to plan for scenarios, and to know which one comes: certified intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from carbonopt.core.interval import Interval
from carbonopt.solve import solve
from carbonopt.uncertainty.costs import Linear, measured, objectives_of
from carbonopt.uncertainty.measures import Expectation, Risk, tail_mean
from carbonopt.uncertainty.scenarios import Scenarios
from carbonopt.uncertainty.solve import RiskSolution, solve_under_risk

if TYPE_CHECKING:
    import pandas as pd


def perfect_information(instance: Linear, scenarios: Scenarios, **options: Any) -> Interval:
    """Return the expected value of perfect information: what knowing the scenario beforehand saves on average.

    Parameters
    ----------
    instance, scenarios
        As in `solve_under_risk`.
    **options
        Of each solve.

    Returns
    -------
    Interval
        The least expected objective of one plan for all scenarios, less the mean over the scenarios of the least
        objective of each: between bound less schedules, and schedule less bounds. Never below 0.
    """
    one = solve_under_risk(instance, scenarios, Expectation(), **options)
    each = [solve(scenarios.instance(instance, s), **options) for s in range(len(scenarios))]
    found = _expected([solution.objective for solution in each], scenarios)
    proven = _expected([solution.bound for solution in each], scenarios)
    least = None if one.bound is None or found is None else one.bound - found
    most = None if one.value is None or proven is None else one.value - proven
    return Interval(least, most).at_least_zero()


def _expected(values: Sequence[float | None], scenarios: Scenarios) -> float | None:
    told = [value for value in values if value is not None]
    return float(scenarios.weights @ told) if len(told) == len(values) else None


def stochastic_solution(instance: Linear, scenarios: Scenarios, found: RiskSolution, **options: Any) -> Interval:
    """Return what planning for the scenarios saves over planning for the expected signal, in the measure of `found`.

    Parameters
    ----------
    instance, scenarios
        As in `solve_under_risk`.
    found
        Its answer.
    **options
        Of the solve for the expected signal.

    Returns
    -------
    Interval
        The measure of the plan for the expected signal, less that of the best plan: between `found`'s value and bound.
        The first plan is the one that `carbonopt.solve` finds; other plans may be as good for the expected signal.
    """
    plan = solve(scenarios.instance(instance), **options)
    if not plan.has_solution:
        return Interval(None, None)
    value = measured(instance, scenarios, plan.schedule, found.risk)
    return Interval(found.bound, found.value).below(value).at_least_zero()


def compared_plans(
    instance: Linear,
    scenarios: Scenarios,
    risks: Sequence[Risk],
    *,
    level: float = 0.9,
    others: Scenarios | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Return a row for the plan of each measure: its mean, its tail mean and its worst objective.

    Parameters
    ----------
    instance, scenarios
        As in `solve_under_risk`.
    risks
        What to plan for.
    level
        Of the column ``cvar``.
    others
        Scenarios under which the plans are measured, such as ones that no plan knew; None for the same.
    **options
        Of each solve.

    Returns
    -------
    pandas.DataFrame
        ``plan``, ``mean``, ``cvar``, ``worst``, the plan's own measure ``value`` with its ``bound`` and ``gap``,
        ``status``, ``wall_seconds``, ``work``. ``without_loops`` says whether the solve that proves the bound did
        without compiled loops.
    """
    import pandas as pd

    under = scenarios if others is None else others
    found = (solve_under_risk(instance, scenarios, risk, **options) for risk in risks)
    return pd.DataFrame([plan_row(instance, under, one, level) for one in found])


def plan_row(instance: Linear, scenarios: Scenarios, found: RiskSolution, level: float) -> dict[str, Any]:
    """Return the row of `compared_plans` for one plan, measured under `scenarios`."""
    row: dict[str, Any] = {"plan": str(found.risk)}
    if found.solution is not None:
        objectives = objectives_of(instance, scenarios, found.solution.schedule)
        row["mean"] = float(scenarios.weights @ objectives)
        row["cvar"] = tail_mean(objectives, scenarios.weights, level)
        row["worst"] = float(objectives.max())
    row |= {"value": found.value, "bound": found.bound, "gap": found.gap}
    row["without_loops"] = found.proof is not None and found.proof.without_loops
    return {**row, "status": str(found.status), "wall_seconds": found.seconds, "work": found.work}

"""`solve_with_review`: starts before a review are decided now, later ones once the scenario is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.interval import Interval
from carbonopt.core.options import Options
from carbonopt.core.ranges import require_number
from carbonopt.core.solution import Solution, relative_gap
from carbonopt.core.status import Status
from carbonopt.evaluate import evaluate
from carbonopt.milp.program import require_memory
from carbonopt.milp.stages import StagedProgram, staged
from carbonopt.problems.mosp.data.fixed import after_review
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.formulation.objective import placement_value, refuse_energy_price
from carbonopt.problems.mosp.formulation.program import MospProgram, build, estimate_size
from carbonopt.solve import solve
from carbonopt.uncertainty.costs import kept_bound, require_mosp
from carbonopt.uncertainty.measures import Budget, CVaR, Expectation, tail_mean
from carbonopt.uncertainty.scenarios import Scenarios


@dataclass(frozen=True, eq=False)
class ReviewedSolution:
    """A plan that is reviewed once, and what is known of its risk.

    Parameters
    ----------
    risk
        The measure that is minimised.
    status
        ``optimal`` if the gap is at most `mip_rel_gap`.
    value
        The measure of the objectives, by the checker's values; None without a plan.
    bound
        Proven: no plan with this review has a smaller one. None where nothing was proven.
    solutions
        One in each scenario, under its signal, checked. What starts before the review is the same in all. Empty
        without a plan.
    """

    risk: Expectation | CVaR
    status: Status
    value: float | None
    bound: float | None
    solutions: tuple[Solution, ...]

    @property
    def gap(self) -> float | None:
        """(value - bound) / value; None where one of them is missing."""
        return relative_gap(self.value, self.bound)


def solve_with_review(
    instance: MospInstance,
    scenarios: Scenarios,
    review_slot: int,
    risk: Expectation | CVaR | None = None,
    *,
    time_limit: float | None = 60.0,
    mip_rel_gap: float = 1e-4,
    seed: int = 0,
    threads: int | None = None,
    solver_options: Mapping[str, Any] | None = None,
) -> ReviewedSolution:
    """Decide the starts before a review, for the least risk if all later ones are decided under the true signal.

    Parameters
    ----------
    instance
        Of `mosp`, under the carbon objective.
    scenarios
        What the carbon signal may be. That of the instance is not used.
    review_slot
        From its beginning on it is known which scenario holds, and jobs that have not begun are decided. Those that
        have begun go on. 0: all is decided then; the number of slots: nothing is.
    risk
        `Expectation`, the default, or `CVaR`.
    time_limit, mip_rel_gap, seed, threads, solver_options
        As in `carbonopt.solve`.

    Raises
    ------
    UnsupportedError
        For another problem, objective or measure: with a budget, the second stage is no linear program.
    InputError
        If the scenarios have other zones or slots.
    TooLargeError
        If the program would not fit into memory.
    """
    chosen = Expectation() if risk is None else risk
    require_mosp(instance)
    refuse_energy_price(instance, "planning with a review")
    if isinstance(chosen, Budget):
        raise UnsupportedError(f"risk {chosen}: must be 'expectation' or 'cvar:0.9' where there is a review")
    require_number("review_slot", review_slot, least=0, most=instance.time.slots, whole=True)
    options = Options(time_limit, mip_rel_gap, 0.0, seed, threads, solver_options=dict(solver_options or {}))
    cases = [scenarios.instance(instance, s) for s in range(len(scenarios))]
    form, both, rounding = _program(instance, cases, scenarios, review_slot, chosen)
    from carbonopt.milp import highs

    ones = len(instance.jobs) * (1 + 2 * len(cases))  # x of each job in each scenario, eta and excess: N each
    result = highs.solve(both.program, options, bound_error=(ones, rounding))
    if result.values is None:
        return ReviewedSolution(chosen, result.status, None, result.bound, ())
    solutions = tuple(
        replace(evaluate(case, form.schedule(result.values[column], case)), method=f"review:{review_slot}")
        for case, column in zip(cases, both.column, strict=True)
    )
    costs = np.array([found.objective for found in solutions], dtype=np.float64)
    level = chosen.level if isinstance(chosen, CVaR) else 0.0
    value = tail_mean(costs, scenarios.weights, level)
    bound = kept_bound(instance, value, result.bound)
    gap = relative_gap(value, bound)
    status = result.status
    if status is Status.OPTIMAL and (gap is None or gap > mip_rel_gap):
        status = Status.FEASIBLE
    return ReviewedSolution(chosen, status, value, bound, solutions)


def _program(
    instance: MospInstance,
    cases: list[MospInstance],
    scenarios: Scenarios,
    review_slot: int,
    risk: Expectation | CVaR,
) -> tuple[MospProgram, StagedProgram, float]:
    """Return the program of one scenario, that of both stages, and how wrong rounding may make a plan's cost."""
    columns, nonzeros = estimate_size(instance)
    count = len(cases)
    require_memory(f"the two-stage program of {instance.name}", count * columns, count * (nonzeros + columns))
    values = [placement_value(case) for case in cases]
    form = build(instance, values[0])
    places = form.placements
    costs = np.tile(form.program.arrays().cost, (count, 1))
    costs[:, form.x.slice] = [value.of(places.job, places.cluster, places.start) for value in values]
    is_now = np.zeros(form.program.columns, dtype=np.bool_)
    is_now[form.x.slice] = places.start < review_slot
    level = risk.level if isinstance(risk, CVaR) else None
    both = staged(form.program, is_now, costs, scenarios.weights, level)
    return form, both, max(float(value.rounding().sum()) for value in values)


def review_values(
    instance: MospInstance, scenarios: Scenarios, review_slot: int, **options: Any
) -> dict[str, Interval]:
    """Return what it is worth to plan for the review, and to know the scenario beforehand: certified intervals.

    Parameters
    ----------
    instance, scenarios, review_slot
        As in `solve_with_review`.
    **options
        Of each solve.

    Returns
    -------
    dict
        ``stochastic_solution``: the expected objective where the plan for the expected signal is followed up to the
        review, and the best is made of the rest, less that of the best first stage. ``perfect_information``: the
        latter, less the mean of the least objective of each scenario. None is below 0. (Birge and Louveaux,
        Introduction to Stochastic Programming, 2011, chapter 4.)
    """
    best = solve_with_review(instance, scenarios, review_slot, **options)
    known = _expected(instance, scenarios, None, 0, options)
    plan = solve(scenarios.instance(instance), **options)
    naive = Interval(None, None)
    if plan.has_solution:
        naive = _expected(instance, scenarios, plan, review_slot, options)
    own = Interval(best.bound, best.value)
    return {
        "stochastic_solution": _difference(naive, own),
        "perfect_information": _difference(own, known),
    }


def _difference(more: Interval, less: Interval) -> Interval:
    least = None if more.least is None or less.most is None else more.least - less.most
    most = None if more.most is None or less.least is None else more.most - less.least
    return Interval(least, most).at_least_zero()


def _expected(
    instance: MospInstance, scenarios: Scenarios, plan: Solution | None, review_slot: int, options: dict[str, Any]
) -> Interval:
    """Return between what the expected least objective lies where each scenario is known from the review on."""
    costs = np.full(len(scenarios), np.nan)
    bounds: FloatArray = np.full(len(scenarios), np.nan)
    for s in range(len(scenarios)):
        case = scenarios.instance(instance, s)
        if plan is not None:
            case = after_review(case, plan.columns or {}, review_slot)
        found = solve(case, **options)
        if found.objective is not None:
            costs[s] = found.objective
        if found.bound is not None:
            bounds[s] = found.bound
    ends = [float(scenarios.weights @ part) for part in (bounds, costs)]
    return Interval(*(None if np.isnan(end) else end for end in ends))

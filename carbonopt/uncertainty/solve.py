"""`solve_under_risk`: one plan for several possible carbon signals, with a proven bound on its measure of risk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.errors import UnsupportedError, one_of, shown
from carbonopt.core.options import Options, TimeLimit, seconds_of
from carbonopt.core.solution import Solution, relative_gap
from carbonopt.core.status import Status
from carbonopt.evaluate import evaluate
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.uncertainty import signals
from carbonopt.uncertainty.costs import Linear, kept_bound, measured, objectives_of, require_linear
from carbonopt.uncertainty.forms import columns_of, risk_form
from carbonopt.uncertainty.measures import Budget, CVaR, Expectation, Risk
from carbonopt.uncertainty.ordinary import solved
from carbonopt.uncertainty.scenarios import Scenarios

if TYPE_CHECKING:
    import pandas as pd


METHODS = ("auto", "whole", "signals")
WHOLE_COLUMNS = 5_000
"""`auto` gives programs of at most so many columns to HiGHS as they are."""
AGAIN = 3
"""Searches for the expectation that go on from the best plan, with other seeds."""
FIRST_SHARE = 0.4
"""Of the time or work, what the first one gets; the others divide the rest."""
START_SHARE = 0.1
"""Of the time or work, what the plan for the expected signal gets, from which HiGHS starts on the whole program."""


@dataclass(frozen=True, eq=False)
class RiskSolution:
    """A plan, and what is known of its risk.

    Parameters
    ----------
    risk
        The measure that is minimised.
    status
        ``optimal`` if the gap is at most `mip_rel_gap`.
    value
        The measure of the plan's objective, by the checker's values; None without a plan.
    bound
        Proven: no plan has a smaller one. None where nothing was proven.
    solution
        The plan, checked under the expected signal; None without one.
    objectives
        Of the plan in each scenario, by the checker, shape (S,).
    seconds, work
        Wall time [s], and the work done [work units].
    signal
        With method ``signals``, and for the expectation: the bound is that of the ordinary instance under this signal
        [g/kWh], shape (Z, T). Else None.
    proof
        The answer for that instance: where it has a certificate, `carbonopt.check` recomputes the bound. Else None.
    """

    risk: Risk
    status: Status
    value: float | None
    bound: float | None
    solution: Solution | None
    objectives: FloatArray
    seconds: float
    work: float = 0.0
    signal: FloatArray | None = None
    proof: Solution | None = None

    @property
    def gap(self) -> float | None:
        """(value - bound) / value; None where one of them is missing."""
        return relative_gap(self.value, self.bound)

    @property
    def schedule(self) -> pd.DataFrame:
        """The plan as a table.

        Raises
        ------
        ValueError
            If there is none.
        """
        if self.solution is None:
            raise ValueError(f"{self.risk} ended {self.status} without a plan")
        return self.solution.schedule


def solve_under_risk(
    instance: Linear,
    scenarios: Scenarios,
    risk: Risk,
    *,
    method: str = "auto",
    time_limit: TimeLimit = "auto",
    work_limit: float | None = None,
    mip_rel_gap: float = 1e-4,
    seed: int = 0,
    threads: int | None = None,
    verbose: bool = False,
    solver_options: Mapping[str, Any] | None = None,
) -> RiskSolution:
    """Decide everything now, for the least risk over the scenarios.

    Parameters
    ----------
    instance
        Of `mosp`, under the carbon objective, or of `elastic`, model ``integer``.
    scenarios
        What the carbon signal may be. That of the instance is not used.
    risk
        `Expectation`, `CVaR` or `Budget`. The objective is linear in the signal, so the expectation is that of the
        expected signal, and `carbonopt.solve` finds it.
    method
        ``whole`` gives the whole program to HiGHS. ``signals`` solves ordinary instances, each under one signal, whose
        bounds hold for the risk (see `carbonopt.uncertainty.signals`). ``auto`` chooses by size. The expectation is one
        ordinary instance with each of them.
    time_limit, work_limit, mip_rel_gap, seed, threads, verbose, solver_options
        As in `carbonopt.solve`.

    Returns
    -------
    RiskSolution
        Its value is that of the checker's objectives. Its bound holds for all plans.

    Raises
    ------
    UnsupportedError
        For another problem or objective, and for an unknown method.
    InputError
        If the scenarios have other zones or slots.
    TooLargeError
        If the program would not fit into memory.
    """
    require_linear(instance)
    if method not in METHODS:
        raise UnsupportedError(f"method {shown(method)}: must be {one_of(METHODS)}")
    seconds = seconds_of(time_limit, work_limit)
    options = Options(seconds, mip_rel_gap, 0.0, seed, threads, verbose, solver_options=dict(solver_options or {}))
    options = replace(options, work_limit=work_limit)
    if isinstance(risk, Expectation):
        return _by_expectation(instance, scenarios, risk, options)
    if method == "signals" or (method == "auto" and columns_of(instance) > WHOLE_COLUMNS):
        return _by_signals(instance, scenarios, risk, options)
    return _whole(instance, scenarios, risk, options)


def _by_expectation(instance: Linear, scenarios: Scenarios, risk: Expectation, options: Options) -> RiskSolution:
    """Solve the ordinary instance; where it is large, then go on from the best plan with other seeds.

    On 200 jobs, 40 units of work in one go left a gap of .56 %, 26 units in four parts one of .37 %.
    """
    case = scenarios.instance(instance)
    is_large = isinstance(instance, MospInstance) and columns_of(instance) > WHOLE_COLUMNS
    again = AGAIN if is_large and options.remaining < np.inf else 0
    best = proof = solved(case, options, FIRST_SHARE if again else 1.0, options.mip_rel_gap)
    status = proof.status
    for number in range(1, again + 1):
        if not best.has_solution or status in (Status.OPTIMAL, Status.INTERRUPTED) or options.remaining <= 0:
            break
        other = replace(options, seed=options.seed + number)
        found = solved(case, other, 1 / (again + 1 - number), options.mip_rel_gap, best)
        status = found.status
        best = min(best, found, key=_objective)
        proof = max(proof, found, key=_bound)
    told = _told(instance, scenarios, risk, status, proof.bound, best if best.has_solution else None, options)
    return replace(told, signal=scenarios.mean, proof=proof)


def _objective(found: Solution) -> float:
    return np.inf if found.objective is None else found.objective


def _bound(found: Solution) -> float:
    return -np.inf if found.bound is None else found.bound


def _whole(instance: Linear, scenarios: Scenarios, risk: CVaR | Budget, options: Options) -> RiskSolution:
    """Give the whole program to HiGHS; where time or work is limited, with the plan for the expected signal."""
    from carbonopt.milp import highs

    expected = scenarios.instance(instance)
    plans = []
    if options.remaining < np.inf:
        first = solved(expected, options, START_SHARE, options.mip_rel_gap)
        plans = [first] if first.has_solution else []
    form = risk_form(expected, scenarios, risk)
    result = highs.solve(
        form.program,
        options,
        start=form.start(plans[0].columns) if plans and plans[0].columns else None,
        schedule_of=form.schedule,
        typical_cost=form.typical_cost,
        bound_error=form.bound_error,
    )
    if result.values is not None:
        plans.append(evaluate(expected, form.schedule(result.values)))
    status = result.status
    if status is Status.INFEASIBLE and plans:  # refuted by the plan at hand
        status = Status.FEASIBLE
    if not plans:
        return _told(instance, scenarios, risk, status, result.bound, None, options)
    plan = min(plans, key=lambda plan: measured(instance, scenarios, plan.schedule, risk))
    return _told(instance, scenarios, risk, status, result.bound, replace(plan, method=str(risk)), options)


def _by_signals(instance: Linear, scenarios: Scenarios, risk: CVaR | Budget, options: Options) -> RiskSolution:
    """Begin with the signal of the relaxation's duals, and search from there."""
    weights, ceiling = relaxed_risk(instance, scenarios, risk, options)
    found = signals.search(instance, scenarios, risk, weights, options, ceiling)
    plan = None
    if found.plan is not None:
        plan = replace(evaluate(scenarios.instance(instance), found.plan.schedule), method=str(risk))
    status = found.status
    if plan is not None and status is not Status.INTERRUPTED:
        status = Status.OPTIMAL if found.closed(options.mip_rel_gap) else Status.FEASIBLE
    told = _told(instance, scenarios, risk, status, found.bound, plan, options)
    return replace(told, signal=found.signal, proof=found.proof)


def relaxed_risk(
    instance: Linear, scenarios: Scenarios, risk: CVaR | Budget, options: Options
) -> tuple[FloatArray | None, float | None]:
    """Return the duals of the rows of the risk in the relaxation, and theta of a budget; None if not solved in time.

    The duals are the best weights for parts of jobs, and nearly the best for whole ones.
    """
    from carbonopt.milp import highs

    form = risk_form(scenarios.instance(instance), scenarios, risk, integer=False)
    share = options.part(signals.LP_SHARE)
    result = highs.solve(form.program, share, lp_solver="ipm", interior_tolerance=signals.LP_TOLERANCE)
    if result.row_dual is None or result.values is None:
        return None, None
    is_tail = isinstance(risk, CVaR)
    unit = form.program.arrays().cost[form.program.block("eta" if is_tail else "protection").start]
    dual = np.abs(result.row_dual[form.program.block("tail" if is_tail else "surplus").slice]) / unit
    if is_tail:
        return dual, None
    theta = float(unit * result.values[form.program.block("theta").start])
    return dual[scenarios.rise.ravel() > 0], theta if theta > 0 else None


def _told(
    instance: Linear,
    scenarios: Scenarios,
    risk: Risk,
    status: Status,
    bound: float | None,
    solution: Solution | None,
    options: Options,
) -> RiskSolution:
    """Return the answer with the checker's values."""
    if solution is None:
        return RiskSolution(risk, status, None, bound, None, np.zeros(0), options.seconds, options.work.units)
    value = measured(instance, scenarios, solution.schedule, risk)
    least = kept_bound(instance, value, bound)
    gap = relative_gap(value, least)
    if status is Status.OPTIMAL and (gap is None or gap > options.mip_rel_gap):
        status = Status.FEASIBLE
    objectives = objectives_of(instance, scenarios, solution.schedule)
    return RiskSolution(risk, status, value, least, solution, objectives, options.seconds, options.work.units)

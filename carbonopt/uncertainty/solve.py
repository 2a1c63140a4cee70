"""`solve_under_risk`: one plan for several possible carbon signals, with a proven bound on its measure of risk."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.instance import Instance
from carbonopt.core.options import Options
from carbonopt.core.solution import Solution, relative_gap
from carbonopt.core.status import Status
from carbonopt.evaluate import evaluate
from carbonopt.problems.mosp.data.instance import CarbonObjective, MospInstance
from carbonopt.problems.mosp.formulation import risk as rows
from carbonopt.problems.mosp.formulation.objective import placement_value, refuse_energy_price
from carbonopt.problems.mosp.formulation.program import MospProgram, build
from carbonopt.solve import solve
from carbonopt.uncertainty.measures import Budget, CVaR, Expectation, Risk, largest_sum, tail_mean
from carbonopt.uncertainty.scenarios import Scenarios

if TYPE_CHECKING:
    import pandas as pd


ENTRY_ROUNDINGS = 16
"""Of an entry of the budget's rows, and of adding it to the others of a plan."""
REFUTED = 1e-6
"""By how much a plan may be below a bound for rounding, relative."""


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
    seconds
        Wall time [s].
    """

    risk: Risk
    status: Status
    value: float | None
    bound: float | None
    solution: Solution | None
    objectives: FloatArray
    seconds: float

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


def objectives_of(instance: MospInstance, scenarios: Scenarios, schedule: Any) -> FloatArray:
    """Return the checker's objective of a schedule in each scenario, shape (S,).

    Raises
    ------
    InputError
        If the schedule violates a constraint.
    """
    found = [evaluate(scenarios.instance(instance, s), schedule).objective for s in range(len(scenarios))]
    return np.array(found, dtype=np.float64)


def measured(instance: MospInstance, scenarios: Scenarios, schedule: Any, risk: Risk) -> float:
    """Return the measure of risk of a schedule, from the checker's objectives.

    A budget needs the energy by zone and slot besides, which is added up job by job.
    """
    if isinstance(risk, CVaR):
        return tail_mean(objectives_of(instance, scenarios, schedule), scenarios.weights, risk.level)
    expected = evaluate(scenarios.instance(instance), schedule).objective
    assert expected is not None
    if isinstance(risk, Expectation):
        return expected
    weight = _objective(instance).carbon_kg
    rises = _energy(instance, schedule) * scenarios.rise / 1000
    return expected + weight * largest_sum(rises, risk.pairs)


def solve_under_risk(
    instance: MospInstance,
    scenarios: Scenarios,
    risk: Risk,
    *,
    time_limit: float | None = 60.0,
    mip_rel_gap: float = 1e-4,
    seed: int = 0,
    threads: int | None = None,
    verbose: bool = False,
    solver_options: Mapping[str, Any] | None = None,
) -> RiskSolution:
    """Decide all starts now, for the least risk over the scenarios.

    Parameters
    ----------
    instance
        Of `mosp`, under the carbon objective.
    scenarios
        What the carbon signal may be. That of the instance is not used.
    risk
        `Expectation`, `CVaR` or `Budget`. The objective is linear in the signal, so the expectation is that of the
        expected signal, and `carbonopt.solve` finds it.
    time_limit, mip_rel_gap, seed, threads, verbose, solver_options
        As in `carbonopt.solve`.

    Returns
    -------
    RiskSolution
        Its value is that of the checker's objectives, its bound that of the whole program.

    Raises
    ------
    UnsupportedError
        For another problem or objective.
    InputError
        If the scenarios have other zones or slots.
    TooLargeError
        If the program would not fit into memory.
    """
    _objective(instance)
    refuse_energy_price(instance, "planning under risk")
    options = Options(time_limit, mip_rel_gap, 0.0, seed, threads, verbose, solver_options=dict(solver_options or {}))
    expected = scenarios.instance(instance)
    if isinstance(risk, Expectation):
        found = solve(expected, time_limit=time_limit, mip_rel_gap=mip_rel_gap, seed=seed, threads=threads)
        known = found if found.has_solution else None
        return _told(instance, scenarios, risk, found.status, found.bound, known, options)
    from carbonopt.milp import highs
    from carbonopt.problems.mosp.methods.bounds import typical_cost

    form, largest, rounding = _program(expected, scenarios, risk)
    result = highs.solve(
        form.program,
        options,
        schedule_of=lambda values: form.schedule(values, expected),
        typical_cost=typical_cost(expected, placement_value(expected)),
        bound_error=(int(np.ceil(len(instance.jobs) + largest)), rounding),
    )
    solution = None
    if result.values is not None:
        solution = replace(evaluate(expected, form.schedule(result.values, expected)), method=str(risk))
    return _told(instance, scenarios, risk, result.status, result.bound, solution, options)


def _program(expected: MospInstance, scenarios: Scenarios, risk: CVaR | Budget) -> tuple[MospProgram, float, float]:
    """Return the program, what its added columns add up to at most, and by how much rounding may falsify a plan's cost.

    A tail mean is as wrong as its worst scenario at most. Of a budget, the entries of the rows have a few roundings
    each, and the expected carbon those of `PlacementValue`.
    """
    if isinstance(risk, CVaR):
        form = rows.build_certain(expected)
        cases = [scenarios.instance(expected, s) for s in range(len(scenarios))]
        costs = np.array([rows.carbon_cost(form, case) for case in cases])
        largest = rows.add_tail(form, costs, scenarios.weights, risk.level)
        return form, largest, max(float(placement_value(case).rounding().sum()) for case in cases)
    value = placement_value(expected)
    form = build(expected, value)
    largest = rows.add_budget(form, expected, scenarios.rise, risk.pairs)
    rises = float(rows.kg_per_g(expected).max(initial=0.0) * scenarios.rise.max(initial=0.0))
    steps = ENTRY_ROUNDINGS * np.finfo(np.float64).eps * float(expected.jobs.duration.sum())
    return form, largest, float(value.rounding().sum()) + steps * rises


def _told(
    instance: MospInstance,
    scenarios: Scenarios,
    risk: Risk,
    status: Status,
    bound: float | None,
    solution: Solution | None,
    options: Options,
) -> RiskSolution:
    """Return the answer with the checker's values.

    A bound that the plan beats by rounding is cut to its value. One that it beats by more is false, and is not stated.
    """
    if solution is None:
        return RiskSolution(risk, status, None, bound, None, np.zeros(0), options.seconds)
    value = measured(instance, scenarios, solution.schedule, risk)
    least = None if bound is None else min(bound, value)
    if bound is not None and bound - value > REFUTED * abs(value):
        warnings.warn(f"{instance.name}: the bound {bound:.9g} does not hold: a plan has {value:.9g}", stacklevel=3)
        least = None
    gap = relative_gap(value, least)
    if status is Status.OPTIMAL and (gap is None or gap > options.mip_rel_gap):
        status = Status.FEASIBLE
    objectives = objectives_of(instance, scenarios, solution.schedule)
    return RiskSolution(risk, status, value, least, solution, objectives, options.seconds)


def require_mosp(instance: Instance) -> MospInstance:
    """Return the instance if it is one of `mosp` under the carbon objective.

    Raises
    ------
    UnsupportedError
        If it is not.
    """
    if not isinstance(instance, MospInstance) or not isinstance(instance.objective, CarbonObjective):
        raise UnsupportedError(f"{instance.name}: must be of problem mosp, under the carbon objective")
    return instance


def _objective(instance: MospInstance) -> CarbonObjective:
    objective = require_mosp(instance).objective
    assert isinstance(objective, CarbonObjective)
    return objective


def _energy(instance: MospInstance, schedule: Any) -> FloatArray:
    """Return the energy of a schedule by zone and slot [kWh], shape (Z, T), added up job by job."""
    kwh = np.zeros(instance.carbon.g_per_kwh.shape)
    job_of = {name: number for number, name in enumerate(instance.jobs.name)}
    cluster_of = {name: number for number, name in enumerate(instance.clusters.name)}
    for name, cluster, start in zip(schedule["job"], schedule["cluster"], schedule["start"], strict=True):
        job, place = job_of[name], cluster_of[cluster]
        watts = float(instance.jobs.demand[job] @ instance.clusters.watts_per_unit[place])
        end = int(start) + int(instance.jobs.duration[job])
        kwh[instance.zone_of_cluster[place], int(start) : end] += watts / 1000 * instance.time.slot_hours
    return kwh

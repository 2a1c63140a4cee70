"""The whole program of a risk, for each problem that has one, with what its bound needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.options import Schedule
from carbonopt.milp.program import Program
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.formulation import program as elastic_program
from carbonopt.problems.elastic.formulation import risk as elastic_rows
from carbonopt.problems.elastic.methods import milp as elastic_milp
from carbonopt.problems.elastic.methods.bounds import unit_rounding
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.formulation import program as mosp_program
from carbonopt.problems.mosp.formulation import risk as mosp_rows
from carbonopt.problems.mosp.formulation.objective import placement_value
from carbonopt.problems.mosp.methods import milp as mosp_milp
from carbonopt.problems.mosp.methods.bounds import typical_cost
from carbonopt.problems.mosp.methods.partial_schedule import PartialSchedule
from carbonopt.uncertainty.costs import Linear
from carbonopt.uncertainty.measures import Budget, CVaR
from carbonopt.uncertainty.scenarios import Scenarios

ENTRY_ROUNDINGS = 16
"""Of an entry of the budget's rows, and of adding it to the others of a plan."""


@dataclass(frozen=True, eq=False)
class RiskForm:
    """A whole program.

    Parameters
    ----------
    program
        With all rows.
    schedule
        Makes the schedule of the columns' values.
    start
        Makes the values of the columns of placements from a schedule. HiGHS completes those of the risk.
    bound_error
        As `carbonopt.milp.highs.solve` takes it: what the columns add up to at most in an optimum, and by how much
        rounding may falsify a plan's cost. A tail mean is as wrong as its worst scenario at most. Of a budget, the
        entries of the rows have a few roundings each.
    typical_cost
        As `carbonopt.milp.highs.solve` takes it.
    """

    program: Program
    schedule: Callable[[FloatArray], Schedule]
    start: Callable[[Schedule], FloatArray]
    bound_error: tuple[int, float]
    typical_cost: float | None = None


def columns_of(instance: Linear) -> int:
    """Return how many columns the program of one scenario has at most."""
    if isinstance(instance, MospInstance):
        return mosp_program.estimate_size(instance)[0]
    return elastic_program.estimate_size(instance)[0]


def risk_form(expected: Linear, scenarios: Scenarios, risk: CVaR | Budget, integer: bool = True) -> RiskForm:
    """Return the whole program, relaxed if not `integer`; the instance has the expected signal."""
    if isinstance(expected, MospInstance):
        return _mosp(expected, scenarios, risk, integer)
    return _elastic(expected, scenarios, risk, integer)


def _mosp(expected: MospInstance, scenarios: Scenarios, risk: CVaR | Budget, integer: bool) -> RiskForm:
    value = placement_value(expected)
    if isinstance(risk, CVaR):
        form = mosp_rows.build_certain(expected, integer)
        cases = [scenarios.instance(expected, s) for s in range(len(scenarios))]
        costs = np.array([mosp_rows.carbon_cost(form, case) for case in cases])
        largest = mosp_rows.add_tail(form, costs, scenarios.weights, risk.level)
        rounding = max(float(placement_value(case).rounding().sum()) for case in cases)
    else:
        form = mosp_program.build(expected, value, integer)
        largest = mosp_rows.add_budget(form, expected, scenarios.rise, risk.pairs)
        rises = float(mosp_rows.kg_per_g(expected).max(initial=0.0) * scenarios.rise.max(initial=0.0))
        steps = ENTRY_ROUNDINGS * np.finfo(np.float64).eps * float(expected.jobs.duration.sum())
        rounding = float(value.rounding().sum()) + steps * rises
    ones = int(np.ceil(len(expected.jobs) + largest))
    return RiskForm(
        form.program,
        lambda values: form.schedule(values, expected),
        lambda schedule: mosp_milp.column_values(form, PartialSchedule.of(expected, value, schedule)),
        (ones, rounding),
        typical_cost(expected, value),
    )


def _elastic(expected: ElasticInstance, scenarios: Scenarios, risk: CVaR | Budget, integer: bool) -> RiskForm:
    """All N units may be on, each at most 1 unit of cost: eta, excess and theta are at most N, as is protection."""
    if isinstance(risk, CVaR):
        form = elastic_rows.with_tail(expected, scenarios.g_per_kwh, scenarios.weights, risk.level, integer)
        cases = [scenarios.instance(expected, s) for s in range(len(scenarios))]
        ones = len(form.job) * (2 + len(cases))
        rounding = max(unit_rounding(case) for case in cases)
    else:
        form = elastic_rows.with_budget(expected, scenarios.rise, risk.pairs, integer)
        ones = 3 * len(form.job)
        risen = scenarios.under(expected, scenarios.mean + scenarios.rise)
        rounding = ENTRY_ROUNDINGS * unit_rounding(risen)
    return RiskForm(
        form.program,
        lambda values: form.schedule(values, expected),
        lambda schedule: elastic_milp.column_values(form, expected, schedule),
        (ones, rounding),
    )

"""The whole program starts from the plan for the expected signal, where time or work is limited."""

from __future__ import annotations

import numpy as np
import pytest

import carbonopt as co
from carbonopt.core.options import Options
from carbonopt.milp import highs
from carbonopt.uncertainty import solve
from carbonopt.uncertainty.costs import Linear, measured
from carbonopt.uncertainty.forms import risk_form
from carbonopt.uncertainty.measures import Budget, CVaR, Expectation
from carbonopt.uncertainty.scenarios import Scenarios
from carbonopt.uncertainty.solve import solve_under_risk

RISKS = [CVaR(0.75), Budget(2)]


def case(problem: str) -> tuple[Linear, Scenarios]:
    if problem == "mosp":
        instance = co.generate("mosp", preset="bench", jobs=14, clusters=2, slots=18, seed=3)
    else:
        instance = co.generate("elastic", jobs=4, arrival_hours=6, capacity=6, seed=3)
    signal = instance.carbon.g_per_kwh
    errors = np.random.default_rng(3).uniform(0.5, 1.5, (8, *signal.shape))
    return instance, Scenarios(instance.carbon.zones, signal * errors)


@pytest.mark.parametrize("risk", RISKS, ids=str)
@pytest.mark.parametrize("problem", ["mosp", "elastic"])
def test_highs_completes_the_columns_of_a_plan(problem: str, risk: CVaR | Budget) -> None:
    instance, scenarios = case(problem)
    plan = co.solve(scenarios.instance(instance), work_limit=0.3)
    form = risk_form(scenarios.instance(instance), scenarios, risk)
    start = form.start(plan.columns)
    assert co.evaluate(scenarios.instance(instance), form.schedule(start)).schedule.equals(plan.schedule)
    nothing = {"mip_max_nodes": 0, "mip_heuristic_effort": 0.0, "presolve": "off"}
    found = highs.solve(form.program, Options(None, solver_options=nothing), start=start)
    assert found.values is not None
    value = measured(instance, scenarios, plan.schedule, risk)
    assert found.objective <= value * (1 + 1e-9)


@pytest.mark.parametrize("risk", RISKS, ids=str)
@pytest.mark.parametrize("problem", ["mosp", "elastic"])
def test_a_plan_is_no_worse_than_that_for_the_expected_signal(
    problem: str, risk: CVaR | Budget, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance, scenarios = case(problem)
    monkeypatch.setattr(solve, "START_SHARE", 0.9)
    found = solve_under_risk(instance, scenarios, risk, method="whole", work_limit=0.1)
    known = solve_under_risk(instance, scenarios, Expectation(), work_limit=0.09)
    assert found.value <= measured(instance, scenarios, known.schedule, risk) * (1 + 1e-12)

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
from carbonopt.uncertainty.ordinary import solved
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


def test_the_expectation_goes_on_from_the_best_plan_with_other_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = co.generate("mosp", preset="bench", jobs=70, clusters=3, slots=30, seed=4)
    factors = np.random.default_rng(3).uniform(0.5, 1.5, (4, *instance.carbon.g_per_kwh.shape))
    scenarios = Scenarios(instance.carbon.zones, instance.carbon.g_per_kwh * factors)
    monkeypatch.setattr(solve, "WHOLE_COLUMNS", 100)
    answers: list[co.Solution] = []
    monkeypatch.setattr(solve, "solved", lambda *given: answers.append(solved(*given)) or answers[-1])
    found = solve_under_risk(instance, scenarios, Expectation(), work_limit=1.0, mip_rel_gap=0.0)
    assert len(answers) == 1 + solve.AGAIN
    values = [plan.objective for plan in answers]
    assert found.value == pytest.approx(min(values), rel=1e-12)
    assert all(later <= min(values[:k]) for k, later in enumerate(values) if k)
    assert found.bound == pytest.approx(max(plan.bound for plan in answers), rel=1e-12)
    assert found.proof.bound == max(plan.bound for plan in answers)
    assert co.check(scenarios.instance(instance), found.proof).violations == ()

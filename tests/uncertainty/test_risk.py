"""Plans under risk: by hand, against enumeration and CVXPY, and what must hold of any plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, load_module
from risk_support import random_case

import carbonopt as co
from carbonopt.core.errors import InputError, UnsupportedError
from carbonopt.forecasts.archive import ForecastArchive
from carbonopt.lessons.instances import small
from carbonopt.problems.mosp.data.file import from_dict
from carbonopt.uncertainty.costs import measured, objectives_of
from carbonopt.uncertainty.measures import Budget, CVaR, Expectation, Risk, largest_sum, risk_of, tail_mean
from carbonopt.uncertainty.scenarios import Scenarios
from carbonopt.uncertainty.solve import solve_under_risk
from carbonopt.uncertainty.value import compared_plans, perfect_information, stochastic_solution

EXACT: dict[str, Any] = {"time_limit": None, "mip_rel_gap": 0.0}


@pytest.fixture(scope="module")
def reference() -> Any:
    return load_module(ROOT / "tests" / "reference" / "brute_force_risk.py")


def by_hand() -> tuple[co.MospInstance, Scenarios]:
    """Return one hour of work, and three hours: sure and fair, good on average and bad at worst, bad."""
    instance = small("hand", [0, 0, 0], 1, {"a": (0, 1, 1)})
    return instance, Scenarios(("DE",), [[[300, 100, 500]], [[300, 450, 500]]])


def test_the_mean_takes_the_gamble_and_the_tail_does_not() -> None:
    instance, scenarios = by_hand()
    mean = solve_under_risk(instance, scenarios, Expectation(), **EXACT)
    tail = solve_under_risk(instance, scenarios, CVaR(0.5), **EXACT)
    budget = solve_under_risk(instance, scenarios, Budget(1), **EXACT)
    for found, start, value in ((mean, 1, 0.275), (tail, 0, 0.3), (budget, 0, 0.3)):
        assert found.schedule["start"].tolist() == [start]
        assert (found.value, found.bound) == (pytest.approx(value), pytest.approx(value))
    known = perfect_information(instance, scenarios, **EXACT)
    assert (known.least, known.most) == (pytest.approx(0.075), pytest.approx(0.075))  # .275 - (.1 + .3) / 2
    saved = stochastic_solution(instance, scenarios, tail, **EXACT)
    assert (saved.least, saved.most) == (pytest.approx(0.15), pytest.approx(0.15))  # .45 - .3


def agree(seed: int, reference: Any) -> None:
    raw, signals = random_case(seed)
    instance = from_dict(raw)
    scenarios = Scenarios(instance.carbon.zones, signals)
    level, pairs = (0.0, 0.5, 0.8)[seed % 3], seed % 4
    for risk, right in (
        (CVaR(level), reference.least_tail(raw, signals, level)),
        (Budget(pairs), reference.least_budget(raw, signals, pairs)),
    ):
        found = solve_under_risk(instance, scenarios, risk, **EXACT)
        if right is None:
            assert found.status == "infeasible"
            continue
        assert found.value == pytest.approx(right, rel=1e-6, abs=1e-9), (seed, risk)
        assert found.bound is not None
        assert found.bound <= right * (1 + 1e-9) + 1e-12
        assert found.bound == pytest.approx(right, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_the_program_is_the_enumeration(seed: int, reference: Any) -> None:
    agree(seed, reference)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(100, 200, 10))
def test_the_program_is_the_enumeration_on_ten_instances(reference: Any, first: int) -> None:
    for seed in range(first, first + 10):
        agree(seed, reference)


@pytest.mark.slow
def test_the_program_is_that_of_cvxpy() -> None:
    pytest.importorskip("cvxpy")
    model = load_module(ROOT / "models" / "mosp_risk_cvxpy.py")
    for seed in range(0, 100, 4):
        raw, signals = random_case(seed)
        instance = from_dict(raw)
        scenarios = Scenarios(instance.carbon.zones, signals)
        for risk, asked in ((CVaR(0.6), {"level": 0.6}), (Budget(1.5), {"pairs": 1.5})):
            right = model.solve(raw, signals, **asked)
            found = solve_under_risk(instance, scenarios, risk, **EXACT)
            assert (found.value is None) == (right is None), (seed, risk)
            assert right is None or found.value == pytest.approx(right, rel=1e-5, abs=1e-7), (seed, risk)


@pytest.mark.parametrize("risk", [CVaR(1 - 1e-12), Budget(1e300), Budget(6.5)])
def test_a_measure_at_its_end_is_that_of_the_worst_intensities(risk: Risk, recwarn: Any) -> None:
    # the worst scenario has all that a budget can raise: slots at 300, 450 and 500
    instance, scenarios = by_hand()
    for method in ("whole", "signals"):
        found = solve_under_risk(instance, scenarios, risk, method=method, **EXACT)
        assert (found.value, found.bound) == (pytest.approx(0.3), pytest.approx(0.3))
    assert not recwarn.list, "no coefficient is larger than it need be"


@pytest.mark.parametrize("pairs", [5, 5.5, 1e9])
def test_a_budget_of_all_pairs_is_the_worst_signal_in_the_second_statement_too(pairs: float) -> None:
    pytest.importorskip("cvxpy")
    raw, signals = random_case(4)
    highest = np.max(signals, axis=0)
    assert highest.size == 5
    model = load_module(ROOT / "models" / "mosp_risk_cvxpy.py")
    assert model.solve(raw, signals, pairs=pairs) == pytest.approx(model.solve(raw, [highest], level=0.5))
    model = load_module(ROOT / "models" / "elastic_cvxpy.py")
    raw = load_module(ROOT / "tests" / "reference" / "brute_force_elastic.py").random_instance(0, "unit", jobs=2)
    low = np.array(raw["carbon"]["g_per_kwh"])
    assert low.shape[1] == 5, "the cluster is in one zone"
    worst = model.least_risk(raw, [1.5 * low], level=0.5)
    assert worst is not None
    assert model.least_risk(raw, [low, 1.5 * low], pairs=pairs) == pytest.approx(worst)


def test_rounded_probabilities_make_no_information_worth_anything() -> None:
    # three equal signals: to know which of them comes saves nothing, whatever the sure cost is
    instance, _ = by_hand()
    dear = replace(instance, objective=replace(instance.objective, completion_slots=1e6))
    same = Scenarios(("DE",), [[[300, 100, 500]]] * 3, (0.333333333,) * 3)
    assert same.weights.tolist() == [1 / 3] * 3
    known = perfect_information(dear, same, **EXACT)
    assert known.least == pytest.approx(0, abs=1e-9)


def case() -> tuple[co.MospInstance, Scenarios]:
    instance = co.generate("mosp", preset="bench", jobs=12, clusters=3, slots=16, seed=2)
    rng = np.random.default_rng(1)
    signal = instance.carbon.g_per_kwh
    return instance, Scenarios(instance.carbon.zones, signal * rng.uniform(0.5, 1.5, (8, *signal.shape)))


def test_no_plan_is_better_in_its_own_measure_than_the_one_made_for_it() -> None:
    instance, scenarios = case()
    risks = (Expectation(), CVaR(0.75), Budget(4))
    found = {risk: solve_under_risk(instance, scenarios, risk, time_limit=None) for risk in risks}
    for risk, own in found.items():
        assert own.bound is not None
        for other in found.values():
            assert measured(instance, scenarios, other.schedule, risk) >= own.bound * (1 - 1e-9)


def test_cvar_at_level_0_and_an_empty_budget_are_the_expectation() -> None:
    instance, scenarios = case()
    plan = co.solve(scenarios.instance(instance), time_limit=None).schedule
    expected = measured(instance, scenarios, plan, Expectation())
    assert measured(instance, scenarios, plan, CVaR(0.0)) == pytest.approx(expected)
    assert measured(instance, scenarios, plan, Budget(0)) == pytest.approx(expected)
    assert scenarios.weights @ objectives_of(instance, scenarios, plan) == pytest.approx(expected)


def test_a_table_measures_plans_under_scenarios_that_they_did_not_know() -> None:
    instance, scenarios = case()
    table = compared_plans(instance, scenarios, [Expectation(), CVaR(0.75)], others=scenarios, time_limit=None)
    assert table["cvar"].iloc[1] <= table["cvar"].iloc[0] + 1e-9
    assert (table["worst"] >= table["cvar"]).all()
    assert (table["cvar"] >= table["mean"]).all()


def test_a_bound_that_the_plan_refutes_is_not_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    from carbonopt.milp import highs

    instance, scenarios = by_hand()
    solved = highs.solve
    monkeypatch.setattr(highs, "solve", lambda *a, **k: replace(solved(*a, **k), bound=0.4))
    with pytest.warns(UserWarning, match="does not hold"):
        found = solve_under_risk(instance, scenarios, CVaR(0.5), **EXACT)
    assert (found.value, found.bound, found.status) == (pytest.approx(0.3), None, "feasible")


def test_measures_of_numbers() -> None:
    share = np.array([0.1, 0.6, 0.3])
    assert tail_mean([10, 1, 2], share, 0.8) == pytest.approx((0.1 * 10 + 0.1 * 2) / 0.2)
    assert largest_sum([[1, 2], [3, 0]], 0) == 0
    assert [str(risk_of(text)) for text in ("expectation", "cvar:0.5", "budget:2", "cvar")] == [
        "expectation", "cvar:0.5", "budget:2", "cvar:0.9",
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["", "mean", "cvar:1", "cvar:nan", "cvar:-0.1", "budget:-1", "budget:inf", "cvar:x"])
def test_a_measure_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UnsupportedError, match="must be"):
        risk_of(text)


@pytest.mark.parametrize(
    ("values", "probability", "words"),
    [
        ([[[1, -2]]], None, "g_per_kwh"),
        ([[[1, np.nan]]], None, "g_per_kwh"),
        ([[[1, np.inf]]], None, "g_per_kwh"),
        ([], None, "at least one of each"),
        ([[[1], [2]]], None, "1 zones"),
        ([[[1]], [[2]]], [0.5, 0.6], "add up to 1"),
        ([[[1]], [[2]]], [1.5, -0.5], "at least 0"),
        ([[[1]], [[2]]], [1.0], "must be 2 numbers"),
    ],
)
def test_scenarios_that_are_none_are_refused(values: Any, probability: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Scenarios(("DE",), values, probability)


def archive(zone: str = "DE", issued: int = 0, members: int = 2, slots: int = 3) -> ForecastArchive:
    instance = by_hand()[0]
    values = np.arange(1.0, 1 + members * slots).reshape(1, members, slots)
    return ForecastArchive(zone, instance.time, np.array([issued]), values)


def test_the_members_of_an_archive_are_scenarios() -> None:
    instance = by_hand()[0]
    assert Scenarios.of_archives(instance, [archive()]).g_per_kwh.tolist() == [[[1, 2, 3]], [[4, 5, 6]]]
    for given, words in (
        (archive("FR"), "none of 'DE'"),
        (archive(slots=2), "ends too early"),
        (archive(issued=1, slots=2), "after the decision"),
    ):
        with pytest.raises(InputError, match=words):
            Scenarios.of_archives(instance, [given])


def test_another_problem_objective_or_grid_is_refused() -> None:
    instance, scenarios = by_hand()
    with pytest.raises(UnsupportedError, match="problem mosp"):
        solve_under_risk(co.generate("ecas", jobs=3, machines=1), scenarios, CVaR())
    with pytest.raises(UnsupportedError, match="carbon objective"):
        solve_under_risk(co.generate("mosp", jobs=3, objective="caspian"), scenarios, CVaR())
    with pytest.raises(InputError, match="and 3 slots"):
        solve_under_risk(instance, Scenarios(("DE",), [[[1, 2]]]), CVaR())

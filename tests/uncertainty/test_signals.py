"""Plans under risk by single signals: against enumeration, and the proof of the bound."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, load_module
from risk_support import random_case

import carbonopt as co
from carbonopt.core.errors import UnsupportedError
from carbonopt.problems.mosp.data.file import from_dict
from carbonopt.uncertainty.measures import Budget, CVaR, Risk
from carbonopt.uncertainty.scenarios import Scenarios
from carbonopt.uncertainty.signals import SignalSet
from carbonopt.uncertainty.solve import solve_under_risk


def assert_holds(seed: int, reference: Any) -> None:
    raw, signals = random_case(seed)
    instance = from_dict(raw)
    scenarios = Scenarios(instance.carbon.zones, signals)
    for risk, least in (
        (CVaR(0.5), reference.least_tail(raw, signals, 0.5)),
        (Budget(2), reference.least_budget(raw, signals, 2)),
    ):
        found = solve_under_risk(instance, scenarios, risk, method="signals", time_limit=None, mip_rel_gap=0.0)
        if least is None:
            assert found.status == "infeasible"
            continue
        assert found.bound is not None
        assert found.value is not None
        assert found.bound <= least * (1 + 1e-12) + 1e-15, (seed, risk)
        assert found.value >= least * (1 - 1e-12) - 1e-15, (seed, risk)


@pytest.mark.parametrize("seed", range(3))
def test_no_enumerated_plan_is_below_the_bound(seed: int) -> None:
    assert_holds(seed, load_module(ROOT / "tests" / "reference" / "brute_force_risk.py"))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(100, 200, 10))
def test_no_enumerated_plan_is_below_the_bound_on_ten_instances(first: int) -> None:
    reference = load_module(ROOT / "tests" / "reference" / "brute_force_risk.py")
    for seed in range(first, first + 10):
        assert_holds(seed, reference)


def test_a_signal_whose_plan_has_no_bound_leaves_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    raw, drawn = random_case(4)
    instance = from_dict(raw)
    scenarios = Scenarios(instance.carbon.zones, drawn)
    without = {"bound": None, "certificate": None}
    monkeypatch.setattr("carbonopt.uncertainty.ordinary.solve", lambda *a, **k: replace(co.solve(*a, **k), **without))
    found = solve_under_risk(instance, scenarios, CVaR(0.5), method="signals", time_limit=None)
    assert (found.status, found.bound) == ("feasible", None)
    assert found.value is not None


@pytest.mark.parametrize("risk", [CVaR(0.7), Budget(1.5)])
def test_the_bound_is_that_of_one_ordinary_instance(risk: Risk) -> None:
    instance = co.generate("mosp", preset="bench", jobs=8, clusters=2, slots=12, seed=2)
    signal = instance.carbon.g_per_kwh
    scenarios = Scenarios(
        instance.carbon.zones, signal * np.random.default_rng(1).uniform(0.5, 1.5, (4, *signal.shape))
    )
    found = solve_under_risk(instance, scenarios, risk, method="signals", time_limit=None)
    whole = solve_under_risk(instance, scenarios, risk, method="whole", time_limit=None)
    assert found.signal is not None
    assert found.bound is not None
    assert whole.value is not None
    alone = co.solve(scenarios.under(instance, found.signal), time_limit=None)
    assert alone.objective is not None
    assert found.bound <= alone.objective * (1 + 1e-9)
    assert found.bound <= whole.value * (1 + 1e-9)
    assert found.bound == pytest.approx(whole.value, rel=0.02)


def test_a_signal_is_never_above_one_of_the_set() -> None:
    """Weights that a solver has put over their limits are cut, and rounding lowers the signal."""
    scenarios = Scenarios(("DE",), np.random.default_rng(3).uniform(0, 1e4, (7, 1, 9)))
    signals = SignalSet.of(scenarios, CVaR(0.5))
    weight = signals.within(np.full(7, 0.3))
    assert weight.sum() <= 1 + 1e-15
    exact = [sum(float(w) * float(g) for w, g in zip(weight, row, strict=True)) for row in scenarios.g_per_kwh[:, 0].T]
    assert (signals.signal(np.full(7, 0.3))[0] < exact).all()
    assert signals.signal(np.full(7, 0.3))[0] == pytest.approx(exact, rel=1e-13)


def test_where_nothing_can_rise_the_bound_is_that_of_what_is_certain() -> None:
    """All scenarios have a clean grid: the budget has no pair, and lateness is left."""
    raw, _ = random_case(10024)
    instance = from_dict(raw)
    clean = np.zeros((3, *instance.carbon.g_per_kwh.shape))
    least = load_module(ROOT / "tests" / "reference" / "brute_force_risk.py").least_tail(raw, clean.tolist(), 0.0)
    scenarios = Scenarios(instance.carbon.zones, clean)
    found = solve_under_risk(instance, scenarios, Budget(1.8), method="signals", work_limit=0.1, mip_rel_gap=0.0)
    assert found.bound is not None
    assert found.bound <= least * (1 + 1e-12)
    assert found.value == pytest.approx(least, rel=1e-9)


def test_an_unknown_method_is_refused() -> None:
    instance = co.generate("mosp", preset="bench", jobs=3, clusters=2, slots=12, seed=2)
    with pytest.raises(UnsupportedError, match="must be 'auto'"):
        solve_under_risk(
            instance, Scenarios(instance.carbon.zones, instance.carbon.g_per_kwh[None]), CVaR(), method="x"
        )

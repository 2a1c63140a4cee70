"""Elastic plans under risk: against enumeration, CVXPY, and the search by signals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from conftest import ROOT, load_module

import carbonopt as co
from carbonopt.core.errors import UnsupportedError
from carbonopt.problems.elastic.data.file import from_dict
from carbonopt.uncertainty.measures import Budget, CVaR, Expectation, largest_sum, tail_mean
from carbonopt.uncertainty.scenarios import Scenarios
from carbonopt.uncertainty.solve import solve_under_risk

EXACT: dict[str, Any] = {"time_limit": None, "mip_rel_gap": 0.0}
KINDS = ("unit", "decreasing", "general", "switching")


@pytest.fixture(scope="module")
def reference() -> Any:
    return load_module(ROOT / "tests" / "reference" / "brute_force_elastic.py")


def least_of(reference: Any, raw: dict[str, Any], signals: np.ndarray, level: float, pairs: int) -> list[float] | None:
    """Return the least mean, CVaR and worst case of a budget over all schedules."""
    mean = signals.mean(axis=0)
    risen = np.tile(mean, (mean.size, 1, 1))
    place = np.arange(mean.size)
    risen.reshape(mean.size, -1)[place, place] = signals.max(axis=0).ravel()
    costs = reference.every_cost(raw, [*signals.tolist(), mean.tolist(), *risen.tolist()])
    if not costs:
        return None
    count = len(signals)
    share = np.full(count, 1 / count)
    return [
        min(one[count] for one in costs),
        min(tail_mean(one[:count], share, level) for one in costs),
        min(one[count] + largest_sum(np.array(one[count + 1 :]) - one[count], pairs) for one in costs),
    ]


def agree(reference: Any, seed: int, model: Any = None) -> None:
    kind = KINDS[seed % 4]
    raw = reference.random_instance(seed, kind, jobs=2, slots=5 if kind == "switching" else None)
    base = np.array(raw["carbon"]["g_per_kwh"])
    signals = base * np.random.default_rng(seed).uniform(0.3, 1.7, (3, *base.shape))
    instance = from_dict(raw)
    scenarios = Scenarios(instance.carbon.zones, signals)
    level, pairs = (0.5, 0.8)[seed % 2], seed % 3
    least = least_of(reference, raw, signals, level, pairs)
    for number, risk in enumerate((Expectation(), CVaR(level), Budget(pairs))):
        found = solve_under_risk(instance, scenarios, risk, **EXACT)
        if least is None:
            assert found.status == "infeasible"
            continue
        right = least[number]
        assert found.value == pytest.approx(right, rel=1e-7, abs=1e-6), (seed, risk)
        assert found.bound is not None
        assert found.bound <= right * (1 + 1e-12)
        assert found.bound == pytest.approx(right, rel=1e-5, abs=1e-3)
        if number and model is not None:
            other = solve_under_risk(instance, scenarios, risk, method="signals", **EXACT)
            assert other.bound is None or other.bound <= right * (1 + 1e-12), (seed, risk)
        if model is not None and kind != "switching":
            asked = {"pairs": pairs} if number == 2 else {"level": level if number else 0.0}
            assert model.least_risk(raw, signals, **asked) == pytest.approx(right, rel=1e-5), (seed, risk)


@pytest.mark.parametrize("seed", range(4))
def test_the_program_is_the_enumeration(seed: int, reference: Any) -> None:
    agree(reference, seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(100, 200, 10))
def test_the_program_is_the_enumeration_and_that_of_cvxpy_on_ten_instances(reference: Any, first: int) -> None:
    pytest.importorskip("cvxpy")
    model = load_module(ROOT / "models" / "elastic_cvxpy.py")
    for seed in range(first, first + 10):
        agree(reference, seed, model)


def test_the_fluid_model_is_refused() -> None:
    instance = co.generate("elastic", jobs=2, arrival_hours=2, capacity=4, model="fluid", seed=1)
    scenarios = Scenarios(instance.carbon.zones, instance.carbon.g_per_kwh[None])
    with pytest.raises(UnsupportedError, match="'integer'"):
        solve_under_risk(instance, scenarios, CVaR())

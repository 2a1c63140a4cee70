"""Plans with a review: by hand, against enumeration and CVXPY, and what planning and knowledge are worth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from conftest import ROOT, load_module
from risk_support import random_case

import carbonopt as co
from carbonopt.core.errors import CarbonoptError
from carbonopt.lessons.instances import small
from carbonopt.problems.mosp.data.file import from_dict
from carbonopt.uncertainty.measures import Budget, CVaR, Expectation
from carbonopt.uncertainty.review import review_values, solve_with_review
from carbonopt.uncertainty.scenarios import Scenarios

EXACT: dict[str, Any] = {"time_limit": None, "mip_rel_gap": 0.0}


def test_waiting_by_hand() -> None:
    """One job of 1 kWh: now at 240, or later at 100 or at 400, or at 260 for sure.

    The plan for the mean starts now. To wait for the review costs 100 or 260. Who knows takes 100 or 240.
    """
    instance = small("hand", [0, 0, 0], 1, {"a": (0, 1, 1)})
    scenarios = Scenarios(("DE",), [[[240, 100, 260]], [[240, 400, 260]]])
    found = solve_with_review(instance, scenarios, 1, **EXACT)
    assert (found.value, found.bound) == (pytest.approx(0.18), pytest.approx(0.18))
    assert [one.schedule["start"].tolist() for one in found.solutions] == [[1], [2]]
    worth = review_values(instance, scenarios, 1, **EXACT)
    for name, right in (("stochastic_solution", 0.06), ("perfect_information", 0.01)):
        assert (worth[name].least, worth[name].most) == (pytest.approx(right), pytest.approx(right)), name
    assert solve_with_review(instance, scenarios, 3, **EXACT).value == pytest.approx(0.24)
    assert solve_with_review(instance, scenarios, 1, CVaR(0.5), **EXACT).value == pytest.approx(0.24)


def assert_least(seed: int, reference: Any, model: Any = None) -> None:
    raw, signals = random_case(seed)
    if seed % 4 == 1:
        raw["clusters"]["max_starts_per_slot"] = 2
    instance = from_dict(raw)
    scenarios = Scenarios(instance.carbon.zones, signals)
    review, level = seed % 5, (0.5, 0.8)[seed % 2]
    for risk, alpha in ((Expectation(), 0.0), (CVaR(level), level)):
        right = reference.least_with_review(raw, signals, review, alpha)
        found = solve_with_review(instance, scenarios, review, risk, **EXACT)
        if right is None:
            assert found.status == "infeasible"
            continue
        assert found.value == pytest.approx(right, rel=1e-7, abs=1e-9), (seed, risk)
        assert found.bound is not None
        assert found.bound <= right * (1 + 1e-12) + 1e-15
        assert found.bound == pytest.approx(right, rel=1e-5, abs=1e-6)
        begun = [set(one.schedule.query(f"start < {review}").itertuples(index=False)) for one in found.solutions]
        assert all(part == begun[0] for part in begun)
        if model is not None and seed % 4 != 1:
            assert model.solve(raw, signals, alpha, review=review) == pytest.approx(right, rel=1e-5, abs=1e-7)


@pytest.fixture(scope="module")
def reference() -> Any:
    return load_module(ROOT / "tests" / "reference" / "brute_force_risk.py")


@pytest.mark.parametrize("seed", range(4))
def test_the_program_is_the_enumeration(seed: int, reference: Any) -> None:
    assert_least(seed, reference)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(100, 200, 10))
def test_the_program_is_the_enumeration_and_that_of_cvxpy_on_ten_instances(reference: Any, first: int) -> None:
    pytest.importorskip("cvxpy")
    model = load_module(ROOT / "models" / "mosp_risk_cvxpy.py")
    for seed in range(first, first + 10):
        assert_least(seed, reference, model)


def test_values_lie_in_their_intervals(reference: Any) -> None:
    raw, signals = random_case(2)
    instance = from_dict(raw)
    worth = review_values(instance, Scenarios(instance.carbon.zones, signals), 2, **EXACT)
    alone = np.mean([reference.least_tail(raw, [signal], 0.0) for signal in signals])
    right = reference.least_with_review(raw, signals, 2, 0.0) - alone
    known = worth["perfect_information"]
    assert known.least is not None
    assert known.most is not None
    assert known.least - 1e-9 <= right <= known.most + 1e-9


@pytest.mark.parametrize(("risk", "slot"), [(Budget(1), 1), (CVaR(), -1), (CVaR(), 99), (CVaR(), 0.5)])
def test_a_review_that_is_none_is_refused(risk: Any, slot: Any) -> None:
    instance = co.generate("mosp", preset="bench", jobs=3, clusters=2, slots=12, seed=2)
    with pytest.raises(CarbonoptError, match="must be"):
        solve_with_review(instance, Scenarios(instance.carbon.zones, instance.carbon.g_per_kwh[None]), slot, risk)

"""Method `lp-rounding`: its bound is that of the LP, its schedule near."""

from __future__ import annotations

import pytest

import carbonopt as co
from carbonopt.problems.purchasing.data.instance import Limits

CASES = {
    "splitting": {"reserved": 8},
    "no-split": {"reserved": 8, "model": "no-split"},
    "suspend-resume": {"reserved": 8, "model": "suspend-resume"},
    "spot": {"reserved": 8, "spot_max_length_hours": 2.0, "evictions_per_hour": 0.1},
    "decided": {"decide_reserved": True},
}


@pytest.mark.parametrize("case", CASES)
def test_bound_and_schedule(case: str) -> None:
    instance = co.generate("purchasing", jobs=80, arrival_hours=48, seed=2, **CASES[case])
    found, bound = co.solve(instance, "lp-rounding", time_limit=None), co.solve(instance, "lp", time_limit=None)
    baseline = co.solve(instance, "no-wait")
    assert co.check(instance, found).violations == ()
    assert found.status == "feasible"
    assert found.bound == bound.bound
    assert found.gap is not None
    assert found.gap < 0.15
    assert found.objective is not None
    assert baseline.objective is not None
    assert found.objective < 0.9 * baseline.objective


def test_draws_find_what_the_largest_shares_do_not() -> None:
    """Within limits a draw keeps them on average, where the largest shares may exceed them."""
    instance = co.generate("purchasing", jobs=60, arrival_hours=48, reserved=5, seed=3)
    carbon = float(co.solve(instance, "no-wait").metrics["carbon_kg"])
    limited = instance.with_objective(instance.weights, Limits(carbon_kg=0.93 * carbon))
    objectives = [
        co.solve(limited, "lp-rounding", params={"draws": draws}, time_limit=None).objective for draws in (0, 30)
    ]
    assert objectives[1] is not None
    assert objectives[0] is None or objectives[1] <= objectives[0]


def test_a_schedule_to_start_from_is_never_made_worse() -> None:
    instance = co.generate("purchasing", jobs=60, arrival_hours=48, reserved=5, seed=3)
    start = co.solve(instance, "price", time_limit=None, params={"rounds": {"rounds": 1}})
    found = co.solve(instance, "lp-rounding", initial_solution=start, time_limit=None)
    assert found.objective is not None
    assert start.objective is not None
    assert found.objective <= start.objective * (1 + 1e-9)

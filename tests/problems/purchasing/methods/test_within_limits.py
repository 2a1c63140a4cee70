"""Small instances with limits are solved by the whole program, which prices alone leave far from solved."""

from __future__ import annotations

import pytest

import carbonopt as co
from carbonopt.core.registry import problem_of
from carbonopt.lessons.instances import two_waits
from carbonopt.problems.purchasing.methods.epsilon_constraints import limited


@pytest.mark.parametrize(("hours", "kg"), [(0.0, 1.0), (1.0, 0.9), (3.0, 0.4), (4.0, 0.3)])
def test_each_step_of_the_front_is_found_although_prices_find_its_corners_alone(hours, kg) -> None:
    found = co.solve(limited(two_waits(), "carbon_kg", {"mean_wait_hours": hours / 2}))
    assert found.method == "milp"
    assert (found.metrics["carbon_kg"], found.bound) == (pytest.approx(kg), pytest.approx(kg))


def test_a_schedule_that_costs_more_than_its_slots_say_is_brought_within_the_limit() -> None:
    instance = co.generate("purchasing", jobs=30, seed=1, arrival_hours=24.0, reserved=6)
    least, most = (
        co.solve(limited(instance, name, {}), "milp").metrics["cost_usd"] for name in ("cost_usd", "carbon_kg")
    )
    limit = 0.6 * least + 0.4 * most
    within = limited(instance, "carbon_kg", {"cost_usd": limit})
    without = co.solve(within, "milp", params={"tightenings": 0})
    found = co.solve(within, "milp")
    assert without.objective > 1.2 * found.objective  # of the columns on the solver's way: its last ones cost too much
    assert found.bound <= found.objective
    assert found.metrics["cost_usd"] <= limit * (1 + 1e-9)
    assert problem_of("purchasing").choose(within) == "price"

"""Fronts by epsilon-constraints."""

from __future__ import annotations

import numpy as np
import pytest

import carbonopt as co
from carbonopt.pareto import Front, dominated, pareto

BRIEF = {"rounds": {"rounds": 2, "most_sweeps": 50}, "limits": {"trials": 8}, "bound": {"cell_hours": (1.0,)}}
"""Parameters of `price` with which a point ends by its work, after a second or so."""


@pytest.fixture(scope="module")
def front() -> Front:
    instance = co.generate("purchasing", jobs=30, arrival_hours=24, reserved=2, seed=2)
    return pareto(instance, levels=3, method="price", time_limit=None, mip_rel_gap=1e-3, params=BRIEF)


def test_every_point_keeps_its_limits_and_its_bound(front: Front) -> None:
    table = front.table
    assert len(table) > 3
    for name in ("cost_usd", "mean_wait_hours"):
        limit = table[f"limit_{name}"]
        assert (table[name][limit.notna()] <= limit.dropna() * (1 + 1e-6) + 1e-9).all()
    assert (table["bound"] <= table["carbon_kg"] * (1 + 1e-9)).all()


def test_what_is_allowed_more_is_bounded_lower(front: Front) -> None:
    table = front.table.fillna(np.inf)
    for _, tight in table.iterrows():
        looser = table[
            (table["limit_cost_usd"] >= tight["limit_cost_usd"])
            & (table["limit_mean_wait_hours"] >= tight["limit_mean_wait_hours"])
        ]
        assert (looser["bound"] <= tight["carbon_kg"] * (1 + 1e-9)).all()


def test_without_waiting_nothing_waits(front: Front) -> None:
    still = front.table[front.table["limit_mean_wait_hours"] == 0]
    assert (still["mean_wait_hours"] <= 1e-6).all()


def test_a_quantity_that_does_not_vary_has_one_level() -> None:
    instance = co.generate("purchasing", jobs=15, arrival_hours=12, reserved=0, seed=1)
    found = pareto(instance, levels=4, method="price", time_limit=None, params=BRIEF)
    assert "limit_cost_usd" not in found.table
    assert len(found.table) == 4
    assert found.quantities == ("carbon_kg", "cost_usd", "mean_wait_hours")


def test_dominated_points() -> None:
    points = np.array([[1.0, 3.0], [2.0, 2.0], [2.0, 3.0], [2.0, 2.0]])
    assert dominated(points).tolist() == [False, False, True, False]


def test_energy_cost_is_a_default_where_energy_has_a_price(tiny) -> None:
    found = pareto(tiny["tradeoff"], levels=2, method="milp", time_limit=None)
    assert found.quantities == ("carbon_kg", "tardiness_slots")
    with pytest.raises(co.UnsupportedError, match="has no energy_price"):
        pareto(tiny["tradeoff"], ["energy_cost"])


def test_a_front_needs_two_levels() -> None:
    instance = co.generate("purchasing", jobs=5, arrival_hours=5, reserved=0, seed=1)
    with pytest.raises(co.UnsupportedError, match="levels = 1: must be at least 2"):
        pareto(instance, levels=1)


def test_another_problem_has_no_front() -> None:
    with pytest.raises(co.UnsupportedError, match="has no 'limited'"):
        pareto(co.generate("elastic", jobs=5))

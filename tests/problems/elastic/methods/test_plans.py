"""Exact pricing of one job's plan, against every plan tried in turn."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from elastic_support import by_hand

from carbonopt.problems.elastic.methods.price.plans.columns import Columns
from carbonopt.problems.elastic.methods.price.plans.pricing import price_job
from carbonopt.problems.elastic.methods.price.plans.table import Table, scratch_of, table_of

CASES = 60


def random_job(rng: np.random.Generator, kind: str) -> tuple[Table, np.ndarray, np.ndarray]:
    """Return a table of one job of the kind, slot prices, and the room of each slot."""
    slots, units = int(rng.integers(1, 7)), int(rng.integers(1, 4))
    k_min = 1 if kind in ("equal", "rising") else int(rng.integers(1, 4))
    gain = [1.0, *np.sort(rng.choice([0.25, 0.333, 0.5, 0.6, 0.75, 0.97, 1.0], units - 1))[::-1].tolist()]
    watts = {
        "equal": np.full(units, 1000.0),
        "rising": np.sort(rng.integers(0, 5, units)) * 300.0,
        "irregular": rng.integers(0, 6, units) * 250.0,
    }[kind]
    length = float(rng.integers(1, 4 * slots + 1)) / 4 if rng.random() < 0.5 else float(rng.uniform(0.1, slots))
    intensity = rng.integers(0, 5, slots) * 1.0 if rng.random() < 0.4 else rng.uniform(0, 10, slots)
    slack = slots - int(np.ceil(length * (1 - 1e-9)))
    instance = by_hand(
        9,
        intensity.tolist(),
        (0, length, slack, gain),
        profiles={"a": {"k_min": k_min, "marginal_throughput": gain, "marginal_watts": watts.tolist()}},
    )
    prices = rng.integers(0, 4, slots) * 1.0 if rng.random() < 0.5 else rng.uniform(0, 5, slots)
    room = np.full(slots, 99) if rng.random() < 0.5 else rng.integers(0, k_min + units + 1, slots)
    return table_of(instance), prices * (rng.random() < 0.7), room


def least(table: Table, prices: np.ndarray, room: np.ndarray) -> float:
    """Return the least cost over all plans, infinite if there is none."""
    levels = range(int(table.units[0]) + 1)
    choices = [
        [
            (table.intensity[t] * table.energy[0, k] + prices[t] * table.servers[0, k], table.reach[0, k])
            for k in levels
            if table.servers[0, k] <= room[t]
        ]
        for t in range(len(prices))
    ]
    costs = [
        sum(cost for cost, _ in plan)
        for plan in itertools.product(*choices)
        if sum(work for _, work in plan) >= table.work[0]
    ]
    return min(costs, default=np.inf)


@pytest.mark.parametrize("kind", ["equal", "rising", "irregular"])
@pytest.mark.parametrize("price", [price_job.function, price_job.machine], ids=["python", "machine"])
def test_finds_the_cheapest_plan(kind: str, price: Callable[..., tuple[float, float, float]]) -> None:
    rng = np.random.default_rng(["equal", "rising", "irregular"].index(kind))
    for _ in range(CASES):
        table, prices, room = random_job(rng, kind)
        level = np.zeros(len(prices), dtype=np.int64)
        guess = float(rng.choice([0.0, 1.0, 50.0]))
        cost, lower, _ = price(0, prices, 1.0, room, guess, level, table, scratch_of(table))
        best = least(table, prices, room)
        if np.isinf(best):
            assert np.isinf(cost)
            continue
        assert cost == pytest.approx(best, rel=1e-8, abs=1e-12)
        assert best * (1 - 1e-8) - 1e-12 <= lower <= best * (1 + 1e-12) + 1e-12
        assert table.reach[0, level].sum() >= table.work[0]
        assert (table.servers[0, level] <= room).all()


def test_dropped_labels_leave_a_plan_and_a_bound() -> None:
    rng = np.random.default_rng(0)
    gain = [1.0, *np.sort(rng.uniform(0.3, 1, 5))[::-1].tolist()]
    instance = by_hand(99, rng.uniform(50, 60, 12).tolist(), (0, 11.37, 0, gain))
    table = table_of(instance)
    full = scratch_of(table)
    small = full._replace(slack=full.slack[:, :2], penalty=full.penalty[:, :2], label=full.label[:, :2])
    prices, room, level = np.zeros(12), np.full(12, 99), np.zeros(12, dtype=np.int64)
    exact, _, _ = price_job(0, prices, 1.0, room, 0.0, level, table, full)
    cost, lower, _ = price_job(0, prices, 1.0, room, 0.0, level, table, small)
    assert lower <= exact <= cost
    assert table.reach[0, level].sum() >= table.work[0]


def test_ties_everywhere_are_no_trouble() -> None:
    instance = by_hand(99, [100.0] * 60, (0, 37.3, 22, [1.0, 0.93, 0.81, 0.7, 0.64, 0.55]))
    table = table_of(instance)
    level = np.zeros(60, dtype=np.int64)
    cost, lower, _ = price_job(0, np.zeros(60), 1.0, np.full(60, 99), 0.0, level, table, scratch_of(table))
    assert cost == 3800.0  # 38 slots of one server: any second server does less
    assert lower <= cost


def test_plans_that_just_fill_a_slot_fit() -> None:
    """Two servers in a slot of two: known and fits; in a slot of one: known, does not fit, and is no rival of those."""
    table = table_of(by_hand(2, [10.0, 20.0], (0, 1.0, 1, [1.0, 1.0])))
    both_in_first, one_in_first = np.array([2, 0]), np.array([1, 0])
    for room, fits in (([2, 2], [True, True]), ([1, 2], [False, True])):
        columns = Columns(table, np.array(room))
        assert [columns.add(both_in_first), columns.add(one_in_first), columns.add(both_in_first)] == [1, 1, 0]
        assert columns.arrays()[2].tolist() == fits
        pool = columns.pool(np.zeros(2), np.zeros(1), np.inf)
        assert pool.slot.tolist() == [0] * sum(fits)
        assert sorted(pool.level.tolist()) == ([1, 2] if all(fits) else [1])

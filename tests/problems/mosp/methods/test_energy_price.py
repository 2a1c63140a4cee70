"""A price of electricity beside carbon: through all rooms, negative prices among them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from conftest import ROOT, load_module

import carbonopt as co
from carbonopt.core.errors import RefusedError
from carbonopt.pareto import pareto
from carbonopt.problems.mosp.data.file import from_dict
from carbonopt.problems.mosp.methods.limited import limited
from carbonopt.problems.mosp.online.bound import pieces_bound
from carbonopt.problems.mosp.verify.certificate import proven_bound

reference = load_module(ROOT / "tests/reference/brute_force.py")
pyomo = load_module(ROOT / "models/mosp_pyomo.py")


def day(carbon_kg: float, energy_cost: float) -> dict[str, Any]:
    """One job of 1 kW for an hour: carbon is least in slot 0 (.1 kg), energy cheapest in slot 2 (-.2 EUR)."""
    return {
        "schema_version": 1,
        "problem": "mosp",
        "name": "day",
        "time": {"slots": 3, "start": "2024-01-01T00:00:00Z"},
        "carbon": {"zones": ["D"], "g_per_kwh": [[100, 200, 600]]},
        "energy_price": {"zones": ["D"], "per_kwh": [[0.5, 0.1, -0.2]], "currency": "EUR"},
        "clusters": {"name": ["d"], "zone": ["D"], "capacity": {"cpu": [1]}, "watts_per_unit": {"cpu": [1000]}},
        "jobs": {"name": ["a"], "arrival": [0], "duration": [1], "deadline": [3], "demand": {"cpu": [1]}},
        "objective": {
            "kind": "carbon",
            "weights": {
                "carbon_kg": carbon_kg,
                "tardiness_slots": 0,
                "completion_slots": 0,
                "energy_cost": energy_cost,
            },
        },
    }


@pytest.mark.parametrize(
    ("weights", "slot", "objective"), [((1, 0), 0, 0.1), ((1, 0.5), 1, 0.25), ((0, 1), 2, -0.2), ((1, 2), 2, 0.2)]
)
@pytest.mark.parametrize("method", ["milp", "price", "lp-rounding"])
def test_the_weights_choose_the_slot_by_hand(weights, slot, objective, method):
    solution = co.solve(from_dict(day(*weights)), method, mip_rel_gap=0)
    assert solution.columns["start"] == [slot]
    assert solution.objective == pytest.approx(objective)
    assert solution.metrics["carbon_kg"] == pytest.approx([0.1, 0.2, 0.6][slot])
    assert solution.metrics["energy_cost"] == pytest.approx([0.5, 0.1, -0.2][slot])


def priced(seed: int) -> dict[str, Any]:
    """Return a random instance with prices in its zones, a third of them negative."""
    raw: dict[str, Any] = reference.random_instance(seed, "carbon")
    rng = random.Random(seed)
    zones = [*raw["carbon"]["zones"][::-1], "elsewhere"]
    rows = [[round(rng.uniform(-0.4, 0.8), 3) for _ in range(raw["time"]["slots"])] for _ in zones]
    raw["energy_price"] = {"zones": zones, "per_kwh": rows, "currency": "EUR"}
    raw["objective"]["weights"]["energy_cost"] = rng.choice([0.3, 1.0, 5.0])
    return raw


@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(8, 30))])
def test_all_methods_agree_with_brute_force(seed):
    raw = priced(seed)
    best, schedule = reference.brute_force(raw)
    instance = from_dict(raw)
    if best is None:
        assert co.solve(instance, "milp", mip_rel_gap=0).status == "infeasible"
        return
    assert co.evaluate(instance, schedule).objective == pytest.approx(best, rel=1e-9, abs=1e-9)
    for method in ("milp", "price", "lp", "lp-rounding", "greedy-clean"):
        solution = co.solve(instance, method, mip_rel_gap=0, time_limit=None)
        if solution.bound is not None:
            assert solution.bound <= best + 1e-9
        if solution.has_solution:
            assert solution.objective >= best - 1e-9
        if method in ("milp", "price"):
            assert solution.objective == pytest.approx(best, rel=1e-6, abs=1e-9)
        if solution.certificate is not None:
            report = co.check(instance, solution)
            assert not report.violations
            assert report.proven_bound <= best + 1e-9
            assert report.proven_bound == pytest.approx(solution.certificate["bound"], rel=1e-6, abs=1e-6)


def test_the_model_in_pyomo_agrees():
    pytest.importorskip("pyomo")
    for seed in (1, 2, 5):
        raw = priced(seed)
        for i, j, t in ((0, 0, 1), (1, 1, 2)):
            assert pyomo.cost(raw, i, j, t) == pytest.approx(reference._cost(raw, i, j, t))


def test_the_file_keeps_the_price_and_one_without_is_as_before():
    raw = day(1, 0.5)
    instance = from_dict(raw)
    again = from_dict(instance.to_dict())
    assert again.sha256 == instance.sha256
    assert again.energy_price.per_kwh.tolist() == raw["energy_price"]["per_kwh"]
    del raw["energy_price"], raw["objective"]["weights"]["energy_cost"]
    assert "energy" not in str(from_dict(raw).to_dict())


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (("energy_price",), None, r"objective\.weights\.energy_cost: needs the field energy_price"),
        (("energy_price", "zones"), ["P"], r"energy_price\.zones = no 'D': must name every zone"),
        (("energy_price", "zones"), ["D", "D"], r"one row for each of the 2 zones"),
        (("energy_price", "per_kwh"), [[1, 2]], r"energy_price\.per_kwh\[0\] = 2 values: must have 3 values"),
        (("energy_price", "per_kwh"), [[1, 2, float("nan")]], r"must be a finite number"),
        (("energy_price", "per_kwh"), [[1, 2, 1e40]], r"must be a finite number"),
        (("energy_price", "per_kwh"), [[1, 2, "x"]], r"energy_price\.per_kwh"),
        (("energy_price", "currency"), "", r"energy_price\.currency"),
        (("objective", "weights", "energy_cost"), -1, r"energy_cost"),
    ],
)
def test_wrong_prices_are_told_in_one_line(path, value, told):
    raw = deepcopy(day(1, 1))
    part: Any = raw
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    with pytest.raises(co.InputError, match=told) as error:
        from_dict(raw)
    assert len(error.value.faults) == 1


def test_what_knows_carbon_alone_refuses():
    instance = from_dict(day(1, 1))
    with pytest.raises(co.UnsupportedError, match="simulation knows carbon alone"):
        co.simulate(instance, "caspian")
    with pytest.raises(co.UnsupportedError, match="schedules in pieces knows carbon alone"):
        pieces_bound(instance)


@pytest.mark.parametrize(("limit", "slot", "kg"), [(0.6, 0, 0.1), (0.49, 1, 0.2), (0.0, 2, 0.6), (-0.2, 2, 0.6)])
def test_least_carbon_under_a_limit_on_cost_by_hand(limit, slot, kg):
    target = limited(from_dict(day(1, 0)), "carbon_kg", {"energy_cost": limit})
    solution = co.solve(target, mip_rel_gap=0)
    assert (solution.method, solution.columns["start"]) == ("milp", [slot])
    assert solution.objective == pytest.approx(kg)
    assert from_dict(target.to_dict()).sha256 == target.sha256
    bound = co.solve(target, "lp")
    assert co.check(target, bound).proven_bound <= kg + 1e-12
    assert bound.bound == pytest.approx(co.check(target, bound).proven_bound, rel=1e-9, abs=1e-9)
    with pytest.raises(co.InputError, match=r"energy_cost = 0\.5 is above its limit"):
        co.evaluate(limited(target, "carbon_kg", {"energy_cost": 0.4}), {"job": ["a"], "cluster": ["d"], "start": [0]})


def test_no_bound_is_above_a_schedule_that_exceeds_a_limit_by_what_counts_as_rounding():
    """Slot 0 costs .5 EUR. Priced at .25, slots 0 and 1 cost .225 each, and .225 - .25 x .5 = .1 kg is proven."""
    target = limited(from_dict(day(1, 0)), "carbon_kg", {"energy_cost": 0.5 * (1 - 5e-7)})
    solution = co.evaluate(target, {"job": ["a"], "cluster": ["d"], "start": [0]})
    certificate = {"kind": "lagrangian", "prices": [[[0, 0, 0]]], "limit_prices": {"energy_cost": 0.25}}
    proven, _ = proven_bound(target, certificate, {})
    assert solution.objective == pytest.approx(0.1)
    assert 0.1 - 1e-6 < proven <= solution.objective


def test_a_limit_that_nothing_keeps_and_methods_that_know_none():
    target = limited(from_dict(day(1, 0)), "carbon_kg", {"energy_cost": -0.3})
    assert co.solve(target).status == "infeasible"
    with pytest.raises(RefusedError, match="limits"):
        co.solve(target, "price")
    raw = target.to_dict() | {"fixed": {"job": ["a"], "cluster": ["d"], "start": [0]}}
    with pytest.raises(co.InputError, match="beside fixed runs"):
        from_dict(raw)
    with pytest.raises(co.UnsupportedError, match="must be 'carbon_kg', 'energy_cost' or 'tardiness_slots'"):
        limited(target, "kwh", {})
    with pytest.raises(co.UnsupportedError, match="no energy_price"):
        limited(from_dict(reference.random_instance(1, "carbon")), "carbon_kg", {"energy_cost": 1})


@pytest.mark.parametrize("seed", range(6))
def test_the_front_is_that_of_all_schedules(seed):
    """Every point is the least carbon that any schedule has under its limits, by enumeration."""
    raw = priced(seed)
    raw["objective"]["rejection_price"] = None
    every = list(schedules(raw))
    if not every:
        pytest.skip("no schedule")
    front = pareto(from_dict(raw), levels=3, mip_rel_gap=0, time_limit=None)
    assert len(front.table)
    for row in front.table.fillna(float("inf")).to_dict("records"):
        most = [row.get(f"limit_{name}", float("inf")) for name in ("energy_cost", "tardiness_slots")]
        least = min(kg for kg, *others in every if all(a <= b + 1e-9 for a, b in zip(others, most, strict=True)))
        assert row["carbon_kg"] == pytest.approx(least, rel=1e-6)
        assert row["bound"] <= least + 1e-9


def schedules(raw: dict[str, Any]) -> Iterator[tuple[float, float, float]]:
    """Yield carbon, energy cost and tardiness of every schedule in which all jobs run."""
    units = [{**raw, "objective": {**raw["objective"], "weights": weights}} for weights in UNIT_WEIGHTS]
    places = [[(j, t) for _, j, t in reference._placements(raw, i, None)] for i in range(len(raw["jobs"]["name"]))]

    def descend(i: int, free: Any, sums: tuple[float, ...]) -> Iterator[tuple[float, ...]]:
        if i == len(places):
            yield sums
            return
        for j, t in places[i]:
            if reference._fits(raw, free, i, j, t):
                reference._take(raw, free, i, j, t, +1)
                more = [reference._cost(unit, i, j, t) for unit in units]
                yield from descend(i + 1, free, tuple(a + b for a, b in zip(sums, more, strict=True)))
                reference._take(raw, free, i, j, t, -1)

    yield from descend(0, reference._capacity(raw), (0.0, 0.0, 0.0))  # type: ignore[misc]


UNIT_WEIGHTS = [
    {"carbon_kg": 1, "tardiness_slots": 0, "completion_slots": 0},
    {"carbon_kg": 0, "tardiness_slots": 0, "completion_slots": 0, "energy_cost": 1},
    {"carbon_kg": 0, "tardiness_slots": 1, "completion_slots": 0},
]

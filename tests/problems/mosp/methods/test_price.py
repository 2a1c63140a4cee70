"""Method `price`: the dual function, the search, and what they claim together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from loop_support import for_each

import carbonopt as co
from carbonopt.algorithms.prices import Ascent
from carbonopt.problems.mosp.data.file import from_dict
from carbonopt.problems.mosp.formulation.objective import placement_value
from carbonopt.problems.mosp.methods.bounds import lagrangian_bound
from carbonopt.problems.mosp.methods.price.dual import Dual
from carbonopt.problems.mosp.methods.price.places import make_places
from carbonopt.problems.mosp.methods.price.search_parameters import PlaceParameters
from carbonopt.problems.mosp.verify.certificate import proven_bound

pytestmark = pytest.mark.filterwarnings("ignore:.*six orders of magnitude")

BARS = (1e-3, 3.0, 2.0)
KINDS = ("carbon", "caspian")


def dual_of(instance):
    bars = BARS if instance.sense == "max" else None
    return Dual(instance, placement_value(instance, bars))


def test_by_hand(tiny):
    """Three jobs crowd a clean slot at 0.1, 0.2 and 0.5: free they cost 0.3, together 0.1 + 0.2 + 0.5 or less."""
    dual = dual_of(tiny["crowd"])
    assert dual.hard(np.zeros(4))[0] == pytest.approx(0.3)
    prices = np.zeros((2, 1, 2))
    prices[0, 0] = [0.3, 0.2]
    value, slope = dual.hard(prices.ravel())
    assert value == pytest.approx(3 * 0.4 - 0.5)
    assert slope.shape == (4,)
    solution = co.solve(tiny["crowd"], "price")
    assert (solution.status, solution.objective) == ("optimal", pytest.approx(0.7))


@pytest.mark.parametrize("kind", KINDS)
def test_classes_of_jobs_give_the_bound_of_single_jobs(random_instance, kind):
    rng = np.random.default_rng(3)
    for seed in range(40):
        instance = random_instance(seed, kind)
        dual = dual_of(instance)
        sign = 1 if instance.sense == "min" else -1
        for scale in (0.0, 0.01, 0.3):
            prices = scale * rng.random(dual.shape)
            one_by_one = lagrangian_bound(instance, placement_value(instance, BARS), prices)
            found = dual.safe(prices.ravel())
            assert (found is None) == (one_by_one is None)
            if found is not None:
                assert sign * found == pytest.approx(one_by_one, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_the_soft_function_is_below_the_hard_one_and_has_its_gradient(random_instance, kind):
    rng, step = np.random.default_rng(4), 1e-5
    for seed in range(20):
        dual = dual_of(random_instance(seed, kind))
        prices = 0.2 * rng.random(dual.limit.size) + 0.01
        hard, (soft, gradient) = dual.hard(prices)[0], dual.soft(prices, 0.05)
        if not np.isfinite(hard):
            continue
        assert soft <= hard + 1e-9
        assert dual.soft(prices, 1e-6)[0] == pytest.approx(hard, abs=1e-3)
        for k in rng.integers(0, len(prices), 4):
            move = np.zeros(len(prices))
            move[k] = step
            slope = (dual.soft(prices + move, 0.05)[0] - dual.soft(prices - move, 0.05)[0]) / (2 * step)
            assert slope == pytest.approx(gradient[k], rel=1e-4, abs=1e-4)


def test_the_ascent_reaches_the_lp_optimum(small_bench):
    dual = dual_of(small_bench)
    ascent = Ascent(dual.hard, dual.soft, np.zeros(dual.limit.size), scale=0.05)
    ascent.smooth([0.01, 0.001, 1e-4, 3e-5], 150)
    ascent.step(300)
    optimum = co.solve(small_bench, "lp").info["lp_objective"]
    assert ascent.value == pytest.approx(optimum, rel=2e-4)
    assert ascent.value <= optimum * (1 + 1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_places_are_all_possible_ones_by_reduced_cost(random_instance, kind):
    for seed in range(10):
        instance = random_instance(seed, kind)
        value, dual = placement_value(instance, BARS), dual_of(instance)
        prices = 0.1 * np.random.default_rng(seed).random(dual.shape)
        sign, places = 1 if instance.sense == "min" else -1, make_places(dual, prices.ravel(), PlaceParameters())
        jobs = instance.jobs
        for i in range(len(jobs)):
            m = dual.jobs.member[i]
            size = places.size[m]
            cluster, start = places.place[m, :size] // dual.shape[2], places.place[m, :size] % dual.shape[2]
            runs = zip(cluster, start, strict=True)
            true = sign * value.of(np.full(size, i), cluster.astype(int), start.astype(int))
            assert places.least[m] == pytest.approx(true.min(initial=np.inf))
            assert (np.diff(places.excess[m, :size]) >= 0).all()
            paid = np.array([jobs.demand[i] @ prices[j, :, t : t + jobs.duration[i]].sum(axis=1) for j, t in runs])
            priced = true + paid.reshape(size)
            assert places.lowest[m] == pytest.approx(min(priced.min(initial=np.inf), dual.table.rejection_cost))
            assert places.excess[m, :size] == pytest.approx(priced - places.lowest[m], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@for_each(seed=range(100, 116))
def test_never_past_the_optimum_and_closed_where_jobs_are_few(random_raw, brute_force, kind, seed):
    agrees_with_brute_force(random_raw(seed, kind), brute_force)


@pytest.mark.parametrize("level", [1e-6, 1e5])
@pytest.mark.parametrize("unit", [1e-4, 1e5])
def test_never_past_the_optimum_on_ill_scaled_data(random_raw, brute_force, level, unit):
    """Costs and units far from 1, and a rejection price beside them."""
    for seed in range(200, 204):
        raw = random_raw(seed, "carbon")
        raw["carbon"]["g_per_kwh"] = [[level * x for x in row] for row in raw["carbon"]["g_per_kwh"]]
        raw["objective"]["weights"] |= {"tardiness_slots": level * 0.1, "completion_slots": 0.0}
        for part, field in (("jobs", "demand"), ("clusters", "capacity")):
            scaled = np.vectorize(lambda x: x * unit, otypes=[float])
            raw[part][field] = {
                name: [scaled(row).tolist() for row in column] for name, column in raw[part][field].items()
            }
        for name, column in raw["clusters"]["watts_per_unit"].items():
            raw["clusters"]["watts_per_unit"][name] = [watts / unit for watts in column]
        agrees_with_brute_force(raw, brute_force)


def agrees_with_brute_force(raw, brute_force):
    instance = from_dict(raw)
    solution = co.solve(instance, "price", time_limit=None)
    bars = solution.info.get("normalizers")
    optimum, _ = brute_force(raw, tuple(bars.values()) if bars else None)
    report = co.check(instance, solution)
    assert report.violations == ()
    assert (solution.status == "infeasible") == (optimum is None)
    if optimum is None:
        return
    sign = 1 if instance.sense == "min" else -1
    allowance = 1e-9 * max(1e-6, abs(optimum))
    assert sign * (optimum - solution.bound) >= -allowance
    assert sign * (solution.objective - optimum) >= -allowance
    assert solution.objective == pytest.approx(optimum, rel=2e-4, abs=1e-9)
    assert solution.status == "optimal"


@pytest.fixture(scope="module")
def medium():
    return co.generate("mosp", preset="bench", jobs=150, clusters=3, slots=24, seed=5)


@pytest.fixture(scope="module")
def solved(medium):
    return co.solve(medium, "price", time_limit=None, mip_rel_gap=0.01)


def test_a_smaller_gap_than_the_rounded_lp(medium, solved):
    assert co.check(medium, solved).violations == ()
    assert solved.gap < co.solve(medium, "lp-rounding", time_limit=None).gap


def test_the_certificate_proves_the_bound_of_prices(medium, solved):
    """What cuts prove beyond it has none: the file says so."""
    report = co.check(medium, solved)
    assert report.proven_bound == pytest.approx(solved.certificate["bound"], rel=1e-9)
    assert solved.certificate["bound"] == pytest.approx(solved.info["lagrangian_bound"], rel=1e-9)
    assert solved.bound == solved.info.get("tree_bound", solved.certificate["bound"])
    assert solved.bound >= solved.certificate["bound"]


def test_a_tampered_certificate_is_caught(medium, solved):
    higher = replace(solved, bound=solved.bound * (1 + 1e-6))
    prices = np.array(solved.certificate["prices"])
    changes = ({"bound": higher.bound}, {"prices": (1.2 * prices).tolist(), "bound": higher.bound}, {"kind": "lp"})
    for change in changes:
        report = co.check(medium, replace(higher, certificate=solved.certificate | change))
        assert [violation.constraint for violation in report.violations] == ["certificate"]


def test_a_start_is_never_made_worse(medium, solved):
    again = co.solve(medium, "price", time_limit=None, mip_rel_gap=0.02, initial_solution=solved)
    assert again.objective <= solved.objective * (1 + 1e-12)


def test_ends_when_the_gap_asked_for_is_reached(medium):
    solution = co.solve(medium, "price", time_limit=None, mip_rel_gap=0.2)
    assert solution.status == "optimal"
    assert solution.info["moves"] == 0 or solution.gap > 0.01


def test_an_interrupt_keeps_incumbent_and_bound(medium):
    def interrupt(progress):
        if progress.incumbent is not None and progress.bound is not None:
            raise KeyboardInterrupt

    solution = co.solve(medium, "price", time_limit=None, mip_rel_gap=0.0, callback=interrupt)
    assert solution.status == "interrupted"
    assert solution.has_solution
    assert solution.bound is not None


def test_the_same_seed_gives_the_same_answer():
    instance = co.generate("mosp", preset="bench", jobs=70, clusters=3, slots=24, seed=2)
    first, second, other = (
        co.solve(instance, "price", time_limit=None, mip_rel_gap=0.06, seed=seed) for seed in (1, 1, 2)
    )
    assert (first.columns, first.bound) == (second.columns, second.bound)
    assert other.bound == first.bound


def test_the_linear_program_says_where_jobs_go():
    """From thousands of jobs on; the rounded schedule is already close to the bound."""
    instance = co.generate("mosp", preset="bench", jobs=5200, clusters=5, slots=24, seed=1)
    first = []
    solution = co.solve(
        instance,
        "price",
        time_limit=None,
        mip_rel_gap=0.003,
        callback=lambda p: first.append(p.incumbent) if p.incumbent else None,
    )
    assert co.check(instance, solution).violations == ()
    assert solution.gap <= 0.003
    assert first[0] < solution.bound * 1.02


def test_certificates_of_large_instances_are_rechecked_in_seconds():
    instance = co.generate("mosp", preset="bench", jobs=20_000, clusters=30, slots=168, seed=1)
    dual = dual_of(instance)
    prices = 0.05 * np.random.default_rng(0).random(dual.shape)
    proven, _ = proven_bound(instance, {"kind": "lagrangian", "prices": prices.tolist()}, {})
    assert proven == pytest.approx(dual.safe(prices.ravel()), rel=1e-9)


def test_auto_takes_prices_beyond_tiny_programs(tiny):
    assert co.solve(tiny["crowd"]).method == "milp"
    instance = co.generate("mosp", preset="bench", jobs=100, clusters=3, slots=48, seed=1)
    assert co.solve(instance, time_limit=0.0).method == "price"


def raw_of(capacity, jobs, price=None):
    """Return one cluster of given capacity by slot, and jobs of (arrival, duration, deadline, demand)."""
    (arrival, duration, deadline, demand), slots = (list(part) for part in zip(*jobs, strict=True)), len(capacity)
    return {
        "schema_version": 1,
        "problem": "mosp",
        "name": "by-slot",
        "time": {"slots": slots, "slot_hours": 1.0, "start": "2022-01-01T00:00:00Z"},
        "carbon": {"zones": ["Z"], "g_per_kwh": [[1.0] * slots]},
        "clusters": {
            "name": ["c0"],
            "zone": ["Z"],
            "capacity": {"gpu": [capacity]},
            "watts_per_unit": {"gpu": [1000.0]},
        },
        "jobs": {
            "name": [f"j{i}" for i in range(len(jobs))],
            "arrival": arrival,
            "duration": duration,
            "deadline": [float(d) for d in deadline],
            "demand": {"gpu": demand},
            "eligible": None,
        },
        "objective": {
            "kind": "carbon",
            "weights": {"carbon_kg": 1.0, "tardiness_slots": 1.0, "completion_slots": 0.0},
            "rejection_price": price,
        },
    }


def test_no_incomplete_schedule_replaces_a_complete_one():
    """One long job fits early only, and 75 late ones gain much when it is left out."""
    rng = np.random.default_rng(0)
    small = [(0, int(rng.integers(1, 4)), 0, round(float(rng.uniform(1.5, 4)), 2)) for _ in range(75)]
    instance = from_dict(raw_of([10.0] * 15 + [9.0] * 55, [(0, 15, 15, 10.0), *small]))
    windows = {"most_branches": 21}
    params = {"search": {"moves_per_job": 2_000}, "windows": windows, "neighbourhoods": {"most_in_vain": 1}}
    solution = co.solve(instance, "price", time_limit=None, params=params)
    assert solution.has_solution
    assert co.check(instance, solution).feasible
    assert solution.bound <= solution.objective


def test_a_job_longer_than_the_horizon_under_capacity_by_slot_is_left_out():
    instance = from_dict(raw_of([1.0, 2.0, 1.0], [(0, 6, 3, 1.5), (0, 1, 1, 1.0)], price=5.0))
    assert co.solve(instance, "price").objective == pytest.approx(5.001)


def test_a_demand_within_the_allowance_for_rounding_has_room():
    instance = from_dict(raw_of([1.0] * 4, [(0, 1, 1, 1.0000000008)]))
    assert co.solve(instance, "price").objective == pytest.approx(0.001)

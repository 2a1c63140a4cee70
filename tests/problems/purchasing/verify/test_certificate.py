"""Bounds are rechecked from the instance and the prices alone, and hold against every schedule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from purchasing_random import by_hand, columns, continuous, random_schedule
from work_support import counted_calls

import carbonopt as co
from carbonopt.core.errors import InputError
from carbonopt.problems.purchasing.data.instance import Limits, PurchasingInstance, Spot, Weights
from carbonopt.problems.purchasing.verify.certificate import proven_bound
from carbonopt.problems.purchasing.verify.check import check

pytestmark = pytest.mark.filterwarnings("ignore:.*coefficients span:UserWarning")  # of random moments
MODELS = ("splitting", "no-split", "suspend-resume")


def drawn(instance: PurchasingInstance, rng: np.random.Generator) -> dict[str, Any]:
    """Draw prices on a grid, and multipliers of the limits that there are."""
    limits = {name: float(rng.uniform(0, 2)) for name, limit in vars(instance.limits).items() if limit is not None}
    most = (instance.weights.cost_usd + limits.get("cost_usd", 0.0)) * instance.prices.on_demand_usd_per_cpu_hour
    cells = int(rng.integers(1, 5))
    prices = rng.uniform(0, most, instance.time.slots * cells) * (rng.random(instance.time.slots * cells) < 0.7)
    scale = rng.choice([0.1, 1.0]) * (2 if instance.model == "no-split" else 1)
    return {"kind": "lagrangian", "grid_slots": cells, "prices": prices * scale, "multipliers": limits or None}


class TestByHand:
    def test_one_job_waits_for_the_clean_hour(self) -> None:
        instance = by_hand([3, 2, 1, 9], [(0, 1, 1)], wait=2.0, weights=Weights(1, 0, 0.5))
        assert value(instance, [0] * 4) == pytest.approx(2)

    def test_a_price_of_the_reserved_cpus(self) -> None:
        """Two jobs want one reserved CPU in the clean hour: at 1 for it, 2 (1 + 1) - 1 = 3 = 1 + 2."""
        instance = by_hand([1, 2], [(0, 1, 1), (0, 1, 1)], wait=1.0, reserved_cpus=1, weights=Weights(1, 2, 0))
        assert value(instance, [1, 0]) == pytest.approx(3)
        assert value(instance, [0, 0]) == pytest.approx(2)
        assert value(instance, [2, 0]) == pytest.approx(2 * 2 - 2)

    def test_of_a_large_job_only_the_reserved_part_is_priced(self) -> None:
        instance = by_hand([1], [(0, 1, 5)], wait=0.0, reserved_cpus=2, weights=Weights(0, 1, 0))
        assert value(instance, [0]) == pytest.approx(3)
        assert value(instance, [1]) == pytest.approx(3 + 2 - 2)

    def test_who_may_not_split_pays_all_or_the_price(self) -> None:
        instance = by_hand(
            [1], [(0, 1, 2), (0, 1, 2)], wait=0.0, reserved_cpus=2, weights=Weights(0, 1, 0), model="no-split"
        )
        assert value(instance, [1]) == pytest.approx(2 + 2 - 2)
        assert value(instance, [1.5]) == pytest.approx(2 + 2 - 3)  # prices are not capped
        too_large = by_hand([1], [(0, 1, 3)], wait=0.0, reserved_cpus=2, weights=Weights(0, 1, 0), model="no-split")
        assert value(too_large, [0]) == pytest.approx(3)

    def test_interrupted_jobs_take_the_cheapest_hours(self) -> None:
        for wait, bound in ((0.0, 2), (1.0, 3), (9.0, 10)):
            instance = by_hand([1, 9, 1, 9], [(0, 2, 1)], wait=2.0, weights=Weights(1, 0, wait), model="suspend-resume")
            assert value(instance, [0] * 4) == pytest.approx(bound)

    def test_a_run_may_begin_within_a_slot(self) -> None:
        """A job of 1.5 h ends with the clean hours: from 0.5 on, 0.5 x 3 + 1."""
        instance = by_hand([3, 1, 9], [(0, 1.5, 1)], wait=1.0, weights=Weights(1, 0, 0))
        assert value(instance, [0] * 3) == pytest.approx(2.5)

    def test_decided_reserved_cpus(self) -> None:
        """Two jobs of 2 h in 4 h: at 0.4 a CPU-hour nobody gains by more or fewer reserved CPUs, 4 x 0.4."""
        instance = by_hand([1] * 4, [(0, 2, 1)] * 2, wait=2.0, reserved_cpus=None, weights=Weights(0, 1, 0))
        assert value(instance, [0.4] * 4) == pytest.approx(1.6)
        assert value(instance, [0.5] * 4) == pytest.approx(2 - 2 * 4 * 0.1)  # no more than two are of use
        assert value(instance, [0] * 4) == pytest.approx(0)

    def test_limits(self) -> None:
        """No more than 1 kg: a multiplier of 1 makes waiting for the clean hour as dear as 2 kg at once."""
        instance = by_hand([2, 1], [(0, 1, 1)], wait=1.0, weights=Weights(0, 0, 1), limits=Limits(carbon_kg=1))
        assert value(instance, [0, 0], {"carbon_kg": 1.0}) == pytest.approx(1)
        assert value(instance, [0, 0]) == 0
        paid = by_hand(
            [2, 1], [(0, 1, 1)], wait=1.0, reserved_cpus=1, limits=Limits(cost_usd=1), weights=Weights(1, 0, 0)
        )
        assert value(paid, [0, 0], {"cost_usd": 1.0}) == pytest.approx(1 - (1 - 0.8))  # 0.8 $ is prepaid

    def test_spot(self) -> None:
        instance = by_hand([1, 1], [(0, 1, 1)], wait=0.0, spot=Spot(1, 1.0), weights=Weights(1, 1, 0))
        assert value(instance, [0, 0]) == pytest.approx(2)  # on demand: spot would be 2.022786
        cheap = by_hand([0.1] * 2, [(0, 1, 1)], wait=0.0, spot=Spot(1, 1.0), weights=Weights(1, 1, 0))
        assert value(cheap, [0, 0]) == pytest.approx(0.1264241 + 0.7585447, abs=1e-7)

    def test_no_jobs(self) -> None:
        for model in MODELS:
            assert value(by_hand([1, 1], [], model=model, reserved_cpus=1), [0, 0]) == pytest.approx(0)


def value(instance: PurchasingInstance, prices: list[float], multipliers: dict[str, float] | None = None) -> float:
    certificate = {"kind": "lagrangian", "grid_slots": 1, "prices": prices, "multipliers": multipliers}
    bound, assumes = proven_bound(instance, certificate, {})
    assert assumes == ()
    return bound


class TestAgainstSchedules:
    @pytest.mark.parametrize("limited", [False, True])
    @pytest.mark.parametrize("model", MODELS)
    def test_no_schedule_beats_any_prices(self, model: str, limited: bool) -> None:
        rng = np.random.default_rng(8)
        kept = 0
        for seed in range(75):
            hazard = [None, 0.0, 0.3, 2.0, 1e-7][seed % 5]
            instance = continuous(seed, model, hazard, decided=seed % 3 == 0, limited=limited)
            found = [random_schedule(instance, rng) for _ in range(8)]
            values = [r.objective for r in (check(instance, *one) for one in found) if r.feasible]
            kept += len(values)
            for _ in range(3):
                bound, _ = proven_bound(instance, drawn(instance, rng), {})
                assert bound <= min(values, default=np.inf) * (1 + 1e-9) + 1e-9
        assert kept > 50

    @pytest.mark.parametrize("model", MODELS)
    def test_the_bound_of_the_lp_is_proven_and_below_what_the_milp_finds(self, model: str) -> None:
        for seed in range(25):
            instance = continuous(seed, model, [None, 0.0, 0.3][seed % 3], decided=seed % 4 == 0)
            bound, solution = co.solve(instance, "lp"), co.solve(instance, "milp", mip_rel_gap=1e-6, time_limit=10)
            report = co.check(instance, bound)
            assert report.violations == ()
            assert co.check(instance, solution).violations == ()
            assert report.proven_bound >= bound.bound * (1 - 1e-9) - 1e-12
            assert report.proven_bound == pytest.approx(bound.info["lp_optimum"], rel=1e-6) or model == "suspend-resume"
            assert report.proven_bound <= solution.objective * (1 + 1e-9) + 1e-9

    def test_the_least_over_all_starts_is_exact(self) -> None:
        """At prices of 0 and no reserved CPUs the bound is the optimum: the best start of each job alone."""
        for seed in range(12):
            instance = continuous(seed, hazard=[None, 0.0, 0.4, 3.0][seed % 4]).with_reserved(0)
            best = 0.0
            for j, name in enumerate(instance.jobs.name):
                one = alone(instance, j)
                first, last = one.jobs.arrival_hours[0], one.jobs.arrival_hours[0] + one.max_wait_hours[0]
                starts = np.unique(np.clip(candidates(one, float(one.jobs.length_hours[0])), first, last))
                options = ["on-demand"] + (["spot"] if one.spot_allowed[0] else [])
                rows = [[(name, s, s + one.jobs.length_hours[0], option)] for s in starts for option in options]
                best += min(check(one, columns(row)).objective for row in rows)
            bound, _ = proven_bound(instance, {"kind": "lagrangian", "grid_slots": 1, "prices": [0.0] * 40}, {})
            assert bound == pytest.approx(best, rel=1e-6 if seed % 4 >= 2 else 1e-9)
            assert bound <= best


def alone(instance: PurchasingInstance, j: int) -> PurchasingInstance:
    from dataclasses import replace

    jobs = instance.jobs
    part = replace(
        jobs,
        name=(jobs.name[j],),
        arrival_hours=jobs.arrival_hours[[j]],
        length_hours=jobs.length_hours[[j]],
        cpus=jobs.cpus[[j]],
    )
    return replace(instance, jobs=part)


def candidates(instance: PurchasingInstance, length: float) -> np.ndarray:
    edges = np.arange(41) * instance.time.slot_hours
    fine = np.linspace(0, 20, 100) if instance.spot is not None and instance.spot.evictions_per_hour > 0 else []
    return np.concatenate([edges, edges - length, edges - 2 * length, [0, 99], fine])


INSTANCE = by_hand([1, 2, 3], [(0, 1, 1)], wait=1.0, reserved_cpus=1, limits=Limits(carbon_kg=9))
FINE = {"kind": "lagrangian", "grid_slots": 1, "prices": [0.5, 0, 1.0], "multipliers": {"carbon_kg": 1}}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"kind": "shortage"}, "kind"),
        ({"kind": None}, "kind"),
        *(({"grid_slots": bad}, "grid_slots") for bad in (None, 0, -1, 1.0, "1", True, 2**40, [1])),
        *(
            ({"prices": bad}, "prices")
            for bad in (
                None, "none", 1.0, {}, [], [0.5, 0], [0.5, 0, 1, 0], [0.5, -1e-9, 1], [0.5, float("nan"), 1],
                [0.5, float("inf"), 1], [0.5, 1.01, 1], [0.5, 10**400, 1], [0.5, "1", 1], [0.5, None, 1],
                [0.5, [1.0], 1], [[0.5, 0, 1]], [True] * 3, [0.5, 1j, 1],
            )
        ),
        ({"grid_slots": 2}, "prices"),
        *(({"multipliers": bad}, "multipliers") for bad in (1.0, [], "none", {"wait": 1.0}, {1: 2})),
        *(
            ({"multipliers": {"carbon_kg": bad}}, "multipliers.carbon_kg")
            for bad in (-1e-9, float("nan"), float("inf"), "1", None, True, [1])
        ),
        ({"multipliers": {"cost_usd": 1.0}}, "multipliers.cost_usd"),
    ],
)  # fmt: skip
def test_malformed_certificates(changes: dict[str, Any], field: str) -> None:
    assert proven_bound(INSTANCE, FINE, {})[0] is not None
    with pytest.raises(InputError) as caught:
        proven_bound(INSTANCE, {**FINE, **changes}, {})
    assert caught.value.faults[0].field == f"certificate.{field}"


def test_prices_above_the_cap_by_rounding_are_cut() -> None:
    high = {**FINE, "prices": [0.5, 0, 1 + 5e-13], "multipliers": None}
    assert proven_bound(INSTANCE, high, {}) == proven_bound(INSTANCE, {**high, "prices": [0.5, 0, 1]}, {})


@pytest.mark.parametrize(
    ("info", "field"),
    [
        ({"accounting": "artifact"}, "accounting"),
        ({"evictions": "realised"}, "evictions"),
        ({"model": "suspend-resume"}, "model"),
    ],
)
def test_a_bound_beside_a_schedule_of_other_terms(info: dict[str, str], field: str) -> None:
    with pytest.raises(InputError, match="bound") as caught:
        proven_bound(INSTANCE, FINE, info)
    assert caught.value.faults[0].field == f"info.{field}"
    assert proven_bound(INSTANCE, FINE, {"model": "no-split", "evictions": "expected", "accounting": "paper"})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "spot", "calls_a_job"), [("splitting", Spot(2.0, 0.1), 5), ("suspend-resume", None, 80)]
)
def test_a_year_of_100_000_jobs(model: str, spot: Spot | None, calls_a_job: int) -> None:
    rng = np.random.default_rng(0)
    jobs = np.column_stack(
        [rng.uniform(0, 8600, 100_000), rng.exponential(3, 100_000) + 0.1, rng.integers(1, 9, 100_000)]
    )
    instance = by_hand(
        rng.uniform(0, 1, 8760).tolist(), jobs.tolist(), wait=24.0, spot=spot, model=model,
        reserved_cpus=100, weights=Weights(1, 1, 0.01),
    )  # fmt: skip
    certificate = {"kind": "lagrangian", "grid_slots": 4, "prices": rng.uniform(0, 0.2, 4 * 8760)}
    with counted_calls() as calls:
        assert proven_bound(instance, certificate, {})[0] is not None
    assert calls[0] < calls_a_job * 100_000

"""Method `price`: the bound is proven and holds, the schedule is feasible, in every variant."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from purchasing_random import by_hand, continuous, random_schedule
from work_support import LookedAtClock

import carbonopt as co
from carbonopt.core.options import Options, Progress
from carbonopt.problems.purchasing.data.instance import Limits, PurchasingInstance, Spot, Weights
from carbonopt.problems.purchasing.methods.epsilon_constraints import at_equal
from carbonopt.problems.purchasing.methods.price.bound import best_bound
from carbonopt.problems.purchasing.methods.price.bound_parameters import BoundParameters
from carbonopt.problems.purchasing.methods.price.dual import Dual
from carbonopt.problems.purchasing.methods.price.grid import Grid
from carbonopt.problems.purchasing.methods.price.method import price
from carbonopt.problems.purchasing.methods.price.parameters import PriceParameters, RoundParameters
from carbonopt.problems.purchasing.verify.certificate import proven_bound
from carbonopt.problems.purchasing.verify.check import check

MODELS = ("splitting", "no-split", "suspend-resume")
VARIANTS = [
    (model, hazard, decided, limited)
    for model in MODELS
    for hazard in (None, 0.0, 0.3)
    for decided in (False, True)
    for limited in (False, True)
]


def solved(instance: PurchasingInstance, **options: Any) -> co.Solution:
    return co.solve(instance, "price", **({"time_limit": None} | options))


class TestByHand:
    def test_one_job_waits_for_the_clean_hour(self) -> None:
        instance = by_hand([3, 2, 1, 9], [(0, 1, 1)], wait=2.0, weights=Weights(1, 0, 0.5))
        found = solved(instance)
        assert found.objective == pytest.approx(2)
        assert found.bound == pytest.approx(2)
        assert found.columns is not None
        assert found.columns["start_hours"] == [2.0]

    def test_two_jobs_share_one_reserved_cpu(self) -> None:
        """One runs in the clean hour on the reserved CPU, one waits for it: carbon 1 + 2."""
        instance = by_hand([1, 2], [(0, 1, 1), (0, 1, 1)], wait=1.0, reserved_cpus=1, weights=Weights(1, 2, 0))
        found = solved(instance)
        assert found.objective == pytest.approx(3)
        assert found.bound == pytest.approx(3)

    def test_a_job_larger_than_r_splits_or_not(self) -> None:
        """Three CPUs, two reserved: one on demand for 1 $, or all three where they may not split."""
        instance = by_hand([1, 1], [(0, 1, 3)], wait=0.0, reserved_cpus=2, weights=Weights(0, 1, 0))
        assert solved(instance).objective == pytest.approx(1)
        apart = solved(instance.with_model("no-split"))
        assert apart.objective == pytest.approx(3)
        assert apart.bound == pytest.approx(3)

    def test_a_break_in_the_dirty_hour(self) -> None:
        instance = by_hand([1, 9, 1, 9], [(0, 2, 1)], wait=1.0, weights=Weights(1, 0, 0))
        assert solved(instance).objective == pytest.approx(10)
        broken = solved(instance.with_model("suspend-resume"))
        assert broken.objective == pytest.approx(2)
        assert broken.bound == pytest.approx(2)

    def test_reserved_cpus_are_bought_if_they_pay(self) -> None:
        """Two hours of need in two hours at .4 of the price on demand: worth it; one hour in ten is not."""
        busy = by_hand([1, 1], [(0, 1, 3), (1, 1, 3)], wait=0.0, reserved_cpus=None, weights=Weights(0, 1, 0))
        found = solved(busy)
        assert found.info["reserved_cpus"] == 3
        assert found.objective == pytest.approx(2.4)
        assert found.bound == pytest.approx(2.4)
        idle = by_hand([1] * 10, [(0, 1, 3)], wait=0.0, reserved_cpus=None, weights=Weights(0, 1, 0))
        assert solved(idle).info["reserved_cpus"] == 0

    def test_spot_at_its_expected_cost(self) -> None:
        """Hazard 1, one hour: .2 (1 - 1/e) on spot, and 1 - 1/e on demand after an eviction; .7585 < 1."""
        instance = by_hand([0] * 4, [(0, 1, 1)], wait=1.0, spot=Spot(2.0, 1.0), weights=Weights(0, 1, 0))
        assert solved(instance).objective == pytest.approx(1.2 * (1 - np.exp(-1)))
        rare = replace(instance, spot=Spot(2.0, 3.0))
        assert solved(rare).objective == pytest.approx(1)  # evicted nearly always: on demand at once

    def test_a_limit_has_a_price(self) -> None:
        """Waiting saves 2 kg an hour; half an hour of mean wait is allowed."""
        instance = by_hand([3, 1, 1], [(0, 1, 1), (0, 1, 1)], wait=1.0, weights=Weights(1, 0, 0))
        found = solved(replace(instance, limits=Limits(mean_wait_hours=0.5)))
        assert found.metrics["mean_wait_hours"] <= 0.5 + 1e-9
        assert found.objective == pytest.approx(4)
        assert found.bound == pytest.approx(4)

    def test_no_jobs(self) -> None:
        found = solved(by_hand([1.0], []))
        assert found.objective == 0


class TestEveryVariant:
    @pytest.mark.parametrize(("model", "hazard", "decided", "limited"), VARIANTS)
    @pytest.mark.parametrize("seed", range(2))
    def test_the_bound_is_proven_and_holds(
        self, model: str, hazard: float | None, decided: bool, limited: bool, seed: int
    ) -> None:
        instance = continuous(seed, model, hazard, decided, limited)
        one = PriceParameters(rounds=RoundParameters(rounds=1, most_sweeps=50))
        outcome = price(instance, Options(time_limit=None, params=one))
        if outcome.certificate is not None:
            proven, _ = proven_bound(instance, outcome.certificate, outcome.info)
            assert proven is not None
            assert outcome.bound is not None
            assert outcome.bound <= proven + 1e-9 * max(1.0, abs(proven))
        rng = np.random.default_rng(seed)
        schedules = [random_schedule(instance, rng) for _ in range(20)]
        if outcome.schedule is not None:
            assert not check(instance, outcome.schedule, outcome.info).violations
            schedules.append((outcome.schedule, outcome.info))
        for schedule, info in schedules:
            report = check(instance, schedule, info)
            if not report.violations:
                assert str(outcome.status) != "infeasible"
                assert outcome.bound is not None
                assert report.objective is not None
                assert outcome.bound <= report.objective + 1e-9 * max(1.0, abs(report.objective))

    @pytest.mark.parametrize("model", MODELS)
    def test_it_is_near_the_optimum(self, model: str) -> None:
        """Against the program, where that is exact: all data are whole slots."""
        instance = whole(4, model)
        exact = co.solve(instance, "milp", time_limit=None)
        found = solved(instance)
        assert exact.objective is not None
        assert found.objective is not None
        assert found.bound is not None
        assert found.bound <= exact.objective * (1 + 1e-7)
        assert exact.objective * (1 - 1e-7) <= found.objective <= exact.objective * 1.02


class TestDual:
    @pytest.mark.parametrize("model", MODELS)
    def test_soft_values_are_below_hard_ones_and_near(self, model: str) -> None:
        dual = Dual(whole(1, model), Grid.of(whole(1, model), 2))
        x = np.random.default_rng(0).random(dual.grid.cells)
        hard, _ = dual.hard(x)
        assert dual.soft(x, 0.1)[0] <= hard + 1e-12
        assert dual.soft(x, 1e-6)[0] == pytest.approx(hard, rel=1e-5)

    @pytest.mark.parametrize(("model", "weight", "usd"), [("splitting", 1.0, 20.0), ("suspend-resume", 3.0, 70.0)])
    def test_a_limit_is_as_good_as_a_weight(self, model: str, weight: float, usd: float) -> None:
        """Where cost has no weight, its limit has a multiplier: the bound was stuck at none, 18 % lower."""
        instance = replace(whole(3, model, jobs=60, slots=100), weights=Weights(1, 0, 0))
        limit = Limits(cost_usd=instance.prepaid_usd(instance.reserved_cpus or 0) + usd)
        weighted = best_bound(
            replace(instance, weights=Weights(1, weight, 0)), lambda: np.inf, Options(), BoundParameters()
        ).value
        limited = best_bound(replace(instance, limits=limit), lambda: np.inf, Options(), BoundParameters()).value
        assert limited > (weighted - weight * usd) * (1 - 1e-4)

    @pytest.mark.parametrize("model", MODELS[:2])
    def test_gradients_are_slopes(self, model: str) -> None:
        instance = continuous(3, model, 0.3, decided=True, limited=True)
        dual = Dual(instance, Grid.of(instance, 1))
        rng = np.random.default_rng(1)
        x = rng.uniform(0.1, 0.9, len(dual.upper))
        step = 1e-6 * rng.normal(size=len(x))
        (above, _), (below, _), (_, slope) = dual.soft(x + step, 0.1), dual.soft(x - step, 0.1), dual.soft(x, 0.1)
        assert above - below == pytest.approx(2 * float(slope @ step), rel=1e-3, abs=1e-9)


class TestNoSplit:
    """What bounds jobs that may split bounds those that may not, too."""

    @pytest.mark.parametrize("quantity", ["cost_usd", "carbon_kg"])
    @pytest.mark.parametrize("policy", ["carbon-time", "res-first-carbon-time"])
    def test_the_bound_is_no_weaker_than_that_of_splitting(self, policy: str, quantity: str) -> None:
        """Where two limits hold, the ascent without an upper bound of prices was lost: 164 $ in place of 200 $."""
        instance = co.generate("purchasing", jobs=150, arrival_hours=72, reserved=3, seed=1, model="no-split")
        metrics = co.simulate(instance, policy).metrics
        tight, loose = (
            best_bound(
                at_equal(instance, metrics, quantity, model)[0],
                lambda: np.inf,
                Options(time_limit=None),
                BoundParameters(cell_hours=(1.0,)),
            ).value
            for model in ("no-split", "splitting")
        )
        assert loose > 0
        assert tight >= loose * (1 - 1e-9)


class TestManners:
    def test_same_seed_same_answer(self) -> None:
        instance = whole(2)
        first, second = (solved(instance, seed=5, time_limit=None) for _ in range(2))
        assert first.columns == second.columns
        assert first.bound == second.bound

    def test_the_time_limit_is_kept(self, monkeypatch: pytest.MonkeyPatch) -> None:
        instance = whole(3, jobs=300, slots=200)
        price(instance, Options(time_limit=None, mip_rel_gap=0.5))  # compiles
        clock = LookedAtClock(monkeypatch)
        outcome = price(instance, Options(time_limit=2.0, mip_rel_gap=0.0, started=0.0))
        clock.require_kept(2.0)
        assert outcome.schedule is not None
        assert outcome.bound is not None

    def test_the_asked_gap_ends_it(self) -> None:
        found = solved(whole(3, jobs=60, slots=100), mip_rel_gap=0.2)
        assert str(found.status) == "optimal"
        assert found.info["rounds"] <= 1

    def test_interrupted_it_keeps_schedule_and_bound(self) -> None:
        def stop(progress: Progress) -> None:
            if progress.schedule is not None and progress.bound is not None:
                raise KeyboardInterrupt

        found = co.solve(whole(2), "price", callback=stop)
        assert str(found.status) == "interrupted"
        assert found.has_solution
        assert found.bound is not None

    def test_what_it_is_given_it_does_not_lose(self) -> None:
        instance = whole(2)
        given = co.solve(instance, "price")
        hurried = co.solve(instance, "price", time_limit=0.0, initial_solution=given)
        assert hurried.objective is not None
        assert given.objective is not None
        assert hurried.objective <= given.objective * (1 + 1e-9)


def whole(seed: int, model: str = "splitting", jobs: int = 12, slots: int = 40) -> PurchasingInstance:
    """Draw jobs of whole slots."""
    rng = np.random.default_rng(seed)
    rows = [
        (float(rng.integers(0, slots - 12)), float(rng.integers(1, 5)), float(rng.integers(1, 4))) for _ in range(jobs)
    ]
    reserved = max(2, jobs // 8)
    kg = [float(value) for value in rng.integers(1, 20, slots)]
    return by_hand(kg, rows, wait=6.0, reserved_cpus=reserved, model=model, weights=Weights(0.05, 1, 0.02))

"""The smoothed bound: a concave function whose maximum is a schedule, for every kind of profile."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from elastic_support import FLUID_KINDS, random_instance

import carbonopt as co
from carbonopt.core.options import Options
from carbonopt.problems.elastic.methods.price.fluid import optimum
from carbonopt.problems.elastic.methods.price.fluid.band import FluidProgram
from carbonopt.problems.elastic.methods.price.fluid.method import fluid_price
from carbonopt.problems.elastic.methods.price.fluid.pricing import Pricer
from carbonopt.problems.elastic.methods.price.fluid.smooth import SmoothedDual, smooth
from carbonopt.problems.elastic.methods.price.parameters import PriceParameters, SmoothingParameters
from carbonopt.problems.elastic.verify.check import check

NO_LIMIT = Options(time_limit=None)
KINDS = [kind for kind in FLUID_KINDS if kind != "scaled"]


@pytest.fixture
def month() -> co.Instance:
    return co.generate("elastic", jobs=120, arrival_hours=500, utilisation=0.6, model="fluid", seed=3)


ALWAYS = {"smoothing": {"least_units": 0}}
"""Smooths instances of any size."""


def dual_of(instance: co.Instance, spread: float) -> SmoothedDual:
    program = FluidProgram.of(instance)
    pricer = Pricer(program)
    pricer(pricer.closed_slot_prices())
    start = (pricer.closed_slot_prices(), pricer.mu.copy())
    return SmoothedDual(program, pricer.shortage_price, spread, start, SmoothingParameters())


@pytest.mark.parametrize("kind", KINDS)
def test_the_gradient_is_load_less_capacity(kind: str) -> None:
    for seed in range(4):
        instance = random_instance(seed, kind, 8, 12)
        dual = dual_of(instance, spread=20.0)
        rng = np.random.default_rng(seed)
        prices, way = rng.uniform(0, 50, 12), rng.normal(size=12)
        _, excess = dual(prices)
        slope = (dual(prices + 1e-4 * way)[0] - dual(prices - 1e-4 * way)[0]) / 2e-4
        assert slope == pytest.approx(float(excess @ way), rel=1e-5, abs=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_concave_and_below_the_bound(kind: str) -> None:
    for seed in range(4):
        instance = random_instance(seed, kind, 8, 12)
        dual, pricer = dual_of(instance, spread=20.0), Pricer(FluidProgram.of(instance))
        rng = np.random.default_rng(seed)
        one, two = rng.uniform(0, 300, (2, 12))
        (first, _), (middle, _), (last, _) = (dual(prices) for prices in (one, (one + two) / 2, two))
        assert middle >= (first + last) / 2 - 1e-9 * abs(middle)
        assert first <= pricer(one)[0] + 1e-6 * abs(first)
        narrow = dual_of(instance, spread=1e-6)(one)[0]
        assert narrow == pytest.approx(pricer(one)[0], rel=1e-6)


def test_its_maximum_is_a_schedule(month: co.Instance) -> None:
    program = FluidProgram.of(month)
    pricer = Pricer(program)
    found = smooth(program, pricer, 1e-4, NO_LIMIT)
    bound, _ = pricer(found.prices)
    assert found.allocation is not None
    report = check(month, found.allocation.schedule(month))
    assert report.violations == ()
    assert report.objective == pytest.approx(found.carbon, rel=1e-9)
    assert bound <= co.solve(month, "lp").objective * (1 + 1e-9)
    assert 0 <= found.carbon - bound <= 1.1e-4 * bound


def test_no_time_is_no_schedule(month: co.Instance) -> None:
    program = FluidProgram.of(month)
    found = smooth(program, Pricer(program), 1e-4, Options(time_limit=0))
    assert found.allocation is None
    assert (found.prices >= 0).all()


class TestPrice:
    @pytest.mark.slow
    @pytest.mark.parametrize("kind", KINDS)
    def test_every_kind_has_the_optimum_that_it_has_otherwise(self, kind: str) -> None:
        found = Counter()
        for seed in range(12):
            instance = random_instance(seed, kind, 2 + seed % 11, 1 + seed * 7 % 15)
            expected = co.solve(instance, "price")
            solution = co.solve(instance, "price", params=ALWAYS)
            assert solution.status == expected.status
            assert co.check(instance, solution).violations == ()
            if solution.has_solution:
                assert solution.objective == pytest.approx(expected.objective, rel=1e-6, abs=1e-9)
            found[str(solution.status)] += 1
        assert found["optimal"] >= 4

    def test_a_narrow_band_around_its_prices_is_enough(self, month: co.Instance) -> None:
        solution = co.solve(month, "price", params=ALWAYS)
        assert solution.status == "optimal"
        assert solution.info["rounds"] <= 3
        assert solution.objective == pytest.approx(co.solve(month, "lp").objective, rel=1e-7)
        assert solution.info["newton_steps"] > 0

    def test_where_the_band_is_too_large_its_schedule_is_the_answer(self, month: co.Instance) -> None:
        solution = co.solve(month, "price", params=ALWAYS | {"band": {"exact_columns": 0}})
        assert solution.status == "optimal"
        assert "rounds" not in solution.info
        report = co.check(month, solution)
        assert report.violations == ()
        assert solution.objective - report.proven_bound <= 1e-4 * solution.objective

    def test_its_schedule_is_told_before_the_rest_begins(self, month: co.Instance) -> None:
        told = []
        options = Options(time_limit=None, callback=told.append, params=PriceParameters.of(ALWAYS))
        fluid_price(month, options)
        (first,) = [progress for progress in told if progress.incumbent is not None and progress.bound is not None]
        report = check(month, first.schedule())
        assert report.violations == ()
        assert report.objective == pytest.approx(first.incumbent, rel=1e-9)
        assert first.incumbent - first.bound <= 1e-4 * first.incumbent

    def test_it_stays_if_what_follows_has_no_time_or_fails(
        self, month: co.Instance, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(optimum, "repaired", lambda *_: None)
        solution = co.solve(month, "price", params=ALWAYS)
        assert solution.has_solution
        assert co.check(month, solution).violations == ()
        assert solution.gap <= 1e-4

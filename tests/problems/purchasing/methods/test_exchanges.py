"""Exchanges of whole jobs: a large one takes the room of small ones, and nothing is ever above R."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from purchasing_random import by_hand

import carbonopt as co
from carbonopt.core.options import Options
from carbonopt.problems.purchasing.data.instance import Limits, PurchasingInstance, Weights
from carbonopt.problems.purchasing.methods.price.bound import best_bound
from carbonopt.problems.purchasing.methods.price.bound_parameters import BoundParameters
from carbonopt.problems.purchasing.methods.price.cooling import Cooling
from carbonopt.problems.purchasing.methods.price.exchanges import ExchangeSearch
from carbonopt.problems.purchasing.methods.price.grid import Grid
from carbonopt.problems.purchasing.methods.price.kernels.exact_responses import Events
from carbonopt.problems.purchasing.methods.price.run_table import amounts, fits


def search_of(instance: PurchasingInstance, on_pool: np.ndarray, random: int = 0) -> ExchangeSearch:
    """Return exchanges where jobs begin at their arrival, some on the pool."""
    proof = best_bound(instance, lambda: np.inf, Options(), BoundParameters(cell_hours=(1.0,)))
    dual, start = proof.dual, instance.jobs.arrival_hours.copy()
    prices, other, rng = dual.of_sizes(proof.point), dual.other_at(proof.weights), np.random.default_rng(random)
    return ExchangeSearch(
        instance, proof.weights, dual.most, other, start, on_pool, dual.sizes.of_job, prices, rng
    )  # fmt: skip


def cost(search: ExchangeSearch) -> float:
    return amounts(search.runs(), search.instance, search.other).objective(search.instance)


def drawn(seed: int) -> PurchasingInstance:
    """Draw forty jobs of whole and of any lengths, with up to 20 CPUs where 23 are reserved."""
    rng = np.random.default_rng(seed)
    rows = [
        (float(rng.uniform(0, 30)), float(rng.choice([0.01, 0.4, 1.0, rng.uniform(1, 9)])), float(rng.integers(1, 21)))
        for _ in range(40)
    ]
    kg = [float(value) for value in rng.integers(1, 20, 56)]
    return by_hand(kg, rows, wait=6.0, reserved_cpus=23, model="no-split", weights=Weights(0.01, 1, 0.02))


class TestByHand:
    @pytest.mark.parametrize("small", [1, 3])
    def test_small_jobs_make_room_for_a_large_one(self, small: int) -> None:
        """All four CPUs for a job of 4, and three of 1 on demand: 3 $ in place of 4 $. Each step alone costs more."""
        rows = [(0.0, 1.0, 4.0)] + [(0.0, 1.0, 1.0)] * small
        instance = by_hand([0, 0], rows, wait=0.0, reserved_cpus=4, weights=Weights(0, 1, 0), model="no-split")
        search = search_of(instance, np.array([False] + [True] * small))
        assert cost(search) == pytest.approx(4)
        search.exchange(Cooling(30, 0.0, 0.0), eager=1.5)
        assert cost(search) == pytest.approx(small)
        assert search.choice.on_pool.tolist() == [True] + [False] * small

    def test_who_leaves_comes_back_later(self) -> None:
        """The small job waits until the large one ends: nothing is on demand."""
        rows = [(0.0, 1.0, 4.0), (0.0, 2.0, 1.0)]
        instance = by_hand([0] * 4, rows, wait=1.0, reserved_cpus=4, weights=Weights(0, 1, 0.01), model="no-split")
        search = search_of(instance, np.array([False, True]))
        search.exchange(Cooling(30, 0.0, 0.0), eager=1.5)
        assert cost(search) == pytest.approx(0.01)

    def test_more_than_may_move_stay(self) -> None:
        """Twenty jobs of 1 for one of 20 would be too many to move, and cost as much."""
        rows = [(0.0, 1.0, 20.0)] + [(0.0, 1.0, 1.0)] * 20
        instance = by_hand([0, 0], rows, wait=0.0, reserved_cpus=20, weights=Weights(0, 1, 0), model="no-split")
        search = search_of(instance, np.array([False] + [True] * 20))
        search.exchange(Cooling(10, 0.0, 0.0), eager=0.5)
        assert search.choice.on_pool.tolist() == [False] + [True] * 20


class TestAnySchedule:
    @pytest.mark.parametrize("seed", range(8))
    def test_without_heat_nothing_is_lost(self, seed: int) -> None:
        instance = drawn(seed)
        search = search_of(instance, np.zeros(40, dtype=np.bool_), seed)
        last = cost(search)
        for _ in range(6):
            search.exchange(Cooling(1, 0.0, 0.0), eager=1.5)
            assert fits(search.runs(), instance)
            now = cost(search)
            assert now <= last * (1 + 1e-12)
            last = now
        assert search.choice.on_pool.any()

    @pytest.mark.parametrize("seed", range(8))
    def test_hot_or_not_all_keep_to_the_reserved_cpus(self, seed: int) -> None:
        instance = drawn(seed)
        search = search_of(instance, np.zeros(40, dtype=np.bool_), seed)
        search.exchange(Cooling(20, 5.0, 0.01), eager=1.5)
        runs = search.runs()
        report = co.evaluate(instance, runs.columns(instance))
        assert report.objective == pytest.approx(cost(search), rel=1e-9)

    @pytest.mark.parametrize("seed", range(4))
    def test_the_load_is_that_of_the_jobs(self, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        """What exchanges take out and put in again leaves the load as if it were made anew."""
        search = search_of(drawn(seed), np.zeros(40, dtype=np.bool_), seed)
        made: list[Events] = []
        of_search = ExchangeSearch.events

        def kept(self: ExchangeSearch, grid: Grid, capacity: int) -> Events:
            made.append(of_search(self, grid, capacity))
            return made[-1]

        monkeypatch.setattr(ExchangeSearch, "events", kept)
        search.exchange(Cooling(10, 1.0, 0.01), eager=1.5)
        used = made[-1]
        fresh = of_search(search, search.buckets(), used.moment.shape[1])
        assert used.number.tolist() == fresh.number.tolist()
        assert used.before == pytest.approx(fresh.before)
        for b, count in enumerate(used.number.tolist()):
            assert used.moment[b, :count].tolist() == sorted(fresh.moment[b, :count].tolist())

    def test_no_long_job_pays_for_a_second_above_r(self) -> None:
        """A job of 1,000 CPUs and 1,000 h would gain more than a second above R costs, at a price of any size."""
        rows = [(0.0, 1.0, 1.0), (1 - 2e-4, 1000.0, 1000.0)]
        instance = by_hand([0] * 1001, rows, wait=0.0, reserved_cpus=1000, weights=Weights(0, 1, 0), model="no-split")
        search = search_of(instance, np.array([True, False]))
        search.exchange(Cooling(20, 0.0, 0.0), eager=0.1)
        assert fits(search.runs(), instance)
        assert search.choice.on_pool.tolist() == [False, True]

    def test_buckets_and_paths_grow(self) -> None:
        """Eighty jobs begin within a minute: more than a bucket of sixteen changes holds."""
        rng = np.random.default_rng(0)
        rows = [(float(rng.uniform(0, 0.01)), float(rng.uniform(0.5, 1.5)), 1.0) for _ in range(80)]
        instance = by_hand([1] * 40, rows, wait=9.0, reserved_cpus=9, model="no-split", weights=Weights(0.01, 1, 0.02))
        search = search_of(instance, np.zeros(80, dtype=np.bool_))
        search.exchange(Cooling(10, 0.1, 0.01), eager=1.5)
        assert fits(search.runs(), instance)
        assert search.choice.on_pool.sum() > 60


class TestMethod:
    def test_without_a_time_limit_there_are_all_rounds_too(self) -> None:
        found = co.solve(drawn(1), "price", time_limit=None)
        assert found.info["rounds"] == 3

    def test_rounds_are_the_same_with_and_without(self) -> None:
        pair = [
            co.solve(drawn(seed), "price", time_limit=None, params={"exchanges": {"rounds": rounds}}).objective
            for seed in range(3)
            for rounds in (0, 1)
        ]
        assert all(after <= before for before, after in zip(pair[::2], pair[1::2], strict=True))

    def test_under_limits_there_are_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ExchangeSearch, "exchange", lambda self, cooling, eager: pytest.fail("an exchange"))
        instance = replace(drawn(1), limits=Limits(mean_wait_hours=1.0))
        assert co.solve(instance, "price", work_limit=0.5).objective is not None

    def test_they_follow_the_rounds_and_only_improve(self) -> None:
        instance = drawn(1)
        few = {"rounds": {"rounds": 1}}
        without = co.solve(instance, "price", time_limit=None, params={**few, "exchanges": {"rounds": 0}})
        found = co.solve(instance, "price", time_limit=None, params={**few, "exchanges": {"rounds": 1, "sweeps": 60}})
        assert without.objective is not None
        assert found.objective is not None
        assert found.objective < without.objective
        again = co.solve(instance, "price", time_limit=None, params={**few, "exchanges": {"rounds": 1, "sweeps": 60}})
        assert again.columns == found.columns
        by_work = [co.solve(instance, "price", work_limit=0.6, seed=3) for _ in range(2)]
        assert by_work[0].columns == by_work[1].columns

"""Ruin and recreate: a large job takes the room of small ones, and nothing is ever above R."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from purchasing_random import by_hand

import carbonopt as co
from carbonopt.core.options import Options
from carbonopt.problems.purchasing.data.instance import Limits, PurchasingInstance, Weights
from carbonopt.problems.purchasing.data.purchase_options import RESERVED
from carbonopt.problems.purchasing.methods.price import ruins
from carbonopt.problems.purchasing.methods.price.bound import best_bound
from carbonopt.problems.purchasing.methods.price.bound_parameters import BoundParameters
from carbonopt.problems.purchasing.methods.price.cooling import Cooling
from carbonopt.problems.purchasing.methods.price.grid import Grid
from carbonopt.problems.purchasing.methods.price.kernels.exact_responses import Events
from carbonopt.problems.purchasing.methods.price.kernels.forced_starts import first_excess, in_the_way
from carbonopt.problems.purchasing.methods.price.kernels.free_starts import cost_of_run, free_start
from carbonopt.problems.purchasing.methods.price.kernels.moves import Luck, list_running
from carbonopt.problems.purchasing.methods.price.parameters import PriceParameters, RuinParameters
from carbonopt.problems.purchasing.methods.price.ruins import RuinSearch
from carbonopt.problems.purchasing.methods.price.run_table import RunTable, amounts, best_reserved, fits


def search_of(instance: PurchasingInstance, on_pool: np.ndarray, random: int = 0) -> RuinSearch:
    """Return ruin and recreate where jobs begin at their arrival, some on the pool."""
    proof = best_bound(instance, lambda: np.inf, Options(), BoundParameters(cell_hours=(1.0,)))
    dual, start = proof.dual, instance.jobs.arrival_hours.copy()
    prices, other, rng = dual.of_sizes(proof.point), dual.other_at(proof.weights), np.random.default_rng(random)
    return RuinSearch(
        instance, proof.weights, dual.most, other, start, on_pool, dual.sizes.of_job, prices, rng
    )  # fmt: skip


def anneal(search: RuinSearch, cooling: Cooling) -> list[float]:
    """Return by how much the cost has changed after each sweep."""
    return list(search.sweeps(cooling))


def cost(search: RuinSearch) -> float:
    return amounts(search.runs(), search.instance, search.other).objective(search.instance)


NO_BRANCHES = {"branches": {"pace": 0}}
"""They come after all schedules."""


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
        anneal(search, Cooling(30, 0.0, 0.0))
        assert cost(search) == pytest.approx(small)
        assert search.choice.on_pool.tolist() == [True] + [False] * small

    def test_who_leaves_comes_back_later(self) -> None:
        """The small job waits until the large one ends: nothing is on demand."""
        rows = [(0.0, 1.0, 4.0), (0.0, 2.0, 1.0)]
        instance = by_hand([0] * 4, rows, wait=1.0, reserved_cpus=4, weights=Weights(0, 1, 0.01), model="no-split")
        search = search_of(instance, np.array([False, True]))
        anneal(search, Cooling(30, 0.0, 0.0))
        assert cost(search) == pytest.approx(0.01)

    def test_more_than_may_leave_stay(self) -> None:
        """Three hundred jobs would have to leave for a large one that costs 10 % more on demand than they."""
        rows = [(0.0, 1.0, 300.0)] + [(0.0, 0.9, 1.0)] * 300
        instance = by_hand([0, 0], rows, wait=0.0, reserved_cpus=300, weights=Weights(0, 1, 0), model="no-split")
        search = search_of(instance, np.array([False] + [True] * 300))
        anneal(search, Cooling(5, 0.0, 0.0))
        assert search.choice.on_pool.tolist() == [False] + [True] * 300

    def test_hundred_jobs_make_room_at_once(self) -> None:
        rows = [(0.0, 1.0, 100.0)] + [(0.0, 0.9, 1.0)] * 100
        instance = by_hand([0, 0], rows, wait=0.0, reserved_cpus=100, weights=Weights(0, 1, 0), model="no-split")
        search = search_of(instance, np.array([False] + [True] * 100))
        anneal(search, Cooling(20, 0.0, 0.0))
        assert search.choice.on_pool.tolist() == [True] + [False] * 100

    def test_who_saves_least_is_in_the_way(self) -> None:
        """At 1 h the second job would run on demand for a fifth of what the first one pays there."""
        rows = [(0.0, 2.0, 2.0), (0.0, 2.0, 2.0)]
        instance = by_hand([0] * 3, rows, wait=0.0, reserved_cpus=4, weights=Weights(0, 1, 0), model="no-split")
        search = search_of(instance, np.array([True, True]))
        search.choice.other[:] = [5.0, 1.0]
        events = search.tolled(search.buckets(), 16)
        costs, near = search.costs(search.buckets(), events), search.near()
        luck = Luck(np.linspace(0, 0.99, 20), np.zeros(1, np.int64))
        found = in_the_way(1.0, -1, 20, luck, search.jobs, search.choice, events, costs, near)
        assert found == 1
        assert in_the_way(2.5, -1, 1, luck, search.jobs, search.choice, events, costs, near) == -1

    def test_who_pays_dear_hours_is_in_the_way(self) -> None:
        """The second job runs in the hour whose price is 1 $: of what it saves on demand less is left."""
        rows = [(0.0, 2.0, 2.0), (1.0, 2.0, 2.0)]
        instance = by_hand([0] * 4, rows, wait=0.0, reserved_cpus=4, weights=Weights(0, 1, 0), model="no-split")
        search = search_of(instance, np.array([True, True]))
        search.prices = np.array([[0.0, 0.0, 1.0, 0.0]])
        events = search.tolled(search.buckets(), 16)
        costs, near = search.costs(search.buckets(), events), search.near()
        luck = Luck(np.linspace(0, 0.99, 20), np.zeros(1, np.int64))
        assert in_the_way(1.5, -1, 20, luck, search.jobs, search.choice, events, costs, near) == 1

    @pytest.mark.parametrize(("called", "is_found"), [(2, True), (1, False)])
    def test_two_off_the_pool_are_called_together(self, called: int, is_found: bool) -> None:
        """Two jobs of 2 CPUs and 1 h are worth more than one of 4 CPUs and .9 h, one of them alone is not."""
        rows = [(0.0, 0.9, 4.0), (0.0, 1.0, 2.0), (0.0, 1.0, 2.0)]
        instance = by_hand([0, 0], rows, wait=0.0, reserved_cpus=4, weights=Weights(0, 1, 0), model="no-split")
        search = search_of(instance, np.array([True, False, False]))
        ruins = RuinParameters(leaving=1, called=called, forced_share=0.0, reach_hours=0.0)
        search.parameters = PriceParameters(ruins=ruins)
        if not is_found:  # a job off the pool calls one more itself: only tries around the one on it are made
            search.chance = np.array([1.0, 0.0, 0.0])
        anneal(search, Cooling(60, 0.0, 0.0))
        assert search.choice.on_pool.tolist() == [not is_found, is_found, is_found]

    @pytest.mark.parametrize(("share", "start"), [(0.0, 0.0), (1.0, 1.0)])
    def test_prices_of_the_bound_decide_where_a_job_starts(self, share: float, start: float) -> None:
        """The first hour is dear to who pays them: the job waits for the second, though nobody runs in the first."""
        instance = by_hand(
            [0, 0], [(0.0, 1.0, 1.0)], wait=1.0, reserved_cpus=1, weights=Weights(0, 1, 0.01), model="no-split"
        )
        search = search_of(instance, np.array([False]))
        search.prices = np.array([[1e9, 0.0]])
        search.parameters = PriceParameters(ruins=RuinParameters(tolled_share=share, forced_share=0.0))
        anneal(search, Cooling(1, 0.0, 0.0))
        assert search.choice.on_pool.tolist() == [True]
        assert search.choice.start.tolist() == [start]


class TestNear:
    """Two jobs of four CPUs, from 0 to 1 h and from 1 to 2 h; a third of one CPU from 2.5 to 3 h."""

    @pytest.fixture
    def search(self) -> RuinSearch:
        rows = [(0.0, 1.0, 4.0), (1.0, 1.0, 4.0), (2.5, 0.5, 1.0)]
        instance = by_hand([0] * 4, rows, wait=0.0, reserved_cpus=4, weights=Weights(0, 1, 0), model="no-split")
        return search_of(instance, np.array([True, True, True]))

    @pytest.mark.parametrize(
        ("begin", "end", "found"),
        [(0.0, 0.0, [0]), (0.5, 0.9, [0]), (1.0, 1.0, [1]), (0.9, 1.0, [0, 1]), (2.0, 2.4, []), (2.4, 2.5, [2])],
    )
    def test_who_runs(self, search: RuinSearch, begin: float, end: float, found: list[int]) -> None:
        near = search.near()
        count = list_running(begin, end, -1, search.jobs, search.choice, near)
        assert near.running[:count].tolist() == found

    @pytest.mark.parametrize(("reserved", "first"), [(4.0, -1.0), (3.0, 0.0), (0.5, 0.0)])
    def test_first_excess(self, search: RuinSearch, reserved: float, first: float) -> None:
        assert first_excess(0.0, 1.0, search.events(search.buckets(), 16), reserved) == first

    @pytest.mark.parametrize(("begin", "end", "first"), [(2.0, 2.5, -1.0), (2.0, 2.55, 2.5), (1.5, 2.5, 1.5)])
    def test_a_run_may_end_where_another_begins(
        self, search: RuinSearch, begin: float, end: float, first: float
    ) -> None:
        assert first_excess(begin, end, search.events(search.buckets(), 16), 0.5) == first


class TestFreeStarts:
    @pytest.mark.parametrize("tolled", [0.0, 0.4])
    @pytest.mark.parametrize("seed", range(6))
    def test_no_start_is_better(self, seed: int, tolled: float) -> None:
        """Of all moments at which a run could begin, with a load that shares nothing with the loops."""
        search = search_of(drawn(seed), np.zeros(40, dtype=np.bool_), seed)
        anneal(search, Cooling(3, 0.0, 0.0))
        jobs, choice = search.jobs, search.choice
        found = 0
        for j in range(40):
            choice.on_pool[j] = False
            events = search.tolled(search.buckets(), 64)
            costs = search.costs(search.buckets(), events)
            other = float(choice.other[j])
            start = free_start(j, tolled, other, jobs, events, costs)
            runs = np.flatnonzero(choice.on_pool)
            begin, end = choice.start[runs], (choice.start + jobs.length)[runs]
            edges = np.concatenate([np.arange(57.0), begin, end, [jobs.arrival[j], jobs.arrival[j] + jobs.wait[j]]])
            starts = np.concatenate([edges, edges - jobs.length[j]])
            starts = starts[(starts >= jobs.arrival[j]) & (starts <= jobs.arrival[j] + jobs.wait[j])]
            free = costs.reserved - jobs.cpus[j]
            least = other
            for s in starts.tolist():
                during = np.concatenate([[s], begin[(begin > s) & (begin < s + jobs.length[j] - 1e-9)]])
                load = ((begin <= during[:, None] + 1e-9) & (end > during[:, None] + 1e-9)) @ jobs.cpus[runs]
                if (load <= free).all():
                    least = min(least, cost_of_run(s, j, tolled, jobs, events, costs))
            if start < 0:
                assert least == pytest.approx(other, rel=1e-12)
            else:
                found += 1
                assert cost_of_run(start, j, tolled, jobs, events, costs) == pytest.approx(least, rel=1e-9)
                choice.start[j], choice.on_pool[j] = start, True
            assert fits(search.runs(), search.instance)
        assert found > 5

    def test_it_waits_for_the_gap(self) -> None:
        """Three of four CPUs are taken until 2 h: a job of 2 fits from then on."""
        rows = [(0.0, 2.0, 3.0), (0.5, 1.0, 2.0)]
        instance = by_hand([0] * 6, rows, wait=3.0, reserved_cpus=4, weights=Weights(0, 1, 0.01), model="no-split")
        search = search_of(instance, np.array([True, False]))
        events = search.tolled(search.buckets(), 16)
        costs = search.costs(search.buckets(), events)
        assert free_start(1, 0.0, np.inf, search.jobs, events, costs) == 2.0
        assert free_start(1, 0.0, 0.01, search.jobs, events, costs) == -1.0


class TestAnySchedule:
    @pytest.mark.parametrize("seed", range(8))
    def test_without_heat_nothing_is_lost(self, seed: int) -> None:
        instance = drawn(seed)
        search = search_of(instance, np.zeros(40, dtype=np.bool_), seed)
        last = cost(search)
        for _ in range(6):
            (change,) = anneal(search, Cooling(1, 0.0, 0.0))
            assert fits(search.runs(), instance)
            now = cost(search)
            assert now <= last * (1 + 1e-12)
            assert now - last == pytest.approx(change, abs=1e-9 * last)
            last = now
        assert search.choice.on_pool.any()

    @pytest.mark.parametrize("seed", range(8))
    def test_hot_or_not_all_keep_to_the_reserved_cpus(self, seed: int) -> None:
        instance = drawn(seed)
        search = search_of(instance, np.zeros(40, dtype=np.bool_), seed)
        anneal(search, Cooling(20, 5.0, 0.01))
        runs = search.runs()
        report = co.evaluate(instance, runs.columns(instance))
        assert report.objective == pytest.approx(cost(search), rel=1e-9)

    @pytest.mark.parametrize("seed", range(4))
    def test_the_load_is_that_of_the_jobs(self, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        """What leaves the pool and is put in again leaves the load as if it were made anew."""
        search = search_of(drawn(seed), np.zeros(40, dtype=np.bool_), seed)
        made: list[Events] = []
        of_search = RuinSearch.events

        def kept(self: RuinSearch, grid: Grid, capacity: int) -> Events:
            made.append(of_search(self, grid, capacity))
            return made[-1]

        monkeypatch.setattr(RuinSearch, "events", kept)
        anneal(search, Cooling(10, 1.0, 0.01))
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
        anneal(search, Cooling(20, 0.0, 0.0))
        assert fits(search.runs(), instance)
        assert search.choice.on_pool.tolist() == [False, True]

    def test_random_numbers_run_out_and_are_drawn_again(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """With room for two tries at a time all are made, and the load is kept."""
        monkeypatch.setattr(ruins, "LUCK", 1)
        search = search_of(drawn(2), np.zeros(40, dtype=np.bool_))
        assert len(anneal(search, Cooling(20, 0.1, 0.01))) == 20
        assert fits(search.runs(), search.instance)
        assert search.choice.on_pool.any()

    def test_buckets_and_paths_grow(self) -> None:
        """Eighty jobs begin within a minute: more than a bucket of sixteen changes holds."""
        rng = np.random.default_rng(0)
        rows = [(float(rng.uniform(0, 0.01)), float(rng.uniform(0.5, 1.5)), 1.0) for _ in range(80)]
        instance = by_hand([1] * 40, rows, wait=9.0, reserved_cpus=9, model="no-split", weights=Weights(0.01, 1, 0.02))
        search = search_of(instance, np.zeros(80, dtype=np.bool_))
        anneal(search, Cooling(10, 0.1, 0.01))
        assert fits(search.runs(), instance)
        assert search.choice.on_pool.sum() > 60

    def test_heat_lets_the_cost_rise(self) -> None:
        search = search_of(drawn(1), np.zeros(40, dtype=np.bool_))
        assert np.diff(anneal(search, Cooling(30, 5.0, 5.0))).max() > 0

    def test_work_counts_who_is_listed(self) -> None:
        """Each try looks at all jobs that arrive within the longest window: one long job makes it longer."""
        jobs = [(float(k), 0.5, 1.0) for k in range(50)]
        short, long = (
            by_hand([1] * 60, [*jobs, (0.0, hours, 1.0)], wait=1.0, reserved_cpus=3, model="no-split")
            for hours in (0.5, 50.0)
        )
        steps = [search_of(instance, np.zeros(51, dtype=np.bool_)).steps for instance in (short, long)]
        assert steps[1] > steps[0] + 45 * 51

    def test_runs_that_touch_need_no_more_reserved_cpus(self) -> None:
        """The second run begins an ulp before the first ends: four CPUs are enough, not eight."""
        rows = [(0.0, 1.0, 4.0), (0.0, 1.0, 4.0)]
        instance = by_hand([0] * 4, rows, wait=2.0, reserved_cpus=None, model="no-split", weights=Weights(0, 1, 0.01))
        two, end = np.arange(2), np.array([1.0, 2.0])
        runs = RunTable(two, np.array([0.0, np.nextafter(1.0, 0.0)]), end, np.full(2, RESERVED), 4.0)
        assert best_reserved(runs, instance, 1.0) == 4.0


class TestMethod:
    def test_it_ends_where_the_gap_is_closed(self) -> None:
        """Without a gap to close it goes on for all tries."""
        params = {
            "bound": {"weighings": 0},
            "placements": {"placements": 0},
            "rounds": {"rounds": 1},
            "ruins": {"rounds": 1},
        }
        whole = co.solve(drawn(3), "price", time_limit=None, params=params)
        assert whole.gap is not None
        found = co.solve(drawn(3), "price", time_limit=None, params=params, mip_rel_gap=1.05 * whole.gap)
        assert found.gap is not None
        assert found.gap <= 1.05 * whole.gap
        assert found.work < 0.9 * whole.work

    def test_without_a_time_limit_there_are_all_rounds_too(self) -> None:
        found = co.solve(drawn(1), "price", time_limit=None, params=NO_BRANCHES)
        assert found.info["rounds"] == 3

    def test_rounds_are_the_same_with_and_without(self) -> None:
        pair = [
            co.solve(
                drawn(seed), "price", time_limit=None, params=NO_BRANCHES | {"ruins": {"rounds": rounds}}
            ).objective
            for seed in range(3)
            for rounds in (0, 1)
        ]
        assert all(after <= before for before, after in zip(pair[::2], pair[1::2], strict=True))

    def test_under_limits_there_are_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(RuinSearch, "sweeps", lambda self, cooling: pytest.fail("a sweep"))
        instance = replace(drawn(1), limits=Limits(mean_wait_hours=1.0))
        assert co.solve(instance, "price", work_limit=0.5).objective is not None

    def test_better_schedules_are_offered_on_the_way(self) -> None:
        """Whoever stops an annealing keeps what it has found so far."""
        told: list[float] = []

        def note(progress: co.Progress) -> None:
            if progress.incumbent is not None and progress.incumbent not in told:
                told.append(progress.incumbent)

        params = NO_BRANCHES | {"rounds": {"rounds": 1}, "ruins": {"rounds": 1}}
        found = co.solve(drawn(3), "price", time_limit=None, params=params, callback=note)
        assert told == sorted(told, reverse=True)
        assert told[-1] == pytest.approx(found.objective)
        assert len(told) >= 4

    def test_they_follow_the_rounds_and_only_improve(self) -> None:
        instance = drawn(1)
        few = NO_BRANCHES | {"rounds": {"rounds": 1}}
        without = co.solve(instance, "price", time_limit=None, params={**few, "ruins": {"rounds": 0}})
        found = co.solve(instance, "price", time_limit=None, params={**few, "ruins": {"rounds": 1, "tries": 60}})
        assert without.objective is not None
        assert found.objective is not None
        assert found.objective < without.objective
        again = co.solve(instance, "price", time_limit=None, params={**few, "ruins": {"rounds": 1, "tries": 60}})
        assert again.columns == found.columns
        by_work = [co.solve(instance, "price", work_limit=0.6, seed=3) for _ in range(2)]
        assert by_work[0].columns == by_work[1].columns

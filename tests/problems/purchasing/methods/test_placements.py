"""Places of large jobs: found together, each with a bound, and kept by the rounds that begin with them."""

from __future__ import annotations

import numpy as np
import pytest
from purchasing_random import by_hand

import carbonopt as co
from carbonopt.algorithms.prices import Ascent
from carbonopt.core.arrays import FloatArray
from carbonopt.core.options import Options
from carbonopt.problems.purchasing.data.instance import Limits, PurchasingInstance, Weights
from carbonopt.problems.purchasing.methods.price.bound import Proof, best_bound
from carbonopt.problems.purchasing.methods.price.bound_parameters import BoundParameters
from carbonopt.problems.purchasing.methods.price.cooling import Cooling
from carbonopt.problems.purchasing.methods.price.dual import Dual
from carbonopt.problems.purchasing.methods.price.grid import Grid
from carbonopt.problems.purchasing.methods.price.guides import Guide, best_of
from carbonopt.problems.purchasing.methods.price.parameters import PriceParameters
from carbonopt.problems.purchasing.methods.price.placement_parameters import PlacementParameters
from carbonopt.problems.purchasing.methods.price.placements import placements_of
from carbonopt.problems.purchasing.methods.price.places import Places
from carbonopt.problems.purchasing.methods.price.rounds import Rounds
from carbonopt.problems.purchasing.methods.price.search import Search


def two_large() -> PurchasingInstance:
    """Two jobs of 6 of 10 CPUs and of three hours, beside four small ones; hours 4 to 6 are clean, and 7 to 9 next."""
    kg = [9, 9, 9, 9, 1, 1, 1, 2, 2, 2, 9, 9, 9, 9, 9, 9, 9, 9, 9]
    rows = [(0.0, 3.0, 6.0), (0.0, 3.0, 6.0), *((1.0, 2.0, 1.0) for _ in range(4))]
    return by_hand(kg, rows, wait=9.0, reserved_cpus=10, model="no-split", weights=Weights(1, 100, 0.001))


def proof_of(instance: PurchasingInstance) -> Proof:
    """Return a bound that knows nothing of whole jobs: with rounded sizes it is the optimum of `two_large`."""
    return best_bound(instance, lambda: np.inf, Options(), BoundParameters(cell_hours=(1.0,), divisors=0, weighings=0))


def placements(instance: PurchasingInstance, **params: float) -> list[Guide]:
    return placements_of(proof_of(instance), lambda: np.inf, Options(), PlacementParameters(**params))


def drawn(seed: int) -> tuple[PurchasingInstance, Places]:
    """Draw twelve jobs, and places for half of them, on the pool or not."""
    rng = np.random.default_rng(seed)
    rows = [(float(rng.uniform(0, 9)), float(rng.uniform(0.2, 6)), float(rng.integers(1, 8))) for _ in range(12)]
    kg = [float(value) for value in rng.integers(1, 20, 30)]
    weights = Weights(0.01, 1, 0.02)
    instance = by_hand(kg, rows, wait=5.0, reserved_cpus=12, model="no-split", weights=weights)
    places = Places.none(instance.jobs.arrival_hours)
    jobs = Dual(instance, Grid.of(instance, 1)).jobs
    for job in rng.permutation(12)[:6].tolist():
        start = places.start[job] + float(rng.uniform(0, 5))
        if rng.random() < 0.7 and places.room(job, start, 0.0, jobs, 12.0) is not None:
            places = places.with_job(job, start)
        else:
            places = places.with_job(job, None)
    return instance, places


class TestPlaces:
    def places(self) -> tuple[Dual, Places]:
        dual = Dual(two_large(), Grid.of(two_large(), 1))
        return dual, Places.none(dual.jobs.arrival).with_job(0, 4.0)

    @pytest.mark.parametrize(("start", "apart", "room"), [
        (6.5, 1.0, 7.0),  # begins where the other one ends
        (1.5, 1.0, 1.0),  # ends where it begins
        (6.5, 0.2, None),
        (5.0, 1.0, None),
        (8.0, 1.0, 8.0),
    ])  # fmt: skip
    def test_a_second_large_job_runs_before_or_after(self, start: float, apart: float, room: float | None) -> None:
        dual, places = self.places()
        assert places.room(1, start, apart, dual.jobs, 10.0) == room

    def test_a_small_job_has_room_beside_it(self) -> None:
        dual, places = self.places()
        assert places.room(2, 5.0, 0.0, dual.jobs, 10.0) == 5.0

    def test_loads_of_several_add_up_where_they_overlap(self) -> None:
        """Beside 6 CPUs until 7 and 1 + 1 + 1 from 6 to 8 one more CPU has room, two have not."""
        dual, places = self.places()
        for job in (2, 3, 4):
            places = places.with_job(job, 6.0)
        assert places.room(5, 6.0, 0.0, dual.jobs, 10.0) == 6.0
        assert places.room(5, 6.0, 0.0, dual.jobs, 9.0) is None
        assert places.room(5, 6.0, 1.0, dual.jobs, 9.0) == 7.0

    def test_jobs_off_the_pool_take_no_room(self) -> None:
        dual, places = self.places()
        assert places.with_job(0, None).room(1, 5.0, 0.0, dual.jobs, 10.0) == 5.0

    def test_runs_that_fit_to_the_minute_have_room(self) -> None:
        """0.1 + 0.2 is an ulp above 0.3, and 0.3 - 0.2 an ulp below 0.1."""
        rows = [(0.1, 0.2, 6.0), (0.3, 1.0, 6.0)]
        instance = by_hand([1] * 12, rows, wait=0.2, reserved_cpus=10, model="no-split")
        jobs = Dual(instance, Grid.of(instance, 1)).jobs
        places = Places.none(jobs.arrival).with_job(1, 0.3)
        assert places.room(0, 0.15, 1.0, jobs, 10.0) == 0.1
        first = Places.none(jobs.arrival).with_job(0, 0.1)
        assert first.room(1, 0.3, 0.0, jobs, 10.0) == 0.3

    def test_cpus_that_are_not_whole_add_up(self) -> None:
        rows = [(0.0, 1.0, 0.1), (0.0, 1.0, 0.2)]
        instance = by_hand([1] * 12, rows, wait=2.0, reserved_cpus=1, model="no-split")
        jobs = Dual(instance, Grid.of(instance, 1)).jobs
        assert Places.none(jobs.arrival).with_job(0, 0.0).room(1, 0.0, 0.0, jobs, 0.3) == 0.0

    def test_no_start_is_beyond_the_window(self) -> None:
        """The other one ends at 12; the latest start is 9."""
        dual, _ = self.places()
        late = Places.none(dual.jobs.arrival).with_job(0, 9.0)
        assert late.room(1, 9.0, 100.0, dual.jobs, 10.0) == 6.0


class TestDual:
    @pytest.mark.parametrize("seed", range(20))
    def test_it_bounds_every_schedule_with_these_places(self, seed: int) -> None:
        """One is found by best responses; the prices are 0, random, and a tenth of that."""
        instance, places = drawn(seed)
        dual = Dual(instance, Grid.of(instance, 4)).with_places(places)
        prices = np.random.default_rng(seed).uniform(0, 1, dual.grid.cells)
        least = self.least(instance, places)
        for x in (np.zeros(dual.grid.cells), prices, 0.1 * prices):
            assert dual.hard(x)[0] <= least + 1e-9

    def least(self, instance: PurchasingInstance, places: Places) -> float:
        """Return the cost of a good schedule with these places, by best responses."""
        proof = proof_of(instance)
        guide = Guide.beside(places, proof.dual, proof.point)
        search = searched(instance, proof, guide)
        runs = search.runs()
        columns = runs.columns(instance)
        return float(co.evaluate(instance, columns).objective)

    @pytest.mark.parametrize("seed", range(5))
    def test_at_no_price_it_is_what_the_schedule_costs(self, seed: int) -> None:
        """All others are off the pool, too."""
        instance, places = drawn(seed)
        for job in np.flatnonzero(~places.placed).tolist():
            places = places.with_job(job, None)
        dual = Dual(instance, Grid.of(instance, 4)).with_places(places)
        proof = proof_of(instance)
        runs = searched(instance, proof, Guide.beside(places, proof.dual, proof.point)).runs()
        cost = co.evaluate(instance, runs.columns(instance)).objective
        assert dual.hard(np.zeros(dual.grid.cells))[0] == pytest.approx(cost)

    def test_a_job_in_its_place_costs_what_it_costs_there(self) -> None:
        """At prices of 0: six CPUs for three hours from hour 4 are 18 kg, four hours of waiting; or 1800 $."""
        instance = two_large()
        dual = Dual(instance, Grid.of(instance, 1))
        free = np.zeros(dual.grid.cells)
        places = Places.none(dual.jobs.arrival)
        least = dual.hard(free)[0]
        at_four = dual.with_places(places.with_job(0, 4.0)).hard(free)[0]
        at_seven = dual.with_places(places.with_job(0, 7.0)).hard(free)[0]
        off = dual.with_places(places.with_job(0, None)).hard(free)[0]
        assert at_four == pytest.approx(least)
        kilos = instance.kg_per_cpu_hour
        assert at_seven - at_four == pytest.approx(18 * (kilos[7] - kilos[4]) + 0.003)
        assert off - at_four == pytest.approx(18 * 100 * instance.prices.on_demand_usd_per_cpu_hour)

    @pytest.mark.parametrize("seed", range(5))
    def test_a_place_raises_the_value_by_what_it_costs_beyond_the_least(self, seed: int) -> None:
        """So prices known for the others bound what any place of one more job can reach from below."""
        instance, places = drawn(seed)
        dual = Dual(instance, Grid.of(instance, 4))
        x = np.random.default_rng(seed).uniform(0, 1, dual.grid.cells)
        before = dual.with_places(places).hard(x)[0]
        job = int(np.flatnonzero(~places.placed)[0])
        start, value, other = dual.costs_of(job, x)
        least = min(value.min(), other)
        for s, cost in [*zip(start.tolist(), value.tolist(), strict=True), (None, other)]:
            after = dual.with_places(places.with_job(job, s)).hard(x)[0]
            assert after - before == pytest.approx(cost - least)

    def test_the_dual_it_is_made_from_keeps_its_answers(self) -> None:
        dual = Dual(two_large(), Grid.of(two_large(), 1))
        free = np.zeros(dual.grid.cells)
        dual.hard(free)
        start, other, load = dual.start.copy(), dual.used_other.copy(), dual.load.copy()
        dual.with_places(Places.none(start).with_job(0, 9.0).with_job(1, None)).hard(free + 1)
        assert (dual.start == start).all()
        assert (dual.used_other == other).all()
        assert (dual.load == load).all()

    def test_a_price_is_paid_where_the_place_is(self) -> None:
        """Even a price far above the one on demand: the job may not leave."""
        instance = two_large()
        dual = Dual(instance, Grid.of(instance, 1)).with_places(
            Places.none(np.zeros(6)).with_job(0, 5.0).with_job(1, None)
        )
        price = np.zeros(dual.grid.cells)
        price[7] = 50.0  # one hour of job 0, and nobody else
        change = dual.hard(price)[0] - dual.hard(np.zeros(dual.grid.cells))[0]
        unit = 100 * instance.prices.on_demand_usd_per_cpu_hour
        assert change == pytest.approx((6 - 10) * 50.0 * unit)


def searched(instance: PurchasingInstance, proof: Proof, guide: Guide) -> Search:
    """Return best responses beside the jobs of a guide that have their place, annealed and settled."""
    dual = proof.dual
    search = Search(
        instance, proof.weights, dual.most, dual.other_at(proof.weights), guide.start, guide.on_pool,
        dual.sizes.of_job, guide.prices, np.random.default_rng(0), placed=guide.placed,
    )  # fmt: skip
    search.anneal(0.5, Cooling(10, 1.0, 0.01, np.inf, (1.0, 20.0), clock=lambda: 0.0))
    search.settle(Cooling(3, 0.0, 0.0, np.inf, (1e6, 1e6), clock=lambda: 0.0))
    return search


class TestSearch:
    @pytest.mark.parametrize("seed", range(10))
    def test_jobs_stay_in_their_places(self, seed: int) -> None:
        instance, places = drawn(seed)
        proof = proof_of(instance)
        choice = searched(instance, proof, Guide.beside(places, proof.dual, proof.point)).choice
        placed = places.placed
        assert (choice.on_pool == places.on_pool)[placed].all()
        here = placed & places.on_pool
        assert (choice.start[here] == places.start[here]).all()


class TestPlacements:
    def test_large_jobs_run_one_after_the_other(self) -> None:
        """One in the cleanest hours, one in the next three: 18 + 36 kg against 36 kg if they could run together."""
        first = placements(two_large())[0]
        assert first.placed[:2].all()
        assert sorted(first.start[:2].tolist()) == [4.0, 7.0]
        assert first.on_pool[:2].all()

    def test_that_of_least_bound_comes_first(self) -> None:
        proof = proof_of(two_large())
        values = []
        for guide in placements(two_large()):
            dual = proof.dual.with_places(Places(guide.placed, guide.start, guide.on_pool))
            ascent = Ascent(dual.hard, dual.soft, proof.point)
            ascent.smooth([0.1, 0.01, 0.001])
            values.append(ascent.value)
        assert len(values) > 1
        assert values == pytest.approx(sorted(values), rel=1e-3)
        exact = co.solve(two_large(), "milp").objective
        assert proof.value < values[0] <= exact + 1e-9

    def test_they_differ_in_the_job_that_was_placed_first(self) -> None:
        """Else the best ones would all have the first job at one place, and differ in where the second is."""
        first = [guide.start[0] if guide.on_pool[0] else None for guide in placements(two_large())]
        assert len(set(first)) == len(first) == 5

    def test_being_on_demand_is_one_of_the_choices(self) -> None:
        """Three jobs of 6 CPUs with time for two of them: one is on demand."""
        rows = [(0.0, 3.0, 6.0), (0.0, 3.0, 6.0), (0.0, 3.0, 6.0)]
        three = by_hand([1] * 8, rows, wait=4.0, reserved_cpus=10, model="no-split", weights=Weights(1, 100, 0.1))
        first = placements(three, idle_jobs=3)[0]
        assert first.placed.sum() >= 2
        assert first.on_pool.sum() == 2
        assert placements(three, idle_jobs=1) == []  # the place of the first alone costs nothing

    def test_a_start_that_has_room_is_found_behind_dearer_ones_that_have_none(self) -> None:
        """With one start to try, that is the best with room; with being on demand two jobs have four placements."""
        found = placements(two_large(), starts=1)
        assert len(found) == 4
        assert found[0].on_pool[:2].all()
        assert abs(found[0].start[0] - found[0].start[1]) >= 3 - 1e-9

    @pytest.mark.parametrize("cells", [(0.25, 1.0), (1 / 3, 0.25), (1.0, 0.25), (5.0, 5.0)])
    def test_cells_of_any_lengths_are_allowed(self, cells: tuple[float, float]) -> None:
        proof = best_bound(two_large(), lambda: np.inf, Options(), BoundParameters(divisors=0, weighings=0))
        params = PlacementParameters(cell_hours=cells[0], last_cell_hours=cells[1])
        first = placements_of(proof, lambda: np.inf, Options(), params)[0]
        assert sorted(first.start[:2].tolist()) == pytest.approx([4.0, 7.0])

    def test_none_with_limits(self) -> None:
        limited = two_large().with_objective(two_large().weights, Limits(carbon_kg=1000.0))
        assert placements(limited) == []

    def test_none_where_nothing_costs_anything(self) -> None:
        free = two_large().with_objective(Weights(0, 0, 0), Limits())
        assert placements(free) == []

    def test_none_where_no_job_is_large(self) -> None:
        rows = [(0.0, 3.0, 1.0) for _ in range(20)]
        small = by_hand([9, 9, 9, 1, 1, 1, 9, 9, 9, 9, 9, 9, 9], rows, wait=6.0, reserved_cpus=10, model="no-split")
        assert placements(small) == []

    def test_none_where_places_do_not_raise_the_bound(self) -> None:
        """Alone, two large jobs of different hours are as good as the bound says."""
        rows = [(0.0, 3.0, 6.0), (9.0, 3.0, 6.0)]
        apart = by_hand([9] * 3 + [1] * 3 + [9] * 15, rows, wait=6.0, reserved_cpus=10, model="no-split")
        assert placements(apart) == []

    def test_none_if_none_are_asked_for(self) -> None:
        assert placements(two_large(), placements=0) == []

    @pytest.mark.parametrize("rise", ["least_rise", "least_total_rise"])
    def test_none_that_raise_the_bound_by_less_than_asked(self, rise: str) -> None:
        assert placements(two_large(), **{rise: 10.0}) == []

    @pytest.mark.parametrize("change", [{"model": "splitting"}, {"reserved_cpus": None}])
    def test_none_in_other_programs(self, change: dict[str, object]) -> None:
        """Nor is the time asked for: nothing is begun."""
        fields: dict[str, object] = {"reserved_cpus": 10, "model": "no-split", **change}
        rows = [(0.0, 3.0, 6.0), (0.0, 3.0, 6.0)]
        other = by_hand([9, 9, 9, 9, 1, 1, 1, 2, 2, 2, 9, 9, 9, 9, 9], rows, wait=9.0, **fields)
        assert placements_of(proof_of(other), lambda: 1 / 0, Options(), PlacementParameters()) == []

    def test_it_does_not_begin_what_time_is_too_short_for(self) -> None:
        """Every evaluation asks for the time, as if it took a second; two jobs take thousands."""
        proof = proof_of(two_large())
        asked: list[float] = []

        def remaining() -> float:
            asked.append(150.0 - len(asked))
            return asked[-1]

        assert placements_of(proof, remaining, Options(), PlacementParameters()) == []
        assert len(asked) < 10

    def test_it_stops_when_only_the_time_of_the_last_cells_is_left(self) -> None:
        """The time is enough by far, and ends all at once."""
        proof = proof_of(two_large())
        asked = 0

        def remaining() -> float:
            nonlocal asked
            asked += 1
            return 1e6 if asked < 100 else 1e5

        assert placements_of(proof, remaining, Options(), PlacementParameters()) == []
        assert asked < 160

    def test_none_where_time_is_out(self) -> None:
        proof = proof_of(two_large())
        assert placements_of(proof, lambda: 0.0, Options(), PlacementParameters()) == []


class TestBestOf:
    def guides(self, count: int) -> list[Guide]:
        some = np.zeros(1)
        return [Guide(np.zeros((1, 1)), some + g, some > 0, some > 0) for g in range(count)]

    def test_the_better_half_is_tried_for_twice_as_long(self) -> None:
        """Six guides: six tries, three, two; each halving takes 6 of 18 s."""
        tried: list[tuple[int, float]] = []

        def cost(guide: Guide, time: float) -> float:
            g = int(guide.start[0])
            tried.append((g, time))
            return float([3, 1, 5, 0, 4, 2][g])

        guides = self.guides(6)
        assert best_of(guides, 18.0, cost, lambda: False) is guides[3]
        assert tried == [(g, 1.0) for g in range(6)] + [(3, 2.0), (1, 2.0), (5, 2.0)] + [(3, 3.0), (1, 3.0)]

    def test_the_best_try_counts(self) -> None:
        costs = iter([1.0, 2.0, 3.0, 9.0, 1.5])
        guides = self.guides(3)
        assert best_of(guides, 1.0, lambda guide, time: next(costs), lambda: False) is guides[0]

    def test_one_guide_is_not_tried(self) -> None:
        guides = self.guides(1)
        assert best_of(guides, np.inf, lambda guide, time: 1 / 0, lambda: False) is guides[0]

    def test_it_ends_early_with_the_best_so_far(self) -> None:
        left: FloatArray = np.array([2.0])

        def cost(guide: Guide, time: float) -> float:
            left[0] -= 1
            return -float(guide.start[0])

        guides = self.guides(4)
        assert best_of(guides, 1.0, cost, lambda: bool(left[0] <= 0)) is guides[1]


class TestRounds:
    def rounds(self, seen: list[tuple[Guide, float]]) -> tuple[Rounds, list[Guide]]:
        """Return rounds with two guides, one with both large jobs one after the other, one with both on demand."""
        instance = two_large()
        proof = proof_of(instance)
        none = Places.none(proof.dual.jobs.arrival)
        both = [none.with_job(0, None).with_job(1, None), none.with_job(0, 7.0).with_job(1, 4.0)]
        guides = [Guide.beside(places, proof.dual, proof.point) for places in both]

        class Spied(Rounds):
            def _round(self, number: int, left: float) -> None:
                seen.append((self.guide, left))
                super()._round(number, left)

        return Spied(instance, Options(work_limit=5.0), proof, PriceParameters(), lambda: guides), guides

    def test_all_have_a_round_and_the_better_ones_more(self) -> None:
        seen: list[tuple[Guide, float]] = []
        rounds, guides = self.rounds(seen)
        own = rounds.guide
        rounds.run()
        after_first = seen[1:]
        assert [guide for guide, _ in after_first[:3]] == [*guides, own]
        assert {id(guide) for guide, _ in after_first[3:5]} == {id(guides[1]), id(own)}
        assert after_first[0][1] == after_first[2][1] > 0

    def test_a_round_keeps_to_the_places_and_says_what_they_cost(self) -> None:
        rounds, guides = self.rounds([])
        cost = rounds._cost(guides[1], 0.5)
        assert rounds.start[:2].tolist() == [7.0, 4.0]
        assert rounds.on_pool[:2].all()
        assert cost == pytest.approx(rounds.best.objective)
        assert rounds.best.guide is guides[1]
        assert rounds._cost(guides[0], 0.5) > 2 * cost
        assert rounds.best.guide is guides[1]

    def test_searches_pay_the_prices_of_their_guide(self) -> None:
        rounds, guides = self.rounds([])
        rounds.guide = Guide(guides[1].prices + 1, guides[1].start, guides[1].on_pool, guides[1].placed)
        assert (rounds.search().prices == guides[1].prices + 1).all()

    def test_ruins_pay_the_prices_that_the_best_schedule_began_with(self) -> None:
        rounds, guides = self.rounds([])
        rounds._cost(guides[1], 0.5)
        rounds.guide = guides[0]
        rounds.per_try = 1.0
        rounds._ruin()
        assert rounds.guide is guides[1]


class TestMethod:
    def test_the_schedule_begins_with_places(self) -> None:
        found = co.solve(two_large(), "price", work_limit=3, params={"bound": {"divisors": 0, "weighings": 0}})
        exact = co.solve(two_large(), "milp").objective
        assert "placed_jobs" in found.info
        assert found.objective == pytest.approx(exact)

    def test_it_tells_of_no_places_where_there_are_none(self) -> None:
        found = co.solve(two_large(), "price", work_limit=1, params={"placements": {"placements": 0}})
        assert "placed_jobs" not in found.info

"""Weights of sizes that a load exceeds: no jobs with room exceed them, and the bound knows what they say."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from purchasing_random import by_hand

import carbonopt as co
from carbonopt.core.options import Options
from carbonopt.core.time import TimeGrid
from carbonopt.problems.purchasing.data.instance import PurchasingInstance, Weights
from carbonopt.problems.purchasing.methods.price import bound as bound_room
from carbonopt.problems.purchasing.methods.price import weighings as weighings_room
from carbonopt.problems.purchasing.methods.price.bound import best_bound
from carbonopt.problems.purchasing.methods.price.bound_parameters import BoundParameters
from carbonopt.problems.purchasing.methods.price.dual import Dual
from carbonopt.problems.purchasing.methods.price.grid import Grid
from carbonopt.problems.purchasing.methods.price.rounded_sizes import Divisor, RoundedSizes, Weighing
from carbonopt.problems.purchasing.methods.price.weighings import Weighings, jobs_that_may_run, largest_sums
from carbonopt.problems.purchasing.verify.certificate import proven_bound
from carbonopt.problems.purchasing.verify.certificate_rounded import Weighed, rounded_of
from carbonopt.problems.purchasing.verify.certificate_runs import Windows

OPTIONS = Options(time_limit=None)


def always() -> bool:
    return True


def instance_of(rows: list[tuple[float, float, float]], reserved: int, slots: int, wait: float = 0.0):
    return by_hand(
        [1.0] * slots, rows, wait=wait, reserved_cpus=reserved, weights=Weights(0.1, 1, 0.01), model="no-split"
    )


def few_large(seed: int = 3, reserved: int = 34) -> PurchasingInstance:
    """Return jobs of 20, 8 and 4 CPUs that come within a day."""
    rng = np.random.default_rng(seed)
    cpus = rng.choice([20.0, 8.0, 4.0], 16, p=[0.5, 0.3, 0.2]).tolist()
    rows = [(float(rng.uniform(0, 12)), float(rng.uniform(1, 9)), size) for size in cpus]
    return by_hand(
        rng.uniform(0.1, 0.5, 36).tolist(), rows, wait=8.0, reserved_cpus=reserved, weights=Weights(0.1, 1, 0.01),
        model="no-split",
    )  # fmt: skip


def some_load(search: Weighings) -> np.ndarray:
    """Return a load of no more CPUs than there are, of jobs that may run; shape (sizes, T)."""
    load = search.cpus[:, None] * np.random.default_rng(3).uniform(0, 1, search.count.shape) * search.count
    return np.asarray(load * np.minimum(1.0, search.reserved / np.maximum(load.sum(axis=0), 1e-9)))


class TestWeighing:
    WEIGHING = Weighing((8.0, 20.0), (1, 2), np.array([4, 3, 2, 0]))

    def test_what_jobs_take_up(self) -> None:
        """A weight of 4 is all of 34 CPUs. In the second slot there are three quarters of it."""
        taken = self.WEIGHING.of(np.array([0.0, 4.0, 8.0, 20.0]), 34.0)
        assert taken == pytest.approx([0, 0, 8.5, 17])
        assert self.WEIGHING.each(34.0) == 8.5
        assert self.WEIGHING.there.tolist() == [1, 0.75, 0.5, 0]
        assert self.WEIGHING.entry() == {"cpus": [8.0, 20.0], "weights": [1, 2], "most": 4}

    def test_excess(self) -> None:
        """Of 34 CPUs, 20 in a job of that size and 14 of 8 weigh 2 + 1.75, of 4 at most; or of 3, or 2, or 0."""
        sizes = RoundedSizes(np.array([8.0, 20.0]), 34.0, (), apart=True)
        load = np.tile([[14.0], [20.0]], 4)
        assert sizes.excess(load, [self.WEIGHING, Divisor(20.0)])[0] == pytest.approx([0, 0.1875, 0.4375, 0.9375])


class TestLargestSums:
    def test_by_hand(self) -> None:
        """Of 34 CPUs: 20 and 8, or four of 8; with two of 8 the first; one of 8; none."""
        count = np.array([[4, 2, 1, 0], [1, 1, 0, 0]])
        assert largest_sums(np.array([1, 2]), np.array([8, 20]), count, 34).tolist() == [4, 3, 1, 0]

    def test_against_all_sets(self) -> None:
        rng = np.random.default_rng(1)
        for _ in range(300):
            sizes = int(rng.integers(1, 4))
            weights, need = rng.integers(1, 6, sizes), rng.integers(1, 7, sizes)
            count = rng.integers(0, 4, (sizes, 5))
            capacity = int(rng.integers(1, 16))
            expected = [
                max(
                    int(weights @ jobs)
                    for jobs in product(*(range(n + 1) for n in count[:, t].tolist()))
                    if need @ jobs <= capacity
                )
                for t in range(5)
            ]
            assert largest_sums(weights, need, count, capacity).tolist() == expected


class TestJobsThatMayRun:
    def test_by_hand(self) -> None:
        """From 0.5 to 1.5 h; from 1 to 3, which touches the slots before and behind."""
        begin, end = np.array([0.5, 1.0]), np.array([1.5, 3.0])
        every = jobs_that_may_run(TimeGrid(5, 1.0), begin, end, np.array([0, 1]), 2)
        assert every.tolist() == [[1, 1, 0, 0, 0], [1, 1, 1, 1, 0]]
        halves = jobs_that_may_run(TimeGrid(4, 0.5), begin[:1] + 0.2, end[:1] - 0.2, np.array([0]), 1)
        assert halves.tolist() == [[0, 1, 1, 0]]

    def test_no_fewer_than_the_checker_counts(self) -> None:
        """It counts a run in the slot before if that ends three allowances before the run, rounded or not."""
        for hour in range(1, 40):
            begin = np.array([hour + 3e-7])
            count = jobs_that_may_run(TimeGrid(50, 1.0), begin, begin + 0.5, np.zeros(1, np.int64), 1)[0]
            assert count[hour - 1 : hour + 2].tolist() == [1, 1, 0]

    def test_the_end_of_the_horizon(self) -> None:
        every = jobs_that_may_run(
            TimeGrid(3, 1.0), np.array([1.2, 0.0]), np.array([2.6, 3.0]), np.zeros(2, np.int64), 1
        )
        assert every.tolist() == [[1, 2, 2]]


class TestSearch:
    def search(self, rows: list[tuple[float, float, float]], reserved: int) -> Weighings:
        instance = instance_of(rows, reserved, 4)
        return Weighings(instance, np.where(instance.jobs.cpus <= reserved, instance.jobs.cpus, 0.0))

    def test_a_job_of_20_leaves_no_room_for_two_of_8(self) -> None:
        """34 CPUs hold 20 + 8, or four of 8; the load has 0.7 of one of 20 and 2.5 of 8."""
        search = self.search([(0, 1, 20.0)] + [(0, 1, 8.0)] * 4, 34)
        load = np.zeros((2, 4))
        load[:, 0] = [2.5 * 8, 0.7 * 20]
        (found,) = search.exceeded(load, 9, OPTIONS, always)
        weight = dict(zip(found.cpus, found.weights, strict=True))
        assert weight[20.0] == 3 * weight[8.0]
        assert found.most.tolist() == [4 * weight[8.0], 4 * weight[8.0], 0, 0]  # runs may touch the second slot

    def test_sizes_that_do_not_run_get_weights_too(self) -> None:
        """Two of 20 of 34 exclude each other, and one of 30 excludes both; one of 14 none."""
        search = self.search([(0, 1, 20.0), (0, 1, 20.0), (0, 1, 30.0), (0, 1, 14.0)], 34)
        load = np.zeros((3, 4))
        load[1, 0] = 1.6 * 20
        (found,) = search.exceeded(load, 9, OPTIONS, always)
        assert (found.cpus, found.weights) == ((20.0, 30.0), (1, 1))

    def test_no_set_exceeds_them_and_the_load_does(self) -> None:
        rng = np.random.default_rng(2)
        count = 0
        for _ in range(60):
            cpus = rng.integers(3, 20, 9).astype(float)
            search = self.search([(float(rng.integers(0, 3)), 0.9, size) for size in cpus.tolist()], 24)
            load = search.cpus[:, None] * rng.uniform(0, 1, (len(search.cpus), 4)) * search.count
            load *= np.minimum(1.0, 24 / np.maximum(load.sum(axis=0), 1e-9))
            for found in search.exceeded(load, 9, OPTIONS, always):
                weight = np.array([dict(zip(found.cpus, found.weights, strict=True)).get(n, 0) for n in search.cpus])
                sums = weight @ (load / search.cpus[:, None])
                count += 1
                assert (sums > found.most * 1.005).any()
                for t in range(4):
                    for jobs in product(*(range(n + 1) for n in search.count[:, t].tolist())):
                        assert search.cpus @ jobs > 24 or weight @ jobs <= found.most[t]
        assert count > 40

    def test_not_more_than_asked_and_the_most_exceeded_first(self) -> None:
        instance = few_large(1)
        search = Weighings(instance, instance.jobs.cpus)
        load = some_load(search)
        every = search.exceeded(load, 99, OPTIONS, always)
        assert len({(each.cpus, each.weights) for each in every}) == len(every) > 2
        (first,) = search.exceeded(load, 1, OPTIONS, always)
        assert (first.cpus, first.weights) == (every[0].cpus, every[0].weights)
        assert search.exceeded(load, 0, OPTIONS, always) == []
        sizes = RoundedSizes(search.cpus, 34.0, (), apart=True)
        assert sizes.excess(load, every).sum(axis=1).argmax() == 0

    def test_what_has_room_is_exceeded_by_nothing(self) -> None:
        search = self.search([(0, 1, 20.0)] + [(0, 1, 8.0)] * 4, 34)
        assert search.exceeded(np.tile([[8.0], [20.0]], 4), 9, OPTIONS, always) == []
        assert search.exceeded(np.zeros((2, 4)), 9, OPTIONS, always) == []

    @pytest.mark.parametrize(("cpus", "reserved"), [(20.5, 34), (20.0, 4 * 8192 + 4)])
    def test_only_whole_cpus_and_not_too_many(self, cpus: float, reserved: int) -> None:
        assert not self.search([(0, 1, cpus), (0, 1, 8.0)], reserved).is_possible
        assert self.search([(0, 1, 20.0), (0, 1, 8.0)], 4 * 8192).is_possible

    def test_the_largest_other_sizes_get_weights_first(self) -> None:
        """Beside one of 20 of 34 there is no room for one of 16, nor of 15, which have room together.

        So one of 16 weighs as much as one of 20, and one of 15 nothing.
        """
        search = self.search([(0, 1, 20.0), (0, 1, 20.0), (0, 1, 16.0), (0, 1, 15.0)], 34)
        load = np.zeros((3, 4))
        load[2, 0] = 1.6 * 20
        (found,) = search.exceeded(load, 9, OPTIONS, always)
        assert (found.cpus, found.weights) == ((16.0, 20.0), (1, 1))

    def test_it_ends_with_the_time(self) -> None:
        search = self.search([(0, 1, 20.0)] + [(0, 1, 8.0)] * 4, 34)
        load = np.zeros((2, 4))
        load[:, 0] = [2.5 * 8, 0.7 * 20]
        asked: list[int] = []

        def twice() -> bool:
            asked.append(1)
            return len(asked) <= 2

        assert search.exceeded(load, 9, OPTIONS, twice) == []
        assert len(asked) == 4  # of three slots, and of one weighing

    def test_no_sums_that_a_check_has_no_time_for(self, monkeypatch: pytest.MonkeyPatch) -> None:
        search = self.search([(0, 1, 20.0)] + [(0, 1, 8.0)] * 4, 34)
        load = np.zeros((2, 4))
        load[:, 0] = [2.5 * 8, 0.7 * 20]
        monkeypatch.setattr(weighings_room, "MOST_SUMS", 1.0)
        assert search.exceeded(load, 9, OPTIONS, always) == []

    def test_sums_that_the_checker_refuses(self, monkeypatch: pytest.MonkeyPatch) -> None:
        search = self.search([(0, 1, 20.0)] + [(0, 1, 8.0)] * 4, 34)
        load = np.zeros((2, 4))
        load[:, 0] = [2.5 * 8, 0.7 * 20]
        monkeypatch.setattr(weighings_room, "LARGEST_WEIGHT", 3)
        assert search.exceeded(load, 9, OPTIONS, always) == []


class TestDual:
    def dual(self) -> Dual:
        instance = few_large(1)
        search = Weighings(instance, instance.jobs.cpus)
        units = [Divisor(20.0), *search.exceeded(some_load(search), 2, OPTIONS, always)]
        assert len(units) == 3
        return Dual(instance, Grid.of(instance, 2), units=units)

    def test_gradients_are_slopes(self) -> None:
        dual = self.dual()
        rng = np.random.default_rng(1)
        x = rng.uniform(0.1, 0.5, len(dual.upper))
        assert len(x) == 2 * 36 + 3 * 36
        for step in 1e-6 * np.concatenate([np.eye(len(x))[[0, 80, 110, 150]], rng.normal(size=(3, len(x)))]):
            (above, _), (below, _), (_, slope) = dual.soft(x + step, 0.1), dual.soft(x - step, 0.1), dual.soft(x, 0.1)
            assert above - below == pytest.approx(2 * float(slope @ step), rel=1e-3, abs=1e-9)

    def test_arrivals_a_little_after_the_beginning_of_a_slot(self) -> None:
        """What the checker counts in the slot before, the dual does too."""
        rng = np.random.default_rng(5)
        for after in (0.0, 1e-7, 2e-7, 3e-7, 4e-7, 5e-7):
            cpus = rng.choice([5.0, 17.0, 30.0], 12).tolist()
            rows = [(float(rng.integers(0, 8)) + after, float(rng.integers(1, 5)), size) for size in cpus]
            instance = by_hand(
                [0.2] * 24, rows, wait=1.0, reserved_cpus=34, weights=Weights(0.1, 1, 0.01), model="no-split"
            )
            search = Weighings(instance, instance.jobs.cpus)
            dual = Dual(instance, Grid.of(instance, 1), units=search.exceeded(some_load(search), 4, OPTIONS, always))
            value, certificate = dual.certificate(rng.uniform(0, 0.1, len(dual.upper)))
            assert proven_bound(instance, certificate, {})[0] >= value * (1 - 1e-12)

    def test_the_checker_proves_its_value(self) -> None:
        dual = self.dual()
        x = np.random.default_rng(2).uniform(0, 0.1, len(dual.upper))
        value, certificate = dual.certificate(x)
        proven, _ = proven_bound(dual.instance, certificate, {})
        assert value > 1
        assert proven == pytest.approx(value, rel=1e-6)
        found = rounded_of(dual.instance, certificate, 34.0, Windows.of(dual.instance))
        for units, checked in zip(dual.sizes.units[1:], found[1:], strict=True):
            assert isinstance(units, Weighing)
            assert isinstance(checked, Weighed)
            assert checked.most.tolist() == units.most.tolist()


class TestBound:
    def test_it_is_higher(self) -> None:
        """Jobs of 20, 8 and 4 CPUs on 34: divisors do not see that one of 20 leaves room for one of 8 alone."""
        instance = few_large()
        alone, found = (
            best_bound(instance, lambda: np.inf, OPTIONS, BoundParameters(cell_hours=(1.0,), weighings=most))
            for most in (0, 64)
        )
        assert found.value > 1.05 * alone.value
        assert all(isinstance(units, Divisor) for units in alone.dual.sizes.units)
        assert proven_bound(instance, found.certificate, {})[0] == pytest.approx(found.value, rel=1e-5)
        schedule = co.solve(instance, "price", work_limit=1)
        assert schedule.objective is not None
        assert found.value <= schedule.objective

    def test_units_without_a_price_go(self) -> None:
        instance = few_large()
        found = best_bound(instance, lambda: np.inf, OPTIONS, BoundParameters(cell_hours=(1.0,)))
        entries = found.certificate["rounded"]
        assert len(entries) == len(found.dual.sizes.units)
        assert all(np.any(np.asarray(entry["prices"]) > 0) for entry in entries)

    def test_not_more_than_asked(self, monkeypatch: pytest.MonkeyPatch) -> None:
        instance = few_large()
        values = []
        for most in (0, 1, 5):
            parameters = BoundParameters(cell_hours=(1.0,), divisors=0, weighings=most, least_rise_of_weighings=0.0)
            found = best_bound(instance, lambda: np.inf, OPTIONS, parameters)
            assert min(1, most) <= len(found.dual.sizes.units) <= most
            values.append(found.value)
        assert values[0] < 0.95 * values[1] < 0.95 * values[2]
        none = BoundParameters(cell_hours=(1.0,), divisors=0, weighings=64, least_rise_of_weighings=1.0)
        assert not len(best_bound(instance, lambda: np.inf, OPTIONS, none).dual.sizes.units)
        monkeypatch.setattr(bound_room, "MOST_PRICES", 1)
        assert not len(best_bound(instance, lambda: np.inf, OPTIONS, BoundParameters()).dual.sizes.units)

    @pytest.mark.parametrize("model", ["splitting", "suspend-resume"])
    def test_jobs_that_split_have_none(self, model: str) -> None:
        found = best_bound(few_large().with_model(model), lambda: np.inf, OPTIONS, BoundParameters(cell_hours=(1.0,)))
        assert "rounded" not in found.certificate

    def test_the_same_work_gives_the_same_bound(self) -> None:
        one, two = (co.solve(few_large(), "price", work_limit=0.5, seed=3) for _ in range(2))
        assert (one.bound, one.objective) == (two.bound, two.objective)

"""Searches of method `price`: what jobs pay while the load counts little, and for what they settle at last."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from purchasing_random import by_hand

import carbonopt as co
from carbonopt.algorithms.kernel import loops
from carbonopt.core.options import Options
from carbonopt.problems.purchasing.data.instance import Prices, PurchasingInstance, Spot, Weights
from carbonopt.problems.purchasing.methods.price.bound import Proof, best_bound
from carbonopt.problems.purchasing.methods.price.bound_parameters import BoundParameters
from carbonopt.problems.purchasing.methods.price.cooling import Cooling, Step
from carbonopt.problems.purchasing.methods.price.dual import Dual
from carbonopt.problems.purchasing.methods.price.kernels.cell_responses import Pool, Room, fill_rates
from carbonopt.problems.purchasing.methods.price.method import _Share
from carbonopt.problems.purchasing.methods.price.search import Search

HARDLY = (1e-9, 1e-9)
"""A firmness at which the load counts for nothing."""


def drawn(seed: int, model: str = "splitting", spot: Spot | None = None) -> PurchasingInstance:
    """Draw thirty jobs of whole slots, some of more CPUs than the two that are reserved."""
    rng = np.random.default_rng(seed)
    rows = [(float(rng.integers(0, 30)), float(rng.integers(1, 5)), float(rng.choice([1, 1, 1, 3]))) for _ in range(30)]
    kg = [float(value) for value in rng.integers(1, 20, 56)]
    weights = Weights(0.05, 1, 0.02)
    return by_hand(kg, rows, wait=6.0, reserved_cpus=2, model=model, weights=weights, spot=spot)


def bounded(instance: PurchasingInstance) -> Proof:
    return best_bound(instance, lambda: np.inf, Options(), BoundParameters())


def search_of(proof: Proof, random: int = 0) -> Search:
    """Return a search in which each job begins at its arrival, on the pool."""
    dual, jobs = proof.dual, proof.dual.instance.jobs
    start, on_pool = jobs.arrival_hours.copy(), np.ones(len(jobs), dtype=np.bool_)
    prices, other, rng = dual.of_sizes(proof.point), dual.other_at(proof.weights), np.random.default_rng(random)
    return Search(dual.instance, proof.weights, dual.most, other, start, on_pool, dual.sizes.of_job, prices, rng)


def priced(search: Search, dual: Dual, point: np.ndarray) -> float:
    """Return what the jobs pay at the bound's prices, which the dual value is the least of."""
    prices, _ = dual.split(point)
    edges = np.arange(dual.grid.cells + 1) * dual.grid.hours
    jobs, start, cap = search.jobs, search.choice.start, search.price
    until = {"kg": np.cumsum(np.append(0.0, dual.kg)), "price": np.cumsum(np.append(0.0, prices))}
    kg, paid = (
        dual.grid.hours * (np.interp(start + jobs.length, edges, sums) - np.interp(start, edges, sums))
        for sums in until.values()
    )
    runs = search.weights[0] * jobs.cpus * kg + jobs.shared * paid + search.weights[2] * (start - jobs.arrival)
    runs += cap * (jobs.cpus - jobs.shared) * jobs.length
    return float(np.where(search.choice.on_pool, runs, search.choice.other).sum())


class TestSteps:
    def test_all_go_from_first_to_last(self) -> None:
        steps = list(Cooling(3, 1.0, 0.01, steep=(1.0, 100.0), firm=(0.04, 1.0)))
        assert np.array(steps) == pytest.approx(np.array([[1, 1, 0.04], [0.1, 10, 0.2], [0.01, 100, 1]]))

    def test_without_time_there_is_one_sweep(self) -> None:
        assert len(list(Cooling(5, 1.0, 0.01, limit=0.0))) == 1

    def test_a_slow_first_sweep_does_not_count(self) -> None:
        """There numba compiles: taken for the time of a sweep, it left a first call of 20 s with 36 sweeps."""
        now = [7.0]
        cooling = Cooling(4, 0.0, 0.0, clock=lambda: now[0])
        for number, _ in enumerate(cooling):
            now[0] += 0.01 if number else 20.0
        assert cooling.spent == pytest.approx(20.03)
        assert cooling.per_sweep == pytest.approx(0.01)


class TestToll:
    def test_it_is_on_cpus_that_may_be_reserved(self) -> None:
        """Three CPUs, two reserved of which one is taken: 3 x 5 carbon, 2 x 7 toll, and 2 on demand for 11 each."""
        pool = Pool(1.0, np.array([5.0]), np.array([[9.0], [7.0]]), np.array([1.0]), 2.0, 11.0, 0.0)
        room = Room(np.empty(1), np.empty(1))
        with loops(steps=1):
            fill_rates(0, 0, 0, 3.0, 2.0, 1, pool, room)
        assert room.rate[0] == 15 + 14 + 22

    def test_it_falls_as_the_load_counts(self) -> None:
        search = search_of(bounded(drawn(0)))
        assert search.at(Step(0.0, 1.0, 0.25))[0] == 0.25 * search.price
        assert search.at(Step(0.0, 1.0, 1.0)) == (search.price, search.choice)


class TestNoLoad:
    """Where the load counts for nothing, the jobs do what the bound says: the search begins at the relaxation."""

    @pytest.mark.parametrize("spot", [None, Spot(4.0, 0.1)])
    @pytest.mark.parametrize("exact", [False, True])
    @pytest.mark.parametrize("seed", range(3))
    def test_jobs_answer_the_prices(self, seed: int, exact: bool, spot: Spot | None) -> None:
        proof = bounded(drawn(seed, spot=spot))
        search, dual = search_of(proof), proof.dual
        cooling = Cooling(1, 0.0, 0.0, firm=HARDLY)
        if exact:
            search.settle(cooling)
        else:
            search.anneal(dual.grid.hours, cooling)
        least = dual.hard(proof.point)[0] + dual.most * dual.grid.hours * float(dual.split(proof.point)[0].sum())
        assert priced(search, dual, proof.point) == pytest.approx(least, rel=1e-6)


class TestEdges:
    """Where there is nothing to share, each job's own best is the optimum, and is found."""

    @pytest.mark.parametrize("reserved", [0, 1000])
    @pytest.mark.parametrize("model", ["splitting", "no-split"])
    def test_no_reserved_cpus_or_more_than_needed(self, model: str, reserved: int) -> None:
        instance = replace(drawn(1, model, Spot(4.0, 0.1)), reserved_cpus=reserved)
        assert str(co.solve(instance, "price").status) == "optimal"

    @pytest.mark.parametrize("free", ["weight", "price"])
    @pytest.mark.parametrize("model", ["splitting", "no-split"])
    def test_on_demand_for_nothing(self, model: str, free: str) -> None:
        """Without splitting the pool was taken although it was full, and no schedule kept R: 53 % above the least."""
        instance = replace(drawn(1, model), weights=Weights(1, 0, 0.02))
        if free == "price":
            instance = replace(drawn(1, model), prices=Prices(0.0, 0.4, 0.2))
        assert str(co.solve(instance, "price").status) == "optimal"


class TestShare:
    def test_it_is_counted_from_the_first_question(self, monkeypatch: pytest.MonkeyPatch) -> None:
        share, elapsed = _Share(Options(time_limit=10.0), 0.5), iter((1.0, 1.0, 1.0, 3.0))
        monkeypatch.setattr(Options, "seconds", property(lambda options: next(elapsed)))
        assert share() == pytest.approx(0.5 * 9)
        assert share() == pytest.approx(0.5 * 9 - 2)

    def test_it_is_endless_without_a_limit(self) -> None:
        assert _Share(Options(time_limit=None), 0.5)() == np.inf


class TestReach:
    @pytest.mark.slow
    def test_three_days_of_jobs_are_near_their_bound(self) -> None:
        """Annealed to the load alone, the gap was .75 %; now it is .45 %."""
        instance = co.generate("purchasing", jobs=300, arrival_hours=72, reserved=12, seed=3)
        found = co.solve(instance, "price", time_limit=None, mip_rel_gap=0.006)
        assert found.gap is not None
        assert found.gap < 0.0065

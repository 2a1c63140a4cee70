"""Walks with restarts, the bound that counts them, and the search that puts jobs back."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import carbonopt as co
from carbonopt.algorithms.kernel import loops
from carbonopt.core.arrays import FloatArray
from carbonopt.core.errors import InputError
from carbonopt.core.options import Options
from carbonopt.problems.mlcluster.data.generate import generate
from carbonopt.problems.mlcluster.data.instance import MlClusterInstance
from carbonopt.problems.mlcluster.data.settings import Weights
from carbonopt.problems.mlcluster.methods.price.bound import ascend
from carbonopt.problems.mlcluster.methods.price.path import CLOSE, Stretches, best_path, break_paths, path_space
from carbonopt.problems.mlcluster.methods.price.restarts import count_restarts
from carbonopt.problems.mlcluster.methods.price.walks import WIDTH, JobColumns, Kinds, least_costs, price_walks
from carbonopt.problems.mlcluster.verify.certificate import proven_bound

RESTART = 3.0


def drawn(seed: int, stretches: int = 5) -> tuple[Stretches, FloatArray, FloatArray]:
    """Return stretches, speeds and watts on up to two GPUs."""
    rng = np.random.default_rng(seed)
    carbon, price = rng.uniform(0.1, 1, stretches), rng.uniform(0, 0.3, stretches)
    length, free = rng.uniform(1, 20, stretches), rng.integers(0, 4, stretches)
    late = np.sort(rng.uniform(0, 2, stretches))
    speed, watts = np.array([1.0, rng.uniform(1, 2)]), np.array([1.0, rng.uniform(1, 3)])
    least = ((carbon[:, None] * watts + price[:, None] * [1, 2]) / speed).min(axis=1)
    return Stretches(carbon, price, length, free, late, np.where(free > 0, least, np.inf)), speed, watts


def all_walks(over: Stretches, speed: FloatArray, watts: FloatArray) -> list[tuple[float, float]]:
    """Return work and cost of every walk that has room."""
    walks = []
    for gpus in product(range(3), repeat=len(over.length)):
        if any(n > free for n, free in zip(gpus, over.free, strict=True)):
            continue
        work, cost, before, ran = 0.0, 0.0, 0, False
        for e, n in enumerate(gpus):
            if n:
                again = ran and n != before
                work += speed[n - 1] * (over.length[e] - RESTART * again)
                cost += (over.carbon[e] * watts[n - 1] + over.price[e] * n) * over.length[e]
                ran = True
            before = n
        last = max((e for e, n in enumerate(gpus) if n), default=None)
        walks.append((work, cost + (0.0 if last is None else over.late[last])))
    return walks


@pytest.mark.parametrize("seed", range(40))
def test_the_best_walk_is_the_best_of_all(seed: int) -> None:
    over, speed, watts = drawn(seed)
    gpus = np.zeros(len(over.length), dtype=np.int64)
    with loops(steps=0):
        for mu in (0.3, 0.8, 2.0):
            work, cost, _ = best_path(mu, over, speed, watts, RESTART, path_space(len(gpus), 2), gpus)
            assert mu * work - cost == pytest.approx(max(mu * w - c for w, c in all_walks(over, speed, watts)))


@pytest.mark.parametrize("seed", range(6))
def test_at_the_break_price_both_walks_are_best(seed: int) -> None:
    over, speed, watts = drawn(seed)
    walks = all_walks(over, speed, watts)
    need = 0.6 * max(w for w, _ in walks)
    with loops(steps=0):
        space = path_space(len(over.length), 2)
        mu, has_high, _ = break_paths(need, 0.1, over, speed, watts, RESTART, 1e6, CLOSE, WIDTH, space)
    assert has_high
    low_work, low_cost, high_work, high_cost = space.totals
    assert low_work < need <= high_work
    best = max(mu * w - c for w, c in walks)
    assert mu * low_work - low_cost == pytest.approx(best)
    assert mu * high_work - high_cost == pytest.approx(best)


@pytest.mark.parametrize("seed", range(12))
def test_walks_of_all_jobs_are_those_of_one(seed: int) -> None:
    """A job begins within its first cell. Break prices, values and loads are those of its own stretches."""
    rng = np.random.default_rng(seed)
    count, minutes = 30, 10.0
    speed, watts = np.cumsum(rng.uniform(0.2, 1, (2, 3)), axis=1), np.cumsum(rng.uniform(0.5, 1.5, (2, 3)), axis=1)
    carbon, prices, least = rng.uniform(0.1, 1, count), rng.uniform(0, 0.6, count), np.zeros((2, count))
    never, free = np.zeros(count), np.full(count, 3)
    cells = Stretches(carbon, prices, np.full(count, minutes), free, never, never)
    arrival = rng.uniform(0, 150, 6)
    first, kind = (arrival / minutes).astype(np.int64), rng.integers(0, 2, 6)
    need, restart = rng.uniform(1, 200, 6), rng.choice([0.0, 2.0, 7.0], 6)
    mu, load, wanted_load = np.full(6, 0.1), np.zeros(count), np.zeros(count)
    wanted = 0.0
    with loops(steps=0):
        least_costs(carbon, prices, Kinds(speed, watts), least)
        jobs = JobColumns(first, arrival, kind, need, restart)
        space = path_space(count, 3)
        total, _, looked_at = price_walks(jobs, cells, least, Kinds(speed, watts), 1e6, CLOSE, mu, load, space)
        for j in range(6):
            begin = np.maximum(minutes * np.arange(first[j], count), arrival[j])
            length = minutes * np.arange(first[j] + 1, count + 1) - begin
            over = Stretches(
                *(carbon[first[j] :], prices[first[j] :], length, free[first[j] :], never[first[j] :]),
                np.full(len(length), -np.inf),
            )
            space = path_space(len(length), 3)
            price, has_high, _ = break_paths(
                need[j], 0.1, over, speed[kind[j]], watts[kind[j]], restart[j], 1e6, CLOSE, WIDTH, space
            )
            assert has_high
            assert mu[j] == pytest.approx(price, rel=1e-9)
            low_work, low_cost, high_work, _ = space.totals
            part = (need[j] - low_work) / (high_work - low_work)
            wanted += low_cost + price * (need[j] - low_work)
            wanted_load[first[j] :] += length * ((1 - part) * space.low + part * space.high)
    assert total == pytest.approx(wanted, rel=1e-9)
    assert load == pytest.approx(wanted_load, abs=1e-6)
    assert looked_at > 0
    assert (cells.length == minutes).all()


def heavy(jobs: int = 12) -> MlClusterInstance:
    return generate(jobs=jobs, gpus=8, workload="supercomputer", arrival_hours=10, drain_hours=30, seed=3)


def test_restarts_raise_the_bound_and_the_certificate_proves_it() -> None:
    instance = heavy()
    options = Options(time_limit=None)
    without = ascend(instance, options)
    counted = count_restarts(without, options)
    assert counted.restarts
    assert counted.bound > without.bound * 1.0005
    proven, assumes = proven_bound(instance, counted.certificate(), {})
    assert (proven, assumes) == (pytest.approx(counted.bound, rel=1e-9), ())
    assert proven is not None
    assert proven >= counted.bound
    left_out, _ = proven_bound(instance, counted.certificate() | {"restarts": False}, {})
    assert left_out is not None
    assert left_out < without.bound


def test_restarts_are_left_out_where_completion_times_count() -> None:
    instance = heavy().with_objective(Weights(1, 0.01))
    options = Options(time_limit=None)
    proof = ascend(instance, options)
    assert count_restarts(proof, options) is proof
    with pytest.raises(InputError, match="restarts = true: must be false: completion times count"):
        proven_bound(instance, proof.certificate() | {"restarts": True}, {})


def test_jobs_put_back_make_the_schedule_better() -> None:
    instance = heavy()
    poor = {"first_shares": [0.3]}
    without = co.solve(instance, "price", work_limit=1, params={"construct": poor, "repair": {"patience": 0.0}})
    params = {"construct": poor, "repair": {"patience": 10.0}}
    found = co.solve(instance, "price", work_limit=1, params=params)
    assert found.info["rounds"] > 100
    assert found.bound is not None
    assert found.bound <= found.objective < without.objective * 0.999
    assert found.columns == co.solve(instance, "price", work_limit=1, params=params).columns


def test_a_budget_of_completion_times_is_kept() -> None:
    instance = generate(jobs=12, gpus=4, arrival_hours=4, max_gpus=4, drain_hours=30, mean_jct_hours=5.0, seed=5)
    found = co.solve(instance, "price", work_limit=1, params={"repair": {"patience": 5.0}})
    assert found.metrics["mean_jct_hours"] <= 5.0
    assert co.check(instance, found).feasible


def test_a_search_that_finds_nothing_better_says_so() -> None:
    found = co.solve(heavy(3), "price", work_limit=20, mip_rel_gap=0, params={"repair": {"patience": 3.0}})
    assert found.info["converged"]

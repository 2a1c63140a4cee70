"""Branches on what few whole jobs do: parts that hold all schedules, bounds that rise, and certificates of both."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from purchasing_random import by_hand

import carbonopt as co
from carbonopt.core.options import Options
from carbonopt.problems.purchasing.data.instance import Limits, PurchasingInstance, Weights
from carbonopt.problems.purchasing.methods.price.bound import Proof, best_bound
from carbonopt.problems.purchasing.methods.price.bound_parameters import BoundParameters
from carbonopt.problems.purchasing.methods.price.branch_parameters import BranchParameters
from carbonopt.problems.purchasing.methods.price.branches import Split, Tree
from carbonopt.problems.purchasing.methods.price.dual import Dual
from carbonopt.problems.purchasing.methods.price.grid import Grid
from carbonopt.problems.purchasing.methods.price.places import Windows
from carbonopt.problems.purchasing.verify.certificate import proven_bound

OPTIONS = Options(time_limit=None)


def drawn(seed: int, jobs: int = 7, reserved: int = 34) -> PurchasingInstance:
    """Return jobs of 20, 8 and 4 CPUs that come within half a day, and wait for up to 8 h."""
    rng = np.random.default_rng(seed)
    cpus = rng.choice([20.0, 8.0, 4.0], jobs, p=[0.5, 0.3, 0.2]).tolist()
    rows = [(float(rng.uniform(0, 12)), float(rng.uniform(1, 9)), size) for size in cpus]
    return by_hand(
        rng.uniform(0.1, 0.5, 36).tolist(), rows, wait=8.0, reserved_cpus=reserved, weights=Weights(0.1, 1, 0.3),
        model="no-split",
    )  # fmt: skip


def proof_of(instance: PurchasingInstance) -> Proof:
    return best_bound(instance, lambda: np.inf, OPTIONS, BoundParameters(cell_hours=(1.0,)))


def tree_of(instance: PurchasingInstance, goal: float = np.inf, **parameters: Any) -> Tree:
    options = Options(time_limit=None)
    proof = best_bound(instance, lambda: np.inf, options, BoundParameters(cell_hours=(1.0,)))
    return Tree(proof, goal, BranchParameters(**parameters), options)


class TestSplit:
    WINDOWS = Windows(np.array([0.0, 1.0]), np.array([4.0, 3.0]), np.ones(2, dtype=bool), np.ones(2, dtype=bool))

    def test_on_the_pool_or_not(self) -> None:
        on_pool, off = Split(1, None).parts(self.WINDOWS)
        assert (on_pool.on_pool.tolist(), on_pool.beside.tolist()) == ([True, True], [True, False])
        assert (off.on_pool.tolist(), off.beside.tolist()) == ([True, False], [True, True])
        assert Split(1, None).node((3, 4)) == {"job": 1, "parts": [3, 4]}

    def test_by_a_moment_or_later(self) -> None:
        early, late = Split(0, 2.5).parts(self.WINDOWS)
        assert (early.first.tolist(), early.last.tolist()) == ([0, 1], [2.5, 3])
        assert (late.first.tolist(), late.last.tolist()) == ([2.5, 1], [4, 3])
        assert early.beside.all()
        assert Split(0, 2.5).node((1, 2)) == {"job": 0, "at": 2.5, "parts": [1, 2]}


class TestDual:
    def test_within_windows_by_hand(self) -> None:
        """Two hours at 1 and 3 kg: from 0 h an hour costs 3 kg for 3 CPUs, from 0.5 h 6, and 1.5 more for the wait."""
        instance = by_hand(
            [1.0, 3.0, 3.0], [(0, 1, 3)], wait=1.0, reserved_cpus=5, weights=Weights(1, 1, 3), model="no-split"
        )
        dual = Dual(instance, Grid.of(instance, 1))
        every = Windows.of(dual.jobs.arrival, dual.jobs.wait)
        none = np.zeros(len(dual.upper))
        assert dual.within(every).hard(none)[0] == pytest.approx(3)
        assert dual.within(replace(every, first=np.array([0.5]))).hard(none)[0] == pytest.approx(3 + 3)  # on demand
        only = replace(every, first=np.array([0.5]), beside=np.array([False]))
        assert dual.within(only).hard(none)[0] == pytest.approx(6 + 1.5)
        assert dual.within(replace(every, on_pool=np.array([False]))).hard(none)[0] == pytest.approx(3 + 3)
        late = replace(only, first=np.array([0.2]), last=np.array([0.6]))
        assert dual.within(late).hard(none)[0] == pytest.approx(3 * (0.8 + 0.2 * 3) + 0.6)

    def test_there_is_less_where_fewer_jobs_may_run(self) -> None:
        """Prices of weights then take less off the bound."""
        tree = tree_of(drawn(1, 12), most_branches=12, pace=100)
        for _ in tree.grow():
            pass
        higher = 0
        prices = np.full(len(tree.dual.upper), 0.05)
        for leaf in (*tree.leaves, *tree.closed):
            there = tree.weighings.there(tree.dual.sizes.units, leaf.windows)
            assert (there <= tree.dual.there).all()
            less, all_there = (tree.dual.within(leaf.windows, each).hard(prices)[0] for each in (there, None))
            assert less >= all_there - 1e-9
            higher += less > all_there + 1e-3
        assert higher > 3


class TestTree:
    def test_bounds_rise_and_are_proven(self) -> None:
        risen = 0
        for seed in range(4):
            instance = drawn(seed, 12)
            best = co.solve(instance, "price", work_limit=1, params={"branches": {"pace": 0}}).objective
            assert best is not None
            tree = tree_of(instance, best, most_branches=20, pace=100)
            begun = tree.bound
            before = begun
            for bound in tree.grow():
                assert bound >= before - 1e-9 * abs(before)
                before = bound
            proven, _ = proven_bound(instance, tree.certificate(), {})
            assert proven == pytest.approx(tree.bound, rel=1e-6)
            assert proven is not None
            assert proven <= best * (1 + 1e-12)
            assert tree.size <= 20
            risen += proven > 1.01 * begun
        assert risen >= 3

    @pytest.mark.parametrize("seed", [0, 5])
    def test_it_closes_the_gap_of_few_jobs(self, seed: int) -> None:
        instance = drawn(seed)
        alone = co.solve(instance, "price", work_limit=2, params={"branches": {"pace": 0}})
        found = co.solve(instance, "price", work_limit=2, mip_rel_gap=1e-3)
        assert alone.gap is not None
        assert found.gap is not None
        assert alone.gap > 1.3e-3
        assert found.gap <= 1e-3
        assert found.status == "optimal"
        assert found.work < 2
        assert co.check(instance, found).proven_bound == pytest.approx(found.bound, rel=1e-9)

    def test_the_bound_is_the_least_of_all_leaves(self) -> None:
        """Also of those that are not split any more: they may cost less than the goal in proven numbers."""
        tree = tree_of(drawn(0), most_branches=8, pace=100)
        for bound in tree.grow():
            assert bound == min(leaf.proven for leaf in (*tree.leaves, *tree.closed))
        tree.closed.append(replace(tree.leaves[0], proven=-1.0))
        assert tree.bound == -1.0

    def test_leaves_that_cost_as_much_as_a_schedule_are_not_split(self) -> None:
        tree = tree_of(drawn(2), 0.0)
        assert list(tree.grow()) == []
        assert tree.size == 1

    def test_it_ends_with_the_work(self) -> None:
        options = Options(time_limit=None)
        instance = drawn(3, 12)
        proof = best_bound(instance, lambda: np.inf, options, BoundParameters(cell_hours=(1.0,)))
        before = options.work.units
        tree = Tree(proof, np.inf, BranchParameters(pace=0.5), options)
        for _ in tree.grow():
            pass
        assert 1.5 * before <= options.work.units < 1.6 * before
        none = Tree(proof, np.inf, BranchParameters(pace=0.0), options)
        assert list(none.grow()) == []


class TestMethod:
    def test_certificate_and_information(self) -> None:
        instance = drawn(4, 12)
        found = co.solve(instance, "price", work_limit=2)
        assert found.certificate is not None
        assert found.certificate["kind"] == "branches"
        assert found.info["branches"] > 5
        assert co.check(instance, found).proven_bound == pytest.approx(found.bound, rel=1e-9)
        alone = co.solve(instance, "price", work_limit=2, params={"branches": {"most_jobs": 11}})
        assert alone.certificate is not None
        assert alone.certificate["kind"] == "lagrangian"
        assert "branches" not in alone.info
        assert found.bound is not None
        assert alone.bound is not None
        assert found.bound > alone.bound

    @pytest.mark.parametrize(
        "instance",
        [
            drawn(4).with_model("splitting"),
            replace(drawn(4), reserved_cpus=None),
            replace(drawn(4), limits=Limits(None, None, 7.0)),
        ],
        ids=["splitting", "decided", "limited"],
    )
    def test_only_whole_jobs_on_given_cpus_without_limits(self, instance: PurchasingInstance) -> None:
        found = co.solve(instance, "price", work_limit=0.5)
        assert found.certificate is not None
        assert found.certificate["kind"] == "lagrangian"

    def test_the_same_work_gives_the_same_bound(self) -> None:
        one, two = (co.solve(drawn(5, 12), "price", work_limit=1, seed=2) for _ in range(2))
        assert (one.bound, one.objective) == (two.bound, two.objective)
        assert one.info["branches"] == two.info["branches"]

    def test_the_bound_is_told_on_the_way(self) -> None:
        bounds: list[float] = []

        def tell(progress: Any) -> None:
            if progress.bound is not None:
                bounds.append(progress.bound)

        found = co.solve(drawn(4, 12), "price", work_limit=2, callback=tell)
        assert len(set(bounds)) > 5
        assert found.bound is not None
        assert max(bounds) <= found.bound * (1 + 1e-9)

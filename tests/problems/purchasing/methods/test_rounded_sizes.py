"""Rounded sizes in the dual function: the checker's units, true slopes, and a bound that knows whole jobs."""

from __future__ import annotations

import numpy as np
import pytest
from purchasing_random import by_hand, continuous

import carbonopt as co
from carbonopt.core.options import Options
from carbonopt.problems.purchasing.data.instance import Weights
from carbonopt.problems.purchasing.methods.price import bound
from carbonopt.problems.purchasing.methods.price.bound import best_bound
from carbonopt.problems.purchasing.methods.price.bound_parameters import BoundParameters
from carbonopt.problems.purchasing.methods.price.dual import Dual
from carbonopt.problems.purchasing.methods.price.grid import Grid
from carbonopt.problems.purchasing.methods.price.rounded_sizes import (
    Divisor,
    RoundedSizes,
    possible_divisors,
    units_of,
)
from carbonopt.problems.purchasing.verify.certificate import proven_bound
from carbonopt.problems.purchasing.verify.certificate_rounded import Rounded

CPUS = np.array([5.0, 7.0, 18.0, 20.0, 32.0, 40.0])


class TestUnits:
    def test_by_hand(self) -> None:
        """Units of 47 in parts of 20, two of them: one is 23.5 CPUs."""
        units = units_of(CPUS, 47.0, np.array([20.0]))[:, 0]
        assert units == pytest.approx(23.5 * np.array([0, 0, 11 / 13, 1, 18 / 13, 2]))

    def test_they_are_those_of_the_checker(self) -> None:
        rng = np.random.default_rng(0)
        for _ in range(200):
            reserved = float(rng.integers(2, 200))
            divisor = float(rng.uniform(0.3, 1.0) * reserved)
            cpus = rng.integers(1, int(reserved) + 1, 5).astype(float)
            rounded = Rounded(divisor, reserved, np.zeros(1))
            each = units_of(cpus, reserved, np.array([divisor]))[:, 0] * rounded.units / reserved
            assert each == pytest.approx([rounded.of_cpus(n) for n in cpus.tolist()], abs=1e-9)

    def test_divisors_that_say_something_else_than_cpus(self) -> None:
        """Jobs of 8, 20 and 40 of 40 CPUs take up what they are in parts of 8 and 20. Of 9 there are four."""
        shared = np.array([40.0, 20.0, 20.0, 8.0, 9.0, 0.0])
        divisors = possible_divisors(shared, 40.0)
        assert {8.0, 20.0, 40.0}.isdisjoint(each.divisor for each in divisors)
        units = np.column_stack([each.of(np.unique(shared[shared > 0]), 40.0) for each in divisors])
        assert np.isclose(units.T, [8.0, 10.0, 20.0, 40.0]).all(axis=1).any()
        assert len(np.unique(np.round(units, 6), axis=1).T) == len(divisors)

    def test_excess(self) -> None:
        """1.4 jobs of 32 of 47 CPUs are one of more than half too many by 0.4; on 47 they are none."""
        sizes = RoundedSizes(np.array([5.0, 32.0]), 47.0, (), apart=True)
        load = np.array([[0.0, 47.0], [1.4 * 32.0, 0.0]])
        assert sizes.excess(load, [Divisor(47 / 1.999)]) == pytest.approx(np.array([[0.4, 0.0]]))
        alone = RoundedSizes(np.array([5.0, 32.0]), 47.0, ())
        assert alone.taken.shape == (1, 1)


class TestDual:
    def dual(self, limited: bool = True) -> Dual:
        instance = continuous(3, "no-split", 0.3, limited=limited)
        assert instance.reserved_cpus == 6
        return Dual(instance, Grid.of(instance, 2), units=[Divisor(1.9), Divisor(2.7)])

    def test_gradients_are_slopes(self) -> None:
        dual = self.dual()
        rng = np.random.default_rng(1)
        x = rng.uniform(0.1, 0.9, len(dual.upper))
        assert len(x) == 2 * 40 + 3 + 2 * 40
        for step in 1e-6 * np.concatenate([np.eye(len(x))[[0, 80, 81, 90, 130]], rng.normal(size=(3, len(x)))]):
            (above, _), (below, _), (_, slope) = dual.soft(x + step, 0.1), dual.soft(x - step, 0.1), dual.soft(x, 0.1)
            assert above - below == pytest.approx(2 * float(slope @ step), rel=1e-3, abs=1e-10)

    def test_the_checker_proves_its_value(self) -> None:
        dual = self.dual(limited=False)
        x = np.random.default_rng(2).uniform(0, 0.5, len(dual.upper))
        value, certificate = dual.certificate(x)
        assert [entry["divisor"] for entry in certificate["rounded"]] == [1.9, 2.7]
        proven, _ = proven_bound(dual.instance, certificate, {})
        assert proven == pytest.approx(max(value, 0.0), rel=1e-5, abs=1e-5)

    def test_limits_and_rounded_sizes_together(self) -> None:
        instance = self.dual().instance
        found = best_bound(instance, lambda: np.inf, Options(time_limit=None), BoundParameters(least_rise=0.0))
        proven, _ = proven_bound(instance, found.certificate, {})
        assert proven == pytest.approx(max(found.value, 0.0), rel=1e-5, abs=1e-5)


class TestBound:
    def test_two_jobs_that_do_not_fit_together(self) -> None:
        instance = by_hand(
            [1, 1], [(0, 1, 3), (0, 1, 3)], wait=0.0, reserved_cpus=5, weights=Weights(0, 1, 0), model="no-split"
        )
        found = best_bound(instance, lambda: np.inf, Options(), BoundParameters())
        assert found.value == pytest.approx(3, rel=1e-4)
        assert len(found.dual.sizes.units) == 1
        none = best_bound(instance, lambda: np.inf, Options(), BoundParameters(divisors=0, weighings=0))
        assert none.value == pytest.approx(1, rel=1e-4)

    @pytest.mark.parametrize("model", ["splitting", "suspend-resume"])
    def test_jobs_that_split_have_none(self, model: str) -> None:
        instance = co.generate("purchasing", jobs=20, arrival_hours=24, reserved=3, seed=1, model=model)
        found = best_bound(instance, lambda: np.inf, Options(), BoundParameters(cell_hours=(1.0,)))
        assert "rounded" not in found.certificate
        assert not len(found.dual.sizes.units)

    def test_no_more_sizes_than_asked(self, monkeypatch: pytest.MonkeyPatch) -> None:
        instance = co.generate(
            "purchasing", jobs=60, arrival_hours=48, reserved=5, seed=1, model="no-split", workload="supercomputer",
            max_cpus=64,
        )  # fmt: skip
        some = BoundParameters(cell_hours=(1.0,), least_rise=0.0, divisors=2, weighings=0)
        assert len(best_bound(instance, lambda: np.inf, Options(), some).dual.sizes.units) == 2
        monkeypatch.setattr(bound, "MOST_PRICES", 1)
        assert not len(best_bound(instance, lambda: np.inf, Options(), some).dual.sizes.units)
        monkeypatch.undo()
        few = BoundParameters(cell_hours=(1.0,), most_sizes=1)
        assert not len(best_bound(instance, lambda: np.inf, Options(), few).dual.sizes.units)

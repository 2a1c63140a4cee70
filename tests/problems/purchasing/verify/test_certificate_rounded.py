"""Prices of rounded sizes hold against every schedule, with what the checker lets pass."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from purchasing_random import by_hand, columns, continuous, random_schedule

import carbonopt as co
from carbonopt.core.errors import InputError
from carbonopt.problems.purchasing.data.instance import PurchasingInstance, Queue, Weights
from carbonopt.problems.purchasing.methods.price.dual import Dual
from carbonopt.problems.purchasing.methods.price.grid import Grid
from carbonopt.problems.purchasing.methods.price.rounded_sizes import Divisor
from carbonopt.problems.purchasing.verify import certificate_rounded
from carbonopt.problems.purchasing.verify.certificate import proven_bound
from carbonopt.problems.purchasing.verify.certificate_rounded import Rounded
from carbonopt.problems.purchasing.verify.check import check

TWO_OF_THREE = by_hand(
    [1, 1], [(0, 1, 3), (0, 1, 3)], wait=0.0, reserved_cpus=5, weights=Weights(0, 1, 0), model="no-split"
)
"""Two jobs of three CPUs, of which five are reserved: one has to be on demand for 3 $."""


def value(instance: PurchasingInstance, prices: list[float], *rounded: tuple[float, list[float]]) -> float:
    entries = [{"divisor": divisor, "prices": each} for divisor, each in rounded]
    certificate = {"kind": "lagrangian", "grid_slots": 1, "prices": prices, "multipliers": None, "rounded": entries}
    bound, _ = proven_bound(instance, certificate, {})
    assert bound is not None
    return bound


def divisors(rng: np.random.Generator, reserved: float) -> float:
    """Draw a divisor: any one, or one near a part of R, where rounding is at its worst."""
    part = reserved / int(rng.integers(1, 6))
    return float(rng.choice([part, np.nextafter(part, 0), np.nextafter(part, 99), rng.uniform(0.2, 1.2) * part]))


class TestByHand:
    def test_two_jobs_that_do_not_fit_together(self) -> None:
        """Prices of CPUs leave 1 $: 5/6 of the jobs are reserved. A unit of three CPUs for 3 $: 3 + 3 - 3."""
        assert value(TWO_OF_THREE, [1, 0]) == pytest.approx(1)
        assert value(TWO_OF_THREE, [0, 0], (3, [3, 0])) == pytest.approx(3, rel=1e-6)
        assert value(TWO_OF_THREE, [0, 0], (3.0, [1, 0])) == pytest.approx(1 + 1 - 1, rel=1e-6)
        assert value(TWO_OF_THREE, [0.5, 0], (3, [1.5, 0])) == pytest.approx(3 + 3 - 2.5 - 1.5, rel=1e-6)

    def test_units(self) -> None:
        """47 CPUs in parts of 20: two, and f = 7/20. Jobs of 32 have 1 and (12/20 - f) / (1 - f) = 5/13 of another."""
        twenty = Rounded(20.0, 47.0, np.zeros(1))
        assert twenty.units == 2
        assert [twenty.of_cpus(n) for n in (5, 7, 18, 20, 32, 40)] == pytest.approx([0, 0, 11 / 13, 1, 18 / 13, 2])

    def test_a_price_above_that_on_demand(self) -> None:
        assert value(TWO_OF_THREE, [1.2, 0]) == pytest.approx(3 + 3 - 6, abs=2e-6)


class TestUnits:
    def test_sets_that_fit_take_no_more_than_there_are(self) -> None:
        rng = np.random.default_rng(0)
        for _ in range(3000):
            reserved = float(rng.integers(1, 100)) if rng.random() < 0.7 else float(rng.uniform(0.5, 50))
            sizes = np.sort(rng.uniform(0, reserved, 6)) if rng.random() < 0.5 else rng.integers(1, 40, 6).astype(float)
            fits = np.cumsum(sizes) <= reserved
            if rng.random() < 0.3 and fits.any():  # nothing is left
                sizes[fits.sum() - 1] += reserved - sizes[fits].sum()
            rounded = Rounded(divisors(rng, reserved), reserved, np.zeros(1))
            assert sum(rounded.of_cpus(size) for size in sizes[fits].tolist()) <= rounded.units

    @pytest.mark.parametrize("whole", [True, False])
    def test_no_schedule_beats_any_prices(self, whole: bool) -> None:
        rng = np.random.default_rng(1)
        kept = 0
        for seed in range(120):
            instance = continuous(seed, "no-split", [None, 0.3][seed % 2])
            if instance.reserved_cpus == 0:
                continue
            if whole:
                jobs = replace(instance.jobs, cpus=np.ceil(instance.jobs.cpus))
                instance = replace(instance, jobs=jobs)
            found = [check(instance, *random_schedule(instance, rng)) for _ in range(8)]
            values = [report.objective for report in found if report.feasible and report.objective is not None]
            kept += len(values)
            most = instance.weights.cost_usd * instance.prices.on_demand_usd_per_cpu_hour
            for _ in range(3):
                slots = instance.time.slots
                rounded = [
                    (divisors(rng, float(instance.reserved_cpus or 0)), rng.uniform(0, 2 * most, slots).tolist())
                    for _ in range(int(rng.integers(1, 4)))
                ]
                bound = value(instance, rng.uniform(0, most, slots).tolist(), *rounded)
                assert bound <= min(values, default=np.inf) * (1 + 1e-12) + 1e-12
        assert kept > 200

    def test_they_are_worth_it_where_whole_jobs_leave_gaps(self) -> None:
        """Against the program: jobs of 3 CPUs in whole slots, 5 reserved; prices of CPUs prove 10 % less."""
        rng = np.random.default_rng(2)
        rows = [(float(rng.integers(0, 6)), 1.0, 3.0) for _ in range(12)]
        instance = by_hand(
            [1.0] * 12, rows, wait=2.0, reserved_cpus=5, weights=Weights(0.01, 1, 0.01), model="no-split"
        )
        exact = co.solve(instance, "milp", time_limit=None, mip_rel_gap=0.0)
        found = co.solve(instance, "price", time_limit=None)
        alone = co.solve(instance, "price", time_limit=None, params={"bound": {"divisors": 0, "weighings": 0}})
        assert exact.objective is not None
        assert found.bound is not None
        assert alone.bound is not None
        assert found.certificate is not None
        assert found.certificate["rounded"]
        assert alone.bound < 0.9 * found.bound
        assert found.bound <= exact.objective * (1 + 1e-9)
        assert found.bound > 0.99 * exact.objective


class TestUncounted:
    """Two runs that meet for five allowances: rows begin early, do a little less than they must, and touch."""

    GAP = 0.999e-7

    def meeting(self, reserved: int) -> tuple[PurchasingInstance, float]:
        """Return two jobs of 100 CPUs, the first without a wait, and what they cost beside each other."""
        queues = (Queue("first", 1.0, 0.0), Queue("second", np.inf, 1 - 5 * self.GAP))
        instance = by_hand(
            [0] * 40, [(1, 1, 100), (1, 1.5, 100)], hours=0.1, queues=queues, reserved_cpus=reserved,
            weights=Weights(0, 1, 0), model="no-split",
        )  # fmt: skip
        one = 1 - self.GAP
        two = one + 1 - self.GAP
        begin = two - 2 * self.GAP
        report = check(instance, columns([("j0", one, two, "reserved"), ("j1", begin, begin + 1.5, "reserved")]))
        assert report.feasible
        assert report.objective is not None
        return instance, report.objective

    @pytest.mark.parametrize("price", [1.0, 30.0, 1000.0])
    def test_units(self, price: float) -> None:
        """Only one CPU of 200 is above R. Its 5e-7 h are all that costs."""
        instance, objective = self.meeting(199)
        assert objective == pytest.approx(5e-7, rel=0.01)
        at_the_meeting, always = [0.0] * 40, [0.0] * 40
        at_the_meeting[19] = price
        always[10:20] = [price / 10] * 10
        for prices in (at_the_meeting, always):
            assert value(instance, [0] * 40, (100, prices)) <= objective

    def test_cpus_dearer_than_on_demand(self) -> None:
        instance, objective = self.meeting(100)
        prices = [0.0] * 40
        prices[19] = 9.9
        assert value(instance, prices) <= objective

    def test_the_method_knows_it(self) -> None:
        """A unit of 5 CPUs for 3 $ is 0.6 $ a CPU."""
        dual = Dual(TWO_OF_THREE, Grid.of(TWO_OF_THREE, 1), units=[Divisor(3.0)])
        bound, certificate = dual.certificate(np.array([0.0, 0.0, 0.6, 0.0]))
        proven, _ = proven_bound(TWO_OF_THREE, certificate, {})
        assert bound == pytest.approx(3 - 2 * 3e-7 * 3, abs=1e-9)
        assert bound == pytest.approx(proven, abs=1e-9)


@pytest.mark.parametrize(
    ("rounded", "field"),
    [
        ("none", "rounded"),
        ({}, "rounded"),
        *(([bad], "rounded[0]") for bad in (1, None, [])),
        *(
            ([{"divisor": bad}], "rounded[0].divisor")
            for bad in (None, 0, -1.0, True, "3", float("nan"), float("inf"), 1e-30, 10**400, [3])
        ),
        *(
            ([{"divisor": 3, "prices": [1, 0]}, {"divisor": 3, "prices": bad}], "rounded[1].prices")
            for bad in (None, [], [1], [1, -1], [1, float("nan")], [1, "1"], [1, 1e31])
        ),
        ([{"divisor": 3, "prices": [1, 0]}] * 1001, "rounded"),
    ],
)
def test_malformed(rounded: Any, field: str) -> None:
    certificate = {"kind": "lagrangian", "grid_slots": 1, "prices": [0, 0], "multipliers": None}
    assert proven_bound(TWO_OF_THREE, {**certificate, "rounded": None}, {})[0] == 0
    with pytest.raises(InputError) as caught:
        proven_bound(TWO_OF_THREE, {**certificate, "rounded": rounded}, {})
    assert caught.value.faults[0].field == f"certificate.{field}"


@pytest.mark.parametrize(
    "instance", [TWO_OF_THREE.with_model("splitting"), replace(TWO_OF_THREE, reserved_cpus=None)], ids=str
)
def test_only_whole_jobs_on_given_cpus(instance: PurchasingInstance) -> None:
    with pytest.raises(InputError, match="only where jobs may not split and R is given"):
        value(instance, [0, 0], (3, [1, 0]))
    assert value(instance, [0, 0]) >= 0


def test_not_more_prices_than_a_check_has_time_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs of one size, two cells."""
    monkeypatch.setattr(certificate_rounded, "MOST_PRICES", 2)
    assert value(TWO_OF_THREE, [0, 0], (3, [1, 0])) > 0.9
    monkeypatch.setattr(certificate_rounded, "MOST_PRICES", 1)
    assert value(TWO_OF_THREE, [0, 0]) == 0
    with pytest.raises(InputError, match="times cells of prices"):
        value(TWO_OF_THREE, [0, 0], (3, [1, 0]))

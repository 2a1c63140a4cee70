"""Prices of weights hold against every schedule: what jobs with room weigh together at most, slot by slot."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from purchasing_random import by_hand, columns, continuous, random_schedule

from carbonopt.core.errors import InputError
from carbonopt.problems.purchasing.data.instance import PurchasingInstance, Weights
from carbonopt.problems.purchasing.verify import certificate_rounded
from carbonopt.problems.purchasing.verify.certificate import proven_bound
from carbonopt.problems.purchasing.verify.certificate_rounded import Weighed, rounded_of
from carbonopt.problems.purchasing.verify.certificate_runs import Windows
from carbonopt.problems.purchasing.verify.check import check

TWO_OF_THREE = by_hand(
    [1, 1], [(0, 1, 3), (0, 1, 3)], wait=0.0, reserved_cpus=5, weights=Weights(0, 1, 0), model="no-split"
)
"""Two jobs of three CPUs, of which five are reserved: one has to be on demand for 3 $."""


def weights_of(cpus: list[float], weights: list[int], most: int, prices: list[float]) -> dict[str, Any]:
    return {"cpus": cpus, "weights": weights, "most": most, "prices": prices}


def certificate(instance: PurchasingInstance, prices: list[float], *rounded: dict[str, Any]) -> dict[str, Any]:
    per_slot = len(prices) // instance.time.slots
    return {
        "kind": "lagrangian", "grid_slots": per_slot, "prices": prices, "multipliers": None, "rounded": list(rounded)
    }  # fmt: skip


def value(instance: PurchasingInstance, prices: list[float], *rounded: dict[str, Any]) -> float:
    bound, _ = proven_bound(instance, certificate(instance, prices, *rounded), {})
    assert bound is not None
    return bound


def largest(instance: PurchasingInstance, cpus: list[float], weights: list[int], most: int) -> list[int]:
    """Return what the checker says that weights add up to at most, in each slot."""
    slots = instance.time.slots
    entry = weights_of(cpus, weights, most, [1.0] * slots)
    told = certificate(instance, [0.0] * slots, entry)
    (found,) = rounded_of(instance, told, float(instance.reserved_cpus or 0), Windows.of(instance))
    assert isinstance(found, Weighed)
    return list(found.most)


class TestByHand:
    def test_two_jobs_that_do_not_fit_together(self) -> None:
        """Prices of CPUs leave 1 $. A weight of 1 for three CPUs, of which one has room, for 3 $: 3 + 3 - 3."""
        assert value(TWO_OF_THREE, [0, 0], weights_of([3], [1], 1, [3, 0])) == pytest.approx(3, rel=1e-6)
        assert value(TWO_OF_THREE, [0, 0], weights_of([3.0], [2], 3, [1, 0])) == pytest.approx(2 + 2 - 2, rel=1e-6)

    def test_most_of_each_slot(self) -> None:
        """Of 20, 8 and 8 CPUs on 34, a job of 20 and one of 8 weigh 3; with four of 8, all of these weigh 4."""
        rows = [(0.0, 2.0, 20.0), (0.0, 1.0, 8.0), (0.0, 1.0, 8.0), (0.2, 0.3, 8.0), (0.3, 0.2, 8.0), (2.5, 0.2, 20.0)]
        instance = by_hand([1] * 4, rows, wait=0.0, reserved_cpus=34, weights=Weights(0, 1, 0), model="no-split")
        assert largest(instance, [8, 20], [1, 2], 5) == [4, 3, 2, 0]

    def test_a_run_that_touches_a_slot_counts(self) -> None:
        """The first job ends with slot 0, or 1e-7 h later as the checker has it; the second may begin as early."""
        rows = [(0.0, 1.0, 3.0), (1.0, 1.0, 3.0)]
        instance = by_hand([1] * 3, rows, wait=0.0, reserved_cpus=6, weights=Weights(0, 1, 0), model="no-split")
        assert largest(instance, [3], [1], 9) == [2, 2, 1]
        nearly = by_hand(
            [1] * 3, [(0.0, 1 - 2e-7, 3.0), (1 + 2e-7, 0.9, 3.0)], wait=0.0, reserved_cpus=6,
            weights=Weights(0, 1, 0), model="no-split",
        )  # fmt: skip
        assert largest(nearly, [3], [1], 9) == [2, 2, 0]
        apart = by_hand(
            [1] * 3, [(0.0, 0.9, 3.0), (1.1, 0.8, 3.0)], wait=0.0, reserved_cpus=6, weights=Weights(0, 1, 0),
            model="no-split",
        )  # fmt: skip
        assert largest(apart, [3], [1], 9) == [1, 1, 0]

    def test_slots_without_jobs_cost_nothing(self) -> None:
        """A price where no job of these may run takes nothing off the bound."""
        late = by_hand(
            [1, 1, 1], [(0, 1, 3), (0, 1, 3)], wait=0.0, reserved_cpus=5, weights=Weights(0, 1, 0), model="no-split"
        )
        assert value(late, [0, 0, 0], weights_of([3], [1], 1, [3, 0, 2.0])) == pytest.approx(3, rel=1e-5)

    def test_sizes_that_are_not_named_weigh_nothing(self) -> None:
        rows = [(0.0, 1.0, 3.0), (0.0, 1.0, 2.0)]
        instance = by_hand([1, 1], rows, wait=0.0, reserved_cpus=4, weights=Weights(0, 1, 0), model="no-split")
        assert value(instance, [0, 0], weights_of([3], [1], 1, [2, 0])) == pytest.approx(2 - 2, abs=1e-6)
        assert value(instance, [0, 0], weights_of([2, 3], [1, 1], 1, [2, 0])) == pytest.approx(2 + 2 - 2, rel=1e-6)


def test_most_is_that_of_all_sets() -> None:
    """Against all sets of jobs of a slot, of whole and other CPUs."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        count = int(rng.integers(1, 8))
        sizes = rng.integers(1, 7, count) * float(rng.choice([1.0, 0.7]))
        rows = [(float(rng.uniform(0, 3)), float(rng.uniform(0.1, 2)), size) for size in sizes.tolist()]
        instance = by_hand(
            [1] * 8, rows, wait=1.0, reserved_cpus=int(rng.integers(1, 15)), weights=Weights(0, 1, 0), model="no-split"
        )
        cpus = np.unique(sizes).tolist()
        weights = rng.integers(1, 5, len(cpus)).tolist()
        weight = dict(zip(cpus, weights, strict=True))
        jobs = instance.jobs
        expected = []
        for t in range(8):
            among = np.flatnonzero((jobs.arrival_hours < t + 1) & (instance.latest_end_hours > t)).tolist()
            best = 0
            for chosen in product([False, True], repeat=len(among)):
                part = [j for j, is_in in zip(among, chosen, strict=True) if is_in]
                if sum(jobs.cpus[part]) <= instance.reserved_cpus * (1 + 1e-12):
                    best = max(best, sum(weight[jobs.cpus[j]] for j in part))
            expected.append(best)
        assert largest(instance, cpus, weights, 100) == expected
        tight = max(expected)
        if tight > 0:
            assert largest(instance, cpus, weights, tight) == expected
        if tight > 1:
            with pytest.raises(InputError, match="weigh more than"):
                largest(instance, cpus, weights, tight - 1)


def test_sums_beyond_the_next_one() -> None:
    """Two jobs of three CPUs on six weigh 6, though none weigh 5."""
    rows = [(0.0, 1.0, 3.0), (0.0, 1.0, 3.0)]
    instance = by_hand([1] * 2, rows, wait=0.0, reserved_cpus=6, weights=Weights(0, 1, 0), model="no-split")
    with pytest.raises(InputError, match="weigh more than 4"):
        largest(instance, [3], [3], 4)
    assert largest(instance, [3], [3], 6) == [6, 6]


def test_not_more_sums_than_a_check_has_time_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two jobs in one kind of slot: 2 x 1 x 9 sums. Sizes without jobs do not count."""
    monkeypatch.setattr(certificate_rounded, "MOST_SUMS", 18)
    assert largest(TWO_OF_THREE, [3], [1], 9) == [1, 1]
    assert largest(TWO_OF_THREE, [3, 4, 5], [1, 1, 1], 9) == [1, 1]
    with pytest.raises(InputError, match="sums have to be worked out"):
        largest(TWO_OF_THREE, [3], [1], 10)


def test_runs_that_hardly_last_may_be_on_too_few_cpus() -> None:
    """The checker of schedules does not look at the load of 1e-7 h: 10 of 20 CPUs are reserved all the same."""
    short = by_hand([1, 1], [(0.0, 1e-7, 20.0)], wait=0.0, reserved_cpus=10, weights=Weights(0, 1, 0), model="no-split")
    report = check(short, columns([("j0", 0.0, 1e-7, "reserved")]))
    assert report.feasible
    assert report.objective is not None
    assert value(short, [0, 0]) <= report.objective


@pytest.mark.parametrize("whole", [True, False])
def test_no_schedule_beats_any_prices(whole: bool) -> None:
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
        price = instance.weights.cost_usd * instance.prices.on_demand_usd_per_cpu_hour
        slots = instance.time.slots
        cpus = np.unique(instance.jobs.cpus).tolist()
        for _ in range(3):
            weights = rng.integers(1, 4, len(cpus)).tolist()
            entry = weights_of(cpus, weights, 100, rng.uniform(0, 2 * price, slots).tolist())
            bound = value(instance, rng.uniform(0, price, slots).tolist(), entry)
            assert bound <= min(values, default=np.inf) * (1 + 1e-12) + 1e-12
    assert kept > 200


def test_runs_that_begin_early_and_touch() -> None:
    """Each begins an allowance early; so the second uses the last 2e-7 h of the first slot, and is paid for them."""
    gap = 0.999e-7
    rows = [(0.0, 1.0, 3.0), (1.0, 1.0, 3.0)]
    instance = by_hand([0] * 3, rows, wait=0.0, reserved_cpus=3, weights=Weights(0, 1, 0), model="no-split")
    report = check(instance, columns([("j0", 0.0, 1.0 - gap, "reserved"), ("j1", 1.0 - gap, 2.0 - gap, "reserved")]))
    assert report.feasible
    assert report.objective is not None
    for price in (1.0, 1e3, 1e6):
        for prices in ([price, 0.0, 0.0], [0.0, price, 0.0], [price, price, price]):
            assert value(instance, [0.0] * 3, weights_of([3], [1], 1, prices)) <= report.objective


@pytest.mark.parametrize(
    ("entry", "field"),
    [
        *((weights_of([3], bad, 1, [1, 0]), "weights") for bad in (None, [], [0], [1.0], [True], ["1"], [2001], 1)),
        *((weights_of([3], [1], bad, [1, 0]), "most") for bad in (None, 0, 1.0, True, "1", 2001, [1])),
        *(
            (weights_of(bad, [1, 1], 2, [1, 0]), "cpus")
            for bad in (
                None,
                [],
                [3],
                [3, 3],
                [5, 3],
                [3, "5"],
                [3, float("nan")],
                [3, True, 5],
                3,
                [0, 3],
                [3, 10**400],
            )
        ),
        *((weights_of([3], [1], 1, bad), "prices") for bad in (None, [], [1], [1, -1], [1, float("nan")], [1, 1e31])),
        (weights_of([3], [2], 1, [1, 0]), "most"),
    ],
)
def test_malformed(entry: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        value(TWO_OF_THREE, [0, 0], entry)
    assert caught.value.faults[0].field == f"certificate.rounded[0].{field}"


@pytest.mark.parametrize(
    "instance", [TWO_OF_THREE.with_model("splitting"), replace(TWO_OF_THREE, reserved_cpus=None)], ids=str
)
def test_only_whole_jobs_on_given_cpus(instance: PurchasingInstance) -> None:
    with pytest.raises(InputError, match="only where jobs may not split and R is given"):
        value(instance, [0, 0], weights_of([3], [1], 1, [1, 0]))

"""Branches of a certificate: every schedule is in a leaf, and no leaf claims more than its schedules cost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from purchasing_random import by_hand, continuous, random_schedule

from carbonopt.core.errors import InputError
from carbonopt.problems.purchasing.data.instance import PurchasingInstance, Weights
from carbonopt.problems.purchasing.verify import certificate_branches
from carbonopt.problems.purchasing.verify.certificate import proven_bound
from carbonopt.problems.purchasing.verify.certificate_rounded import Weighed, rounded_of
from carbonopt.problems.purchasing.verify.certificate_runs import Windows
from carbonopt.problems.purchasing.verify.check import check

ONE_OF_THREE = [{"cpus": [3], "weights": [1], "most": 1}]
"""A job of three CPUs is all that has room on five."""


def two_jobs(wait: float) -> PurchasingInstance:
    """Return two jobs of an hour and three of five CPUs: each costs 3 $ on demand, and 1 $ for an hour of waiting."""
    return by_hand(
        [1.0] * 3, [(0, 1, 3), (0, 1, 3)], wait=wait, reserved_cpus=5, weights=Weights(0, 1, 1), model="no-split"
    )


TWO = two_jobs(1.0)


def leaf(*prices: float) -> dict[str, Any]:
    """Return a leaf with a price of a weight of 1 in each of the first slots, and none of CPUs."""
    return {"prices": [0.0] * 3, "rounded_prices": [[*prices, *([0.0] * (3 - len(prices)))]]}


def value(instance: PurchasingInstance, nodes: Any, units: Any = ONE_OF_THREE) -> float:
    told = {"kind": "branches", "grid_slots": 1, "rounded": units, "nodes": nodes}
    bound, _ = proven_bound(instance, told, {})
    assert bound is not None
    return bound


class TestByHand:
    def test_one_leaf_is_the_bound_without_branches(self) -> None:
        """At 1 $ an hour all starts cost 1 $, of two jobs 2 $; the weight of one takes 1 $ off."""
        for price, expected in ((0.0, 0.0), (1.0, 1.0), (0.5, 0.5)):
            rounded = [ONE_OF_THREE[0] | {"prices": [price, 0, 0]}]
            told = {"kind": "lagrangian", "grid_slots": 1, "prices": [0] * 3, "multipliers": None, "rounded": rounded}
            assert value(TWO, [leaf(price)]) == pytest.approx(proven_bound(TWO, told, {})[0], abs=1e-12)
            assert value(TWO, [leaf(price)]) == pytest.approx(expected, abs=1e-5)

    def test_on_reserved_cpus_or_not(self) -> None:
        """Without waiting: on them job 0 pays 5 $, job 1 is on demand for 3 $, and 5 $ come off; or job 0 pays 3 $."""
        assert value(two_jobs(0.0), [{"job": 0, "parts": [1, 2]}, leaf(5.0), leaf(0.0)]) == pytest.approx(3, abs=1e-5)
        assert value(two_jobs(0.0), [{"job": 0, "parts": [1, 2]}, leaf(4.0), leaf(0.0)]) == pytest.approx(3, abs=1e-5)
        assert value(two_jobs(0.0), [{"job": 0, "parts": [1, 2]}, leaf(2.0), leaf(0.0)]) == pytest.approx(2, abs=1e-5)
        assert value(two_jobs(0.0), [{"job": 0, "parts": [2, 1]}, leaf(5.0), leaf(0.0)]) == pytest.approx(0, abs=1e-5)

    def test_by_a_moment_or_later(self) -> None:
        """By 0.4 h at 1 $: 1 $, as without branches. Later job 0 has waited 0.4 h, and at 0.6 $ pays 0.36 $ more."""
        at = {"job": 0, "at": 0.4, "parts": [1, 2]}
        assert value(TWO, [at, leaf(1.0), leaf(0.0)]) == pytest.approx(0.4, abs=1e-5)
        assert value(TWO, [at, leaf(1.0), leaf(0.6)]) == pytest.approx(0.76, abs=1e-5)
        assert value(TWO, [at | {"at": 1}, leaf(1.0), leaf(0.0)]) == pytest.approx(1, abs=1e-5)
        assert value(TWO, [at, leaf(0.0), leaf(0.6)]) == pytest.approx(0, abs=1e-5)

    def test_parts_without_a_schedule(self) -> None:
        """Off the reserved CPUs, and then on them; by 0.4 h and not before 0.6: on demand is all that is left."""
        nodes = [{"job": 0, "parts": [1, 2]}, leaf(5.0), {"job": 0, "parts": [3, 4]}, leaf(0.0), leaf(0.0)]
        assert value(two_jobs(0.0), nodes) == pytest.approx(3, abs=1e-5)
        windows = [
            {"job": 0, "at": 0.4, "parts": [1, 2]},
            {"job": 0, "at": 0.6, "parts": [3, 4]},
            leaf(0.6),
            leaf(1.0),
            leaf(0.0),
        ]
        assert value(TWO, windows) == pytest.approx(0.76, abs=1e-5)

    def test_jobs_that_are_too_large(self) -> None:
        """Two CPUs have no room for a job of three: all are on demand for 3 $ each."""
        too_few = replace(TWO, reserved_cpus=2)
        assert value(too_few, [{"job": 0, "parts": [1, 2]}, leaf(), leaf()]) == pytest.approx(6, abs=1e-5)

    def test_fewer_jobs_that_may_run_weigh_less(self) -> None:
        """Job 0 uses slots 0 to 2 if it may wait for an hour; by 0 h it only touches slot 1; else it uses none."""
        one = by_hand([1.0] * 4, [(0, 1, 3)], wait=1.0, reserved_cpus=5, weights=Weights(0, 1, 1), model="no-split")
        told = {"prices": [0.0] * 4, "rounded": [ONE_OF_THREE[0] | {"prices": [0.0] * 4}]}
        every = Windows.of(one)
        for windows, most in (
            (every, [1, 1, 1, 0]),
            (replace(every, last=np.array([0.0])), [1, 1, 0, 0]),
            (replace(every, first=np.array([0.5]), last=np.array([0.9])), [1, 1, 0, 0]),
            (replace(every, first=np.array([1.0])), [1, 1, 1, 0]),
            (replace(every, reserved=np.array([False])), [0, 0, 0, 0]),
            (replace(every, first=np.array([0.6]), last=np.array([0.5])), [0, 0, 0, 0]),
        ):
            (found,) = rounded_of(one, told, 5.0, windows)
            assert isinstance(found, Weighed)
            assert found.most.tolist() == most


@pytest.mark.parametrize("whole", [True, False])
def test_no_schedule_beats_any_tree(whole: bool) -> None:
    """Random trees with random prices, against random schedules."""
    rng = np.random.default_rng(1)
    kept = 0
    for seed in range(120):
        instance = continuous(seed, "no-split", [None, 0.3][seed % 2])
        if whole:
            instance = replace(instance, jobs=replace(instance.jobs, cpus=np.ceil(instance.jobs.cpus)))
        found = [check(instance, *random_schedule(instance, rng)) for _ in range(8)]
        values = [report.objective for report in found if report.feasible and report.objective is not None]
        kept += len(values)
        price = instance.weights.cost_usd * instance.prices.on_demand_usd_per_cpu_hour
        slots = instance.time.slots
        cpus = np.unique(instance.jobs.cpus).tolist()
        units = [
            {"cpus": cpus, "weights": rng.integers(1, 4, len(cpus)).tolist(), "most": 100},
            {"divisor": float(rng.uniform(0.3, 1.0) * max(1, instance.reserved_cpus or 0))},
        ]
        for _ in range(3):
            nodes = random_tree(instance, rng, price, slots)
            bound = value(instance, nodes, units)
            assert bound <= min(values, default=np.inf) * (1 + 1e-12) + 1e-12
    assert kept > 200


def random_tree(instance: PurchasingInstance, rng: np.random.Generator, price: float, slots: int) -> list[Any]:
    """Return the nodes of a tree of up to nine leaves."""
    nodes: list[Any] = [None]
    leaves = [0]
    for _ in range(int(rng.integers(0, 9))):
        number = leaves.pop(int(rng.integers(len(leaves))))
        job = int(rng.integers(len(instance.jobs)))
        arrival = float(instance.jobs.arrival_hours[job])
        at = {"at": arrival + float(rng.uniform(0, 1) * instance.max_wait_hours[job])} if rng.random() < 0.6 else {}
        nodes[number] = {"job": job} | at | {"parts": [len(nodes), len(nodes) + 1]}
        leaves += [len(nodes), len(nodes) + 1]
        nodes += [None, None]
    for number in leaves:
        rounded = [rng.uniform(0, price, slots).tolist() for _ in range(2)]
        nodes[number] = {"prices": rng.uniform(0, price, slots).tolist(), "rounded_prices": rounded}
    return nodes


LEAF = leaf()


@pytest.mark.parametrize(
    ("nodes", "field"),
    [
        *((bad, "nodes") for bad in (None, [], {}, [1], 3)),
        *(([{"job": bad, "parts": [1, 2]}, LEAF, LEAF], "nodes[0].job") for bad in (None, -1, 2, 0.0, True, "0")),
        *(
            ([{"job": 0, "at": bad, "parts": [1, 2]}, LEAF, LEAF], "nodes[0].at")
            for bad in (None, "1", True, float("nan"), float("inf"), [1], 10**400, -(10**400))
        ),
        *(
            ([{"job": 0, "parts": bad}, LEAF, LEAF], "nodes[0].parts")
            for bad in (None, [1], [1, 1], [0, 1], [1, 3], [1, 2.0], [1, True], "12", [2, 1, 1])
        ),
        ([{"job": 0, "parts": [1, 2]}, {"job": 1, "parts": [2, 3]}, LEAF, LEAF], "nodes[1].parts"),
        *(([LEAF | {"prices": bad}], "nodes[0].prices") for bad in (None, [0], [0, 0, -1], "000")),
        *(
            ([LEAF | {"rounded_prices": bad}], "nodes[0].rounded_prices")
            for bad in ([], {}, None, 3, "x", [[0] * 3] * 2)
        ),
        *(([LEAF | {"rounded_prices": [bad]}], "nodes[0].rounded_prices[0]") for bad in (None, [0, 0], [0, 0, -1])),
    ],
)
def test_malformed(nodes: Any, field: str) -> None:
    with pytest.raises(InputError) as caught:
        value(TWO, nodes)
    assert caught.value.faults[0].field == f"certificate.{field}"


@pytest.mark.parametrize(
    ("units", "field"), [(3, "rounded"), ({}, "rounded"), ([1], "rounded"), ([{"divisor": 0}], "rounded[0].divisor")]
)
def test_malformed_units(units: Any, field: str) -> None:
    with pytest.raises(InputError) as caught:
        value(TWO, [leaf()], units)
    assert caught.value.faults[0].field == f"certificate.{field}"


def test_not_more_prices_than_a_check_has_time_for(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = [{"job": 0, "parts": [1, 2]}, LEAF, LEAF]
    monkeypatch.setattr(certificate_branches, "MOST_WEIGHED", 2)
    assert value(TWO, nodes) == 0
    monkeypatch.setattr(certificate_branches, "MOST_WEIGHED", 1)
    with pytest.raises(InputError, match="at most 1 prices of units: 2 leaves with 1 kinds"):
        value(TWO, nodes)


@pytest.mark.parametrize("instance", [TWO.with_model("splitting"), replace(TWO, reserved_cpus=None)], ids=str)
def test_only_whole_jobs_on_given_cpus(instance: PurchasingInstance) -> None:
    with pytest.raises(InputError, match="only where jobs may not split and R is given"):
        value(instance, [LEAF])

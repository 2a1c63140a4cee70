"""Churn: how often jobs that have begun are stopped, or go on on other CPUs; counted by hand."""

from __future__ import annotations

from itertools import pairwise

import pytest
from purchasing_random import by_hand, columns

import carbonopt as co
from carbonopt.problems.purchasing.data.instance import PurchasingInstance, Spot
from carbonopt.problems.purchasing.verify.check import check


def test_breaks_and_other_cpus_count_and_rows_that_go_on_do_not() -> None:
    instance = by_hand(
        [1.0] * 12, [(0.0, 4.0, 1.0), (0.0, 2.0, 1.0)], model="suspend-resume", wait=4.0, reserved_cpus=2
    )
    rows = [
        ("j0", 0, 1, "shared"),
        ("j0", 1, 2, "shared"),  # goes on
        ("j0", 2, 3, "on-demand"),  # on other CPUs
        ("j0", 5, 6, "on-demand"),  # after a break
        ("j1", 1, 3, "reserved"),  # waits, which is no churn
    ]
    report = check(instance, columns(rows))
    assert report.violations == ()
    assert (report.metrics["suspensions"], report.metrics["churn"]) == (2, 2)


def test_an_eviction_is_nobodys_decision() -> None:
    instance = by_hand([1.0] * 12, [(0.0, 1.0, 1.0)], spot=Spot(1, 0.5))
    rows = [("j0", 0, 0.25, "spot"), ("j0", 0.25, 1.25, "on-demand")]
    found = check(instance, columns(rows), {"evictions": "realised"}).metrics
    assert (found["evictions"], found["churn"]) == (1, 0)


@pytest.mark.parametrize("mode", ["paper", "artifact"])
@pytest.mark.parametrize("policy", ["wait-awhile", "ecovisor", "res-first-carbon-time"])
def test_it_is_what_the_rows_of_a_simulation_say(policy: str, mode: str) -> None:
    instance = co.generate("purchasing", jobs=60, arrival_hours=30, reserved=4, seed=2)
    assert isinstance(instance, PurchasingInstance)
    found = co.simulate(instance, policy, mode=mode)
    assert found.columns is not None
    runs: dict[str, list[tuple[float, float, str]]] = {}
    for name, start, end, option in zip(*found.columns.values(), strict=True):
        runs.setdefault(name, []).append((start, end, option))
    count = 0
    for rows in runs.values():
        rows.sort()
        for before, after in pairwise(rows):
            count += after[0] > before[1] + 1e-6 or after[2] != before[2]
    assert found.metrics["churn"] == count
    assert (count > 0) == (policy != "res-first-carbon-time")

"""GAIA with start-up time of instances (`PurchaseRule.startup_minutes`): a case by hand, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from policies_support import FLAT, ran
from purchasing_random import by_hand

import carbonopt as co
from carbonopt.core.errors import UnsupportedError
from carbonopt.problems.purchasing.data.instance import Spot
from carbonopt.problems.purchasing.online.rule import SUSPENDING

HALF_HOUR = "no-wait:startup_minutes=30"


def test_a_cpu_on_demand_is_taken_half_an_hour_before_the_job_begins_on_it() -> None:
    instance = by_hand([2.0, 4.0, 6.0, 8.0, *FLAT], [(0, 2, 1), (0, 2, 3)], reserved_cpus=1)
    assert ran(instance, HALF_HOUR) == [("j0", 0.0, 2.0, "reserved"), ("j1", 0.0, 2.5, "on-demand")]
    found, free = co.simulate(instance, HALF_HOUR), co.simulate(instance, "no-wait")
    assert co.check(instance, found).feasible
    assert found.metrics["startup_cpu_hours"] == pytest.approx(3 * 0.5)
    price = instance.prices.on_demand_usd_per_cpu_hour
    assert found.metrics["cost_usd"] - free.metrics["cost_usd"] == pytest.approx(3 * 0.5 * price)
    half_an_hour_of_slot_2 = 3 * 0.5 * instance.kg_per_cpu_hour[2]
    assert found.metrics["carbon_kg"] - free.metrics["carbon_kg"] == pytest.approx(half_an_hour_of_slot_2)
    assert found.metrics["wait_hours"] == pytest.approx(0.5)
    assert free.metrics["startup_cpu_hours"] == 0


def test_an_evicted_job_starts_a_second_instance() -> None:
    instance = by_hand(FLAT, [(0, 2, 1)] * 20, spot=Spot(2.0, 1.0))
    found = co.simulate(instance, "spot-first-no-wait:startup_minutes=15", seed=3)
    assert co.check(instance, found).feasible
    evictions = found.metrics["evictions"]
    assert 0 < evictions < 20
    late = found.metrics["on_demand_cpu_hours"]
    assert late == pytest.approx(2.25 * evictions)
    assert found.metrics["jobs_completed"] == 20


def test_the_checker_holds_a_schedule_to_its_own_start_up_time() -> None:
    instance = by_hand(FLAT, [(0, 2, 1)])
    found = co.simulate(instance, HALF_HOUR)
    less = replace(found, info={**found.info, "startup_hours": 0.25})
    assert "work" in {violation.constraint for violation in co.check(instance, less).violations}
    report = co.check(instance, found)
    assert "0.5 h to start" in report.incomparable


@pytest.mark.parametrize("wrong", [-1.0, float("nan"), float("inf"), "a", True, None])
def test_a_start_up_time_that_is_none(wrong: Any) -> None:
    instance = by_hand(FLAT, [(0, 2, 1)])
    found = co.simulate(instance, "no-wait")
    report = co.check(instance, replace(found, info={**found.info, "startup_hours": wrong}))
    assert [violation.constraint for violation in report.violations] == ["format"]


@pytest.mark.parametrize("policy", SUSPENDING)
def test_policies_that_suspend_refuse_it(policy: str) -> None:
    with pytest.raises(UnsupportedError, match=r"startup_minutes = 3: .* leave no time to start"):
        co.simulate(by_hand(FLAT, [(0, 2, 1)]), f"{policy}:startup_minutes=3")


def test_refused_in_the_authors_simulator_and_beyond_the_signal() -> None:
    instance = by_hand(FLAT, [(0, 2, 1)])
    with pytest.raises(UnsupportedError, match="startup_minutes: the authors' simulator has none"):
        co.simulate(instance, HALF_HOUR, mode="artifact")
    with pytest.raises(UnsupportedError, match=r"startup_minutes = 6e.06: job 'j0' may then end"):
        co.simulate(instance, "no-wait:startup_minutes=6e6")
    assert np.isfinite(co.simulate(instance, "no-wait:startup_minutes=0").metrics["cost_usd"])

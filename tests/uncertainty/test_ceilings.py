"""Plans under a ceiling: by hand, and by what each of them may add at most."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import carbonopt as co
from carbonopt.core.options import Options
from carbonopt.lessons.instances import small
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.uncertainty.ceilings import AGAIN, RATIOS, lowered, plans_under_ceilings
from carbonopt.uncertainty.costs import measured, rises_of
from carbonopt.uncertainty.measures import Budget, Expectation
from carbonopt.uncertainty.scenarios import Scenarios
from carbonopt.uncertainty.signals import SignalSet
from carbonopt.uncertainty.solve import relaxed_risk


def case(seed: int, jobs: int, slots: int) -> tuple[MospInstance, Scenarios]:
    """Return an instance whose first two of three clusters share a zone, and scenarios whose errors grow."""
    made = co.generate("mosp", preset="bench", jobs=jobs, clusters=3, slots=slots, seed=seed)
    zones = made.clusters.zone
    instance = replace(made, clusters=replace(made.clusters, zone=(zones[0], zones[0], zones[2])))
    signal = instance.carbon.g_per_kwh
    errors = np.random.default_rng(seed).normal(0, 0.1, (6, *signal.shape)).cumsum(axis=2)
    return instance, Scenarios(instance.carbon.zones, signal * np.exp(errors))


def test_capacities_under_a_ceiling_by_hand() -> None:
    """A node draws 1 kW for an hour: .05 kg more where 150 g/kWh become 200, nothing where they stay, .1 kg of 100."""
    instance = small("night", [150, 200, 300], 10, {"a": (0, 1, 2), "b": (0, 1, 1)})
    scenarios = Scenarios(("DE",), np.array([[[100.0, 200.0, 200.0]], [[200.0, 200.0, 400.0]]]))
    assert float(instance.clusters.watts_per_unit[0, 0]) == 1000
    assert lowered(instance, scenarios, 0.36).clusters.capacity[0, 0].tolist() == [7, 10, 3]
    assert lowered(instance, scenarios, 0.5).clusters.capacity[0, 0].tolist() == [10, 10, 5]
    assert lowered(instance, scenarios, 0.36).carbon.g_per_kwh.tolist() == [[150, 200, 300]]


def test_a_capacity_below_each_demand_is_none() -> None:
    """No unit divides 4 and 4.0001 kW, so capacities stay parts: 7.2 of 10 nodes, and 3.6 where nothing fits."""
    instance = small("night", [150, 200, 300], 10, {"a": (0, 1, 4), "b": (0, 1, 4.000000123)})
    scenarios = Scenarios(("DE",), np.array([[[100.0, 200.0, 200.0]], [[200.0, 200.0, 400.0]]]))
    assert lowered(instance, scenarios, 0.36).clusters.capacity[0, 0].tolist() == pytest.approx([7.2, 10, 0])


def test_no_pair_adds_more_than_the_ceiling() -> None:
    tried = 0
    for seed in range(6):
        instance, scenarios = case(seed, 12, 24)
        free = co.solve(scenarios.instance(instance), work_limit=0.02)
        ceiling = 0.8 * float(rises_of(instance, scenarios, free.schedule).max())
        found = co.solve(lowered(instance, scenarios, ceiling), work_limit=0.05)
        if not found.has_solution:
            continue
        tried += 1
        assert float(rises_of(instance, scenarios, found.schedule).max()) <= ceiling * (1 + 1e-8)
        value = measured(instance, scenarios, found.schedule, Expectation())
        assert found.objective == pytest.approx(value, rel=1e-12)
        assert measured(instance, scenarios, found.schedule, Budget(3)) <= (value + 3 * ceiling) * (1 + 1e-8)
    assert tried > 2


def test_plans_come_with_their_risk_and_each_goes_on_from_the_best() -> None:
    instance, scenarios = case(1, 30, 24)
    risk = Budget(2)
    ceiling = 0.95 * float(
        rises_of(instance, scenarios, co.solve(scenarios.instance(instance), work_limit=0.1).schedule).max()
    )
    options = Options(None, work_limit=0.7)
    found = list(plans_under_ceilings(instance, scenarios, risk, ceiling, np.inf, options))
    assert len(found) == len(RATIOS) + AGAIN
    values = [value for _, value in found]
    assert values == [measured(instance, scenarios, plan.schedule, risk) for plan, _ in found]
    best = int(np.argmin(values[: len(RATIOS)]))
    assert all(plan.objective <= found[best][0].objective for plan, _ in found[len(RATIOS) :])
    known = list(plans_under_ceilings(instance, scenarios, risk, ceiling, 0.0, Options(None, work_limit=0.7)))
    assert len(known) == len(RATIOS)


def test_plans_under_ceilings_have_less_risk_than_that_of_one_signal() -> None:
    instance = co.generate("mosp", preset="bench", jobs=70, clusters=3, slots=24, seed=5)
    signal = instance.carbon.g_per_kwh
    errors = np.random.default_rng(5).normal(0, 0.06, (10, *signal.shape)).cumsum(axis=2)
    scenarios = Scenarios(instance.carbon.zones, signal * np.exp(errors))
    risk = Budget(4)
    weights, ceiling = relaxed_risk(instance, scenarios, risk, Options(None))
    assert weights is not None
    assert ceiling is not None
    mix = co.solve(scenarios.under(instance, SignalSet.of(scenarios, risk).signal(weights)), work_limit=1.0)
    known = measured(instance, scenarios, mix.schedule, risk)
    options = Options(None, work_limit=1.0)
    found = plans_under_ceilings(instance, scenarios, risk, ceiling, known, options)
    assert mix.bound <= min(value for _, value in found) < known


def test_no_plan_under_a_ceiling_too_low_for_any() -> None:
    instance, scenarios = case(1, 12, 24)
    options = Options(None, work_limit=0.1)
    assert not list(plans_under_ceilings(instance, scenarios, Budget(2), 1e-9, np.inf, options))

"""How multipliers of the limits are found at which schedules keep them (`price.multipliers`)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import carbonopt as co
from carbonopt.excess import expected_of, least
from carbonopt.problems.purchasing.methods.price.multipliers import Multipliers
from carbonopt.problems.purchasing.methods.price.parameters import LimitParameters

SETTINGS = LimitParameters(first_step=0.5, growth=2.0, nudge=0.1)


def test_a_step_grows_on_one_side_of_its_limit_and_is_halved_when_it_changes_sides():
    found = Multipliers(np.array([1.0, 1.0]), np.array([0.1, 0.1]), SETTINGS)
    for over in ([0.2, 0.2], [0.1, 0.1], [0.1, -0.1]):
        found.follow(np.array(over))
    assert found.step.tolist() == [2.0, 0.5]  # .5, 1, 2 and .5, 1, .5
    np.testing.assert_allclose(found.values, np.exp([0.5 + 1.0 + 2.0, 0.5 + 1.0 - 0.5]))


def test_a_limit_without_a_multiplier_gets_one_when_it_is_exceeded():
    found = Multipliers(np.zeros(2), np.array([0.1, 0.1]), SETTINGS)
    found.follow(np.array([0.2, -0.2]))
    np.testing.assert_allclose(found.values, [0.1 * np.exp(0.5), 0.0])
    np.testing.assert_allclose(found.nudged(np.ones(2), np.array([0.2, -0.2])), np.exp([0.1, -0.05]))


def test_multipliers_stay_finite_where_no_schedule_keeps_the_limits():
    found = Multipliers(np.array([0.0, 3.0]), np.array([0.1, 0.1]), SETTINGS)
    for _ in range(1000):
        found.follow(np.array([0.2, 0.2]))
    np.testing.assert_allclose(found.values, [1e5, 3e6])


@pytest.mark.parametrize("model", ["splitting", "no-split", "suspend-resume"])
def test_a_policy_is_beaten_at_its_own_carbon_and_wait(model):
    """One factor for all multipliers found nothing here below the policy's own cost, 5.3 % above the bound."""
    instance = replace(co.generate("purchasing", jobs=300, seed=12), reserved_cpus=12)
    policy = expected_of(instance, co.simulate(instance, "res-first-carbon-time"))
    options = {"time_limit": None, "work_limit": 3.0}
    found = least(instance, policy.metrics, "cost_usd", model=model, start=policy, **options)
    assert found.bound is not None
    assert found.reached is not None
    assert found.reached - found.bound < 0.01 * found.bound

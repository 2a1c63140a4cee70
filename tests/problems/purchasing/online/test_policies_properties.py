"""Every policy on random instances: the checker accepts it, seeds repeat, and no policy beats a bound."""

from __future__ import annotations

import numpy as np
import pytest
from purchasing_random import continuous

import carbonopt as co
from carbonopt.problems.purchasing import PROBLEM

POLICIES = tuple(PROBLEM.policies)
SEEDS = range(12)


@pytest.mark.parametrize("policy", POLICIES)
def test_the_checker_accepts_every_schedule(policy: str) -> None:
    for seed in SEEDS:
        model = ("splitting", "no-split", "suspend-resume")[seed % 3]
        instance = continuous(seed, model, hazard=(0.3, 0.0, None)[seed // 3 % 3])
        for lengths in ("mean", "true"):
            found = co.simulate(instance, policy, lengths=lengths, seed=seed)
            assert found.columns is not None, found.info
            assert not co.check(instance, found).violations
            assert found.metrics["jobs_completed"] == len(instance.jobs)


@pytest.mark.parametrize("policy", POLICIES)
def test_the_same_seed_gives_the_same_schedule(policy: str) -> None:
    for seed in SEEDS:
        instance = continuous(seed, hazard=2.0)
        first, second = (co.simulate(instance, policy, seed=seed, forecast="error=0.3") for _ in range(2))
        assert first.columns == second.columns


@pytest.mark.parametrize("policy", [name for name in POLICIES if not name.startswith("spot")])
def test_no_policy_beats_the_relaxation(policy: str) -> None:
    for seed in SEEDS:
        instance = continuous(seed, hazard=None)
        found = co.simulate(instance, policy, lengths="true")
        loosest = instance.with_model(found.info.get("model", instance.model))
        bound = co.solve(loosest, "lp").bound
        assert bound is not None
        assert found.objective is not None
        assert found.objective >= bound - 1e-6 * max(1.0, abs(bound))


def test_evictions_on_the_average_do_not_beat_the_expected_optimum() -> None:
    instance = continuous(2, hazard=0.4)
    bound = co.solve(instance, "lp").bound
    values = [co.simulate(instance, "spot-first-carbon-time", seed=seed).objective for seed in range(200)]
    assert bound is not None
    error = np.std(np.array(values, dtype=float)) / np.sqrt(len(values))
    assert error > 0
    assert np.mean(np.array(values, dtype=float)) >= bound - 3 * error


def test_evictions_on_the_average_are_what_is_expected() -> None:
    instance = continuous(2, hazard=0.4)
    name = "spot-first-no-wait"
    runs = [co.simulate(instance, name, seed=seed) for seed in range(400)]
    rows = zip(*(runs[0].columns[key] for key in ("job", "start_hours", "option")), strict=True)
    first = {job: (start, option) for job, start, option in reversed(list(rows))}
    names = list(first)
    length = dict(zip(instance.jobs.name, instance.jobs.length_hours.tolist(), strict=True))
    schedule = {
        "job": names,
        "start_hours": [first[job][0] for job in names],
        "end_hours": [first[job][0] + length[job] for job in names],
        "option": [first[job][1] for job in names],
    }
    expected = PROBLEM.role("check")(instance, schedule, {})
    assert not expected.violations
    for metric in ("carbon_kg", "usage_usd", "wait_hours", "evictions"):
        drawn = np.array([run.metrics[metric] for run in runs])
        error = drawn.std() / np.sqrt(drawn.size)
        assert drawn.mean() == pytest.approx(expected.metrics[metric], abs=4 * error + 1e-9)

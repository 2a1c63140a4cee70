"""Best responses find the moments within slots that the program over slots does not see, and never make worse."""

from __future__ import annotations

import numpy as np
import pytest
from purchasing_random import by_hand, columns, continuous, random_schedule

import carbonopt as co
from carbonopt.problems.purchasing.data.instance import Weights
from carbonopt.problems.purchasing.data.purchase_options import OPTIONS
from carbonopt.problems.purchasing.methods.parameters import PolishParameters
from carbonopt.problems.purchasing.methods.polish import polished
from carbonopt.problems.purchasing.verify.check import check


@pytest.mark.parametrize("model", ["splitting", "no-split"])
def test_a_job_starts_just_when_another_one_ends(model: str) -> None:
    """A has the reserved CPU until 1.5 h; B may wait for it: 1.5 h at 0.1 are less than any part on demand."""
    instance = by_hand(
        [1] * 6, [(0, 1.5, 1), (0, 1, 1)], wait=2.0, reserved_cpus=1, weights=Weights(0, 1, 0.1), model=model
    )
    solution = co.solve(instance, "milp")
    assert sorted(solution.columns["start_hours"]) == [0, 1.0]  # the shorter one first
    assert solution.objective == pytest.approx(0.1)


@pytest.mark.parametrize("model", ["splitting", "no-split"])
def test_nothing_gets_worse(model: str) -> None:
    rng = np.random.default_rng(2)
    better = 0
    for seed in range(40):
        instance = continuous(seed, model, [None, 0.3][seed % 2])
        schedule, _ = random_schedule(instance, rng)
        index = {name: i for i, name in enumerate(instance.jobs.name)}
        job = np.array([index[name] for name in schedule["job"]])
        option = np.array([OPTIONS.index(name) for name in schedule["option"]])
        start, new = polished(
            instance, instance.reserved_cpus, job, np.array(schedule["start_hours"]), option, PolishParameters()
        )
        end = start + instance.jobs.length_hours[job]
        rows = [
            (instance.jobs.name[j], float(s), float(e), OPTIONS[o])
            for j, s, e, o in zip(job, start, end, new, strict=True)
        ]
        before, after = check(instance, schedule), check(instance, columns(rows))
        assert after.violations == ()
        assert after.objective <= before.objective * (1 + 1e-9) + 1e-12
        better += after.objective < before.objective * (1 - 1e-6)
    assert better > 20

"""Policies of the user's own, and what a simulation refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from policies_support import FLAT, ran
from purchasing_random import by_hand

import carbonopt as co
from carbonopt.core.errors import PolicyError, UnsupportedError
from carbonopt.problems.purchasing import PROBLEM
from carbonopt.problems.purchasing.online.rule import PAUSING
from carbonopt.simulation import Policy, State


@pytest.mark.parametrize(
    ("policy", "options", "words"),
    [
        ("carbon-tim", {}, "unknown policy 'carbon-tim' for problem 'purchasing': must be 'no-wait'"),
        ("res-first-ecovisor", {}, "unknown policy"),
        ("carbon-time", {"mode": "papers"}, "mode = 'papers': must be 'paper' or 'artifact'"),
        ("carbon-time", {"lengths": "median"}, "lengths = 'median': must be 'mean' or 'true'"),
        ("carbon-time", {"seed": -1}, "seed = -1"),
        ("carbon-time", {"reserved": 3}, "not all of these are fields"),
        ("carbon-time", {"forecast": "eror=1"}, "forecast setting 'eror'"),
        (3, {}, "policy 3: must be a name"),
    ],
)
def test_what_is_not_there(policy: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(UnsupportedError, match=words):
        co.simulate(by_hand(FLAT, [(0, 1, 1)]), policy, **options)


def test_reserved_cpus_must_be_given() -> None:
    instance = by_hand(FLAT, [(0, 1, 1)], reserved_cpus=None)
    with pytest.raises(UnsupportedError, match="needs a number of reserved CPUs"):
        co.simulate(instance, "no-wait")
    assert co.simulate(instance, "no-wait", reserved_cpus=2).metrics["reserved_cpus"] == 2


def test_no_jobs_at_all() -> None:
    for policy in PROBLEM.policies:
        for mode in ("paper", "artifact"):
            if mode == "artifact" and policy in PAUSING:
                continue
            found = co.simulate(by_hand(FLAT, []), policy, mode=mode)
            assert found.has_solution, found.info


@pytest.mark.parametrize("policy", PAUSING)
def test_the_authors_simulator_has_no_threshold_rules(policy: str) -> None:
    with pytest.raises(UnsupportedError, match="mode 'artifact' has the policies of GAIA alone"):
        co.simulate(by_hand(FLAT, [(0, 1, 1)]), policy, mode="artifact")


MINE = """
from carbonopt.simulation import Policy

class Cheapest(Policy):
    "Waits for a reserved CPU, or three hours."

    def on_arrival(self, state, job):
        state.plan(job, state.now + 3)

    def on_due(self, state, job):
        state.start(job, "on-demand")

    def on_settled(self, state):
        for job in list(state.queued):
            if state.fits(job, "reserved"):
                state.start(job, "reserved")

class Broken(Policy):
    def on_arrival(self, state, job):
        state.start(job, "on-demand")

    def on_completion(self, state, job):
        raise RuntimeError("lost my way")
"""


def test_a_policy_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    instance = by_hand(FLAT, [(0, 2, 1), (0.5, 1, 1), (0.5, 9, 1)], reserved_cpus=1)
    assert ran(instance, f"{path}:Cheapest") == [
        ("j0", 0, 2, "reserved"),
        ("j1", 2, 3, "reserved"),
        ("j2", 3, 12, "reserved"),
    ]
    assert co.simulate(instance, f"{path}:Cheapest").method == f"simulate:{path}:Cheapest"


def test_a_policy_that_raises_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    with pytest.raises(PolicyError, match="RuntimeError: lost my way") as caught:
        co.simulate(by_hand(FLAT, [(0, 2, 1), (0.5, 4, 1)]), f"{path}:Broken")
    assert "mine.py" in caught.value.details
    assert caught.value.log.to_frame()["end"].tolist() == [2, 2]


def test_a_policy_that_breaks_the_problems_rules_is_refused_by_the_checker() -> None:
    class Late(Policy):
        def on_arrival(self, state: State, job: int) -> None:
            state.plan(job, 20)

        def on_due(self, state: State, job: int) -> None:
            state.start(job, "on-demand")

    found = co.simulate(by_hand(FLAT, [(0, 2, 1)]), Late)
    assert (found.status, found.has_solution) == (co.Status.ERROR, False)
    assert "waits longer than it may" in found.info["violations"][0]


def test_shared_cpus_where_the_model_splits() -> None:
    class Shared(Policy):
        def on_arrival(self, state: State, job: int) -> None:
            state.start(job, "shared")

    found = co.simulate(by_hand(FLAT, [(0, 2, 3)], reserved_cpus=2), Shared())
    assert found.metrics["on_demand_cpu_hours"] == pytest.approx(2)
    with pytest.raises(PolicyError, match="pool 'shared'; 0 are free"):
        co.simulate(by_hand(FLAT, [(0, 2, 3)], reserved_cpus=2, model="no-split"), Shared())


def test_ctrl_c_keeps_what_was_simulated() -> None:
    class Stopped(Policy):
        def on_arrival(self, state: State, job: int) -> None:
            if job == 1:
                raise KeyboardInterrupt
            state.start(job, "on-demand")

    found = co.simulate(by_hand(FLAT, [(0, 2, 1), (1, 2, 1)]), Stopped())
    assert (found.status, found.has_solution) == (co.Status.INTERRUPTED, False)
    assert found.info["partial"]["end_hours"] == [1.0]
    assert found.info["unfinished_jobs"] == 2

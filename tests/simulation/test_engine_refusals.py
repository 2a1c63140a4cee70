"""The engine: what it refuses, and what it keeps where a simulation ends early."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from engine_support import jobs, rows, scripted

from carbonopt.core.errors import InputError, PolicyError
from carbonopt.simulation import Policy, Pool, State, engine, run


@pytest.mark.parametrize(
    ("hook", "words"),
    [
        (lambda state, job: state.start(job, "q"), "no pool 'q': must be 'p'"),
        (lambda state, job: state.start(job, units=3), "needs 3 units of pool 'p'; 2 are free"),
        (lambda state, job: state.start(job, units=0), "cannot run on 0 units"),
        (lambda state, job: state.start(1), "job 'late', at 0: cannot start: it arrives at 9"),
        (lambda state, job: state.start(7), "cannot start: it is not one of the 2 jobs"),
        (lambda state, job: [state.start(job), state.start(job)], "cannot start: it runs"),
        (lambda state, job: state.suspend(job), "cannot be suspended: it does not run"),
        (lambda state, job: state.scale(job, 2), "cannot be scaled: it does not run"),
        (lambda state, job: state.plan(1, 3), "cannot be planned: it arrives at 9"),
        (lambda state, job: state.plan(job, -1), "is planned for -1, which is past"),
        (lambda state, job: state.wake(float("nan")), "is to be woken for nan, which is past"),
        (lambda state, job: 1 // 0, "ZeroDivisionError"),
    ],
)
def test_what_cannot_be_is_told_with_policy_job_and_time(hook: Any, words: str) -> None:
    workload = jobs((0, 1, 1), (9, 1, 1), name=("soon", "late"))
    with pytest.raises(PolicyError) as caught:
        run(workload, [Pool("p", 2)], scripted(on_arrival=hook))
    assert words in str(caught.value)
    assert "policy 'Scripted' failed at 0, 2 jobs before its end" in str(caught.value)
    assert "test_engine_refusals.py" in caught.value.details
    assert 'engine.py", line' not in caught.value.details.replace('test_engine.py", line', "")


def test_what_was_simulated_is_kept() -> None:
    def fail(state: State, job: int) -> None:
        raise ValueError("a bug")

    with pytest.raises(PolicyError, match="a bug") as caught:
        run(jobs((0, 1, 1), (0, 2, 1)), [Pool("p")], scripted(on_completion=fail))
    assert rows(caught.value.log) == [(0, "p", 1, 0, 1, "completed"), (1, "p", 1, 0, 1, "running")]
    assert caught.value.log.stopped == "failed"
    assert caught.value.log.unfinished.tolist() == [1]


def test_jobs_left_waiting_are_told() -> None:
    with pytest.raises(PolicyError, match="'Policy' left 2 jobs waiting for ever, among them 0, 1"):
        run(jobs((0, 1, 1), (0, 1, 1)), [Pool("p")], Policy())


def test_epochs_do_not_go_on_for_ever(monkeypatch: Any) -> None:
    monkeypatch.setattr(engine, "IDLE_EPOCHS", 50)
    idle = type("Idle", (Policy,), {"epoch": 1.0, "on_epoch": lambda self, state: None})
    with pytest.raises(PolicyError, match="left 1 jobs waiting"):
        run(jobs((0, 1, 1)), [Pool("p")], idle())


@pytest.mark.parametrize(("arrival", "length"), [(5, 1), (0, 9)])
def test_epochs_are_not_so_short_that_there_is_no_end(arrival: float, length: float, monkeypatch: Any) -> None:
    """Also where the last job arrives early, and runs for long."""
    monkeypatch.setattr(engine, "MOST_EPOCHS", 40)
    hooks = {"on_arrival": lambda self, state, job: state.start(job, "p", 1), "on_epoch": lambda self, state: None}
    often = type("Often", (Policy,), {"epoch": 0.1, **hooks})
    with pytest.raises(PolicyError, match=r"an epoch of 0\.1 is too short: more than 40 of them"):
        run(jobs((arrival, length, 1)), [Pool("p")], often())


def test_a_policy_that_never_lets_time_go_by_is_stopped(monkeypatch: Any) -> None:
    monkeypatch.setattr(engine, "ROUNDS_A_MOMENT", 50)
    with pytest.raises(PolicyError, match="without time going by"):
        run(jobs((0, 1, 1)), [Pool("p")], scripted(on_settled=lambda state: state.wake(state.now)))


def test_ctrl_c_keeps_what_was_simulated() -> None:
    def stop(state: State, job: int) -> None:
        raise KeyboardInterrupt

    log = run(jobs((0, 1, 1), (0, 2, 1)), [Pool("p")], scripted(on_completion=stop))
    assert log.stopped == "interrupted"
    assert rows(log)[0] == (0, "p", 1, 0, 1, "completed")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: jobs((-1, 1, 1)), "arrival[0] = -1.0: must be finite and at least 0"),
        (lambda: jobs((0, 0, 1)), "work[0] = 0.0: must be finite and above 0"),
        (lambda: jobs((0, 1, 1), restart=[1, 2]), "restart: must have one entry for each of the 1 jobs"),
        (lambda: Pool("p", [1, -1]), "p.capacity: must be at least 0"),
        (lambda: Pool("p", evictions=-1), "p.evictions = -1"),
    ],
)
def test_data_that_make_no_sense(make: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("plans", "words"),
    [([1.0], "a time for each of 2 jobs, not shape"), ([0.5, 0.5], "job 1, at 0: plan_all returned 0.5, before")],
)
def test_plans_that_are_none(plans: list[float], words: str) -> None:
    planner = type("Planner", (Policy,), {"plan_all": lambda self, state: np.array(plans)})
    with pytest.raises(PolicyError, match=words):
        run(jobs((0, 1, 1), (1, 1, 1)), [Pool("p")], planner())

"""The engine: order of events, actions, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from carbonopt.core.errors import InputError, PolicyError
from carbonopt.simulation import ENDED, Log, Policy, Pool, SimulationProgress, State, Workload, engine, run


def jobs(*rows: tuple[float, float, float], **columns: Any) -> Workload:
    """Return a workload of rows (arrival, work, units)."""
    arrival, work, units = zip(*rows, strict=True)
    return Workload(np.array(arrival), np.array(work), np.array(units), **columns)


def rows(log: Log) -> list[tuple[int, str, float, float, float, str]]:
    """Return (job, pool, units, start, end, why it ended) of each segment."""
    return [
        (int(job), log.pools[pool], float(units), float(start), float(end), ENDED[ended])
        for job, pool, units, start, end, ended in zip(
            log.job, log.pool, log.units, log.start, log.end, log.ended, strict=True
        )
    ]


class Queue(Policy):
    """First come, first served, without overtaking."""

    def on_settled(self, state: State) -> None:
        for job in list(state.queued):
            if not state.fits(job):
                break
            state.start(job)


class AtOnce(Policy):
    """Every job at its arrival."""

    def on_arrival(self, state: State, job: int) -> None:
        state.start(job)


def scripted(**hooks: Any) -> Policy:
    """Return a policy of the given hooks; jobs start at their arrival unless a hook says otherwise."""
    return type("Scripted", (AtOnce,), {name: lambda self, *what, _do=do: _do(*what) for name, do in hooks.items()})()


def test_units_that_are_freed_serve_those_who_come_at_that_moment() -> None:
    log = run(jobs((0, 2, 1), (1, 2, 1), (4, 1, 1)), [Pool("p", 1)], Queue())
    assert rows(log) == [
        (0, "p", 1, 0, 2, "completed"),
        (1, "p", 1, 2, 4, "completed"),
        (2, "p", 1, 4, 5, "completed"),
    ]
    assert log.stopped == "done"
    assert log.unfinished.size == 0


def test_all_ends_of_a_moment_come_before_the_first_hook() -> None:
    seen = []
    run(
        jobs((0, 1, 1), (0, 1, 1)),
        [Pool("p", 2)],
        scripted(on_completion=lambda state, job: seen.append((job, state.free()))),
    )
    assert seen == [(0, 2.0), (1, 2.0)]


def test_moments_that_differ_by_rounding_are_one() -> None:
    log = run(jobs((0, 0.3, 1), (0.1 + 0.2 - 1e-16, 1, 1)), [Pool("p", 1)], AtOnce())
    assert [row[0] for row in rows(log)] == [0, 1]


def test_a_suspended_job_keeps_its_work_and_pays_for_its_restart() -> None:
    class Break(AtOnce):
        def on_begin(self, state: State) -> None:
            state.wake(1.0)
            state.wake(3.0)

        def on_wake(self, state: State) -> None:
            if 0 in state.running:
                state.suspend(0)
                assert state.remaining(0) == 3.0
            else:
                state.start(0)

    log = run(jobs((0, 4, 1), restart=[0.5]), [Pool("p")], Break())
    assert rows(log) == [(0, "p", 1, 0, 1, "suspended"), (0, "p", 1, 3, 6.5, "completed")]
    assert log.overhead.tolist() == [0, 0.5]


def test_until_suspends_and_the_last_piece_completes() -> None:
    class Pieces(Policy):
        def on_arrival(self, state: State, job: int) -> None:
            state.start(job, until=1.0)

        def on_suspension(self, state: State, job: int) -> None:
            state.plan(job, 2.5)

    log = run(jobs((0, 1.5, 1)), [Pool("p")], Pieces())
    assert rows(log) == [(0, "p", 1, 0, 1, "suspended"), (0, "p", 1, 2.5, 3, "completed")]


def test_speed_depends_on_units() -> None:
    class Grow(AtOnce):
        epoch = 1.0

        def on_epoch(self, state: State) -> None:
            if 0 in state.running and state.now == 1:
                state.scale(0, 4)

    log = run(jobs((0, 5, 1), speed=lambda job, units: units**0.5), [Pool("p", 4)], Grow())
    assert rows(log) == [(0, "p", 1, 0, 1, "scaled"), (0, "p", 4, 1, 3, "completed")]


def test_a_job_migrates_with_its_work() -> None:
    class Move(AtOnce):
        def on_begin(self, state: State) -> None:
            state.wake(1.0)

        def on_wake(self, state: State) -> None:
            state.migrate(0, "b")

    log = run(jobs((0, 2, 1)), [Pool("a", 1), Pool("b", 1)], Move())
    assert rows(log) == [(0, "a", 1, 0, 1, "migrated"), (0, "b", 1, 1, 2, "completed")]


def test_a_plan_replaces_the_plan_before_and_a_start_drops_it() -> None:
    class Plans(Policy):
        def on_arrival(self, state: State, job: int) -> None:
            state.plan(job, 5)
            state.plan(job, 2)
            assert state.planned(job) == 2

    assert rows(run(jobs((0, 9, 1)), [Pool("p")], Plans())) == [(0, "p", 1, 2, 11, "completed")]


def test_all_plans_at_once_may_leave_jobs_out() -> None:
    class Plans(Policy):
        def plan_all(self, state: State) -> Any:
            return np.array([3.0, np.nan])

        def on_completion(self, state: State, job: int) -> None:
            if job == 0:
                state.start(1)

    assert [row[3] for row in rows(run(jobs((0, 1, 1), (0, 1, 1)), [Pool("p")], Plans()))] == [3, 4]


def test_epochs_come_at_multiples_while_jobs_are_left() -> None:
    class Ticks(AtOnce):
        epoch = 0.1

        def on_epoch(self, state: State) -> None:
            seen.append(state.now)

    seen: list[float] = []
    run(jobs((0.05, 0.26, 1)), [Pool("p")], Ticks())
    assert seen == [0, 0.1, 0.2, 3 * 0.1, 0.4]


def test_capacity_by_slot() -> None:
    class Room(Queue):
        def on_capacity(self, state: State, pool: int) -> None:
            while state.load(pool) > state.capacity(pool):
                state.suspend(max(state.running))

    log = run(jobs((0, 3, 1), (0, 2, 1)), [Pool("p", [2, 1, 2], slot=1.0)], Room())
    assert rows(log) == [
        (1, "p", 1, 0, 1, "suspended"),
        (0, "p", 1, 0, 3, "completed"),
        (1, "p", 1, 2, 3, "completed"),
    ]


def test_a_fall_of_capacity_that_is_not_made_room_for_is_an_error() -> None:
    with pytest.raises(PolicyError, match="pool 'p' has 0 units from then on, and 1 in use") as caught:
        run(jobs((0, 3, 1)), [Pool("p", [1, 0])], AtOnce())
    assert rows(caught.value.log) == [(0, "p", 1, 0, 1, "running")]


def test_an_evicted_job_loses_its_work() -> None:
    class Spot(Policy):
        def on_arrival(self, state: State, job: int) -> None:
            state.start(job, "spot")

        def on_eviction(self, state: State, job: int) -> None:
            state.start(job, "safe")

    many = jobs(*[(0, 2, 1)] * 4000)
    log = run(many, [Pool("spot", evictions=0.5), Pool("safe")], Spot(), seed=1)
    evicted = log.ended == ENDED.index("evicted")
    assert evicted.mean() == pytest.approx((1 - np.exp(-1)) / (2 - np.exp(-1)), abs=0.02)
    safe = log.pool == 1
    assert (log.end - log.start)[safe] == pytest.approx(2)
    assert (log.end - log.start)[evicted].mean() == pytest.approx(2 - 2 * np.exp(-1) / (1 - np.exp(-1)), abs=0.05)
    same = run(many, [Pool("spot", evictions=0.5), Pool("safe")], Spot(), seed=1)
    assert np.array_equal(log.end, same.end)
    assert not np.array_equal(log.end, run(many, [Pool("spot", evictions=0.5), Pool("safe")], Spot(), seed=2).end)


def test_a_job_meets_the_same_luck_under_every_policy() -> None:
    class Spot(Policy):
        def __init__(self, pause: bool) -> None:
            self.pause = pause

        def on_arrival(self, state: State, job: int) -> None:
            state.start(job, until=1.0 if self.pause else np.inf)

        def on_suspension(self, state: State, job: int) -> None:
            state.plan(job, 5.0)

        def on_eviction(self, state: State, job: int) -> None:
            state.start(job, "safe")

    pools = [Pool("spot", evictions=0.3), Pool("safe")]
    ran = []
    for pause in (False, True):
        log = run(jobs(*[(0, 3, 1)] * 50), pools, Spot(pause), seed=4)
        ran.append(np.bincount(log.job, np.where(log.pool == 0, log.end - log.start, 0)))
    assert ran[0] == pytest.approx(ran[1])  # time on spot until the eviction or the end


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
    assert "test_engine.py" in caught.value.details
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


def test_the_horizon_cuts_runs_off() -> None:
    log = run(jobs((0, 5, 1), (9, 1, 1)), [Pool("p")], AtOnce(), horizon=3)
    assert rows(log) == [(0, "p", 1, 0, 3, "running")]
    assert (log.stopped, log.unfinished.tolist()) == ("horizon", [0, 1])


def test_progress_is_told() -> None:
    seen: list[SimulationProgress] = []
    run(jobs((0, 1, 1), (0, 2, 1)), [Pool("p")], AtOnce(), callback=seen.append)
    assert (seen[-1].now, seen[-1].completed, seen[-1].jobs) == (2, 2, 2)


def test_a_table_of_the_log() -> None:
    log = run(jobs((0, 1, 2)), [Pool("p")], AtOnce())
    assert log.to_frame(("x",)).to_dict("records") == [
        {"job": "x", "pool": "p", "units": 2, "start": 0, "end": 1, "overhead": 0, "ended": "completed"}
    ]


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


def test_starts_of_one_moment_come_in_the_order_of_arrival() -> None:
    class Plans(Policy):
        def on_arrival(self, state: State, job: int) -> None:
            state.plan(job, 5)

    log = run(jobs((2, 1, 1), (0, 1, 1), (1, 1, 1)), [Pool("p")], Plans())
    assert log.job.tolist() == [1, 2, 0]


@pytest.mark.parametrize(
    ("plans", "words"),
    [([1.0], "a time for each of 2 jobs, not shape"), ([0.5, 0.5], "job 1, at 0: plan_all returned 0.5, before")],
)
def test_plans_that_are_none(plans: list[float], words: str) -> None:
    planner = type("Planner", (Policy,), {"plan_all": lambda self, state: np.array(plans)})
    with pytest.raises(PolicyError, match=words):
        run(jobs((0, 1, 1), (1, 1, 1)), [Pool("p")], planner())

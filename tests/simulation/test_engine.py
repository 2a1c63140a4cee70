"""The engine: order of events, and actions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from engine_support import AtOnce, Queue, jobs, rows, scripted

from carbonopt.core.errors import PolicyError
from carbonopt.simulation import ENDED, Policy, Pool, SimulationProgress, State, run


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


def test_starts_of_one_moment_come_in_the_order_of_arrival() -> None:
    class Plans(Policy):
        def on_arrival(self, state: State, job: int) -> None:
            state.plan(job, 5)

    log = run(jobs((2, 1, 1), (0, 1, 1), (1, 1, 1)), [Pool("p")], Plans())
    assert log.job.tolist() == [1, 2, 0]

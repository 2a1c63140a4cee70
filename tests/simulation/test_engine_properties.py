"""Whatever a policy does: capacity is kept, no job runs early or is lost, and segments add up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carbonopt.simulation import ENDED, Log, Policy, Pool, State, Workload, run

TIMES = st.integers(0, 40).map(lambda quarter: quarter / 4)
JOBS = st.lists(st.tuples(TIMES, st.integers(1, 20).map(lambda q: q / 4), st.integers(1, 3)), min_size=1, max_size=8)


class Restless(Policy):
    """Does at random whatever is possible."""

    epoch = 0.5

    def on_settled(self, state: State) -> None:
        for job in list(state.running):
            action = state.rng.integers(6)
            if action == 0:
                state.suspend(job)
            elif action == 1 and state.free(state.running[job].pool) >= 1:
                state.scale(job, state.running[job].units + 1)
            elif action == 2 and state.fits(job, 1 - state.running[job].pool, state.running[job].units):
                state.migrate(job, 1 - state.running[job].pool)
        for job in list(state.queued):
            pool = int(state.rng.integers(2))
            if state.rng.random() < 0.7 and state.fits(job, pool):
                state.start(job, pool, until=state.now + float(state.rng.choice([0.25, 1.0, np.inf])))

    def on_epoch(self, state: State) -> None:
        pass


def speed(job: int, units: float) -> float:
    return float(units**0.7)


def simulated(jobs: list[tuple[float, float, int]], seed: int, restart: float) -> tuple[Workload, list[Pool], Log]:
    arrival, work, units = (np.array(column, dtype=float) for column in zip(*jobs, strict=True))
    workload = Workload(arrival, work, units, speed=speed, restart=np.full(len(jobs), restart))
    pools = [Pool("steady", 4), Pool("spot", 3, evictions=0.2)]
    return workload, pools, run(workload, pools, Restless(), seed=seed)


@settings(max_examples=60, deadline=None)
@given(JOBS, st.integers(0, 10_000), st.sampled_from([0.0, 0.1]))
def test_a_log_is_a_schedule(jobs: list[tuple[float, float, int]], seed: int, restart: float) -> None:
    workload, pools, log = simulated(jobs, seed, restart)
    assert log.unfinished.size == 0
    assert (log.start >= workload.arrival[log.job] - 1e-9).all()
    for number, pool in enumerate(pools):
        own = log.pool == number
        moments = np.concatenate([log.start[own], log.end[own]])
        change = np.concatenate([log.units[own], -log.units[own]])
        order = np.lexsort((change, moments))
        assert np.cumsum(change[order]).max(initial=0) <= float(pool.capacity) + 1e-6
    for job in range(len(workload)):
        own = np.flatnonzero(log.job == job)
        own = own[np.argsort(log.start[own])]
        assert (log.start[own][1:] >= log.end[own][:-1] - 1e-9).all()
        evicted = np.flatnonzero(log.ended[own] == ENDED.index("evicted"))
        kept = own[evicted[-1] + 1 :] if evicted.size else own
        done = (log.end[kept] - log.start[kept] - log.overhead[kept]) * log.units[kept] ** 0.7
        assert done.sum() == pytest.approx(workload.work[job], abs=1e-6)
        assert ENDED[log.ended[own[-1]]] == "completed"


@settings(max_examples=20, deadline=None)
@given(JOBS, st.integers(0, 100))
def test_the_same_seed_gives_the_same_log(jobs: list[tuple[float, float, int]], seed: int) -> None:
    first, second = (simulated(jobs, seed, 0.0)[2] for _ in range(2))
    for column in ("job", "pool", "units", "start", "end", "ended"):
        assert np.array_equal(getattr(first, column), getattr(second, column))

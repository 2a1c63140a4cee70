"""What a policy sees of a simulation, and the actions it takes."""

from __future__ import annotations

from heapq import heappop, heappush
from math import inf, isfinite
from typing import Any

import numpy as np

from carbonopt.core.errors import UnsupportedError, one_of
from carbonopt.simulation.events import DUE, END, WAKE, Event, Run
from carbonopt.simulation.forecast import Forecast
from carbonopt.simulation.log import COMPLETED, EVICTED, MIGRATED, SCALED, SUSPENDED, Row
from carbonopt.simulation.workload import Pool, Workload

ROUNDING = 1e-9
"""Differences of time, work and load that count as rounding, in their own units and relative."""


class ActionError(UnsupportedError):
    """A policy's action is impossible; the message names policy, job and time."""


class State:
    """A simulation at one moment.

    Attributes
    ----------
    now
        The time.
    workload, pools, instance, forecast
        As given. A policy that is to be an online one looks at no arrival after `now`, and at
        `Workload.expected_work` instead of the work.
    arrivals_known
        Whether it may look at later arrivals: all jobs are known from the beginning.
    queued
        Jobs that have arrived, do not run and are not complete, in the order in which they came.
    running
        The run of each job that runs.
    rng
        For what the policy draws at random.
    """

    def __init__(
        self,
        workload: Workload,
        pools: tuple[Pool, ...],
        policy: str,
        seed: int = 0,
        instance: Any = None,
        forecast: Forecast | None = None,
        arrivals_known: bool = False,
    ) -> None:
        self.workload = workload
        self.pools = pools
        self.policy = policy
        self.instance, self.forecast = instance, forecast
        self.arrivals_known = arrivals_known
        own, evictions = np.random.SeedSequence(seed).spawn(2)
        self.rng = np.random.default_rng(own)
        self.now = 0.0
        self.queued: dict[int, None] = {}
        self.running: dict[int, Run] = {}
        self.events: list[Event] = []
        self.rows: list[Row] = []
        self.completed = 0
        self.sequence = 0
        self._evictions = np.random.default_rng(evictions)
        self._place = {pool.name: number for number, pool in enumerate(pools)}
        self._capacity = [pool.changes()[0][1] for pool in pools]
        self._load = [0.0] * len(pools)
        self._runs = [0] * len(pools)
        self._units: list[float] = workload.units.tolist()
        self._left: list[float] = workload.work.tolist()
        self._begun = bytearray(len(workload))
        # in the order of arrival; planned starts of one moment come in it
        self.rank: list[int] = np.argsort(np.argsort(workload.arrival, kind="stable"), kind="stable").tolist()
        self._planned: dict[int, float] = {}
        # time to a job's eviction at hazard 1: its own draw, so that policies meet the same luck
        hazards = any(pool.evictions for pool in pools)
        self._luck: list[float] = self._evictions.exponential(size=len(workload)).tolist() if hazards else []

    # what there is

    def capacity(self, pool: int | str = 0) -> float:
        """Return the units of a pool at this moment; infinite where there is no end of them."""
        return self._capacity[self._number(pool)]

    def load(self, pool: int | str = 0) -> float:
        """Return the units of a pool in use."""
        return self._load[self._number(pool)]

    def free(self, pool: int | str = 0) -> float:
        """Return the units of a pool that are free."""
        place = self._number(pool)
        return self._capacity[place] - self._load[place]

    def fits(self, job: int, pool: int | str = 0, units: float | None = None) -> bool:
        """Return whether a pool has room for a job."""
        place = self._number(pool)
        needed = self._load[place] + (self._units[job] if units is None else units)
        return needed <= self._capacity[place] * (1 + ROUNDING) + ROUNDING

    def remaining(self, job: int) -> float:
        """Return the work that a job has left at this moment."""
        run = self.running.get(job)
        if run is None:
            return self._left[job]
        return max(0.0, self._left[job] - self._done(run, self.now))

    def planned(self, job: int) -> float | None:
        """Return a queued job's planned start; None where it has none."""
        return self._planned.get(job)

    # actions

    def start(self, job: int, pool: int | str = 0, units: float | None = None, until: float = inf) -> None:
        """Start a queued job, or resume it.

        Parameters
        ----------
        job, pool
            Position of the job; position or name of the pool.
        units
            Of the pool; None for the job's own.
        until
            When to suspend it, if it has not completed by then.
        """
        if job not in self.queued:
            raise self.fault(job, f"cannot start: it {self._why_not_queued(job)}")
        self._begin(Run(job, self._number(pool), self._units[job] if units is None else units, self.now, until))
        del self.queued[job]
        self._planned.pop(job, None)

    def suspend(self, job: int) -> None:
        """Stop a running job; it keeps what it has done and is queued again."""
        if self._stop(self._run_of(job, "suspended"), SUSPENDED):
            self.queued[job] = None

    def scale(self, job: int, units: float) -> None:
        """Give a running job another number of units of its pool."""
        run = self._run_of(job, "scaled")
        if units != run.units and self._stop(run, SCALED):
            self._begin(Run(job, run.pool, units, self.now, run.until))

    def migrate(self, job: int, pool: int | str, units: float | None = None) -> None:
        """Let a running job go on on another pool."""
        run = self._run_of(job, "migrated")
        place = self._number(pool)
        if place != run.pool and self._stop(run, MIGRATED):
            self._begin(Run(job, place, run.units if units is None else units, self.now, run.until))

    def plan(self, job: int, at: float) -> None:
        """Plan a queued job's start: `Policy.on_due` is called then. A new plan replaces the old one."""
        if job not in self.queued:
            raise self.fault(job, f"cannot be planned: it {self._why_not_queued(job)}")
        self._planned[job] = at = self._not_past(at, f"the start of job {self.workload.label(job)} is planned")
        heappush(self.events, (at, DUE, self.rank[job], job))

    def wake(self, at: float) -> None:
        """Ask for `Policy.on_wake`, and `Policy.on_settled`, at a time."""
        self.push(self._not_past(at, "the policy is to be woken"), WAKE, None)

    # for the engine

    def push(self, time: float, kind: int, what: Any) -> None:
        """Add an event."""
        self.sequence += 1
        heappush(self.events, (time, kind, self.sequence, what))

    def pop(self) -> Event:
        """Take the next event."""
        return heappop(self.events)

    def arrive(self, job: int, planned: float | None) -> None:
        """Let a job arrive, with its planned start where it has one."""
        self.queued[job] = None
        if planned is not None and planned == planned:
            self._planned[job] = planned

    def is_due(self, job: int, at: float) -> bool:
        """Return whether a planned start still holds, and take it off the plan."""
        if self._planned.get(job) != at:
            return False
        del self._planned[job]
        return True

    def finish(self, run: Run) -> int:
        """End a run as it was to end, and return why."""
        self._record(run, run.end, run.ended)
        if run.ended == COMPLETED:
            self.completed += 1
            return COMPLETED
        self.queued[run.job] = None
        if run.ended == EVICTED:
            self._left[run.job] = float(self.workload.work[run.job])
            self._luck[run.job] = float(self._evictions.exponential())
        return run.ended

    def set_capacity(self, pool: int, capacity: float) -> None:
        """Change the units of a pool."""
        self._capacity[pool] = capacity

    def require_room(self) -> None:
        """Refuse a load above a pool's capacity.

        Raises
        ------
        ActionError
            It names policy, pool and time.
        """
        for number, pool in enumerate(self.pools):
            load = self._load[number]
            capacity = self._capacity[number]
            if load > capacity * (1 + ROUNDING) + ROUNDING:
                words = f"pool {pool.name!r} has {capacity:g} units from then on, and {load:g} in use"
                raise ActionError(f"policy {self.policy!r}, at {self.now:.9g}: {words}")

    def fault(self, job: int, words: str) -> ActionError:
        """Return the error of an impossible action on a job."""
        return ActionError(f"policy {self.policy!r}, job {self.workload.label(job)}, at {self.now:.9g}: {words}")

    def _number(self, pool: int | str) -> int:
        if isinstance(pool, int):
            return pool
        if pool not in self._place:
            known = one_of(tuple(self._place))
            raise ActionError(f"policy {self.policy!r}, at {self.now:.9g}: no pool {pool!r}: must be {known}")
        return self._place[pool]

    def _begin(self, run: Run) -> None:
        job = run.job
        place = run.pool
        units = run.units
        if not (units > 0 and isfinite(units)):
            raise self.fault(job, f"cannot run on {units!r} units")
        load = self._load[place] + units
        capacity = self._capacity[place]
        if load > capacity * (1 + ROUNDING) + ROUNDING:
            free = capacity - self._load[place]
            raise self.fault(job, f"needs {units:g} units of pool {self.pools[place].name!r}; {free:g} are free")
        run.ready += self.pools[place].startup
        if self._begun[job] and self.workload.restart is not None:
            run.ready += float(self.workload.restart[job])
        if self.workload.speed is not None:
            run.rate = float(self.workload.speed(job, units))
            if not (run.rate >= 0 and isfinite(run.rate)):
                raise self.fault(job, f"has speed {run.rate!r} on {units:g} units: must be finite, at least 0")
        self._load[place] = load
        self._runs[place] += 1
        self._begun[job] = 1
        self.running[job] = run
        self._set_end(run)

    def _set_end(self, run: Run) -> None:
        run.end = run.ready + self._left[run.job] / run.rate if run.rate else inf
        if run.until < run.end - ROUNDING:
            run.end = max(run.until, self.now)
            run.ended = SUSPENDED
        hazard = self.pools[run.pool].evictions
        if hazard and run.start + self._luck[run.job] / hazard < run.end:
            run.end = run.start + self._luck[run.job] / hazard
            run.ended = EVICTED
        if run.end < inf:
            self.push(run.end, END, run)

    def _stop(self, run: Run, ended: int) -> bool:
        """End a run early; False where it completes at this very moment anyway."""
        if self._left[run.job] - self._done(run, self.now) <= ROUNDING * max(1.0, run.rate):
            return False
        self._record(run, self.now, ended)
        return True

    def _record(self, run: Run, end: float, ended: int) -> None:
        job, place = run.job, run.pool
        del self.running[job]
        self._runs[place] -= 1
        self._load[place] = self._load[place] - run.units if self._runs[place] else 0.0
        self._left[job] = 0.0 if ended == COMPLETED else self._left[job] - self._done(run, end)
        if self.pools[place].evictions:
            self._luck[job] -= self.pools[place].evictions * (end - run.start)
        if end > run.start:
            overhead = min(run.ready, end) - run.start
            self.rows.append((job, place, run.units, run.start, end, overhead, ended))

    def _done(self, run: Run, time: float) -> float:
        return (time - run.ready) * run.rate if time > run.ready else 0.0

    def _run_of(self, job: int, action: str) -> Run:
        if job not in self.running:
            raise self.fault(job, f"cannot be {action}: it does not run")
        return self.running[job]

    def _why_not_queued(self, job: int) -> str:
        if not 0 <= job < len(self.workload):
            return f"is not one of the {len(self.workload)} jobs"
        if job in self.running:
            return "runs"
        arrival = float(self.workload.arrival[job])
        return f"arrives at {arrival:.9g}" if arrival > self.now else "is complete"

    def _not_past(self, at: float, words: str) -> float:
        if not at >= self.now - ROUNDING:
            raise ActionError(f"policy {self.policy!r}, at {self.now:.9g}: {words} for {at:.9g}, which is past")
        return max(at, self.now)

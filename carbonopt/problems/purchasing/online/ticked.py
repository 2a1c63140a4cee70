"""The authors' scheduling loop on the simulation engine."""

from __future__ import annotations

from collections import deque

import numpy as np

from carbonopt.core.arrays import IntArray
from carbonopt.problems.purchasing.data.purchase_options import ON_DEMAND, RESERVED, SPOT
from carbonopt.problems.purchasing.online.artifact import Tasks
from carbonopt.problems.purchasing.online.heap import refilled
from carbonopt.simulation import Policy, State


class TickedQueue(Policy):
    """Goes through the waiting tasks at every tick at which something may start.

    Tasks stand in the order of their jobs' arrival; those of equal arrival in the order of a heap that is
    refilled at every tick. A task takes reserved CPUs if they are free for all of it. CPUs that are
    released at a tick can be used from the next one on.

    Parameters
    ----------
    tasks
        What to start, and when at the latest.
    conserving
        Whether tasks that do not run on spot CPUs start before their time on free reserved CPUs.
    """

    def __init__(self, tasks: Tasks, conserving: bool) -> None:
        self.tasks, self.conserving = tasks, conserving
        self.job: list[int] = tasks.job.tolist()
        self.due: list[float] = tasks.due.tolist()
        self.end: list[float] = tasks.end.tolist()
        self.spot: list[bool] = tasks.spot.tolist()
        self.waiting: IntArray = np.zeros(0, dtype=np.int64)
        self.fresh: list[int] = []
        self.held: dict[int, float] = {}
        self.released: deque[tuple[float, float]] = deque()
        self.free = 0.0
        self.tick = -1

    def on_begin(self, state: State) -> None:
        """Ask to be woken at every tick at which a task is due."""
        jobs = len(state.workload)
        self.free = state.capacity(RESERVED)
        self.ordered = self.free > 0  # else the order of the tasks makes no difference
        self.offset: list[int] = np.searchsorted(self.tasks.job, np.arange(jobs + 1)).tolist()
        self.cpus: list[float] = state.workload.units.tolist()
        self.arrival: IntArray = state.workload.arrival.astype(np.int64)[self.tasks.job]
        for at in np.unique(self.tasks.due).tolist():
            state.wake(at)

    def on_arrival(self, state: State, job: int) -> None:  # noqa: ARG002
        """Queue the job's tasks."""
        self.fresh.extend(range(self.offset[job], self.offset[job + 1]))

    def on_completion(self, state: State, job: int) -> None:
        """Release reserved CPUs: at the end of this tick."""
        held = self.held.pop(job, 0.0)
        if held:
            self.released.append((state.now, held))
            if self.conserving:
                state.wake(state.now + 1)

    on_suspension = on_completion

    def on_settled(self, state: State) -> None:
        """Go through the waiting tasks."""
        now = int(state.now)
        while self.released and self.released[0][0] < now:
            self.free += self.released.popleft()[1]
        self._refill(now - 1 - self.tick)
        self.waiting = np.concatenate((self.waiting, np.array(self.fresh, dtype=np.int64)))
        self.fresh.clear()
        self._refill(1)
        self.tick = now
        may = self.tasks.due[self.waiting] <= now
        if self.conserving and self.free > 0:
            may |= ~self.tasks.spot[self.waiting]
        started = [place for place in np.flatnonzero(may).tolist() if self._try(state, int(self.waiting[place]), now)]
        if started:
            self.waiting = np.delete(self.waiting, started)

    def _try(self, state: State, task: int, now: int) -> bool:
        """Start a task that is due, or that reserved CPUs are free for."""
        if self.due[task] > now and not self._fits(task):
            return False
        self._start(state, task)
        return True

    def _fits(self, task: int) -> bool:
        return self.free >= self.cpus[self.job[task]]

    def _start(self, state: State, task: int) -> None:
        job = self.job[task]
        pool = ON_DEMAND
        if self.spot[task]:
            pool = SPOT
        elif self._fits(task):
            pool = RESERVED
            self.held[job] = self.cpus[job]
            self.free -= self.cpus[job]
        state.start(job, pool, until=self.end[task])

    def _refill(self, rounds: int) -> None:
        """Put waiting tasks of equal arrival into the order that so many ticks leave them in."""
        if not self.ordered or rounds < 1 or self.waiting.size < 2:
            return
        arrival = self.arrival[self.waiting]
        if bool((arrival[1:] == arrival[:-1]).any()):
            self.waiting = self.waiting[refilled(arrival, rounds)]

"""The event-driven engine: nothing is computed where nothing happens."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from operator import itemgetter
from traceback import format_exception
from types import TracebackType
from typing import Any

import numpy as np

from carbonopt.core.errors import PolicyError, UnsupportedError
from carbonopt.core.options import Progress
from carbonopt.simulation.events import ARRIVAL, CAPACITY, DUE, END, EPOCH, WAKE, Event
from carbonopt.simulation.forecast import Forecast
from carbonopt.simulation.log import COMPLETED, EVICTED, RUNNING, Log, make_log
from carbonopt.simulation.policy import Policy
from carbonopt.simulation.state import ROUNDING, State
from carbonopt.simulation.workload import Pool, Workload

REPORT_SECONDS = 0.2
"""Least wall time between two reports of progress."""
ROUNDS_A_MOMENT = 100_000
"""A policy that acts more often than this without time going by will never end."""
IDLE_EPOCHS = 100_000
"""Epochs in a row at which nothing runs and nothing else is to come, after which jobs count as left waiting."""
MOST_EPOCHS = 10_000_000
"""Epochs of a simulation, beyond which it would take hours: a year of them every 4 seconds is less."""


@dataclass(frozen=True)
class SimulationProgress(Progress):
    """One report of a running simulation.

    Parameters
    ----------
    seconds
        Wall time since it began [s].
    now
        Simulated time.
    completed, jobs
        Jobs that have completed, and all of them.
    """

    now: float = 0.0
    completed: int = 0
    jobs: int = 0


Callback = Callable[[SimulationProgress], None]


def run(
    workload: Workload,
    pools: Sequence[Pool],
    policy: Policy,
    *,
    instance: Any = None,
    forecast: Forecast | None = None,
    horizon: float = inf,
    seed: int = 0,
    callback: Callback | None = None,
    arrivals_known: bool = False,
) -> Log:
    """Simulate a policy.

    Parameters
    ----------
    workload, pools
        Jobs, and what they run on.
    policy
        Decides; a new object for each simulation, as it may keep what it likes.
    instance, forecast
        For the policy to look at.
    horizon
        When to stop at the latest.
    seed
        Of evictions and of `State.rng`; the same seed gives the same log.
    callback
        Called with `SimulationProgress` a few times a second.
    arrivals_known
        Whether the policy may look at jobs that have not arrived: `State.arrivals_known`.

    Returns
    -------
    Log
        Every segment. After Ctrl-C, what was simulated so far (`Log.stopped` is ``interrupted``).

    Raises
    ------
    PolicyError
        If the policy raises, does what is impossible (more load than capacity, a job before its
        arrival), or leaves a job waiting for ever; with its traceback, and the log so far.
    UnsupportedError
        If the policy refuses the instance or its own settings before the simulation begins.
    """
    state = State(workload, tuple(pools), policy.name, seed, instance, forecast, arrivals_known)
    engine = _Engine(state, policy, horizon, callback)
    try:
        stopped = engine.run()
    except KeyboardInterrupt:
        stopped = "interrupted"
    except UnsupportedError as error:
        if engine.has_begun:
            raise _policy_error(policy, error, engine.log("failed")) from error
        raise
    except Exception as error:
        raise _policy_error(policy, error, engine.log("failed")) from error
    log = engine.log(stopped)
    if stopped == "done" and log.unfinished.size:
        raise PolicyError(_left_waiting(policy, workload, log), log)
    return log


class _Engine:
    """One simulation."""

    def __init__(self, state: State, policy: Policy, horizon: float, callback: Callback | None) -> None:
        self.state = state
        self.policy = policy
        self.horizon = horizon
        self.callback = callback
        self.has_begun = False
        self.began = self.reported = time.perf_counter()
        self.known: list[Event] = []  # arrivals, capacities and first plans: sorted once, cheaper than a heap
        self.at = self.idle = 0
        self.plans: list[float] | None = None
        self.hook = {name: getattr(policy, name) for name in vars(Policy) if name.startswith("on_")}
        for name in list(self.hook):
            if name != "on_due" and getattr(type(policy), name) is getattr(Policy, name):
                del self.hook[name]  # a call that does nothing, a million times

    def run(self) -> str:
        state = self.state
        rounds = 0
        before = -inf
        self._call("on_begin")
        self.has_begun = True
        self._prepare()
        while self.idle < IDLE_EPOCHS:
            batch = self._moment()
            if batch is None:
                return "horizon"
            if not batch:
                break
            rounds = rounds + 1 if state.now == before else 0
            before = state.now
            if rounds > ROUNDS_A_MOMENT:
                raise RuntimeError(f"the policy acted {rounds} times at {state.now:.9g} without time going by")
            self._handle(batch)
            if self.callback is not None:
                self._report()
        if self.callback is not None:
            self._report(last=True)
        return "done"

    def log(self, stopped: str) -> Log:
        """Return what was simulated so far; what still runs is cut off now."""
        state = self.state
        rows = list(state.rows)
        for cut in state.running.values():
            if state.now > cut.start:
                overhead = min(cut.ready, state.now) - cut.start
                rows.append((cut.job, cut.pool, cut.units, cut.start, state.now, overhead, RUNNING))
        finished = np.zeros(len(state.workload), dtype=bool)
        finished[[row[0] for row in rows if row[6] == COMPLETED]] = True
        names = tuple(pool.name for pool in state.pools)
        return make_log(rows, names, np.flatnonzero(~finished), stopped, state.now)

    def _prepare(self) -> None:
        """Lay out what is known before the first event."""
        state = self.state
        arrival = self.state.workload.arrival
        jobs = range(arrival.size)
        rank = state.rank
        self.known = [(at, ARRIVAL, rank[job], job) for job, at in zip(jobs, arrival.tolist(), strict=True)]
        plans = self.policy.plan_all(state)
        if plans is not None:
            plans = np.asarray(plans, dtype=np.float64)
            if plans.shape != arrival.shape:
                raise ValueError(
                    f"plan_all must return a time for each of {arrival.size} jobs, not shape {plans.shape}"
                )
            early = np.flatnonzero(plans < arrival - ROUNDING)
            if early.size:
                raise state.fault(int(early[0]), f"plan_all returned {plans[early[0]]:.9g}, before the job's arrival")
            self.plans = np.maximum(plans, arrival).tolist()
            self.known += [(at, DUE, rank[job], job) for job, at in zip(jobs, self.plans, strict=True) if at == at]
        for number, pool in enumerate(state.pools):
            self.known += [(at, CAPACITY, number, (number, limit)) for at, limit in pool.changes()[1:]]
        self.known.sort(key=itemgetter(0, 1, 2))
        if self.policy.epoch is not None and "on_epoch" in self.hook:
            self._require_few_epochs(float(arrival.max(initial=0.0)) / self.policy.epoch)
            state.push(0.0, EPOCH, 0)

    def _moment(self) -> list[Event] | None:
        """Take the events of the next moment; none where nothing is to come, None at the horizon."""
        heap = self.state.events
        known = self.known
        at = self.at
        first = min(heap[0][0] if heap else inf, known[at][0] if at < len(known) else inf)
        if first == inf:
            return []
        if first > self.horizon:
            self.state.now = self.horizon
            return None
        limit = first + ROUNDING
        stop = at
        while stop < len(known) and known[stop][0] <= limit:
            stop += 1
        batch = known[at:stop]
        self.at = stop
        while heap and heap[0][0] <= limit:
            batch.append(self.state.pop())
        if len(batch) > 1:
            batch.sort(key=itemgetter(1, 2))
        self.state.now = max(self.state.now, max(batch, key=itemgetter(0))[0])
        return batch

    def _handle(self, batch: list[Event]) -> None:
        state, handled = self.state, False
        if batch[0][1] == END:
            handled = self._end_runs(batch)
        for at, kind, _, what in batch:
            if kind == END:
                continue
            if kind == ARRIVAL:
                state.arrive(what, None if self.plans is None else self.plans[what])
                self._call("on_arrival", what)
            elif kind == DUE:
                if not state.is_due(what, at):
                    continue
                self.hook["on_due"](state, what)
            elif kind == CAPACITY:
                state.set_capacity(*what)
                self._call("on_capacity", what[0])
                state.require_room()
            elif kind == EPOCH:
                self._epoch(what)
            elif kind == WAKE:
                self._call("on_wake")
            handled = True
        if handled:
            self._call("on_settled")

    def _end_runs(self, batch: list[Event]) -> bool:
        """End the runs that end at this moment, then tell the policy: all of their units are free by then."""
        state = self.state
        ended = []
        for at, kind, _, ending in batch:
            if kind != END:
                break
            current = state.running.get(ending.job)
            if current is not None and current is ending and current.end == at:  # else it was stopped before
                ended.append((current.job, state.finish(current)))
        for job, why in ended:
            if why == COMPLETED:
                name = "on_completion"
            else:
                name = "on_eviction" if why == EVICTED else "on_suspension"
            self._call(name, job)
        return bool(ended)

    def _require_few_epochs(self, count: float) -> None:
        """Raise where a policy plans anew so often that its simulation does not end."""
        if count > MOST_EPOCHS:
            raise ValueError(f"an epoch of {self.policy.epoch:.9g} is too short: more than {MOST_EPOCHS} of them")

    def _epoch(self, number: int) -> None:
        state = self.state
        self._require_few_epochs(number)
        waits = not state.running and not state.events and self.at == len(self.known)
        self.idle = self.idle + 1 if waits else 0
        self._call("on_epoch")
        if state.completed < len(state.workload):
            assert self.policy.epoch is not None
            state.push((number + 1) * self.policy.epoch, EPOCH, number + 1)

    def _call(self, name: str, *what: int) -> None:
        hook = self.hook.get(name)
        if hook is not None:
            hook(self.state, *what)

    def _report(self, last: bool = False) -> None:
        now = time.perf_counter()
        if last or now - self.reported >= REPORT_SECONDS:
            assert self.callback is not None
            self.reported = now
            state = self.state
            seconds = now - self.began
            jobs = len(state.workload)
            self.callback(SimulationProgress(seconds, now=state.now, completed=state.completed, jobs=jobs))


def _policy_error(policy: Policy, error: Exception, log: Log) -> PolicyError:
    details = "".join(format_exception(type(error), error, _own(error.__traceback__)))
    summary = f"policy {policy.name!r} failed at {log.now:.9g}, {log.unfinished.size} jobs before its end"
    return PolicyError(summary, log, details)


def _own(traceback: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the engine's own frames at its beginning."""
    frame = traceback
    while frame is not None and frame.tb_frame.f_code.co_filename == __file__:
        frame = frame.tb_next
    return frame or traceback


def _left_waiting(policy: Policy, workload: Workload, log: Log) -> str:
    first = ", ".join(workload.label(int(job)) for job in log.unfinished[:3])
    return f"policy {policy.name!r} left {log.unfinished.size} jobs waiting for ever, among them {first}"

"""Carbon-aware baselines that shift jobs as they are: GAIA's Carbon-Time and Ecovisor's threshold."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.ranges import require_number
from carbonopt.problems.mlcluster.online.base import FixedScale
from carbonopt.simulation import State, StepSignal

BLOCK = 1_000_000
"""Candidate starts that are evaluated in one array, which bounds the memory."""
DAY_MINUTES = 1440.0
"""The day over which Ecovisor's quantile is taken [min]."""


class CarbonTime(FixedScale):
    """GAIA's Carbon-Time (Hanafy et al., ASPLOS 2024, section 4.2.2), then first come, first served: ``carbon-time``.

    At its arrival a job is planned for the start within `wait_hours` that saves most carbon for each hour
    until its completion. When the start has come, it queues for GPUs.

    Parameters
    ----------
    gpus, gamma
        See `FixedScale`.
    wait_hours
        W.
    """

    def __init__(self, gpus: int | None = None, gamma: float | None = None, wait_hours: float = 12.0) -> None:
        super().__init__(gpus, gamma)
        require_number("wait_hours", wait_hours, least=0)
        self.wait = 60 * wait_hours
        self.due: dict[int, None] = {}

    def plan_all(self, state: State) -> FloatArray:
        """Return the planned starts [min], shape (N,)."""
        work = state.workload
        jobs = np.arange(len(work))
        speed = np.array([self.speed[self.profile[job]][self.scale_of(job) - 1] for job in jobs.tolist()])
        assert work.expected_work is not None
        length = work.expected_work / speed
        start = np.empty(len(jobs))
        size = max(1, int(BLOCK / (2 * (self.wait / self.signal.step + 2))))
        for rows, signal in _issues(state, self.signal, self.wait + float(length.max(initial=0.0))):
            for at in range(0, len(rows), size):
                some = rows[at : at + size]
                start[some] = _best_start(signal, work.arrival[some], length[some], self.wait)
        return start

    def on_due(self, state: State, job: int) -> None:  # noqa: ARG002
        """Let a job queue for GPUs."""
        self.due[job] = None

    def on_settled(self, state: State) -> None:
        """Start jobs that are due, in the order in which they became so."""
        room = self.free(state)
        for job in list(self.due) if room else ():
            gpus = self.scale_of(job)
            if gpus > room:
                break
            state.start(job, units=gpus)
            del self.due[job]
            room -= gpus


class Ecovisor(FixedScale):
    """Ecovisor's gate (Souza et al., ASPLOS 2023): ``ecovisor``.

    A job runs only while the intensity is at most a quantile of that of the day after its arrival; after
    `wait_hours` it runs whatever it is.

    Parameters
    ----------
    gpus, gamma
        See `FixedScale`.
    quantile
        Of the coming 24 h.
    wait_hours
        The longest time for which the gate may hold a job back.
    """

    def __init__(
        self, gpus: int | None = None, gamma: float | None = None, quantile: float = 0.1, wait_hours: float = 24.0
    ) -> None:
        super().__init__(gpus, gamma)
        require_number("quantile", quantile, least=0, most=1)
        require_number("wait_hours", wait_hours, least=0)
        self.quantile = quantile
        self.wait = 60 * wait_hours

    def on_begin(self, state: State) -> None:
        """Find the threshold of each slot's arrivals."""
        super().on_begin(state)
        self.epoch = self.signal.step
        arrival = state.workload.arrival
        day = max(1, round(DAY_MINUTES / self.signal.step))
        threshold = np.empty(len(arrival))
        for rows, signal in _issues(state, self.signal, DAY_MINUTES):
            padded = np.concatenate((signal.values, np.resize(signal.values[-day:], day)))
            first, place = np.unique(signal.position(arrival[rows]), return_inverse=True)
            windows = np.lib.stride_tricks.sliding_window_view(padded, day)[first]
            threshold[rows] = np.quantile(windows, self.quantile, axis=1)[place]
        self.threshold: list[float] = threshold.tolist()
        self.forced: list[float] = (arrival + self.wait).tolist()

    def on_epoch(self, state: State) -> None:
        """Suspend the jobs whose gate has closed."""
        shut = self._shut(state)
        for job in list(state.running):
            if shut(job):
                self.take(state, job)

    def on_arrival(self, state: State, job: int) -> None:
        """Look again when the gate may no longer hold the job back."""
        state.wake(self.forced[job])

    def on_wake(self, state: State) -> None:
        """Let `on_settled` look."""

    def on_settled(self, state: State) -> None:
        """Start jobs whose gate is open, in the order of their arrival."""
        if self.free(state):
            shut = self._shut(state)
            self.start_in_order(state, [job for job in sorted(state.queued) if not shut(job)])

    def _shut(self, state: State) -> Callable[[int], bool]:
        """Return the question whether a job's gate is shut now."""
        now = self.signal.at(state.now).item()
        return lambda job: now > self.threshold[job] and state.now < self.forced[job]


def _issues(state: State, signal: StepSignal, look: float) -> Iterator[tuple[IntArray, StepSignal]]:
    """Yield the jobs that see the same forecast at their arrival, and it [g/kWh by minutes], `look` minutes far."""
    arrival = state.workload.arrival
    if state.forecast is None or not state.forecast.revised or not arrival.size:
        known = signal if state.forecast is None else _view(state, signal, 0, signal.end)
        yield np.arange(arrival.size), known
        return
    slot = signal.position(arrival)
    order = np.argsort(slot, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(slot[order])) + 1):
        yield rows, _view(state, signal, int(slot[rows[0]]), float(arrival[rows].max()) + look)


def _view(state: State, signal: StepSignal, slot: int, until: float) -> StepSignal:
    assert state.forecast is not None
    view = state.forecast.view(slot, until / 60)
    return StepSignal(view.values, signal.step, slot * signal.step)


def _best_start(signal: StepSignal, arrival: FloatArray, length: FloatArray, wait: float) -> FloatArray:
    """Return the first start that saves most carbon for each minute until the completion."""
    offsets = np.arange(int(np.ceil(wait / signal.step)))
    times = [arrival[:, None]]
    for moment in (arrival, arrival + length):
        edges = signal.step * (np.floor(moment / signal.step + 1e-9)[:, None] + 1 + offsets)
        shifted = edges - (moment - arrival)[:, None]
        times.append(np.where(shifted < arrival[:, None] + wait, shifted, arrival[:, None]))
    starts = np.sort(np.maximum(np.concatenate(times, axis=1), arrival[:, None]), axis=1)
    carbon = signal.integral(starts, starts + length[:, None])
    rate = (carbon[:, :1] - carbon) / (starts - arrival[:, None] + length[:, None])
    best = rate >= rate.max(axis=1, keepdims=True) - 1e-12 * signal.values.max(initial=1.0)
    return np.asarray(starts[np.arange(len(starts)), best.argmax(axis=1)])

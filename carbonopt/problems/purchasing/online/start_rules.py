"""When a job starts that runs without a break: decided once, at its arrival, for many jobs at once.

Times are in the unit of the signal: hours, or the ticks of the authors' simulator.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.simulation import StepSignal

TIE = 1e-12
"""Relative difference of carbon that counts as a tie; ties go to the earliest start."""
ROUNDING = 1e-14
"""Rounding of a run's carbon, relative."""
BLOCK = 2_000_000
"""Candidates that are looked at at once: about 100 MB."""

Candidates = Callable[[StepSignal, FloatArray, FloatArray, float], FloatArray]
"""``(signal, arrival, length, wait)`` to the starts that are looked at, shape (N, K), the first the arrival."""


def breakpoints(signal: StepSignal, arrival: FloatArray, length: FloatArray, wait: float) -> FloatArray:
    """Return the starts among which the best one is, of all in ``[arrival, arrival + wait)``.

    Carbon is linear in the start between moments at which the run begins or ends with a slot, so that no
    other start is better, whatever the text's candidates are. One outside the window stands as the arrival.
    """
    begins = _edges(signal, arrival, wait)
    ends = _edges(signal, arrival + length, wait) - length[:, None]
    return np.concatenate((arrival[:, None], _inside(begins, arrival, wait), _inside(ends, arrival, wait)), axis=1)


def slot_edges(signal: StepSignal, arrival: FloatArray, length: FloatArray, wait: float) -> FloatArray:  # noqa: ARG001
    """Return the arrival and the beginnings of slots in ``[arrival, arrival + wait)``."""
    begins = _inside(_edges(signal, arrival, wait), arrival, wait)
    return np.concatenate((arrival[:, None], begins), axis=1)


def lowest_slot(signal: StepSignal, times: FloatArray, length: FloatArray) -> FloatArray:  # noqa: ARG001
    """Return the first of the times in the cleanest slot."""
    intensity = signal.at(times)
    return _earliest(times, intensity <= intensity.min(axis=1, keepdims=True))


def lowest_window(signal: StepSignal, times: FloatArray, length: FloatArray) -> FloatArray:
    """Return the first start of the run of least carbon."""
    carbon = signal.integral(times, times + length[:, None])
    return _earliest(times, carbon <= carbon.min(axis=1, keepdims=True) * (1 + TIE))


def carbon_time(signal: StepSignal, times: FloatArray, length: FloatArray) -> FloatArray:
    """Return the first start that saves most carbon for each hour until the completion (GAIA, section 4.2.2)."""
    carbon = signal.integral(times, times + length[:, None])
    saved = carbon[:, :1] - carbon
    saved[np.abs(saved) <= TIE * carbon[:, :1]] = 0.0
    hours = times - times[:, :1] + length[:, None]
    rate = saved / hours
    rounding = ROUNDING * carbon[:, :1] / hours  # of a difference between large numbers
    return _earliest(times, rate + rounding >= rate.max(axis=1, keepdims=True) * (1 - TIE))


RULES = {"lowest-slot": lowest_slot, "lowest-window": lowest_window, "carbon-time": carbon_time}
"""``(signal, times, length)`` to the start chosen among the times, shape (N, K) to (N,)."""


def choose(
    rule: str,
    candidates: Candidates,
    signal: StepSignal,
    arrival: FloatArray,
    length: FloatArray,
    wait: FloatArray,
) -> FloatArray:
    """Return the start of each job, shape (N,).

    Parameters
    ----------
    rule
        One of `RULES`.
    candidates
        Which starts it looks at.
    signal
        Carbon intensity, as far as it is known at the jobs' arrival.
    arrival, length, wait
        Of each job; the length that is known of it.
    """
    start = arrival.copy()
    for limit in np.unique(wait):
        rows = np.flatnonzero(wait == limit)
        size = max(1, int(BLOCK / (2 * (limit / signal.step + 2))))
        for at in range(0, rows.size, size):
            some = rows[at : at + size]
            times = candidates(signal, arrival[some], length[some], float(limit))
            start[some] = RULES[rule](signal, times, length[some])
    return start


def _edges(signal: StepSignal, time: FloatArray, wait: float) -> FloatArray:
    """Return the ends of slots after each time, as many as `wait` can hold."""
    slot = np.floor((time - signal.origin) / signal.step + 1e-9) + 1
    return np.asarray(signal.origin + (slot[:, None] + np.arange(int(np.ceil(wait / signal.step)))) * signal.step)


def _inside(times: FloatArray, arrival: FloatArray, wait: float) -> FloatArray:
    """Replace what is outside ``[arrival, arrival + wait)`` by the arrival."""
    offset = times - arrival[:, None]
    return np.where((offset > 0) & (offset < wait - 1e-9 * max(1.0, wait)), times, arrival[:, None])


def _earliest(times: FloatArray, best: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> FloatArray:
    return np.asarray(np.where(best, times, np.inf).min(axis=1))

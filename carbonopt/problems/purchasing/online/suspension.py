"""When a job runs that may be suspended: planned once, at its arrival, for many jobs at once.

Times are in the unit of the signal: hours, or the ticks of the authors' simulator.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.simulation import StepSignal

BLOCK = 1_000_000
"""Slots of jobs that are looked at at once: about 100 MB."""
ROUNDING = 1e-9
"""Part of a slot, and time, that come from rounding."""


@dataclass(frozen=True, eq=False)
class Pieces:
    """Pieces of jobs, sorted by job and time.

    Parameters
    ----------
    job, start, end
        Shape (S,).
    """

    job: IntArray
    start: FloatArray
    end: FloatArray

    def offsets(self, jobs: int) -> IntArray:
        """Return where each job's pieces begin, and where the last ones end, shape (N + 1,)."""
        return np.searchsorted(self.job, np.arange(jobs + 1))


def cleanest(signal: StepSignal, arrival: FloatArray, length: FloatArray, wait: FloatArray) -> Pieces:
    """Return the `length` cleanest hours of each ``[arrival, arrival + length + wait)`` (Wait Awhile).

    Of hours equally clean the earliest; of a slot that is used in part, its beginning.
    """
    found = []
    for rows, slots, left, right in windows(signal, arrival, arrival + length + wait):
        order = np.argsort(values(signal, slots), axis=1, kind="stable")
        hours = np.take_along_axis(right - left, order, axis=1)
        before = np.cumsum(hours, axis=1) - hours
        used = np.empty_like(hours)
        np.put_along_axis(used, order, np.clip(length[rows, None] - before, 0, hours), axis=1)
        found.append(pieces(rows, left, np.where(used >= right - left, right, left + used)))
    return joined(found)


def below(
    signal: StepSignal, arrival: FloatArray, length: FloatArray, wait: FloatArray, threshold: FloatArray
) -> Pieces:
    """Return when each job runs that is suspended while the intensity is not below its threshold (Ecovisor).

    Once it has waited for `wait`, it runs to its end.
    """
    found = []
    for rows, slots, left, right in windows(signal, arrival, arrival + length + wait):
        dirty = values(signal, slots) >= threshold[rows, None]
        hours = right - left
        idle = np.where(dirty, hours, 0.0)
        waited = np.cumsum(idle, axis=1) - idle
        idle = np.where(dirty, np.clip(wait[rows, None] - waited, 0, hours), 0.0)
        runs = hours - idle
        used = np.clip(length[rows, None] - (np.cumsum(runs, axis=1) - runs), 0, runs)
        begin = left + idle
        found.append(pieces(rows, begin, np.where(used >= runs, right, begin + used)))
    return joined(found)


def thresholds(signal: StepSignal, arrival: FloatArray, end: FloatArray, share: float) -> FloatArray:
    """Return the intensity below which the signal is for `share` of each ``[arrival, end)``: its quantile."""
    return _ranked(signal, arrival, end, share * (end - arrival) * (1 - ROUNDING))


def ticked_thresholds(signal: StepSignal, arrival: FloatArray, end: FloatArray, share: float) -> FloatArray:
    """Return quantiles of the values at the whole ticks of each ``[arrival, end)``, interpolated linearly."""
    rank = share * (end - arrival - 1)
    lower, upper = (_ranked(signal, arrival, end, np.floor(rank) + more) for more in (0.5, 1.5))
    return lower + (upper - lower) * (rank - np.floor(rank))


def joined(parts: list[Pieces]) -> Pieces:
    """Return pieces of different jobs as one table."""
    if not parts:
        return Pieces(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0))
    job, start, end = (np.concatenate([getattr(part, name) for part in parts]) for name in ("job", "start", "end"))
    order = np.lexsort((start, job))
    return Pieces(job[order], start[order], end[order])


def _ranked(signal: StepSignal, arrival: FloatArray, end: FloatArray, rank: FloatArray) -> FloatArray:
    """Return the value below or at which the signal is for more than `rank` of each ``[arrival, end)``."""
    found = np.empty(arrival.size)
    for rows, slots, left, right in windows(signal, arrival, end):
        seen = values(signal, slots)
        order = np.argsort(seen, axis=1, kind="stable")
        hours = np.cumsum(np.take_along_axis(right - left, order, axis=1), axis=1)
        place = np.minimum((hours <= rank[rows, None]).sum(axis=1), seen.shape[1] - 1)
        found[rows] = np.take_along_axis(seen, np.take_along_axis(order, place[:, None], axis=1), axis=1)[:, 0]
    return found


def windows(
    signal: StepSignal, begin: FloatArray, end: FloatArray
) -> Iterator[tuple[IntArray, IntArray, FloatArray, FloatArray]]:
    """Yield jobs whose windows touch equally many slots: their rows, slots, and the slots' ends in the window."""
    first = np.floor((begin - signal.origin) / signal.step + ROUNDING).astype(np.int64)
    count = np.ceil((end - signal.origin) / signal.step - ROUNDING).astype(np.int64) - first
    order = np.argsort(count, kind="stable")
    starts = np.flatnonzero(np.diff(count[order], prepend=-1))
    for group in np.split(order, starts[1:]):
        width = max(1, int(count[group[0]])) if group.size else 1
        size = max(1, BLOCK // width)
        for at in range(0, group.size, size):
            rows = group[at : at + size]
            slots = first[rows, None] + np.arange(width)
            left = np.maximum(signal.origin + slots * signal.step, begin[rows, None])
            right = np.minimum(signal.origin + (slots + 1) * signal.step, end[rows, None])
            yield rows, slots, left, np.maximum(left, right)


def values(signal: StepSignal, slots: IntArray) -> FloatArray:
    """Return the signal's values in slots, of those after its end the last one."""
    return signal.values[np.minimum(slots, signal.values.size - 1)]


def pieces(rows: IntArray, start: FloatArray, end: FloatArray) -> Pieces:
    """Return the runs of each row's slots, those that touch as one."""
    runs = end - start > ROUNDING
    job = np.broadcast_to(rows[:, None], runs.shape)[runs]
    start = start[runs]
    end = end[runs]
    fresh = np.ones(job.size, dtype=np.bool_)
    fresh[1:] = (job[1:] != job[:-1]) | (start[1:] - end[:-1] > ROUNDING)
    at = np.flatnonzero(fresh)
    return Pieces(job[at], start[at], end[np.append(at[1:], job.size) - 1])

"""What jobs may still do: those that have one place each, and those whose starts are within windows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray
from carbonopt.problems.purchasing.data.instance import ROUNDING, ROUNDING_HOURS
from carbonopt.problems.purchasing.methods.price.grid import Jobs

TOUCH_HOURS = ROUNDING_HOURS / 2
"""Runs that overlap by less touch."""


@dataclass(frozen=True, eq=False)
class Windows:
    """What jobs may do that may not split.

    Parameters
    ----------
    first, last
        Starts on the pool [h], shape (N,).
    on_pool, beside
        Whether each job may run on the pool, and whether it may do something else, shape (N,).
    """

    first: FloatArray
    last: FloatArray
    on_pool: BoolArray
    beside: BoolArray

    @staticmethod
    def of(arrival: FloatArray, wait: FloatArray) -> Windows:
        """Return that jobs may do everything from their arrivals for so long [h], shape (N,)."""
        every = np.ones(len(arrival), np.bool_)
        return Windows(np.array(arrival), arrival + wait, every, every)


@dataclass(frozen=True, eq=False)
class Places:
    """Which jobs have a place, when they start [h] if that is on the pool, and whether it is; shapes (N,)."""

    placed: BoolArray
    start: FloatArray
    on_pool: BoolArray

    @staticmethod
    def none(start: FloatArray) -> Places:
        """Return that no job has a place; `start` is any start of each."""
        return Places(np.zeros(len(start), np.bool_), start, np.zeros(len(start), np.bool_))

    def with_job(self, job: int, start: float | None) -> Places:
        """Return the same with one more job: on the pool from `start`, or None for off the pool."""
        placed, starts, on_pool = self.placed.copy(), self.start.copy(), self.on_pool.copy()
        placed[job], on_pool[job] = True, start is not None
        if start is not None:
            starts[job] = start
        return Places(placed, starts, on_pool)

    def room(self, job: int, start: float, apart: float, jobs: Jobs, reserved: float) -> float | None:
        """Return the start nearest to `start` at which a job has room beside these; None if there is none.

        Parameters
        ----------
        job
            One that has no place.
        start
            In its window [h].
        apart
            Farthest from there [h].
        jobs
            All jobs.
        reserved
            R.
        """
        runs = np.flatnonzero(self.placed & self.on_pool)
        length = float(jobs.length[job])
        begin, end = self.start[runs], self.start[runs] + jobs.length[runs]
        near = np.concatenate([[start], end, begin - length])
        earliest = max(start - apart, float(jobs.arrival[job]))
        latest = min(start + apart, float(jobs.arrival[job] + jobs.wait[job]))
        inside = (near >= earliest - ROUNDING_HOURS) & (near <= latest + ROUNDING_HOURS)
        near = np.clip(near[inside], earliest, latest)  # sums of hours are an ulp off
        for s in near[np.argsort(np.abs(near - start), kind="stable")].tolist():
            beside = (begin < s + length - TOUCH_HOURS) & (end > s + TOUCH_HOURS)
            load = [
                float(jobs.cpus[runs[beside & (begin <= moment) & (end > moment + TOUCH_HOURS)]].sum())
                for moment in np.maximum(begin[beside], s).tolist()
            ]
            if max(load, default=0.0) + jobs.cpus[job] <= reserved * (1 + ROUNDING):
                return float(s)
        return None

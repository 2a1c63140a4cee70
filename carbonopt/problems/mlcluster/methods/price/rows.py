"""Runs of all jobs as rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.options import Schedule


class Rows(NamedTuple):
    """One row a run, in any order: its job, from when to when [min], on how many GPUs."""

    job: IntArray
    start: FloatArray
    end: FloatArray
    gpus: IntArray

    @classmethod
    def space(cls, count: int) -> Rows:
        """Return room for so many rows."""
        job, gpus = np.zeros((2, count), dtype=np.int64)
        start, end = np.zeros((2, count))
        return cls(job, start, end, gpus)

    def first(self, count: int) -> Rows:
        """Return so many rows."""
        return Rows._make(column[:count] for column in self)

    def with_space(self, count: int) -> Rows:
        """Return a copy with room for so many rows."""
        larger = Rows.space(count)
        for column, old in zip(larger, self, strict=True):
            column[: len(old)] = old[:count]
        return larger


def rows_of(names: tuple[str, ...] | list[str], schedule: Schedule) -> Rows:
    """Return a schedule's runs, in the order of jobs and of time."""
    number = {name: j for j, name in enumerate(names)}
    job = np.array([number[name] for name in schedule["job"]], dtype=np.int64)
    start, end = (np.asarray(schedule[key], dtype=np.float64) for key in ("start_minutes", "end_minutes"))
    rows = Rows(job, start, end, np.asarray(schedule["gpus"], dtype=np.int64))
    order = np.lexsort((start, job))
    return Rows._make(column[order] for column in rows)


def schedule_of(names: tuple[str, ...] | list[str], rows: Rows) -> Schedule:
    """Return runs as the columns of a schedule."""
    order = np.lexsort((rows.start, rows.job))
    job, start, end, gpus = (column[order].tolist() for column in rows)
    return {"job": [names[j] for j in job], "start_minutes": start, "end_minutes": end, "gpus": gpus}

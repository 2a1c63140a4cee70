"""Rows of a schedule as arrays, and the runs that they make: part of the checker."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.core.errors import shown
from carbonopt.core.ranges import LARGEST_WHOLE
from carbonopt.problems.mlcluster.data.instance import MlClusterInstance

COLUMNS = ("job", "start_minutes", "end_minutes", "gpus")
"""Columns that a schedule must have, and no others."""


@dataclass(frozen=True, eq=False)
class Runs:
    """Rows of a schedule, sorted by job and start; after `runs_of` one a run.

    Parameters
    ----------
    job
        Position of the job, shape (R,).
    start, end
        From when to when [min], shape (R,).
    gpus
        How many GPUs it has, shape (R,).
    idle_minutes
        Of them, spent on a restart [min], shape (R,).
    work
        What it gets done [1-GPU minutes], shape (R,).
    resumed, rescaled
        Whether the job ran before: with a pause since, or without one but on other GPUs, shape (R,).
    """

    job: IntArray
    start: FloatArray
    end: FloatArray
    gpus: IntArray
    idle_minutes: FloatArray
    work: FloatArray
    resumed: BoolArray
    rescaled: BoolArray

    def kept(self, good: BoolArray) -> Runs:
        """Return some of the rows."""
        return Runs(**{name: column[good] for name, column in vars(self).items()})

    @property
    def minutes(self) -> FloatArray:
        """Length of each [min], shape (R,)."""
        return self.end - self.start


def parsed(instance: MlClusterInstance, schedule: dict[str, Any]) -> tuple[Runs, list[tuple[str, str]]]:
    """Turn a schedule into rows; also return name and words for each that is no decision, and is left out."""
    index = {name: j for j, name in enumerate(instance.jobs.name)}
    names = schedule["job"]
    job = np.array([index.get(name, -1) if isinstance(name, str) else -1 for name in names], dtype=np.int64)
    (start, start_ok) = _numbers(schedule["start_minutes"])
    (end, end_ok) = _numbers(schedule["end_minutes"])
    gpus, gpus_ok = _numbers(schedule["gpus"])
    gpus_ok &= (gpus >= 1) & (gpus == np.floor(gpus)) & (gpus <= LARGEST_WHOLE)
    ordered = start_ok & end_ok & (start < end)
    faults = []
    for row in np.flatnonzero((job < 0) | ~ordered | ~gpus_ok):
        name = names[row]
        if job[row] < 0:
            text = f"row {row} names an unknown job {shown(name)}"
        elif not ordered[row]:
            first = schedule["start_minutes"][row]
            last = schedule["end_minutes"][row]
            text = f"job {name!r} runs from {shown(first)} to {shown(last)}: must be two moments, the second later"
        else:
            text = f"job {name!r} has {shown(schedule['gpus'][row])} GPUs: must be a whole number above 0"
        faults.append((str(name), text))
    good = np.flatnonzero((job >= 0) & ordered & gpus_ok)
    order = good[np.lexsort((start[good], job[good]))]
    nothing = np.zeros(len(order))
    never = np.zeros(len(order), dtype=np.bool_)
    rows = Runs(job[order], start[order], end[order], gpus[order].astype(np.int64), nothing, nothing, never, never)
    return rows, faults


def _numbers(values: Any) -> tuple[FloatArray, BoolArray]:
    """Return finite numbers, and which of `values` are such; the others as 0."""
    if all(type(value) is float or type(value) is int for value in values):
        with suppress(OverflowError):
            numbers = np.array(values, dtype=np.float64)
            good = np.isfinite(numbers)
            return np.where(good, numbers, 0.0), good
    good = np.array([_is_number(value) for value in values], dtype=np.bool_)
    return np.array([value if fine else 0.0 for value, fine in zip(values, good, strict=True)], dtype=float), good


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return abs(value) <= LARGEST_WHOLE


def runs_of(instance: MlClusterInstance, rows: Runs) -> Runs:
    """Join rows that continue the one before, and say what each run gets done."""
    if not len(rows.job):
        return rows
    same = rows.job[1:] == rows.job[:-1]
    joined = same & (rows.start[1:] == rows.end[:-1]) & (rows.gpus[1:] == rows.gpus[:-1])
    first = np.flatnonzero(np.concatenate([[True], ~joined]))
    last = np.append(first[1:], len(rows.job)) - 1
    job = rows.job[first]
    start = rows.start[first]
    end = rows.end[last]
    gpus = rows.gpus[first]
    again = np.concatenate([[False], job[1:] == job[:-1]])
    paused = again & (start > np.concatenate([[np.inf], end[:-1]]))
    profile = instance.profile_of_job[job]
    idle = np.where(again, np.minimum(instance.scales.restart_minutes[profile], end - start), 0.0)
    work = (end - start - idle) * instance.scales.throughput[profile, gpus - 1]
    return Runs(job, start, end, gpus, idle, work, paused, again & ~paused)


def level_after(start: FloatArray, end: FloatArray, amount: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the moments at which anything starts or ends, sorted, and what is in use after each."""
    moment, place = np.unique(np.concatenate([start, end]), return_inverse=True)
    change = np.bincount(place, np.concatenate([amount, -amount]), len(moment))
    return moment, np.cumsum(change)

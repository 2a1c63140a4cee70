"""The checker of mlcluster: imports no solver, no formulation and no heuristic.

Every constraint and every quantity is evaluated from the instance and the columns of the schedule
alone: which job has how many GPUs from when to when. Rows of one job that follow each other without a
gap at the same number of GPUs are one *run*. Every run of a job after its first begins with a restart:
``restart_minutes`` at full power without progress.

Moments are compared exactly. Whole GPUs change hands at one moment, so no allowance is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from carbonopt.core.arrays import IntArray
from carbonopt.core.errors import shown
from carbonopt.core.report import Report, Violation
from carbonopt.problems.mlcluster.data.instance import ROUNDING, MlClusterInstance
from carbonopt.problems.mlcluster.verify.metrics import metrics_of
from carbonopt.problems.mlcluster.verify.runs import COLUMNS, Runs, level_after, parsed, runs_of

SHOWN = 5
"""Jobs that a violation lists by name, at most."""


def check(instance: MlClusterInstance, schedule: dict[str, Any], info: dict[str, Any] | None = None) -> Report:  # noqa: ARG001
    """Check a schedule and evaluate it.

    Parameters
    ----------
    instance
        The instance that the schedule is for.
    schedule
        Columns ``job`` (names), ``start_minutes``, ``end_minutes`` and ``gpus``, in any order of rows.
    info
        Not used: nothing of a solver is needed to evaluate a schedule.

    Returns
    -------
    Report
        Every violated constraint, the objective, and the metrics of `carbonopt.problems.mlcluster.verify.metrics`.
    """
    if set(schedule) != set(COLUMNS) or len({len(column) for column in schedule.values()}) != 1:
        found = ", ".join(f"{name} ({len(column)} rows)" for name, column in schedule.items()) or "none"
        message = f"the schedule must have the columns {', '.join(COLUMNS)}, all of one length; it has {found}"
        return Report((Violation("format", message),), None)
    rows, faults = parsed(instance, schedule)
    violations = [Violation("format", text, job=name) for name, text in faults]
    inside = instance.allowed[rows.job, np.minimum(rows.gpus, instance.allowed.shape[1]) - 1]
    inside &= rows.gpus <= instance.allowed.shape[1]
    violations += _scale(instance, rows.kept(~inside))
    runs = runs_of(instance, rows.kept(inside))
    violations += _window(instance, runs)
    violations += _once(instance, runs)
    violations += _capacity(instance, runs)
    work = np.asarray(np.bincount(runs.job, runs.work, len(instance.jobs)), dtype=np.float64)
    violations += _completion(instance, work)
    metrics = metrics_of(instance, runs, work)
    violations += _limits(instance, metrics)
    weights = instance.weights
    objective = weights.carbon_kg * metrics["added_carbon_kg"] + weights.jct_hours * metrics["jct_hours"]
    return Report(tuple(violations), objective, metrics)


def _scale(instance: MlClusterInstance, rows: Runs) -> Iterator[Violation]:
    """GPUs are within the job's limits, the cluster's, and what its profile knows."""
    for row in range(len(rows.job)):
        j = int(rows.job[row])
        name = instance.jobs.name[j]
        low = instance.jobs.min_gpus[j]
        high = instance.most_gpus[j]
        text = f"job {name!r} has {rows.gpus[row]} GPUs from minute {rows.start[row]:g}: {low} to {high} are allowed"
        yield Violation("scale", text, job=name)


def _window(instance: MlClusterInstance, runs: Runs) -> Iterator[Violation]:
    """Each job runs between its arrival and the end of the signal."""
    arrival = instance.jobs.arrival_minutes
    end = instance.horizon_minutes
    for row in np.flatnonzero(runs.start < arrival[runs.job]):
        name = instance.jobs.name[runs.job[row]]
        first = arrival[runs.job[row]]
        text = f"job {name!r} runs from minute {runs.start[row]:g}, it arrives at {first:g}"
        yield Violation("release", text, float(first - runs.start[row]), job=name)
    for row in np.flatnonzero(runs.end > end):
        name = instance.jobs.name[runs.job[row]]
        text = f"job {name!r} runs until minute {runs.end[row]:g}, the signal ends at {end:g}"
        yield Violation("horizon", text, float(runs.end[row] - end), job=name)


def _once(instance: MlClusterInstance, runs: Runs) -> Iterator[Violation]:
    """Let a job run at one scale at a time."""
    again = np.flatnonzero((runs.job[1:] == runs.job[:-1]) & (runs.start[1:] < runs.end[:-1])) + 1
    for row in again:
        name = instance.jobs.name[runs.job[row]]
        text = f"job {name!r} starts at minute {runs.start[row]:g} while it runs until {runs.end[row - 1]:g}"
        yield Violation("overlap", text, float(runs.end[row - 1] - runs.start[row]), job=name)


def _capacity(instance: MlClusterInstance, runs: Runs) -> Iterator[Violation]:
    """At each moment all jobs together have at most C GPUs."""
    moment, load = level_after(runs.start, runs.end, runs.gpus.astype(np.float64))
    gpus = instance.cluster.gpus
    over = load > gpus
    edges = np.flatnonzero(np.diff(np.concatenate([[0], over.astype(np.int64), [0]])))
    for first, last in zip(edges[::2], edges[1::2], strict=True):
        begin = moment[first]
        end = moment[last]
        most = float(load[first:last].max())
        users = np.unique(runs.job[(runs.start < end) & (runs.end > begin)])
        text = (
            f"jobs {_named(instance, users)} use up to {most:g} GPUs from minute {begin:g} to {end:g}, {gpus} are there"
        )
        slot = min(int(begin // instance.slot_minutes), instance.time.slots - 1)
        yield Violation("capacity", text, most - gpus, slot=slot)


def _completion(instance: MlClusterInstance, work: Any) -> Iterator[Violation]:
    """Every job does its work; adding up may lose a little."""
    needed = instance.jobs.work_gpu_minutes
    for j in np.flatnonzero(work < instance.jobs.required):
        name = instance.jobs.name[j]
        text = f"job {name!r} does {work[j]:.12g} 1-GPU minutes of work, it needs {needed[j]:.12g}"
        yield Violation("work", text, float(needed[j] - work[j]), job=name)


def _limits(instance: MlClusterInstance, metrics: dict[str, Any]) -> Iterator[Violation]:
    """Keep the mean completion time within its budget."""
    limit = instance.limits.mean_jct_hours
    mean = metrics["mean_jct_hours"]
    if limit is not None and mean > limit * (1 + ROUNDING):
        yield Violation("limit", f"mean_jct_hours is {shown(mean)}, its limit {shown(limit)}", mean - limit)


def _named(instance: MlClusterInstance, users: IntArray) -> str:
    names = ", ".join(instance.jobs.name[j] for j in users[:SHOWN])
    return names + (f" and {len(users) - SHOWN} more" if len(users) > SHOWN else "")

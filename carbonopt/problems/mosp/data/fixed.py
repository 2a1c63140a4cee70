"""Runs that are settled already: jobs that run now, on the cluster and from the slot that they have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray, frozen_int
from carbonopt.core.errors import Fault, shown
from carbonopt.core.jobs import duplicate_faults
from carbonopt.core.options import Schedule

if TYPE_CHECKING:
    from carbonopt.problems.mosp.data.instance import Clusters, MospInstance, MospJobs


@dataclass(frozen=True, eq=False)
class FixedRuns:
    """Jobs whose cluster and start are not to be decided.

    Parameters
    ----------
    job, cluster
        Names, F of each; every job at most once.
    start
        Slot in which each starts, shape (F,).
    """

    job: tuple[str, ...]
    cluster: tuple[str, ...]
    start: IntArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "job", tuple(self.job))
        object.__setattr__(self, "cluster", tuple(self.cluster))
        object.__setattr__(self, "start", frozen_int(self.start, "fixed.start"))

    def __len__(self) -> int:
        return len(self.job)

    def to_dict(self) -> dict[str, Any]:
        """Return the runs as the file holds them."""
        return {"job": self.job, "cluster": self.cluster, "start": self.start}


def fixed_rows(instance: MospInstance) -> tuple[IntArray, IntArray, IntArray]:
    """Return row of the job, row of the cluster, and start of each fixed run, shapes (F,); F = 0 without any."""
    runs = instance.fixed
    if runs is None:
        none = np.zeros(0, dtype=np.int64)
        return none, none, none
    return _rows(instance.jobs.name, runs.job), _rows(instance.clusters.name, runs.cluster), runs.start


def after_review(instance: MospInstance, schedule: Schedule, review_slot: int) -> MospInstance:
    """Return what is left to decide at a review: runs that began before it are fixed, no other job begins before it.

    Parameters
    ----------
    instance
        With the signal that is known at the review.
    schedule
        That was followed until then.
    review_slot
        Slot at whose beginning the review is.
    """
    begun = [row for row, start in enumerate(schedule["start"]) if start < review_slot]
    names = [schedule["job"][row] for row in begun]
    runs = {name: (schedule["cluster"][row], schedule["start"][row]) for name, row in zip(names, begun, strict=True)}
    if instance.fixed is not None:
        own = zip(instance.fixed.job, instance.fixed.cluster, instance.fixed.start.tolist(), strict=True)
        runs |= {job: (cluster, start) for job, cluster, start in own}
    jobs = instance.jobs
    is_free = np.array([name not in runs for name in jobs.name], dtype=np.bool_)
    arrival = np.where(is_free, np.maximum(jobs.arrival, review_slot), jobs.arrival)
    clusters = tuple(cluster for cluster, _ in runs.values())
    settled = FixedRuns(tuple(runs), clusters, np.array([start for _, start in runs.values()], dtype=np.int64))
    return replace(instance, jobs=replace(jobs, arrival=arrival), fixed=settled)


def _rows(names: Sequence[str], wanted: Sequence[str]) -> IntArray:
    row = {name: number for number, name in enumerate(names)}
    return np.array([row[name] for name in wanted], dtype=np.int64)


def fixed_load(instance: MospInstance) -> FloatArray:
    """Return the units that fixed runs use, shape (M, R, T)."""
    return load_of(instance, *fixed_rows(instance))


def load_of(instance: MospInstance, job: IntArray, cluster: IntArray, start: IntArray) -> FloatArray:
    """Return the units that some runs use, given by rows and slots of one shape; shape (M, R, T)."""
    load = np.zeros(instance.clusters.capacity.shape)
    for i, j, begin in zip(job, cluster, start, strict=True):
        load[j, :, begin : begin + instance.jobs.duration[i]] += instance.jobs.demand[i][:, None]
    return load


def fixed_faults(runs: FixedRuns, clusters: Clusters, jobs: MospJobs, slots: int) -> list[Fault]:
    """Return what is wrong with fixed runs, beside their load."""
    count = len(runs.job)
    if not count == len(runs.cluster) == len(runs.start):
        words = f"must have one entry for each of the {count} fixed jobs"
        return [Fault("fixed", words, f"{len(runs.cluster)} clusters, {len(runs.start)} starts")]
    faults = duplicate_faults("fixed.job", runs.job)
    row_of_job = {name: i for i, name in enumerate(jobs.name)}
    row_of_cluster = {name: j for j, name in enumerate(clusters.name)}
    for row, (job, cluster, start) in enumerate(zip(runs.job, runs.cluster, runs.start.tolist(), strict=True)):
        if job not in row_of_job:
            faults.append(Fault("fixed.job", "is unknown: jobs.name has no such job", shown(job), row))
        elif cluster not in row_of_cluster:
            words = "is unknown: clusters.name has no such cluster"
            faults.append(Fault("fixed.cluster", words, shown(cluster), row))
        else:
            faults += _run_faults(row, jobs, row_of_job[job], row_of_cluster[cluster], start, slots)
    return faults


def _run_faults(row: int, jobs: MospJobs, i: int, j: int, start: int, slots: int) -> Iterator[Fault]:
    """Yield where one run contradicts its job."""
    first = int(jobs.arrival[i])
    last = slots - int(jobs.duration[i])
    if not first <= start <= last:
        words = f"must be from {first}, the arrival of the job, to {last}: it then ends within the {slots} slots"
        yield Fault("fixed.start", words, str(start), row)
    if jobs.eligible is not None and not jobs.eligible[i, j]:
        yield Fault("fixed.cluster", f"must be a cluster on which job {jobs.name[i]!r} may run", row=row)


def overload_faults(instance: MospInstance) -> Iterator[Fault]:
    """Yield each cluster, resource and first slot where fixed runs alone exceed the capacity."""
    load = fixed_load(instance)
    over = load > instance.clusters.limit
    for j, r in np.argwhere(over.any(axis=2)):
        slot = int(over[j, r].argmax())
        used = load[j, r, slot]
        there = instance.clusters.capacity[j, r, slot]
        where = f"{instance.resources[r]} of cluster {instance.clusters.name[j]!r} in slot {slot}"
        yield Fault("fixed", f"must fit: its jobs use {used:g} {where}, {there:g} are there")

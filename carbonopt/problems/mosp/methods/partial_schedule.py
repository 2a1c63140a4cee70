"""What is left of the capacity while a schedule is being built, one job at a time."""

from __future__ import annotations

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.core.options import Schedule
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.data.schedule import as_schedule, from_schedule
from carbonopt.problems.mosp.formulation.objective import PlacementValue

CALL_STEPS = 40_000.0
"""Loop steps that the calls of numpy for one job stand for."""


class PartialSchedule:
    """A partial schedule and the capacity that it leaves.

    Parameters
    ----------
    instance
        N jobs, M clusters, R resources, T slots.
    value
        What placements are worth.
    """

    def __init__(self, instance: MospInstance, value: PlacementValue) -> None:
        self.instance = instance
        self.value = value
        self.capacity_left: FloatArray = np.array(instance.clusters.limit)
        limit = instance.clusters.max_starts_per_slot
        if limit is None:
            self.starts_left = None
        else:
            self.starts_left = np.repeat(limit[:, None], instance.time.slots, axis=1)
        self.cluster: IntArray = np.full(len(instance.jobs), -1, dtype=np.int64)
        self.start: IntArray = np.full(len(instance.jobs), -1, dtype=np.int64)
        self.eligible = instance.eligible

    @classmethod
    def of(cls, instance: MospInstance, value: PlacementValue, schedule: Schedule) -> PartialSchedule:
        """Return the partial schedule that holds what a solution file's columns say."""
        found = cls(instance, value)
        for job, cluster, start in zip(*from_schedule(instance, schedule), strict=True):
            found.place(job, cluster, start)
        return found

    @property
    def steps_a_job(self) -> float:
        """Loop steps to look for places of one job, about: whole arrays in some 20 calls of numpy."""
        return CALL_STEPS + self.capacity_left.size

    def starts(self, job: int) -> IntArray:
        """Return the slots in which `job` may start, by release and horizon."""
        jobs = self.instance.jobs
        return np.arange(jobs.arrival[job], self.instance.time.slots - jobs.duration[job] + 1)

    def fits(self, job: int) -> BoolArray:
        """Return where `job` fits now, shape (M, number of `starts`)."""
        starts = self.starts(job)
        duration = int(self.instance.jobs.duration[job])
        lacking = (self.capacity_left < self.instance.jobs.demand[job][:, None]).any(axis=1)
        blocked = np.zeros((len(lacking), lacking.shape[1] + 1), dtype=np.int64)
        np.cumsum(lacking, axis=1, out=blocked[:, 1:])
        free = blocked[:, starts + duration] == blocked[:, starts]
        if self.starts_left is not None:
            free &= self.starts_left[:, starts] > 0
        return np.asarray(free & self.eligible[job][:, None])

    def fits_at(self, job: int, cluster: int, start: int) -> bool:
        """Return whether `job`, which may run on `cluster` from `start`, fits there now."""
        if self.starts_left is not None and self.starts_left[cluster, start] < 1:
            return False
        end = start + int(self.instance.jobs.duration[job])
        return bool((self.capacity_left[cluster, :, start:end] >= self.instance.jobs.demand[job][:, None]).all())

    def cheapest(self, job: int) -> tuple[int, int, float] | None:
        """Return the best (cluster, start, cost) where `job` fits; None if it fits nowhere.

        Cost is the objective's part, negated under a maximisation.
        """
        starts = self.starts(job)
        fits = self.fits(job)
        if not fits.any():
            return None
        cost = self.value.table(job, starts) * self.value.sign
        cost = np.where(fits, cost, np.inf)
        cluster, offset = np.unravel_index(int(cost.argmin()), cost.shape)
        return int(cluster), int(starts[offset]), float(cost[cluster, offset])

    def place(self, job: int, cluster: int, start: int) -> None:
        """Run `job` on `cluster` from `start`."""
        self._take(job, cluster, start, 1)
        self.cluster[job] = cluster
        self.start[job] = start

    def remove(self, job: int) -> None:
        """Take `job` out of the schedule."""
        self._take(job, int(self.cluster[job]), int(self.start[job]), -1)
        self.cluster[job] = self.start[job] = -1

    def _take(self, job: int, cluster: int, start: int, sign: int) -> None:
        end = start + int(self.instance.jobs.duration[job])
        self.capacity_left[cluster, :, start:end] -= sign * self.instance.jobs.demand[job][:, None]
        if self.starts_left is not None:
            self.starts_left[cluster, start] -= sign

    @property
    def placed(self) -> IntArray:
        """The jobs that run."""
        return np.flatnonzero(self.cluster >= 0)

    @property
    def complete(self) -> bool:
        """Whether every job runs."""
        return bool((self.cluster >= 0).all())

    def schedule(self) -> Schedule:
        """Return the runs in the columns of a solution file."""
        return as_schedule(self.instance, self.placed, self.cluster[self.placed], self.start[self.placed])

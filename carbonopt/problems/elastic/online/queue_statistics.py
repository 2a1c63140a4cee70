"""What a scheduler knows of the jobs that it may expect: their queues, their lengths, and how many come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from carbonopt.core.arrays import FloatArray, IntArray, frozen_float
from carbonopt.core.errors import UnsupportedError, shown
from carbonopt.problems.elastic.data.instance import ElasticInstance

QUEUE_HOURS = (2.0, 12.0)
"""Longest job of each queue but the last [h]: CarbonFlex's queues of short, medium and long jobs."""
LEAST_LEFT_SLOTS = 1.0
"""What a job is taken to need still where no job of its queue was ever seen to last as long [slots]."""


def require_queues(queue_hours: Sequence[float]) -> None:
    """Refuse longest jobs of queues [h] that do not rise from above 0."""
    if not (np.diff(np.array(queue_hours, dtype=float), prepend=0.0) > 0).all():
        raise UnsupportedError(f"queue_hours = {shown(tuple(queue_hours))}: must rise from above 0")


@dataclass(frozen=True, eq=False)
class QueueStatistics:
    """Statistics of past jobs.

    Parameters
    ----------
    edges
        Longest job of each queue but the last [slots], shape (Q - 1,).
    lengths
        Lengths of the past jobs of each queue [slots], sorted: Q arrays.
    slack
        Mean slack of each queue [slots], shape (Q,).
    arrivals
        Jobs that arrive in a slot, on average, of each queue and profile, shape (Q, P).
    least_left_slots
        What a job is taken to need still where no past job of its queue lasted as long [slots]. More of it gives
        such jobs more servers, later.
    """

    edges: FloatArray
    lengths: tuple[FloatArray, ...]
    slack: FloatArray
    arrivals: FloatArray
    least_left_slots: float = LEAST_LEFT_SLOTS

    def __post_init__(self) -> None:
        for field in ("edges", "slack", "arrivals"):
            object.__setattr__(self, field, frozen_float(getattr(self, field)))
        object.__setattr__(self, "lengths", tuple(frozen_float(np.sort(values)) for values in self.lengths))
        left = [np.cumsum(values[::-1])[::-1] for values in self.lengths]
        object.__setattr__(self, "_sum_from", left)

    @classmethod
    def of(cls, instance: ElasticInstance, queue_hours: Sequence[float] = QUEUE_HOURS) -> QueueStatistics:
        """Return the statistics of an instance's own jobs.

        For a simulation of that very instance they stand for those of a past with the same queues, as the
        mean lengths of GAIA's queues do; whoever has a past should use the past's.

        Parameters
        ----------
        instance
            At least one job.
        queue_hours
            Longest job of each queue but the last [h].
        """
        require_queues(queue_hours)
        jobs = instance.jobs
        edges = np.array(queue_hours, dtype=float) / instance.time.slot_hours
        queue = np.searchsorted(edges, jobs.length * (1 - 1e-9))
        queues = len(edges) + 1
        profiles = len(instance.profiles)
        members = [np.flatnonzero(queue == q) for q in range(queues)]
        slack = np.array([jobs.slack[rows].mean() if len(rows) else jobs.slack.mean() for rows in members])
        span = float(jobs.arrival.max() - jobs.arrival.min()) + 1
        count = np.bincount(queue * profiles + instance.profile_of_job, minlength=queues * profiles)
        arrivals = count.reshape(queues, profiles) / span
        return cls(edges, tuple(jobs.length[rows] for rows in members), slack, arrivals)

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def mean(self) -> FloatArray:
        """Mean length of each queue's jobs [slots], shape (Q,); that of all where a queue never had one."""
        every = np.concatenate(self.lengths)
        overall = float(every.mean()) if every.size else self.least_left_slots
        return np.array([values.mean() if values.size else overall for values in self.lengths])

    def queue_of(self, length: npt.ArrayLike) -> IntArray:
        """Return the queue that jobs of these lengths [slots] are submitted to, by their users."""
        return np.searchsorted(self.edges, np.asarray(length, dtype=np.float64) * (1 - 1e-9)).astype(np.int64)

    def expected_left(self, queue: IntArray, done: FloatArray) -> FloatArray:
        """Return the mean of what is left of jobs that have done so much work and are not complete [slots].

        The mean residual life of the past jobs of the same queue that lasted longer, shape as `queue`.
        """
        left = np.full(len(queue), self.least_left_slots)
        sums: list[FloatArray] = self.__dict__["_sum_from"]
        for q, values in enumerate(self.lengths):
            rows = np.flatnonzero(queue == q)
            first = np.searchsorted(values, done[rows], side="right")
            longer = np.flatnonzero(first < len(values))
            at = first[longer]
            left[rows[longer]] = sums[q][at] / (len(values) - at) - done[rows[longer]]
        return left

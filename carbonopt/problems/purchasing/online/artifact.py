"""The authors' simulator, tick by tick of 5 s: mode ``artifact``.

What it computes was established from its behaviour; the points where it differs from the paper's text
are on the problem's page. Times in this module are whole ticks, held in floats.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.core.errors import UnsupportedError
from carbonopt.problems.purchasing.data.instance import PurchasingInstance
from carbonopt.problems.purchasing.online import start_rules, suspension
from carbonopt.problems.purchasing.online.rule import PurchaseRule
from carbonopt.simulation import StepSignal

TICKS_PER_HOUR = 720
ALLOWANCE = 1e-6
"""Added before a time is cut to whole ticks: a third of an hour is 240 ticks."""
SINGLE_QUEUE_TICKS = 2.0
"""Length that the simulator expects of every job where there is one queue: meant as hours, taken as ticks."""


@dataclass(frozen=True, eq=False)
class TickedJobs:
    """The jobs as the simulator reads them.

    Parameters
    ----------
    arrival, length, wait
        Whole ticks, shape (N,). A job as long as its queue's limit belongs to the next queue here.
    expected
        Whole ticks: the mean length of the queue, in which jobs at its limits count on both sides.
    exact
        Lengths before they are cut, in ticks.
    signal
        Carbon intensity.
    """

    arrival: FloatArray
    length: FloatArray
    wait: FloatArray
    expected: FloatArray
    exact: FloatArray
    signal: StepSignal

    @property
    def deadline(self) -> FloatArray:
        """End of each job's window."""
        return np.minimum(self.arrival + self.length + self.wait, self.signal.end)


@dataclass(frozen=True, eq=False)
class Tasks:
    """What the simulator queues: a job, or each piece of one; sorted by job.

    Parameters
    ----------
    job, due, end
        Shape (S,); `end` is infinite for a job's last piece.
    spot
        Whether it runs on spot CPUs.
    """

    job: IntArray
    due: FloatArray
    end: FloatArray
    spot: BoolArray


def ticked(instance: PurchasingInstance) -> TickedJobs:
    """Return the jobs in ticks.

    Raises
    ------
    UnsupportedError
        If a slot or a job is not a whole number of ticks, at least one.
    """
    step = instance.time.slot_hours * TICKS_PER_HOUR
    if abs(step - round(step)) > ALLOWANCE:
        raise UnsupportedError(f"mode 'artifact' needs slots of whole ticks of 5 s, not {instance.time.slot_hours} h")
    exact = instance.jobs.length_hours * TICKS_PER_HOUR
    arrival, length = (_whole(hours) for hours in (instance.jobs.arrival_hours, instance.jobs.length_hours))
    if bool((length < 1).any()):
        job = instance.jobs.name[int(np.argmin(length))]
        raise UnsupportedError(f"mode 'artifact' needs jobs of at least one tick of 5 s: job {job!r} is shorter")
    edges = np.array([0.0, *(queue.max_length_hours * TICKS_PER_HOUR for queue in instance.queues)])
    queue = np.searchsorted(edges[1:-1], length, side="right")
    limits = _whole(np.array([queue.max_wait_hours for queue in instance.queues]))
    means = np.full(len(limits), SINGLE_QUEUE_TICKS)
    for number in range(len(limits) if len(limits) > 1 else 0):
        own = exact[(exact >= edges[number]) & (exact <= edges[number + 1])]
        means[number] = np.floor(own.mean() + ALLOWANCE) if own.size else 0.0
    signal = StepSignal(instance.intensity, round(step))
    return TickedJobs(arrival, length, limits[queue], means[queue], exact, signal)


def tasks_of(instance: PurchasingInstance, rule: PurchaseRule, lengths: str) -> Tasks:
    """Return what a policy plans at each job's arrival."""
    jobs = ticked(instance)
    if instance.spot is None or not rule.spot:
        limit = -1.0
    else:
        limit = instance.spot.max_length_hours * TICKS_PER_HOUR
    spot = jobs.exact <= limit + ALLOWANCE
    if rule.start == "wait-awhile":
        wait = jobs.deadline - jobs.arrival - jobs.length
        planned = suspension.cleanest(jobs.signal, jobs.arrival, jobs.length, wait)
        # each piece is classed by its own length, so that pieces of a long job run on spot CPUs
        alone = np.bincount(planned.job, minlength=jobs.arrival.size)[planned.job] == 1
        return _tasks(planned, np.where(alone, spot[planned.job], planned.end - planned.start <= limit))
    if rule.start == "ecovisor":
        until = np.minimum(jobs.arrival + rule.ahead_hours * TICKS_PER_HOUR, jobs.signal.end)
        threshold = suspension.ticked_thresholds(jobs.signal, jobs.arrival, until, rule.clean_share)
        planned = suspension.below(jobs.signal, jobs.arrival, jobs.length, jobs.wait, threshold)
        return _tasks(planned, spot[planned.job])
    job = np.arange(jobs.arrival.size)
    return Tasks(job, _due(jobs, rule.start, lengths), np.full(job.size, inf), spot)


def _due(jobs: TickedJobs, rule: str, lengths: str) -> FloatArray:
    if rule == "no-wait":
        return jobs.arrival
    if rule == "all-wait-threshold":
        return jobs.arrival + jobs.wait
    known = jobs.length if lengths == "true" else jobs.expected
    candidates = _first_ticks if rule == "lowest-slot" else _whole_hours
    return start_rules.choose(rule, candidates, jobs.signal, jobs.arrival, known, jobs.wait)


def _whole_hours(signal: StepSignal, arrival: FloatArray, length: FloatArray, wait: float) -> FloatArray:
    """Return the arrival and every whole hour after it up to the limit itself, if the run ends within the signal."""
    times = arrival[:, None] + TICKS_PER_HOUR * np.arange(int(wait // TICKS_PER_HOUR) + 1)
    return np.where(times + length[:, None] <= signal.end, times, arrival[:, None])


def _first_ticks(signal: StepSignal, arrival: FloatArray, length: FloatArray, wait: float) -> FloatArray:  # noqa: ARG001
    """Return the arrival and the first tick of each slot up to the limit itself."""
    first = np.floor(arrival / signal.step) + 1
    times = (first[:, None] + np.arange(int(wait // signal.step) + 1)) * signal.step
    inside = (times <= arrival[:, None] + wait) & (times < signal.end)
    return np.concatenate((arrival[:, None], np.where(inside, times, arrival[:, None])), axis=1)


def _tasks(planned: suspension.Pieces, spot: BoolArray) -> Tasks:
    last = np.diff(planned.job, append=-1) != 0
    return Tasks(planned.job, planned.start, np.where(last, inf, planned.end), spot)


def _whole(hours: FloatArray) -> FloatArray:
    return np.asarray(np.floor(hours * TICKS_PER_HOUR + ALLOWANCE))

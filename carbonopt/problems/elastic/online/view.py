"""What a policy sees at the beginning of a slot: the active jobs, as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.online.queue_statistics import QueueStatistics
from carbonopt.simulation import State

NEARLY_DONE = 1e-8
"""Work [slots] below which a job that runs is about to complete, and is left alone."""
SAME_TIME = 1e-9
"""Times that differ by less are equal [slots]."""


def slot_of(now: float) -> int:
    """Return the slot that a time lies in.

    Examples
    --------
    >>> slot_of(2.0), slot_of(2.9), slot_of(2.9999999999)
    (2, 2, 3)
    """
    return int(now + SAME_TIME)


@dataclass(frozen=True, eq=False)
class Scaling:
    """The levels of all profiles: level k is the first k units together, level 0 is nothing.

    Parameters
    ----------
    count
        Units of each of the P profiles, shape (P,).
    servers, work, kwh
        Of each level: servers, work in a slot [slots at k_min], energy in a slot [kWh], shape (P, U + 1).
        Beyond a profile's own levels those of its last one.
    elasticity
        Mean over k of p(k) of each profile, shape (P,).
    """

    count: IntArray
    servers: FloatArray
    work: FloatArray
    kwh: FloatArray
    elasticity: FloatArray

    @classmethod
    def of(cls, instance: ElasticInstance) -> Scaling:
        """Return the levels of an instance's profiles."""
        units = instance.units
        zero = np.zeros((len(units.count), 1))
        servers, work, kwh = (
            np.hstack([zero, np.cumsum(part, axis=1)]) for part in (units.servers, units.gain, units.kwh)
        )
        return cls(units.count, servers, work, kwh, units.gain.sum(axis=1) / units.count)


@dataclass(frozen=True, eq=False)
class View:
    """The cluster when a policy decides. All arrays are of the A active jobs, in the order of arrival.

    Parameters
    ----------
    slot
        t.
    capacity
        Whole servers that can be given away.
    intensity
        Forecast of slots t, t + 1, ... [g/kWh]: the present one is known.
    job
        Positions in the instance.
    profile, queue
        Of each job.
    age
        Slots since the arrival.
    done
        Work done [slots at k_min].
    left
        What is expected to be left of it [slots at k_min]; the truth where lengths are known.
    slack
        Slots that it may still wait: d - (age - done), or by its true window where lengths are known.
    level
        Units that it has had in the slot before, 0 where it did not run.
    begun
        Whether it has ever run.
    scaling
        Of the profiles.
    step
        Slots until the policy decides again, at most.
    """

    slot: int
    capacity: int
    intensity: FloatArray
    job: IntArray
    profile: IntArray
    queue: IntArray
    age: FloatArray
    done: FloatArray
    left: FloatArray
    slack: FloatArray
    level: IntArray
    begun: BoolArray
    scaling: Scaling
    step: float = 1.0

    def __len__(self) -> int:
        return len(self.job)

    @property
    def forced(self) -> BoolArray:
        """Jobs that would be late if they waited until the next decision."""
        return self.slack < self.step - 1e-9

    def servers(self, level: IntArray) -> IntArray:
        """Return the servers of each job at these levels."""
        return self.scaling.servers[self.profile, level].astype(np.int64)


class ViewBuilder:
    """Makes the views of one simulation.

    Parameters
    ----------
    state
        At its beginning.
    statistics
        What is known of the jobs.
    day
        Slots that a forecast is looked at, at least.
    step
        Slots from one decision to the next, at most.
    """

    def __init__(self, state: State, statistics: QueueStatistics, day: int, step: float = 1.0) -> None:
        instance: ElasticInstance = state.instance
        self.state = state
        self.statistics = statistics
        self.day = day
        self.step = step
        self.scaling = Scaling.of(instance)
        self.arrival = instance.jobs.arrival
        self.length = instance.jobs.length
        self.end = instance.jobs.window_end
        self.slack = instance.jobs.slack
        self.profile = instance.profile_of_job
        self.k_min = self.scaling.servers[:, 1]
        self.queue = statistics.queue_of(instance.jobs.length)
        self.known = state.workload.expected_work is state.workload.work
        self.begun = np.zeros(len(self.arrival), dtype=np.bool_)
        self.hours = instance.time.slot_hours

    def forecast(self, slot: int, slots: int) -> FloatArray:
        """Return the forecast of slots ``slot, ..., slot + slots - 1`` [g/kWh].

        After the instance's last slot, its last day is repeated: by the simulation, as by every forecast.
        """
        forecast = self.state.forecast
        instance = self.state.instance
        assert forecast is not None
        if slot < forecast.slots:
            return forecast.view(slot, (slot + slots) * self.hours).values[:slots]
        rest = instance.intensity[slot:]
        return np.asarray(np.concatenate([rest, np.resize(rest, max(0, slots - len(rest)))])[:slots])

    def view(self, slots_ahead: int) -> View:
        """Return the view of this moment, with a forecast of at least so many slots."""
        state = self.state
        now = state.now
        slot = slot_of(now)
        units = {job: run.units for job, run in state.running.items()}
        left = {job: state.remaining(job) for job in (*state.queued, *units)}
        active = sorted(job for job, work in left.items() if work > NEARLY_DONE or job not in units)
        job = np.array(active, dtype=np.int64)
        job = job[np.argsort(self.arrival[job], kind="stable")]
        leaving = sum(servers for number, servers in units.items() if left[number] <= NEARLY_DONE)
        true_left = np.array([left[number] for number in job.tolist()])
        servers = np.array([units.get(number, 0.0) for number in job.tolist()])
        self.begun[job[servers > 0]] = True
        profile = self.profile[job]
        queue = self.queue[job]
        age: FloatArray = np.asarray(now - self.arrival[job], dtype=np.float64)
        done = np.maximum(0.0, self.length[job] - true_left)
        if self.known:
            expected = true_left
            slack = self.end[job] - now - true_left
        else:
            expected = self.statistics.expected_left(queue, done)
            slack = self.slack[job] - (age - done)
        seen = max(self.day, slots_ahead)
        return View(
            slot=slot,
            capacity=int(state.capacity() * (1 + 1e-9) - leaving),
            intensity=self.forecast(slot, seen),
            job=job,
            profile=profile,
            queue=queue,
            age=age,
            done=done,
            left=expected,
            slack=slack,
            level=np.where(servers > 0, servers - self.k_min[profile] + 1, 0).astype(np.int64),
            begun=self.begun[job],
            scaling=self.scaling,
            step=self.step,
        )

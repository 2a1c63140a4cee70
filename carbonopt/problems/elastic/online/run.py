"""Role ``simulate`` of elastic: an online policy's schedule."""

from __future__ import annotations

from typing import Any

import numpy as np

from carbonopt.core.arrays import IntArray
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.options import Schedule
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.online.hourly import HourlyPolicy
from carbonopt.problems.elastic.online.queue_statistics import QueueStatistics
from carbonopt.problems.elastic.online.view import Scaling
from carbonopt.problems.elastic.verify.late_windows import with_slots
from carbonopt.simulation import Log, Policy, Pool, Workload, run
from carbonopt.simulation.options import SimulationOptions

POOL = "cluster"
"""Name of the one pool of servers."""
LEAST_SHARE = 1e-9
"""Part of a slot below which a segment is rounding."""
SPARE_SLOTS = 48
"""Slots that a simulation may last after all work could have been done one job after the other."""


def simulate(instance: ElasticInstance, policy: Policy, options: SimulationOptions) -> Outcome:
    """Simulate a policy.

    Decisions are made at the beginning of each slot. In the fluid model a job that completes within a slot
    pays for the part that it used; in the integer model for the whole slot.

    Parameters
    ----------
    instance
        N jobs, T slots.
    policy
        On the pool ``cluster``.
    options
        Of the simulation. ``lengths``: policies know the mean length of a job's queue, or its true one.

    Returns
    -------
    Outcome
        Its info has ``late_slots``: the late jobs and by how much each is late (see `late`). Where not all
        jobs can complete (a base block of more servers than there are), status ``unknown`` and
        ``unfinished_jobs``.
    """
    if options.mode != "paper":
        raise UnsupportedError(f"mode {options.mode!r}: CarbonFlex has no public artifact: use mode 'paper'")
    _require_zone(instance)
    longest = with_slots(instance, instance.time.slots + _spare(instance))
    if not len(instance.jobs):
        return Outcome(
            Status.FEASIBLE, _columns(instance, _none(), _none(), _none(), np.zeros(0)), info={"late_slots": {}}
        )
    log = run(
        _workload(instance, policy, options.lengths),
        [Pool(POOL, np.floor(longest.cluster.limit))],
        policy,
        instance=longest,
        forecast=options.forecast,
        horizon=float(longest.time.slots),
        seed=options.seed,
        callback=options.callback,
        arrivals_known=options.arrivals == "known",
    )
    return _outcome(instance, log)


def _require_zone(instance: ElasticInstance) -> None:
    """Refuse a forecast that may be of another zone than the cluster's."""
    first = instance.carbon.zones[0]
    own = instance.cluster.zone
    if getattr(instance, "zone", first) != own:
        raise UnsupportedError(
            f"forecasts are of {first}, the first zone, and the cluster is in {own}: reduce the signal"
        )


def _spare(instance: ElasticInstance) -> int:
    """Return slots after the horizon in which whatever is left can be done, if it can be at all."""
    return int(instance.jobs.whole_slots.sum()) + SPARE_SLOTS if len(instance.jobs) else 0


def _workload(instance: ElasticInstance, policy: Policy, lengths: str) -> Workload:
    jobs = instance.jobs
    scaling = Scaling.of(instance)
    profile = instance.profile_of_job.tolist()
    work: list[list[float]] = scaling.work.tolist()
    k_min = [part.k_min for part in instance.profiles]

    def speed(job: int, servers: float) -> float:
        kind: int = profile[job]
        level = int(servers) - k_min[kind] + 1
        if not 1 <= level < len(work[kind]) or level != servers - k_min[kind] + 1:
            return float("nan")  # the engine refuses it: it names policy, job and time
        return work[kind][level]

    base = np.array(k_min, dtype=float)[instance.profile_of_job]
    expected = None
    if lengths == "mean":
        statistics = (policy.statistics if isinstance(policy, HourlyPolicy) else None) or QueueStatistics.of(instance)
        expected = statistics.mean[statistics.queue_of(jobs.length)]
    return Workload(jobs.arrival.astype(float), jobs.length, base, jobs.name, expected, speed)


def _outcome(instance: ElasticInstance, log: Log) -> Outcome:
    job, slot, servers, share = _rows(log)
    late = _late(instance, job, slot)
    info: dict[str, Any] = {"late_slots": late}
    if log.stopped == "interrupted":
        columns = _columns(instance, job, slot, servers, share)
        info |= {"simulated_slots": log.now, "unfinished_jobs": int(log.unfinished.size), "partial": columns}
        return Outcome(Status.INTERRUPTED, info=info)
    if log.unfinished.size:
        info |= {"unfinished_jobs": [instance.jobs.name[number] for number in log.unfinished.tolist()]}
        return Outcome(Status.UNKNOWN, info=info)
    return Outcome(Status.FEASIBLE, _columns(instance, job, slot, servers, share), info=info)


def _rows(log: Log) -> tuple[IntArray, IntArray, IntArray, Any]:
    """Cut the segments at the edges of slots: job, slot, servers and share, one row a job, slot and level."""
    first = np.floor(log.start + LEAST_SHARE).astype(np.int64)
    last = np.ceil(log.end - LEAST_SHARE).astype(np.int64)
    count = np.maximum(last - first, 0)
    row = np.repeat(np.arange(len(log)), count)
    slot = first[row] + np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    share = np.minimum(log.end[row], slot + 1) - np.maximum(log.start[row], slot)
    share = np.where(share > 1 - LEAST_SHARE, 1.0, share)
    kept = share > LEAST_SHARE
    key = np.stack([log.job[row], slot, log.units[row].astype(np.int64)])[:, kept]
    found, place = np.unique(key, axis=1, return_inverse=True)
    total = np.bincount(place.ravel(), share[kept], found.shape[1])
    return found[0], found[1], found[2], np.minimum(total, 1.0)


def _late(instance: ElasticInstance, job: IntArray, slot: IntArray) -> dict[str, int]:
    """Return by how many slots each job runs beyond its window, for those that do."""
    end = np.zeros(len(instance.jobs), dtype=np.int64)
    np.maximum.at(end, job, slot + 1)
    over = end - instance.jobs.window_end
    return {instance.jobs.name[row]: int(over[row]) for row in np.flatnonzero(over > 0).tolist()}


def _columns(instance: ElasticInstance, job: IntArray, slot: IntArray, servers: IntArray, share: Any) -> Schedule:
    names = instance.jobs.name
    columns: Schedule = {
        "job": [names[number] for number in job.tolist()],
        "slot": slot.tolist(),
        "servers": servers.tolist(),
    }
    return columns | {"share": share.tolist()} if instance.model == "fluid" else columns


def _none() -> IntArray:
    return np.zeros(0, dtype=np.int64)

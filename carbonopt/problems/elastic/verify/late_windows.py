"""Late jobs of a simulation: the instance with their windows extended, and the metrics that say how they fared.

An online policy does not know how long jobs run, so some may end after their window. Such a schedule is no schedule
of the instance. It is one of the instance in which the windows of the late jobs are longer by as much as they were
late: `carbonopt extend` does the same for Algorithm 1. The solution's info says by how much (``late_slots``). A bound
is comparable only if it is that of the extended instance. Where a job runs after the last slot, the last day of
carbon and capacity is repeated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.time import TimeGrid
from carbonopt.problems.elastic.data.instance import ElasticInstance

DAY_HOURS = 24.0
"""What is repeated after an instance's last slot [h]."""
MOST_SLOTS = 2**31
"""A job that is late by more slots than this is a fault of the file: no array could hold the slots."""


def is_sound(instance: ElasticInstance, late: Any) -> bool:
    """Return whether `late` holds whole numbers of slots, above 0, by the names of jobs."""
    names = set(instance.jobs.name)
    return isinstance(late, Mapping) and all(
        name in names and isinstance(slots, int) and not isinstance(slots, bool) and 0 < slots < MOST_SLOTS
        for name, slots in late.items()
    )


def extended(instance: ElasticInstance, late_slots: Mapping[str, int]) -> ElasticInstance:
    """Return the instance with longer windows, and as many slots more as they need.

    Parameters
    ----------
    instance
        N jobs, T slots.
    late_slots
        Slots that the window of a job gets in addition, by its name.
    """
    slack = np.array(instance.jobs.slack)
    index = {name: row for row, name in enumerate(instance.jobs.name)}
    for name, slots in late_slots.items():
        slack[index[name]] += slots
    end = instance.jobs.arrival + instance.jobs.whole_slots + slack
    longer = with_slots(instance, max(instance.time.slots, int(end.max(initial=0))))
    return longer.with_slack(slack)


def with_slots(instance: ElasticInstance, slots: int) -> ElasticInstance:
    """Return the instance with at least so many slots: the last day of carbon and capacity is repeated."""
    if slots <= instance.time.slots:
        return instance
    day = min(instance.time.slots, max(1, round(DAY_HOURS / instance.time.slot_hours)))

    def longer(row: FloatArray) -> FloatArray:
        return np.concatenate([row, np.resize(row[-day:], slots - len(row))])

    carbon = instance.carbon
    time = TimeGrid(slots, instance.time.slot_hours, instance.time.start)
    signal = CarbonSignal(carbon.zones, np.array([longer(row) for row in carbon.g_per_kwh]), time)
    cluster = replace(instance.cluster, capacity=longer(instance.cluster.capacity))
    return replace(instance, carbon=signal, cluster=cluster)


def online_metrics(instance: ElasticInstance, schedule: dict[str, Any]) -> dict[str, Any]:
    """Return delay and churn of a feasible schedule.

    Returns
    -------
    dict
        ``mean_wait_slots``: completion, to the part of the slot, less arrival and length, which is negative
        where scaling gains time; ``suspensions``: times that a job stops and goes on later; ``rescalings``:
        slots in which it has another number of servers than in the slot before, in which it ran too;
        ``churn``: both together.
    """
    index = {name: row for row, name in enumerate(instance.jobs.name)}
    job = np.array([index[name] for name in schedule["job"]], dtype=np.int64)
    slot, servers = (np.array(schedule[name], dtype=np.int64) for name in ("slot", "servers"))
    share = np.array(schedule["share"]) if "share" in schedule else np.ones(len(job))
    key, place = np.unique(job * instance.time.slots + slot, return_inverse=True)
    used = np.bincount(place, share, len(key))
    most = np.zeros(len(key), dtype=np.int64)
    np.maximum.at(most, place, servers)
    job = key // instance.time.slots
    slot = key % instance.time.slots
    same = job[1:] == job[:-1]
    gap = same & (slot[1:] > slot[:-1] + 1)
    changed = same & ~gap & (most[1:] != most[:-1])
    completion = np.zeros(len(instance.jobs))
    np.maximum.at(completion, job, slot + np.minimum(used, 1.0))
    wait = completion - instance.jobs.arrival - instance.jobs.length
    return {
        "mean_wait_slots": round(float(wait.mean()), 9) + 0.0 if len(wait) else 0.0,
        "suspensions": int(gap.sum()),
        "rescalings": int(changed.sum()),
        "churn": int(gap.sum() + changed.sum()),
    }

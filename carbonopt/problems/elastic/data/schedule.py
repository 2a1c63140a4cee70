"""Schedules as columns, from and to arrays of levels."""

from __future__ import annotations

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.options import Schedule
from carbonopt.problems.elastic.data.instance import ROUNDING, ElasticInstance

LEAST_SHARE = 1e-12
"""A share of a slot below this is none."""


def integer_schedule(instance: ElasticInstance, job: IntArray, slot: IntArray, servers: IntArray) -> Schedule:
    """Return the schedule in which each row's job has that many servers in that slot."""
    order = np.lexsort((slot, job))
    names = np.array(instance.jobs.name, dtype=object)
    return {
        "job": names[job[order]].tolist(),
        "slot": slot[order].tolist(),
        "servers": servers[order].astype(np.int64).tolist(),
    }


def from_units(instance: ElasticInstance, job: IntArray, slot: IntArray, unit: IntArray, on: FloatArray) -> Schedule:
    """Return the schedule that unit variables y_jtu stand for.

    Parameters
    ----------
    instance
        The instance.
    job, slot, unit
        Of each variable; all units of a job-slot from 0 up to the last that is on must be there.
    on
        Its value in [0, 1].

    Returns
    -------
    dict
        Of the instance's model: whole units for ``integer`` (values rounded), shares of levels for
        ``fluid``.
    """
    if instance.model == "integer":
        kept = on > 0.5
        key = job[kept] * instance.time.slots + slot[kept]
        found, units = np.unique(key, return_counts=True)
        i = found // instance.time.slots
        k_min = instance.units.servers[instance.profile_of_job[i], 0].astype(np.int64)
        return integer_schedule(instance, i, found % instance.time.slots, units + k_min - 1)
    order = np.lexsort((unit, slot, job))
    job = job[order]
    slot = slot[order]
    unit = unit[order]
    on = np.clip(on[order], 0.0, 1.0)
    follows = np.zeros(len(job), dtype=np.bool_)
    follows[1:] = (job[1:] == job[:-1]) & (slot[1:] == slot[:-1])
    level = on.copy()  # y_u <= y_{u-1}, which tolerances may break by a little
    for u in range(1, int(unit.max(initial=0)) + 1):
        here = np.flatnonzero(follows & (unit == u))
        level[here] = np.minimum(level[here], level[here - 1])
    above = np.zeros(len(level))
    above[:-1] = np.where(follows[1:], level[1:], 0.0)
    share = level - above
    kept = share > LEAST_SHARE
    i = job[kept]
    units = unit[kept]
    k_min = instance.units.servers[instance.profile_of_job[i], 0].astype(np.int64)
    names = np.array(instance.jobs.name, dtype=object)
    return {
        "job": names[i].tolist(),
        "slot": slot[kept].tolist(),
        "servers": (units + k_min).tolist(),
        "share": share[kept].tolist(),
    }


def levels_of(instance: ElasticInstance, schedule: Schedule) -> tuple[IntArray, IntArray, IntArray]:
    """Return job, slot and servers of an integer schedule as arrays."""
    index = {name: i for i, name in enumerate(instance.jobs.name)}
    job = np.array([index[name] for name in schedule["job"]], dtype=np.int64)
    return job, np.array(schedule["slot"], dtype=np.int64), np.array(schedule["servers"], dtype=np.int64)


def repaired(instance: ElasticInstance, job: IntArray, slot: IntArray, unit: IntArray, on: FloatArray) -> FloatArray:
    """Return values with nothing but rounding changed, so that loads and work keep the checker's allowances.

    A solver's loads may exceed a capacity by its tolerance: each slot's values are scaled down to fit.
    """
    servers = instance.units.servers[instance.profile_of_job[job], unit]
    load = np.bincount(slot, servers * on, instance.time.slots)
    capacity = instance.cluster.capacity
    factor = np.where(load > capacity, capacity / np.maximum(load, ROUNDING), 1.0)
    beyond = (factor < 1 - 1e-6) & (load > 1e-6)  # no rounding: the checker shall see it
    return np.asarray(on * np.where(beyond, 1.0, factor)[slot])

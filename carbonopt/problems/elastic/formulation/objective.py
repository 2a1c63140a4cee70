"""What each unit of each job costs: coefficients of the objective."""

from __future__ import annotations

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.elastic.data.instance import ElasticInstance


def unit_carbon(instance: ElasticInstance) -> FloatArray:
    """Return CI_t e_u: carbon of each unit in each slot [g], shape (P, T, U)."""
    return instance.intensity[None, :, None] * instance.units.kwh[:, None, :]


def all_units(instance: ElasticInstance) -> tuple[IntArray, IntArray, IntArray]:
    """Return job, slot and unit of every y_jtu, sorted in this order: three arrays of one length."""
    jobs = instance.jobs
    width = jobs.window_end - jobs.arrival
    pair_job = np.repeat(np.arange(len(jobs)), width)
    first = np.cumsum(width) - width
    pair_slot = np.arange(len(pair_job)) - np.repeat(first - jobs.arrival, width)
    count = instance.units.count[instance.profile_of_job[pair_job]]
    job = np.repeat(pair_job, count)
    slot = np.repeat(pair_slot, count)
    unit = np.arange(len(job)) - np.repeat(np.cumsum(count) - count, count)
    return job, slot, unit

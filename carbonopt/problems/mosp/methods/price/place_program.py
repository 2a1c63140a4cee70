"""The program of an instance over some of its places, and what places cost at prices of capacity."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray, prefix_sums
from carbonopt.milp.program import Program
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.formulation.program import Placements


class Columns(NamedTuple):
    """The columns of a program.

    Attributes
    ----------
    row
        Which of the possible placements each is, -1 for jobs that do not run; shape (C,).
    job, cluster, start
        Kind of jobs, cluster and start of each; cluster -1 for jobs that do not run. Shape (C,).
    """

    row: IntArray
    job: IntArray
    cluster: IntArray
    start: IntArray


def program_over(
    instance: MospInstance,
    places: Placements,
    cost: FloatArray,
    columns: BoolArray,
    rejection_cost: FloatArray,
    count: IntArray,
    *,
    slots: tuple[int, int] | None = None,
    whole: bool = False,
) -> Program:
    """Return the program in which jobs run in some places, split over several or not.

    A column counts the jobs of a kind in a place.

    Parameters
    ----------
    instance
        With one job of each kind.
    places, cost
        All places of these, and what a run costs in each.
    columns
        Whether each of them is in the program.
    rejection_cost
        Of a job of each kind that does not run, shape (K,); infinite where it must.
    count
        Jobs of each kind, shape (K,).
    slots
        First slot in which capacity counts, and the one after the last; None for all.
    whole
        Whether jobs are not split.

    Returns
    -------
    Program
        With columns ``x`` and ``rejected``, and rows ``jobs`` and ``capacity``.
    """
    chosen = np.flatnonzero(columns)
    job, cluster, start = (part[chosen] for part in (places.job, places.cluster, places.start))
    program = Program("places")
    x = program.add_variables("x", len(chosen), upper=count[job], cost=cost[chosen], integer=whole)
    every = program.add_rows("jobs", len(instance.jobs), lower=count, upper=count)
    program.add_entries(every.start + job, x.index, 1.0)
    may = np.isfinite(rejection_cost)
    rejected = program.add_variables(
        "rejected",
        len(instance.jobs),
        upper=np.where(may, count, 0),
        cost=np.where(may, rejection_cost, 0.0),
        integer=whole,
    )
    program.add_entries(every.index, rejected.index, 1.0)
    begin, end = slots or (0, instance.time.slots)
    limit = instance.clusters.limit[:, :, begin:end]
    rows = program.add_rows("capacity", limit.shape, upper=limit)
    first = np.maximum(start, begin)
    length = np.minimum(start + instance.jobs.duration[job], end) - first
    of = np.repeat(np.arange(len(job)), length)
    slot = np.arange(len(of)) - np.repeat(np.cumsum(length) - length - first, length) - begin
    for r in range(limit.shape[1]):
        at = (cluster[of] * limit.shape[1] + r) * limit.shape[2] + slot
        program.add_entries(rows.start + at, x.index[of], instance.jobs.demand[job[of], r])
    return program


def priced(instance: MospInstance, places: Placements, cost: FloatArray, prices: FloatArray) -> FloatArray:
    """Return what a run costs in each place, with what its capacity costs at `prices`, shape (M, R, T)."""
    prefix = prefix_sums(prices)
    end = places.start + instance.jobs.duration[places.job]
    total = cost.copy()
    for r in range(prices.shape[1]):
        used = prefix[places.cluster, r, end] - prefix[places.cluster, r, places.start]
        total += instance.jobs.demand[places.job, r] * used
    return total

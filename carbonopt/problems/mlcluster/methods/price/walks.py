"""Compiled loops: the cheapest walks of all jobs at prices, where nobody holds GPUs and lateness costs nothing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.mlcluster.methods.price.path import PathSpace, Stretches, break_paths


class JobColumns(NamedTuple):
    """First cell, arrival [min], kind, work [1-GPU min] and restart [min] of each job, shape (N,)."""

    first: IntArray
    arrival: FloatArray
    kind: IntArray
    required: FloatArray
    restart: FloatArray


class Kinds(NamedTuple):
    """Speed and watts of K kinds of jobs on 1 to M GPUs, shape (K, M)."""

    speed: FloatArray
    watts: FloatArray


WIDTH = 0.01
"""See `break_paths`: break prices hardly change from one evaluation of the dual function to the next."""


@kernel
def fill_least(carbon: FloatArray, price: FloatArray, speed: FloatArray, watts: FloatArray, least: FloatArray) -> None:
    """Fill the least cost of work of a kind in each cell [objective a 1-GPU min], shape (T,)."""
    for t in range(len(least)):
        least[t] = np.inf
        for m in range(len(speed)):
            if speed[m] > 0.0:
                least[t] = min(least[t], (carbon[t] * watts[m] + price[t] * (m + 1)) / speed[m])


@kernel
def least_costs(carbon: FloatArray, price: FloatArray, kinds: Kinds, least: FloatArray) -> None:
    """Fill the least cost of work of each kind in each cell [objective a 1-GPU min], shape (K, T)."""
    for k in range(least.shape[0]):
        fill_least(carbon, price, kinds.speed[k], kinds.watts[k], least[k])


@kernel
def price_walks(
    jobs: JobColumns,
    cells: Stretches,
    least: FloatArray,
    kinds: Kinds,
    highest: float,
    close: float,
    mu: FloatArray,
    load: FloatArray,
    space: PathSpace,
) -> tuple[float, float, int]:
    """Find the break price of each job's work, and add the GPUs of the walks there to `load` [GPU min].

    Parameters
    ----------
    jobs
        N jobs.
    cells
        T cells, all of one length. That of a job's first cell is cut while it is its turn.
    least
        See `least_costs`.
    kinds
        Of the jobs.
    highest, close
        See `path.break_paths`.
    mu
        Break prices to start from, above 0; they are replaced, shape (N,).
    load
        Shape (T,).
    space
        For T stretches.

    Returns
    -------
    value : float
        Sum of what jobs cost at least.
    sizes : float
        Sum of what that is the difference of.
    looked_at : int
        Cells whose states were looked at, over all walks.
    """
    total, sizes = 0.0, 0.0
    looked_at = 0
    for j in range(len(jobs.first)):
        first = jobs.first[j]
        kind = jobs.kind[j]
        need = jobs.required[j]
        minutes = cells.length[first]
        cells.length[first] = max(0.0, (first + 1) * minutes - max(first * minutes, jobs.arrival[j]))
        over = Stretches(
            cells.carbon[first:],
            cells.price[first:],
            cells.length[first:],
            cells.free[first:],
            cells.late[first:],
            least[kind][first:],
        )
        mu[j], has_high, looked = break_paths(
            need, mu[j], over, kinds.speed[kind], kinds.watts[kind], jobs.restart[j], highest, close, WIDTH, space
        )
        looked_at += looked
        low_work, low_cost, high_work, high_cost = space.totals
        part = 0.0
        best_work, best_cost = low_work, low_cost
        if has_high:
            part = (need - low_work) / (high_work - low_work)
            if high_cost - mu[j] * high_work < low_cost - mu[j] * low_work:
                best_work, best_cost = high_work, high_cost
        total += best_cost + mu[j] * (need - best_work)
        sizes += best_cost + mu[j] * (need + best_work)
        for e in range(len(over.length)):
            gpus = (1 - part) * space.low[e] + (part * space.high[e] if has_high else 0.0)
            if gpus > 0.0:
                load[first + e] += gpus * over.length[e]
        cells.length[first] = minutes
    return total, sizes, looked_at

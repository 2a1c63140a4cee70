"""Compiled loops: the cheapest walks of all jobs at prices, restarts counted, where completion times do not count.

The walks are those of `path.py` over whole cells that nobody else holds. A state is the number of GPUs on which a job
runs. One that is worth no more than a pause and a restart on as many GPUs is dropped: the pause is as good at any later
moment. So a cell in which all work costs more than it is worth is looked at only as long as a job runs on through it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.mlcluster.methods.price.path import MOST_TURNS, copy_walk


class Cells(NamedTuple):
    """T cells, and what work costs there.

    Attributes
    ----------
    carbon, price
        See `path.Stretches`, shape (T,).
    speed, watts
        Of K kinds on 1 to M GPUs, shape (K, M).
    least
        Least cost of work [objective a 1-GPU min], shape (K, T).
    minutes
        Length of a cell.
    """

    carbon: FloatArray
    price: FloatArray
    speed: FloatArray
    watts: FloatArray
    least: FloatArray
    minutes: float


class JobColumns(NamedTuple):
    """First cell, arrival [min], kind, work [1-GPU min] and restart [min] of each job, shape (N,)."""

    first: IntArray
    arrival: FloatArray
    kind: IntArray
    required: FloatArray
    restart: FloatArray


class Job(NamedTuple):
    """What a walk must know of a job.

    Attributes
    ----------
    first
        Cell of its arrival.
    arrival
        [min].
    kind
        Row of `Cells.speed`.
    most
        GPUs at most.
    restart
        Work that a restart takes, in minutes.
    """

    first: int
    arrival: float
    kind: int
    most: int
    restart: float


class WalkSpace(NamedTuple):
    """Work space.

    Attributes
    ----------
    came
        State before, by cell and state; M is a pause, shape (T, M + 1).
    value
        Of each state, shape (M + 1,).
    tried, low, high
        GPUs by cell of three walks, shape (T,).
    """

    came: IntArray
    value: FloatArray
    tried: IntArray
    low: IntArray
    high: IntArray


def walk_space(cells: int, gpus: int) -> WalkSpace:
    """Return work space for so many cells, and jobs on so many GPUs at most."""
    tried, low, high = np.zeros((3, cells), dtype=np.int64)
    return WalkSpace(np.zeros((cells, gpus + 1), dtype=np.int64), np.zeros(gpus + 1), tried, low, high)


@kernel
def least_costs(cells: Cells) -> None:
    """Fill `cells.least`."""
    for k in range(cells.least.shape[0]):
        for t in range(cells.least.shape[1]):
            least = np.inf
            for m in range(cells.speed.shape[1]):
                if cells.speed[k, m] > 0.0:
                    cost = cells.carbon[t] * cells.watts[k, m] + cells.price[t] * (m + 1)
                    least = min(least, cost / cells.speed[k, m])
            cells.least[k, t] = least


@kernel
def minutes_of(cells: Cells, job: Job, t: int) -> float:
    """Return how long a job may run in a cell [min]."""
    return max(0.0, (t + 1) * cells.minutes - max(t * cells.minutes, job.arrival))


@kernel
def best_walk(mu: float, job: Job, cells: Cells, space: WalkSpace, gpus: IntArray) -> tuple[float, float, int]:
    """Fill `gpus` of the best walk at the worth `mu` of work.

    Returns
    -------
    work, cost : float
        What it does, and what that costs.
    looked_at : int
        Cells whose states were looked at.
    """
    speed = cells.speed[job.kind]
    watts = cells.watts[job.kind]
    least = cells.least[job.kind]
    value = space.value
    most = job.most
    count = len(cells.carbon)
    for m in range(most + 1):
        value[m] = -np.inf
    best, end, last = 0.0, -1, -1
    runs = False
    looked_at = 0
    for t in range(job.first, count):
        gpus[t] = 0
        gains = least[t] < mu
        if not gains and not runs:
            space.came[t, most] = most
            continue
        looked_at += 1
        top = most
        for m in range(most):
            if value[m] > value[top]:
                top = m
        before = value[top]
        runs = False
        length = minutes_of(cells, job, t)
        for m in range(most):
            if speed[m] <= 0.0:
                continue
            reached = value[m]
            space.came[t, m] = m
            anew = before - mu * speed[m] * job.restart
            if gains:
                if reached < 0.0:
                    reached = 0.0
                    space.came[t, m] = -1
                if anew > reached:
                    reached = anew
                    space.came[t, m] = top
            if reached == -np.inf:
                continue
            rate = mu * speed[m] - cells.carbon[t] * watts[m] - cells.price[t] * (m + 1)
            value[m] = reached + rate * length
            if value[m] > best:
                best, end, last = value[m], t, m
            if value[m] <= anew:
                value[m] = -np.inf
            else:
                runs = True
        value[most] = before
        space.came[t, most] = top
    work, cost = 0.0, 0.0
    for t in range(end, job.first - 1, -1):
        previous = space.came[t, last]
        if last < most:
            gpus[t] = last + 1
            length = minutes_of(cells, job, t)
            work += speed[last] * length
            cost += (cells.carbon[t] * watts[last] + cells.price[t] * (last + 1)) * length
            if previous >= 0 and previous != last:
                work -= speed[last] * job.restart
        if previous < 0:
            break
        last = previous
    return work, cost, looked_at


@kernel
def price_walks(
    jobs: JobColumns,
    cells: Cells,
    highest: float,
    close: float,
    mu: FloatArray,
    load: FloatArray,
    space: WalkSpace,
) -> tuple[float, float, int]:
    """Find the break price of each job's work, and add the GPUs of the walks there to `load` [GPU min].

    Parameters
    ----------
    highest, close
        See `path.break_paths`.
    mu
        Break prices to start from, above 0; they are replaced, shape (N,).

    Returns
    -------
    value : float
        Sum of what jobs cost at least.
    sizes : float
        Sum of what that is the difference of.
    looked_at : int
        Cells whose states were looked at, over all walks.
    """
    first, arrival, kind, required, restart = jobs
    total, sizes = 0.0, 0.0
    looked_at = 0
    count = len(load)
    for j in range(len(first)):
        job = Job(first[j], arrival[j], kind[j], cells.speed.shape[1], restart[j])
        need = required[j]
        low_work, low_cost = 0.0, 0.0
        high_work, high_cost = 0.0, 0.0
        has_high = False
        for t in range(first[j], count):
            space.low[t] = 0
        price = mu[j]
        for _ in range(MOST_TURNS):
            mu[j] = price
            work, cost, looked = best_walk(price, job, cells, space, space.tried)
            looked_at += looked
            found = has_high and price * (work - high_work) - (cost - high_cost) <= close * abs(high_cost)
            if work >= need:
                has_high = True
                high_work, high_cost = work, cost
                copy_walk(space.tried, space.high, first[j], count)
            else:
                low_work, low_cost = work, cost
                copy_walk(space.tried, space.low, first[j], count)
            if found or (not has_high and price >= highest):
                break
            price = (high_cost - low_cost) / (high_work - low_work) if has_high else min(highest, 2 * price)
        part = 1.0
        best_work, best_cost = low_work, low_cost
        if has_high:
            part = (need - low_work) / (high_work - low_work)
            if high_cost - mu[j] * high_work < low_cost - mu[j] * low_work:
                best_work, best_cost = high_work, high_cost
        total += best_cost + mu[j] * (need - best_work)
        sizes += best_cost + mu[j] * (need + best_work)
        for t in range(first[j], count):
            held = (1 - part) * space.low[t] + (part * space.high[t] if has_high else 0.0)
            if held > 0.0:
                load[t] += held * minutes_of(cells, job, t)
    return total, sizes, looked_at

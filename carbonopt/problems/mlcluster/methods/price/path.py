"""The cheapest run of one job over stretches of time, restarts counted, for what its work is worth.

A stretch is a time in which neither carbon nor prices nor the free GPUs change. At a worth `mu` of work, a job's plan
is a walk through stretches and numbers of GPUs. To begin anew, or on other GPUs, costs the work of a restart. Gains do
not change within a stretch, so some best walk changes its GPUs at edges alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.algorithms.kernel import managed_kernel
from carbonopt.core.arrays import FloatArray, IntArray

MOST_TURNS = 40
"""Break prices that are tried for one plan at most."""
CLOSE = 1e-9
"""Relative rise of the value below which a break price is the right one."""


class Stretches(NamedTuple):
    """E stretches of time, one after the other.

    Attributes
    ----------
    carbon
        Price of a watt's carbon [objective a W min], shape (E,).
    price
        Of GPU time [objective a GPU min], shape (E,).
    length
        [min], shape (E,).
    free
        GPUs that nobody else holds, shape (E,).
    late
        What it costs to end there [objective], shape (E,).
    """

    carbon: FloatArray
    price: FloatArray
    length: FloatArray
    free: IntArray
    late: FloatArray


class Path(NamedTuple):
    """GPUs of a job in each stretch, the work that it does, and what it costs at the prices."""

    gpus: IntArray
    work: float
    cost: float


@managed_kernel
def best_path(
    mu: float, over: Stretches, speed: FloatArray, watts: FloatArray, restart: float, gpus: IntArray
) -> tuple[float, float]:
    """Fill `gpus` of the best walk at the worth `mu`; return the work that it does, and what it costs."""
    most = len(speed)
    count = len(over.length)
    came = np.zeros((count, most + 1), dtype=np.int64)
    value = np.full(most + 1, -np.inf)  # running on m + 1 GPUs, and last: paused
    best, end, last = 0.0, -1, -1
    for e in range(count):
        top = most
        for m in range(most):
            if value[m] > value[top]:
                top = m
        before = value[top]
        for m in range(most):
            if speed[m] <= 0.0 or m + 1 > over.free[e]:
                value[m] = -np.inf
                continue
            reached = value[m]
            came[e, m] = m
            if reached < 0.0:
                reached = 0.0
                came[e, m] = -1
            anew = before - mu * speed[m] * restart
            if anew > reached:
                reached = anew
                came[e, m] = top
            rate = mu * speed[m] - over.carbon[e] * watts[m] - over.price[e] * (m + 1)
            value[m] = reached + rate * over.length[e]
            if value[m] - over.late[e] > best:
                best, end, last = value[m] - over.late[e], e, m
        value[most] = before
        came[e, most] = top
    gpus[:] = 0
    work, cost = 0.0, 0.0
    for e in range(end, -1, -1):
        previous = came[e, last]
        if last < most:
            gpus[e] = last + 1
            work += speed[last] * over.length[e]
            cost += (over.carbon[e] * watts[last] + over.price[e] * (last + 1)) * over.length[e]
            if previous >= 0 and previous != last:
                work -= speed[last] * restart
        if previous < 0:
            break
        last = previous
    if end >= 0:
        cost += over.late[end]
    return work, cost


def break_paths(
    need: float,
    mu: float,
    over: Stretches,
    speed: FloatArray,
    watts: FloatArray,
    restart: float,
    highest: float,
    close: float = CLOSE,
) -> tuple[float, Path, Path | None]:
    """Return the break price of a job's work, and its best paths there that do less than `need`, and at least that.

    Both are best at the break price: no path does the work for less than their mixture costs. The second is None where
    no path does the work at the price `highest`. The search ends where a better price raises the value by less than the
    share `close` of the cost.
    """
    low = Path(np.zeros(len(over.length), dtype=np.int64), 0.0, 0.0)
    high: Path | None = None
    tried = mu
    for _ in range(MOST_TURNS):
        tried = mu
        gpus = np.zeros(len(over.length), dtype=np.int64)
        path = Path(gpus, *best_path(mu, over, speed, watts, restart, gpus))
        found = high is not None and mu * (path.work - high.work) - (path.cost - high.cost) <= close * abs(high.cost)
        if path.work >= need:
            high = path
        else:
            low = path
        if found or (high is None and mu >= highest):
            break
        mu = min(highest, 2 * mu) if high is None else (high.cost - low.cost) / (high.work - low.work)
    return tried, low, high


def path_steps(stretches: float, gpus: int) -> float:
    """Return about how many loop steps it takes to find a best walk."""
    return 3.0 * stretches * (gpus + 1)

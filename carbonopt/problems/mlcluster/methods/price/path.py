"""The cheapest run of one job over stretches of time, restarts counted, for what its work is worth.

A stretch is a time in which neither carbon nor prices nor the free GPUs change. At a worth `mu` of work, a job's plan
is a walk through stretches and numbers of GPUs. To begin anew, or on other GPUs, costs the work of a restart. Gains do
not change within a stretch, so some best walk changes its GPUs at edges alone.

A state is the number of GPUs on which a job runs. One that is worth no more than to begin later is dropped, and a
stretch in which all work costs more than it is worth is looked at only as long as a job runs on through it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.algorithms.kernel import kernel
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
        What it costs to end there [objective], shape (E,). It never falls.
    least
        Least cost of work on any number of GPUs, or less; infinite where none is free [objective a 1-GPU min], shape
        (E,).
    """

    carbon: FloatArray
    price: FloatArray
    length: FloatArray
    free: IntArray
    late: FloatArray
    least: FloatArray


class PathSpace(NamedTuple):
    """Work space of walks over E stretches and up to M GPUs.

    Attributes
    ----------
    came
        State before, by stretch and state; M is a pause, -1 none, shape (E, M + 1).
    value
        Of each state, shape (M + 1,).
    tried, low, high
        GPUs by stretch of three walks, shape (E,).
    totals
        Work and cost of `low`, and of `high`, shape (4,).
    """

    came: IntArray
    value: FloatArray
    tried: IntArray
    low: IntArray
    high: IntArray
    totals: FloatArray


def path_space(stretches: int, gpus: int) -> PathSpace:
    """Return work space for so many stretches, and jobs on so many GPUs at most."""
    tried, low, high = np.zeros((3, stretches), dtype=np.int64)
    came = np.zeros((stretches, gpus + 1), dtype=np.int64)
    return PathSpace(came, np.zeros(gpus + 1), tried, low, high, np.zeros(4))


@kernel
def best_path(
    mu: float,
    over: Stretches,
    speed: FloatArray,
    watts: FloatArray,
    restart: float,
    space: PathSpace,
    gpus: IntArray,
) -> tuple[float, float, int]:
    """Fill `gpus` of the best walk at the worth `mu` of work.

    Returns
    -------
    work, cost : float
        What it does, and what that costs.
    looked_at : int
        Stretches whose states were looked at.
    """
    most = len(speed)
    came, value = space.came, space.value
    for m in range(most + 1):
        value[m] = -np.inf
    best, end, last = 0.0, -1, -1
    runs = False
    looked_at = 0
    for e in range(len(over.length)):
        gpus[e] = 0
        gains = over.least[e] < mu
        if not gains and not runs:
            came[e, most] = most
            continue
        looked_at += 1
        top = most
        for m in range(most):
            if value[m] > value[top]:
                top = m
        before = value[top]
        runs = False
        for m in range(most):
            if speed[m] <= 0.0:
                continue
            if m + 1 > over.free[e]:
                value[m] = -np.inf
                continue
            reached = value[m]
            came[e, m] = m
            anew = before - mu * speed[m] * restart
            if gains:
                if reached < 0.0:
                    reached = 0.0
                    came[e, m] = -1
                if anew > reached:
                    reached = anew
                    came[e, m] = top
            if reached == -np.inf:
                continue
            rate = mu * speed[m] - over.carbon[e] * watts[m] - over.price[e] * (m + 1)
            value[m] = reached + rate * over.length[e]
            if value[m] - over.late[e] > best:
                best, end, last = value[m] - over.late[e], e, m
            if value[m] <= max(anew, 0.0):
                value[m] = -np.inf
            else:
                runs = True
        value[most] = before
        came[e, most] = top
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
    return work, cost, looked_at


@kernel
def copy_walk(source: IntArray, target: IntArray, count: int) -> None:
    """Copy the GPUs of a walk in the first `count` stretches."""
    for e in range(count):
        target[e] = source[e]


@kernel
def break_paths(
    need: float,
    mu: float,
    over: Stretches,
    speed: FloatArray,
    watts: FloatArray,
    restart: float,
    highest: float,
    close: float,
    width: float,
    space: PathSpace,
) -> tuple[float, bool, int]:
    """Find a job's best walks that do less than `need`, and at least that: `space.low` and `space.high`.

    Both are best at the break price of its work: no walk does the work for less than their mixture costs. The first
    steps from `mu` go by the share `width`, and by four times more each, until there are walks on both sides. After
    that, the next price is the one at which both cost the same. The search ends where it could raise the value by less
    than the share `close` of the cost.

    Returns
    -------
    mu : float
        The break price.
    has_high : bool
        Whether some walk does the work at the price `highest`.
    looked_at : int
        Stretches whose states were looked at, over all walks.
    """
    totals = space.totals
    totals[:] = 0.0
    count = len(over.length)
    space.low[:count] = 0
    has_low, has_high = False, False
    looked_at = 0
    price = mu
    for _ in range(MOST_TURNS):
        mu = price
        work, cost, looked = best_path(mu, over, speed, watts, restart, space, space.tried)
        looked_at += looked
        if work >= need:
            has_high = True
            copy_walk(space.tried, space.high, count)
            totals[2], totals[3] = work, cost
        else:
            has_low = True
            copy_walk(space.tried, space.low, count)
            totals[0], totals[1] = work, cost
        if not has_high:
            if mu >= highest:
                break
            price = min(highest, (1 + width) * mu)
            width *= 4
            continue
        price = (totals[3] - totals[1]) / (totals[2] - totals[0])
        if price * (need - totals[2]) + totals[3] - mu * (need - work) - cost <= close * abs(totals[3]):
            break
        if not has_low:
            price = max(price, (1 - width) * mu)
            width *= 4
    return mu, has_high, looked_at


def path_steps(stretches: float, gpus: int) -> float:
    """Return about how many loop steps it takes to find a best walk."""
    return 3.0 * stretches * (gpus + 1)

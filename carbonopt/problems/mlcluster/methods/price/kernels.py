"""Loops over jobs, cells and numbers of GPUs; each job is a fractional knapsack at given prices.

At a price of GPU time the scales of a profile in a cell enter by the lower hull of (work, cost) from the
origin: a *ladder* of steps with rising cost per work. A job takes the steps of its cells in the order of
this ratio, plus what a later moment costs, until its work is done: at its break price.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.algorithms.fractional_knapsack import BELOW_ALL, NEGLIGIBLE, Items, fill, move_bracket
from carbonopt.algorithms.kernel import kernel, managed_kernel
from carbonopt.algorithms.smoothed_knapsack import find_break_price, work_taken
from carbonopt.core.arrays import FloatArray, IntArray


class CellJobs(NamedTuple):
    """N jobs on a grid of cells.

    Attributes
    ----------
    first
        Cell of each arrival, shape (N,).
    arrival
        [min], shape (N,).
    kind
        Row of each job in the ladder, shape (N,).
    required
        Work [1-GPU min], shape (N,).
    minutes
        Length of a cell.
    """

    first: IntArray
    arrival: FloatArray
    kind: IntArray
    required: FloatArray
    minutes: float


class Ladder(NamedTuple):
    """Steps of K kinds in T cells, up to M each.

    Attributes
    ----------
    ratio
        Cost per work of each step, rising [objective a 1-GPU min], shape (K, T, M).
    gain, gpus
        Work a minute [1-GPU min] and GPUs that each step adds, shape (K, T, M).
    steps
        Number of steps, shape (K, T).
    order
        Cells in the order in which they are looked at, shape (K, T): that of time, or where a later moment costs
        nothing that of their first ratios.
    least
        Least first ratio from each of them on in this order, shape (K, T).
    """

    ratio: FloatArray
    gain: FloatArray
    gpus: FloatArray
    steps: IntArray
    order: IntArray
    least: FloatArray

    @classmethod
    def of_shape(cls, kinds: int, cells: int, gpus: int) -> Ladder:
        """Return a ladder without steps."""
        ratio, gain, added = np.zeros((3, kinds, cells, gpus))
        steps, order = np.zeros((2, kinds, cells), dtype=np.int64)
        return cls(ratio, gain, added, steps, order, np.zeros((kinds, cells)))


@managed_kernel
def ladders(
    carbon: FloatArray,
    prices: FloatArray,
    speed: FloatArray,
    watts: FloatArray,
    by_ratio: bool,
    ladder: Ladder,
) -> None:
    """Fill the steps of each kind and cell, the order of cells, and the least first ratio from each of them on."""
    ratio, gain, gpus, steps, order, least = ladder
    cost = np.zeros(speed.shape[1])
    held = np.zeros(speed.shape[1], dtype=np.int64)
    for k in range(speed.shape[0]):
        by_work = np.argsort(speed[k])  # more GPUs may do less: steps go by what is done, not by what is held
        for t in range(len(prices)):
            n = 0
            for m in by_work:
                if speed[k, m] <= 0.0:
                    continue
                cost[m] = carbon[t] * watts[k, m] + prices[t] * (m + 1)
                while True:  # differences of whole costs: sums of steps would lose the digits of a small cost
                    c = cost[m]
                    g = speed[k, m]
                    w = m + 1.0
                    if n == 0:
                        break
                    c -= cost[held[n - 1]]
                    g -= speed[k, held[n - 1]]
                    w -= held[n - 1] + 1.0
                    if c >= ratio[k, t, n - 1] * g:
                        break
                    n -= 1
                if g > 0.0:
                    ratio[k, t, n] = c / g
                    gain[k, t, n] = g
                    gpus[k, t, n] = w
                    held[n] = m
                    n += 1
            steps[k, t] = n
        order[k] = np.argsort(ratio[k, :, 0]) if by_ratio else np.arange(len(prices))
        smallest = np.inf
        for q in range(len(prices) - 1, -1, -1):
            smallest = min(smallest, ratio[k, order[k, q], 0])
            least[k, q] = smallest


@kernel
def cover(
    jobs: CellJobs,
    delay_price: float,
    shortage_price: float,
    ladder: Ladder,
    mu: FloatArray,
    load: FloatArray,
    least_bracket: float,
    items: Items,
) -> tuple[float, float, int]:
    """Cover each job's work at least cost; set `mu`, add to `load`.

    A pass over the cells adds up the steps below a bracket around the last break price and collects those
    inside; the bracket moves until the break is inside, which mostly it is at once.

    Returns
    -------
    cost : float
    moments : float
        Sum of mean moments [min].
    looked_at : int
        Cells that were looked at, over all jobs.
    """
    ratio, gain, gpus, steps, order, least = ladder
    first, arrival, kind, required, minutes = jobs
    total, moments = 0.0, 0.0
    looked_at = 0
    cells = ratio.shape[1]
    by_time = delay_price > 0.0
    for j in range(len(first)):
        k = kind[j]
        need = required[j]
        slope = delay_price / need
        start = first[j] if by_time else 0
        width = 0.02 * abs(mu[j]) + least_bracket  # smoothed, a price may be below 0
        low = mu[j] - width
        high = min(mu[j] + width, shortage_price)
        if low <= 0.0:
            low = BELOW_ALL
        below = 0.0
        inside = 0.0
        n = 0
        while True:
            below = 0.0
            inside = 0.0
            n = 0
            for q in range(start, cells):
                t = order[k, q]
                looked_at += 1
                begin = max(arrival[j], t * minutes)
                extra = slope * begin
                if least[k, q] + extra > high:
                    break
                if t < first[j]:
                    continue
                time = (t + 1) * minutes - begin
                for i in range(steps[k, t]):
                    r = ratio[k, t, i] + extra
                    if r <= low:
                        below += gain[k, t, i] * time
                    elif r <= high:
                        items.ratio[n] = r
                        items.size[n] = gain[k, t, i] * time
                        items.slot[n], items.step[n] = t, i
                        inside += items.size[n]
                        n += 1
                    else:
                        break
            width *= 4.0
            next_low, next_high = move_bracket(low, high, width, below, inside, need, BELOW_ALL, shortage_price)
            if next_low == low:
                break
            low, high = next_low, next_high
        taken, left, mu[j] = fill(items, n, below, need, shortage_price)
        for i in taken:
            t = items.slot[i]
            begin = max(arrival[j], t * minutes)
            done = items.part[i] * items.size[i]
            total += items.part[i] * items.ratio[i] * items.size[i]
            load[t] += items.part[i] * gpus[k, t, items.step[i]] * ((t + 1) * minutes - begin)
            moments += done * begin / need
        total += left * shortage_price
        for q in range(start, cells):
            t = order[k, q]
            looked_at += 1
            begin = max(arrival[j], t * minutes)
            extra = slope * begin
            if least[k, q] + extra > low:
                break
            if t < first[j]:
                continue
            time = (t + 1) * minutes - begin
            for i in range(steps[k, t]):
                r = ratio[k, t, i] + extra
                if r > low:
                    break
                total += r * gain[k, t, i] * time
                load[t] += gpus[k, t, i] * time
                moments += gain[k, t, i] * time * begin / need
    return total, moments, looked_at


@kernel
def soft_cover(
    jobs: CellJobs,
    delay_price: float,
    shortage_price: float,
    ladder: Ladder,
    mu: FloatArray,
    load: FloatArray,
    temperature: float,
    accuracy: float,
    items: Items,
) -> tuple[float, float, int]:
    """Do the same with steps taken by degrees: in proportion to their distance from the break price.

    A step whose ratio is d below the break price is taken to the share d / temperature + 1/2, cut to 0..1
    (the soft minimum with a quadratic penalty). Its root is found among the steps in a bracket, which moves as above.
    """
    ratio, gain, gpus, steps, order, least = ladder
    first, arrival, kind, required, minutes = jobs
    total, moments = 0.0, 0.0
    looked_at = 0
    cells = ratio.shape[1]
    by_time = delay_price > 0.0
    for j in range(len(first)):
        k = kind[j]
        need = required[j]
        slope = delay_price / need
        start = first[j] if by_time else 0
        width = temperature + 0.02 * mu[j]
        low = mu[j] - width
        high = min(mu[j] + width, shortage_price)
        while True:
            below = 0.0
            n = 0
            for q in range(start, cells):
                t = order[k, q]
                looked_at += 1
                begin = max(arrival[j], t * minutes)
                extra = slope * begin
                if least[k, q] + extra >= high + temperature / 2:
                    break
                if t < first[j]:
                    continue
                time = (t + 1) * minutes - begin
                for i in range(steps[k, t]):
                    r = ratio[k, t, i] + extra
                    if r >= high + temperature / 2:
                        break
                    if r <= low - temperature / 2:
                        below += gain[k, t, i] * time
                    else:
                        items.ratio[n] = r
                        items.size[n] = gain[k, t, i] * time
                        n += 1
            at_low = below + work_taken(low, temperature, items.ratio, items.size, n)[0]
            at_high = below + work_taken(high, temperature, items.ratio, items.size, n)[0]
            width *= 4.0
            next_low, next_high = move_bracket(
                low, high, width, at_low, at_high - at_low, need, -temperature, shortage_price
            )
            if next_low == low:
                break
            low, high = next_low, next_high
        price = shortage_price
        if at_high >= (1 - NEGLIGIBLE) * need:
            price = find_break_price(
                mu[j], low, high, need - below, temperature, items.ratio, items.size, n, accuracy * need
            )
        mu[j] = max(price, 0.0)  # half the temperature below 0 at most, where work costs nothing
        total += price * need
        for q in range(start, cells):
            t = order[k, q]
            looked_at += 1
            begin = max(arrival[j], t * minutes)
            top = price - slope * begin + 0.5 * temperature
            if least[k, q] >= top:
                break
            if t < first[j]:
                continue
            time = (t + 1) * minutes - begin
            for i in range(steps[k, t]):
                away = top - ratio[k, t, i]
                if away <= 0.0:
                    break
                share = min(1.0, away / temperature)
                total -= gain[k, t, i] * time * (away * share / 2 if share < 1.0 else away - 0.5 * temperature)
                load[t] += share * gpus[k, t, i] * time
                moments += share * gain[k, t, i] * time * begin / need
    return total, moments, looked_at

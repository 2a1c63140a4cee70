"""Compiled loops: when a machine is on, off, and switched."""

from __future__ import annotations

import numpy as np

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import FloatArray, IntArray


@kernel
def best_part(
    cost: FloatArray,
    must: IntArray,
    up: float,
    down: float,
    first: int,
    last: int,
    was_on: bool,
    will_be_on: bool,
    came: IntArray,
    on: IntArray,
) -> float:
    """Return the least cost of a machine in the slots from `first` to before `last`, and write where it is on.

    A dynamic program with two states in each slot: off and on. Starts and stops at both ends count.

    Parameters
    ----------
    cost
        Of being on, by slot, shape (T,); may be negative.
    must
        The machine is on at least where this is above 0, shape (T,).
    was_on, will_be_on
        Whether it is on in the slot before `first`, and in slot `last`.
    came
        Work space, shape (T, 2).
    on
        Shape (T,).
    """
    off_value, on_value = 0.0, np.inf
    if was_on:
        off_value, on_value = np.inf, 0.0
    for t in range(first, last):
        stopped = on_value + down
        started = off_value + up
        came[t, 0] = 1 if stopped < off_value else 0
        came[t, 1] = 1 if on_value <= started else 0
        next_off = min(off_value, stopped)
        on_value = min(on_value, started) + cost[t]
        off_value = np.inf if must[t] > 0 else next_off
    if will_be_on:
        off_value += up
    else:
        on_value += down
    state = 1 if on_value < off_value or (will_be_on and on_value == off_value) else 0
    for t in range(last - 1, first - 1, -1):
        on[t] = state
        state = came[t, state]
    return min(off_value, on_value)


@kernel
def bridged_part(
    cost: FloatArray,
    must: IntArray,
    up: float,
    down: float,
    first: int,
    last: int,
    was_on: bool,
    will_be_on: bool,
    on: IntArray,
) -> float:
    """Return what `best_part` returns where no cost is below 0: then a machine stays on through a gap, or is off in it.

    See `best_part`.
    """
    total = 0.0
    if not was_on and must[first] > 0:
        total += up
    if not will_be_on and must[last - 1] > 0:
        total += down
    ran = was_on
    t = first
    while t < last:
        if must[t] > 0:
            total += cost[t]
            on[t] = 1
            ran = True
            t += 1
            continue
        begin = t
        through = 0.0
        while t < last and must[t] == 0:
            through += cost[t]
            t += 1
        will_run = t < last or will_be_on
        change = 0.0
        if ran:
            change += down
        if will_run:
            change += up
        stays = 1 if ran and will_run and through <= change else 0
        on[begin:t] = stays
        total += through if stays > 0 else change
    return total


@kernel
def best_pattern(cost: FloatArray, must: IntArray, up: float, down: float, came: IntArray, on: IntArray) -> float:
    """Return the least cost of a machine over all slots, off before and after, and write where it is on."""
    return best_part(cost, must, up, down, 0, len(cost), False, False, came, on)


@kernel
def part_cost(
    cost: FloatArray, on: IntArray, up: float, down: float, first: int, last: int, was_on: bool, will_be_on: bool
) -> float:
    """Return what a pattern costs in the slots from `first` to before `last`, with starts and stops at both ends."""
    total = 0.0
    before = was_on
    for t in range(first, last):
        if on[t] > 0:
            total += cost[t]
            if not before:
                total += up
        elif before:
            total += down
        before = on[t] > 0
    if before and not will_be_on:
        total += down
    if will_be_on and not before:
        total += up
    return total


@kernel
def least_patterns(
    cost: FloatArray, up: FloatArray, down: FloatArray, none: IntArray, came: IntArray, on: IntArray
) -> float:
    """Return the sum of the least pattern costs of all machines, and write the patterns, shape (M, T)."""
    total = 0.0
    for m in range(len(up)):
        total += best_pattern(cost[m], none, up[m], down[m], came, on[m])
    return total


@kernel
def sum_while_off(cost: FloatArray, on: IntArray, first: int, sums: FloatArray) -> None:
    """Sum the cost of a machine over the slots in which it is off, from slot `first`; infinite ones have no room."""
    total = sums[first]
    for t in range(first, len(on)):
        if on[t] == 0 and cost[t] < np.inf:
            total += cost[t]
        sums[t + 1] = total

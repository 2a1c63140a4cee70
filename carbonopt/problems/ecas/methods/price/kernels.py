"""Compiled loops: on/off patterns of machines, and places of jobs on them."""

from __future__ import annotations

import numpy as np

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.ecas.methods.price.tables import State, Tables


@kernel
def best_pattern(cost: FloatArray, must: IntArray, up: float, down: float, came: IntArray, on: IntArray) -> float:
    """Return the least cost of a machine that is on at least where `must` is above 0, and write where it is on.

    A dynamic program with two states in each slot: off and on.

    Parameters
    ----------
    cost
        Of being on, by slot, shape (T,); may be negative.
    must, on
        Shape (T,).
    came
        Work space, shape (T, 2).
    """
    slots = len(cost)
    off_value, on_value = 0.0, np.inf
    for t in range(slots):
        stopped = on_value + down
        started = off_value + up
        came[t, 0] = 1 if stopped < off_value else 0
        came[t, 1] = 1 if on_value <= started else 0
        next_off = min(off_value, stopped)
        on_value = min(on_value, started) + cost[t]
        off_value = np.inf if must[t] > 0 else next_off
    state = 1 if on_value + down < off_value else 0
    for t in range(slots - 1, -1, -1):
        on[t] = state
        state = came[t, state]
    return min(off_value, on_value + down)


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
def least_starts(tables: Tables, prices: FloatArray, start: IntArray, used: FloatArray) -> float:
    """Return the sum of what jobs cost at shared prices, and write their best starts and the units they use.

    Parameters
    ----------
    prices
        Sums over the first t slots, shape (R, T + 1).
    start
        Shape (N,).
    used
        Differences of used units by slot, shape (R, T + 1): sums along the slots are the units.
    """
    total = 0.0
    resources = len(prices)
    used[:] = 0.0
    for j in range(len(start)):
        length = tables.duration[j]
        best = np.inf
        for s in range(tables.arrival[j], tables.last_start[j] + 1):
            cost = tables.kwh[j] * (tables.value[s + length] - tables.value[s])
            for r in range(resources):
                cost += tables.use[j, r] * (prices[r, s + length] - prices[r, s])
            if cost < best:
                best = cost
                start[j] = s
        for r in range(resources):
            used[r, start[j]] += tables.use[j, r]
            used[r, start[j] + length] -= tables.use[j, r]
        total += best
    return total


@kernel
def settle(tables: Tables, state: State, m: int) -> None:
    """Make the cheapest on/off pattern of a machine for the jobs that run on it."""
    state.cost[m] = best_pattern(
        tables.idle[m], state.running[m], tables.up[m], tables.down[m], state.came, state.on[m]
    )


@kernel
def change(tables: Tables, state: State, j: int, m: int, s: int, sign: int) -> None:
    """Put a job onto a machine (sign 1) or take it away (sign -1), without a new pattern."""
    for t in range(s, s + tables.duration[j]):
        state.running[m, t] += sign
        for r in range(tables.use.shape[1]):
            state.load[m, t, r] += sign * tables.use[j, r]


@kernel
def best_start(tables: Tables, state: State, prices: FloatArray, guide: float, j: int, m: int) -> tuple[float, int]:
    """Return score and start of a job's best place on a machine: infinite where there is no room.

    The score is the job's energy, the price of the room that it takes with weight `guide`, and with weight
    ``1 - guide`` what it adds to the idle energy, starts and stops.
    """
    best, where = np.inf, -1
    length = tables.duration[j]
    resources = tables.use.shape[1]
    slots = len(tables.value) - 1
    for r in range(resources):
        if tables.use[j, r] > tables.capacity[m, r]:
            return best, where
    first = tables.arrival[j]
    blocked = -1
    added, busy = 0.0, 0  # over the last `length` slots: idle energy where the machine is off, slots where it is on
    for t in range(first, tables.last_start[j] + length):
        for r in range(resources):
            if state.load[m, t, r] + tables.use[j, r] > tables.capacity[m, r]:
                blocked = t
        if state.on[m, t] > 0:
            busy += 1
        else:
            added += tables.idle[m, t]
        s = t - length + 1
        if s < first:
            continue
        if s > first:
            if state.on[m, s - 1] > 0:
                busy -= 1
            else:
                added -= tables.idle[m, s - 1]
        if blocked >= s:
            continue
        new = added
        if busy == 0 and not (s > 0 and state.on[m, s - 1] > 0) and not (t + 1 < slots and state.on[m, t + 1] > 0):
            new += tables.up[m] + tables.down[m]
        score = tables.kwh[j] * (tables.value[s + length] - tables.value[s]) + (1 - guide) * new
        for r in range(resources):
            score += guide * tables.use[j, r] * (prices[r, s + length] - prices[r, s])
        if score < best:
            best, where = score, s
    return best, where


@kernel
def place(tables: Tables, state: State, j: int, m: int, s: int) -> None:
    """Give a job its place, and the machine its pattern."""
    state.machine[j], state.start[j] = m, s
    change(tables, state, j, m, s, 1)
    settle(tables, state, m)


@kernel
def place_anywhere(tables: Tables, state: State, prices: FloatArray, guide: float, j: int) -> bool:
    """Give a job its best place of all machines; return whether there is one."""
    best = np.inf
    machine = -1
    where = -1
    for m in range(len(tables.up)):
        score, s = best_start(tables, state, prices, guide, j, m)
        if score < best:
            best = score
            machine = m
            where = s
    if machine >= 0:
        place(tables, state, j, machine, where)
    return machine >= 0


@kernel
def fill(tables: Tables, state: State, prices: FloatArray, guide: float, order: IntArray) -> None:
    """Give jobs their best places one after the other, where they have one."""
    for j in order:
        place_anywhere(tables, state, prices, guide, j)

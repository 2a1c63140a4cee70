"""Compiled loops: places of jobs on machines, and what they change."""

from __future__ import annotations

import numpy as np

from carbonopt.algorithms.kernel import kernel, managed_kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.ecas.methods.price.patterns import (
    best_part,
    best_pattern,
    bridged_part,
    part_cost,
    sum_while_off,
)
from carbonopt.problems.ecas.methods.price.tables import Ranking, State, Tables


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
    sum_while_off(tables.idle[m], state.on[m], 0, state.off_cost[m])


@kernel
def change(tables: Tables, state: State, j: int, m: int, s: int, sign: int) -> None:
    """Put a job onto a machine (sign 1) or take it away (sign -1), without a new pattern."""
    for t in range(s, s + tables.duration[j]):
        state.running[m, t] += sign
        for w in range(tables.need.shape[1]):
            state.free[m, w, t] -= sign * tables.need[j, w]


@kernel
def move(tables: Tables, state: State, j: int, m: int, s: int, sign: int) -> None:
    """Put a job onto a machine (sign 1) or take it away (sign -1), and make the machine's pattern anew.

    The pattern must be the best one for the jobs that run before. A machine is on wherever a job runs, so its pattern
    changes no further than to the next slots on both sides of the job in which another one runs. The loop is that of
    `change`: a call with the tables takes about as long as the loop.
    """
    end = s + tables.duration[j]
    slots = len(tables.value) - 1
    on = state.on[m]
    running = state.running[m]
    is_as_before = True
    for t in range(s, end):
        for w in range(tables.need.shape[1]):
            state.free[m, w, t] -= sign * tables.need[j, w]
        running[t] += sign
        # on already, or still with a job: the same pattern is the best one
        if (sign > 0 and on[t] == 0) or (sign < 0 and running[t] == 0):
            is_as_before = False
    state.machine[j] = m if sign > 0 else -1
    state.start[j] = s
    if is_as_before:
        return
    first = s
    while first > 0 and running[first - 1] == 0:
        first -= 1
    last = end
    while last < slots and running[last] == 0:
        last += 1
    up = tables.up[m]
    down = tables.down[m]
    was_on = first > 0
    will_be_on = last < slots
    idle = tables.idle[m]
    before = part_cost(idle, on, up, down, first, last, was_on, will_be_on)
    if tables.least_idle[m] < 0:
        after = best_part(idle, running, up, down, first, last, was_on, will_be_on, state.came, on)
    else:
        after = bridged_part(idle, running, up, down, first, last, was_on, will_be_on, on)
    state.cost[m] += after - before
    sum_while_off(idle, on, first, state.off_cost[m])


@kernel
def overfull(tables: Tables, state: State, m: int, first: int, end: int) -> int:
    """Return the first slot in which a machine has too little of something; -1 if it has enough."""
    for t in range(first, end):
        for w in range(tables.need.shape[1]):
            guards = tables.fields.guards[w]
            if state.free[m, w, t] & guards != guards:
                return t
    return -1


@kernel
def best_place(
    tables: Tables, state: State, ranking: Ranking, j: int, machines: IntArray, factor: FloatArray
) -> tuple[int, int]:
    """Return machine and start of a job's best place on some machines: (-1, -1) where none has room.

    The score is that of the ranking, and what the place adds to the idle energy, starts and stops, with weight
    ``1 - guide``. Starts come in the order of the ranking: those that cannot score below the best are never looked at.
    Whether a start has room is known from the next slot without room. All is in one loop: to pass the tables on to a
    function of its own for each machine takes longer than its work (measured).

    Parameters
    ----------
    machines
        Those to look at, in this order; below 0 for none.
    factor
        Of the score on each of them, at least 1.
    """
    best, machine, where = np.inf, -1, -1
    length = tables.duration[j]
    slots = len(tables.value) - 1
    weight = 1 - ranking.guide
    for k in range(len(machines)):
        m = machines[k]
        if m < 0 or (tables.own[j] >= 0 and tables.own[j] != m):
            continue
        least_added = weight * tables.least_idle[m]
        if ranking.first[j] == ranking.first[j + 1] or ranking.score[ranking.first[j]] + least_added >= best:
            continue
        arrival = tables.arrival[j]
        window = tables.last_start[j] + length - arrival
        room = state.room[:window]
        room[:] = 0
        for w in range(tables.need.shape[1]):
            guards = tables.fields.guards[w]
            need = tables.need[j, w]
            free = state.free[m, w, arrival : arrival + window]
            for t in range(window):
                room[t] |= ~(free[t] - need) & guards
        full = arrival + window
        for t in range(window):
            back = window - 1 - t
            full = arrival + back if room[back] != 0 else full
            room[back] = full
        for i in range(ranking.first[j], ranking.first[j + 1]):
            if ranking.score[i] + least_added >= best:
                break
            s = ranking.start[i]
            end = s + length
            if room[s - arrival] < end:
                continue
            added = state.off_cost[m, end] - state.off_cost[m, s]
            score = ranking.score[i] + weight * added
            score += abs(score) * (factor[k] - 1)
            if score >= best:
                continue
            is_on = 0
            for t in range(max(s - 1, 0), min(end + 1, slots)):
                is_on += state.on[m, t]
            if is_on == 0:
                score = ranking.score[i] + weight * (added + tables.up[m] + tables.down[m])
                score += abs(score) * (factor[k] - 1)
            if score < best:
                best, machine, where = score, m, s
    return machine, where


@managed_kernel
def place_anywhere(tables: Tables, state: State, ranking: Ranking, j: int) -> bool:
    """Give a job its best place of all machines; return whether there is one."""
    machines = len(tables.up)
    m, s = best_place(tables, state, ranking, j, np.arange(machines), np.ones(machines))
    if m >= 0:
        move(tables, state, j, m, s, 1)
    return m >= 0


@kernel
def fill(tables: Tables, state: State, ranking: Ranking, order: IntArray) -> None:
    """Give jobs their best places one after the other, where they have one."""
    for j in order:
        place_anywhere(tables, state, ranking, j)

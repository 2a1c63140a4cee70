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
def settle(tables: Tables, state: State, m: int) -> None:
    """Make the cheapest on/off pattern of a machine for the jobs that run on it."""
    state.cost[m] = best_pattern(
        tables.idle[m], state.running[m], tables.up[m], tables.down[m], state.came, state.on[m]
    )
    sum_while_off(tables.idle[m], state.on[m], 0, state.off_cost[m])


@kernel
def change(tables: Tables, state: State, j: int, m: int, s: int, sign: int) -> None:
    """Put a job onto a machine (sign 1) or take it away (sign -1), without a new pattern."""
    end = s + tables.duration[j]
    running = state.running[m, s:end]
    for t in range(len(running)):
        running[t] += sign
    for w in range(tables.need.shape[1]):
        need = sign * tables.need[j, w]
        free = state.free[m, w, s:end]
        for t in range(len(free)):
            free[t] -= need


@kernel
def move(tables: Tables, state: State, j: int, m: int, s: int, sign: int) -> None:
    """Put a job onto a machine (sign 1) or take it away (sign -1), and make the machine's pattern anew.

    The pattern must be the best one for the jobs that run before. A machine is on wherever a job runs, so its pattern
    changes no further than to the next slots on both sides of the job in which another one runs.
    """
    change(tables, state, j, m, s, sign)
    end = s + tables.duration[j]
    slots = len(tables.value) - 1
    on = state.on[m]
    running = state.running[m]
    changed = 0  # slots that are on already, or still have a job, leave the pattern the best one
    if sign > 0:
        here = on[s:end]
        for t in range(len(here)):
            changed += 1 - here[t]
    else:
        here = running[s:end]
        for t in range(len(here)):
            changed += here[t] == 0
    state.machine[j] = m if sign > 0 else -1
    state.start[j] = s
    if changed == 0:
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
def lacks_before(tables: Tables, state: State, j: int, m: int, arrival: int, lacks: IntArray) -> None:
    """Write by slot of a job's window whether it lacks something of the words before the last: 0 where it does not."""
    for t in range(len(lacks)):
        lacks[t] = 0
    for w in range(tables.need.shape[1] - 1):
        guards = tables.fields.guards[w]
        need = tables.need[j, w]
        free = state.free[m, w, arrival : arrival + len(lacks)]
        for t in range(len(lacks)):
            lacks[t] |= ~(free[t] - need) & guards


@kernel
def best_place(
    tables: Tables, state: State, ranking: Ranking, j: int, machines: IntArray, factor: FloatArray
) -> tuple[int, int]:
    """Return machine and start of a job's best place on some machines: (-1, -1) where none has room.

    The score is that of the ranking, and what the place adds to the idle energy, starts and stops, with weight
    ``1 - guide``. Starts come in the order of the ranking: those that cannot score below the best are never looked at.
    Whether a start has room is known from the last slot without room before its end. Rows are taken as slices: of an
    index that it reads, numba asks whether it is below 0.

    Parameters
    ----------
    machines
        Those to look at, in this order; below 0 for none.
    factor
        Of the score on each of them, at least 1.
    """
    best, machine, where = np.inf, -1, -1
    rows = slice(ranking.first[j], ranking.first[j + 1])
    starts = ranking.start[rows]
    scores = ranking.score[rows]
    if len(starts) == 0:
        return machine, where
    slots = len(tables.value) - 1
    weight = 1 - ranking.guide
    length = tables.duration[j]
    arrival = tables.arrival[j]
    window = tables.last_start[j] + length - arrival
    last_word = tables.need.shape[1] - 1
    full = state.full[:window]
    for k in range(len(machines)):
        m = machines[k]
        if m < 0 or (tables.own[j] >= 0 and tables.own[j] != m):
            continue
        least_added = weight * tables.least_idle[m]
        if scores[0] + least_added >= best:
            continue
        if last_word > 0:
            lacks_before(tables, state, j, m, arrival, full)
        guards = tables.fields.guards[last_word]
        need = tables.need[j, last_word]
        free = state.free[m, last_word, arrival : arrival + window]
        last = -1
        for t in range(window):
            lack = ~(free[t] - need) & guards
            if last_word > 0:
                lack |= full[t]
            last = t if lack != 0 else last
            full[t] = last
        off_cost = state.off_cost[m]
        for i in range(len(starts)):
            if scores[i] + least_added >= best:
                break
            s = starts[i]
            if full[s - arrival + length - 1] >= s - arrival:
                continue
            end = s + length
            added = off_cost[end] - off_cost[s]
            score = scores[i] + weight * added
            score += abs(score) * (factor[k] - 1)
            if score >= best:
                continue
            is_on = 0
            around = state.on[m, max(s - 1, 0) : min(end + 1, slots)]
            for t in range(len(around)):
                is_on += around[t]
            if is_on == 0:
                score = scores[i] + weight * (added + tables.up[m] + tables.down[m])
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

"""Compiled loops of the repair: a job without a place takes one by force, and those in its way look for another."""

from __future__ import annotations

import numpy as np

from carbonopt.algorithms.kernel import kernel, managed_kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.ecas.methods.price.kernels import change, overfull, place_anywhere, settle
from carbonopt.problems.ecas.methods.price.tables import Ranking, State, Tables

MOST_EJECTED = 64
"""Jobs that one job forces out at most."""


@kernel
def fits_machine(tables: Tables, j: int, m: int) -> bool:
    """Return whether a job may run on a machine that is empty."""
    missing = 1 if tables.own[j] >= 0 and tables.own[j] != m else 0
    for r in range(tables.use.shape[1]):
        missing += max(0, tables.use[j, r] - tables.capacity[m, r])
    return missing == 0


@kernel
def short_of(tables: Tables, state: State, m: int, t: int) -> int:
    """Return the first resource of which a machine has too little in a slot; -1 if it has enough."""
    for r in range(tables.use.shape[1]):
        if state.free[m, tables.fields.word[r], t] & tables.fields.guard[r] == 0:
            return r
    return -1


@kernel
def force(
    tables: Tables, state: State, patience: FloatArray, j: int, m: int, s: int, least: float, out: IntArray
) -> tuple[float, int]:
    """Put a job onto a machine and take others off until it fits; all books but patterns are kept.

    Parameters
    ----------
    patience
        How often each job found no place, shape (N,): the sum over those taken off is what the place costs.
    least
        Cost from which on it is not worth going on.
    out
        The jobs taken off are written here.

    Returns
    -------
    cost : float
        At least `least` where it gave up.
    count : int
        Jobs taken off.
    """
    change(tables, state, j, m, s, 1)
    cost = 0.0
    count = 0
    end = s + tables.duration[j]
    slot = overfull(tables, state, m, s, end)
    while slot >= 0 and cost < least:
        resource = short_of(tables, state, m, slot)
        if resource < 0:  # not available
            cost = np.inf
            break
        best = 0.0
        chosen = -1
        for i in range(len(state.machine)):
            if state.machine[i] != m or tables.use[i, resource] == 0:
                continue
            if state.start[i] > slot or state.start[i] + tables.duration[i] <= slot:
                continue
            # the room it frees where there is too little, over what it costs to take it off
            overlap = min(end, state.start[i] + tables.duration[i]) - slot
            worth = tables.use[i, resource] * overlap / patience[i]
            if worth > best:
                best = worth
                chosen = i
        if chosen < 0 or count >= len(out):
            cost = np.inf
            break
        change(tables, state, chosen, m, state.start[chosen], -1)
        state.machine[chosen] = -1
        out[count] = chosen
        count += 1
        cost += patience[chosen]
        slot = overfull(tables, state, m, slot, end)
    return cost, count


@kernel
def take_back(tables: Tables, state: State, j: int, m: int, s: int, out: IntArray, count: int) -> None:
    """Undo `force`."""
    change(tables, state, j, m, s, -1)
    for k in range(count):
        state.machine[out[k]] = m
        change(tables, state, out[k], m, state.start[out[k]], 1)


@kernel
def drawn_place(tables: Tables, j: int, random: FloatArray) -> tuple[int, int]:
    """Return a random machine, or the only one, and a random start of a job."""
    machines = len(tables.up)
    starts = tables.last_start[j] - tables.arrival[j] + 1
    m = min(int(random[0] * machines), machines - 1)
    if tables.own[j] >= 0:
        m = tables.own[j]
    s = tables.arrival[j] + min(int(random[1] * starts), starts - 1)
    return m, s


@kernel
def wander(tables: Tables, state: State, random: FloatArray) -> None:
    """Give a random job another random place if it fits there."""
    jobs = len(state.machine)
    j = min(int(random[0] * jobs), jobs - 1)
    old_machine = state.machine[j]
    old_start = state.start[j]
    if old_machine < 0:
        return
    m, s = drawn_place(tables, j, random[1:])
    change(tables, state, j, old_machine, old_start, -1)
    change(tables, state, j, m, s, 1)
    if overfull(tables, state, m, s, s + tables.duration[j]) >= 0:
        change(tables, state, j, m, s, -1)
        change(tables, state, j, old_machine, old_start, 1)
        return
    state.machine[j] = m
    state.start[j] = s
    settle(tables, state, old_machine)
    settle(tables, state, m)


@managed_kernel
def eject(
    tables: Tables,
    state: State,
    ranking: Ranking,
    patience: FloatArray,
    waiting: IntArray,
    count: int,
    tries: int,
    wanders: int,
    random: FloatArray,
) -> int:
    """Give waiting jobs places until none waits or the random numbers are used up.

    A job takes its best place if there is one. Else it is the less patient for it, and of `tries` random places it
    takes the one from which it forces the most patient jobs; these wait then, and `wanders` other jobs move.

    Parameters
    ----------
    patience
        Is changed; see `force`.
    waiting
        Jobs without a place, shape (N,), the first `count` of them; the last one is next.

    Returns
    -------
    int
        How many still wait.
    """
    out = np.zeros(MOST_EJECTED, dtype=np.int64)
    at = 0
    needed = 2 * tries + 3 * wanders
    while count > 0 and at + needed <= len(random):
        j = waiting[count - 1]
        if place_anywhere(tables, state, ranking, j):
            count -= 1
            continue
        patience[j] += 1
        least = np.inf
        machine = -1
        start = 0
        for k in range(tries):
            m, s = drawn_place(tables, j, random[at + 2 * k :])
            if not fits_machine(tables, j, m):
                continue
            cost, ejected = force(tables, state, patience, j, m, s, least, out)
            take_back(tables, state, j, m, s, out, ejected)
            if cost < least:
                least = cost
                machine = m
                start = s
        at += 2 * tries
        if machine >= 0:
            count -= 1
            cost, ejected = force(tables, state, patience, j, machine, start, np.inf, out)
            for k in range(ejected):
                waiting[count] = out[k]
                count += 1
            state.machine[j] = machine
            state.start[j] = start
            settle(tables, state, machine)
        for k in range(wanders):
            wander(tables, state, random[at + 3 * k :])
        at += 3 * wanders
    return count

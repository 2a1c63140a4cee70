"""Insertion, and ruin and recreate under hard capacities: take out a few jobs that share a slot, put each back exactly.

Jobs are priced at CI_t + theta lambda_t under the room that is left, with theta drawn anew for each
move. Which job to move is drawn by its excess (reduced cost above its least), or from a slot whose
priced room is left unused: the two together are the gap. A job without a plan counts a high price.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.algorithms.kernel import kernel, managed_kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.elastic.methods.price.plans.pricing import price_job
from carbonopt.problems.elastic.methods.price.plans.table import Scratch, Table


class Draws(NamedTuple):
    """How a move is drawn: fields of `RepairParameters`, as kernels take them."""

    tournament: int
    most_removed: int
    tries: int
    most_price_factor: float
    excess_share: float


class State(NamedTuple):
    """A schedule of N jobs in T slots and what the search needs to change it.

    Attributes
    ----------
    level, best
        Levels of all jobs, in the flat order of the table: now, and in the best schedule so far.
    room
        Servers that each slot has left, shape (T,).
    carbon
        Of each job's plan [g]; `unplanned` where it has none, shape (N,).
    excess
        Of each plan's reduced cost over the least one of its job [g], shape (N,).
    guess
        Break price of each job when it was last priced, shape (N,).
    price, least
        Slot prices [g per server] and each job's least reduced cost at them, shapes (T,) and (N,).
    unplanned
        What a job without a plan counts [g], shape (1,).
    slot_first, slot_job
        Jobs whose window holds slot t are ``slot_job[slot_first[t]:slot_first[t + 1]]``.
    total
        Carbon of the schedule now, and of the best, shape (2,).
    kept
        Work space for the plans that a move removes.
    draws
        How a move is drawn.
    """

    level: IntArray
    best: IntArray
    room: IntArray
    carbon: FloatArray
    excess: FloatArray
    guess: FloatArray
    price: FloatArray
    least: FloatArray
    unplanned: FloatArray
    slot_first: IntArray
    slot_job: IntArray
    total: FloatArray
    kept: IntArray
    draws: Draws


@kernel
def lift(j: int, sign: int, tab: Table, state: State) -> None:
    """Give the servers of job j's plan back to the slots (`sign` 1), or take them (-1)."""
    at = tab.offset[j]
    first = tab.first[j]
    p = tab.profile[j]
    for i in range(tab.width[j]):
        state.room[first + i] += sign * tab.servers[p, state.level[at + i]]


@kernel
def settle(j: int, tab: Table, state: State) -> None:
    """Set carbon and excess of job j from its levels."""
    at = tab.offset[j]
    first = tab.first[j]
    p = tab.profile[j]
    carbon = 0.0
    paid = 0.0
    runs = False
    for i in range(tab.width[j]):
        k = state.level[at + i]
        if k > 0:
            carbon += tab.intensity[first + i] * tab.energy[p, k]
            paid += state.price[first + i] * tab.servers[p, k]
            runs = True
    if not runs:
        carbon = state.unplanned[0]
    state.carbon[j] = carbon
    state.excess[j] = carbon + paid - state.least[j]


@kernel
def insert(j: int, theta: float, tab: Table, scr: Scratch, state: State) -> bool:
    """Put job j in at CI + theta x price where there is room; return whether it fits."""
    at = tab.offset[j]
    n = tab.width[j]
    out = state.level[at : at + n]
    cost, _, mu = price_job(j, state.price, theta, state.room, state.guess[j], out, tab, scr)
    fits = cost < np.inf
    if fits:
        state.guess[j] = mu
        lift(j, -1, tab, state)
    else:
        out[:] = 0
    settle(j, tab, state)
    return bool(fits)


@kernel
def insert_all(order: IntArray, theta: float, tab: Table, scr: Scratch, state: State) -> int:
    """Insert jobs one after the other; return how many do not fit."""
    failed = 0
    for j in order:
        if not insert(j, theta, tab, scr, state):
            failed += 1
    return failed


@managed_kernel
def draw_job(rng: np.random.Generator, tab: Table, state: State) -> tuple[int, int]:
    """Draw a job and a slot of its window: by the job's excess, or by priced room that is left unused."""
    jobs = len(tab.first)
    slots = len(state.room)
    if rng.random() >= state.draws.excess_share:
        t = rng.integers(0, slots)
        for _ in range(state.draws.tournament):
            other = rng.integers(0, slots)
            if state.price[other] * state.room[other] > state.price[t] * state.room[t]:
                t = other
        begin = state.slot_first[t]
        end = state.slot_first[t + 1]
        if end > begin:
            return int(state.slot_job[begin + rng.integers(0, end - begin)]), int(t)
    j = rng.integers(0, jobs)
    for _ in range(state.draws.tournament):
        other = rng.integers(0, jobs)
        if state.excess[other] > state.excess[j]:
            j = other
    return int(j), int(tab.first[j] + rng.integers(0, tab.width[j]))


@managed_kernel
def draw_others(j: int, t: int, taken: IntArray, rng: np.random.Generator, tab: Table, state: State) -> int:
    """Fill `taken` with job j and some others that run in slot t; return how many."""
    taken[0], count = j, 1
    begin = state.slot_first[t]
    end = state.slot_first[t + 1]
    wanted = 2 + rng.integers(0, state.draws.most_removed - 1)
    for _ in range(state.draws.tries):
        if count == wanted:
            break
        other = state.slot_job[begin + rng.integers(0, end - begin)]
        fresh = state.level[tab.offset[other] + t - tab.first[other]] > 0
        for k in range(count):
            fresh = fresh and taken[k] != other
        if fresh:
            taken[count] = other
            count += 1
    first = rng.integers(0, count)
    taken[0], taken[first] = taken[first], taken[0]  # each may be the one that is put back first
    return count


@managed_kernel
def search(
    steps: int, rng: np.random.Generator, hot: float, cold: float, tab: Table, scr: Scratch, state: State
) -> None:
    """Run `steps` moves, accepted by Metropolis's rule at temperatures from `hot` to `cold` [g]."""
    taken = np.zeros(state.draws.most_removed, dtype=np.int64)
    for step in range(steps):
        heat = hot * (cold / hot) ** (step / steps)
        j, t = draw_job(rng, tab, state)
        count = draw_others(j, t, taken, rng, tab, state)
        before = 0.0
        for k in range(count):
            j = taken[k]
            at = tab.offset[j]
            n = tab.width[j]
            state.kept[k, :n] = state.level[at : at + n]
            before += state.carbon[j]
            lift(j, 1, tab, state)
        limit = before - heat * np.log(1.0 - rng.random())
        theta = state.draws.most_price_factor * rng.random()
        after, done = 0.0, 0
        while done < count and after <= limit:
            insert(taken[done], theta, tab, scr, state)
            after += state.carbon[taken[done]]
            done += 1
        if after <= limit:
            state.total[0] += after - before
            if state.total[0] < state.total[1] * (1 - 1e-12):
                state.total[1] = state.total[0]
                state.best[:] = state.level
            continue
        for k in range(done):
            lift(taken[k], 1, tab, state)
        for k in range(count):
            j = taken[k]
            at = tab.offset[j]
            n = tab.width[j]
            state.level[at : at + n] = state.kept[k, :n]
            lift(j, -1, tab, state)
            settle(j, tab, state)

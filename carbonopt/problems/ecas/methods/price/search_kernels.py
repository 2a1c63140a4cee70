"""Compiled loops of the search: ruin around a job, recreate, and keep or undo."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.ecas.methods.price.kernels import best_start, change, place, place_anywhere, settle
from carbonopt.problems.ecas.methods.price.tables import State, Tables

NOISE_LEAST = 1e-12
"""Least number whose logarithm is taken."""


class Moves(NamedTuple):
    """How the search recreates what it ruins: see `SearchParameters`.

    Attributes
    ----------
    guide
        Weight of the prices of room in the score of a place, from 0 to 1.
    noise
        Largest random addition to a score, relative to it.
    offered
        Random machines that each job is offered, beside its own.
    reach
        Slots around a job within which others are taken out with it.
    """

    guide: float
    noise: float
    offered: int
    reach: int


@kernel
def energy_of(tables: Tables, state: State, j: int) -> float:
    """Return what a job adds to the objective by itself."""
    s = state.start[j]
    value: float = tables.kwh[j] * (tables.value[s + tables.duration[j]] - tables.value[s])
    if state.machine[j] < 0:
        value = tables.penalty[j]
    return value


@kernel
def value_of(tables: Tables, state: State) -> float:
    """Return the objective, with the penalty of each job that has no place."""
    total = 0.0
    for m in range(len(state.cost)):
        total += state.cost[m]
    for j in range(len(state.machine)):
        total += energy_of(tables, state, j)
    return total


@kernel
def choose_jobs(tables: Tables, state: State, random: FloatArray, reach: int, taken: IntArray) -> int:
    """Write jobs to take out around a random one, in `taken`, and return how many.

    They run beside it within `reach` slots: on its machine, on its machine and another one, or anywhere.
    Jobs without a place come first.
    """
    jobs = len(state.machine)
    machines = len(tables.up)
    j = min(int(random[0] * jobs), jobs - 1)
    count = 1
    taken[0] = j
    most = 2 + int(random[1] * (len(taken) - 1))
    most = min(most, len(taken))
    middle = state.start[j] + tables.duration[j] // 2
    half = 1 + int(random[2] * reach)
    m1 = state.machine[j]
    m2 = state.machine[j]
    anywhere = random[3] < 1 / 3
    if random[3] > 2 / 3:
        m2 = min(int(random[4] * machines), machines - 1)
    offset = int(random[5] * jobs)
    for k in range(jobs):
        if count >= most:
            break
        i = offset + k
        if i >= jobs:
            i -= jobs
        if i == j:
            continue
        if state.machine[i] < 0:
            taken[count] = i
            count += 1
            continue
        if not anywhere and state.machine[i] != m1 and state.machine[i] != m2:
            continue
        if state.start[i] >= middle + half or state.start[i] + tables.duration[i] <= middle - half:
            continue
        taken[count] = i
        count += 1
    return count


@kernel
def sort_by_size(tables: Tables, taken: IntArray, count: int, random: FloatArray, key: FloatArray) -> None:
    """Sort the jobs by size with noise, largest first."""
    for k in range(count):
        key[k] = tables.size[taken[k]] * (0.3 + random[k])
    for k in range(1, count):
        j = taken[k]
        value = key[k]
        i = k
        while i > 0 and key[i - 1] < value:
            taken[i] = taken[i - 1]
            key[i] = key[i - 1]
            i -= 1
        taken[i], key[i] = j, value


@kernel
def refill(
    tables: Tables,
    state: State,
    prices: FloatArray,
    moves: Moves,
    j: int,
    old: int,
    random: FloatArray,
) -> None:
    """Give a job the best place of a few random machines and of the one where it was; of all if these have none."""
    machines = len(tables.up)
    best = np.inf
    machine = -1
    where = -1
    for k in range(moves.offered + 1):
        m = old if k == moves.offered else min(int(random[2 * k] * machines), machines - 1)
        if m < 0:
            continue
        score, s = best_start(tables, state, prices, moves.guide, j, m)
        if s < 0:
            continue
        score += abs(score) * moves.noise * random[2 * k + 1]
        if score < best:
            best = score
            machine = m
            where = s
    if machine < 0:
        place_anywhere(tables, state, prices, moves.guide, j)
    else:
        place(tables, state, j, machine, where)


@kernel
def search(
    tables: Tables,
    state: State,
    prices: FloatArray,
    moves: Moves,
    temperature: float,
    random: FloatArray,
    taken: IntArray,
    value: float,
    best: float,
    best_machine: IntArray,
    best_start_of: IntArray,
) -> tuple[float, float, int]:
    """Ruin and recreate until the random numbers are used up.

    Returns value, best value, and the number of moves; the best schedule is written.
    """
    most = len(taken)
    old_machine = np.zeros(most, dtype=np.int64)
    old_start = np.zeros(most, dtype=np.int64)
    key = np.zeros(most)
    touched = np.zeros(len(tables.up), dtype=np.int64)
    at = 0
    made = 0
    needed = 8 + most + most * (2 * moves.offered + 2)
    while at + needed <= len(random):
        count = choose_jobs(tables, state, random[at:], moves.reach, taken)
        at += 7
        sort_by_size(tables, taken, count, random[at:], key)
        at += count
        before = 0.0
        touched[:] = 0
        for k in range(count):
            j = taken[k]
            m = state.machine[j]
            old_machine[k] = m
            old_start[k] = state.start[j]
            before += energy_of(tables, state, j)
            if m >= 0:
                change(tables, state, j, m, state.start[j], -1)
                touched[m] = 1
                state.machine[j] = -1
        fixed = state.cost.sum()
        for m in range(len(touched)):
            if touched[m] > 0:
                settle(tables, state, m)
        for k in range(count):
            refill(tables, state, prices, moves, taken[k], old_machine[k], random[at:])
            at += 2 * moves.offered + 2
        after = 0.0
        for k in range(count):
            j = taken[k]
            after += energy_of(tables, state, j)
            if state.machine[j] >= 0:
                touched[state.machine[j]] = 1
        change_of_value = after - before + state.cost.sum() - fixed
        made += 1
        if change_of_value <= -temperature * np.log(max(random[at], NOISE_LEAST)):
            at += 1
            value += change_of_value
            if value < best - 1e-12 * abs(best):
                best = value
                best_machine[:] = state.machine
                best_start_of[:] = state.start
            continue
        at += 1
        for k in range(count):
            j = taken[k]
            if state.machine[j] >= 0:
                change(tables, state, j, state.machine[j], state.start[j], -1)
        for k in range(count):
            j = taken[k]
            state.machine[j] = old_machine[k]
            state.start[j] = old_start[k]
            if old_machine[k] >= 0:
                change(tables, state, j, old_machine[k], old_start[k], 1)
        for m in range(len(touched)):
            if touched[m] > 0:
                settle(tables, state, m)
    return value, best, made

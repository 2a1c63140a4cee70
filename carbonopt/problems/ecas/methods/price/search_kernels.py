"""Compiled loops of the search: ruin around a job, recreate, and keep or undo."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.algorithms.kernel import kernel, managed_kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.ecas.methods.price.kernels import best_place, change, move
from carbonopt.problems.ecas.methods.price.ruin_kernels import (
    DRAWS,
    Members,
    choose_jobs,
    choose_to_close,
    join,
    leave,
    shut,
)
from carbonopt.problems.ecas.methods.price.tables import Ranking, State, Tables

NOISE_LEAST = 1e-12
"""Least number whose logarithm is taken."""


class Moves(NamedTuple):
    """How the search recreates what it ruins: see `SearchParameters`.

    Attributes
    ----------
    noise
        Largest random addition to a score, relative to it.
    offered
        Random machines that each job is offered, beside its own.
    reach
        Slots around a job within which others are taken out with it.
    closing
        Share of moves that close a machine for a while.
    others
        Machines that make room for its jobs, at most.
    """

    noise: float
    offered: int
    reach: int
    closing: float
    others: int


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
def offer(moves: Moves, old: int, count: int, random: FloatArray, machines: IntArray, factor: FloatArray) -> None:
    """Write the machines that a job is offered of so many, its own first, and the noise of their scores."""
    for k in range(len(machines)):
        machines[k] = int(random[2 * k] * count)
        factor[k] = 1 + moves.noise * random[2 * k + 1]
    machines[0] = old


@managed_kernel
def search(
    tables: Tables,
    state: State,
    ranking: Ranking,
    plain: Ranking,
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

    A machine that is closed has no room in its window while jobs are put back. These are put where they add least to
    the objective (`plain`): by prices, they would not mind to open another machine.

    Returns value, best value, and the number of moves; the best schedule is written.
    """
    most = len(taken)
    old_machine = np.zeros(most, dtype=np.int64)
    old_start = np.zeros(most, dtype=np.int64)
    key = np.zeros(most)
    machines = len(tables.up)
    touched = np.zeros(machines, dtype=np.int64)
    old_on = np.zeros((machines, state.on.shape[1]), dtype=np.int64)
    old_cost = np.zeros(machines)
    old_off_cost = np.zeros_like(state.off_cost)
    offered = np.zeros(moves.offered + 1, dtype=np.int64)
    factor = np.ones(moves.offered + 1)
    jobs = len(state.machine)
    around = np.zeros(jobs, dtype=np.int64)
    members = Members(
        np.full(machines + 1, -1, dtype=np.int64), np.zeros(jobs, dtype=np.int64), np.zeros(jobs, dtype=np.int64)
    )
    for j in range(jobs):
        join(members, j, state.machine[j] if state.machine[j] >= 0 else machines)
    everyone = np.arange(machines)
    ones = np.ones(machines)
    at = 0
    made = 0
    needed = 2 * DRAWS + 5 + 2 * most + most * (2 * moves.offered + 2)
    while at + needed <= len(random):
        closed = -1
        first = 0
        end = 0
        if random[at] < moves.closing:
            count, closed, first, end = choose_to_close(
                tables, state, members, random[at + 1 :], moves.reach, moves.others, around, taken
            )
            at += 2 * DRAWS + 4 + most
        else:
            count = choose_jobs(tables, state, members, random[at + 1 :], moves.reach, around, taken)
            at += 7 + most
        if count == 0:
            made += 1
            continue
        sort_by_size(tables, taken, count, random[at:], key)
        at += count
        most_change = -temperature * np.log(max(random[at], NOISE_LEAST))
        at += 1
        touched[:] = 0
        change_of_value = 0.0
        to_come = 0.0
        for k in range(count):
            j = taken[k]
            to_come += tables.least_energy[j]
            m = state.machine[j]
            old_machine[k] = m
            old_start[k] = state.start[j]
            change_of_value -= energy_of(tables, state, j)
            leave(members, j, m if m >= 0 else machines)
            if m >= 0:
                if touched[m] == 0:
                    touched[m] = 1
                    old_on[m] = state.on[m]
                    old_cost[m] = state.cost[m]
                    old_off_cost[m] = state.off_cost[m]
                move(tables, state, j, m, state.start[j], -1)
        for m in range(machines):
            if touched[m] > 0:
                change_of_value += state.cost[m] - old_cost[m]
        starts = ranking
        if closed >= 0:
            starts = plain
            shut(tables, state, closed, first, end, 1)
        placed = 0
        while placed < count and change_of_value + to_come <= most_change:
            k = placed
            j = taken[k]
            offer(moves, old_machine[k], machines, random[at:], offered, factor)
            at += 2 * moves.offered + 2
            m, s = best_place(tables, state, starts, j, offered, factor)
            if m < 0:
                m, s = best_place(tables, state, starts, j, everyone, ones)
            if m >= 0:
                if touched[m] == 0:
                    touched[m] = 1
                    old_on[m] = state.on[m]
                    old_cost[m] = state.cost[m]
                    old_off_cost[m] = state.off_cost[m]
                change_of_value -= state.cost[m]
                move(tables, state, j, m, s, 1)
                change_of_value += state.cost[m]
            change_of_value += energy_of(tables, state, j)
            to_come -= tables.least_energy[j]
            placed += 1
        if closed >= 0:
            shut(tables, state, closed, first, end, -1)
        made += 1
        is_kept = placed == count and change_of_value <= most_change
        for k in range(count):
            m = state.machine[taken[k]] if is_kept else old_machine[k]
            join(members, taken[k], m if m >= 0 else machines)
        if is_kept:
            value += change_of_value
            if value < best - 1e-12 * abs(best):
                best = value
                best_machine[:] = state.machine
                best_start_of[:] = state.start
            continue
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
        for m in range(machines):
            if touched[m] > 0:
                state.on[m] = old_on[m]
                state.cost[m] = old_cost[m]
                state.off_cost[m] = old_off_cost[m]
    return value, best, made

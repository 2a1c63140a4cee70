"""Compiled loops of the search: ruin around a job, recreate, and keep or undo."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.ecas.methods.price.kernels import best_place, change, move
from carbonopt.problems.ecas.methods.price.ruin_kernels import (
    CLOSING_DRAWS,
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
        Machines that each job is offered, beside its own.
    among
        Share of them that are machines of other jobs that are taken out.
    reach
        Slots around a job within which others are taken out with it.
    closing
        Share of moves that close a machine for a while.
    closed_jobs
        Jobs that run there, at most.
    others
        Machines that make room for them, at most.
    """

    noise: float
    offered: int
    among: float
    reach: int
    closing: float
    closed_jobs: int
    others: int


class Work(NamedTuple):
    """Work space of the search.

    Attributes
    ----------
    taken, machine, start, key
        Jobs that a move takes out, their places before, and what they are sorted by, shape (K,).
    touched
        1 for machines whose patterns a move has changed, shape (M,).
    on, cost, off_cost
        Of these machines before: see `State`.
    offered, factor
        Machines that a job is offered, and the noise of their scores, shape (moves.offered + 1,).
    around
        Jobs that run around those taken out, shape (N,).
    members
        The jobs of each machine.
    everyone, ones
        All machines, and no noise of their scores, shape (M,).
    """

    taken: IntArray
    machine: IntArray
    start: IntArray
    key: FloatArray
    touched: IntArray
    on: IntArray
    cost: FloatArray
    off_cost: FloatArray
    offered: IntArray
    factor: FloatArray
    around: IntArray
    members: Members
    everyone: IntArray
    ones: FloatArray


def work_space(state: State, removed: int, offered: int) -> Work:
    """Return work space for moves that take out so many jobs at most, and offer each so many machines more."""
    machines = len(state.cost)
    jobs = len(state.machine)
    most = min(removed, jobs)

    def whole(size: int) -> IntArray:
        return np.zeros(size, dtype=np.int64)

    return Work(
        taken=whole(most),
        machine=whole(most),
        start=whole(most),
        key=np.zeros(most),
        touched=whole(machines),
        on=np.zeros_like(state.on),
        cost=np.zeros_like(state.cost),
        off_cost=np.zeros_like(state.off_cost),
        offered=whole(offered + 1),
        factor=np.ones(offered + 1),
        around=whole(jobs),
        members=Members(whole(machines + 1), whole(jobs), whole(jobs)),
        everyone=np.arange(machines),
        ones=np.ones(machines),
    )


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
def offer(moves: Moves, machines: int, count: int, k: int, random: FloatArray, work: Work) -> None:
    """Write the machines that the k-th of the jobs taken out is offered, its own first, and the noise of their scores.

    Others are those of jobs that are taken out with it, for these have room now, or any.
    """
    work.offered[0] = work.machine[k]
    work.factor[0] = 1 + moves.noise * random[1]
    for i in range(1, len(work.offered)):
        draw = random[2 * i]
        if draw < moves.among:
            work.offered[i] = work.machine[min(int(draw / moves.among * count), count - 1)]
        else:
            work.offered[i] = min(int((draw - moves.among) / (1 - moves.among) * machines), machines - 1)
        work.factor[i] = 1 + moves.noise * random[2 * i + 1]


@kernel
def touch(state: State, work: Work, m: int) -> None:
    """Note the pattern of a machine before a move changes it."""
    if work.touched[m] == 0:
        work.touched[m] = 1
        work.cost[m] = state.cost[m]
        copy_row(state.on[m], work.on[m])
        copy_row(state.off_cost[m], work.off_cost[m])


@kernel
def copy_row(source: Any, target: Any) -> None:
    """Copy numbers: numba makes an array of those that are assigned as a slice."""
    for t in range(len(source)):
        target[t] = source[t]


@kernel
def undo(tables: Tables, state: State, work: Work, count: int) -> None:
    """Give the first `count` jobs of a move the places that they had before."""
    for k in range(count):
        j = work.taken[k]
        if state.machine[j] >= 0:
            change(tables, state, j, state.machine[j], state.start[j], -1)
    for k in range(count):
        j = work.taken[k]
        state.machine[j] = work.machine[k]
        state.start[j] = work.start[k]
        if work.machine[k] >= 0:
            change(tables, state, j, work.machine[k], work.start[k], 1)
    for m in range(len(work.touched)):
        if work.touched[m] > 0:
            state.cost[m] = work.cost[m]
            copy_row(work.on[m], state.on[m])
            copy_row(work.off_cost[m], state.off_cost[m])


@kernel
def draws_of_move(most: int, offered: int) -> int:
    """Return how many random numbers a move takes at most, that takes out at most so many jobs."""
    return CLOSING_DRAWS + 2 + 2 * most + most * (2 * offered + 2)


@kernel
def search(
    tables: Tables,
    state: State,
    ranking: Ranking,
    plain: Ranking,
    moves: Moves,
    temperature: float,
    random: FloatArray,
    work: Work,
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
    taken = work.taken
    members = work.members
    most = len(taken)
    machines = len(tables.up)
    for m in range(machines + 1):
        members.first[m] = -1
    for j in range(len(state.machine)):
        join(members, j, state.machine[j] if state.machine[j] >= 0 else machines)
    at = 0
    made = 0
    needed = draws_of_move(most, moves.offered)
    while at + needed <= len(random):
        made += 1
        closed = -1
        first = 0
        end = 0
        if random[at] < moves.closing:
            count, closed, first, end = choose_to_close(
                tables,
                state,
                members,
                random[at + 1 :],
                moves.reach,
                moves.closed_jobs,
                moves.others,
                work.around,
                taken,
            )
            at += 1 + CLOSING_DRAWS + most
        else:
            count = choose_jobs(tables, state, members, random[at + 1 :], moves.reach, work.around, taken)
            at += 7 + most
        if count == 0:
            continue
        sort_by_size(tables, taken, count, random[at:], work.key)
        at += count
        most_change = -temperature * np.log(max(random[at], NOISE_LEAST))
        at += 1
        for m in range(machines):
            work.touched[m] = 0
        change_of_value = 0.0
        to_come = 0.0
        for k in range(count):
            j = taken[k]
            to_come += tables.least_energy[j]
            m = state.machine[j]
            work.machine[k] = m
            work.start[k] = state.start[j]
            change_of_value -= energy_of(tables, state, j)
            leave(members, j, m if m >= 0 else machines)
            if m >= 0:
                touch(state, work, m)
                move(tables, state, j, m, state.start[j], -1)
        for m in range(machines):
            if work.touched[m] > 0:
                change_of_value += state.cost[m] - work.cost[m]
        starts = ranking
        if closed >= 0:
            starts = plain
            shut(tables, state, closed, first, end, 1)
        placed = 0
        while placed < count and change_of_value + to_come <= most_change:
            j = taken[placed]
            offer(moves, machines, count, placed, random[at:], work)
            at += 2 * moves.offered + 2
            m, s = best_place(tables, state, starts, j, work.offered, work.factor)
            if m < 0:
                m, s = best_place(tables, state, starts, j, work.everyone, work.ones)
            if m >= 0:
                touch(state, work, m)
                change_of_value -= state.cost[m]
                move(tables, state, j, m, s, 1)
                change_of_value += state.cost[m]
            change_of_value += energy_of(tables, state, j)
            to_come -= tables.least_energy[j]
            placed += 1
        if closed >= 0:
            shut(tables, state, closed, first, end, -1)
        is_kept = placed == count and change_of_value <= most_change
        for k in range(count):
            m = state.machine[taken[k]] if is_kept else work.machine[k]
            join(members, taken[k], m if m >= 0 else machines)
        if not is_kept:
            undo(tables, state, work, count)
            continue
        value += change_of_value
        if value < best - 1e-12 * abs(best):
            best = value
            copy_row(state.machine, best_machine)
            copy_row(state.start, best_start_of)
    return value, best, made

"""The loops of dives: which places have room, where the linear program has most of each job, and what is placed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.algorithms.kernel import kernel, managed_kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.mosp.methods.price.place_program import Columns

LEAST_SHARE = 0.02
"""Share of a job in a place below which it is not tried there."""
NEARLY_ONE = 0.99
"""What a column has beyond whole jobs of a kind counts as one more from here."""


class Jobs(NamedTuple):
    """What loops need to know of jobs and clusters.

    Attributes
    ----------
    order
        Jobs, the largest first, and those of a kind together, shape (N,).
    duration
        Of each job, shape (N,) [slots].
    demand
        Of each job, shape (N, R).
    limit
        Capacity, with half of the rounding that is allowed, shape (M, R, T).
    kind, first
        Kind of each job, shape (N,), and the first job of each kind, shape (K,).
    """

    order: IntArray
    duration: IntArray
    demand: FloatArray
    limit: FloatArray
    kind: IntArray
    first: IntArray


@kernel
def take(place: IntArray, left: FloatArray, jobs: Jobs) -> None:
    """Fill what placed jobs leave of the capacity, shape (M, R, T)."""
    clusters, resources, slots = left.shape
    for j in range(clusters):
        for r in range(resources):
            for t in range(slots):
                left[j, r, t] = jobs.limit[j, r, t]
    for i in range(len(place)):
        if place[i] >= 0:
            occupy(i, place[i] // slots, place[i] % slots, left, jobs)


@kernel
def occupy(i: int, j: int, t: int, left: FloatArray, jobs: Jobs) -> None:
    """Take what a job uses from a slot on out of what is left."""
    for r in range(left.shape[1]):
        for s in range(t, t + jobs.duration[i]):
            left[j, r, s] -= jobs.demand[i, r]


@kernel
def has_space(i: int, j: int, t: int, left: FloatArray, jobs: Jobs) -> bool:
    """Return whether a job has room from a slot on."""
    for r in range(left.shape[1]):
        for s in range(t, t + jobs.duration[i]):
            if jobs.demand[i, r] > left[j, r, s]:
                return False
    return True


@kernel
def count_room(i: int, j: int, t: int, most: int, left: FloatArray, jobs: Jobs) -> int:
    """Return how many jobs like one have room together from a slot on, `most` at most."""
    for r in range(left.shape[1]):
        if jobs.demand[i, r] <= 0:
            continue
        for s in range(t, t + jobs.duration[i]):
            while most > 0 and most * jobs.demand[i, r] > left[j, r, s]:
                most = min(most - 1, max(0, int(left[j, r, s] / jobs.demand[i, r])))
            if most == 0:
                return 0
    return most


@kernel
def open_columns(waiting: IntArray, left: FloatArray, room: FloatArray, columns: Columns, jobs: Jobs) -> None:
    """Fill how many more jobs each column may have: those of its kind that wait, shape (K,), and have room."""
    for c in range(len(room)):
        k = columns.job[c]
        j = columns.cluster[c]
        if j < 0 or waiting[k] == 0:
            room[c] = waiting[k]
        else:
            room[c] = count_room(jobs.first[k], j, columns.start[c], waiting[k], left, jobs)


@kernel
def rank_one(c: int, value: float, column: IntArray, largest: FloatArray) -> None:
    """Put a column among those of the largest values so far, if it is one; these are in order, shape (ranks,)."""
    ranks = len(column)
    at = ranks
    while at > 0 and value > largest[at - 1]:
        at -= 1
        if at + 1 < ranks:
            largest[at + 1] = largest[at]
            column[at + 1] = column[at]
    if at < ranks:
        largest[at] = value
        column[at] = c


@managed_kernel
def rank_columns(
    amount: FloatArray, place: IntArray, leading: IntArray, share: FloatArray, columns: Columns, jobs: Jobs
) -> None:
    """Fill the columns that have most of each job that waits and its shares there, the largest first, (N, ranks).

    `amount` is what a column has of the jobs that wait, shape (C,). Whole ones go to jobs of its kind, one each. The
    next job begins with the column that has most of the rest, the one after it with the second, and so on.
    """
    kinds, ranks = len(jobs.first), leading.shape[1]
    waiting = np.zeros(kinds, dtype=np.int64)
    for i in range(len(place)):
        if place[i] < 0:
            waiting[jobs.kind[i]] += 1
    several = waiting > 1
    begin = np.cumsum(waiting) - waiting
    jobs_of = np.zeros(waiting.sum(), dtype=np.int64)
    end = begin.copy()
    for i in jobs.order:
        if place[i] < 0:
            jobs_of[end[jobs.kind[i]]] = i
            end[jobs.kind[i]] += 1
    column = np.full((kinds, ranks), -1, dtype=np.int64)
    rest = np.zeros((kinds, ranks))
    total = np.zeros(kinds)
    for c in range(len(amount)):
        k = columns.job[c]
        if amount[c] <= 0.0 or columns.cluster[c] < 0:
            continue
        value = amount[c]
        whole = int(value + 1 - NEARLY_ONE) if several[k] else 0
        for _ in range(min(whole, end[k] - begin[k])):
            leading[jobs_of[begin[k]], 0] = c
            share[jobs_of[begin[k]], 0] = min(1.0, value / whole)
            begin[k] += 1
        value -= whole
        total[k] += max(value, 0.0)
        rank_one(c, value, column[k], rest[k])
    for k in range(kinds):
        ranked = 0
        while ranked < ranks and column[k, ranked] >= 0:
            ranked += 1
        for number in range(end[k] - begin[k]):
            if number > 0 and number >= total[k] - LEAST_SHARE:
                break
            i = jobs_of[begin[k] + number]
            for at in range(ranked):
                leading[i, at] = column[k, (at + number) % ranked]
                share[i, at] = rest[k, (at + number) % ranked]


@kernel
def settle(
    whole: float, leading: IntArray, share: FloatArray, place: IntArray, left: FloatArray, columns: Columns, jobs: Jobs
) -> int:
    """Place the jobs of which one place has a share of `whole`, the largest first, up to the first split one.

    Return that one, -1 for none.
    """
    take(place, left, jobs)
    for i in jobs.order:
        if place[i] >= 0 or share[i, 0] < LEAST_SHARE:
            continue
        if share[i, 0] < whole:
            return int(i)
        put(i, leading[i, 0], place, left, columns, jobs)
    return -1


@kernel
def put_next(
    count: int,
    least: float,
    leading: IntArray,
    share: FloatArray,
    place: IntArray,
    left: FloatArray,
    columns: Columns,
    jobs: Jobs,
) -> None:
    """Place some jobs where most of each is, at least a share, the largest first, if they have room there."""
    take(place, left, jobs)
    for i in jobs.order:
        if count <= 0:
            return
        if place[i] < 0 and leading[i, 0] >= 0 and share[i, 0] >= least:
            put(i, leading[i, 0], place, left, columns, jobs)
            count -= 1


@kernel
def put(i: int, c: int, place: IntArray, left: FloatArray, columns: Columns, jobs: Jobs) -> None:
    """Place a job in a column's place, if it has room there."""
    j = columns.cluster[c]
    t = columns.start[c]
    if has_space(i, j, t, left, jobs):
        place[i] = j * left.shape[2] + t
        occupy(i, j, t, left, jobs)


@kernel
def put_one(i: int, c: int, place: IntArray, left: FloatArray, columns: Columns, jobs: Jobs) -> None:
    """Place a job in a column's place beside others, if it has room there."""
    take(place, left, jobs)
    put(i, c, place, left, columns, jobs)

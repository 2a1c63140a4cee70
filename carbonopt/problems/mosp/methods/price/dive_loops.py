"""The loops of dives: which places have room, where the linear program has most of each job, and what is placed."""

from __future__ import annotations

from typing import NamedTuple

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.mosp.methods.price.place_program import Columns

LEAST_SHARE = 0.02
"""Share of a job in a place below which it is not tried there."""


class Jobs(NamedTuple):
    """What loops need to know of jobs and clusters.

    Attributes
    ----------
    order
        Jobs, the largest first, shape (N,).
    duration
        Of each job, shape (N,) [slots].
    demand
        Of each job, shape (N, R).
    limit
        Capacity, with half of the rounding that is allowed, shape (M, R, T).
    """

    order: IntArray
    duration: IntArray
    demand: FloatArray
    limit: FloatArray


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
def open_columns(place: IntArray, left: FloatArray, upper: FloatArray, columns: Columns, jobs: Jobs) -> None:
    """Fill 1 for the columns of places that are taken, or have room beside these; 0 for all others."""
    slots = left.shape[2]
    for c in range(len(upper)):
        i = columns.job[c]
        j = columns.cluster[c]
        t = columns.start[c]
        if place[i] >= 0:
            is_open = place[i] == j * slots + t
        else:
            is_open = j < 0 or has_space(i, j, t, left, jobs)
        upper[c] = 1.0 if is_open else 0.0


@kernel
def rank_columns(values: FloatArray, upper: FloatArray, leading: IntArray, share: FloatArray, columns: Columns) -> None:
    """Fill the columns that have most of each job and its shares there, the largest first, shape (N, ranks)."""
    ranks = leading.shape[1]
    for c in range(len(values)):
        if upper[c] == 0.0 or columns.cluster[c] < 0:
            continue
        i = columns.job[c]
        value = values[c]
        k = ranks
        while k > 0 and value > share[i, k - 1]:
            k -= 1
            if k + 1 < ranks:
                share[i, k + 1] = share[i, k]
                leading[i, k + 1] = leading[i, k]
        if k < ranks:
            share[i, k] = value
            leading[i, k] = c


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

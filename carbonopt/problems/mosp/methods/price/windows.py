"""Windows of large jobs, and what they rule out.

A large job has a window of starts on each cluster. Where it is left with one cluster, the slots that it uses from
every start of its window are taken: other runs must fit beside it. What does not is ruled out, which narrows further
windows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import FloatArray, IntArray


class Field(NamedTuple):
    """What holds under all windows. Jobs that are alike are one, N in all; large ones are those without any alike.

    Attributes
    ----------
    cost
        Of each place, infinite where the job may not run on its own, shape (N, M, T).
    rejected
        Cost of a job that does not run, shape (N,); infinite where it must.
    arrival, duration
        Of each job, shape (N,) [slots].
    demand
        Of each job, shape (N, R).
    large
        Number of each job among the large ones, -1 for others, shape (N,).
    job
        The large jobs, the largest first, shape (K,).
    limit
        Capacity, with the rounding that is allowed, shape (M, R, T).
    spare
        By how much demands may exceed what is left before a place is ruled out, shape (M, R, T).
    """

    cost: FloatArray
    rejected: FloatArray
    arrival: IntArray
    duration: IntArray
    demand: FloatArray
    large: IntArray
    job: IntArray
    limit: FloatArray
    spare: FloatArray


class Allowed(NamedTuple):
    """The places that windows leave.

    Attributes
    ----------
    cost
        Of each place, infinite where it is ruled out, shape (N, M, T); valid from `first` to `last`.
    first, last
        Starts between which a job has places on a cluster, shape (N, M); none where first > last.
    least
        Least cost of these, shape (N, M).
    rejected
        Cost of a job that does not run, infinite where it must, shape (N,).
    left
        Capacity beside the runs that are certain, shape (M, R, T).
    certain
        Cluster, first slot and end of the certain part of each large job's run, cluster -1 for none, shape (K, 3).
    """

    cost: FloatArray
    first: IntArray
    last: IntArray
    least: FloatArray
    rejected: FloatArray
    left: FloatArray
    certain: IntArray


def sizes_of(demand: FloatArray, limit: FloatArray, duration: IntArray) -> FloatArray:
    """Return how large jobs are, shape (N,): the shares of capacity that each uses, squared, times its slots.

    Two jobs of a given size that use a cluster one after the other leave more room than one of twice the demand.
    """
    most = limit.max(axis=(0, 2))
    share = np.where(most > 0, demand / np.where(most > 0, most, 1.0), 0.0)
    return np.asarray((share**2).sum(axis=1) * duration)


def allowed_of(field: Field) -> Allowed:
    """Return room for what windows leave; `restrict` fills it."""
    jobs, clusters, _ = field.cost.shape
    return Allowed(
        field.cost.copy(),
        np.zeros((jobs, clusters), dtype=np.int64),
        np.zeros((jobs, clusters), dtype=np.int64),
        np.zeros((jobs, clusters)),
        field.rejected.copy(),
        field.limit.copy(),
        np.zeros((len(field.job), 3), dtype=np.int64),
    )


@kernel
def copy_into(values: FloatArray, factor: float, target: FloatArray) -> None:
    """Fill `target` with values times a factor, shape (M, R, T)."""
    for j in range(values.shape[0]):
        for r in range(values.shape[1]):
            for t in range(values.shape[2]):
                target[j, r, t] = factor * values[j, r, t]


@kernel
def fits_at(i: int, k: int, j: int, s: int, field: Field, allowed: Allowed) -> bool:
    """Return whether a job has room on a cluster in a slot beside the certain runs; it is large job k, or k is -1."""
    own = False
    if k >= 0 and allowed.certain[k, 0] == j:
        own = allowed.certain[k, 1] <= s < allowed.certain[k, 2]
    for r in range(field.demand.shape[1]):
        left = allowed.left[j, r, s] + field.spare[j, r, s]
        if own:
            left += field.demand[i, r]
        if field.demand[i, r] > left:
            return False
    return True


@kernel
def fits_from(i: int, k: int, j: int, t: int, field: Field, allowed: Allowed) -> bool:
    """Return whether a run of a job fits on a cluster from a slot on."""
    if field.cost[i, j, t] == np.inf:
        return False
    end = t + field.duration[i]
    while t < end and fits_at(i, k, j, t, field, allowed):
        t += 1
    return bool(t == end)


@kernel
def take_certain(windows: IntArray, field: Field, allowed: Allowed) -> bool:
    """Subtract what large jobs use from every start of their windows; return whether all still have a place.

    `windows` has the first and last start of each large job on each cluster, and 0 and 0 beside these where it may be
    left out; shape (K, M + 1, 2).
    """
    clusters = allowed.left.shape[0]
    copy_into(field.limit, 1.0, allowed.left)
    for k in range(len(field.job)):
        i = field.job[k]
        only = -1
        count = 0
        for j in range(clusters + 1):
            if windows[k, j, 0] <= windows[k, j, 1]:
                only = j
                count += 1
        if count == 0:
            return False
        allowed.certain[k, 0] = -1
        if count == 1 and only < clusters:
            first = windows[k, only, 1]
            end = windows[k, only, 0] + field.duration[i]
            if first < end:
                allowed.certain[k, 0] = only
                allowed.certain[k, 1] = first
                allowed.certain[k, 2] = end
                for r in range(field.demand.shape[1]):
                    for s in range(first, end):
                        allowed.left[only, r, s] -= field.demand[i, r]
    return True


@kernel
def narrow(windows: IntArray, field: Field, allowed: Allowed) -> bool:
    """Take starts that do not fit off the ends of all windows; return whether there were any."""
    is_changed = False
    for k in range(len(field.job)):
        i = field.job[k]
        for j in range(allowed.left.shape[0]):
            while windows[k, j, 0] <= windows[k, j, 1] and not fits_from(i, k, j, windows[k, j, 0], field, allowed):
                windows[k, j, 0] += 1
                is_changed = True
            while windows[k, j, 0] <= windows[k, j, 1] and not fits_from(i, k, j, windows[k, j, 1], field, allowed):
                windows[k, j, 1] -= 1
                is_changed = True
    return is_changed


@kernel
def restrict(windows: IntArray, field: Field, allowed: Allowed) -> bool:
    """Narrow windows until nothing changes, and list the places that are left; return whether each job has one.

    Two certain runs that exceed the capacity together rule each other out.
    """
    while True:
        if not take_certain(windows, field, allowed):
            return False
        if not narrow(windows, field, allowed):
            break
    jobs, clusters, _ = field.cost.shape
    for i in range(jobs):
        k = field.large[i]
        allowed.rejected[i] = field.rejected[i]
        if k >= 0 and windows[k, clusters, 0] > windows[k, clusters, 1]:
            allowed.rejected[i] = np.inf
        has_place = allowed.rejected[i] < np.inf
        for j in range(clusters):
            list_places(i, k, j, windows, field, allowed)
            if allowed.first[i, j] <= allowed.last[i, j]:
                has_place = True
        if not has_place:
            return False
    return True


@kernel
def list_places(i: int, k: int, j: int, windows: IntArray, field: Field, allowed: Allowed) -> None:
    """List the places of one job on one cluster."""
    length = field.duration[i]
    first = field.arrival[i]
    last = field.cost.shape[2] - length
    if k >= 0:
        first = windows[k, j, 0]
        last = windows[k, j, 1]
    allowed.first[i, j] = 1
    allowed.last[i, j] = 0
    allowed.least[i, j] = np.inf
    running = 0
    for s in range(first, last + length if first <= last else first):
        running = running + 1 if fits_at(i, k, j, s, field, allowed) else 0
        t = s - length + 1
        if t < first:
            continue
        cost = field.cost[i, j, t] if running >= length else np.inf
        allowed.cost[i, j, t] = cost
        if cost < np.inf:
            if allowed.first[i, j] > allowed.last[i, j]:
                allowed.first[i, j] = t
            allowed.last[i, j] = t
            allowed.least[i, j] = min(allowed.least[i, j], cost)

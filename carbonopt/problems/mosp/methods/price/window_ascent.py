"""The dual function over the places that windows leave, and its ascent.

The bound of all schedules within windows is the Lagrangian one over these places, with prices of capacity and of
cliques. Prices of a branch are near those of the one it comes from, so that a few subgradient steps from there are
enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from carbonopt.algorithms.kernel import kernel, managed_kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.mosp.methods.price.clique_cuts import Clique
from carbonopt.problems.mosp.methods.price.windows import Allowed, Field, copy_into

CLIQUE_SCALE = 0.3
"""Prices of cliques are counted in this share of the mean capacity: their slopes and their steps are times that.

A clique that is used twice counts for 1 in the slope, and a slot in which a cluster is used twice for its capacity.
With weights a slope counts in shares of the most that a schedule has.
"""
SMALL_RISE = 1e-9
"""Relative, of a value that counts as no better one."""


class Members(NamedTuple):
    """The starts that are in cliques, job by job, and of each job cluster by cluster.

    Attributes
    ----------
    begin
        Where the entries of each job on each cluster begin, and the end, shape (N x M + 1,).
    clique, first, last
        Of each entry: which clique, and the first and last start that is in it, shape (E,).
    weight
        Of each entry, shape (E,).
    most
        Of each clique: what the weights in a schedule add up to at most, shape (Q,).
    """

    begin: IntArray
    clique: IntArray
    first: IntArray
    last: IntArray
    weight: FloatArray
    most: FloatArray


def members_of(cliques: Sequence[Clique], jobs: int, clusters: int) -> Members:
    """Return the members of cliques."""
    none = [np.zeros(0, dtype=np.int64)]
    at = np.concatenate(none + [clique.jobs * clusters + clique.cluster for clique in cliques])
    order = np.argsort(at, kind="stable")
    return Members(
        np.searchsorted(at[order], np.arange(jobs * clusters + 1)),
        np.repeat(np.arange(len(cliques)), [len(clique.jobs) for clique in cliques])[order],
        np.concatenate(none + [clique.first for clique in cliques])[order],
        np.concatenate(none + [clique.last for clique in cliques])[order],
        np.concatenate(none + [clique.weight for clique in cliques])[order].astype(np.float64),
        np.array([clique.most for clique in cliques], dtype=np.float64),
    )


@kernel
def price_windows(prices: FloatArray, prefix: FloatArray, priced: FloatArray, field: Field) -> float:
    """Fill what a unit of each group pays from each start, shape (G, M, T); return what all capacity costs."""
    clusters, resources, slots = prices.shape
    paid = 0.0
    for j in range(clusters):
        for r in range(resources):
            prefix[j, r, 0] = 0.0
            for t in range(slots):
                prefix[j, r, t + 1] = prefix[j, r, t] + prices[j, r, t]
                paid += prices[j, r, t] * field.limit[j, r, t]
    for g in range(len(field.length)):
        length = field.length[g]
        for j in range(clusters):
            for t in range(slots - length + 1):
                priced[g, j, t] = 0.0
            for r in range(resources):
                mix = field.mix[g, r]
                for t in range(slots - length + 1):
                    priced[g, j, t] += mix * (prefix[j, r, t + length] - prefix[j, r, t])
    return paid


@kernel
def charge_members(i: int, clique_prices: FloatArray, members: Members, allowed: Allowed, charge: FloatArray) -> None:
    """Fill what a job pays for cliques from each start that is allowed; `charge` has shape (M, T + 1)."""
    clusters = len(charge)
    for j in range(clusters):
        low = allowed.first[i, j]
        high = allowed.last[i, j]
        if low > high:
            continue
        for t in range(low, high + 2):
            charge[j, t] = 0.0
        for e in range(members.begin[i * clusters + j], members.begin[i * clusters + j + 1]):
            price = clique_prices[members.clique[e]] * members.weight[e]
            first = max(members.first[e], low)
            last = min(members.last[e], high)
            if price > 0.0 and first <= last:
                charge[j, first] += price
                charge[j, last + 1] -= price
        for t in range(low + 1, high + 1):
            charge[j, t] += charge[j, t - 1]


@kernel
def best_place(
    i: int, tried: int, is_member: bool, priced: FloatArray, charge: FloatArray, field: Field, allowed: Allowed
) -> tuple[float, int]:
    """Return the least cost of a job, and where; place `tried` comes first.

    A cluster whose least cost without prices is above that is passed over.
    """
    clusters = field.cost.shape[1]
    slots = field.cost.shape[2]
    g = field.shape[i]
    scale = field.scale[i]
    best = allowed.rejected[i]
    at = -1
    if tried >= 0:
        j = tried // slots
        t = tried % slots
        if allowed.first[i, j] <= t <= allowed.last[i, j]:
            cost = allowed.cost[i, j, t] + scale * priced[g, j, t]
            if is_member:
                cost += charge[j, t]
            if cost < best:
                best = cost
                at = tried
    for j in range(clusters):
        if allowed.least[i, j] >= best:
            continue
        for t in range(allowed.first[i, j], allowed.last[i, j] + 1):
            cost = allowed.cost[i, j, t] + scale * priced[g, j, t]
            if is_member:
                cost += charge[j, t]
            if cost < best:
                best = cost
                at = j * slots + t
    return best, at


@kernel
def evaluate(
    prices: FloatArray,
    clique_prices: FloatArray,
    prefix: FloatArray,
    priced: FloatArray,
    charge: FloatArray,
    place: IntArray,
    field: Field,
    allowed: Allowed,
    members: Members,
    slope: FloatArray,
    clique_slope: FloatArray,
) -> float:
    """Return the bound at prices of capacity, shape (M, R, T), and of cliques, shape (Q,).

    `slope` and `clique_slope` are filled with a subgradient, and `place` with each job's place: cluster x T + start, -1
    for a job that does not run. What it holds before is tried first.
    """
    clusters, _, slots = prices.shape
    total = -price_windows(prices, prefix, priced, field)
    copy_into(field.limit, -1.0, slope)
    for q in range(len(clique_prices)):
        total -= clique_prices[q] * members.most[q]
        clique_slope[q] = -members.most[q]
    for i in range(len(place)):
        is_member = members.begin[i * clusters] < members.begin[(i + 1) * clusters]
        if is_member:
            charge_members(i, clique_prices, members, allowed, charge)
        best, at = best_place(i, place[i], is_member, priced, charge, field, allowed)
        place[i] = at
        total += best
        if at >= 0:
            j = at // slots
            t = at % slots
            for r in range(prices.shape[1]):
                for s in range(t, t + field.duration[i]):
                    slope[j, r, s] += field.demand[i, r]
            for e in range(members.begin[i * clusters + j], members.begin[i * clusters + j + 1]):
                if members.first[e] <= t <= members.last[e]:
                    clique_slope[members.clique[e]] += members.weight[e]
    return total


@managed_kernel
def ascend(
    prices: FloatArray,
    steps: int,
    goal: float,
    step_size: float,
    k: int,
    place: IntArray,
    shares: FloatArray,
    field: Field,
    allowed: Allowed,
    members: Members,
) -> float:
    """Raise the bound by deflected subgradient steps from `prices`, which become the best ones; return that bound.

    Parameters
    ----------
    prices
        Of capacity, then of cliques, shape (M x R x T + Q,).
    steps
        At most.
    goal
        Bound at which they end; the length of a step is that of Polyak towards it.
    step_size
        Times this length at first. It falls where the bound does not rise.
    k
        A large job.
    place
        Of each job, as in `evaluate`.
    shares
        How often that job was at each of its places, later steps more; the last row is for none. Shape (M + 1, T).
    field, allowed
        The places.
    members
        Of cliques.

    References
    ----------
    Camerini, Fratta, Maffioli (1975), "On improving relaxation methods by modified gradient techniques", Mathematical
    Programming Study 3, 26-34.
    """
    clusters, resources, slots = field.limit.shape
    size = field.limit.size
    prefix = np.zeros((clusters, resources, slots + 1))
    priced = np.zeros((len(field.length), clusters, slots))
    charge = np.zeros((clusters, slots + 1))
    slope = np.zeros(len(prices))
    direction = np.zeros(len(prices))
    now = prices.copy()
    now_of_capacity = now[:size].reshape((clusters, resources, slots))
    slope_of_capacity = slope[:size].reshape((clusters, resources, slots))
    scale = np.ones(len(prices))
    scale[size:] = CLIQUE_SCALE * field.limit.mean() / members.most
    best = -np.inf
    since = 0
    shares[:] = 0.0
    for step in range(steps):
        value = evaluate(
            now_of_capacity, now[size:], prefix, priced, charge, place, field, allowed, members,
            slope_of_capacity, slope[size:],
        )  # fmt: skip
        if k >= 0:
            weight = max(0.05, 1.0 / (step + 1))
            shares *= 1.0 - weight
            at = place[field.job[k]]
            if at < 0:
                shares[clusters, 0] += weight
            else:
                shares[at // slots, at % slots] += weight
        if step == 0 or value > best + SMALL_RISE * abs(best):
            best = value
            prices[:] = now
            since = 0
        else:
            since += 1
            if since >= 6:
                since = 0
                step_size *= 0.6
                now[:] = prices
        if best >= goal:
            break
        squares = 0.0
        for e in range(len(prices)):
            by = scale[e] * slope[e]
            if step > 0:
                by = 0.3 * by + 0.7 * direction[e]
            if now[e] <= 0.0 and by < 0.0:
                by = 0.0
            direction[e] = by
            squares += by * by
        if squares <= 0.0:
            break
        length = step_size * (goal - value) / squares
        for e in range(len(prices)):
            now[e] = max(0.0, now[e] + scale[e] * length * direction[e])
    return float(best)

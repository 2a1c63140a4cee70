"""The dual function over the places that windows leave, and its ascent.

The bound of all schedules within windows is the Lagrangian one over these places. Prices of a branch are near those of
the one it comes from, so that a few subgradient steps from there are enough.
"""

from __future__ import annotations

import numpy as np

from carbonopt.algorithms.kernel import kernel, managed_kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.mosp.methods.price.windows import Allowed, Field, copy_into

SMALL_RISE = 1e-9
"""Relative, of a value that counts as no better one."""


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
def evaluate(
    prices: FloatArray,
    prefix: FloatArray,
    priced: FloatArray,
    place: IntArray,
    field: Field,
    allowed: Allowed,
    slope: FloatArray,
) -> float:
    """Return the bound at `prices`, shape (M, R, T), and fill a subgradient and each job's place.

    `place` holds cluster x T + start, -1 for a job that does not run. What it holds before is tried first: a cluster
    whose least cost is above that is passed over.
    """
    clusters, resources, slots = prices.shape
    total = -price_windows(prices, prefix, priced, field)
    copy_into(field.limit, -1.0, slope)
    for i in range(len(place)):
        g = field.shape[i]
        scale = field.scale[i]
        best = allowed.rejected[i]
        at = -1
        if place[i] >= 0:
            j = place[i] // slots
            t = place[i] % slots
            if allowed.first[i, j] <= t <= allowed.last[i, j]:
                cost = allowed.cost[i, j, t] + scale * priced[g, j, t]
                if cost < best:
                    best = cost
                    at = place[i]
        for j in range(clusters):
            if allowed.least[i, j] >= best:
                continue
            for t in range(allowed.first[i, j], allowed.last[i, j] + 1):
                cost = allowed.cost[i, j, t] + scale * priced[g, j, t]
                if cost < best:
                    best = cost
                    at = j * slots + t
        place[i] = at
        total += best
        if at >= 0:
            j = at // slots
            for r in range(resources):
                for s in range(at % slots, at % slots + field.duration[i]):
                    slope[j, r, s] += field.demand[i, r]
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
) -> float:
    """Raise the bound by deflected subgradient steps from `prices`, which become the best ones; return that bound.

    Parameters
    ----------
    prices
        Of capacity, shape (M, R, T).
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

    References
    ----------
    Camerini, Fratta, Maffioli (1975), "On improving relaxation methods by modified gradient techniques", Mathematical
    Programming Study 3, 26-34.
    """
    clusters, resources, slots = prices.shape
    prefix = np.zeros((clusters, resources, slots + 1))
    priced = np.zeros((len(field.length), clusters, slots))
    slope = np.zeros((clusters, resources, slots))
    direction = np.zeros((clusters, resources, slots))
    now = prices.copy()
    best = -np.inf
    since = 0
    shares[:] = 0.0
    for step in range(steps):
        value = evaluate(now, prefix, priced, place, field, allowed, slope)
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
        for j in range(clusters):
            for r in range(resources):
                for t in range(slots):
                    by = 0.3 * slope[j, r, t] + 0.7 * direction[j, r, t] if step > 0 else slope[j, r, t]
                    if now[j, r, t] <= 0.0 and by < 0.0:
                        by = 0.0
                    direction[j, r, t] = by
                    squares += by * by
        if squares <= 0.0:
            break
        length = step_size * (goal - value) / squares
        for j in range(clusters):
            for r in range(resources):
                for t in range(slots):
                    now[j, r, t] = max(0.0, now[j, r, t] + length * direction[j, r, t])
    return float(best)

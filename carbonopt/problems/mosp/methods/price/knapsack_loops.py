"""The loops of weighted cliques: covers of shares by sets of jobs with room, knapsacks, and lifting."""

from __future__ import annotations

import numpy as np

from carbonopt.algorithms.kernel import kernel, managed_kernel
from carbonopt.core.arrays import BoolArray, FloatArray, IntArray

LEAST_SHARE = 1e-6
"""Share of a job below which it counts as 0."""
FOUND_SHARE = 0.9
"""Share of the largest possible violation that is enough. No violation exceeds what the sets so far cover above 1."""
MOST_SETS = 200
"""Sets that are sought for an inequality, at most, and ten more for each job."""
PRICE_TOLERANCE = 1e-9
"""By which the prices of a set must exceed 1 to bring it in."""
LEAST_PIVOT = 1e-9
RATIO_TOLERANCE = 1e-12
"""Of steps of the simplex method: what counts as 0, and as equal."""


@managed_kernel
def cover(share: FloatArray, demand: IntArray, capacity: int) -> tuple[float, BoolArray]:
    """Return how much of sets with room covers the shares of jobs, by greed, and the sets, shape (sets, items)."""
    count = len(share)
    left = share.copy()
    sets = np.zeros((count + 1, count), dtype=np.bool_)
    total = 0.0
    found = 0
    while found < count + 1:
        order = np.argsort(-left)
        if left[order[0]] <= LEAST_SHARE:
            break
        room = capacity
        least = left[order[0]]
        for k in order:
            if demand[k] <= room and left[k] > LEAST_SHARE:
                sets[found, k] = True
                room -= demand[k]
                least = min(least, left[k])
        for k in range(count):
            if sets[found, k]:
                left[k] -= least
        total += least
        found += 1
    return total, sets[:found]


@managed_kernel
def cover_prices(
    share: FloatArray, demand: IntArray, capacity: int, known: BoolArray, least: float
) -> tuple[FloatArray, float, BoolArray, int]:
    """Cover the shares of jobs by as few sets with room as possible, fractions of sets too: the simplex method.

    It begins with a set for each job alone. The set that enters is one of `known`, shape (sets, items), or else the
    most valuable one at the prices of the jobs. It ends where the fractions of sets add up
    to at most 1 + `least`, or cannot become much less. Each job alone must have room.

    Returns
    -------
    prices
        Of jobs: no set with room has more than 1, the shares have 1 + violation; shape (items,).
    violation
        Of these prices; at most `least` where the shares satisfy all inequalities but for so much.
    sets
        That cover the shares, shape (items, items).
    pivots
        How many sets have entered.
    """
    count = len(share)
    sets = np.zeros((count, count), dtype=np.bool_)
    inverse = np.zeros((count, count))
    for k in range(count):
        sets[k, k] = True
        inverse[k, k] = 1.0
    amount = share.copy()
    best = np.zeros(count)
    violation = -1.0
    direction = np.zeros(count)
    chosen = np.zeros(count, dtype=np.bool_)
    room = np.zeros(capacity + 1)
    takes = np.zeros((count, capacity + 1), dtype=np.bool_)
    pivots = 0
    while pivots < MOST_SETS + 10 * count:
        prices = np.maximum(inverse.sum(axis=0), 0.0)
        total = amount.sum()
        if total <= 1 + least:
            break
        value = most_valuable(prices, known, chosen)
        if value <= 1 + PRICE_TOLERANCE:
            value = fill(prices, demand, room, takes, chosen)
            proven = (prices * share).sum() / max(value, 1.0) - 1
            if proven > violation:
                violation = proven
                best[:] = prices / max(value, 1.0)
            if value <= 1 + PRICE_TOLERANCE or violation >= FOUND_SHARE * (total - 1):
                break
        leaves = leaving(chosen, inverse, amount, direction)
        if leaves < 0:
            break
        enter(leaves, direction, inverse, amount)
        sets[leaves] = chosen
        pivots += 1
    return best, violation, sets, pivots


@kernel
def most_valuable(prices: FloatArray, sets: BoolArray, chosen: BoolArray) -> float:
    """Fill `chosen` with the set that has most at some prices, shape (items,); return how much."""
    most = 0.0
    at = -1
    for q in range(len(sets)):
        value = 0.0
        for k in range(len(prices)):
            if sets[q, k]:
                value += prices[k]
        if value > most:
            most = value
            at = q
    for k in range(len(prices)):
        chosen[k] = at >= 0 and sets[at, k] and prices[k] > 0.0
    return most


@kernel
def leaving(chosen: BoolArray, inverse: FloatArray, amount: FloatArray, direction: FloatArray) -> int:
    """Return the set of the basis that is used up first as `chosen` comes in, -1 for none.

    `direction` is filled with how much each set goes down for one of `chosen`, shape (items,).
    """
    leaves = -1
    step = np.inf
    for k in range(len(amount)):
        direction[k] = 0.0
        for i in range(len(amount)):
            if chosen[i]:
                direction[k] += inverse[k, i]
        if direction[k] <= LEAST_PIVOT:
            continue
        ratio = max(amount[k], 0.0) / direction[k]
        is_equal = leaves >= 0 and ratio <= step + RATIO_TOLERANCE
        if ratio < step - RATIO_TOLERANCE or (is_equal and direction[k] > direction[leaves]):
            step = min(step, ratio)
            leaves = k
    return leaves


@kernel
def enter(leaves: int, direction: FloatArray, inverse: FloatArray, amount: FloatArray) -> None:
    """Put a set into the basis for another one."""
    count = len(amount)
    pivot = direction[leaves]
    for i in range(count):
        inverse[leaves, i] /= pivot
    amount[leaves] /= pivot
    for k in range(count):
        if k != leaves and direction[k] != 0.0:
            for i in range(count):
                inverse[k, i] -= direction[k] * inverse[leaves, i]
            amount[k] -= direction[k] * amount[leaves]


@managed_kernel
def knapsack(value: FloatArray, demand: IntArray, capacity: int) -> tuple[float, BoolArray]:
    """Return the largest value of jobs that have room beside each other, and which these are."""
    chosen = np.zeros(len(value), dtype=np.bool_)
    takes = np.zeros((len(value), capacity + 1), dtype=np.bool_)
    return fill(value, demand, np.zeros(capacity + 1), takes, chosen), chosen


@kernel
def fill(value: FloatArray, demand: IntArray, best: FloatArray, takes: BoolArray, chosen: BoolArray) -> float:
    """Fill `chosen` with the jobs of the largest value that have room beside each other; return that value.

    `best` and `takes` are room for the values of each capacity, shape (capacity + 1,), and of whether each job is
    taken, shape (items, capacity + 1).
    """
    capacity = len(best) - 1
    for room in range(capacity + 1):
        best[room] = 0.0
    for k in range(len(value)):
        if value[k] <= 0.0:
            continue
        for room in range(capacity, demand[k] - 1, -1):
            with_it = best[room - demand[k]] + value[k]
            takes[k, room] = with_it > best[room]
            if takes[k, room]:
                best[room] = with_it
    room = capacity
    for k in range(len(value) - 1, -1, -1):
        chosen[k] = value[k] > 0.0 and demand[k] <= room and takes[k, room]
        if chosen[k]:
            room -= demand[k]
    return float(best[capacity])


@kernel
def lift(weights: IntArray, demand: IntArray, items: IntArray, others: IntArray, most: int, best: IntArray) -> None:
    """Give the jobs `others` the largest weights at which no set with room has more than `most`, one after the other.

    `best` is filled with the most that a set of the jobs has by its demand, shape (capacity + 1,); it begins with 0.
    """
    capacity = len(best) - 1
    for step in range(len(items) + len(others)):
        k = items[step] if step < len(items) else others[step - len(items)]
        if demand[k] > capacity:
            weights[k] = 0
            continue
        if step >= len(items):
            weights[k] = most - best[capacity - demand[k]]
        if weights[k] <= 0:
            continue
        for room in range(capacity, demand[k] - 1, -1):
            best[room] = max(best[room], best[room - demand[k]] + weights[k])

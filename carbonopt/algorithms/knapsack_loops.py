"""The loops of weighted cliques: covers of shares by sets of jobs with room, and knapsacks.

A set has room in two slots that follow each other, or in one: then the first of the two has no units. A kind of jobs
has an item for each way in which these may use the slots: the first alone, the second alone, or both. In one slot a set
may have several jobs of a kind.
"""

from __future__ import annotations

import numpy as np

from carbonopt.algorithms.kernel import kernel, managed_kernel
from carbonopt.core.arrays import FloatArray, IntArray

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
def cover(
    share: FloatArray, kind: IntArray, need: IntArray, most: IntArray, capacity: IntArray
) -> tuple[float, IntArray]:
    """Return how much of sets with room covers the shares of items, by greed, and the sets.

    Parameters
    ----------
    share
        Of each item, how many jobs, shape (items,).
    kind
        Whose item each is, in ascending order from 0, shape (items,): at most one of a kind is in a set.
    need
        Units of a job in the first slot and in the second, shape (items, 2).
    most
        Jobs of an item in a set, at most, shape (items,); 1 where a kind has several items.
    capacity
        Units of both slots. Where there is only one slot, it is the second, and the first has none.

    Returns
    -------
    total
        Of all fractions of sets.
    sets
        How many jobs of each item each has, shape (sets, items).
    """
    count = len(share)
    left = share.copy()
    sets = np.zeros((count + 1, count), dtype=np.int64)
    taken = np.zeros(count, dtype=np.bool_)
    total = 0.0
    found = 0
    while found < count + 1:
        order = np.argsort(-left)
        if left[order[0]] <= LEAST_SHARE:
            break
        first, second = capacity[0], capacity[1]
        least = left[order[0]]
        taken[:] = False
        for k in order:
            if left[k] <= LEAST_SHARE or taken[kind[k]]:
                continue
            jobs = 0
            wanted = min(most[k], int(np.ceil(left[k] - LEAST_SHARE)))
            while jobs < wanted and need[k, 0] <= first and need[k, 1] <= second:
                first -= need[k, 0]
                second -= need[k, 1]
                jobs += 1
            if jobs > 0:
                sets[found, k] = jobs
                taken[kind[k]] = True
                least = min(least, left[k] / jobs)
        for k in range(count):
            left[k] -= sets[found, k] * least
        total += least
        found += 1
    return total, sets[:found]


@managed_kernel
def cover_prices(
    share: FloatArray,
    kind: IntArray,
    need: IntArray,
    most: IntArray,
    capacity: IntArray,
    known: IntArray,
    least: float,
) -> tuple[FloatArray, float, IntArray, int, int]:
    """Cover the shares of items by as few sets with room as possible, fractions of sets too: the simplex method.

    It begins with a set for each item alone. The set that enters is one of `known`, shape (sets, items); or, of two
    slots, one made by greed; or else the most valuable one at the prices of the items. It ends where the fractions of
    sets add up to at most 1 + `least`, or cannot become much less. As many jobs of an item as a set may have must have
    room alone. Arguments are as those of `cover`.

    Returns
    -------
    prices
        Of a job of each item: no set with room has more than 1, the shares have 1 + violation; shape (items,).
    violation
        Of these prices; at most `least` where the shares satisfy all inequalities but for so much.
    sets
        That cover the shares, how many jobs of each item they have, shape (items, items).
    pivots, knapsacks
        How many sets have entered, and how many knapsacks were solved.
    """
    count = len(share)
    sets = np.zeros((count, count), dtype=np.int64)
    inverse = np.zeros((count, count))
    for k in range(count):
        sets[k, k] = most[k]
        inverse[k, k] = 1.0 / most[k]
    amount = share / most
    best = np.zeros(count)
    violation = -1.0
    direction = np.zeros(count)
    chosen = np.zeros(count, dtype=np.int64)
    room = np.zeros((capacity[0] + 1, capacity[1] + 1))
    takes = np.zeros((count, capacity[0] + 1, capacity[1] + 1), dtype=np.int8)
    pivots = 0
    knapsacks = 0
    while pivots < MOST_SETS + 10 * count:
        prices = np.maximum(inverse.sum(axis=0), 0.0)
        total = amount.sum()
        if total <= 1 + least:
            break
        value = most_valuable(prices, known, chosen)
        if value <= 1 + PRICE_TOLERANCE and capacity[0] > 0:
            value = take_by_greed(prices, kind, need, capacity, chosen)
        if value <= 1 + PRICE_TOLERANCE:
            value = fill(prices, kind, need, most, room, takes, chosen)
            knapsacks += 1
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
    return best, violation, sets, pivots, knapsacks


@managed_kernel
def take_by_greed(value: FloatArray, kind: IntArray, need: IntArray, capacity: IntArray, chosen: IntArray) -> float:
    """Fill `chosen` with a set with room, one job of the items of most value for what they need; return its value."""
    count = len(value)
    taken = np.zeros(count, dtype=np.bool_)
    first, second = capacity[0], capacity[1]
    total = 0.0
    chosen[:] = 0
    for k in np.argsort(-value / np.maximum(need.sum(axis=1), 1)):
        if value[k] > 0.0 and need[k, 0] <= first and need[k, 1] <= second and not taken[kind[k]]:
            chosen[k] = 1
            taken[kind[k]] = True
            first -= need[k, 0]
            second -= need[k, 1]
            total += value[k]
    return total


@kernel
def most_valuable(prices: FloatArray, sets: IntArray, chosen: IntArray) -> float:
    """Fill `chosen` with the set that has most at some prices, shape (items,); return how much."""
    most = 0.0
    at = -1
    for q in range(len(sets)):
        value = 0.0
        for k in range(len(prices)):
            if sets[q, k] > 0:
                value += sets[q, k] * prices[k]
        if value > most:
            most = value
            at = q
    for k in range(len(prices)):
        chosen[k] = sets[at, k] if at >= 0 and prices[k] > 0.0 else 0
    return most


@kernel
def leaving(chosen: IntArray, inverse: FloatArray, amount: FloatArray, direction: FloatArray) -> int:
    """Return the set of the basis that is used up first as `chosen` comes in, -1 for none.

    `direction` is filled with how much each set goes down for one of `chosen`, shape (items,).
    """
    leaves = -1
    step = np.inf
    for k in range(len(amount)):
        direction[k] = 0.0
        for i in range(len(amount)):
            if chosen[i] > 0:
                direction[k] += chosen[i] * inverse[k, i]
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
def knapsack(
    value: FloatArray, kind: IntArray, need: IntArray, most: IntArray, capacity: IntArray
) -> tuple[float, IntArray]:
    """Return the largest value of jobs that have room beside each other, and how many of each item; see `cover`."""
    shape = (capacity[0] + 1, capacity[1] + 1)
    chosen = np.zeros(len(value), dtype=np.int64)
    takes = np.zeros((len(value), shape[0], shape[1]), dtype=np.int8)
    return fill(value, kind, need, most, np.zeros(shape), takes, chosen), chosen


@kernel
def fill(
    value: FloatArray,
    kind: IntArray,
    need: IntArray,
    most: IntArray,
    best: FloatArray,
    takes: IntArray,
    chosen: IntArray,
) -> float:
    """Fill `chosen` with how many of each item have the largest value beside each other; return that value.

    `best` and `takes` are room for the values of each capacity, shape (capacity + 1) of both slots, and for which item
    of a kind is taken, counted from 1, in the layer of its first item; shape (items, capacity + 1 of both). Of an item
    that a set may have several jobs of, it is how many.
    """
    count = len(value)
    best[:] = 0.0
    chosen[:] = 0
    begin = 0
    while begin < count:
        end = begin
        options = 0
        only = begin
        while end < count and kind[end] == kind[begin]:
            if value[end] > 0.0:
                options += 1
                only = end
            end += 1
        takes[begin] = 0
        if options == 1 and most[only] > 1:
            take_several(value[only], need[only, 1], most[only], best[0], takes[begin, 0])
        elif options == 1:
            take_one(value[only], need[only, 0], need[only, 1], only - begin + 1, best, takes[begin])
        elif options > 1:
            take_some(value[begin:end], need[begin:end], best, takes[begin])
        begin = end
    first, second = best.shape[0] - 1, best.shape[1] - 1
    end = count
    while end > 0:
        begin = end - 1
        while begin > 0 and kind[begin - 1] == kind[begin]:
            begin -= 1
        which = takes[begin, first, second]
        if which > 0 and most[begin] > 1:
            chosen[begin] = which
            second -= which * need[begin, 1]
        elif which > 0:
            k = begin + which - 1
            chosen[k] = 1
            first -= need[k, 0]
            second -= need[k, 1]
        end = begin
    return float(best[best.shape[0] - 1, best.shape[1] - 1])


@kernel
def take_one(value: float, first: int, second: int, number: int, best: FloatArray, takes: IntArray) -> None:
    """Let a job with one item be taken where that is worth more."""
    for a in range(best.shape[0] - 1, first - 1, -1):
        for b in range(best.shape[1] - 1, second - 1, -1):
            with_it = best[a - first, b - second] + value
            if with_it > best[a, b]:
                best[a, b] = with_it
                takes[a, b] = number


@kernel
def take_several(value: float, need: int, most: int, best: FloatArray, takes: IntArray) -> None:
    """Let so many jobs be taken, `most` at most, as are worth most in one slot."""
    for b in range(len(best) - 1, need - 1, -1):
        largest = best[b]
        for k in range(1, most + 1):
            if k * need > b:
                break
            with_them = best[b - k * need] + k * value
            if with_them > largest:
                largest = with_them
                takes[b] = k
        best[b] = largest


@kernel
def take_some(value: FloatArray, need: IntArray, best: FloatArray, takes: IntArray) -> None:
    """Let a job with several items be taken in the best of these, where that is worth more."""
    for a in range(best.shape[0] - 1, -1, -1):
        for b in range(best.shape[1] - 1, -1, -1):
            most = best[a, b]
            for k in range(len(value)):
                if value[k] > 0.0 and need[k, 0] <= a and need[k, 1] <= b:
                    with_it = best[a - need[k, 0], b - need[k, 1]] + value[k]
                    if with_it > most:
                        most = with_it
                        takes[a, b] = k + 1
            best[a, b] = most

"""The loops of lifting: weights of further kinds of jobs at which no set with room has more than before.

One slot, or two that follow each other, as in `knapsack_loops`.
"""

from __future__ import annotations

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import BoolArray, IntArray


@kernel
def lift(
    weights: IntArray,
    demand: IntArray,
    count: IntArray,
    may: BoolArray,
    uses: IntArray,
    items: IntArray,
    others: IntArray,
    most: int,
    best: IntArray,
) -> None:
    """Give the kinds `others` the largest weights at which no set with room has more than `most`, one after the other.

    Parameters
    ----------
    weights
        Of a job of each kind in each way to use the slots, shape (K, ways). Those of `items` stay as they are, but for
        ways that a job may not take, or in which it has no room: these get 0.
    demand, count
        Of a job of each kind, and how many it has, shape (K,). Of two slots there is one.
    may
        Whether a job may use them so, shape (K, ways).
    uses
        Whether a way uses each slot, 1 or 0, shape (ways, 2).
    items, others
        Kinds of jobs.
    most
        What weights add up to at most.
    best
        Filled with the most that a set has by its demand, shape (capacity + 1) of both slots; it begins with 0.
    """
    for step in range(len(items) + len(others)):
        k = items[step] if step < len(items) else others[step - len(items)]
        has_weight = False
        for way in range(len(uses)):
            first, second = demand[k] * uses[way, 0], demand[k] * uses[way, 1]
            has_room = may[k, way] and first < best.shape[0] and second < best.shape[1]
            if not has_room:
                weights[k, way] = 0
            elif step >= len(items):
                weights[k, way] = least_rest(first, second, count[k], most, best)
            has_weight = has_weight or weights[k, way] > 0
        if not has_weight:
            continue
        for _ in range(jobs_with_room(demand[k], count[k], best)):
            add_one(weights[k], demand[k], uses, best)


@kernel
def jobs_with_room(demand: int, count: int, best: IntArray) -> int:
    """Return how many jobs of a kind have room together at most, of `count`."""
    capacity = max(best.shape[0], best.shape[1]) - 1
    return count if demand == 0 else min(count, capacity // demand)


@kernel
def least_rest(first: int, second: int, count: int, most: int, best: IntArray) -> int:
    """Return what each of some jobs may weigh, however many of them are in a set: `best` has the most of the others."""
    least = most - best[best.shape[0] - 1 - first, best.shape[1] - 1 - second]
    for k in range(2, count + 1):
        if least == 0 or k * first >= best.shape[0] or k * second >= best.shape[1]:
            break
        rest = most - best[best.shape[0] - 1 - k * first, best.shape[1] - 1 - k * second]
        least = min(least, rest // k)
    return int(least)


@kernel
def add_one(weights: IntArray, demand: int, uses: IntArray, best: IntArray) -> None:
    """Let one more job be in a set, in one of the ways to use the slots."""
    for a in range(best.shape[0] - 1, -1, -1):
        for b in range(best.shape[1] - 1, -1, -1):
            largest = best[a, b]
            for way in range(len(uses)):
                first, second = demand * uses[way, 0], demand * uses[way, 1]
                if weights[way] > 0 and first <= a and second <= b:
                    largest = max(largest, best[a - first, b - second] + weights[way])
            best[a, b] = largest

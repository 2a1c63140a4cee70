"""The order in which a heap that is emptied and refilled at every tick yields entries of equal priority."""

from __future__ import annotations

from heapq import heappop

import numpy as np

from carbonopt.core.arrays import IntArray


def refilled(priority: IntArray, rounds: int) -> IntArray:
    """Return the order of a queue after it was emptied and refilled several times.

    The queue is an array sorted by priority, which is a heap as it stands. Popping all yields it sorted again, with
    equal entries in another order; pushing them back in that order changes nothing. So each round applies one
    permutation, which depends on the priorities alone; its power is found by squaring.

    Parameters
    ----------
    priority
        In ascending order, shape (n,).
    rounds
        At least 0.

    Returns
    -------
    IntArray
        Positions in the queue as it was, in the new order, shape (n,).
    """
    # NaN is less than nothing, and equal to nothing: no entry is less than another one of the same priority
    heap = [(value, float("nan"), place) for place, value in enumerate(priority.tolist())]
    step = np.array([heappop(heap)[2] for _ in range(priority.size)], dtype=np.int64)
    order = np.arange(priority.size)
    while rounds > 0:
        if rounds % 2:
            order = order[step]
        step = step[step]
        rounds //= 2
    return order

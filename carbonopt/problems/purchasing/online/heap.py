"""The order in which a binary heap that is emptied and refilled at every tick yields entries of equal priority."""

from __future__ import annotations

import numpy as np

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import IntArray


@kernel
def refilled(priority: IntArray, rounds: int) -> IntArray:
    """Return the order of a queue after it was emptied and refilled several times.

    The queue is an array sorted by priority, which is a heap as it stands. Popping all (as Python's
    ``heapq`` does: the last entry goes to the root, sinks along the smaller children to a leaf, and rises)
    yields it sorted again, with equal entries in another order; pushing them back in that order changes
    nothing. So each round applies one permutation, which depends on the priorities alone; its power is
    found by squaring.

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
    size = priority.size
    heap = np.arange(size)
    step = np.empty(size, np.int64)
    for taken in range(size):
        step[taken] = heap[0]
        left = size - taken - 1
        entry = heap[left]
        place = 0
        child = 1
        while child < left:
            if child + 1 < left and priority[heap[child]] >= priority[heap[child + 1]]:
                child += 1
            heap[place] = heap[child]
            place = child
            child = 2 * place + 1
        while place > 0 and priority[entry] < priority[heap[(place - 1) // 2]]:
            heap[place] = heap[(place - 1) // 2]
            place = (place - 1) // 2
        heap[place] = entry
    order = np.arange(size)
    while rounds > 0:
        if rounds % 2:
            order = order[step]
        step = step[step]
        rounds //= 2
    return order

"""Whole weights in the place of prices: a certificate holds numbers that add up exactly."""

from __future__ import annotations

import numpy as np

from carbonopt.algorithms.knapsack_loops import knapsack
from carbonopt.core.arrays import FloatArray, IntArray

KEPT_SHARE = 0.9
"""Share of the violation of prices that whole weights must keep."""
DIVISORS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 18, 20, 24, 30, 36, 48, 60, 120, 240, 1000)
"""Weights are prices in parts of one, rounded down: halves, thirds, and so on, as few parts as keep enough."""


def whole_weights(
    prices: FloatArray, share: FloatArray, kind: IntArray, need: IntArray, most: IntArray, capacity: IntArray
) -> tuple[IntArray, int]:
    """Return whole weights that are nearly in proportion to prices, and the most that a set with room has of them.

    Parameters
    ----------
    prices
        Of a job of each item: no set with room has more than 1; shape (items,).
    share, kind, need, most, capacity
        See `knapsack_loops.cover`.
    """
    violation = float(prices @ share) - 1
    for divisor in DIVISORS:
        weights = np.floor(prices * divisor + 1e-6)
        largest, _ = knapsack(weights, kind, need, most, capacity)
        if largest > 0 and float(weights @ share) / largest - 1 >= KEPT_SHARE * violation:
            break
    return weights.astype(np.int64), max(1, int(largest))

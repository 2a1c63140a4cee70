"""Smoothed covering knapsack: do the work of a job where items are taken by degrees around the break price.

In the fractional covering knapsack an item is taken wholly below the break price m and not at all above it. Here an
item of cost per work r is taken to the part

    y = (m - r) / spread + 1/2    cut to 0 and 1,

which is what a quadratic penalty on y makes of it. So the work that is taken is a continuous function of m: it never
falls, and it is linear between kinks. The break price is where it meets the need.

As in `fractional_knapsack`, a caller collects the items that matter in a bracket around the last break price, and
moves the bracket by `move_bracket` until the break price is inside.

References
----------
Nesterov (2005), "Smooth minimization of non-smooth functions", Mathematical Programming 103, 127-152.
"""

from __future__ import annotations

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import FloatArray

ROUNDS = 200
"""Steps to the break price at most; each sixth halves the bracket, so that they cannot go round in a circle."""


@kernel
def work_taken(price: float, spread: float, ratio: FloatArray, size: FloatArray, count: int) -> tuple[float, float]:
    """Return the work that is taken of the first `count` items at a price, and by how much it grows with the price."""
    work = 0.0
    slope = 0.0
    scale = 1.0 / spread
    for i in range(count):
        part = (price - ratio[i]) * scale + 0.5
        work += size[i] * min(max(part, 0.0), 1.0)
        slope += size[i] if 0.0 < part < 1.0 else 0.0
    return work, slope * scale


@kernel
def find_break_price(
    guess: float,
    low: float,
    high: float,
    need: float,
    spread: float,
    ratio: FloatArray,
    size: FloatArray,
    count: int,
    error: float,
) -> float:
    """Return the price between `low` and `high` at which the work `need` is taken of the first `count` items.

    Newton's method from `guess`, which halves the bracket where a step would leave it. It ends when the work is
    wrong by at most `error`.
    """
    price = min(max(guess, low), high)
    for i in range(ROUNDS):
        work, slope = work_taken(price, spread, ratio, size, count)
        excess = work - need
        if abs(excess) <= error:
            break
        if excess < 0.0:
            low = price
        else:
            high = price
        better = price - excess / slope if slope > 0.0 else low
        if not low < better < high or i % 6 == 5:
            better = 0.5 * (low + high)
        if better == price:
            break
        price = better
    return price

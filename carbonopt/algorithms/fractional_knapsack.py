"""Fractional covering knapsack: do the work of a job at least cost, where items may be taken in part.

Items are taken in the order of cost per work until the work is done. The ratio of the last one is the
*break price*. Prices change little from one evaluation to the next, so a caller looks for the break price in a
bracket around the last one: it takes the items below the bracket whole, and sorts those inside alone.

References
----------
Dantzig (1957), "Discrete-variable extremum problems", Operations Research 5, 266-277.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.algorithms.kernel import kernel, managed_kernel
from carbonopt.core.arrays import FloatArray, IntArray

BELOW_ALL = -1.0
"""A bracket's lower end below all ratios, also those of work that costs nothing: its part is chosen, too."""
NEGLIGIBLE = 1e-12
"""Work that counts as none, over the need: the same items summed in another order differ by less."""


class Items(NamedTuple):
    """Room for the items inside a bracket, all arrays of one length.

    Cost per work `ratio`, work `size`, `part` that is taken (from 0 to 1), and where the item comes from: its
    `slot` and its `step` of the ladder there.
    """

    ratio: FloatArray
    size: FloatArray
    part: FloatArray
    slot: IntArray
    step: IntArray

    @classmethod
    def of_length(cls, length: int) -> Items:
        """Return room for so many items."""
        ratio, size, part = np.zeros((3, length))
        slot, step = np.zeros((2, length), dtype=np.int64)
        return cls(ratio, size, part, slot, step)


@kernel
def move_bracket(
    low: float, high: float, width: float, below: float, inside: float, need: float, floor: float, ceiling: float
) -> tuple[float, float]:
    """Return the bracket (low, high] to look in next: the same one where the break price is inside.

    Parameters
    ----------
    width
        Of the next bracket.
    below, inside
        Work of the items below the bracket, and of those inside.
    need
        Work to be done.
    floor
        A price below all ratios: no bracket reaches below it.
    ceiling
        Price of work that is left undone: no bracket reaches beyond.
    """
    if below >= need and low > floor:
        return max(low - width, floor), low
    if below + inside < (1 - NEGLIGIBLE) * need and high < ceiling:
        return high, min(high + width, ceiling)
    return low, high


@managed_kernel
def fill(items: Items, count: int, below: float, need: float, ceiling: float) -> tuple[IntArray, float, float]:
    """Take the first `count` items in the order of their ratio until `need` is met, and set their `part`.

    The work `below` is done by items below the bracket.

    Returns
    -------
    taken
        The items that are taken, in this order.
    left
        Work that remains when all are taken.
    price
        The break price: `ceiling` where work remains.
    """
    order = np.argsort(items.ratio[:count])
    left = need - below
    for q in range(count):
        i = order[q]
        part = 1.0 if items.size[i] <= left else max(left, 0.0) / items.size[i]
        items.part[i] = part
        left -= part * items.size[i]
        if part < 1.0 or left <= NEGLIGIBLE * need:
            return order[: q + 1], 0.0, items.ratio[i]
    return order, max(left, 0.0), ceiling

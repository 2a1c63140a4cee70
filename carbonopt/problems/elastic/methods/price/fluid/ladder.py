"""The units of each profile in each slot as steps of rising cost per work.

Units of one profile in one slot enter by the lower hull of (work, cost) over its levels. Its edges are
the steps: a job takes those of its window in the order of cost per work, whatever the slot.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.elastic.data.instance import Units


class Ladder(NamedTuple):
    """Steps of each profile in each slot.

    Cost per work `ratio` [g per slot of work], work `gain` [slots at k_min], `servers` and the `level`
    (from 0) that each step leads up to, all (P, T, U), and how many there are: `steps` (P, T).
    """

    ratio: FloatArray
    gain: FloatArray
    servers: FloatArray
    level: IntArray
    steps: IntArray

    @classmethod
    def of_shape(cls, profiles: int, slots: int, units: int) -> Ladder:
        """Return a ladder without steps."""
        shape = (profiles, slots, units)
        ratio = np.zeros(shape)
        gain = np.zeros(shape)
        servers = np.zeros(shape)
        return cls(ratio, gain, servers, np.zeros(shape, dtype=np.int64), np.zeros(shape[:2], dtype=np.int64))

    def set(self, carbon: FloatArray, prices: FloatArray, units: Units) -> None:
        """Set the steps at slot prices.

        Parameters
        ----------
        carbon
            Of each unit in each slot [g], shape (P, T, U).
        prices
            Of the slots [g per server and slot], shape (T,).
        units
            Of all profiles.
        """
        cost = carbon + prices[None, :, None] * units.servers[:, None, :]
        merge_units(cost, units.gain, units.servers, units.count, self)


@kernel
def merge_units(cost: FloatArray, gain: FloatArray, servers: FloatArray, count: IntArray, ladder: Ladder) -> None:
    """Merge units into the lower hull of (work, cost) of each profile and slot."""
    for p in range(cost.shape[0]):
        for t in range(cost.shape[1]):
            k = 0
            for u in range(count[p]):
                c = cost[p, t, u]
                g = gain[p, u]
                w = servers[p, u]
                while k > 0 and c < ladder.ratio[p, t, k - 1] * g:
                    k -= 1
                    c += ladder.ratio[p, t, k] * ladder.gain[p, t, k]
                    g += ladder.gain[p, t, k]
                    w += ladder.servers[p, t, k]
                ladder.ratio[p, t, k] = c / g
                ladder.gain[p, t, k] = g
                ladder.servers[p, t, k] = w
                ladder.level[p, t, k] = u
                k += 1
            ladder.steps[p, t] = k

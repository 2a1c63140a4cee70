"""What the search for a schedule begins with: prices, each job's answer to them, and jobs that have their place.

References
----------
Karnin, Koren, Somekh (2013), "Almost optimal exploration in multi-armed bandits", ICML, 1238-1246: sequential halving.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from carbonopt.core.arrays import BoolArray, FloatArray
from carbonopt.problems.purchasing.methods.price.dual import Dual
from carbonopt.problems.purchasing.methods.price.places import Places


@dataclass(frozen=True, eq=False)
class Guide:
    """Where a round of annealing begins.

    Parameters
    ----------
    prices
        Of reserved CPU-hours for jobs of each size: of cells that part the slots, shape (sizes, G).
    start, on_pool
        Each job's best answer to them: its start [h], and whether on the pool; shapes (N,).
    placed
        Jobs that stay where they are in rounds, not in ruin and recreate; shape (N,).
    """

    prices: FloatArray
    start: FloatArray
    on_pool: BoolArray
    placed: BoolArray

    @staticmethod
    def of(dual: Dual, point: FloatArray) -> Guide:
        """Return the answers to the prices of flat arguments, at which the dual was evaluated last."""
        return Guide(dual.of_sizes(point), dual.start.copy(), dual.used_other < 0.5, dual.placed)

    @staticmethod
    def beside(places: Places, dual: Dual, point: FloatArray) -> Guide:
        """Return the answers to the prices of flat arguments beside jobs that have a place."""
        dual = dual.with_places(places)
        dual.hard(point)
        return Guide.of(dual, point)


def best_of(
    guides: Sequence[Guide], time: float, cost: Callable[[Guide, float], float], done: Callable[[], bool]
) -> Guide:
    """Return the guide of least cost: the better half is tried for longer, until one is left.

    Parameters
    ----------
    guides
        At least one.
    time
        For all tries: each halving takes as long as the others.
    cost
        Of the schedule that a guide leads to in a time; other tries of it may find another cost.
    done
        Whether to stop, with the best so far.
    """
    halvings = math.ceil(math.log2(len(guides)))
    least = [math.inf] * len(guides)
    left = list(range(len(guides)))
    while len(left) > 1:
        each = time / halvings / len(left)
        for g in left:
            if not done():
                least[g] = min(least[g], cost(guides[g], each))
        left = sorted(left, key=lambda g: least[g])[: math.ceil(len(left) / 2)]
    return guides[left[0]]

"""The greedy for separable convex cost over an integer polymatroid.

A function f of the subsets of {0, ..., n-1} is the rank of an *integer polymatroid* if its values
are whole, f(empty set) = 0, it never falls when a set grows, and it is submodular: f(A) + f(B) >=
f(A and B) + f(A or B). The *independent vectors* are the whole x >= 0 with x(A) <= f(A) for every
set A, where x(A) is the sum of x over A. A *base* is an independent x with x(all) = f(all).

The greedy raises, one unit at a time, the cheapest element that can be raised, and ends at a base
of least cost. Why it works: of two independent vectors, the smaller in sum can be raised in some
element towards the larger and stay independent (exchange). Let b be a cheapest base that lies above
as many of the greedy's steps as possible, and suppose that a step leaves it: it raises element s of
a vector x <= b from x[s] = b[s]. By exchange, x with that unit can be raised to a base that differs
from b in two units: one more of s, one less of some r with x[r] < b[r]. The greedy could have raised
r and took s, so s costs no more than the next unit of r, and by convexity the last unit of b[r]
costs no less than that. So the new base costs no more than b and lies above one step more, against
the choice of b. A target below the rank changes nothing: vectors cut at a sum are a polymatroid too.

A set A with x(A) = f(A) is *tight*. Raising elsewhere keeps it tight, so an element that cannot be
raised now can never be raised later; the greedy drops it.

References
----------
Federgruen and Groenevelt (1986), "The greedy procedure for resource allocation problems: necessary
and sufficient conditions for optimality", Operations Research 34(6), 909-918.
Edmonds (1970), "Submodular functions, matroids, and certain polyhedra".
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.errors import Fault, InputError

UNLIMITED = 2**62
"""A number of units that no oracle can add."""

MarginalCost: TypeAlias = Callable[[int, int], float]
"""Cost of raising an element from i to i + 1 units, called as ``cost(element, i)``."""


class Oracle(Protocol):
    """An integer polymatroid on {0, ..., n-1} and an independent vector that grows in it."""

    @property
    def x(self) -> IntArray:
        """The current independent vector, shape (n,); it grows, and is not to be written to."""

    def can_add(self, element: int) -> bool:
        """Return whether x stays independent with one more unit of `element`."""

    def add(self, element: int, most: int = 1) -> int:
        """Raise x[element] by as many units as x stays independent with, `most` at most; return how many."""

    def rank(self, subset: npt.ArrayLike) -> int:
        """Return f of the elements listed in `subset`: the largest sum over them of an independent vector."""

    def independent(self, x: npt.ArrayLike) -> bool:
        """Return whether `x`, shape (n,), is independent; the current vector plays no part."""


@dataclass(frozen=True)
class Allocation:
    """What the greedy ends with.

    Parameters
    ----------
    x
        Units of each element, shape (n,).
    cost
        Of the units that were added.
    reached
        Whether the sum of x is the target; False proves that no independent vector reaches it.
    """

    x: IntArray
    cost: float
    reached: bool


def greedy(cost: npt.ArrayLike | MarginalCost, oracle: Oracle, target: int | None = None) -> Allocation:
    """Raise the oracle's vector to a given sum at least cost.

    Parameters
    ----------
    cost
        Cost of one more unit of each element, in any unit. Shape (n,): the same for every unit.
        Shape (n, k): entry i of a row is the cost of raising the element from i to i + 1, and rows do
        not fall. Or a function ``cost(element, i)`` that does not fall in i; it is asked for one unit
        more than the element can have.
    oracle
        The polymatroid. Its vector is raised from where it is; for the least cost of all, from 0.
    target
        Sum of x to reach; None for as much as is possible, a base.

    Returns
    -------
    Allocation
        The cheapest vector of that sum (or, if `target` is out of reach, a base of least cost) among
        those that are nowhere below the oracle's first one.

    Raises
    ------
    InputError
        If costs fall, are not finite, or give out before an element does.

    Notes
    -----
    Costs that do not change are taken in increasing order, each element raised at once as far as
    it goes: n calls of the oracle. Otherwise one call a unit, with a heap.

    Examples
    --------
    Two jobs of one unit each, in slots {0, 1} and {1, 2}, one unit a slot. Slot 1 is cheapest,
    and serves one of them; the other takes slot 0.

    >>> from carbonopt.algorithms.network import window_network
    >>> from carbonopt.algorithms.transversal import TransversalOracle
    >>> oracle = TransversalOracle(window_network([1, 1, 1], demand=[1, 1], start=[0, 1], end=[2, 3], per_slot=1))
    >>> greedy([2.0, 1.0, 4.0], oracle, target=2)
    Allocation(x=array([1, 1, 0]), cost=3.0, reached=True)
    """
    goal = UNLIMITED if target is None else target
    left = goal - int(oracle.x.sum())
    if callable(cost):
        total, added = _one_by_one(cost, oracle, left)
    else:
        table = _table(cost, len(oracle.x))
        if table.ndim == 1:
            total, added = _all_at_once(table, oracle, left)
        else:
            total, added = _one_by_one(_of_table(table), oracle, left)
    return Allocation(oracle.x.copy(), total, target is None or added == left)


def _all_at_once(cost: FloatArray, oracle: Oracle, left: int) -> tuple[float, int]:
    """Raise elements in the order of their cost, each as far as it goes; return cost and units."""
    total, added = 0.0, 0
    for element in np.argsort(cost, kind="stable").tolist():
        if added >= left:
            break
        units = oracle.add(element, left - added)
        total += units * float(cost[element])
        added += units
    return total, added


def _one_by_one(cost: MarginalCost, oracle: Oracle, left: int) -> tuple[float, int]:
    """Raise the cheapest element by one unit as often as possible; return cost and units."""
    total, added = 0.0, 0
    heap = [(cost(element, int(units)), element) for element, units in enumerate(oracle.x)]
    heapq.heapify(heap)
    while heap and added < left:
        price, element = heap[0]
        if not oracle.add(element):
            heapq.heappop(heap)
            continue
        if not np.isfinite(price):
            units = int(oracle.x[element])
            raise InputError(Fault("cost", f"must be finite for unit {units}, which is needed", repr(price), element))
        total += price
        added += 1
        units = int(oracle.x[element])
        following = cost(element, units) if added < left else price
        if not following >= price:
            raise InputError(Fault("cost", f"must not fall: {price!r} for the unit before", repr(following), element))
        heapq.heapreplace(heap, (following, element))
    return total, added


def _table(cost: npt.ArrayLike, size: int) -> FloatArray:
    table = np.asarray(cost, dtype=np.float64)
    if table.ndim not in (1, 2) or len(table) != size:
        raise InputError(Fault("cost", f"must have shape ({size},) or ({size}, units)", f"shape {table.shape}"))
    wrong = ~np.isfinite(table)
    if table.ndim == 2:
        wrong[:, 1:] |= ~(table[:, 1:] >= table[:, :-1])
    for place in np.argwhere(wrong)[:1]:
        value = repr(float(table[tuple(place)]))
        raise InputError(Fault("cost", "must be finite and not fall along a row", value, int(place[0])))
    return table


def _of_table(table: FloatArray) -> MarginalCost:
    """Return the entries of `table` as a function; past its last column no unit can be had."""
    return lambda element, units: float(table[element, units]) if units < table.shape[1] else np.inf

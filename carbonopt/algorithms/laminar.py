"""Independence oracles of totals: over nested sets, or one total and bounds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from carbonopt.algorithms.polymatroid import UNLIMITED
from carbonopt.core.arrays import BoolArray, IntArray, frozen_int
from carbonopt.core.errors import Fault, InputError


class LaminarOracle:
    """Totals over nested sets: x(S) <= bound of S, where any two sets are disjoint or one holds the other.

    Parameters
    ----------
    size
        Number n of elements.
    sets
        Lists of elements; each element is in one at least.
    bounds
        Largest sum of x over each set.

    Raises
    ------
    InputError
        If two sets cross, an element is in none, or a bound is negative or not whole.

    Notes
    -----
    `add` and `can_add` look at the m sets, `rank` takes O(m n).

    Examples
    --------
    >>> oracle = LaminarOracle(3, [[0, 1], [0, 1, 2]], bounds=[2, 4])
    >>> oracle.rank([0, 1]), oracle.rank([2]), oracle.rank([0, 1, 2])
    (2, 4, 4)
    >>> oracle.add(2, 3), oracle.add(0, 3), oracle.can_add(1)
    (3, 1, False)
    """

    def __init__(self, size: int, sets: Sequence[npt.ArrayLike], bounds: npt.ArrayLike) -> None:
        member = np.zeros((len(sets), size), dtype=np.bool_)
        for row, listed in enumerate(sets):
            member[row, frozen_int(listed, "sets")] = True
        order = np.argsort(member.sum(axis=1), kind="stable")  # small sets first, as `rank` wants them
        self._member: BoolArray = member[order]
        self._bound: IntArray = frozen_int(bounds, "bounds")[order]
        self._x: IntArray = np.zeros(size, dtype=np.int64)
        self._validate()

    def _validate(self) -> None:
        if (self._bound < 0).any():
            raise InputError(Fault("bounds", "must be at least 0", str(self._bound.min())))
        for element in np.flatnonzero(~self._member.any(axis=0))[:1]:
            raise InputError(Fault("sets", f"must hold every element; element {element} is in none"))
        count = self._member.astype(np.int64)
        shared = count @ count.T
        held = count.sum(axis=1)
        for a, b in np.argwhere((shared > 0) & (shared < np.minimum.outer(held, held)))[:1]:
            crossing = " and ".join(str(np.flatnonzero(self._member[k]).tolist()) for k in (a, b))
            raise InputError(Fault("sets", f"must be nested or disjoint; {crossing} cross"))

    @property
    def x(self) -> IntArray:
        """The current independent vector, shape (n,)."""
        return self._x

    def can_add(self, element: int) -> bool:
        """Return whether no set that holds `element` is full."""
        return self._room(element) > 0

    def add(self, element: int, most: int = 1) -> int:
        """Raise x[element] by as much as the sets let it, `most` at most; return by how much."""
        units = min(most, self._room(element))
        self._x[element] += units
        return units

    def rank(self, subset: npt.ArrayLike) -> int:
        """Return the largest sum over `subset`: what the sets inside each set let through, cut at its bound."""
        single = np.where(self._member, self._bound[:, None], UNLIMITED).min(axis=0, initial=UNLIMITED)
        amount = np.zeros_like(self._x)
        listed = np.asarray(subset, dtype=np.int64)
        amount[listed] = single[listed]
        for members, bound in zip(self._member, self._bound, strict=True):
            inside = np.flatnonzero(members)
            total = min(sum(amount[inside].tolist()), int(bound))
            amount[inside] = 0
            amount[inside[:1]] = total  # one element stands for the set from here on
        return int(amount.sum())

    def independent(self, x: npt.ArrayLike) -> bool:
        """Return whether `x`, shape (n,), is at least 0 and within every bound."""
        vector = np.asarray(x)
        return bool((vector >= 0).all() and (self._member @ vector <= self._bound).all())

    def _room(self, element: int) -> int:
        holding = self._member[:, element]
        return int((self._bound[holding] - self._member[holding] @ self._x).min())


class UniformOracle(LaminarOracle):
    """One total and a bound on each element: x <= upper and sum x <= total.

    Parameters
    ----------
    upper
        Largest value of each element, shape (n,).
    total
        Largest sum.

    Examples
    --------
    >>> UniformOracle(upper=[3, 1, 5], total=6).rank([0, 2])
    6
    """

    def __init__(self, upper: npt.ArrayLike, total: int) -> None:
        bounds = np.atleast_1d(upper)
        size = len(bounds)
        super().__init__(size, [*([t] for t in range(size)), np.arange(size)], [*bounds, total])

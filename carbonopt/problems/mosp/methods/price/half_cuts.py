"""Cuts by halves: half of several limits together, rounded down.

Every schedule starts each job at most once, and keeps the limits of cliques. So it keeps half of the sum of some of
these limits. With the factors of all starts rounded down this is still a limit, now on a whole number: what that is
at most may be rounded down as well. Jobs on one cluster exclude each other by cliques. Only such sums see that a job
has one half on this cluster and the other half on that one.

A solution violates the cut of some limits by the half that is lost where their sum is odd, less half of what it leaves
of them, less half of all starts with an odd factor. Limits are added to each other so that few starts of the solution
have an odd factor, by elimination as in Gauss's method, with numbers modulo 2. Each sum on the way that is odd enough
is a cut.

References
----------
Caprara, Fischetti (1996), "{0, 1/2}-Chvatal-Gomory cuts", Mathematical Programming 74, 221-235.
Koster, Zymolka, Kutschka (2009), "Algorithms to separate {0, 1/2}-Chvatal-Gomory cuts", Algorithmica 55, 375-391.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.core.options import Options
from carbonopt.problems.mosp.methods.price.kinds import Kinds

MOST_LEFT = 0.9
"""Of a limit, what a solution may leave for it to be added to others: 1 leaves no violation."""
MOST_NEW = 100
"""Cuts of a solution, at most: those that it violates most."""
MOST_ENTRIES = 5_000_000
"""Factors of limits that are looked at, at most: the time grows faster than their number."""
STEPS_OF_ENTRY = 0.1
"""Loop steps for each entry of a limit that is added to another one."""


@dataclass(frozen=True, eq=False)
class HalfCut:
    """Half of the starts of some kinds of jobs and of some cliques together, rounded down.

    Parameters
    ----------
    kinds
        Kinds of jobs, each of which starts as often as it has jobs, at most; shape (k,).
    cliques
        Numbers of cliques, shape (q,).
    most
        What the factors of the starts in a schedule add up to at most.
    """

    kinds: IntArray
    cliques: IntArray
    most: int

    def key(self) -> tuple[Any, ...]:
        """Return what tells it from others."""
        return self.kinds.tobytes(), self.cliques.tobytes()

    def members(self, kinds: Kinds, numbers: IntArray) -> dict[str, Any]:
        """Return what a certificate holds of it: `numbers` are those of its cliques, in order."""
        return {
            "jobs": np.sort(kinds.jobs(self.kinds)).tolist(),
            "halves": np.searchsorted(numbers, self.cliques).tolist(),
        }


@dataclass(frozen=True, eq=False)
class Limits:
    """Whole limits, and what a solution leaves of them.

    Parameters
    ----------
    factors
        Of the starts that the solution has, in each limit: whole numbers, shape (L, C).
    most
        The limits, shape (L,).
    amount
        How many jobs the solution has in each start, shape (C,).
    """

    factors: sparse.csr_array
    most: IntArray
    amount: FloatArray


def violated(limits: Limits, least: float, options: Options) -> list[IntArray]:
    """Return sets of limits whose cuts a solution violates; those found so far where time or work is out.

    Parameters
    ----------
    limits
        All limits.
    least
        By how much a cut must be violated.
    options
        Count the work.

    Returns
    -------
    list of IntArray
        Rows of limits, the most violated cut first. Each is violated by at least what it is ranked by: a limit that is
        added twice counts what is left of it twice.
    """
    left = np.maximum(limits.most - limits.factors @ limits.amount, 0.0)
    rows = np.flatnonzero(left < MOST_LEFT)
    if len(rows) * len(limits.amount) > MOST_ENTRIES:
        return []
    odd = limits.factors[rows]
    odd.data = odd.data % 2 > 0
    is_odd = np.asarray(odd.todense(), dtype=np.bool_)
    options.spend(STEPS_OF_ENTRY * is_odd.size)
    rows, is_odd = rows[is_odd.any(axis=1)], is_odd[is_odd.any(axis=1)]
    if not len(rows):
        return []
    is_odd, alike = np.unique(is_odd, axis=1, return_inverse=True)
    amount = np.bincount(alike.ravel(), limits.amount, is_odd.shape[1]).astype(np.float64)
    sums = _Sums(left[rows], is_odd, limits.most[rows] % 2 > 0, amount, least)
    for column in np.argsort(-amount, kind="stable").tolist():
        if options.remaining == 0:
            break
        options.spend(sums.clear(column))
    found = sorted(sums.found.values(), key=lambda entry: (-entry[0], len(entry[1])))
    return [rows[members] for _, members in found[:MOST_NEW]]


class _Sums:
    """Sums of limits modulo 2, and the cuts found so far: by how much each is violated, and its limits."""

    def __init__(
        self, left: FloatArray, is_odd: BoolArray, most_is_odd: BoolArray, amount: FloatArray, least: float
    ) -> None:
        self.left = left
        self.is_odd = is_odd
        self.most_is_odd = most_is_odd
        self.amount = amount
        self.least = least
        self.members = np.eye(len(left), dtype=np.bool_)
        self.is_open = np.ones(len(left), dtype=np.bool_)
        self.found: dict[bytes, tuple[float, IntArray]] = {}
        self._keep(np.arange(len(left)))

    def clear(self, column: int) -> float:
        """Add one sum with an odd factor in a column to all others of these; return the loop steps that it takes.

        It is the one that leaves least; of several, one of the fewest limits.
        """
        rows = np.flatnonzero(self.is_odd[:, column] & self.is_open)
        if not len(rows):
            return 0.0
        size = self.members[rows].sum(axis=1)
        pivot = rows[np.lexsort((size, self.left[rows]))[0]]
        others = rows[rows != pivot]
        self.is_odd[others] ^= self.is_odd[pivot]
        self.members[others] ^= self.members[pivot]
        self.most_is_odd[others] ^= self.most_is_odd[pivot]
        self.left[others] += self.left[pivot]
        self.is_open[pivot] = False
        self.is_open[others] = self.left[others] < MOST_LEFT
        self._keep(others[self.is_open[others]])
        return STEPS_OF_ENTRY * len(others) * (len(self.left) + len(self.amount))

    def _keep(self, rows: IntArray) -> None:
        """Keep the sums whose cuts are violated enough."""
        rows = rows[self.most_is_odd[rows]]
        violation = (1 - self.left[rows] - self.is_odd[rows] @ self.amount) / 2
        for row, by in zip(rows.tolist(), violation.tolist(), strict=True):
            if by > self.least:
                self.found.setdefault(self.members[row].tobytes(), (by, np.flatnonzero(self.members[row])))

"""Kinds of jobs: those that are alike in all that the problem knows of them, as the jobs of an array are.

A program need not tell them apart. It has one column for a kind and a place, which counts how many of its jobs start
there. Any two of them may change places, so the mean of all such changes of a solution is a solution of the same cost:
nothing is lost, and a trace of job arrays has a program many times smaller.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.mosp.data.instance import MospJobs

FEW_ALIKE = 4
"""Large jobs of a kind, at most, that are told apart where a tree branches on them: of more, one can do as another."""


@dataclass(frozen=True, eq=False)
class Kinds:
    """The kinds of some jobs, numbered in the order of their first jobs.

    Parameters
    ----------
    of
        Kind of each job, shape (N,).
    first
        First job of each kind, shape (K,).
    count
        Jobs of each kind, shape (K,).
    """

    of: IntArray
    first: IntArray
    count: IntArray

    def jobs(self, kinds: IntArray) -> IntArray:
        """Return all jobs of some kinds, kind after kind in the given order.

        >>> kinds_of_rows(np.array([[5], [3], [5]])).jobs(np.array([1, 0])).tolist()
        [1, 0, 2]
        """
        order = np.argsort(self.of, kind="stable")
        begin = np.cumsum(self.count) - self.count
        count = self.count[kinds]
        at = np.repeat(begin[kinds] - (np.cumsum(count) - count), count) + np.arange(int(count.sum()))
        return order[at]


def kinds_of(jobs: MospJobs, large: IntArray | None = None) -> Kinds:
    """Return the kinds of jobs: equal arrival, duration, deadline, demands, and clusters that they may use.

    They are the members of `table`, but exact in demands, which it has as mixes, and numbered by their first jobs.
    Jobs of `large` (rows) that are alike are told apart if they are few, so that a tree can branch on each of them.
    """
    columns = [jobs.arrival, jobs.duration, jobs.deadline, *jobs.demand.T]
    if jobs.eligible is not None:
        columns += list(jobs.eligible.T)
    rows = np.column_stack(columns).astype(np.float64)
    kinds = kinds_of_rows(rows)
    if large is None:
        return kinds
    apart = np.full(len(rows), -1.0)
    apart[large] = np.where(kinds.count[kinds.of[large]] <= FEW_ALIKE, large, -1.0)
    return kinds_of_rows(np.column_stack([rows, apart]))


def kinds_of_rows(rows: FloatArray) -> Kinds:
    """Return which rows are equal, shape (N, columns).

    >>> kinds = kinds_of_rows(np.array([[7, 1], [2, 2], [7, 1]]))
    >>> kinds.of.tolist(), kinds.first.tolist(), kinds.count.tolist()
    ([0, 1, 0], [0, 1], [2, 1])
    """
    _, first, of, count = np.unique(rows, axis=0, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    return Kinds(np.argsort(order)[of.ravel()], first[order], count[order])

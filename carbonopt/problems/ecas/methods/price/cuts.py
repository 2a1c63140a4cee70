"""Cuts for whole machines: jobs that run in a slot need a whole number of machines.

Let the jobs S use u units of a resource together, and let the largest machine have c. If all of them run in slot t,
k = ceil(u / c) machines are on. With rest = u - (k - 1) c, mixed-integer rounding says for every schedule

    sum_m v_mt >= k - sum_{j in S} min(1, u_j / rest) (1 - [j runs in t]).

The proof is at `carbonopt.problems.ecas.verify.cuts`.

References
----------
Nemhauser, Wolsey (1990), "A recursive procedure to generate all cuts for 0-1 mixed integer programs", Mathematical
Programming 46, 379-390.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.problems.ecas.methods.price.bound_kernels import deepest_cut
from carbonopt.problems.ecas.methods.price.tables import Tables

LEAST_PRESENCE = 0.1
"""Jobs of which less runs in a slot are not looked at for its cuts."""
LEAST_VIOLATION = 0.02
"""Cuts that are violated by less are left out [machines]."""


class Cuts(NamedTuple):
    """K cuts, and one entry for each job of each.

    Parameters
    ----------
    slot, resource
        Of each cut, shape (K,).
    least
        k - sum of the slopes: machines that are on where none of the jobs runs, at least; shape (K,).
    cut, job
        Of each entry, shape (E,); entries of a cut stand together.
    slope
        min(1, u_j / rest), shape (E,).
    """

    slot: IntArray
    resource: IntArray
    least: FloatArray
    cut: IntArray
    job: IntArray
    slope: FloatArray

    def kept(self, keep: BoolArray) -> Cuts:
        """Return some of the cuts; `keep` has shape (K,)."""
        number = np.cumsum(keep) - 1
        entry = keep[self.cut]
        return Cuts(
            self.slot[keep],
            self.resource[keep],
            self.least[keep],
            number[self.cut[entry]],
            self.job[entry],
            self.slope[entry],
        )

    def joined(self, other: Cuts) -> Cuts:
        """Return these cuts and then the others."""
        moved = other._replace(cut=other.cut + len(self.slot))
        return Cuts(*(np.concatenate(pair) for pair in zip(self, moved, strict=True)))

    def as_certificate(self, prices: FloatArray) -> dict[str, Any]:
        """Return what a certificate says of the cuts, with their prices, shape (K,)."""
        ends = np.cumsum(np.bincount(self.cut, minlength=len(self.slot)))[:-1]
        return {
            "slot": self.slot.tolist(),
            "resource": self.resource.tolist(),
            "jobs": [part.tolist() for part in np.split(self.job, ends)] if len(self.slot) else [],
            "prices": prices.tolist(),
        }


def no_cuts() -> Cuts:
    """Return none."""
    none = np.zeros(0, dtype=np.int64)
    return Cuts(none, none, np.zeros(0), none, none, np.zeros(0))


def violated(tables: Tables, presence: FloatArray, on: FloatArray, most: int) -> Cuts:
    """Return the cuts that a solution of the relaxation violates most, one at most for each slot and resource.

    Parameters
    ----------
    presence
        Share of each job that runs in each slot, shape (N, T).
    on
        Machines that are on by slot, shape (T,).
    most
        Cuts at most.
    """
    largest = tables.capacity.max(axis=0)
    found = []
    for t in range(len(on)):
        near = np.flatnonzero(presence[:, t] >= LEAST_PRESENCE)
        order = near[np.argsort(-presence[near, t], kind="stable")]
        for r in np.flatnonzero(largest > 0):
            by, count = deepest_cut(tables.use[:, r], presence[:, t], order, int(largest[r]), float(on[t]))
            if by > LEAST_VIOLATION:
                found.append((-by, t, int(r), order[:count]))
    found.sort(key=lambda cut: cut[:3])
    parts = (_cut(tables, t, r, jobs, int(largest[r])) for _, t, r, jobs in found[:most])
    return reduce(Cuts.joined, parts, no_cuts())


def _cut(tables: Tables, t: int, r: int, jobs: IntArray, capacity: int) -> Cuts:
    """Return the cut of a slot, a resource and jobs."""
    jobs = jobs[tables.use[jobs, r] > 0]
    use = tables.use[jobs, r]
    units = int(use.sum())
    machines = -(-units // capacity)
    slope = np.minimum(1.0, use / (units - (machines - 1) * capacity))
    least = np.array([machines - slope.sum()])
    return Cuts(np.array([t]), np.array([r]), least, np.zeros(len(jobs), dtype=np.int64), jobs, slope)

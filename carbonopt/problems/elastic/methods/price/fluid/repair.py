"""What rounding leaves of a fluid schedule: whether the checker would pass it, and how to complete it."""

from __future__ import annotations

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.problems.elastic.data.instance import ROUNDING
from carbonopt.problems.elastic.methods.price.fluid.band import Allocation, FluidProgram


def repaired(program: FluidProgram, allocation: Allocation) -> Allocation | None:
    """Do what jobs are short of by rounding, at the least scale in the cleanest slots with room.

    Parameters
    ----------
    program
        N jobs, T slots.
    allocation
        Sorted by job, within capacity.

    Returns
    -------
    Allocation or None
        With rows for the rest added; None if a job finds no room, or a load exceeds its capacity.
    """
    load = _load(program, allocation)
    if (load > program.capacity * (1 + ROUNDING)).any():
        return None
    free = np.maximum(program.capacity - load, 0.0)
    work = program.levels.work[program.profile[allocation.job], allocation.level] * allocation.share
    left = program.length - np.bincount(allocation.job, work, len(program.length))
    spare = (program.length - program.required) / 2
    bounds = np.searchsorted(allocation.job, [np.flatnonzero(left > spare), np.flatnonzero(left > spare) + 1])
    rows: list[tuple[int, int, float]] = []
    for j, start, stop in zip(np.flatnonzero(left > spare), *bounds, strict=True):
        p = program.profile[j]
        first = program.arrival[j]
        last = program.end[j]
        filled = np.bincount(allocation.slot[start:stop] - first, allocation.share[start:stop], last - first)
        for t in first + np.argsort(program.carbon[p, first:last, 0], kind="stable"):
            room = min(1.0 - filled[t - first], free[t] / program.units.servers[p, 0], left[j])
            if room > 0 and left[j] > 0:
                rows.append((int(j), int(t), float(room)))
                free[t] -= room * program.units.servers[p, 0]
                left[j] -= room
        if left[j] > spare[j]:
            return None
    return _with_rows(allocation, rows)


def _load(program: FluidProgram, allocation: Allocation) -> FloatArray:
    servers = program.levels.servers[program.profile[allocation.job], allocation.level] * allocation.share
    return np.asarray(np.bincount(allocation.slot, servers, len(program.capacity)), dtype=np.float64)


def _with_rows(allocation: Allocation, rows: list[tuple[int, int, float]]) -> Allocation:
    """Return an allocation with rows (job, slot, share) at the least level added."""
    if not rows:
        return allocation
    job, slot, share = (np.array(column) for column in zip(*rows, strict=True))
    added = (job, slot, np.zeros(len(rows), dtype=np.int64), share)
    return Allocation(*(np.concatenate([old, new]) for old, new in zip(allocation, added, strict=True)))

"""Slots that may serve jobs: a bipartite network with capacities.

A job needs some units in all, takes them in the slots that it allows, and at most so many in one
slot. A slot holds so many units.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from carbonopt.core.arrays import IntArray, frozen_int
from carbonopt.core.errors import Fault, InputError


class Network(NamedTuple):
    """T slots, N jobs, and E edges (job, slot) where the job allows the slot; all arrays read-only.

    Attributes
    ----------
    capacity
        Units that a slot holds, shape (T,).
    demand
        Units that a job needs in all, shape (N,).
    per_slot
        Units that a job takes in one slot at most, shape (N,).
    edge_job, edge_slot
        Ends of the edges, shape (E,), in the order of jobs.
    job_first
        Edges of job j are ``job_first[j]:job_first[j + 1]``, shape (N + 1,).
    slot_edge, slot_first
        Edges of slot t are ``slot_edge[slot_first[t]:slot_first[t + 1]]``, shapes (E,) and (T + 1,).
        Jobs with little room to spare come first: serving them first leaves fewer to move later.
    """

    capacity: IntArray
    demand: IntArray
    per_slot: IntArray
    edge_job: IntArray
    edge_slot: IntArray
    job_first: IntArray
    slot_edge: IntArray
    slot_first: IntArray


def window_network(
    capacity: npt.ArrayLike, demand: npt.ArrayLike, start: npt.ArrayLike, end: npt.ArrayLike, per_slot: npt.ArrayLike
) -> Network:
    """Return the network of jobs that allow every slot of a window.

    Parameters
    ----------
    capacity
        Units that a slot holds, shape (T,).
    demand
        Units that a job needs in all, shape (N,).
    start, end
        Job j allows the slots start[j] to end[j] - 1, shape (N,).
    per_slot
        Units that a job takes in one slot at most, shape (N,) or one for all.

    Raises
    ------
    InputError
        If a number is negative or not whole, a window leaves the slots, or lengths differ.
    """
    slots = len(np.atleast_1d(capacity))
    first = frozen_int(start, "start")
    last = frozen_int(end, "end")
    _same_length(demand=demand, start=first, end=last)
    for j in np.flatnonzero((first < 0) | (last < first) | (last > slots))[:1]:
        window = f"[{first[j]}, {last[j]})"
        raise InputError(
            Fault("start", f"the window must lie within the {slots} slots, as [0, {slots})", window, int(j))
        )
    width = last - first
    before = np.cumsum(width) - width
    job = np.repeat(np.arange(len(width)), width)
    return _network(capacity, demand, per_slot, job, np.arange(len(job)) + np.repeat(first - before, width))


def set_network(
    capacity: npt.ArrayLike, demand: npt.ArrayLike, allowed: Sequence[npt.ArrayLike], per_slot: npt.ArrayLike
) -> Network:
    """Return the network of jobs that allow any set of slots: `allowed` holds N lists of slots.

    The other parameters, and what is raised, are those of `window_network`.
    """
    _same_length(demand=demand, allowed=allowed)
    slots = len(np.atleast_1d(capacity))
    lists = [np.unique(frozen_int(listed, "allowed")) for listed in allowed]
    for j, listed in enumerate(lists):
        for t in listed[(listed < 0) | (listed >= slots)][:1]:
            raise InputError(Fault("allowed", f"must name slots 0 to {slots - 1}", str(t), j))
    job = np.repeat(np.arange(len(lists)), [len(listed) for listed in lists])
    return _network(capacity, demand, per_slot, job, np.concatenate([*lists, np.zeros(0, dtype=np.int64)]))


def _network(
    capacity: npt.ArrayLike, demand: npt.ArrayLike, per_slot: npt.ArrayLike, edge_job: IntArray, edge_slot: IntArray
) -> Network:
    room = _counts(np.atleast_1d(capacity), "capacity")
    need = _counts(demand, "demand")
    if np.ndim(per_slot):
        _same_length(demand=need, per_slot=per_slot)
    most = _counts(np.broadcast_to(per_slot, need.shape), "per_slot")
    width = np.bincount(edge_job, minlength=len(need))
    spare = (width * most - need)[edge_job]
    return Network(
        room,
        need,
        most,
        frozen_int(edge_job),
        frozen_int(edge_slot),
        _first(width),
        frozen_int(np.lexsort((spare, edge_slot))),
        _first(np.bincount(edge_slot, minlength=len(room))),
    )


def _first(counts: IntArray) -> IntArray:
    return frozen_int(np.concatenate(([0], np.cumsum(counts))))


def _counts(values: npt.ArrayLike, field: str) -> IntArray:
    counts = frozen_int(values, field)
    for i in np.flatnonzero(counts < 0)[:1]:
        raise InputError(Fault(field, "must be at least 0", str(counts[i]), int(i)))
    return counts


def _same_length(**columns: npt.ArrayLike | Sequence[npt.ArrayLike]) -> None:
    (first, given), *others = ((name, len(column)) for name, column in columns.items())  # type: ignore[arg-type]
    for name, length in others:
        if length != given:
            raise InputError(Fault(name, f"must have one entry a job, {given} as {first} has", f"{length} entries"))

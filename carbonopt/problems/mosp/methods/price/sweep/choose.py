"""Which jobs may move together: some of those that run within some slots on some clusters."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from carbonopt.core.arrays import IntArray
from carbonopt.problems.mosp.methods.price.sweep.part import Choice, whole_room
from carbonopt.problems.mosp.methods.price.sweep.profiles import are_few

LONGEST = 24
"""Slots of a job of a part, at most."""
CLUSTERS, JOBS, ABSENT = 3, 80, 12
"""Of a part, at most; of the jobs, those that do not run."""
DEAR, TOURNAMENT = 0.7, 15
"""Probability with which a part is one around a job of large excess, and draws of which the largest is taken."""


class Size(NamedTuple):
    """How large parts are.

    Attributes
    ----------
    profiles
        At most: they bound the units that the jobs of a part hold.
    spans
        Slots, of which one number is drawn.
    """

    profiles: int
    spans: tuple[int, ...]


def choose(state: Any, units: IntArray, unit: float, shape: tuple[int, ...], size: Size, rng: Any) -> Choice:
    """Draw a part of a schedule, often one around a job of large excess."""
    clusters, _, slots = shape
    jobs = state.jobs
    cluster = np.sort(rng.choice(clusters, min(CLUSTERS, clusters), replace=False))
    span = min(slots, int(rng.choice(size.spans)))
    begin = int(rng.integers(0, slots - span + 1))
    start, at = jobs.place % slots, jobs.place // slots
    dear = _dear(state, span, rng)
    if dear >= 0:
        if at[dear] not in cluster:
            cluster[int(rng.integers(len(cluster)))] = at[dear]
            cluster = np.sort(cluster)
        first, last = max(0, int(start[dear] + jobs.length[dear]) - span), min(int(start[dear]), slots - span)
        begin = int(rng.integers(first, last + 1))
    end = begin + span
    short = jobs.length <= LONGEST
    runs = short & (jobs.place >= 0) & (start >= begin) & (start + jobs.length <= end) & np.isin(at, cluster)
    waits = short & (jobs.place < 0) & (jobs.arrival + jobs.length <= end)
    longest = int(jobs.length[runs | waits].max(initial=1))
    most = 1
    while are_few(most + 1, longest, size.profiles):
        most += 1
    chosen = rng.permutation(np.flatnonzero(waits))[:ABSENT].tolist()
    order = rng.permutation(np.flatnonzero(runs))
    if dear >= 0:
        order = np.concatenate([[dear], order[order != dear]])
    row, held = {int(j): k for k, j in enumerate(cluster)}, np.zeros((len(cluster), span), dtype=np.int64)
    for i in order:
        if len(chosen) == JOBS:
            break
        there = held[row[int(at[i])], start[i] - begin : start[i] - begin + jobs.length[i]]
        if there.max() + units[i] <= most:
            there += units[i]
            chosen.append(int(i))
    left = state.free[0].reshape(clusters, slots)[cluster, begin:end]
    room = np.minimum(most, held + whole_room(left, unit, most))
    return Choice(np.array(chosen, dtype=np.int64), cluster, (begin, end), room, room - held)


def _dear(state: Any, span: int, rng: Any) -> int:
    """Draw a job of large excess that runs; -1 for none."""
    jobs = state.jobs
    some = np.flatnonzero((jobs.place >= 0) & (jobs.length <= min(span, LONGEST)))
    if not len(some) or rng.random() >= DEAR:
        return -1
    drawn = rng.choice(some, TOURNAMENT)
    return int(drawn[np.argmax(jobs.excess[drawn])])

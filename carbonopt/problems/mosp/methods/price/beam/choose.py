"""Which jobs may move together: some of those that run within some slots on some clusters."""

from __future__ import annotations

import numpy as np

from carbonopt.core.arrays import IntArray
from carbonopt.problems.mosp.methods.price.beam.parameters import BeamParameters, PartParameters
from carbonopt.problems.mosp.methods.price.beam.part import Choice, whole_room
from carbonopt.problems.mosp.methods.price.beam.profiles import are_few
from carbonopt.problems.mosp.methods.price.records import State


def choose(
    state: State,
    units: IntArray,
    unit: float,
    shape: tuple[int, ...],
    params: BeamParameters,
    size: PartParameters,
    rng: np.random.Generator,
) -> Choice:
    """Draw a part of a schedule, often one around a job of large excess."""
    clusters, _, slots = shape
    jobs = state.jobs
    cluster = np.sort(rng.choice(clusters, min(params.most_clusters, clusters), replace=False))
    span = min(slots, int(rng.choice(size.spans)))
    begin = int(rng.integers(0, slots - span + 1))
    start = jobs.place % slots
    at = jobs.place // slots
    target = _draw_high_regret(state, span, params, rng)
    if target >= 0:
        if at[target] not in cluster:
            cluster[int(rng.integers(len(cluster)))] = at[target]
            cluster = np.sort(cluster)
        first = max(0, int(start[target] + jobs.length[target]) - span)
        last = min(int(start[target]), slots - span)
        begin = int(rng.integers(first, last + 1))
    end = begin + span
    short = jobs.length <= params.longest_slots
    runs = short & (jobs.place >= 0) & (start >= begin) & (start + jobs.length <= end) & np.isin(at, cluster)
    waits = short & (jobs.place < 0) & (jobs.arrival + jobs.length <= end)
    longest = int(jobs.length[runs | waits].max(initial=1))
    most = 1
    while are_few(most + 1, longest, size.most_profiles):
        most += 1
    chosen = rng.permutation(np.flatnonzero(waits))[: params.most_rejected].tolist()
    order = rng.permutation(np.flatnonzero(runs))
    if target >= 0:
        order = np.concatenate([[target], order[order != target]])
    row = {int(j): k for k, j in enumerate(cluster)}
    held = np.zeros((len(cluster), span), dtype=np.int64)
    for i in order:
        if len(chosen) == params.most_jobs_of_part:
            break
        there = held[row[int(at[i])], start[i] - begin : start[i] - begin + jobs.length[i]]
        if there.max() + units[i] <= most:
            there += units[i]
            chosen.append(int(i))
    left = state.capacity_left[0].reshape(clusters, slots)[cluster, begin:end]
    room = np.clip(held + whole_room(left, unit, most), held, most)  # what is left may be less than 0 by rounding
    return Choice(np.array(chosen, dtype=np.int64), cluster, (begin, end), room, room - held)


def _draw_high_regret(state: State, span: int, params: BeamParameters, rng: np.random.Generator) -> int:
    """Draw a job of large excess that runs; -1 for none."""
    jobs = state.jobs
    some = np.flatnonzero((jobs.place >= 0) & (jobs.length <= min(span, params.longest_slots)))
    if not len(some) or rng.random() >= params.high_regret_share:
        return -1
    drawn = rng.choice(some, params.tournament)
    return int(drawn[np.argmax(jobs.excess[drawn])])

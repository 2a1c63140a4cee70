"""How a window of starts is split: on a cluster or elsewhere, or up to a slot or later."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.mosp.methods.price.windows import Field


class Split(NamedTuple):
    """How a branch is split: a large job, on a cluster or not (slot -1); or up to a slot, or later (cluster -1)."""

    job: int
    cluster: int
    slot: int


def split_of(k: int, windows: IntArray, shares: FloatArray, field: Field) -> Split:
    """Return how to split the windows of large job k, shape (M + 1, 2), of which the program has `shares`."""
    clusters = len(windows) - 1
    has = windows[:, 0] <= windows[:, 1]
    of_cluster = shares.sum(axis=1)
    of_cluster[~has] = -1.0
    by_start = shares[:clusters].sum(axis=0)
    spread = 0.0
    first = int(windows[:clusters, 0][has[:clusters]].min(initial=np.iinfo(np.int64).max))
    last = int(windows[:clusters, 1][has[:clusters]].max(initial=-1))
    slot = -1
    if first < last:
        cumulated = np.cumsum(by_start)
        cuts = np.arange(first, last)
        balance = np.minimum(cumulated[cuts], cumulated[-1] - cumulated[cuts])
        slot = int(cuts[np.argmax(balance - 1e-4 * np.abs(cuts - (first + last) / 2))])
        median = int(np.searchsorted(cumulated, 0.5 * cumulated[-1]))
        length = int(field.duration[field.job[k]])
        spread = float((by_start * np.minimum(np.abs(np.arange(len(by_start)) - median), length)).sum()) / length
    if has.sum() > 1 and (slot < 0 or 1.0 - of_cluster.max() >= spread):
        return Split(k, int(of_cluster.argmax()), -1)
    return Split(k, -1, slot)


def halves(windows: IntArray, split: Split) -> tuple[IntArray, IntArray]:
    """Return the windows of the two parts: on the cluster and elsewhere; or up to the slot, and later or left out."""
    one = windows.copy()
    other = windows.copy()
    if split.slot < 0:
        rest = np.arange(windows.shape[1]) != split.cluster
        one[split.job, rest] = (1, 0)
        other[split.job, split.cluster] = (1, 0)
    else:
        one[split.job, :-1, 1] = np.minimum(one[split.job, :-1, 1], split.slot)
        one[split.job, -1] = (1, 0)
        other[split.job, :-1, 0] = np.maximum(other[split.job, :-1, 0], split.slot + 1)
    return one, other

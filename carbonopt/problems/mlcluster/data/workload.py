"""Job sizes and arrivals of generated ML clusters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.errors import UnsupportedError, shown
from carbonopt.io.workload import require_horizon, stream

ARRIVALS = 0
"""Random stream of a seed that arrivals are drawn from."""
SIZES = 1
"""Random stream of a seed that work is drawn from."""
PROFILES = 2
"""Random stream of a seed that profiles are drawn from."""


@dataclass(frozen=True)
class SizeClass:
    """Jobs of similar size.

    Parameters
    ----------
    share
        Of the jobs.
    least, most
        Limits of the log-uniform work [1-GPU hours].
    """

    share: float
    least: float
    most: float


def _sizes(*shares: float) -> Mapping[str, SizeClass]:
    """Return the classes of GREEN's Tables 2 and 3 with these shares: up to 10 min, 1 h, 10 h, and 37 h."""
    edges = {"extra small": (1 / 60, 1 / 6), "small": (1 / 6, 1.0), "medium": (1.0, 10.0), "large": (10.0, 37.0)}
    return MappingProxyType({name: SizeClass(share, *edges[name]) for name, share in zip(edges, shares, strict=True)})


SIZES_MIX = _sizes(0.22, 0.30, 0.30, 0.18)
"""Sizes of jobs as in GREEN's Table 2, the day of 791 jobs: shares and limits by total running time.

The shortest job takes a minute, the longest 37 hours (section 8.1). Assumed are a log-uniform distribution within each
class, and that the running times are those on one GPU: the trace is private. A day has 2.6 times the work that 64 GPUs
do meanwhile.
"""
SIZES_YEAR = _sizes(0.16, 0.38, 0.36, 0.08)
"""The same of Table 3, the year of 146,000 jobs; its shares add up to 98 %."""


def draw_work(count: int, sizes: Mapping[str, SizeClass], seed: int) -> FloatArray:
    """Draw the work of jobs [1-GPU minutes], shape (count,), rounded to 0.01 min.

    One job of each of `count` equal parts of the distribution, in random order: every seed has the same mix and,
    but for what is within the parts, the same work.

    Raises
    ------
    UnsupportedError
        For shares or limits that are none.
    """
    for name, size in sizes.items():
        if not (size.share >= 0 and 0 < size.least <= size.most < np.inf):
            raise UnsupportedError(f"sizes[{name!r}] = {size}: must have a share of at least 0 and 0 < least <= most")
    shares = np.array([size.share for size in sizes.values()])
    if not 0 < shares.sum() < np.inf:
        raise UnsupportedError(f"sizes = {shown(dict(sizes))}: shares must add up to more than 0")
    rng = stream(seed, SIZES)
    edges = np.concatenate([[0.0], np.cumsum(shares / shares.sum())])
    place = (rng.permutation(count) + rng.random(count)) / count * edges[-1]
    chosen = np.searchsorted(edges[1:-1], place, side="right")
    least, most = (np.array([getattr(size, end) for size in sizes.values()])[chosen] for end in ("least", "most"))
    within = (place - edges[chosen]) / (edges[chosen + 1] - edges[chosen])
    return np.asarray(np.maximum(0.01, np.round(60 * least * (most / least) ** within, 2)))


def draw_profiles(count: int, shares: FloatArray, seed: int) -> IntArray:
    """Draw each job's profile by its share, shape (count,)."""
    return stream(seed, PROFILES).choice(len(shares), count, p=shares).astype(np.int64)


def slots_needed(arrival: FloatArray, work: FloatArray, gpus: int, drain_hours: float | None, slot_hours: float) -> int:
    """Return slots until every schedule that is not idle for long has ended.

    Parameters
    ----------
    arrival, work
        Of the jobs [min], shape (N,).
    gpus
        Of the cluster.
    drain_hours
        Time from the last arrival to the end; None: two days, the longest job on one GPU, and half of all
        work over the GPUs.
    slot_hours
        Length of a slot.

    Raises
    ------
    TooLargeError
        If they would not fit into memory.
    """
    drain = drain_hours
    if drain is None:
        drain = 48 + 1.1 * float(work.max(initial=0.0)) / 60 + 0.5 * float(work.sum()) / gpus / 60
    hours = float(arrival.max(initial=0.0)) / 60 + drain
    return require_horizon(max(1.0, np.ceil(hours / slot_hours - 1e-9)), slot_hours)

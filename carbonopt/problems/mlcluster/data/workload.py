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


SIZES_MIX: Mapping[str, SizeClass] = MappingProxyType(
    {
        "extra small": SizeClass(0.20, 1 / 60, 0.1),
        "small": SizeClass(0.52, 0.1, 1.0),
        "medium": SizeClass(0.24, 1.0, 10.0),
        "large": SizeClass(0.04, 10.0, 37.0),
    }
)
"""Sizes of jobs by decades of hours on one GPU: most jobs are small, and most work is in few.

This is the shape of GREEN's Table 2. Summaries of the paper tell four classes, the shortest job of a minute, the
longest of 37 hours, and large ones from 10 hours on. Its trace is private. The shares are assumed, such that a day of
791 jobs is a day of work for 64 GPUs. The paper's energy says as much: 725 kWh with GREEN, at the 28 kW that the whole
cluster peaks at with Tiresias, are 725 / 28 / 24 = 1.08 days.
"""


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

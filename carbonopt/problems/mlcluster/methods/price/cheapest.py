"""The cheapest runs of one job in what others leave free: compiled, from what they hold to the moments of its runs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import FloatArray
from carbonopt.problems.mlcluster.methods.price.cut import Runs, cut_surplus, runs_of_walk, runs_space
from carbonopt.problems.mlcluster.methods.price.path import PathSpace, Stretches, break_paths, path_space
from carbonopt.problems.mlcluster.methods.price.timeline import Held, Window, free_stretches


class Asked(NamedTuple):
    """What a job asks for: its work [1-GPU min], a break price to begin with, and its restart [min]."""

    work: float
    price: float
    restart: float


class Limits(NamedTuple):
    """What is the same for all jobs.

    Attributes
    ----------
    gpus
        Of the cluster.
    highest, close, width
        See `path.break_paths`.
    """

    gpus: int
    highest: float
    close: float
    width: float


class Space(NamedTuple):
    """Work space: edges of stretches, what is free there, walks over them, and the runs that come out."""

    moments: FloatArray
    over: Stretches
    paths: PathSpace
    runs: Runs


def space_of(stretches: int, gpus: int) -> Space:
    """Return work space for so many stretches, and jobs on so many GPUs at most."""
    carbon, price, length, late, least = np.zeros((5, stretches))
    over = Stretches(carbon, price, length, np.zeros(stretches, dtype=np.int64), late, least)
    return Space(np.zeros(stretches + 1), over, path_space(stretches, gpus), runs_space(stretches))


@kernel
def cheapest_runs(
    held: Held,
    window: Window,
    asked: Asked,
    speed: FloatArray,
    watts: FloatArray,
    limits: Limits,
    space: Space,
) -> tuple[int, int]:
    """Fill `space.runs` with the cheapest runs of a job.

    They are those of the cheapest walk that does the work, which may do somewhat more. So the dearest minutes at the
    edges of runs are left out.

    Returns
    -------
    count : int
        Of runs; 0 where there are none.
    looked_at : int
        Stretches, and those whose states were looked at, over all walks.
    """
    n = free_stretches(held, window, limits.gpus, len(speed), space.moments, space.over)
    every = space.over
    over = Stretches(
        every.carbon[:n], every.price[:n], every.length[:n], every.free[:n], every.late[:n], every.least[:n]
    )
    _, has_high, looked_at = break_paths(
        asked.work,
        asked.price,
        over,
        speed,
        watts,
        asked.restart,
        limits.highest,
        limits.close,
        limits.width,
        space.paths,
    )
    if not has_high:
        return 0, n + looked_at
    count = runs_of_walk(space.paths.high, space.moments, n, space.runs)
    surplus = space.paths.totals[2] - asked.work
    count = cut_surplus(space.runs, count, space.moments, over, speed, watts, asked.restart, surplus)
    return count, n + looked_at

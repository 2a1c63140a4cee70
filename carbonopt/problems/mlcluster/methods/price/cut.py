"""The runs of a walk, without the work that its job does not need: compiled loops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.mlcluster.methods.price.path import Stretches

NOTHING = 1e-9
"""Stretches and surpluses of work below this are none [min]."""


class Runs(NamedTuple):
    """Runs of one job in order of time; arrays have room for more than there are.

    Attributes
    ----------
    start, end
        [min].
    gpus
        On how many.
    first, last
        Stretches at its edges.
    """

    start: FloatArray
    end: FloatArray
    gpus: IntArray
    first: IntArray
    last: IntArray


def runs_space(stretches: int) -> Runs:
    """Return room for as many runs as there are stretches."""
    gpus, first, last = np.zeros((3, stretches), dtype=np.int64)
    return Runs(np.zeros(stretches), np.zeros(stretches), gpus, first, last)


@kernel
def runs_of_walk(walk: IntArray, moments: FloatArray, count: int, runs: Runs) -> int:
    """Fill the runs of a walk over `count` stretches between `moments`; return their number."""
    n = 0
    held = 0
    for e in range(count):
        if walk[e] != held and walk[e] > 0:
            runs.start[n] = moments[e]
            runs.gpus[n] = walk[e]
            runs.first[n] = e
            n += 1
        if walk[e] > 0:
            runs.end[n - 1] = moments[e + 1]
            runs.last[n - 1] = e
        held = walk[e]
    return n


@kernel
def drop_run(runs: Runs, k: int, count: int) -> None:
    """Leave out a run."""
    for i in range(k, count - 1):
        runs.start[i] = runs.start[i + 1]
        runs.end[i] = runs.end[i + 1]
        runs.gpus[i] = runs.gpus[i + 1]
        runs.first[i] = runs.first[i + 1]
        runs.last[i] = runs.last[i + 1]


@kernel
def cut_surplus(
    runs: Runs,
    count: int,
    moments: FloatArray,
    over: Stretches,
    speed: FloatArray,
    watts: FloatArray,
    restart: float,
    surplus: float,
) -> int:
    """Leave out the dearest minutes at the edges of runs, until there is no surplus of work; return how many are left.

    That is 0 where no minute is left, as of a job whose work is below what the cuts tell from nothing.
    """
    while count > 0 and surplus > NOTHING:
        worst, at_end, dearest = -1, False, -np.inf
        for k in range(count):
            n = runs.gpus[k]
            for e in (runs.first[k], runs.last[k]):
                rate = (over.carbon[e] * watts[n - 1] + over.price[e] * n) / speed[n - 1]
                if rate > dearest:
                    worst, at_end, dearest = k, e != runs.first[k], rate
        x = speed[runs.gpus[worst] - 1]
        begin = max(runs.start[worst], moments[runs.last[worst]]) if at_end else runs.start[worst]
        end = runs.end[worst] if at_end else min(runs.end[worst], moments[runs.first[worst] + 1])
        cut = min(surplus / x, end - begin)
        surplus -= cut * x
        is_used_up = end - begin - cut <= NOTHING
        is_last = runs.first[worst] == runs.last[worst] and is_used_up
        if at_end:
            runs.end[worst] = begin if is_used_up else end - cut
            runs.last[worst] -= is_used_up
        else:
            runs.start[worst] = end if is_used_up else begin + cut
            runs.first[worst] += is_used_up
        minutes = 0.0 if is_last else runs.end[worst] - runs.start[worst]
        idle = 0.0 if worst == 0 else restart
        if minutes <= idle + NOTHING:  # a restart alone does no work
            surplus += (minutes - idle) * x
            drop_run(runs, worst, count)
            count -= 1
            if worst == 0 and count > 0:  # the next is the first one now
                surplus += restart * speed[runs.gpus[0] - 1]
    return count

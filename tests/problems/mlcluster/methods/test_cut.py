"""Work that a job does not need is cut off its runs where it is dearest."""

from __future__ import annotations

import numpy as np
import pytest

from carbonopt.algorithms.kernel import loops
from carbonopt.core.arrays import FloatArray
from carbonopt.problems.mlcluster.methods.price.cut import Runs, cut_surplus, runs_of_walk, runs_space
from carbonopt.problems.mlcluster.methods.price.path import Stretches

MOMENTS = np.array([0.0, 10.0, 20.0, 30.0, 40.0])
SPEED, WATTS = np.array([1.0, 1.5]), np.array([1.0, 2.0])
RESTART = 4.0


def cut(walk: list[int], carbon: list[float], surplus: float) -> list[tuple[float, float, int]]:
    """Return begin, end and GPUs of each run that is left."""
    none: FloatArray = np.zeros(4)
    over = Stretches(np.array(carbon), none, np.diff(MOMENTS), np.full(4, 2), none, none)
    runs: Runs = runs_space(4)
    with loops(steps=0):
        count = runs_of_walk(np.array(walk), MOMENTS, 4, runs)
        count = cut_surplus(runs, count, MOMENTS, over, SPEED, WATTS, RESTART, surplus)
    return list(zip(runs.start[:count].tolist(), runs.end[:count].tolist(), runs.gpus[:count].tolist(), strict=True))


@pytest.mark.parametrize(
    ("walk", "carbon", "surplus", "left"),
    [
        ([1, 1, 0, 2], [1, 1, 1, 1], 0.0, [(0, 20, 1), (30, 40, 2)]),
        ([1, 1, 2, 2], [1, 1, 1, 1], 0.0, [(0, 20, 1), (20, 40, 2)]),
        ([1, 1, 1, 0], [3, 1, 2, 1], 4.0, [(4, 30, 1)]),  # the first stretch is dearest
        ([1, 1, 1, 0], [3, 1, 2, 1], 14.0, [(10, 26, 1)]),  # all of it, then of the last one
        ([1, 1, 1, 0], [1, 9, 1, 1], 4.0, [(4, 30, 1)]),  # what is within a run stays
        ([0, 2, 0, 0], [1, 1, 1, 1], 3.0, [(12, 20, 2)]),  # 2 min on two GPUs do 3
        ([1, 0, 1, 0], [1, 1, 5, 1], 2.0, [(0, 10, 1), (22, 30, 1)]),
        ([1, 0, 1, 0], [1, 1, 5, 1], 6.0, [(0, 10, 1)]),  # a second run of 10 min does 6 behind its restart
        ([1, 0, 1, 0], [5, 1, 1, 1], 10.0, [(24, 30, 1)]),  # without the first, the second has no restart: 6 are left
        ([1, 0, 0, 0], [1, 1, 1, 1], 10.0, []),
    ],
)
def test_by_hand(walk: list[int], carbon: list[float], surplus: float, left: list[tuple[float, float, int]]) -> None:
    found = cut(walk, carbon, surplus)
    assert [run[2] for run in found] == [run[2] for run in left]
    assert [run[:2] for run in found] == [pytest.approx(run[:2]) for run in left]

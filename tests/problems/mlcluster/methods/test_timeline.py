"""GPUs that runs hold over time, and what they leave to one job."""

from __future__ import annotations

import numpy as np
import pytest

from carbonopt.algorithms.kernel import loops
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.mlcluster.methods.price.path import Stretches
from carbonopt.problems.mlcluster.methods.price.timeline import (
    Held,
    Window,
    free_stretches,
    hold,
    nothing_held,
    with_room,
)

GPUS, MOST, MINUTES, CELLS = 6, 3, 10.0, 8


def drawn(rng: np.random.Generator, count: int) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return runs that hold up to 6 GPUs together; some begin or end at the same moment."""
    start, end, gpus = [], [], []
    while len(start) < count:
        a, b = np.sort(rng.integers(0, 40, 2) * 2.0)
        n = int(rng.integers(1, 4))
        if a < b and max(held_at(start, end, gpus, t) for t in np.arange(a, b)) + n <= GPUS:
            start.append(a), end.append(b), gpus.append(n)
    return np.array(start), np.array(end), np.array(gpus)


def held_at(start: list[float], end: list[float], gpus: list[int], moment: float) -> int:
    return sum(n for a, b, n in zip(start, end, gpus, strict=True) if a <= moment < b)


def empty_stretches(size: int) -> Stretches:
    carbon, price, length, late, least = np.zeros((5, size))
    return Stretches(carbon, price, length, np.zeros(size, dtype=np.int64), late, least)


def stretches(held: Held, arrival: float, late: float) -> tuple[FloatArray, Stretches]:
    size = CELLS + int(held.steps[0]) + 1
    moments, over = np.zeros(size + 1), empty_stretches(size)
    carbon, price, least = np.arange(CELLS) + 1.0, np.arange(CELLS) % 2 + 0.0, np.arange(CELLS) / 2
    window = Window(carbon, price, least, MINUTES, arrival, late)
    n = free_stretches(held, window, GPUS, MOST, moments, over)
    return moments[: n + 1], Stretches._make(column[:n] for column in over)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("late", [0.0, 6.0])
def test_stretches_say_what_is_free_at_each_moment(seed: int, late: float) -> None:
    rng = np.random.default_rng(seed)
    start, end, gpus = drawn(rng, 6)
    arrival = float(rng.integers(0, 50))
    with loops(steps=0):
        held = with_room(nothing_held(1), 2 * len(start))
        hold(held, start, end, gpus, 1)
        moments, over = stretches(held, arrival, late)
    assert moments[0] == arrival
    assert moments[-1] == CELLS * MINUTES
    assert np.allclose(np.diff(moments), over.length)
    assert np.allclose(over.late, late * (moments[1:] - arrival) / 60)
    for moment in np.arange(arrival, CELLS * MINUTES) + 0.5:
        e = int(np.searchsorted(moments, moment)) - 1
        cell = int(moment / MINUTES)
        assert over.free[e] == min(MOST, GPUS - held_at(start.tolist(), end.tolist(), gpus.tolist(), moment))
        if over.free[e]:
            assert (over.carbon[e], over.price[e], over.least[e]) == (cell + 1.0, cell % 2, cell / 2)
        else:
            assert over.least[e] == np.inf


@pytest.mark.parametrize("seed", range(8))
def test_runs_that_are_taken_away_leave_no_steps(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    start, end, gpus = drawn(rng, 7)
    order = rng.permutation(len(start))
    with loops(steps=0):
        held = with_room(nothing_held(1), 2 * len(start))
        hold(held, start, end, gpus, 1)
        for k, i in enumerate(order):
            left = order[k:]
            changes = {m for m in (*start[left], *end[left]) if _changes(start[left], end[left], gpus[left], m)}
            assert held.moment[1 : held.steps[0]].tolist() == sorted(changes)
            hold(held, start[[i]], end[[i]], gpus[[i]], -1)
    assert held.steps[0] == 1
    assert held.gpus[0] == 0


def _changes(start: FloatArray, end: FloatArray, gpus: IntArray, moment: float) -> bool:
    runs = start.tolist(), end.tolist(), gpus.tolist()
    return held_at(*runs, moment) != held_at(*runs, moment - 1e-6)


def test_room_grows_and_keeps_what_is_held() -> None:
    with loops(steps=0):
        held = with_room(nothing_held(1), 2)
        hold(held, np.array([3.0]), np.array([5.0]), np.array([2]), 1)
        larger = with_room(held, 10)
        hold(larger, np.array([4.0]), np.array([9.0]), np.array([1]), 1)
    assert larger.moment[: larger.steps[0]].tolist() == [-np.inf, 3.0, 4.0, 5.0, 9.0]
    assert larger.gpus[: larger.steps[0]].tolist() == [0, 2, 3, 1, 0]

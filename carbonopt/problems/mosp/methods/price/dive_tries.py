"""A job is tried here and there, and the best try is kept."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.milp.warm import Point

NO_RISE = 2e-5
"""Rise of a program's cost, over that cost, up to which a job is tried in no other place."""
HIGH_RISE = 3e-4
"""Rise of a program's cost, over that cost, from which a job is tried in places that have little or nothing of it."""


class Relaxed(NamedTuple):
    """A solution of the program with some jobs placed.

    Attributes
    ----------
    place
        Of each job, cluster x T + start, -1 for none yet; shape (N,).
    room
        How many more jobs each column might have; shape (C,).
    point
        The solution.
    """

    place: IntArray
    room: FloatArray
    point: Point


class Tries:
    """What it costs to place a job here or there.

    Parameters
    ----------
    begun
        Cost of the program before.
    goal
        Cost that it must not exceed.
    noise
        By which rises are drawn to be larger, at most.

    Attributes
    ----------
    best
        The solution of the try that costs least.
    first
        Places of the first try; None while none had room.
    most
        What the next try must cost less than.
    """

    def __init__(self, begun: float, goal: float, noise: float) -> None:
        self.begun = begun
        self.most = goal
        self.noise = noise
        self.best: Relaxed | None = None
        self.first: IntArray | None = None

    def take(self, tried: Relaxed | None, rng: np.random.Generator) -> None:
        """Keep a try if it is the best one; None is one above `most`."""
        if tried is None:
            return
        rise = tried.point.objective - self.begun
        cost = self.begun + rise * (1.0 + self.noise * rng.random())
        if self.best is None or cost < self.most:
            self.best = tried
            self.most = min(self.most, cost)

    @property
    def rise(self) -> float:
        """By how much the best try costs more than before; infinite while there is none."""
        return np.inf if self.best is None else self.best.point.objective - self.begun

    @property
    def is_free(self) -> bool:
        """Whether the best try costs hardly more."""
        return self.rise <= NO_RISE * abs(self.begun)

    @property
    def costs_much(self) -> bool:
        """Whether the best try costs so much more that other places are worth a look."""
        return self.rise > HIGH_RISE * abs(self.begun)

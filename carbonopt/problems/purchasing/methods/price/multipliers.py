"""Multipliers of the limits while schedules are sought that keep them.

Those of the bound make the relaxation keep the limits. A schedule of whole jobs needs more of some and less of others:
at the bound's, schedules of the week of GAIA's paper exceeded a cost limit by 9 %, and four times the bound's
multiplier of cost was needed. So each limit has a step of its own, as in resilient propagation: it grows while the
limit stays exceeded or kept, and is halved where that changes (M. Riedmiller and H. Braun. A direct adaptive method for
faster backpropagation learning: the RPROP algorithm. 1993).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.problems.purchasing.methods.price.parameters import LimitParameters

MOST = 1e6
"""Multipliers at most, over the larger of where they begin and their least: no schedule may keep the limits."""


@dataclass
class Multipliers:
    """Multipliers of K limits, which follow by how much schedules exceed these.

    Parameters
    ----------
    values
        To begin with, in the objective's unit for one of each limited amount, shape (K,).
    least
        What they are at least, once their limit is exceeded, shape (K,).
    parameters
        How far they go at a time.
    """

    values: FloatArray
    least: FloatArray
    parameters: LimitParameters
    most: FloatArray = field(init=False)
    step: FloatArray = field(init=False)
    side: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        self.most = MOST * np.maximum(self.values, self.least)
        self.begin()

    def begin(self) -> None:
        """Begin to search anew from the values of the last search."""
        self.step = np.full(len(self.values), self.parameters.first_step)
        self.side = np.zeros(len(self.values))

    def follow(self, over: FloatArray) -> None:
        """Raise those of limits that are exceeded and lower the others, each by its own step.

        Parameters
        ----------
        over
            By how much each limit is exceeded, relative; below 0 where it is kept, shape (K,).
        """
        side = np.sign(over)
        if self.side.any():
            grown = self.step * np.where(side == self.side, self.parameters.growth, 0.5)
            self.step = np.minimum(grown, self.parameters.most_step)
        self.side = side
        self.values = self._moved(self.values, side * self.step)

    def nudged(self, values: FloatArray, over: FloatArray) -> FloatArray:
        """Return values a little above those of limits that are exceeded, and a little below the others'."""
        nudge = self.parameters.nudge
        return self._moved(values, np.where(over > 0, nudge, -nudge / 2))

    def found(self) -> bool:
        """Return whether the steps have become too small to go on."""
        return bool(self.step.max(initial=0.0) < self.parameters.precision)

    def _moved(self, values: FloatArray, steps: FloatArray) -> FloatArray:
        above_least = np.where(steps > 0, np.maximum(values, self.least), values)
        return np.asarray(np.minimum(above_least * np.exp(steps), self.most))

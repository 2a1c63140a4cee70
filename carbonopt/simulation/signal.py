"""Piecewise constant signals in continuous time, and their exact integrals."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from carbonopt.core.arrays import FloatArray, IntArray, frozen_float

ROUNDING = 1e-9
"""Part of a step that counts as rounding: a time this near to the next value belongs to it."""


class StepSignal:
    """A signal that holds each of its values for one step.

    Parameters
    ----------
    values
        Shape (T,).
    step
        How long each value holds, in any unit of time.
    origin
        When the first value begins.

    Notes
    -----
    Integrals are differences of prefix sums. Those of a year are a million times a short run's integral,
    so that plain sums would lose six digits; each sum is kept with its rounding error (Neumaier), and a
    difference has nearly all digits. Two runs over equal values then tie to about 1e-15.

    Examples
    --------
    >>> signal = StepSignal(np.array([3.0, 1.0, 2.0]))
    >>> signal.integral(0.5, 2.25).item()
    3.0
    """

    def __init__(self, values: npt.ArrayLike, step: float = 1.0, origin: float = 0.0) -> None:
        self.values = frozen_float(values)
        self.step = float(step)
        self.origin = float(origin)
        self._sum = np.concatenate(([0.0], np.cumsum(self.values)))
        before = self._sum[:-1]
        after = self._sum[1:]
        added = after - before
        self._error = np.concatenate(([0.0], np.cumsum((before - (after - added)) + (self.values - added))))

    @property
    def end(self) -> float:
        """When the last value ends."""
        return self.origin + len(self.values) * self.step

    def position(self, time: npt.ArrayLike) -> IntArray:
        """Return the position of the value that holds at each time; the first and last go on for ever."""
        place = np.floor((np.asarray(time, dtype=np.float64) - self.origin) / self.step + ROUNDING)
        return np.clip(place, 0, len(self.values) - 1).astype(np.int64)

    def at(self, time: npt.ArrayLike) -> FloatArray:
        """Return the value at each time."""
        return self.values[self.position(time)]

    def integral(self, start: npt.ArrayLike, end: npt.ArrayLike) -> FloatArray:
        """Return the integrals from `start` to `end`, elementwise [value x unit of time]."""
        first = self.position(start)
        last = self.position(end)
        whole = (self._sum[last] - self._sum[first]) + (self._error[last] - self._error[first])
        head = (np.asarray(start, dtype=np.float64) - self.origin) - first * self.step
        tail = (np.asarray(end, dtype=np.float64) - self.origin) - last * self.step
        return np.asarray(whole * self.step + (tail * self.values[last] - head * self.values[first]))

"""Prices that maximise a concave dual function: smoothed ascent, then subgradient steps.

A Lagrangian relaxation gives a bound at any prices. As a function of the prices it is concave but has kinks:
it is a sum of minima, one a job. With a soft minimum of temperature tau in the place of each,

    soft min_k v_k = - tau log sum_k exp(-v_k / tau)     (between min - tau log K and min),

it is smooth, and a quasi-Newton method climbs it quickly. The temperature falls in stages, each of which starts
where the one before ended. What is left is kinks alone; deflected subgradient steps of Polyak's length take those.
The value that counts is always the hard one.

References
----------
Nesterov (2005), "Smooth minimization of non-smooth functions", Mathematical Programming 103, 127-152.
Byrd, Lu, Nocedal, Zhu (1995), "A limited memory algorithm for bound constrained optimization", SIAM J. Sci. Comput. 16.
Camerini, Fratta, Maffioli (1975), "On improving relaxation methods by modified gradient techniques",
Mathematical Programming Study 3, 26-34.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import Bounds, minimize

from carbonopt.core.arrays import FloatArray

Dual = Callable[[FloatArray], tuple[float, FloatArray]]
"""Value and a subgradient at given prices."""
SoftDual = Callable[[FloatArray, float], tuple[float, FloatArray]]
"""Value and gradient at given prices and temperature."""

LOOK = 20
"""Quasi-Newton iterations after which the hard value is looked at, for the incumbent bound and for the goal."""
STALL = 10
"""Quasi-Newton iterations in which a stage must rise, where it is to end early."""
MEMORY = 20
"""Gradients that the quasi-Newton method remembers."""
FIRST_GAP = 1e-3
"""Distance to the maximum that the first subgradient steps assume, relative to the value."""
LAST_GAP = 1e-9
"""Assumed distance at which the steps end."""
PATIENCE = 6
"""Steps without a better value after which the assumed distance is halved."""
MOMENTUM = 0.6
"""Share of the last direction in the next one."""


class _AstrayError(Exception):
    """The quasi-Newton method asks for the value at prices that are no numbers."""


def _no_limit() -> float:
    return np.inf


@dataclass
class Ascent:
    """An ascent that keeps the best prices that it has seen; call its methods in any order, as often as wanted.

    Parameters
    ----------
    hard, soft
        The dual function and its smoothed form, None where there is none and only `step` is called. Prices come and
        go as flat arrays, shape (n,).
    prices
        To start from; afterwards those of the best hard value.
    lower, upper
        Of each price, or of all.
    scale
        Size of a typical price: the quasi-Newton method works in this unit.
    remaining
        Time or work that is left; asked before every evaluation.
    spend
        Called at every evaluation: it counts the work of one.
    report
        Called with the best hard value whenever that was looked at.
    goal
        A hard value that is good enough: the ascent ends there.

    Attributes
    ----------
    value
        Best hard value so far, that of `prices`.
    subgradient
        Of `prices`.
    evaluations
        Of both functions, so far.
    latest
        Where the soft function was last climbed to: there its gradient nearly vanishes.

    Examples
    --------
    Two jobs, each 1 or 3 dear, share one unit of the cheap slot: a price of 2 on it makes 2 x 3 - 2 = 4.

    >>> import numpy as np
    >>> def hard(price):
    ...     cheap = 1 + price[0] < 3
    ...     return 2 * min(1 + price[0], 3.0) - price[0], np.array([2.0 * cheap - 1])
    >>> def soft(price, tau):
    ...     least = min(1 + price[0], 3.0)
    ...     terms = np.exp((least - np.array([1 + price[0], 3.0])) / tau)
    ...     return 2 * (least - tau * np.log(terms.sum())) - price[0], np.array([2 * terms[0] / terms.sum() - 1])
    >>> ascent = Ascent(hard, soft, np.zeros(1))
    >>> ascent.smooth([0.1, 0.01, 1e-4])
    >>> ascent.step(50)
    >>> print(f"{ascent.value:.6f} at {ascent.prices[0]:.4f}")
    4.000000 at 2.0000
    """

    hard: Dual
    soft: SoftDual | None
    prices: FloatArray
    lower: FloatArray | float = 0.0
    upper: FloatArray | float = np.inf
    scale: float = 1.0
    remaining: Callable[[], float] = _no_limit
    spend: Callable[[], Any] = _no_limit
    report: Callable[[float], Any] | None = None
    goal: float = np.inf
    value: float = field(default=-np.inf, init=False)
    evaluations: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._low: FloatArray = np.broadcast_to(self.lower, self.prices.shape)
        self._high: FloatArray = np.broadcast_to(self.upper, self.prices.shape)
        self.subgradient: FloatArray = np.zeros_like(self.prices)
        self.latest: FloatArray = self.prices
        self.look(np.clip(self.prices, self._low, self._high))

    @property
    def done(self) -> bool:
        """Whether time is out or the goal is reached."""
        return self.value >= self.goal or self.remaining() <= 0

    def look(self, prices: FloatArray) -> tuple[float, FloatArray]:
        """Return the hard value and a subgradient at `prices`, and keep them if they are the best so far."""
        value, subgradient = self.hard(prices)
        self._count()
        if value > self.value:
            self.value, self.prices, self.subgradient = value, np.array(prices), subgradient
        if self.report is not None:
            self.report(self.value)
        return value, subgradient

    def _count(self) -> None:
        self.evaluations += 1
        self.spend()

    def smooth(self, temperatures: Sequence[float], iterations: int = 100, least_rise: float = 0.0) -> None:
        """Climb the soft function in stages of falling temperature.

        Parameters
        ----------
        temperatures
            Of the stages.
        iterations
            In each, at most.
        least_rise
            A stage ends when the soft value rises by less in `STALL` iterations, relative.
        """
        prices = self.prices
        for temperature in temperatures:
            if self.done:
                return
            self.latest = prices = self._climb(prices, temperature, iterations, least_rise)
            self.look(prices)

    def _climb(self, prices: FloatArray, temperature: float, iterations: int, least_rise: float) -> FloatArray:
        """Return the prices at which the quasi-Newton method ends."""
        size = abs(self.value) or 1.0
        soft = self.soft
        count, latest = 0, prices
        now, before = -np.inf, -np.inf  # soft values, relative to `size`
        assert soft is not None, "the smoothed form is missing"

        def fallen(x: FloatArray) -> tuple[float, FloatArray]:
            nonlocal now
            self._count()
            if not np.isfinite(x).all():  # of slopes that differ by many orders of magnitude
                raise _AstrayError
            value, gradient = soft(x * self.scale, temperature)
            now = max(now, value / size)
            return -value / size, gradient * (-self.scale / size)

        def after_iteration(x: FloatArray) -> None:
            nonlocal count, latest, before
            count += 1
            latest = self._inside(x)
            if count % LOOK == 0:
                self.look(latest)
            if self.done:
                raise StopIteration
            if count % STALL == 0:
                if now - before < least_rise:
                    raise StopIteration
                before = now

        bounds = Bounds(self._low / self.scale, self._high / self.scale)
        options = {"maxiter": iterations, "maxfun": 2 * iterations, "maxcor": MEMORY, "ftol": 1e-13, "gtol": 0.0}
        method: Any = minimize  # its overloads do not know all that it takes
        with suppress(_AstrayError):
            method(
                fallen,
                prices / self.scale,
                jac=True,
                method="L-BFGS-B",
                bounds=bounds,
                callback=after_iteration,
                options=options,
            )
        return latest

    def _inside(self, x: FloatArray) -> FloatArray:
        """Return prices within their bounds, from the unit of the quasi-Newton method."""
        return np.asarray(np.clip(x * self.scale, self._low, self._high))

    def step(self, steps: int, gap: float = FIRST_GAP, last_gap: float = LAST_GAP) -> None:
        """Take deflected subgradient steps from the best prices, of the length that closes a gap assumed.

        Parameters
        ----------
        steps
            At most. The steps end early when the gap assumed, halved whenever they stall, is negligible.
        gap
            Distance to the maximum that the first steps assume, relative to the value.
        last_gap
            Assumed distance at which the steps end.
        """
        prices = self.prices
        value = self.value
        subgradient = self.subgradient
        direction = np.zeros_like(prices)
        stalled = 0
        size = abs(self.value) or 1.0
        for _ in range(steps):
            outwards = ((prices <= self._low) & (subgradient < 0)) | ((prices >= self._high) & (subgradient > 0))
            direction = MOMENTUM * direction + np.where(outwards, 0.0, subgradient)
            length = float(direction @ direction)
            if gap < last_gap or length <= 0 or self.done:
                break
            prices = np.clip(prices + (self.value + gap * size - value) / length * direction, self._low, self._high)
            best = self.value
            value, subgradient = self.look(prices)
            stalled = 0 if self.value > best + 1e-3 * gap * size else stalled + 1
            if stalled >= PATIENCE:
                gap /= 2
                stalled = 0
                prices = self.prices
                value = self.value
                subgradient = self.subgradient
                direction = np.zeros_like(prices)

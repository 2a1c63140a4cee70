"""The course of an annealing that ends in time: by sweeps done, or by time or work where these run faster."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class Step(NamedTuple):
    """What holds for one sweep.

    Parameters
    ----------
    temperature
        Of the sweep.
    steep
        Factor of the price of load above R, where there may be none at last.
    firm
        Share of the cost of load that the jobs see; for the rest they pay the bound's prices.
    """

    temperature: float
    steep: float
    firm: float


def _nothing() -> None:
    pass


@dataclass
class Cooling:
    """Temperatures and the like of sweeps, from first to last, each falling or rising geometrically.

    As long as the sweeps end within the time, they are the same whatever the machine.

    Parameters
    ----------
    sweeps
        At most.
    hot, cold
        First and last temperature; 0 for none.
    limit
        Time that the sweeps may take [s], or work [work units].
    steep, firm
        First and last of each, see `Step`.
    clock
        Tells the time or work so far, in the unit of `limit`.
    spend
        Called after each sweep: it counts the work of one.

    Attributes
    ----------
    done
        Sweeps made.
    spent
        Time or work that they took.
    first
        That of the first.
    share
        Of the course, what was done when the last sweep began.

    Examples
    --------
    >>> [round(step.temperature, 6) for step in Cooling(3, 1.0, 0.01)]
    [1.0, 0.1, 0.01]
    """

    sweeps: int
    hot: float
    cold: float
    limit: float = np.inf
    steep: tuple[float, float] = (1.0, 1.0)
    firm: tuple[float, float] = (1.0, 1.0)
    clock: Callable[[], float] = time.perf_counter
    spend: Callable[[], None] = _nothing
    done: int = 0
    spent: float = 0.0
    first: float = 0.0
    share: float = 0.0

    def __iter__(self) -> Iterator[Step]:
        begin = self.clock()
        last = max(1, self.sweeps - 1)
        while self.done < self.sweeps:
            late = self.spent / self.limit if self.limit > 0 else 1.0
            if late >= 1 and self.done:
                return
            self.share = min(1.0, max(self.done / last, late))
            heat = _between((self.hot, self.cold), self.share) if self.hot > 0 else 0.0
            yield Step(heat, _between(self.steep, self.share), _between(self.firm, self.share))
            self.done += 1
            self.spend()
            self.spent = self.clock() - begin
            self.first = self.first or self.spent

    @property
    def per_sweep(self) -> float:
        """Mean time or work of a sweep, but for the first, in which numba loads or compiles its code."""
        return (self.spent - self.first) / (self.done - 1) if self.done > 1 else self.spent


def _between(ends: tuple[float, float], share: float) -> float:
    """Return the geometric mean of two ends, the second with a weight of `share`."""
    return float(ends[0] * (ends[1] / ends[0]) ** share)

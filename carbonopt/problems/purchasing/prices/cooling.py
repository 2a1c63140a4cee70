"""Temperatures of an annealing that ends in time: by sweeps done, or by time where that runs faster."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np


@dataclass
class Cooling:
    """Temperatures and price factors of sweeps, from first to last, each falling or rising geometrically.

    As long as the sweeps end within the time, they are the same whatever the machine.

    Parameters
    ----------
    sweeps
        At most.
    hot, cold
        First and last temperature; 0 for none.
    seconds
        That the sweeps may take.
    factors
        First and last factor of the price of load above R, where there may be none at last.

    Attributes
    ----------
    done
        Sweeps made.
    spent
        Time that they took [s].

    Examples
    --------
    >>> [round(temperature, 6) for temperature, _ in Cooling(3, 1.0, 0.01)]
    [1.0, 0.1, 0.01]
    """

    sweeps: int
    hot: float
    cold: float
    seconds: float = np.inf
    factors: tuple[float, float] = (1.0, 1.0)
    done: int = 0
    spent: float = 0.0

    def __iter__(self) -> Iterator[tuple[float, float]]:
        begin, last = time.perf_counter(), max(1, self.sweeps - 1)
        while self.done < self.sweeps:
            late = self.spent / self.seconds if self.seconds > 0 else 1.0
            if late >= 1 and self.done:
                return
            share = min(1.0, max(self.done / last, late))
            heat = self.hot * (self.cold / self.hot) ** share if self.hot > 0 else 0.0
            yield heat, self.factors[0] * (self.factors[1] / self.factors[0]) ** share
            self.done += 1
            self.spent = time.perf_counter() - begin

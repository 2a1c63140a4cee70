"""What whole jobs take up of the pool beside CPUs: units by which the bound knows that they do not fill it.

Where jobs may not split, those on R reserved CPUs at a time have sum_j n_j <= R. Three of 20 CPUs do not fit on 47, but
2.35 of them do as far as prices of CPUs tell. For any divisor s > 0, mixed-integer rounding gives

    sum_j F(n_j / s) <= floor(R / s),    F(q) = floor(q) + max(0, q - floor(q) - f) / (1 - f),

with f = R / s - floor(R / s). So there are units of each divisor, with prices of their own: at s = 20 a job of 20 CPUs
is one of two units. Any whole weights of sizes may take the place of F. What jobs with room together have of them at
most then takes the place of floor(R / s): of jobs of 20 and 8 CPUs on 34, with a weight of 2 for one of 20 and of 1 for
one of 8, that is 4, or 3 in a slot in which only two of 8 may run. `weighings` finds weights. To have prices like those
of a CPU, a unit here is so many CPUs that R are all.

References
----------
Nemhauser, Wolsey (1990), "A recursive procedure to generate all cuts for 0-1 mixed integer programs", Mathematical
Programming 46, 379-390.
Alves, Clautiaux, Valerio de Carvalho, Rietz (2016), "Dual-feasible functions for integer programming and combinatorial
optimization", Springer: functions F in general.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray

MOST_LARGE = 8
"""Divisors are tried that say how many large jobs have room together, up to so many."""
NEARLY_ONE = 0.999
"""Part of R / s beyond a whole number k at which F counts jobs of more than R / (k + 1) CPUs, and nearly no others."""
SAME = 1e-6
"""Units over R that differ by less are the same."""


class Divisor(NamedTuple):
    """Units of one divisor s."""

    divisor: float

    def of(self, cpus: FloatArray, reserved: float) -> FloatArray:
        """Return what jobs of some CPUs take up of the units [CPUs], shape (sizes,)."""
        return np.asarray(units_of(cpus, reserved, np.array([self.divisor]))[:, 0])

    def each(self, reserved: float) -> float:
        """Return how many CPUs a unit is."""
        return float(reserved / np.floor(reserved / self.divisor))

    @property
    def there(self) -> FloatArray:
        """How much of all units there is in each slot, shape (1,): all of them in any slot."""
        return np.ones(1)

    def entry(self) -> dict[str, Any]:
        """Return what a certificate says of the units, beside their prices."""
        return {"divisor": self.divisor}


@dataclass(frozen=True, eq=False)
class Weighing:
    """Whole weights of sizes of jobs, of which jobs with room together have at most so many.

    Parameters
    ----------
    cpus, weights
        Sizes in ascending order, and the weight of a job of each; jobs of other sizes have none.
    most
        What the weights of jobs that may run in each slot add up to at most, shape (T,).
    """

    cpus: tuple[float, ...]
    weights: tuple[int, ...]
    most: IntArray

    def of(self, cpus: FloatArray, reserved: float) -> FloatArray:
        """Return what jobs of some CPUs take up of the weights [CPUs], shape (sizes,)."""
        weight = dict(zip(self.cpus, self.weights, strict=True))
        return np.array([weight.get(size, 0) for size in cpus.tolist()]) * self.each(reserved)

    def each(self, reserved: float) -> float:
        """Return how many CPUs a weight of 1 is."""
        return reserved / self.largest

    @property
    def largest(self) -> int:
        """What weights add up to at most in any slot."""
        return int(self.most.max())

    @property
    def there(self) -> FloatArray:
        """How much of the largest sum of weights there is in each slot, shape (T,)."""
        return np.asarray(self.most / self.largest)

    def entry(self) -> dict[str, Any]:
        """Return what a certificate says of the weights, beside their prices."""
        return {"cpus": list(self.cpus), "weights": list(self.weights), "most": self.largest}


Units = Divisor | Weighing


class RoundedSizes:
    """What jobs of each size take up.

    Parameters
    ----------
    shared
        CPUs of each job that may be reserved, shape (N,); 0 for one that may not.
    reserved
        R.
    units
        That have prices; none where prices of CPUs are all.
    apart
        Whether loads of jobs of each size are told apart even without units.

    Attributes
    ----------
    cpus
        Sizes of jobs, shape (sizes,); a single one, of no meaning, where they are not told apart.
    of_job
        Row of the sizes for each job, shape (N,).
    taken
        What a CPU of a job of each size takes up: of CPUs 1, and of the units of each kind [CPUs],
        shape (sizes, 1 + Q).
    """

    def __init__(self, shared: FloatArray, reserved: float, units: Sequence[Units], *, apart: bool = False) -> None:
        self.reserved = reserved
        self.units = tuple(units)
        if self.units or apart:
            self.cpus, of_job = np.unique(shared, return_inverse=True)
            self.of_job: IntArray = of_job.reshape(-1).astype(np.int64)
        else:
            self.cpus, self.of_job = np.zeros(1), np.zeros(len(shared), dtype=np.int64)
        self.taken: FloatArray = np.column_stack([np.ones(len(self.cpus)), self._each(self.units)])

    def _each(self, units: Sequence[Units]) -> FloatArray:
        """Return what a CPU of a job of each size takes up of units, shape (sizes, Q)."""
        taken = np.column_stack([np.zeros((len(self.cpus), 0)), *(each.of(self.cpus, self.reserved) for each in units)])
        return np.divide(taken, self.cpus[:, None], out=np.zeros_like(taken), where=self.cpus[:, None] > 0)

    def excess(self, load: FloatArray, units: Sequence[Units]) -> FloatArray:
        """Return by how much a load exceeds what units allow in each slot, over R; shape (Q, T).

        Only what is beyond its excess over R itself. `load` has the CPUs of jobs of each size, shape (sizes, T).
        """
        share = load / self.reserved
        of_cpus = np.maximum(1.0, share.sum(axis=0))
        return np.asarray(np.maximum(0.0, self._each(units).T @ share - of_cpus * there_of(units, load.shape[1])))


def there_of(units: Sequence[Units], slots: int) -> FloatArray:
    """Return how much of all units of each kind there is in each slot, shape (Q, T)."""
    return np.vstack([np.zeros((0, slots)), *(np.broadcast_to(each.there, slots) for each in units)])


def units_of(cpus: FloatArray, reserved: float, divisors: FloatArray) -> FloatArray:
    """Return what jobs of some CPUs take up of the units of divisors [CPUs], shape (sizes, Q)."""
    quotient = reserved / divisors
    whole = np.floor(quotient)
    beyond = quotient - whole
    size = cpus[:, None] / divisors
    part = size - np.floor(size)
    units = np.floor(size) + np.maximum(0.0, part - beyond) / (1.0 - beyond)
    return np.asarray(units * reserved / whole)


def possible_divisors(shared: FloatArray, reserved: float) -> list[Divisor]:
    """Return divisors worth a try: sizes of jobs, and those that count large jobs; each with other units."""
    cpus = np.unique(shared[shared > 0])
    large = reserved / (np.arange(1, MOST_LARGE) + NEARLY_ONE)
    divisors = np.unique(np.concatenate([cpus[cpus <= reserved], large]))
    units = units_of(cpus, reserved, divisors) / reserved
    _, first = np.unique(np.round(units / SAME), axis=1, return_index=True)
    differs = np.abs(units - cpus[:, None] / reserved).max(axis=0, initial=0.0) > SAME  # else they say what CPUs say
    chosen = np.zeros(len(divisors), dtype=np.bool_)
    chosen[first] = True
    return [Divisor(divisor) for divisor in divisors[chosen & differs].tolist()]

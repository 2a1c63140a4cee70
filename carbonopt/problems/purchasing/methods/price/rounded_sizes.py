"""What whole jobs take up of the pool beside CPUs: rounded sizes, by which the bound knows that they do not fill it.

Where jobs may not split, those on R reserved CPUs at a time have sum_j n_j <= R. Three of 20 CPUs do not fit on 47, but
2.35 of them do as far as prices of CPUs tell. For any divisor s > 0, mixed-integer rounding gives

    sum_j F(n_j / s) <= floor(R / s),    F(q) = floor(q) + max(0, q - floor(q) - f) / (1 - f),

with f = R / s - floor(R / s). So there are units of each divisor, with prices of their own: at s = 20 a job of 20 CPUs
is one of two units. To have prices like those of a CPU, a unit here is R / floor(R / s) CPUs.

References
----------
Nemhauser, Wolsey (1990), "A recursive procedure to generate all cuts for 0-1 mixed integer programs", Mathematical
Programming 46, 379-390.
Alves, Clautiaux, Valerio de Carvalho, Rietz (2016), "Dual-feasible functions for integer programming and combinatorial
optimization", Springer: functions F in general.
"""

from __future__ import annotations

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray

MOST_LARGE = 8
"""Divisors are tried that say how many large jobs have room together, up to so many."""
NEARLY_ONE = 0.999
"""Part of R / s beyond a whole number k at which F counts jobs of more than R / (k + 1) CPUs, and nearly no others."""
SAME = 1e-6
"""Units over R that differ by less are the same."""


class RoundedSizes:
    """The units of some divisors.

    Parameters
    ----------
    shared
        CPUs of each job that may be reserved, shape (N,); 0 for one that may not.
    reserved
        R.
    divisors
        s, shape (Q,); none where prices of CPUs are all.
    apart
        Whether loads of jobs of each size are told apart even without divisors.

    Attributes
    ----------
    cpus
        Sizes of jobs, shape (sizes,); a single one, of no meaning, where they are not told apart.
    of_job
        Row of the sizes for each job, shape (N,).
    taken
        What a CPU of a job of each size takes up: of CPUs 1, and of the units of each divisor [CPUs],
        shape (sizes, 1 + Q).
    """

    def __init__(self, shared: FloatArray, reserved: float, divisors: FloatArray, *, apart: bool = False) -> None:
        self.reserved = reserved
        self.divisors = divisors
        if len(divisors) or apart:
            self.cpus, of_job = np.unique(shared, return_inverse=True)
            self.of_job: IntArray = of_job.reshape(-1).astype(np.int64)
        else:
            self.cpus, self.of_job = np.zeros(1), np.zeros(len(shared), dtype=np.int64)
        self.taken: FloatArray = np.column_stack([np.ones(len(self.cpus)), self._each(divisors)])

    def _each(self, divisors: FloatArray) -> FloatArray:
        """Return what a CPU of a job of each size takes up of units of divisors, shape (sizes, Q)."""
        units = units_of(self.cpus, self.reserved, divisors)
        return np.divide(units, self.cpus[:, None], out=np.zeros_like(units), where=self.cpus[:, None] > 0)

    def violation(self, load: FloatArray, divisors: FloatArray) -> FloatArray:
        """Return by how much a load exceeds what divisors allow, added up over time, over R; shape (Q,).

        Only what is beyond its excess over R itself. `load` has the CPUs of jobs of each size, shape (sizes, G).
        """
        share = load / self.reserved
        of_cpus = np.maximum(1.0, share.sum(axis=0))
        return np.asarray(np.maximum(0.0, self._each(divisors).T @ share - of_cpus).sum(axis=1))


def units_of(cpus: FloatArray, reserved: float, divisors: FloatArray) -> FloatArray:
    """Return what jobs of some CPUs take up of the units of divisors [CPUs], shape (sizes, Q)."""
    quotient = reserved / divisors
    whole = np.floor(quotient)
    beyond = quotient - whole
    size = cpus[:, None] / divisors
    part = size - np.floor(size)
    units = np.floor(size) + np.maximum(0.0, part - beyond) / (1.0 - beyond)
    return np.asarray(units * reserved / whole)


def possible_divisors(shared: FloatArray, reserved: float) -> FloatArray:
    """Return divisors worth a try: sizes of jobs, and those that count large jobs; each with other units."""
    cpus = np.unique(shared[shared > 0])
    large = reserved / (np.arange(1, MOST_LARGE) + NEARLY_ONE)
    divisors = np.unique(np.concatenate([cpus[cpus <= reserved], large]))
    units = units_of(cpus, reserved, divisors) / reserved
    _, first = np.unique(np.round(units / SAME), axis=1, return_index=True)
    differs = np.abs(units - cpus[:, None] / reserved).max(axis=0, initial=0.0) > SAME  # else they say what CPUs say
    chosen = np.zeros(len(divisors), dtype=np.bool_)
    chosen[first] = True
    return np.asarray(divisors[chosen & differs])

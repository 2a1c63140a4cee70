"""Powers of 2 that bring a program into the range in which a solver's absolute tolerances mean something."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.milp.program import Arrays

LARGEST_COST = 1e10
"""Scaled costs stay below this: the solver warns beyond, and fails beyond 1e15."""
USUAL_ROW = (2.0**-10, 2.0**10)
"""A row whose largest coefficient lies in here is left as it is."""


@dataclass(frozen=True, eq=False)
class Scaling:
    """What costs and rows are multiplied by; powers of 2, so that no digit is lost."""

    cost: float
    rows: FloatArray


def scaling_of(arrays: Arrays, typical_cost: float | None = None) -> Scaling:
    """Return the scaling of a program.

    Parameters
    ----------
    arrays
        The program.
    typical_cost
        Size of the costs that the optimum is made of; None: the largest cost. Costs are scaled so
        that it is at least 1. With a rejection price of 1 beside carbon of 1e-6 kg a job, the
        largest cost says nothing about the answer.
    """
    largest = float(np.abs(arrays.cost).max(initial=0.0))
    typical = min(typical_cost or largest, largest)
    factor = 1.0
    if 0 < typical < 1:
        factor = 2.0 ** min(_exponent(1.0 / typical), _exponent(LARGEST_COST / largest))
    size = np.zeros(len(arrays.row_lower))
    np.maximum.at(size, arrays.rows, np.abs(arrays.values))
    unusual = (size > 0) & ((size < USUAL_ROW[0]) | (size > USUAL_ROW[1]))
    rows = np.ones(len(size))
    rows[unusual] = 2.0 ** -np.floor(np.log2(size[unusual]))
    return Scaling(max(factor, 1.0), rows)


def _exponent(ratio: float) -> int:
    return int(np.ceil(np.log2(min(ratio, 2.0**900))))

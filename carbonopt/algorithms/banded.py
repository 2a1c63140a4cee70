"""Symmetric systems whose matrix is a band, by Cholesky factorisation: loops of our own for narrow bands.

From a width of 64 on LAPACK works in blocks, and OpenBLAS shares each block among its threads, which wait for each
other in busy loops. A matrix of 1,000 rows took these CPU milliseconds (two processors, beside other work):

====== ==== ================== ===================
width  ours LAPACK, one thread LAPACK, two threads
====== ==== ================== ===================
24     .11  .13                .13
96     .84  .57                216
192    3.1  1.3                15
400    12   3.5                31
====== ==== ================== ===================

A simulation of `replan` for 20 jobs, width 80, takes 1.2 CPU seconds in a user's process; with LAPACK it took 19.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_solve_banded, cholesky_banded

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import FloatArray

NARROW = 256
"""Widest band that our loops factorise: windows of some days. LAPACK gains too much on wider ones, with one thread."""


def factorised(band: FloatArray) -> FloatArray | None:
    """Return the Cholesky factor of a symmetric band matrix, None where it is not positive definite.

    Parameters
    ----------
    band
        Row t holds the diagonal entry of row t and those to its right, shape (T, width); what would leave the
        matrix is ignored.

    Returns
    -------
    FloatArray or None
        Row t of the upper triangular factor, in the same form.

    Examples
    --------
    >>> factor = factorised(np.array([[4.0, 2.0], [5.0, 0.0]]))
    >>> solved(factor, np.array([8.0, 12.0])).tolist()
    [1.0, 2.0]
    >>> factorised(np.array([[1.0, 2.0], [1.0, 0.0]])) is None
    True
    """
    if band.shape[1] <= NARROW:
        factor = band.copy()
        return factor if factorise_narrow(factor) else None
    try:
        return np.asarray(cholesky_banded(band.T, lower=True, check_finite=False)).T
    except LinAlgError:
        return None


def solved(factor: FloatArray, right: FloatArray) -> FloatArray:
    """Return the solution for a right-hand side, shape (T,), given what `factorised` returns."""
    if factor.shape[1] <= NARROW:
        solution = right.copy()
        substitute(factor, solution)
        return solution
    return np.asarray(cho_solve_banded((factor.T, True), right, check_finite=False))


@kernel
def factorise_narrow(band: FloatArray) -> bool:
    """Put the factor in the place of the band; return False where a pivot is not positive."""
    rows, width = band.shape
    for t in range(rows):
        if band[t, 0] <= 0.0:
            return False
        scale = 1.0 / np.sqrt(band[t, 0])
        for k in range(width):
            band[t, k] *= scale
        for k in range(1, min(width, rows - t)):
            factor = band[t, k]
            for i in range(width - k):
                band[t + k, i] -= factor * band[t, k + i]
    return True


@kernel
def substitute(factor: FloatArray, right: FloatArray) -> None:
    """Put the solution in the place of the right-hand side: forward, then backward."""
    rows, width = factor.shape
    for t in range(rows):
        right[t] /= factor[t, 0]
        for k in range(1, min(width, rows - t)):
            right[t + k] -= factor[t, k] * right[t]
    for t in range(rows - 1, -1, -1):
        for k in range(1, min(width, rows - t)):
            right[t] -= factor[t, k] * right[t + k]
        right[t] /= factor[t, 0]

"""Symmetric systems whose matrix is a band: LAPACK's Cholesky factorisation, by scipy."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_solve_banded, cholesky_banded

from carbonopt.core.arrays import FloatArray


def factorised(band: FloatArray) -> FloatArray | None:
    """Return the Cholesky factor of a symmetric band matrix, None where it is not positive definite.

    Parameters
    ----------
    band
        Row t holds the diagonal entry of row t and those to its right, shape (T, width); what would leave the
        matrix is ignored.

    Examples
    --------
    >>> factor = factorised(np.array([[4.0, 2.0], [5.0, 0.0]]))
    >>> solved(factor, np.array([8.0, 12.0])).tolist()
    [1.0, 2.0]
    >>> factorised(np.array([[1.0, 2.0], [1.0, 0.0]])) is None
    True
    """
    try:
        return np.asarray(cholesky_banded(band.T, lower=True, check_finite=False))
    except LinAlgError:
        return None


def solved(factor: FloatArray, right: FloatArray) -> FloatArray:
    """Return the solution for a right-hand side, shape (T,), given what `factorised` returns."""
    return np.asarray(cho_solve_banded((factor, True), right, check_finite=False))

"""Arithmetic rounded to one side, for bounds that hold in real numbers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from carbonopt.core.arrays import FloatArray

EPS = 2.0**-52
"""Twice the relative error of an operation in double precision."""


def down(values: npt.ArrayLike) -> FloatArray:
    """Return the next doubles below: a rounded result minus at least its rounding error."""
    return np.asarray(np.nextafter(values, -np.inf))


def up(values: npt.ArrayLike) -> FloatArray:
    """Return the next doubles above: a rounded result plus at least its rounding error."""
    return np.asarray(np.nextafter(values, np.inf))

"""What the checkers of certificates share: reading columns of prices that nobody has looked at yet."""

from __future__ import annotations

from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.errors import Fault, InputError

LARGEST_PRICE = 1e30
"""Largest price that a certificate may hold: sums and products of such prices stay finite."""


def prices_of(
    certificate: dict[str, Any], field: str, count: int, largest: float = LARGEST_PRICE, within: str = ""
) -> FloatArray:
    """Return a column of a certificate, or of the part of it that is called `within`, shape (count,).

    Raises
    ------
    InputError
        Unless it holds `count` numbers from 0 to `largest`.
    """
    try:
        given = np.array(certificate.get(field))
    except ValueError:  # ragged
        given = np.zeros(0)
    numbers = given.astype(np.float64) if given.dtype.kind in "iuf" else np.zeros(0)
    if numbers.shape != (count,) or not ((numbers >= 0) & (numbers <= largest)).all():
        raise InputError(Fault(f"certificate.{within}{field}", f"must be {count} numbers from 0 to {largest:.9g}"))
    return numbers

"""What the checkers of certificates share: reading prices, and nodes of trees, that nobody has looked at yet."""

from __future__ import annotations

from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.errors import Fault, InputError, shown

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


def parts_of(node: dict[str, Any], number: int, count: int, used: set[int], field: str) -> list[int]:
    """Return the numbers of the two parts of a tree's node, each a later one, and part of no other node.

    Parameters
    ----------
    node, number
        The node, and its number of `count`.
    used
        Numbers of the root, and of all nodes that are parts so far; these two are added.
    field
        Name of the node in messages.

    Raises
    ------
    InputError
        If they are no such numbers.
    """
    parts = node.get("parts")
    good = isinstance(parts, list) and len(parts) == 2
    good = good and all(type(part) is int and number < part < count for part in parts or [])
    if not isinstance(parts, list) or not good or len({*parts} - used) < 2:
        words = "must be numbers of two later nodes that are parts of no other one"
        raise InputError(Fault(f"{field}.parts", words, shown(parts)))
    used.update(parts)
    return list(parts)

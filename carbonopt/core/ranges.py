"""The largest numbers that data may hold, and the ranges of the options of policies."""

from __future__ import annotations

from math import inf
from numbers import Integral, Real
from operator import ge, gt, le, lt
from sys import float_info
from typing import Any

from carbonopt.core.errors import UnsupportedError, one_of, shown

LARGEST_WHOLE = 2**53 - 1
"""Up to here a 64-bit float holds every whole number exactly, so that reading one loses nothing."""
LARGEST_NUMBER = 1e30
"""Up to this, no product of data in an objective or a metric overflows."""


def require_number(
    option: str,
    value: Any,
    *,
    above: float | None = None,
    least: float | None = None,
    below: float | None = None,
    most: float | None = None,
    whole: bool = False,
    none: bool = False,
) -> None:
    """Refuse the value of an option unless it is a finite number in its range.

    Parameters
    ----------
    option, value
        As the user knows them.
    above, least, below, most
        Open and closed ends of the range; None for no end.
    whole
        Whether the number must be whole.
    none
        Whether None is right too.

    Raises
    ------
    UnsupportedError
        It names the option, the value and what would be right.

    Examples
    --------
    >>> require_number("quantile", 0.3, least=0, most=1)
    >>> require_number("quantile", 1.5, least=0, most=1)
    Traceback (most recent call last):
    carbonopt.core.errors.UnsupportedError: quantile = 1.5: must be at least 0, at most 1
    """
    if none and value is None:
        return
    kind = Integral if whole else Real
    is_number = isinstance(value, kind) and not isinstance(value, bool)
    is_number = is_number and -inf < value < inf
    is_number = is_number and (whole or not isinstance(value, int) or abs(value) <= float_info.max)
    ends = [("above", above, gt), ("at least", least, ge), ("below", below, lt), ("at most", most, le)]
    known = [(word, end, holds) for word, end, holds in ends if end is not None]
    if is_number and all(holds(value, end) for _, end, holds in known):
        return
    if whole or not is_number:
        words = ["a whole number" if whole else "a finite number"]
    else:
        words = []
    words += [f"{word} {end:g}" for word, end, _ in known]
    raise UnsupportedError(f"{option} = {shown(value)}: must be {', '.join(words)}{', or none' if none else ''}")


def require_one_of(option: str, value: Any, known: tuple[str, ...]) -> None:
    """Refuse the value of an option unless it is one of `known`.

    Raises
    ------
    UnsupportedError
        It names the option, the value and what would be right.
    """
    if value not in known:
        raise UnsupportedError(f"{option} = {shown(value)}: must be {one_of(known)}")

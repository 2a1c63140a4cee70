"""The least number that is enough, by halving an interval."""

from __future__ import annotations

from collections.abc import Callable


def least_enough(is_enough: Callable[[float], bool], below: float, above: float) -> float:
    """Return the least number that is enough, up to what a float can tell apart.

    Parameters
    ----------
    is_enough
        True of `above`, and of every number beyond one of which it is true.
    below, above
        Ends of the interval that is searched.
    """
    while below < (middle := (below + above) / 2) < above:
        if is_enough(middle):
            above = middle
        else:
            below = middle
    return above

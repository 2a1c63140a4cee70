"""Measures of risk of a cost that differs from scenario to scenario."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from carbonopt.core.arrays import FloatArray
from carbonopt.core.errors import UnsupportedError, shown


@dataclass(frozen=True)
class Expectation:
    """The mean over the scenarios."""

    def __str__(self) -> str:
        return "expectation"


@dataclass(frozen=True)
class CVaR:
    """Conditional value at risk: the mean of the worst scenarios (Rockafellar and Uryasev 2000).

    Parameters
    ----------
    level
        alpha, from 0 to below 1: the worst 1 - alpha of the probability count. 0 is the expectation.
    """

    level: float = 0.9

    def __post_init__(self) -> None:
        if not 0 <= self.level < 1:
            raise UnsupportedError(f"level = {shown(self.level)}: must be at least 0 and below 1")

    def __str__(self) -> str:
        return f"cvar:{self.level:g}"


@dataclass(frozen=True)
class Budget:
    """The most that some slots can add (Bertsimas and Sim 2004).

    Each zone's intensity is the expected one, but for at most Gamma pairs of a zone and a slot in all, where it is the
    largest of all scenarios.

    Parameters
    ----------
    pairs
        Gamma, at least 0; a part of a pair rises by that part. 0 is the expectation.
    """

    pairs: float = 6.0

    def __post_init__(self) -> None:
        if not 0 <= self.pairs < np.inf:
            raise UnsupportedError(f"pairs = {shown(self.pairs)}: must be a finite number, at least 0")

    def __str__(self) -> str:
        return f"budget:{self.pairs:g}"


Risk = Expectation | CVaR | Budget


def tail_mean(values: npt.ArrayLike, probability: FloatArray, level: float) -> float:
    """Return the mean of the worst 1 - level of the probability.

    Examples
    --------
    >>> equal = np.full(4, 0.25)
    >>> tail_mean([1, 2, 3, 4], equal, 0.5), tail_mean([1, 2, 3, 4], equal, 0.75), tail_mean([1, 2, 3, 4], equal, 0)
    (3.5, 4.0, 2.5)
    """
    cost = np.asarray(values, dtype=np.float64)
    order = np.argsort(-cost, kind="stable")
    before = np.concatenate([[0.0], np.cumsum(probability[order])[:-1]])
    share = np.clip(1 - level - before, 0.0, probability[order])
    return float(share @ cost[order] / share.sum())


def largest_sum(values: npt.ArrayLike, count: float) -> float:
    """Return the sum of the largest `count` values, the last one in part where `count` is not whole.

    Examples
    --------
    >>> largest_sum([1, 5, 3], 1.5), largest_sum([1, 5, 3], 9)
    (6.5, 9.0)
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64).reshape(-1))[::-1]
    share = np.clip(count - np.arange(len(ordered)), 0.0, 1.0)
    return float(share @ ordered)


def risk_of(text: str) -> Risk:
    """Return the measure that a text names: ``expectation``, ``cvar:0.9`` or ``budget:6``.

    Raises
    ------
    UnsupportedError
        If it names none.
    """
    name, _, number = text.partition(":")
    kinds: dict[str, type[CVaR] | type[Budget]] = {"cvar": CVaR, "budget": Budget}
    if text == "expectation":
        return Expectation()
    try:
        return kinds[name](float(number)) if number else kinds[name]()
    except (KeyError, ValueError):
        raise UnsupportedError(
            f"risk {shown(text)}: must be 'expectation', 'cvar:0.9' (a level below 1) or 'budget:6' (slots)"
        ) from None

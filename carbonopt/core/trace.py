"""What a method told while it ran: incumbent and bound over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from carbonopt.core.options import Progress
from carbonopt.core.solution import Solution, relative_gap

MOST_POINTS = 200
"""That a record keeps of a run: a curve needs no more."""

Point = tuple[float, float | None, float | None]
"""Seconds since the run began, objective of the incumbent, proven bound."""


@dataclass
class Trace:
    """What a method told while it ran: ``trace = Trace(); co.solve(instance, callback=trace)``.

    Parameters
    ----------
    seconds, objective, bound
        Of each report; None where there was none yet.
    """

    seconds: list[float] = field(default_factory=list)
    objective: list[float | None] = field(default_factory=list)
    bound: list[float | None] = field(default_factory=list)

    def __call__(self, progress: Progress) -> None:
        """Keep one report."""
        self.seconds.append(progress.seconds)
        self.objective.append(progress.incumbent)
        self.bound.append(progress.bound)

    def end(self, solution: Solution) -> None:
        """Keep what came out."""
        self.seconds.append(solution.wall_seconds)
        self.objective.append(solution.objective)
        self.bound.append(solution.bound)

    def points(self) -> list[Point]:
        """Return the moments at which something changed, and the last, at most `MOST_POINTS` of them."""
        kept: list[Point] = []
        for second, objective, bound in zip(self.seconds, self.objective, self.bound, strict=True):
            point = (second, _finite(objective), _finite(bound))
            if not kept or point[1:] != kept[-1][1:]:
                kept.append(point)
        if self.seconds and kept[-1][0] < self.seconds[-1]:
            kept.append((self.seconds[-1], *kept[-1][1:]))
        step = -(-len(kept) // (MOST_POINTS - 1))
        return kept if len(kept) <= MOST_POINTS else [*kept[:-1:step], kept[-1]]


def seconds_to(points: Sequence[Point], gap: float) -> float | None:
    """Return when the gap between incumbent and proven bound was first at most `gap` [s]; None if it never was.

    Examples
    --------
    >>> seconds_to([(0.5, 10.0, 5.0), (2.0, 10.0, 9.95)], 0.01)
    2.0
    """
    for second, objective, bound in points:
        reached = relative_gap(objective, bound)
        if reached is not None and reached <= gap:
            return second
    return None


def primal_integral(points: Sequence[Point], best: float, until: float) -> float:
    """Return the integral of the primal gap over the time from 0 to `until` [s].

    The primal gap is ``|x - best| / max(|x|, |best|)`` of the incumbent's objective x, and 1 before there is one
    (Berthold, Measuring the impact of primal heuristics, Operations Research Letters 41, 2013).

    Examples
    --------
    >>> primal_integral([(1.0, 12.5, None), (3.0, 10.0, None)], best=10.0, until=5.0)
    1.4
    """
    total = 0.0
    since = 0.0
    gap = 1.0
    for second, objective, _ in points:
        moment = min(second, until)
        total += gap * (moment - since)
        since = moment
        if objective is not None:
            gap = _primal_gap(objective, best)
    return total + gap * max(0.0, until - since)


def points_of(record: Any) -> list[Point] | None:
    """Return the points that a record of a run holds; None where it holds none that make sense."""
    given = record.get("trajectory")
    if not isinstance(given, list) or not all(isinstance(point, list) and len(point) == 3 for point in given):
        return None
    sound = all(_is_number(point[0]) and all(x is None or _is_number(x) for x in point[1:]) for point in given)
    return [(point[0], point[1], point[2]) for point in given] if sound and given else None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and isfinite(value)


def _finite(value: float | None) -> float | None:
    return None if value is None or not isfinite(value) else float(value)


def _primal_gap(objective: float, best: float) -> float:
    largest = max(abs(objective), abs(best))
    if largest == 0:
        return 0.0
    return 1.0 if objective * best < 0 else abs(objective - best) / largest

"""What is asked in lesson 7, and what is right: thresholds, and the competitive ratio."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

from carbonopt.lessons.instances import cooling
from carbonopt.lessons.lesson import Exercise, Lesson, grade_number, number_of
from carbonopt.problems.mosp.data.instance import MospInstance

LEAST, MOST = 100.0, 400.0
"""Between which the carbon intensity is known to be [g/kWh]."""
THRESHOLD = sqrt(LEAST * MOST)
NEAR = 0.95
"""Share of the worst ratio that a signal of one's own must reach."""


def chosen(signal: Sequence[float], threshold: float) -> int:
    """Return the hour in which the rule runs the job: the first at or below the threshold, else the last.

    Examples
    --------
    >>> chosen([300, 150, 100], 200), chosen([300, 250], 200)
    (1, 1)
    """
    return next((hour for hour, g in enumerate(signal) if g <= threshold), len(signal) - 1)


def _threshold(_instance: MospInstance, answer: Any) -> str:
    middle = (LEAST + MOST) / 2
    return grade_number(answer, THRESHOLD, {middle: "the middle is not where both ratios are equal: compare quotients"})


def _slot(instance: MospInstance, answer: Any) -> str:
    hour = chosen(instance.carbon.g_per_kwh[0].tolist(), THRESHOLD)
    cleanest = int(instance.carbon.g_per_kwh[0].argmin())
    return grade_number(answer, hour, {cleanest: "nobody knows in that hour's past that it will come"})


def _worst(_instance: MospInstance, answer: Any) -> str:
    values = [number_of(g) for g in answer] if isinstance(answer, list) else []
    signal = [g for g in values if g is not None and LEAST <= g <= MOST]
    if not signal or len(signal) < len(values):
        return f"must be a list of numbers from {LEAST:g} to {MOST:g}, one an hour"
    ratio = signal[chosen(signal, THRESHOLD)] / min(signal)
    goal = NEAR * MOST / THRESHOLD
    if ratio < goal:
        return f"has a ratio of {ratio:.3g}, must have at least {goal:.3g}: what may come after the rule has decided?"
    return ""


LESSON = Lesson(
    7,
    "Online thresholds and the competitive ratio",
    cooling,
    (
        Exercise("threshold", "Threshold with the smallest competitive ratio [g/kWh].", _threshold),
        Exercise("slot", "Slot in which the rule with that threshold runs the job.", _slot),
        Exercise("worst_signal", "A signal on which the rule emits at least 1.9 times the least [g/kWh].", _worst),
    ),
)

"""What is asked in lesson 10, and what is right: honest baselines, and average against marginal intensity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.lessons.exercises import places_kg
from carbonopt.lessons.instances import windy_night
from carbonopt.lessons.lesson import Exercise, Lesson, grade_number
from carbonopt.problems.mosp.data.instance import MospInstance

MARGINAL = (450.0, 430.0, 420.0, 480.0, 560.0, 610.0, 640.0, 590.0)
"""Emissions of one more kilowatt-hour in each hour of the lesson [g/kWh]; made up."""


def marginal_kg(instance: MospInstance) -> FloatArray:
    """Return the carbon of each start by the marginal intensity [kg]."""
    hours = int(instance.jobs.duration[0])
    return np.asarray(np.convolve(MARGINAL, np.ones(hours), "valid") / 1000)


def saving(kg: Sequence[float] | FloatArray, start: int, baseline: int) -> float:
    """Return what a start saves over another one [%].

    Examples
    --------
    >>> saving([2.0, 1.0], 1, 0)
    50.0
    """
    return 100 * (1 - float(kg[start]) / float(kg[baseline]))


def _advertised(instance: MospInstance, answer: Any) -> str:
    kg = places_kg(instance, 0)
    best = int(kg.argmin())
    hints = {saving(kg, best, 0): "that is over a start at once; here the baseline is the worst start"}
    return grade_number(answer, saving(kg, best, int(kg.argmax())), hints)


def _honest(instance: MospInstance, answer: Any) -> str:
    kg = places_kg(instance, 0)
    best = int(kg.argmin())
    hints = {saving(kg, best, int(kg.argmax())): "that is over the worst start, which nobody would have taken"}
    return grade_number(answer, saving(kg, best, 0), hints)


def _marginal(instance: MospInstance, answer: Any) -> str:
    best = int(places_kg(instance, 0).argmin())
    right = saving(marginal_kg(instance), best, 0)
    return grade_number(answer, right, {-right: "the sign: does the shift save, or cost?"})


LESSON = Lesson(
    10,
    "Honest baselines, and average against marginal",
    windy_night,
    (
        Exercise("advertised_percent", "Saving of the best start over the worst one, by the average [%].", _advertised),
        Exercise("honest_percent", "Saving of the best start over a start at once, by the average [%].", _honest),
        Exercise("marginal_percent", "What the same shift saves by the marginal intensity [%].", _marginal),
    ),
)

"""What is asked in lesson 8, and what is right: forecasts, their errors, and regret."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from carbonopt.lessons.instances import calm_evening
from carbonopt.lessons.lesson import SAME, Exercise, Lesson, grade_kg, number_of
from carbonopt.problems.mosp.data.instance import MospInstance

FORECAST = (350.0, 260.0, 250.0, 300.0, 330.0, 220.0, 240.0, 390.0)
"""What was said of each hour of the lesson [g/kWh]; made up."""
LARGE, FEW = 100.0, 20.0
"""Mean absolute errors [g/kWh] of a bad forecast that does no harm, and of a good one that does."""
HARM_KG = 0.12
"""Regret [kg] of the good forecast that does harm."""


def planned(signal: Sequence[float], hours: int) -> int:
    """Return the start of least carbon by a signal; the first where there are several.

    Examples
    --------
    >>> planned([3, 1, 1, 2], 2)
    1
    """
    return int(np.convolve(signal, np.ones(hours), "valid").argmin())


def regret_kg(instance: MospInstance, forecast: Sequence[float]) -> float:
    """Return what the plan by a forecast emits beyond the best plan by the true signal [kg]."""
    truth = instance.carbon.g_per_kwh[0]
    hours = int(instance.jobs.duration[0])
    kg = np.convolve(truth, np.ones(hours), "valid") * float(instance.jobs.demand[0, 0]) / 1000
    return float(kg[planned(forecast, hours)] - kg.min())


def mean_absolute_error(instance: MospInstance, forecast: Sequence[float]) -> float:
    """Return the mean absolute error of a forecast [g/kWh]."""
    return float(np.abs(np.asarray(forecast) - instance.carbon.g_per_kwh[0]).mean())


def _regret(instance: MospInstance, answer: Any) -> str:
    right = regret_kg(instance, FORECAST)
    truth = instance.carbon.g_per_kwh[0]
    hours = int(instance.jobs.duration[0])
    planned_kg = float(sum(truth[planned(FORECAST, hours) :][:hours])) / 1000
    said_kg = float(np.convolve(FORECAST, np.ones(hours), "valid").min()) / 1000
    hints = {
        planned_kg: "that is all that the plan emits: take away what the best plan emits",
        planned_kg - said_kg: "compare with the best plan by the true signal, not with what the forecast promised",
    }
    return grade_kg(answer, right, hints)


def _forecast(instance: MospInstance, answer: Any) -> list[float] | str:
    slots = instance.time.slots
    values = [number_of(g) for g in answer] if isinstance(answer, list) else []
    forecast = [g for g in values if g is not None and 0 <= g <= 1e6]
    if len(values) != slots or len(forecast) < slots:
        return f"must be a list of {slots} numbers, one an hour, none negative"
    return forecast


def _harmless(instance: MospInstance, answer: Any) -> str:
    forecast = _forecast(instance, answer)
    if isinstance(forecast, str):
        return forecast
    error = mean_absolute_error(instance, forecast)
    if error < LARGE * (1 - SAME):
        return f"has a mean absolute error of {error:.4g} g/kWh, must have at least {LARGE:g}"
    regret = regret_kg(instance, forecast)
    if regret > 1e-12:
        return f"leads to a regret of {regret:.3g} kg, must lead to none: what can change without changing the plan?"
    return ""


def _harmful(instance: MospInstance, answer: Any) -> str:
    forecast = _forecast(instance, answer)
    if isinstance(forecast, str):
        return forecast
    error = mean_absolute_error(instance, forecast)
    if error > FEW * (1 + SAME):
        return f"has a mean absolute error of {error:.4g} g/kWh, may have {FEW:g}: be wrong in few hours"
    regret = regret_kg(instance, forecast)
    if regret < HARM_KG * (1 - SAME):
        return f"leads to a regret of {regret:.3g} kg, must lead to {HARM_KG:g} kg: which hours decide the plan?"
    return ""


LESSON = Lesson(
    8,
    "Forecasts and regret",
    calm_evening,
    (
        Exercise("regret_kg", "Regret of the plan by the page's forecast [kg].", _regret),
        Exercise("harmless", "A forecast with an error of at least 100 g/kWh, and no regret [g/kWh].", _harmless),
        Exercise("harmful", "A forecast with an error of at most 20 g/kWh, and a regret of 0.12 kg [g/kWh].", _harmful),
    ),
)

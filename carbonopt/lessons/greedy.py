"""What is asked in lesson 5, and what is right: greedy rules, polymatroids, and where Theorem 4.1 fails."""

from __future__ import annotations

from typing import Any

from carbonopt.lessons.instances import one_server
from carbonopt.lessons.lesson import Exercise, Lesson, grade_kg, number_of
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.solve import solve

LEAST, MOST = 100.0, 1000.0
"""Between which an intensity of one's own must be [g/kWh]."""
RATIO = 4.0
"""How many times the least carbon Algorithm 1 must emit on a signal of one's own."""


def least_kg(instance: ElasticInstance, method: str) -> float:
    """Return the carbon of the schedule that a method finds [kg]."""
    return float(solve(instance, method).metrics["carbon_kg"])


def algorithm_kg(instance: ElasticInstance) -> float:
    """Return the carbon of the schedule of Algorithm 1 [kg] (CarbonFlex, section 4.1)."""
    return least_kg(instance, "carbonflex-greedy")


def best_kg(instance: ElasticInstance) -> float:
    """Return the least carbon [kg], by the greedy of the polymatroid."""
    return least_kg(instance, "polymatroid-greedy")


def _algorithm(instance: ElasticInstance, answer: Any) -> str:
    right = algorithm_kg(instance)
    hints = {
        best_kg(instance): "that is the least: Algorithm 1 gives the cleanest hour to the first in line",
    }
    return grade_kg(answer, right, hints)


def _best(instance: ElasticInstance, answer: Any) -> str:
    hints = {algorithm_kg(instance): "that is what Algorithm 1 emits: try the other job in the cleanest hour"}
    return grade_kg(answer, best_kg(instance), hints)


def _signal(_instance: ElasticInstance, answer: Any) -> str:
    values = [number_of(g) for g in answer] if isinstance(answer, list) else []
    signal = [g for g in values if g is not None and LEAST <= g <= MOST]
    if len(values) != 3 or len(signal) < 3:
        return f"must be a list of 3 numbers from {LEAST:g} to {MOST:g}"
    own = one_server(signal)
    ratio = algorithm_kg(own) / best_kg(own)
    if ratio < RATIO:
        return f"has a ratio of {ratio:.3g}, must have at least {RATIO:g}: where must the second job go?"
    return ""


LESSON = Lesson(
    5,
    "Greedy rules and polymatroids",
    one_server,
    (
        Exercise("algorithm_kg", "Carbon of the schedule of Algorithm 1 [kg].", _algorithm),
        Exercise("best_kg", "Least carbon of all schedules [kg].", _best),
        Exercise("signal", "Three intensities on which Algorithm 1 emits 4 times the least [g/kWh].", _signal),
    ),
)

"""What is asked in lesson 4, and what is right: rounding, and what a gap says."""

from __future__ import annotations

from typing import Any

from carbonopt.core.solution import relative_gap
from carbonopt.lessons.exercises import best_kg, relaxed_kg
from carbonopt.lessons.instances import crowd
from carbonopt.lessons.lesson import Exercise, Lesson, grade_kg, grade_number, grade_starts
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.solve import solve

GAP = 0.05
"""That a schedule of one's own must keep."""


def _greedy_gap(instance: MospInstance, answer: Any) -> str:
    objective = solve(instance, "greedy-clean").objective
    gap = relative_gap(objective, relaxed_kg(instance))
    over = relative_gap(objective, best_kg(instance))
    assert gap is not None
    assert over is not None
    hints = {
        100 * gap / (1 - gap): "the gap is relative to the schedule, not to the bound",
        100 * over: "that is the distance to the optimum, which a gap does not know: use the bound",
        gap: "the answer is in per cent",
    }
    return grade_number(answer, 100 * gap, hints)


def _within(instance: MospInstance, answer: Any) -> str:
    return grade_starts(instance, answer, relaxed_kg(instance) / (1 - GAP))


def _left(instance: MospInstance, answer: Any) -> str:
    hints = {best_kg(instance): "that is all that is emitted: how much of it could still be saved?"}
    return grade_kg(answer, best_kg(instance) - relaxed_kg(instance), hints)


LESSON = Lesson(
    4,
    "Rounding, and what a gap says",
    crowd,
    (
        Exercise("greedy_gap_percent", "Gap of greedy-clean to the bound of the relaxation [%].", _greedy_gap),
        Exercise("starts", "A schedule with a gap of at most 5 %, as slots by job.", _within),
        Exercise("most_saving_kg", "Most that the bound leaves to be saved over the best schedule [kg].", _left),
    ),
)

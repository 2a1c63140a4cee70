"""What a lesson is, and how its answers are graded."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from carbonopt.core.errors import Fault, InputError, one_of
from carbonopt.core.instance import Instance

SAME = 0.005
"""Relative difference up to which a number counts as right: answers may be rounded to three digits."""


@dataclass(frozen=True)
class Exercise:
    """One question.

    Parameters
    ----------
    field
        Of the answer file.
    question
        One sentence, with the unit of the answer.
    grade
        Called with the instance of the lesson and the answer, and those of `beside`; returns why it is wrong, ``""``
        where it is right.
    beside
        Fields whose answers help to say what is wrong, None where one is missing.
    """

    field: str
    question: str
    grade: Callable[..., str]
    beside: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lesson:
    """One lesson.

    Parameters
    ----------
    number, title
        Of the lesson.
    instance
        Makes the instance that the exercises are about.
    exercises
        In the order of the page.
    """

    number: int
    title: str
    instance: Callable[[], Instance]
    exercises: tuple[Exercise, ...]

    def blank(self) -> dict[str, Any]:
        """Return an answer file in which nothing is answered yet."""
        return {"lesson": self.number, **{exercise.field: None for exercise in self.exercises}}

    def verdicts(self, answers: Mapping[str, Any]) -> dict[str, str]:
        """Return for each exercise why its answer is wrong, ``""`` where it is right.

        Raises
        ------
        InputError
            If the file is one of another lesson, or has a field that the lesson does not ask for.
        """
        faults = []
        if answers.get("lesson", self.number) != self.number:
            faults.append(Fault("lesson", f"must be {self.number}", str(answers["lesson"])))
        known = ("lesson", *(exercise.field for exercise in self.exercises))
        faults += [Fault(field, f"is unknown: must be {one_of(known)}") for field in answers if field not in known]
        if faults:
            raise InputError(faults)
        instance = self.instance()
        return {
            exercise.field: "has no answer yet"
            if answers.get(exercise.field) is None
            else exercise.grade(instance, *map(answers.get, (exercise.field, *exercise.beside)))
            for exercise in self.exercises
        }


def number_of(answer: Any) -> float | None:
    """Return an answer as a finite number; None where it is none."""
    if isinstance(answer, bool) or not isinstance(answer, (int, float)):
        return None
    try:
        value = float(answer)
    except OverflowError:
        return None
    return value if math.isfinite(value) else None


def grade_number(answer: Any, right: float, hints: Mapping[float, str] | None = None) -> str:
    """Return why a number is not the right one; a likely mistake has a hint of its own.

    Examples
    --------
    >>> grade_number(1.1, 1.1), grade_number(2.2, 1.1, {2.2: "count each hour once"})
    ('', 'count each hour once')
    >>> grade_number("1.1", 1.1)
    'must be a number'
    """
    value = number_of(answer)
    if value is None:
        return "must be a number"
    if _same(value, right):
        return ""
    for wrong, hint in (hints or {}).items():
        if _same(value, wrong):
            return hint
    side = "large" if value > right else "small"
    return f"is too {side}: it must be right to {100 * SAME:g} % of its value"


def grade_kg(answer: Any, right: float, hints: Mapping[float, str] | None = None) -> str:
    """Return the same of an answer in kilograms, of which one in grams is a likely mistake.

    Examples
    --------
    >>> grade_kg(1100, 1.1)
    'the answer is in kg, not in g'
    """
    return grade_number(answer, right, {**(hints or {}), 1000 * right: "the answer is in kg, not in g"})


def _same(value: float, other: float) -> bool:
    return abs(value - other) <= SAME * abs(other) + 1e-12


def grade_starts(instance: Any, answer: Any, most_kg: float) -> str:
    """Return why starts by job, ``{"a": 3, ...}``, are no schedule of one cluster that emits at most `most_kg`."""
    from carbonopt.check import check

    names = list(instance.jobs.name)
    if not isinstance(answer, dict) or sorted(answer) != sorted(names):
        return f"must name each of the jobs {', '.join(names)} once, with the slot of its start"
    starts = [number_of(answer[name]) for name in names]
    if any(start is None or start != int(start) for start in starts):
        return "starts must be whole numbers: slots are counted from 0"
    places = {"job": names, "cluster": [instance.clusters.name[0]] * len(names), "start": [int(s or 0) for s in starts]}
    report = check(instance, places)
    if report.violations:
        return str(report.violations[0])
    kg = report.metrics["carbon_kg"]
    if kg > most_kg * (1 + SAME):
        return f"is a schedule, and emits {kg:.4g} kg; there is one that emits at most {most_kg:.4g} kg"
    return ""

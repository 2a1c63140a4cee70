"""All lessons by number."""

from __future__ import annotations

from carbonopt.core.errors import UnsupportedError
from carbonopt.lessons import baselines, columns, exercises, fronts, gaps, greedy, regret, thresholds
from carbonopt.lessons.lesson import Lesson

LESSONS = {
    lesson.number: lesson
    for lesson in (
        *exercises.FIRST,
        gaps.LESSON,
        greedy.LESSON,
        columns.LESSON,
        thresholds.LESSON,
        regret.LESSON,
        fronts.LESSON,
        baselines.LESSON,
    )
}


def lesson_of(number: int) -> Lesson:
    """Return a lesson.

    Raises
    ------
    UnsupportedError
        If there is none of that number.
    """
    if number not in LESSONS:
        raise UnsupportedError(f"lesson {number}: must be a number from {min(LESSONS)} to {max(LESSONS)}")
    return LESSONS[number]

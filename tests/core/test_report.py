"""What a checker finds, as a number."""

from __future__ import annotations

import math

import pytest

from carbonopt.core.report import Report, Violation

BROKEN = (Violation("capacity", "too much"),)


@pytest.mark.parametrize(
    ("violations", "objective", "cost"), [((), 3.5, 3.5), ((), None, math.inf), (BROKEN, 3.5, math.inf)]
)
def test_cost_counts_feasible_schedules_alone(
    violations: tuple[Violation, ...], objective: float | None, cost: float
) -> None:
    assert Report(violations, objective).cost == cost

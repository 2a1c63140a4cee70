"""Archives of forecasts: hand-made ones, what they refuse, and what a policy sees of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import carbonopt as co
from carbonopt.core.errors import InputError
from carbonopt.forecasts import ForecastArchive

TIME = co.TimeGrid(slots=4)
NAN = float("nan")


def archive(issued_at: Any = (0, 2), values: Any = (((1, 2, 3, 4),), ((30, 40, 50, 60),))) -> ForecastArchive:
    return ForecastArchive("DE", TIME, issued_at, values)


def test_a_decision_sees_the_latest_issue_before_it() -> None:
    own = archive()
    assert [own.latest(slot) for slot in range(4)] == [0, 0, 1, 1]
    assert own.known(1, 4).tolist() == [[2, 3, 4]]
    assert own.known(3, 6).tolist() == [[40, 50, 60]]
    seen = own.forecast()
    assert [seen.issued(slot).tolist() for slot in range(4)] == [[1, 2, 3, 4], [2, 3, 4], [30, 40], [40]]


def test_members_and_their_mean() -> None:
    own = archive([0], [[[1, 2, 3, 4], [3, 4, 5, 6]]])
    assert own.forecast().issued(0).tolist() == [2, 3, 4, 5]
    assert own.forecast(member=1, window_hours=2).issued(1).tolist() == [4, 5]


def test_an_issue_from_before_the_signal_counts_from_its_first_slot() -> None:
    own = archive([-3, -1], [[[9] * 7], [[5, 6, 7, 8, 9, NAN, NAN]]])
    assert own.forecast().issued(0).tolist() == [6, 7, 8, 9]


@pytest.mark.parametrize(
    ("do", "words"),
    [
        (
            lambda: archive([1, 2]).forecast(),
            r"issued_at = 2023-01-01T01:00:00Z: is after the decision at 2023-01-01T00",
        ),
        (lambda: archive([2, 3]).known(1, 2), "is after the decision at 2023-01-01T01"),
        (
            lambda: archive().known(0, 5),
            r"horizon\[0\] = 2023-01-01T04:00:00Z: ends too early: must reach 2023-01-01T05",
        ),
        (lambda: archive([0, 2], [[[1, NAN]], [[1, 2]]]).forecast(), "ends too early: must reach 2023-01-01T02"),
        (lambda: archive([-9], [[[1, 2]]]).forecast(), "ends too early"),
        (lambda: archive([0], [[[1, 2], [1, NAN]]]), r"\[0\]\[1\] = 1 values: must have 2 values"),
        (lambda: archive([0], [[[1, NAN, 2]]]), "each slot until its end"),
        (lambda: archive([0], [[[NAN]]]), "at least one"),
        (lambda: archive([0], [[[1, -1]]]), r"\[1\] = -1.0: must be a finite"),
        (lambda: archive([0], [[[1, np.inf]]]), "must be a finite"),
        (lambda: archive([0], [[]]), "at least one of each"),
        (lambda: archive([], np.zeros((0, 1, 1))), "at least one of each"),
        (lambda: archive([2, 2]), "later than the issue before"),
        (lambda: archive([0, 1.5]), "must be a whole number"),
        (lambda: archive().forecast(member=1), "member = 1: must be 0 to 0"),
    ],
)
def test_archives_that_are_none(do: Any, words: str) -> None:
    with pytest.raises(InputError, match=words) as error:
        do()
    assert "\n" not in str(error.value)

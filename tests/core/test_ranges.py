"""Options out of range are told by name and value, with what would be right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from carbonopt.core.errors import UnsupportedError, shown
from carbonopt.core.ranges import require_number, require_one_of


@pytest.mark.parametrize(
    ("value", "rule", "words"),
    [
        (0, {"above": 0}, "must be above 0"),
        (-1, {"least": 0}, "must be at least 0"),
        (1.5, {"above": 0, "most": 1}, "must be above 0, at most 1"),
        (1, {"above": 0, "below": 1}, "must be above 0, below 1"),
        (2.5, {"least": 1, "whole": True}, "must be a whole number, at least 1"),
        (0, {"least": 1, "whole": True, "none": True}, "must be a whole number, at least 1, or none"),
        (None, {"least": 0}, "must be a finite number, at least 0"),
        (float("nan"), {"least": 0}, "must be a finite number, at least 0"),
        (float("inf"), {}, "must be a finite number"),
        (True, {"least": 0}, "must be a finite number, at least 0"),
        ("1", {"least": 0}, "must be a finite number, at least 0"),
    ],
)
def test_what_is_out_of_range(value: Any, rule: dict[str, Any], words: str) -> None:
    with pytest.raises(UnsupportedError) as told:
        require_number("x", value, **rule)
    assert str(told.value) == f"x = {shown(value)}: {words}"


def test_what_is_in_range() -> None:
    require_number("x", 0, least=0, most=0)
    require_number("x", 10**400, whole=True)
    require_number("x", np.int64(3), above=2, below=4, whole=True)
    require_number("x", np.float32(0.5), above=0, below=1)
    require_number("x", None, above=0, none=True)


def test_one_of_several() -> None:
    require_one_of("way", "up", ("up", "down"))
    with pytest.raises(UnsupportedError, match=r"^way = 'left': must be 'up' or 'down'$"):
        require_one_of("way", "left", ("up", "down"))

"""Numbers and words that Caspian's scheduler takes are held to their ranges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import carbonopt as co
from carbonopt.core.errors import UnsupportedError
from carbonopt.problems.mosp import PROBLEM
from carbonopt.problems.mosp.online.rolling import Rolling
from carbonopt.simulation import make_policy

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"migration": -1.0}, "migration = -1.0: must be at least 0, or none"),
        ({"migration": NAN}, "migration = nan: must be a finite number, at least 0, or none"),
        ({"migration": False}, "migration = false: must be a finite number, at least 0, or none"),
        ({"window_hours": 0}, "window_hours = 0: must be above 0"),
        ({"window_hours": INF}, "window_hours = inf: must be a finite number, above 0"),
        ({"window_hours": "24"}, "window_hours = '24': must be a finite number, above 0"),
        ({"period_slots": 0}, "period_slots = 0: must be a whole number, at least 1"),
        ({"period_slots": 1.5}, "period_slots = 1.5: must be a whole number, at least 1"),
        ({"period_slots": NAN}, "period_slots = nan: must be a whole number, at least 1"),
        ({"change_share": -0.1}, "change_share = -0.1: must be at least 0"),
        ({"change_share": None}, "change_share = null: must be a finite number, at least 0"),
        ({"budget_share": INF}, "budget_share = inf: must be a finite number, at least 0"),
        ({"seconds": -1}, "seconds = -1: must be at least 0, or none"),
        ({"seconds": NAN}, "seconds = nan: must be a finite number, at least 0, or none"),
        ({"mip_rel_gap": -1e-3}, "mip_rel_gap = -0.001: must be at least 0"),
        ({"mip_rel_gap": NAN}, "mip_rel_gap = nan: must be a finite number, at least 0"),
        ({"clock": "noon"}, "clock = 'noon': must be 'start' or 'now'"),
        ({"deadlines": "soon"}, "deadlines = 'soon': must be 'slots' or 'exact'"),
        ({"method": "lp"}, "method 'lp' makes no schedules: it cannot be the optimizer of a policy"),
    ],
)
def test_what_is_out_of_range_is_told(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UnsupportedError) as told:
        Rolling(**options)
    assert str(told.value) == words
    with pytest.raises(UnsupportedError):
        make_policy(PROBLEM, "caspian", **options)


@pytest.mark.parametrize(
    "options",
    [
        {"migration": 0, "change_share": 0, "budget_share": 0},
        {"migration": None, "window_hours": 0.5, "period_slots": np.int64(3)},
        {"seconds": 0},
        {"method": "milp", "seconds": None, "mip_rel_gap": 0},
    ],
)
def test_the_ends_of_the_ranges_work(options: dict[str, Any]) -> None:
    day = co.generate("mosp", preset="bench", jobs=4, clusters=2, slots=24, seed=1)
    assert co.simulate(day, Rolling(**options)).has_solution

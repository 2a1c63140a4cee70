"""CAP by hand: the quota follows the intensity, what runs goes on, and what must runs."""

from __future__ import annotations

import pytest
from elastic_support import by_hand

import carbonopt as co
from carbonopt.core.errors import UnsupportedError

JOBS = 4


def servers(day: list[float], slack: int, policy: str = "cap:least_share=0.5") -> list[int]:
    instance = by_hand(JOBS, day, *[(0, 1.0, slack, [1.0])] * JOBS)
    schedule = co.simulate(instance, policy).schedule
    return [int(schedule.loc[schedule["slot"] == slot, "servers"].sum()) for slot in range(len(day))]


def test_the_quota_is_that_of_the_present_intensity() -> None:
    # K = 4, B = 2, bounds 14 and 64: 3 servers at or below 32, 4 at or below 24
    assert servers([33.0, 64.0, 14.0, 14.0, 14.0, 14.0], 4) == [2, 2, 0, 0, 0, 0]
    assert servers([31.0, 64.0, 14.0, 14.0, 14.0, 14.0], 4) == [3, 1, 0, 0, 0, 0]
    assert servers([23.0, 64.0, 14.0, 14.0, 14.0, 14.0], 4) == [4, 0, 0, 0, 0, 0]


def test_jobs_without_slack_run_whatever_the_quota_is() -> None:
    assert servers([64.0, 14.0, 14.0], 0) == [4, 0, 0]


def test_a_share_is_a_share() -> None:
    with pytest.raises(UnsupportedError, match="least_share = 0"):
        servers([64.0, 14.0], 0, "cap:least_share=0")

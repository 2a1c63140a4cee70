"""The checker finds every wrong schedule, and names the constraint."""

from __future__ import annotations

from typing import Any

import pytest
from purchasing_check_support import GOOD, JOBS, KG
from purchasing_random import by_hand, columns

from carbonopt.problems.purchasing.data.instance import Limits, Spot
from carbonopt.problems.purchasing.verify.check import check


def broken(rows: list[tuple[Any, Any, Any, Any]], info: dict[str, Any] | None = None, **other: Any) -> list[str]:
    """Return the names of the violated constraints."""
    report = check(by_hand(KG, JOBS, **{"wait": 3.0, "reserved_cpus": 1, **other}), columns(rows), info)
    return sorted(violation.constraint for violation in report.violations)


class TestWrongSchedules:
    def test_the_good_one_is_good(self) -> None:
        assert broken(GOOD) == []

    @pytest.mark.parametrize(
        ("row", "wrong"),
        [
            (("j9", 0.5, 1.5, "shared"), ["format", "placement"]),
            ((["j1"], 0.5, 1.5, "shared"), ["format", "placement"]),
            (("j1", 0.5, 1.5, "free"), ["format", "placement"]),
            (("j1", 0.5, 1.5, None), ["format", "placement"]),
            (("j1", "0.5", 1.5, "shared"), ["format", "placement"]),
            (("j1", True, 2.0, "shared"), ["format", "placement"]),
            (("j1", float("nan"), 1.5, "shared"), ["format", "placement"]),
            (("j1", 0.5, float("inf"), "shared"), ["format", "placement"]),
            (("j1", 10**400, 1.5, "shared"), ["format", "placement"]),
            (("j1", 1.5, 0.5, "shared"), ["format", "placement"]),
            (("j1", 0.4, 1.4, "shared"), ["release"]),
            (("j1", 3.6, 4.6, "shared"), ["wait"]),
            (("j1", 0.5, 1.4, "shared"), ["work"]),
            (("j1", 0.5, 1.6, "shared"), ["work"]),
            (("j1", 0.5, 1.5, "spot"), ["spot"]),
            (("j0", 0.5, 1.5, "shared"), ["overlap", "placement", "suspension", "work"]),
        ],
    )
    def test_one_wrong_row(self, row: tuple[Any, ...], wrong: list[str]) -> None:
        assert broken([GOOD[0], row]) == wrong

    def test_columns(self) -> None:
        instance = by_hand(KG, JOBS)
        for schedule in ({}, {**columns(GOOD), "more": [1, 2]}, {**columns(GOOD), "option": ["shared"]}):
            report = check(instance, schedule)
            assert [violation.constraint for violation in report.violations] == ["format"]
            assert report.objective is None

    def test_the_horizon(self) -> None:
        assert broken([("j0", 19.0, 21.0, "shared"), GOOD[1]]) == ["horizon", "wait"]

    def test_too_many_reserved(self) -> None:
        rows = [("j0", 1.0, 3.0, "reserved"), ("j1", 2.0, 3.0, "reserved")]
        assert broken(rows) == ["reserved"]
        assert broken(rows, reserved_cpus=2) == ["reserved"]
        assert broken(rows, reserved_cpus=3) == []
        report = check(by_hand(KG, JOBS, reserved_cpus=2), columns(rows))
        assert "jobs j0, j1 use up to 3 reserved CPUs from 2.0000001 h to 2.9999999 h" in str(report.violations[0])

    def test_reserved_runs_may_touch(self) -> None:
        rows = [("j0", 1.5, 3.5, "reserved"), ("j1", 0.5, 1.5 + 5e-8, "reserved")]
        assert broken(rows, reserved_cpus=2) == []

    def test_models(self) -> None:
        assert broken(GOOD, model="no-split") == ["option"]
        pieces = [("j0", 0.0, 1.0, "shared"), ("j0", 2.0, 3.0, "shared"), GOOD[1]]
        assert broken(pieces) == ["suspension"]
        assert broken(pieces, model="suspend-resume") == []
        assert broken([("j0", 0.0, 1.5, "shared"), ("j0", 1.0, 1.5, "shared"), GOOD[1]], model="suspend-resume") == [
            "overlap"
        ]
        assert broken([("j0", 0.0, 1.0, "shared"), ("j0", 4.5, 5.5, "shared"), GOOD[1]], model="suspend-resume") == [
            "wait"
        ]

    def test_a_simulation_names_the_model_that_it_was_made_under(self) -> None:
        pieces = [("j0", 0.0, 1.0, "shared"), ("j0", 2.0, 3.0, "shared"), GOOD[1]]
        assert broken(pieces, {"model": "suspend-resume"}) == []
        for info in ({"model": "any"}, {"evictions": "maybe"}, {"accounting": 1}, {"model": ["splitting"]}):
            assert broken(GOOD, info) == ["format"]

    def test_reserved_cpus_that_are_decided_must_be_told(self) -> None:
        for told in (None, -1, 1.5, True, "3", float("nan")):
            assert broken(GOOD, {} if told is None else {"reserved_cpus": told}, reserved_cpus=None) == ["format"]

    def test_spot_is_for_short_jobs_in_one_piece(self) -> None:
        spot = Spot(1.0, 0.5)
        assert broken([("j0", 0.0, 2.0, "spot"), GOOD[1]], spot=spot) == ["spot"]
        pieces = [GOOD[0], ("j1", 0.5, 1.0, "spot"), ("j1", 2.0, 2.5, "spot")]
        assert broken(pieces, spot=spot, model="suspend-resume") == ["suspension"]

    @pytest.mark.parametrize(
        "rows",
        [
            [("j1", 0.5, 0.75, "spot"), ("j1", 0.80, 1.80, "on-demand")],
            [("j1", 0.5, 0.75, "spot"), ("j1", 0.75, 1.50, "on-demand")],
            [("j1", 0.5, 0.75, "spot"), ("j1", 0.75, 1.75, "shared")],
            [("j1", 0.5, 0.75, "on-demand"), ("j1", 0.75, 1.75, "spot")],
        ],
    )
    def test_after_an_eviction_the_whole_job_follows_at_once(self, rows: list[tuple[Any, ...]]) -> None:
        assert "eviction" in broken([GOOD[0], *rows], {"evictions": "realised"}, spot=Spot(1, 0.5))
        good = [("j1", 0.5, 0.75, "spot"), ("j1", 0.75, 1.75, "on-demand")]
        assert broken([GOOD[0], *good], {"evictions": "realised"}, spot=Spot(1, 0.5)) == []
        assert broken([GOOD[0], *good], {"evictions": "realised"}, spot=Spot(1, 0.0)) == ["eviction"]
        assert broken([GOOD[0], *good], spot=Spot(1, 0.5)) == ["suspension", "work"]

    @pytest.mark.parametrize(
        ("limits", "wrong"),
        [
            (Limits(carbon_kg=11.4), ["limit"]),
            (Limits(carbon_kg=11.5), []),
            (Limits(cost_usd=10.9), ["limit"]),
            (Limits(cost_usd=11.0), []),
            (Limits(mean_wait_hours=0.49), ["limit"]),
            (Limits(mean_wait_hours=0.5), []),
            (Limits(0.0, 0.0, 0.0), ["limit"] * 3),
        ],
    )
    def test_limits(self, limits: Limits, wrong: list[str]) -> None:
        assert broken(GOOD, limits=limits) == wrong

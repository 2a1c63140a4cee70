"""The judge of elastic schedules: every violation by tampering, and the metrics by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from elastic_support import by_hand, change, random_instance, reference

import carbonopt as co
from carbonopt.core.report import Report
from carbonopt.problems.elastic.data.file import from_dict
from carbonopt.problems.elastic.verify.check import check

# CI = 400, 100, 300, 200 g/kWh; 3 servers. x: length 1.5, window [0, 4), 1 to 3 servers of gain 1, .9, .5
# and 100, 110.5, 121 W; y: length 2, window [1, 4), 2 servers or none, 250 W.
SOUND = [("x", 1, 1), ("x", 2, 2), ("y", 1, 2), ("y", 3, 2)]
SOUND_FLUID = [("x", 1, 1, 1.0), ("x", 2, 1, 0.25), ("x", 2, 3, 0.125), ("y", 1, 2, 1.0), ("y", 3, 2, 1.0)]
NAN = float("nan")


def report(rows: list[tuple[Any, ...]], model: str = "integer", **changes: Any) -> Report:
    instance = from_dict(change({("model",): model, **{(key,): value for key, value in changes.items()}}))
    columns = ("job", "slot", "servers", "share")[: 3 if model == "integer" else 4]
    return check(instance, {name: [row[k] for row in rows] for k, name in enumerate(columns)})


def found(report: Report) -> list[str]:
    return [str(violation) for violation in report.violations]


class TestMetrics:
    def test_integer(self) -> None:
        result = report(SOUND)
        assert result.violations == ()
        assert result.objective == pytest.approx(0.1 * 100 + 0.2105 * 300 + 0.25 * 100 + 0.25 * 200)
        assert result.metrics == pytest.approx(
            {
                "carbon_kg": 0.14815,
                "energy_kwh": 0.8105,
                "server_hours": 7,
                "jobs_completed": 2,
                "jobs_completed_share": 1,
                "mean_delay_slots": ((3 - 0 - 2) + (4 - 1 - 2)) / 2,
                "mean_servers": 7 / 4,
                "overshoot_slots": 2.9 - 1.5,
                "utilisation": 7 / 12,
                "peak_load_share": 1,
                "makespan_slots": 4,
                "servers_switched": (1 + 1 + 2) + (2 + 2 + 2 + 2),
            }
        )

    def test_fluid(self) -> None:
        result = report(SOUND_FLUID, "fluid")
        assert result.violations == ()
        work = 1 + 0.25 + 0.125 * 2.4
        assert result.metrics["overshoot_slots"] == pytest.approx(work - 1.5)
        assert result.objective == pytest.approx(10 + 300 * (0.25 * 0.1 + 0.125 * 0.3315) + 75)
        assert result.metrics["server_hours"] == pytest.approx(1 + 0.25 + 0.375 + 4)
        assert result.metrics["mean_servers"] == pytest.approx(5.625 / 3.375)
        assert result.metrics["servers_switched"] is None

    def test_switching_is_charged_at_both_ends_and_between(self) -> None:
        priced = {"objective": {"switching_g_per_server": 2.5}}
        assert report(SOUND, **priced).objective == pytest.approx(148.15 + 2.5 * 12)
        shuffled = [SOUND[k] for k in (3, 1, 2, 0)]
        assert report(shuffled, **priced).metrics == pytest.approx(report(SOUND, **priced).metrics)

    @pytest.mark.parametrize(
        ("servers", "switched"),
        [((1, 1, 1), 2), ((1, 2, 1), 4), ((2, 0, 1), 6), ((3, 1, 0), 6), ((0, 0, 3), 6), ((1, 3, 3), 6)],
    )
    def test_servers_switched(self, servers: tuple[int, ...], switched: int) -> None:
        instance = by_hand(3, [1, 1, 1], (0, 1, 2, [1, 1, 1]))
        slots = [t for t in range(3) if servers[t]]
        columns = {"job": ["a"] * len(slots), "slot": slots, "servers": [servers[t] for t in slots]}
        assert check(instance, columns).metrics["servers_switched"] == switched

    def test_slot_hours_and_power_are_energy(self) -> None:
        instance = by_hand(1, [7], (0, 1, 0, [1]), time={"slots": 1, "slot_hours": 0.25, "start": "2022-01-01"})
        result = check(instance, {"job": ["a"], "slot": [0], "servers": [1]})
        assert (result.objective, result.metrics["energy_kwh"]) == (pytest.approx(1.75), pytest.approx(0.25))

    def test_no_jobs(self) -> None:
        result = check(by_hand(3, [1, 2]), {"job": [], "slot": [], "servers": []})
        assert (result.violations, result.objective) == ((), 0)
        assert result.metrics["jobs_completed_share"] == 1

    def test_agrees_with_brute_force(self) -> None:
        for kind in ("unit", "decreasing", "general", "switching"):
            for seed in range(15):
                raw = reference.random_instance(seed, kind)
                grams, schedule = reference.brute_force(raw)
                if grams is not None:
                    result = check(from_dict(raw), schedule)
                    assert result.violations == ()
                    assert result.objective == pytest.approx(grams, rel=1e-12)


WHOLE_SLOT = "must be a whole slot from 0 to 3"
WHOLE_SERVERS = "must be a whole number above 0"


class TestRowsThatAreNoDecision:
    @pytest.mark.parametrize("name", ["z", "", None, 5, ["x"], True])
    def test_unknown_job(self, name: Any) -> None:
        text = f"row 4 names an unknown job {name!r}".replace("None", "null").replace("True", "true")
        assert found(report([*SOUND, (name, 0, 1)])) == [f"format: {text}"]

    @pytest.mark.parametrize(
        ("slot", "shown"),
        [(4, "4"), (-1, "-1"), (1.5, "1.5"), (True, "true"), (NAN, "nan"), ("1", "'1'"), (None, "null"),
         (1e300, "1e+300")],
    )  # fmt: skip
    def test_slot(self, slot: Any, shown: str) -> None:
        assert found(report([*SOUND, ("x", slot, 1)])) == [f"format: job 'x' runs in slot {shown}: {WHOLE_SLOT}"]

    @pytest.mark.parametrize(
        ("servers", "shown"),
        [(0, "0"), (-2, "-2"), (1.5, "1.5"), (True, "true"), (NAN, "nan"), ("1", "'1'"), (None, "null"),
         (float("inf"), "inf")],
    )  # fmt: skip
    def test_servers(self, servers: Any, shown: str) -> None:
        words = f"format: job 'x' has {shown} servers: {WHOLE_SERVERS}"
        assert found(report([*SOUND, ("x", 3, servers)])) == [words]

    @pytest.mark.parametrize(
        ("share", "shown"),
        [(0, "0"), (0.0, "0.0"), (-0.5, "-0.5"), (1.01, "1.01"), (NAN, "nan"), (True, "true"), ("1", "'1'"),
         (None, "null")],
    )  # fmt: skip
    def test_share(self, share: Any, shown: str) -> None:
        words = f"format: job 'x' has a share of {shown}: must be above 0 and at most 1"
        assert found(report([*SOUND_FLUID, ("x", 0, 1, share)], "fluid")) == [words]

    def test_what_is_left_out_does_no_work(self) -> None:
        rows = [*SOUND[:3], ("y", 3, NAN)]
        assert [violation.constraint for violation in report(rows).violations] == ["format", "work"]

    def test_whole_floats_are_whole(self) -> None:
        assert report([(job, float(slot), np.int64(servers)) for job, slot, servers in SOUND]).violations == ()


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"job": ["x"], "slot": [1]}, "it has job (1 rows), slot (1 rows)"),
        (
            {"job": [], "slot": [], "servers": [], "share": []},
            "it has job (0 rows), slot (0 rows), servers (0 rows), s",
        ),
        ({"job": ["x"], "slot": [1], "servers": []}, "it has job (1 rows), slot (1 rows), servers (0 rows)"),
        ({}, "it has none"),
    ],
    ids=["missing", "extra", "lengths", "empty"],
)
def test_columns(columns: dict[str, list[Any]], words: str) -> None:
    result = check(from_dict(change({})), columns)
    [line] = found(result)
    assert line.startswith(f"format: the schedule must have the columns job, slot, servers, all of one length; {words}")
    assert result.objective is None


class TestConstraints:
    def test_before_arrival(self) -> None:
        [violation] = report([*SOUND, ("y", 0, 2)]).violations
        assert str(violation) == "release: job 'y' runs in slot 0, before its arrival in slot 1"
        assert (violation.job, violation.slot, violation.amount) == ("y", 0, 1)

    def test_after_the_window(self) -> None:
        [violation] = report(SOUND, jobs=change({("jobs", "slack", 0): 0})["jobs"]).violations
        assert str(violation) == "deadline: job 'x' runs in slot 2, its window ends at 2"
        assert (violation.job, violation.slot, violation.amount) == ("x", 2, 1)

    def test_too_few_and_too_many_servers(self) -> None:
        assert found(report([*SOUND, ("y", 2, 1)])) == [
            "scale: job 'y' has 1 servers in slot 2: its profile allows 2 to 2"
        ]
        assert found(report([*SOUND, ("x", 3, 4)])) == [
            "scale: job 'x' has 4 servers in slot 3: its profile allows 1 to 3"
        ]

    def test_two_rows_of_one_job_and_slot(self) -> None:
        lines = found(report([*SOUND, ("x", 2, 1)]))
        assert lines == ["scale: job 'x' has 2 rows in slot 2"]

    def test_shares_above_a_whole(self) -> None:
        lines = found(report([*SOUND_FLUID, ("x", 2, 2, 0.75)], "fluid"))
        assert lines == ["scale: job 'x' fills 1.125 of slot 2"]
        assert report([*SOUND_FLUID, ("x", 2, 2, 0.625)], "fluid").violations == ()
        assert report([*SOUND_FLUID, ("x", 2, 2, 0.625 + 1e-10)], "fluid").violations == ()

    def test_missing_work(self) -> None:
        violations = report(SOUND[1:3]).violations
        assert [str(violation) for violation in violations] == ["work: job 'y' does 1 slots of work, its length is 2"]
        assert (violations[0].job, violations[0].amount) == ("y", 1)
        assert found(report([])) == [
            "work: job 'x' does 0 slots of work, its length is 1.5",
            "work: job 'y' does 0 slots of work, its length is 2",
        ]

    @pytest.mark.parametrize(("lacking", "missing"), [(1e-10, False), (1e-8, True)])
    def test_a_billionth_of_the_work_is_rounding(self, lacking: float, missing: bool) -> None:
        rows = [*SOUND_FLUID[:-1], ("y", 3, 2, 1 - 2 * lacking)]
        assert bool(report(rows, "fluid").violations) == missing

    def test_capacity(self) -> None:
        [violation] = report([*SOUND, ("y", 2, 2)]).violations
        assert str(violation) == "capacity: jobs x, y use 4 servers in slot 2, 3 are there (1 too many)"
        assert (violation.slot, violation.amount) == (2, 1)

    def test_capacity_names_five_jobs(self) -> None:
        instance = by_hand(1, [1], *[(0, 1, 0, [1])] * 7)
        schedule = {"job": list("abcdefg"), "slot": [0] * 7, "servers": [1] * 7}
        [violation] = check(instance, schedule).violations
        assert "jobs a, b, c, d, e and 2 more use 7 servers in slot 0, 1 are there (6 too many)" in str(violation)

    def test_capacity_of_a_slot_and_of_parts(self) -> None:
        cluster = change({})["cluster"]
        assert found(report(SOUND, cluster=cluster | {"capacity": [0, 3, 1.5, 2]})) == [
            "capacity: jobs x use 2 servers in slot 2, 1.5 are there (0.5 too many)"
        ]
        assert report(SOUND_FLUID, "fluid", cluster=cluster | {"capacity": [0, 3, 0.625, 2]}).violations == ()


class TestClaims:
    def test_numbers_that_are_not_so(self) -> None:
        instance = random_instance(0, "decreasing", 4, 6, model="integer")
        solution = co.solve(instance, "milp")
        assert co.check(instance, solution).violations == ()
        for changes, constraint in (
            ({"objective": solution.objective * 1.01}, "objective"),
            ({"bound": solution.objective * 1.01}, "bound"),
            ({"metrics": solution.metrics | {"servers_switched": 1}}, "metrics"),
            ({"status": co.Status.INFEASIBLE}, "status"),
            ({"sense": "max"}, "sense"),
            ({"instance_sha256": "f" * 64}, "instance"),
        ):
            wrong = co.check(instance, replace(solution, **changes))
            assert constraint in [violation.constraint for violation in wrong.violations]

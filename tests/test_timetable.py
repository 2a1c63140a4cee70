"""Begin and end of each job by the clock, for every problem."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from cli_support import errors, run
from conftest import TINY

import carbonopt as co


@pytest.mark.parametrize(
    ("name", "where", "needs", "until"),
    [
        ("crowd", "cluster", ["demand.gpu"], ["deadline"]),
        ("switching", "servers", [], ["deadline"]),
        ("cleanhour_2", "option", ["cpus"], ["deadline"]),
        ("gpuqueue", "gpus", [], []),
        ("switchesoff", "machine", ["use.cpu"], ["deadline"]),
    ],
)
def test_every_problem_tells_when_and_how_each_job_runs(name, where, needs, until, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    instance = co.read(TINY[name])
    solution = co.solve(instance, "milp")
    solution.write("s.json")
    table = solution.timetable(instance)
    assert list(table.columns) == ["job", where, *needs, "begin", "end", *until]
    if until:
        assert (table["end"] <= table["deadline"])[table["job"] != ""].all()
    assert {*table["job"]} - {""} == {*instance.jobs.name}
    assert (table["begin"] < table["end"]).all()
    assert table["begin"].min() >= instance.time.start
    assert table["end"].max() <= instance.time.slot_start(instance.time.slots)
    done = run("timetable", TINY[name], "s.json", "--json")
    rows = json.loads(done.stdout)["rows"]
    assert [row["begin_utc"] for row in rows] == [f"{moment:%Y-%m-%dT%H:%M:%SZ}" for moment in table["begin"]]
    assert run("timetable", TINY[name], "s.json").stdout.count("\n") == len(table) + 3


def test_a_slot_becomes_a_clock_time_in_any_time_zone(tmp_path, monkeypatch) -> None:
    """Slot 0 begins on 2023-11-14 at midnight in UTC, which is one o'clock in Berlin; slots have an hour."""
    monkeypatch.chdir(tmp_path)
    instance = co.read(TINY["crowd"])
    solution = co.solve(instance, "milp")
    solution.write("s.json")
    berlin = solution.timetable(instance, tz="Europe/Berlin").set_index("job")
    start = dict(zip(solution.columns["job"], solution.columns["start"], strict=True))
    for job, slot in start.items():
        assert berlin["begin"][job] == instance.time.slot_start(slot)
    assert berlin["begin"].min().isoformat() == "2023-11-14T01:00:00+01:00"
    assert "2023-11-14 01:00" in run("timetable", TINY["crowd"], "s.json", "--tz", "Europe/Berlin").stdout
    line = run("timetable", TINY["crowd"], "s.json", "--tz", "Europe/Berlin", "--csv").stdout.splitlines()[1]
    here = ["2023-11-14T01:00:00+01:00", "2023-11-14T02:00:00+01:00", "2023-11-14T03:00:00+01:00"]
    utc = ["2023-11-14T00:00:00Z", "2023-11-14T01:00:00Z", "2023-11-14T02:00:00Z"]
    assert line.split(",")[2:] == ["1.0", *here, *utc]
    assert run("timetable", TINY["crowd"], "s.json", "-o", "t.md").exit_code == 0
    assert "begin_utc" in (tmp_path / "t.md").read_text()


@pytest.mark.parametrize("far", [1e30, 1e9])
def test_a_deadline_that_no_clock_shows_is_left_out(far, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    raw = json.loads(TINY["crowd"].read_text())
    raw["jobs"]["deadline"][0] = far
    raw["jobs"]["demand"]["gpu"][1] = 0.5
    (tmp_path / "i.json").write_text(json.dumps(raw))
    co.solve(co.read("i.json"), "milp").write("s.json")
    rows = {row["job"]: row for row in json.loads(run("timetable", "i.json", "s.json", "--json").stdout)["rows"]}
    assert rows["x"]["deadline"] is None
    assert rows["x"]["deadline_utc"] is None
    assert rows["y"]["deadline_utc"] == "2023-11-14T02:00:00Z"
    head, _, *lines = run("timetable", "i.json", "s.json").stdout.splitlines()[1:]
    assert head.split() == ["job", "cluster", "gpu", "begin", "end", "deadline"]
    cells = {line.split()[0]: line.split() for line in lines}
    assert cells["x"][-1] == "-"
    assert cells["y"][2] == "0.5"


def test_slots_that_follow_each_other_are_one_run() -> None:
    instance = co.read(TINY["switching"])
    solution = co.solve(instance, "milp")
    job = instance.jobs.name[0]
    columns = {"job": [job] * 3, "slot": [2, 0, 1], "servers": [1, 2, 2]}
    table = replace(solution, columns=columns).timetable(instance)
    hours = [(begin - instance.time.start).total_seconds() / 3600 for begin in [*table["begin"], *table["end"]]]
    assert table["servers"].tolist() == [2, 1]
    assert hours == [slot * instance.time.slot_hours for slot in (0, 2, 2, 3)]


def test_what_has_no_timetable_is_told_in_a_line(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    co.solve(co.read(TINY["rigid_7_5"]), "lp").write("bound.json")
    assert errors("timetable", TINY["rigid_7_5"], "bound.json") == ["bound.json: holds no schedule (status optimal)"]
    co.solve(co.read(TINY["crowd"]), "milp").write("s.json")
    [line] = errors("timetable", TINY["crowd"], "s.json", "--tz", "Berlin")
    assert line == "unknown time zone 'Berlin': must be one such as 'Europe/Berlin' or 'UTC'"
    [line] = errors("timetable", TINY["shift"], "s.json")
    assert "another instance" in line or "instance" in line
    assert errors("timetable", TINY["crowd"], "s.json", "--csv", "--json") == [
        "--csv and --json both print to stdout: choose one"
    ]

"""The command line on elastic files: solve, check, info, diagnose and export, and their exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_support import errors, run
from elastic_support import by_hand, change

from carbonopt.problems.elastic.data.file import from_dict

INFEASIBLE = by_hand(1, [1, 4], *[(0, 1, 1, [1])] * 3, name="crowd")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of elastic files, which is the current one."""
    monkeypatch.chdir(tmp_path)
    two = from_dict(change({}))
    two.write("two.json")
    two.with_model("fluid").write("fluid.json")
    INFEASIBLE.write("crowd.json")
    by_hand(1, [2, 1, 1], (0, 1, 1, [1]), (1, 2, 0, [1]), name="greedy fails").write("fails.json")
    Path("bad.json").write_text(json.dumps(change({("jobs", "length"): [0, -1], ("model",): "x"})))
    return tmp_path


def tampered(**changes: Any) -> None:
    content = json.loads(Path("s.json").read_text())
    Path("t.json").write_text(json.dumps(content | changes))


class TestSolveAndCheck:
    @pytest.mark.parametrize("file", ["two.json", "fluid.json"])
    @pytest.mark.parametrize("method", ["auto", "price", "milp", "carbonflex-greedy", "lp-rounding"])
    def test_a_schedule_and_its_check(self, file: str, method: str) -> None:
        done = run("solve", file, "-m", method, "-t", "inf", "-o", "s.json", "--json")
        assert done.exit_code == 0
        summary = json.loads(done.stdout)
        assert summary["problem"] == "elastic"
        assert summary["status"] in ("optimal", "feasible")
        done = run("check", file, "s.json")
        assert done.exit_code == 0
        assert done.stdout.startswith("s.json: feasible, objective ")
        told = json.loads(run("check", file, "s.json", "--json").stdout)
        assert (told["feasible"], told["violations"]) == (True, [])
        assert told["objective"] == pytest.approx(summary["objective"])

    def test_a_tampered_one(self) -> None:
        run("solve", "two.json", "-t", "inf", "-o", "s.json")
        schedule = json.loads(Path("s.json").read_text())["schedule"]
        tampered(schedule=schedule | {"servers": [9] * len(schedule["servers"])})
        done = run("check", "two.json", "t.json")
        assert done.exit_code == 1
        assert "scale: job 'x' has 9 servers in slot" in done.stdout
        tampered(schedule={"job": ["x"], "slot": [1]})
        assert "the schedule must have the columns job, slot, servers" in run("check", "two.json", "t.json").stdout
        tampered(schedule={"job": "x", "slot": [1], "servers": [1]})
        assert run("check", "two.json", "t.json").exit_code == 2

    def test_infeasible_with_proof(self) -> None:
        done = run("solve", "crowd.json", "-t", "inf", "-o", "s.json")
        assert done.exit_code == 1
        assert "no schedule exists (its certificate proves it); `carbonopt diagnose` says why" in done.stderr
        done = run("check", "crowd.json", "s.json")
        assert done.exit_code == 0
        words = "holds no schedule (status infeasible): none exists (recomputed from its certificate)"
        assert done.stdout == f"s.json: {words}\n"
        assert json.loads(run("check", "crowd.json", "s.json", "--json").stdout)["proven_infeasible"] is True

    def test_infeasible_without_proof(self) -> None:
        run("solve", "crowd.json", "-o", "s.json")
        tampered(certificate=None)
        done = run("check", "crowd.json", "t.json")
        assert done.exit_code == 1
        assert "that none exists is claimed without certificate" in done.stdout
        tampered(certificate={"kind": "shortage", "prices": [0, 0], "work_prices": [0, 0, 0]})
        done = run("check", "crowd.json", "t.json")
        assert done.exit_code == 1
        assert "certificate: it does not prove that there is no schedule" in done.stdout

    def test_a_heuristic_that_fails_says_unknown(self) -> None:
        done = run("solve", "fails.json", "-m", "carbonflex-greedy", "-o", "s.json", "--json")
        assert done.exit_code == 1
        assert json.loads(done.stdout)["status"] == "unknown"
        info = json.loads(Path("s.json").read_text())["info"]
        assert info["unfinished_jobs"] == ["b"]
        assert run("check", "fails.json", "s.json").exit_code == 1
        assert json.loads(run("solve", "fails.json", "--json").stdout)["objective"] == pytest.approx(4)

    def test_what_a_method_needs(self) -> None:
        assert errors("solve", "two.json", "-m", "polymatroid-greedy") == [
            "two.json: polymatroid-greedy needs unit gain: every k_min must be 1"
        ]
        [line] = errors("solve", "two.json", "-m", "carbonflex-greedy-fluid")
        assert line.startswith("two.json: carbonflex-greedy-fluid takes parts of slots")
        [line] = errors("solve", "two.json", "-m", "greedy-clean")
        assert line.startswith("two.json: unknown method 'greedy-clean' for problem 'elastic': must be 'auto', 'price'")


def test_bad_input_is_told_for_every_command() -> None:
    expected = [
        "bad.json: model = 'x': must be 'integer' or 'fluid'",
        "bad.json: jobs.length[0] = 0: must be above 0",
        "bad.json: jobs.length[1] = -1: must be above 0",
    ]
    for command in (["solve"], ["info"], ["diagnose"]):
        assert sorted(errors(*command, "bad.json", "two.json")) == sorted(expected)
    assert sorted(errors("export", "bad.json", "-o", "x.lp")) == sorted(expected)
    assert sorted(errors("check", "bad.json", "two.json")) == sorted(expected)
    assert not Path("x.lp").exists()


def test_info() -> None:
    done = run("info", "two.json", "--json")
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    assert (told["problem"], told["jobs"], told["slots"], told["units"], told["k_max"]) == ("elastic", 2, 4, 15, 3)
    assert (told["program_columns"], told["warnings"]) == (15, [])
    assert run("info", "two.json", "fluid.json").exit_code == 0
    by_hand(1, [1, 1], (0, 2, 0, [1]), cluster={"capacity": [1, 0], "zone": "Z"}, name="alone").write("alone.json")
    [warning] = json.loads(run("info", "alone.json", "--json").stdout)["warnings"]
    assert warning == "job 'a' needs 2 slots of work; alone on the cluster it can do 1 in slots 0-1"


def test_diagnose() -> None:
    done = run("diagnose", "two.json", "crowd.json", "fails.json")
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "two.json: feasible (a schedule in which every job completes)",
        "crowd.json: infeasible (a dual solution of the LP: at least 1 slots of work cannot be done)",
        "  jobs 'a', 'b', 'c' have their windows inside slots 0-1: 3 server-slots of work at the least scale, "
        "2 are there",
        "fails.json: feasible (a schedule in which every job completes)",
    ]  # fmt: skip
    told = json.loads(run("diagnose", "crowd.json", "--json").stdout)
    assert told["feasible"] is False
    assert told["findings"][0]["jobs"] == ["a", "b", "c"]


@pytest.mark.parametrize("file", ["two.json", "fluid.json"])
@pytest.mark.parametrize("suffix", ["lp", "mps"])
def test_export(file: str, suffix: str) -> None:
    done = run("export", file, "-o", f"x.{suffix}", "--json")
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    assert (told["columns"], told["rows"]) == (15, 14)
    assert "y(x,20220101T0300,2)" in Path(f"x.{suffix}").read_text()
    assert run("export", file, "-o", f"x.{suffix}", "--form", "lp").exit_code == 0


@pytest.mark.parametrize("file", ["two.json", "fluid.json"])
def test_compare(file: str) -> None:
    done = run("compare", file, "--json")
    assert done.exit_code == 0
    rows = {row["method"]: row for row in json.loads(done.stdout)["rows"]}
    assert set(rows) == {"price", "carbonflex-greedy", "carbonflex-greedy-printed", "lp-rounding", "lp"}
    assert rows["price"]["status"] in ("optimal", "feasible")
    assert all(row["gap_to_best_bound"] is None or row["gap_to_best_bound"] >= -1e-9 for row in rows.values())

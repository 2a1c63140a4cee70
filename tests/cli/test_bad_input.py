"""Bad input on the command line: one clear line a fault on stderr, exit code 2, and the other files go on."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cli_support import BAD, ONE_LINE_EACH, errors, run, write_files
from instance_support import change


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of files good and bad, which is the current one."""
    monkeypatch.chdir(tmp_path)
    write_files()
    return tmp_path


class TestSeveralFiles:
    @pytest.mark.parametrize(
        "command",
        [
            ["info"],
            ["solve", "-m", "greedy-clean"],
            ["compare", "-m", "greedy-clean,lp"],
            ["diagnose"],
            ["bench", "-m", "greedy-clean", "-o", "results.jsonl"],
        ],
        ids=lambda command: command[0],
    )
    def test_bad_ones_are_told_and_good_ones_go_on(self, folder: Path, command: list[str]) -> None:
        files = ["good.json", *BAD, "windows.json"]
        assert errors(*command, *files) == ONE_LINE_EACH
        done = run(*command, *files, "--json")
        assert done.exit_code == 2
        assert done.stderr.splitlines() == [f"error: {line}" for line in ONE_LINE_EACH]
        assert len([json.loads(line) for line in done.stdout.splitlines()]) == 2

    def test_one_that_may_not_be_read(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        opened = os.open

        def denied(path: Any, *arguments: Any, **more: Any) -> int:
            if str(path) == "good.json":
                raise PermissionError(errno.EACCES, "Permission denied")
            return opened(path, *arguments, **more)

        monkeypatch.setattr(os, "open", denied)
        monkeypatch.setattr(os, "access", lambda path, mode: False)
        done = run("info", "good.json", "windows.json", "--json")
        assert done.exit_code == 2
        assert done.stderr == "error: good.json: cannot be read: Permission denied\n"
        assert json.loads(done.stdout)["instance"] == "two"

    def test_solutions(self, folder: Path) -> None:
        tampered = json.loads(Path("solution.json").read_text())
        tampered["objective"] += 1
        Path("tampered.json").write_text(json.dumps(tampered))
        tampered["bound"] = "low"
        Path("damaged.json").write_text(json.dumps(tampered))
        names = ["missing.json", "damaged.json", "good.json", "tampered.json", "solution.json"]
        done = run("check", "good.json", *names)
        assert done.exit_code == 2
        assert done.stderr.splitlines() == [
            "error: missing.json: no such file",
            "error: damaged.json: bound = 'low': must be a number",
            "error: good.json: is an instance file, must be a solution file",
        ]
        assert done.stdout.splitlines()[0] == "tampered.json: 1 violation"
        assert done.stdout.splitlines()[1].startswith("  objective: the file claims ")
        assert done.stdout.splitlines()[2].startswith("solution.json: feasible, objective 0.")
        found = [json.loads(line) for line in run("check", "good.json", *names, "--json").stdout.splitlines()]
        assert [(each["file"], each["feasible"]) for each in found] == [
            ("tampered.json", False),
            ("solution.json", True),
        ]

    def test_a_violation_is_exit_code_1_and_another_instance_is_one_line(self, folder: Path) -> None:
        made = "solution.json: the solution was made for 'two' with other data"
        for name, than in (("two", ""), ("three", " than those of 'three'")):
            Path("other.json").write_text(json.dumps(change({("jobs", "name", 0): "z", ("name",): name})))
            done = run("check", "other.json", "solution.json")
            assert done.exit_code == 1
            first, more = done.stdout.splitlines()
            assert first == f"{made}{than} (content hash differs): check it with the file of its own instance"
            assert more.startswith("  against this one: ")

    def test_a_solution_without_schedule_and_certificate_is_exit_code_1(self, folder: Path) -> None:
        content = json.loads(Path("solution.json").read_text())
        Path("none.json").write_text(
            json.dumps(content | {"schedule": None, "bound": 0.01, "objective": None, "metrics": {}})
        )
        done = run("check", "good.json", "none.json")
        assert done.exit_code == 1
        assert done.stdout == (
            "none.json: holds no schedule (status feasible), bound 0.01 (claimed, without certificate)\n"
        )


CONVERT = ["convert", "mosp", "--jobs", "a.csv", "--carbon", "b.csv"]


class TestOptions:
    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["solve", "good.json", "--time-limit", "-1"], "Invalid value for '--time-limit'"),
            (["solve", "good.json", "--seed", "-1"], "Invalid value for '--seed'"),
            (["solve", "good.json", "--seed", "one"], "Invalid value for '--seed'"),
            (["solve", "good.json", "--threads", "0"], "Invalid value for '--threads'"),
            (["solve", "good.json", "--mip-rel-gap", "-0.1"], "Invalid value for '--mip-rel-gap'"),
            (["solve", "good.json", "--tim", "1"], "No such option"),
            (["solve"], "Missing argument"),
            (["export", "good.json"], "Missing option '--output'"),
            (["resolve", "good.json"], "No such command 'resolve'"),
            (["solve", "good.json", "-m", "cplex"], "good.json: unknown method 'cplex' for problem 'mosp': must be"),
            (["compare", "good.json", "-m", "lp,,milp"], "good.json: unknown method '' for problem 'mosp'"),
            (["bench", "good.json", "-m", "cplex"], "unknown method 'cplex' for problem 'mosp'"),
            (["solve", "good.json", "--verbose", "--json"], "--verbose and --json both print to stdout"),
            (["generate", "elastik"], "unknown problem 'elastik': must be 'ecas', 'elastic', 'mlcluster', 'mosp' or"),
            (["generate", "mosp", "--preset", "large"], "unknown preset 'large': must be 'caspian', 'bench' or"),
            (["generate", "mosp", "--start", "soon"], "Invalid value for '--start': 'soon' is not an ISO 8601 moment"),
            (["generate", "mosp", "--jobs", "0"], "jobs = 0: must be at least 1"),
            (["generate", "mosp", "--seed", "-1"], "seed = -1: must be at least 0"),
            (["generate", "mosp", "--zones", "DE"], "--zones says how to read carbon files: it needs --carbon"),
            (["generate", "mosp", "--slot-hours", "0.5"], "--slot-hours says how to read carbon files"),
            (["generate", "mosp", "--weights", "1,x,3"], "--weights '1,x,3': must be numbers separated by commas"),
            (["generate", "mosp", "--carbon", "missing.csv"], "missing.csv: no such file"),
            (["convert", "mosp", "--jobs", "a.csv"], "--carbon is missing: name at least one carbon-intensity file"),
            (CONVERT, "a.csv: no such file"),
            ([*CONVERT, "--watts", "-1"], "Invalid value for '--watts'"),
            ([*CONVERT, "--slots", "0"], "Invalid value for '--slots'"),
            (["export", "good.json", "-o", "good.txt"], "good.txt: the name must end in .lp or .mps"),
            (["export", "good.json", "-o", "good.lp", "--form", "qp"], "unknown form 'qp': must be 'milp' or 'lp'"),
            (["plot", "good.json", "solution.json", "-o", "a.xyz"], "a.xyz: must end in .png or .svg or .pdf"),
            (["check", "solution.json", "good.json"], "solution.json: is a solution file, must be an instance file"),
        ],
    )  # fmt: skip
    def test_a_wrong_one_is_one_line(self, folder: Path, arguments: list[str], words: str) -> None:
        [line] = errors(*arguments)
        assert line.startswith(words)

    def test_nan_is_no_time_limit(self, folder: Path) -> None:
        [line] = errors("solve", "good.json", "--time-limit", "nan")  # told by typer or by carbonopt
        assert "time" in line
        assert "0" in line

    def test_help_is_offered_where_usage_is_wrong(self, folder: Path) -> None:
        [line] = errors("solve", "good.json", "--seed", "-1")
        assert line.endswith("solve --help`)")

    def test_no_command_shows_the_help(self) -> None:
        done = run()
        assert done.exit_code == 2
        assert "generate" in done.output

    @pytest.mark.parametrize(
        ("start", "words"),
        [
            ("words.json", "words.json: is not JSON: line 1, column 1: Expecting value"),
            ("missing.json", "missing.json: no such file"),
            ("good.json", "good.json: is an instance file, must be a solution file"),
            ("late.json", "good.json: the initial solution cannot be used: horizon: job 'x' ends at "),
        ],
    )
    def test_a_start_that_is_none(self, folder: Path, start: str, words: str) -> None:
        content = json.loads(Path("solution.json").read_text())
        content["schedule"]["start"][0] = 99
        Path("late.json").write_text(json.dumps(content))
        [line] = errors("solve", "good.json", "--start", start)
        assert line.startswith(words)


class TestSize:
    @pytest.mark.parametrize("sizes", [["--jobs", 10**9], ["--slots", 10**9]])
    def test_generating_too_much(self, folder: Path, sizes: list[object], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=2**34))
        [line] = errors("generate", "mosp", *sizes)
        assert "GiB" in line
        assert not list(folder.glob("mosp-*.json"))

    @pytest.mark.slow
    def test_a_program_that_does_not_fit(self, folder: Path) -> None:
        run(
            "generate",
            "mosp",
            "--preset",
            "bench",
            "--jobs",
            200_000,
            "--clusters",
            10,
            "--slots",
            2000,
            "-o",
            "huge.json",
        )
        estimate = "would have 2.5e+09 columns and 9.97e+09 nonzeros, about 1040.5 GiB"
        done = run("info", "huge.json", "--json")
        assert done.exit_code == 0
        assert estimate in json.loads(done.stdout)["warnings"][0]
        for method in ("milp", "lp-rounding"):
            lines = errors("solve", "huge.json", "good.json", "-m", method)
            assert len(lines) == 1
            assert lines[0].startswith("huge.json: the program of ")
            assert estimate in lines[0]
        done = run("compare", "huge.json", "-m", "milp,lp", "--json")
        assert done.exit_code == 1
        assert done.stderr.count(estimate) == 2
        assert [row["status"] for row in json.loads(done.stdout)["rows"]] == ["error", "error"]


def real(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "carbonopt.cli.main", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **options)


class TestProcess:
    def test_bad_files(self, folder: Path) -> None:
        done = real("solve", *BAD, "good.json", "-m", "greedy-clean", "--json")
        assert done.returncode == 2
        assert done.stderr.splitlines() == [f"error: {line}" for line in ONE_LINE_EACH]
        assert json.loads(done.stdout)["status"] == "feasible"

    def test_usage(self, folder: Path) -> None:
        done = real("solve", "good.json", "--threads", 0)
        assert done.returncode == 2
        [line] = done.stderr.splitlines()
        assert line.startswith("error: Invalid value for '--threads'")
        assert line.endswith("(see `carbonopt solve --help`)")

    def test_a_reader_that_goes_away(self, folder: Path) -> None:
        read, write = os.pipe()
        os.close(read)
        command = [sys.executable, "-m", "carbonopt.cli.main", "info", "good.json", "--json"]
        with os.fdopen(write, "w") as gone:
            done = subprocess.run(command, stdout=gone, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        assert "Traceback" not in done.stderr

    def test_a_full_disk(self, folder: Path) -> None:
        if not Path("/dev/full").exists():
            pytest.skip("no /dev/full")
        done = real("solve", "good.json", "-m", "greedy-clean", "-o", "/dev/full")
        assert done.returncode == 2
        assert done.stderr.splitlines() == ["error: /dev/full: cannot be written: No space left on device"]

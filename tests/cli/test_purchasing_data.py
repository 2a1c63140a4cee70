"""`generate purchasing` and `convert purchasing`, and what other problems do with its job traces."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import errors, run

import carbonopt as co

CARBON = "datetime,zone,carbon_intensity_g_per_kwh\n" + "".join(
    f"2022-01-{1 + hour // 24:02d}T{hour % 24:02d}:00:00Z,A,{100 + hour}\n" for hour in range(240)
)
LINE = "{} {} 0 {} 2 -1 -1 2 -1 -1 {} 1 1 -1 1 -1 -1 -1\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with traces and carbon files, which is the current one."""
    monkeypatch.chdir(tmp_path)
    Path("carbon.csv").write_text(CARBON)
    Path("jobs.csv").write_text("arrival_time,length,cpus\n0,1.5,1\n1,3,2\n5,14.25,4\n")
    Path("log.swf").write_text(LINE.format(1, 0, 3600, 1) + LINE.format(2, 60, 7200, 1))
    Path("cancelled.swf").write_text(LINE.format(1, 0, 3600, 1) + LINE.format(2, 60, 7200, 5))
    return tmp_path


class TestGenerate:
    def test_there_and_back(self) -> None:
        done = run("generate", "purchasing", "--jobs", 20, "--reserved", 3, "--zone", "DE", "-o", "a.json", "--json")
        assert done.exit_code == 0
        instance = co.read("a.json")
        assert json.loads(done.stdout) == {"file": "a.json", "instance": instance.name, "sha256": instance.sha256}
        assert instance.sha256 == co.generate("purchasing", jobs=20, reserved=3, zone="DE").sha256

    def test_every_option(self) -> None:
        done = run(
            "generate", "purchasing", "--jobs", 30, "--arrival-hours", 48, "--daily-swing", 0.5, "--daily-peak-hour",
            3, "--seed", 2, "--trace", "jobs.csv", "--time-unit", "hours", "--decide-reserved", "--queues",
            "one:inf:12", "--spot-max-length-hours", 4, "--evictions-per-hour", 0.1, "--model", "suspend-resume",
            "--weights", "1,2,3", "--watts-per-cpu", 20, "--on-demand-usd-per-cpu-hour", 0.1, "--reserved-fraction",
            0.5, "--spot-fraction", 0.3, "--carbon", "carbon.csv", "--start", "2022-01-02T00:00Z", "--slot-hours",
            0.5, "--name", "mine",
        )  # fmt: skip
        assert done.exit_code == 0, done.output
        instance = co.read("mine.json").to_dict()
        assert instance["objective"]["weights"] == {"carbon_kg": 1, "cost_usd": 2, "wait_hours": 3}
        assert instance["prices"] == {
            "on_demand_usd_per_cpu_hour": 0.1,
            "reserved_fraction": 0.5,
            "spot_fraction": 0.3,
        }
        assert instance["queues"] == {"one": {"max_length_hours": None, "max_wait_hours": 12}}
        assert instance["spot"] == {"max_length_hours": 4, "evictions_per_hour": 0.1}
        assert (instance["model"], instance["reserved_cpus"], instance["watts_per_cpu"]) == ("suspend-resume", None, 20)
        assert (instance["time"]["slot_hours"], instance["carbon"]["g_per_kwh"][0][0]) == (0.5, 124)
        assert set(instance["jobs"]["length_hours"]) == {1.5, 3, 14.25}

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (["--jobs", "0"], "jobs = 0: must be at least 1"),
            (["--model", "whole"], "unknown model 'whole': must be 'splitting', 'no-split' or 'suspend-resume'"),
            (["--queues", "short:2"], "queues: 'short:2': must be name:longest job:longest wait in hours"),
            (["--reserved", "-1"], "reserved_cpus = -1: must be a whole number of CPUs"),
            (["--reserved", "1", "--reserved-share", "1"], "only one of reserved, reserved_share"),
            (["--weights", "1,2"], "weights = (1.0, 2.0): must be three numbers"),
            (["--weights", "1,2,x"], "--weights '1,2,x': must be numbers separated by commas"),
            (["--spot-fraction", "-1"], "prices.spot_fraction = -1.0: must be finite and at least 0"),
            (["--spot-max-length-hours", "-1"], "Invalid value for '--spot-max-length-hours'"),
            (["--wrap"], "--wrap says how to read carbon files: it needs --carbon"),
            (["--time-unit", "hours"], "--time-unit says how to read a job trace: it needs --trace"),
            (["--trace-format", "swf"], "--trace-format says how to read a job trace: it needs --trace"),
            (["--trace", "jobs.csv"], "--time-unit is missing: must be seconds"),
            (["--trace", "log.swf", "--time-unit", "hours"], "--time-unit hours: log.swf is in seconds"),
            (["--trace", "log.swf", "--trace-format", "csv"], "unknown trace format 'csv'"),
            (["--zone", "XX"], "zones[0] = 'XX': is unknown: must be 'AU-SA'"),
        ],
    )
    def test_a_wrong_option_is_one_line(self, folder: Path, options: list[str], words: str) -> None:
        [line] = errors("generate", "purchasing", *options)
        assert line.startswith(words)
        assert not list(folder.glob("purchasing-*"))


class TestConvert:
    FILES = ("convert", "purchasing", "--trace", "jobs.csv", "--time-unit", "hours", "--carbon", "carbon.csv")

    def test_all_jobs(self) -> None:
        done = run(*self.FILES)
        assert (done.exit_code, done.stdout) == (0, "purchasing-jobs-j0003-t045-A-s00.json: 3 jobs\n")

    def test_parts_and_a_horizon(self) -> None:
        assert run(*self.FILES, "--first", 2, "-o", "a.json").stdout == "a.json: 2 jobs\n"
        assert run(*self.FILES, "--from-hours", 1, "--until-hours", 5, "-o", "a.json").stdout == "a.json: 1 jobs\n"
        told = json.loads(run(*self.FILES, "--slots", 40, "-o", "a.json", "--json").stdout)
        assert (told["jobs"], told["dropped_jobs"]) == (2, 1)

    @pytest.mark.parametrize("problem", ["mosp", "elastic", "purchasing"])
    def test_every_problem_takes_every_format(self, problem: str) -> None:
        done = run("convert", problem, "--trace", "log.swf", "--carbon", "carbon.csv", "-o", "a.json")
        assert (done.exit_code, done.stdout) == (0, "a.json: 2 jobs\n")
        Path("log.txt").write_text(Path("log.swf").read_text())
        again = run(
            "convert", problem, "--trace", "log.txt", "--trace-format", "swf", "--carbon", "carbon.csv", "-o", "b.json"
        )
        assert again.exit_code == 0
        assert co.read("a.json").sha256 == co.read("b.json").sha256

    @pytest.mark.filterwarnings("default")
    def test_what_is_left_out_is_said(self) -> None:
        done = run("convert", "purchasing", "--trace", "cancelled.swf", "--carbon", "carbon.csv", "-o", "a.json")
        assert done.exit_code == 0
        assert done.stderr == "warning: cancelled.swf: 1 of 2 jobs left out: 1 cancelled\n"

    def test_every_fault_is_a_line(self) -> None:
        Path("jobs.csv").write_text("arrival_time,length,cpus\n-1,0,x\n")
        assert errors(*self.FILES) == [
            "jobs.csv, line 2: arrival_time = '-1': must be a number of hours, at least 0",
            "jobs.csv, line 2: length = '0': must be a number of hours, more than 0",
            "jobs.csv, line 2: cpus = 'x': must be a number of CPUs, more than 0",
        ]
        Path("log.swf").write_text("1 2 3\n" + LINE.format(1, 0, 3600, 1) + "4\n")
        assert errors("convert", "purchasing", "--trace", "log.swf", "--carbon", "carbon.csv") == [
            "log.swf, line 1: '1 2 3': must have 18 numbers, has 3",
            "log.swf, line 3: '4': must have 18 numbers, has 1",
        ]
        assert len(errors(*self.FILES, "--spot-fraction", -1, "--reserved-fraction", -1, "--watts-per-cpu", 1)) == 2

    def test_no_options(self) -> None:
        [line] = errors("convert", "purchasing")
        assert line.startswith("Missing option '--trace'")

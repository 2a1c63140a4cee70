"""`generate` and `convert`, one subcommand a problem, and `info` of what they write."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import errors, run

import carbonopt as co
from carbonopt.core.registry import problem_names, problem_of

CARBON = "datetime,zone,carbon_intensity_g_per_kwh\n" + "".join(
    f"2022-01-{1 + hour // 24:02d}T{hour % 24:02d}:00:00Z,{zone},{base + hour}\n"
    for zone, base in (("A", 100), ("B", 300))
    for hour in range(480)
)
JOBS = "arrival_time,length,cpus\n0,1.5,1\n1,3,2\n5,14.25,4\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a trace and carbon files, which is the current one."""
    monkeypatch.chdir(tmp_path)
    Path("carbon.csv").write_text(CARBON)
    Path("jobs.csv").write_text(JOBS)
    Path("job.csv").write_text("nodes,throughput,power\n0,0,0\n1,10,50\n2,18,99\n")
    Path("bad.csv").write_text("nodes,throughput,power\n1,10,50\n2,9,99\n")
    return tmp_path


class TestProblems:
    @pytest.mark.parametrize("command", ["generate", "convert"])
    def test_every_problem_is_a_subcommand(self, command: str) -> None:
        helped = run(command, "--help")
        assert helped.exit_code == 0
        for problem in problem_names():
            assert f" {problem} " in helped.stdout
            assert command in problem_of(problem).roles

    @pytest.mark.parametrize("command", ["generate", "convert"])
    def test_without_one_the_help_is_shown(self, command: str) -> None:
        done = run(command)
        assert done.exit_code == 2
        assert "elastic" in done.output

    @pytest.mark.parametrize("command", ["generate", "convert"])
    def test_an_unknown_one(self, command: str) -> None:
        [line] = errors(command, "elastik", "--jobs", "3")
        assert line.startswith(
            "unknown problem 'elastik': must be 'ecas', 'elastic', 'mlcluster', 'mosp' or 'purchasing'"
        )
        assert line.endswith(f"{command} --help`)")

    def test_each_takes_its_own_options_only(self) -> None:
        [line] = errors("generate", "elastic", "--preset", "bench")
        assert line.startswith("No such option: --preset")
        [line] = errors("generate", "mosp", "--utilisation", "0.5")
        assert line.startswith("No such option: --utilisation")


class TestGenerate:
    def test_there_and_back(self) -> None:
        done = run("generate", "elastic", "--jobs", 20, "--model", "fluid", "--zone", "DE", "-o", "a.json", "--json")
        assert done.exit_code == 0
        told = json.loads(done.stdout)
        instance = co.read("a.json")
        assert told == {"file": "a.json", "instance": instance.name, "sha256": instance.sha256}
        assert instance.sha256 == co.generate("elastic", jobs=20, model="fluid", zone="DE").sha256
        about = json.loads(run("info", "a.json", "--json").stdout)
        assert (about["problem"], about["jobs"], about["model"]) == ("elastic", 20, "fluid")

    def test_lengths_carbon_and_profiles_from_files(self) -> None:
        done = run(
            "generate", "elastic", "--trace", "jobs.csv", "--time-unit", "hours", "--min-length-hours", 2,
            "--capacity", 9, "--carbon", "carbon.csv", "--zone", "B", "--start", "2022-01-02T00:00Z", "--profiles",
            "job.csv:3,cpu-low*", "--k-max", 4, "--watts", 500, "--slack-hours", 0, "--arrival-hours", 48,
        )  # fmt: skip
        assert done.exit_code == 0
        instance = co.read(done.stdout.strip())
        assert instance.name.startswith("elastic-jobs-j")
        assert set(instance.jobs.length) == {3, 14.25}
        assert instance.intensity[0] == 324
        assert [profile.k_max for profile in instance.profiles] == [2, 4]
        assert instance.profiles[1].marginal_watts[0] == 500
        assert not instance.jobs.slack.any()
        assert instance.jobs.arrival.max() < 48

    def test_wrapping(self) -> None:
        files = ["generate", "elastic", "--carbon", "carbon.csv", "--zones", "A", "--start", "2022-01-15T00:00Z"]
        [line] = errors(*files, "--jobs", 9)
        assert "must stay inside the data of zone 'A'" in line
        assert run(*files, "--jobs", 9, "--wrap", "--name", "wrapped").stdout == "wrapped.json\n"

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (["--capacity", "0"], "capacity = 0.0: must be above 0"),
            (["--jobs", "0"], "jobs = 0: must be at least 1"),
            (["--jobs", "3", "--capacity", "3", "--utilisation", "1"], "jobs, capacity and utilisation are all given"),
            (["--model", "whole"], "unknown model 'whole': must be 'integer' or 'fluid'"),
            (["--profiles", "cpu-hgih"], "unknown profile 'cpu-hgih': must be 'cpu-high'"),
            (["--profiles", "mix:-1"], "profiles: the share of 'mix' is -1.0: must be above 0"),
            (["--profiles", "bad.csv"], "bad.csv, line 3: throughput = '9': must be above 10.0"),
            (["--k-max", "0"], "Invalid value for '--k-max'"),
            (["--slack-hours", "-1"], "Invalid value for '--slack-hours'"),
            (["--start", "soon"], "Invalid value for '--start': 'soon' is not an ISO 8601 moment"),
            (["--wrap"], "--wrap says how to read carbon files: it needs --carbon"),
            (["--time-unit", "hours"], "--time-unit says how to read a job trace: it needs --trace"),
            (["--min-length-hours", "2"], "--min-length-hours says how to read a job trace: it needs --trace"),
            (["--trace", "jobs.csv"], "--time-unit is missing: must be seconds"),
            (["--trace", "no.csv", "--time-unit", "hours"], "no.csv: no such file"),
            (["--carbon", "carbon.csv"], "zone: is missing: the cluster is in one zone"),
            (["--carbon", "no.csv"], "no.csv: no such file"),
            (["--zone", "XX"], "zones[0] = 'XX': is unknown: must be 'AU-SA'"),
        ],
    )
    def test_a_wrong_option_is_one_line(self, folder: Path, options: list[str], words: str) -> None:
        [line] = errors("generate", "elastic", *options)
        assert line.startswith(words)
        assert not list(folder.glob("elastic-*"))

    @pytest.mark.filterwarnings("default")
    def test_a_trace_in_a_wrong_unit(self) -> None:
        done = run("generate", "elastic", "--trace", "jobs.csv", "--time-unit", "seconds")
        assert done.exit_code == 2
        warning, error = done.stderr.splitlines()
        assert "is the unit right?" in warning
        assert error.startswith("error: trace: no job lasts at least 1 h")

    def test_a_folder_that_is_not_there(self) -> None:
        [line] = errors("generate", "elastic", "--jobs", "5", "-o", "no/a.json")
        assert line == "no/a.json: cannot be written: there is no folder 'no'"


class TestConvert:
    FILES = (
        "convert",
        "elastic",
        "--jobs",
        "jobs.csv",
        "--time-unit",
        "hours",
        "--carbon",
        "carbon.csv",
        "--zone",
        "A",
    )

    def test_all_jobs(self) -> None:
        done = run(*self.FILES)
        assert done.exit_code == 0
        assert done.stdout == "elastic-jobs-j0003-t068-A-s01.json: 3 jobs\n"
        assert co.read("elastic-jobs-j0003-t068-A-s01.json").jobs.length.tolist() == [1.5, 3, 14.25]

    def test_jobs_left_out_are_counted(self) -> None:
        options = ("--slots", 67, "--min-length-hours", 2, "-o", "a.json")
        assert (
            run(*self.FILES, *options).stdout == "a.json: 1 jobs, 1 past the horizon left out, 1 too short left out\n"
        )
        told = json.loads(run(*self.FILES, *options, "--json").stdout)
        assert (told["jobs"], told["dropped_jobs"], told["short_jobs_left_out"]) == (1, 1, 1)

    def test_faults(self) -> None:
        [line] = errors("convert", "elastic", "--jobs", "jobs.csv", "--carbon", "carbon.csv")
        assert line.startswith("--time-unit is missing")
        [line] = errors("convert", "elastic", "--jobs", "jobs.csv", "--time-unit", "hours")
        assert line.startswith("--carbon is missing")
        [line] = errors("convert", "elastic")
        assert line.startswith("Missing option '--trace'")
        [line] = errors(*self.FILES, "--seed", "-1")
        assert line == "seed = -1: must be at least 0"

    def test_a_real_trace(self, data_folder: Path) -> None:
        jobs, carbon = data_folder / "jobs/pai_1k.csv", data_folder / "carbon/AU-SA_2022_hourly.csv"
        done = run("convert", "elastic", "--jobs", jobs, "--time-unit", "seconds", "--carbon", carbon, "-o", "p.json")
        assert done.stdout == "p.json: 1000 jobs\n"
        assert len(co.read("p.json").jobs) == 1000

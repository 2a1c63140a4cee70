"""`simulate`, `compare --policies`, `pareto` and `reproduce`."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from cli_support import errors, run

import carbonopt as co
from carbonopt.excess import excess_table

POLICIES = '''
from carbonopt.simulation import Policy


class NextHour(Policy):
    """Start each job at the next full hour, on demand."""

    def on_arrival(self, state, job):
        state.plan(job, float(int(state.now) + 1))

    def on_due(self, state, job):
        state.start(job, "on-demand")


class Stumbles(Policy):
    def on_arrival(self, state, job):
        if state.now > 3:
            raise ValueError("not that late")
        state.start(job, "on-demand")
'''


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    co.generate("purchasing", jobs=20, arrival_hours=20, reserved=3, seed=1).write("day.json")
    Path("mine.py").write_text(POLICIES)
    return tmp_path


class TestSimulate:
    def test_all_policies_that_the_instance_is_for(self) -> None:
        done = run("simulate", "day.json", "--json")
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        assert done.exit_code == 0
        names = [row["method"] for row in rows]
        assert names[0] == "simulate:no-wait"
        assert not any("spot" in name for name in names)
        assert all(row["bound"] is None and row["status"] == "feasible" for row in rows)

    def test_a_schedule_that_check_accepts(self) -> None:
        assert run("simulate", "day.json", "-p", "wait-awhile", "-o", "s.json").exit_code == 0
        done = run("check", "day.json", "s.json")
        assert done.exit_code == 0
        assert "feasible" in done.stdout

    def test_several_policies_write_a_file_each(self) -> None:
        assert run("simulate", "day.json", "-p", "no-wait,carbon-time", "-o", "out").exit_code == 0
        found = sorted(path.name for path in Path("out").iterdir())
        assert found == ["day.carbon-time.solution.json", "day.no-wait.solution.json"]

    def test_policies_may_be_given_one_by_one(self) -> None:
        for given in (("-p", "no-wait,carbon-time"), ("-p", "no-wait", "--policy", "carbon-time")):
            rows = [json.loads(line) for line in run("simulate", "day.json", *given, "--json").stdout.splitlines()]
            assert [row["method"] for row in rows] == ["simulate:no-wait", "simulate:carbon-time"]

    def test_all_may_stand_among_others(self) -> None:
        rows = run("simulate", "day.json", "-p", "all", "-p", "mine.py:NextHour,no-wait", "--json").stdout.splitlines()
        names = [json.loads(row)["method"] for row in rows]
        assert names[0] == "simulate:no-wait"
        assert names[-1] == "simulate:mine.py:NextHour"
        assert len(names) == len(set(names)) > 5

    def test_a_comma_between_the_options_of_a_policy_is_its_own(self) -> None:
        co.generate("mlcluster", jobs=4, gpus=4, arrival_hours=2).write("gpus.json")
        done = run("simulate", "gpus.json", "-p", "green:mu=1,theta=0.5,fixed-1", "-p", "fcfs", "--json")
        names = [json.loads(line)["method"] for line in done.stdout.splitlines()]
        assert names == ["simulate:green:mu=1,theta=0.5", "simulate:fixed-1", "simulate:fcfs"]

    def test_an_option_out_of_range_is_one_line(self) -> None:
        co.generate("mlcluster", jobs=4, gpus=4, arrival_hours=2).write("gpus.json")
        words = "policy 'tiresias:round_minutes=0': round_minutes = 0.0: must be at least 0.01"
        assert errors("simulate", "gpus.json", "-p", "tiresias:round_minutes=0") == [f"gpus.json: {words}"]
        assert errors("compare", "gpus.json", "--policies", "tiresias:round_minutes=0") == [f"gpus.json: {words}"]

    def test_a_policy_of_ones_own(self) -> None:
        done = run("simulate", "day.json", "-p", "mine.py:NextHour", "--json")
        assert done.exit_code == 0
        assert json.loads(done.stdout)["metrics"]["reserved_cpu_hours"] == 0

    def test_one_that_stumbles_loses_nothing(self) -> None:
        from typer.testing import CliRunner

        from carbonopt.cli.main import app

        done = CliRunner().invoke(app, ["simulate", "day.json", "-p", "mine.py:Stumbles,no-wait"])
        assert done.exit_code == 1
        assert "ValueError: not that late" in done.stderr
        assert "raise ValueError" in done.stderr  # the policy's own line
        assert "no-wait" in done.stdout  # the others go on
        with Path("day.partial.csv").open() as file:
            assert all(float(row["start"]) <= 3 for row in csv.DictReader(file))

    def test_a_comparison_says_that_its_bound_counts_no_start_up_time(self) -> None:
        names = ("-p", "carbon-time,carbon-time:startup_minutes=30", "--work-limit", "0.01", "--time-limit", "inf")
        done = run("compare", "day.json", *names, "--reserved", "0", "-o", "t.csv")
        assert done.exit_code == 0
        assert "the proven least counts no such time" in done.stderr.replace("\n", " ")
        with Path("t.csv").open() as file:
            without, slow = csv.DictReader(file)
        assert (without["startup_hours"], slow["startup_hours"]) == ("", "0.5")
        assert float(slow["least_carbon_kg"]) < float(without["carbon_kg"]) < float(slow["carbon_kg"])
        assert "start-up h" not in run("compare", "day.json", *names[:1], "no-wait", *names[2:]).output

    def test_what_is_not_there_is_told(self) -> None:
        assert "unknown policy 'wait'" in errors("simulate", "day.json", "-p", "wait")[0]
        assert "none.py" in errors("simulate", "day.json", "-p", "none.py:Policy")[0]
        assert "mode" in errors("simulate", "day.json", "-p", "no-wait", "--mode", "poem")[0]
        assert "error" in errors("simulate", "day.json", "-p", "no-wait", "--forecast", "error=much")[0]

    def test_a_forecast_with_errors_and_other_reserved_cpus(self) -> None:
        arguments = ("simulate", "day.json", "-p", "carbon-time", "--json", "--reserved", 0)
        exact, wrong = run(*arguments), run(*arguments, "--forecast", "error=0.4,window=24", "--seed", 3)
        first, second = (json.loads(done.stdout)["metrics"] for done in (exact, wrong))
        assert first["reserved_cpus"] == second["reserved_cpus"] == 0
        assert first["carbon_kg"] != second["carbon_kg"]

    @pytest.mark.parametrize(
        ("problem", "sizes", "names"),
        [
            ("purchasing", {"arrival_hours": 6, "reserved": 2}, "wait-awhile,no-wait"),
            ("mlcluster", {"arrival_hours": 6, "gpus": 4}, "green,fcfs"),
            ("elastic", {"arrival_hours": 6, "capacity": 6}, "wait-awhile,vcc"),
            ("mosp", {"slots": 24}, "caspian,earliest-clean"),
        ],
    )
    def test_tables_show_churn(self, problem: str, sizes: dict[str, Any], names: str) -> None:
        co.generate(problem, jobs=6, seed=1, **sizes).write("i.json")
        assert "churn" in run("simulate", "i.json", "-p", names).stdout


class TestComparePolicies:
    def test_a_table_for_each_number_of_reserved_cpus(self) -> None:
        done = run(
            "compare", "day.json", "--policies", "carbon-time", "--reserved", "0,3", "-t", 2, "-o", "t.csv", "--json"
        )
        assert done.exit_code == 0
        rows = json.loads(done.stdout)["rows"]
        assert [row["reserved_cpus"] for row in rows] == [0, 3]
        assert all(row["excess_carbon_kg"] > -1e-9 for row in rows)
        with Path("t.csv").open() as file:
            assert len(list(csv.DictReader(file))) == 2

    @pytest.mark.slow
    def test_options_may_be_repeated(self) -> None:
        policies, numbers = ("-p", "no-wait", "--policies", "carbon-time"), ("--reserved", 0, "--reserved", 3)
        rows = json.loads(run("compare", "day.json", *policies, *numbers, "-t", 1, "--json").stdout)["rows"]
        assert [(row["policy"], row["reserved_cpus"]) for row in rows] == [
            ("no-wait", 0), ("carbon-time", 0), ("no-wait", 3), ("carbon-time", 3),
        ]  # fmt: skip

    @pytest.mark.slow
    def test_a_column_that_no_row_fills_is_left_out(self) -> None:
        co.generate("mlcluster", jobs=4, gpus=4, arrival_hours=2).write("gpus.json")
        arguments = ("compare", "gpus.json", "--policies", "tiresias", "-t", 1)
        assert "reserved" not in run(*arguments).stdout
        assert "reserved" in run("compare", "day.json", "--policies", "no-wait", "-t", 1).stdout
        assert "reserved_cpus" not in json.loads(run(*arguments, "--json").stdout)["rows"][0]

    @pytest.mark.slow
    def test_the_split_has_a_table_of_its_own(self) -> None:
        done = run("compare", "day.json", "--policies", "carbon-time", "--split", "-t", 2)
        assert done.exit_code == 0
        assert "what the excess carbon is due to" in done.stdout
        assert "saves over" in done.stdout

    def test_reserved_cpus_are_whole_numbers(self) -> None:
        found = errors("compare", "day.json", "--policies", "carbon-time", "--reserved", "few")
        assert found == ["day.json: --reserved 'few': must be whole numbers separated by commas"]


class TestPareto:
    def test_a_table_and_a_plot(self) -> None:
        done = run("pareto", "day.json", "--levels", 2, "-t", 1, "-o", "front.csv", "--plot", "front.png")
        assert done.exit_code == 0, done.output
        assert Path("front.png").stat().st_size > 1000
        with Path("front.csv").open() as file:
            rows = list(csv.DictReader(file))
        assert len(rows) >= 2
        assert all(float(row["bound"]) <= float(row["carbon_kg"]) * (1 + 1e-9) for row in rows)

    def test_quantities_may_be_given_one_by_one(self) -> None:
        given = ("--quantities", "cost_usd", "--quantities", "carbon_kg")
        found = json.loads(run("pareto", "day.json", *given, "--levels", 2, "-t", 1, "--json").stdout)
        assert found["quantities"] == ["cost_usd", "carbon_kg"]

    def test_one_plot_one_file(self) -> None:
        assert errors("pareto", "day.json", "day.json", "--plot", "a.png") == ["--plot draws one front: give one file"]


class TestReproduce:
    def test_the_list(self) -> None:
        done = run("reproduce", "--json")
        assert done.exit_code == 0
        assert {"gaia-8", "gaia-13"} <= set(json.loads(done.stdout))

    def test_a_figure(self) -> None:
        done = run("reproduce", "gaia-8", "day.json", "-o", "f.csv", "--plot", "f.svg", "--mode", "artifact")
        assert done.exit_code == 0
        assert "cannot" in done.stdout  # the note
        assert Path("f.svg").is_file()
        with Path("f.csv").open() as file:
            assert [row["policy"] for row in csv.DictReader(file)][:2] == ["no-wait", "lowest-slot"]

    def test_another_problem(self) -> None:
        co.generate("mosp", jobs=3).write("mosp.json")
        assert "runs on purchasing, not on mosp" in errors("reproduce", "gaia-8", "mosp.json")[0]
        assert "unknown figure 'gaia-99'" in errors("reproduce", "gaia-99")[0]


@pytest.mark.parametrize("problem", ["mosp", "elastic"])
def test_a_problem_without_limits_on_amounts_says_what_to_do_instead(problem):
    with pytest.raises(co.UnsupportedError, match=r"those of mlcluster and purchasing have\. Simulate its policies"):
        excess_table(co.generate(problem, jobs=5, seed=1))

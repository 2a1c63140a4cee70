"""`simulate`, `compare --policies`, `pareto` and `reproduce`."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from cli_support import errors, run

import carbonopt as co

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

    def test_one_plot_one_file(self) -> None:
        assert errors("pareto", "day.json", "day.json", "--plot", "a.png") == ["--plot draws one front: give one file"]


class TestReproduce:
    def test_the_list(self) -> None:
        done = run("reproduce", "--json")
        assert done.exit_code == 0
        assert {"gaia-8", "gaia-19"} <= set(json.loads(done.stdout))

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
        assert "unknown figure 'gaia-1'" in errors("reproduce", "gaia-1")[0]

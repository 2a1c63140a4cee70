"""A run that did without its compiled loops says so, wherever it is told of."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from cli_support import run

import carbonopt as co
from carbonopt.algorithms import kernel
from carbonopt.bench.gaps import by_method, with_best_bounds
from carbonopt.bench.perform import perform
from carbonopt.bench.runs import job_of, runs_on
from carbonopt.compare import run as run_methods
from carbonopt.core.solution import Solution
from carbonopt.forecasts import write_archive
from carbonopt.forecasts.archive import ForecastArchive
from carbonopt.lessons.instances import small
from carbonopt.regret import least
from carbonopt.report.rows import report_rows
from carbonopt.report.tables import gap_table

SIZES = {
    "mosp": {"jobs": 4},
    "elastic": {"jobs": 3},
    "ecas": {"jobs": 6, "machines": 2},
    "purchasing": {"jobs": 4, "arrival_hours": 6},
}
SOON = 5.0
"""Less than any problem takes to compile [s]; the methods end long before."""


@pytest.fixture(autouse=True)
def nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "PLAIN_STEPS", 0)
    monkeypatch.setattr(kernel.Kernel, "is_ready", False)


def instance_of(problem: str) -> co.Instance:
    return co.generate(problem, seed=1, **SIZES[problem])


@pytest.mark.parametrize("problem", SIZES)
def test_the_solution_says_it(problem: str) -> None:
    saved: list[Solution] = []
    solution = co.solve(instance_of(problem), "price", time_limit=SOON, checkpoint=saved.append)
    assert f"`carbonopt compile {problem}` does it beforehand" in solution.info["without_loops"]
    assert solution.shown_method == "price (loops not compiled)"
    assert solution.summary()["without_loops"] is True
    assert "loops not compiled" in repr(solution)
    assert all(interim.summary()["without_loops"] for interim in saved)


def test_a_method_without_loops_says_nothing() -> None:
    solution = co.solve(instance_of("mosp"), "milp", time_limit=SOON)
    assert "without_loops" not in solution.info
    assert solution.summary()["without_loops"] is False
    assert solution.shown_method == "milp"


@pytest.mark.parametrize("ending", [".tex", ".md", ".csv"])
def test_compare_and_its_files_say_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    monkeypatch.setattr("carbonopt.cli.compile.warm_up", lambda problem: 0.0)
    instance_of("mosp").write(tmp_path / "day.json")
    target = tmp_path / f"t{ending}"
    done = run("compare", tmp_path / "day.json", "-m", "price", "-t", SOON, "-o", target)
    assert "price (loops not compiled)" in done.stdout
    text = target.read_text()
    if ending == ".csv":
        assert [row["without_loops"] for row in csv.DictReader(text.splitlines())] == ["True"]
    else:
        assert "price (loops not compiled)" in text


def read(path: Path) -> str:
    return path.read_text()


def test_pareto_says_it(tmp_path: Path) -> None:
    instance_of("purchasing").write(tmp_path / "day.json")
    quick = ("--quantities", "carbon_kg,mean_wait_hours", "--levels", 2, "-t", SOON)
    done = run("pareto", tmp_path / "day.json", *quick, "-m", "price", "-o", tmp_path / "t.csv")
    assert "price (loops not compiled)" in done.stdout
    assert all(row["without_loops"] == "True" for row in csv.DictReader(read(tmp_path / "t.csv").splitlines()))
    assert "method" not in run("pareto", tmp_path / "day.json", *quick, "-m", "milp").stdout


@pytest.mark.filterwarnings("ignore:.*more than six orders of magnitude")
def test_compare_policies_says_it(tmp_path: Path) -> None:
    instance_of("purchasing").write(tmp_path / "day.json")
    quick = ("compare", tmp_path / "day.json", "--policies", "no-wait", "-t", SOON)
    assert "no-wait (loops not compiled)" in run(*quick, "-o", tmp_path / "t.csv").stdout
    [row] = csv.DictReader(read(tmp_path / "t.csv").splitlines())
    assert (row["policy"], row["without_loops"]) == ("no-wait", "True")
    run(*quick, "-o", tmp_path / "t.tex")
    assert "no-wait (loops not compiled) &" in read(tmp_path / "t.tex")
    assert r"carbon [kg] & cost [\$] &" in read(tmp_path / "t.tex")


def test_regret_says_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(least, "solve", lambda case, **given: co.solve(case, "price", **given))
    instance_of("purchasing").write(tmp_path / "day.json")
    quick = ("regret", tmp_path / "day.json", "-p", "no-wait", "-t", SOON)
    assert "carbon kg that no-wait (loops not compiled) loses" in run(*quick, "-o", tmp_path / "t.csv").stdout
    rows = [*csv.DictReader(read(tmp_path / "t.csv").splitlines())]
    assert {(row["policy"], row["without_loops"]) for row in rows} == {("no-wait", "True")}


def test_risk_says_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    night = small("night", [0, 0, 0], 1, {"a": (0, 1, 1)})
    night.write("night.json")
    write_archive(ForecastArchive("DE", night.time, np.array([0]), np.array([[[300.0, 200.0, 400.0]]])), "de.csv")
    quick = ("risk", "night.json", "--forecast", "de.csv", "--measure", "expectation", "-t", SOON, "--json")
    assert json.loads(run(*quick).stdout)["rows"][0]["without_loops"] is False
    monkeypatch.setattr("carbonopt.uncertainty.ordinary.solve", lambda case, **given: co.solve(case, "price", **given))
    assert json.loads(run(*quick, "-o", "t.md").stdout)["rows"][0]["without_loops"] is True
    assert "| expectation (loops not compiled) |" in Path("t.md").read_text()


def test_bench_says_it_in_its_rows(tmp_path: Path) -> None:
    instance_of("mosp").write(tmp_path / "day.json")
    jobs = runs_on(tmp_path / "day.json", ["price", "lp"], [0])
    rows = [perform(job_of(one, {"time_limit": SOON}, keep_solution=False))["row"] for one in jobs]
    assert [row["without_loops"] for row in rows] == [True, False]
    assert by_method(with_best_bounds(rows))["without_loops"].tolist() == [1, 0]
    groups = gap_table(report_rows(rows))
    assert sorted(groups["method"]) == ["lp", "price (loops not compiled)"]
    del rows[0]["without_loops"]  # of an earlier version
    assert with_best_bounds(rows)["without_loops"].tolist() == [False, False]


def test_a_comparison_compiles_before_the_time_of_a_method_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []

    def compile_first(problem: str) -> None:
        compiled.append(problem)
        monkeypatch.setattr(kernel.Kernel, "is_ready", True)
        monkeypatch.setattr(kernel, "PLAIN_STEPS", 1e30)  # stands for machine code: it need not be made here

    for limit in (SOON, None):  # also where there would be time to compile within it
        monkeypatch.setattr(kernel.Kernel, "is_ready", False)
        monkeypatch.setattr(kernel, "PLAIN_STEPS", 0)
        found = run_methods(instance_of("mosp"), ["lp", "price"], None, compile_first, time_limit=limit)
        assert [solution.summary()["without_loops"] for solution in found] == [False, False]
    assert compiled == ["mosp", "mosp"]


def test_what_cannot_be_compiled_is_tried_once() -> None:
    compiled: list[str] = []
    found = run_methods(instance_of("mosp"), ["price", "price"], None, compiled.append, time_limit=SOON)
    assert compiled == ["mosp"]
    assert [solution.summary()["without_loops"] for solution in found] == [True, True]

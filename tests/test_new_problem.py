"""The problem that docs/new_problem.md builds, made from the page's own files in an empty folder."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_support import run as command
from conftest import ROOT

import carbonopt as co
from carbonopt.core.registry import packages, problem_names, problem_of

FILE = re.compile(r"^```\{code-block\} python\n:caption: (\S+)\n\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a folder on the path with the page's package, installed as far as entry points go."""
    target = tmp_path_factory.mktemp("toy")
    for name, text in FILE.findall((ROOT / "docs/new_problem.md").read_text(encoding="utf-8")):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_text(text, encoding="utf-8")
    about = target / "shifting-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: shifting\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[carbonopt.problems]\nshifting = shifting\n")
    sys.path.insert(0, str(target))
    packages.cache_clear()
    yield target
    sys.path.remove(str(target))
    packages.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "shifting"]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def instance(folder: Path) -> co.Instance:
    return co.generate("shifting", jobs=12, capacity=2, seed=3)


def test_it_is_listed(folder):
    assert "shifting" in problem_names()
    assert "unit jobs on one machine" in problem_of("shifting").title
    with pytest.raises(co.UnsupportedError, match="'mosp', 'purchasing' or 'shifting'"):
        problem_of("unknown")


def test_it_is_written_and_read(instance, tmp_path):
    instance.write(tmp_path / "toy.json")
    again = co.read(tmp_path / "toy.json")
    assert again.sha256 == instance.sha256
    raw = json.loads((tmp_path / "toy.json").read_text())
    raw["capacity"], raw["jobs"]["arrival"][2] = 0, -1
    (tmp_path / "toy.json").write_text(json.dumps(raw))
    with pytest.raises(co.InputError) as error:
        co.read(tmp_path / "toy.json")
    assert {fault.field for fault in error.value.faults} == {"capacity", "jobs.arrival"}


def test_it_has_a_schema(folder):
    shifting = problem_of("shifting")
    assert "kwh_per_job" in shifting.role("schema").model_json_schema()["properties"]


def test_it_is_solved_and_checked(instance):
    exact, relaxed, greedy = (co.solve(instance, name) for name in ("auto", "lp", "greedy"))
    assert exact.status == "optimal"
    assert relaxed.bound == pytest.approx(exact.objective)  # the program is an assignment: its LP has no gap
    assert greedy.objective >= exact.objective - 1e-9
    report = co.check(instance, relaxed)
    assert report.feasible
    assert report.proven_bound == pytest.approx(relaxed.bound)
    assert report.assumes == ()
    assert co.check(instance, exact).feasible


def test_what_is_wrong_is_found(instance):
    schedule = {"job": list(instance.jobs.name), "slot": [23] * 12}
    solution = co.solve(instance, "greedy")
    late = co.check(instance, co.Solution(**{**vars(solution), "columns": schedule}))
    assert "capacity" in {violation.constraint for violation in late.violations}


def test_its_method_takes_parameters(instance):
    solution = co.solve(instance, "greedy", params={"orders": 3})
    assert solution.options["params"] == {"orders": 3}
    with pytest.raises(co.InputError, match="orders = 0: must be a whole number, at least 1"):
        co.solve(instance, "greedy", params={"orders": 0})


def test_its_methods_are_compared(instance):
    table = co.compare(instance)
    assert list(table["method"]) == ["milp", "lp", "greedy"]
    assert table["gap"].dropna().max() < 0.5


def test_its_policies_are_simulated(instance):
    best = co.solve(instance).objective
    at_once, patient = (co.simulate(instance, name) for name in ("at-once", "patient:patience=3"))
    assert at_once.status == patient.status == "feasible"
    assert min(at_once.objective, patient.objective) >= best - 1e-9


def test_its_commands_are_made_from_its_signatures(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "shifting" in command("generate", "--help").output
    text = " ".join(command("generate", "shifting", "--help").output.split())
    assert "Number of slots." in text
    assert "Energy of a job [kWh]." in text
    assert command("generate", "shifting", "--jobs", 5, "-o", "toy.json").exit_code == 0
    assert len(co.read("toy.json").jobs) == 5
    assert command("generate", "shifting", "--jobs", "five").exit_code == 2
    assert "unknown problem" in command("convert", "shifting").stderr


@pytest.mark.slow
def test_every_command_of_the_page_runs(folder, tmp_path):
    page = (ROOT / "docs/new_problem.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\$ carbonopt (.*)$", page, re.MULTILINE)
    assert len(lines) == 6
    paths = os.pathsep.join([str(folder), str(ROOT)])
    for line in lines:
        done = subprocess.run(
            [sys.executable, "-m", "carbonopt", *line.split()],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": paths},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, (line, done.stderr)

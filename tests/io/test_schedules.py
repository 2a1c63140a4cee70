"""Schedules that were made elsewhere."""

import math

import pandas as pd
import pytest
from cli_support import errors, run
from conftest import ROOT, TINY

import carbonopt as co
from carbonopt.io.schedule import read_schedule

CROWD = {"job": ["x", "y", "z"], "cluster": ["clean", "clean", "dirty"], "start": [0, 1, 1]}
SHIPPED = sorted((ROOT / "instances/tiny").glob("*.json"))


def test_one_schedule_in_every_shape_has_one_value(tiny, tmp_path):
    path = tmp_path / "s.csv"
    pd.DataFrame(CROWD)[["start", "job", "cluster"]].to_csv(path, index=False)
    for given in (CROWD, pd.DataFrame(CROWD), pd.DataFrame(CROWD).astype({"start": float}), path, str(path)):
        solution = co.evaluate(tiny["crowd"], given)
        assert (solution.objective, solution.method, solution.status) == (pytest.approx(0.7), "given", "feasible")
        assert {name: solution.columns[name] for name in CROWD} == CROWD
        assert solution.bound is None
        assert co.check(tiny["crowd"], given).objective == solution.objective


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_what_a_method_found_is_worth_the_same_as_a_table(path, tmp_path):
    instance = co.read(path)
    solution = co.solve(instance, "milp")
    if not solution.has_solution:
        pytest.skip("no schedule exists")
    solution.schedule.to_csv(tmp_path / "s.csv", index=False)
    for given in (solution.schedule, tmp_path / "s.csv"):
        again = co.evaluate(instance, given, info=solution.info)
        assert again.objective == pytest.approx(solution.objective)
        assert again.metrics == pytest.approx(solution.metrics)
        again.write(tmp_path / "s.json")
        assert co.check(instance, co.read_solution(tmp_path / "s.json")).feasible


def test_a_schedule_that_is_not_feasible_is_an_error_that_names_each_violation(tiny):
    crowded = CROWD | {"start": [0, 0, 1]}
    report = co.check(tiny["crowd"], crowded)
    assert [violation.constraint for violation in report.violations] == ["capacity"]
    with pytest.raises(co.InputError) as caught:
        co.evaluate(tiny["crowd"], crowded)
    assert caught.value.lines() == [str(violation) for violation in report.violations]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -1, 10**400, 0.5, "soon", None, True, [1]])
def test_a_start_that_is_none_is_told_and_never_raises_otherwise(tiny, bad):
    given = CROWD | {"start": [0, bad, 1]}
    assert not co.check(tiny["crowd"], given).feasible
    with pytest.raises(co.InputError):
        co.evaluate(tiny["crowd"], given)


def test_names_stay_text_and_empty_cells_are_none(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("job,machine,start,end\n007,1,0,3.0\n,1,2.5,4\n")
    read = {"job": ["007", None], "machine": ["1", "1"], "start": [0, 2.5], "end": [3, 4]}
    assert read_schedule(path) == read


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (7, "schedule of type int"),
        (CROWD | {"start": "012"}, "start: must be a list"),
        ({"job": ["x"]}, "columns job, cluster, start"),
        ({}, "columns job, cluster, start"),
        (CROWD | {"start": [0]}, "all of one length"),
        ("schedule.txt", "must end in .csv"),
        ("absent.csv", "absent.csv"),
        (pd.DataFrame([[1, 2]], columns=["job", "job"]), "twice"),
    ],
)
def test_what_is_no_schedule_is_refused(tiny, given, words):
    with pytest.raises(co.CarbonoptError, match=words):
        co.evaluate(tiny["crowd"], given)


def test_the_command_checks_a_csv(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("job,cluster,start\nx,clean,0\ny,clean,1\nz,dirty,1\n")
    done = run("check", TINY["crowd"], path)
    assert done.exit_code == 0
    assert "feasible, objective 0.7 (status feasible)" in done.stdout
    path.write_text("job,cluster,start\nx,clean,0\ny,clean,0\nz,dirty,1\n")
    done = run("check", TINY["crowd"], path)
    assert done.exit_code == 1
    assert "capacity" in done.stdout
    path.write_text("")
    (told,) = errors("check", TINY["crowd"], path)
    assert "is empty" in told

"""`fixed`: jobs that run already, through all rooms."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import ROOT, load_module

import carbonopt as co
from carbonopt.core.errors import RefusedError
from carbonopt.core.registry import problem_of
from carbonopt.problems.mosp.data.file import from_dict

reference = load_module(ROOT / "tests/reference/brute_force.py")
pyomo = load_module(ROOT / "models/mosp_pyomo.py")
check = problem_of("mosp").role("check")


def day(**fixed: Any) -> dict[str, Any]:
    """Two clusters of 2 CPUs at 1 kW each: dirty (100, 100, 100, 100), clean (100, 10, 10, 100) g/kWh."""
    raw = {
        "schema_version": 1,
        "problem": "mosp",
        "name": "day",
        "time": {"slots": 4, "start": "2024-01-01T00:00:00Z"},
        "carbon": {"zones": ["D", "C"], "g_per_kwh": [[100, 100, 100, 100], [100, 10, 10, 100]]},
        "clusters": {
            "name": ["dirty", "clean"],
            "zone": ["D", "C"],
            "capacity": {"cpu": [2, 2]},
            "watts_per_unit": {"cpu": [1000, 1000]},
        },
        "jobs": {
            "name": ["a", "b"],
            "arrival": [0, 0],
            "duration": [2, 2],
            "deadline": [4, 4],
            "demand": {"cpu": [2, 1]},
            "eligible": None,
        },
        "objective": {
            "kind": "carbon",
            "weights": {"carbon_kg": 1, "tardiness_slots": 0, "completion_slots": 0},
            "rejection_price": None,
        },
    }
    return raw | ({"fixed": fixed} if fixed else {})


def test_a_running_job_takes_the_clean_hours_by_hand():
    free = co.solve(from_dict(day()), "milp", mip_rel_gap=0)
    assert free.objective == pytest.approx(0.04 + 0.2)  # a on clean in 1-2, where b finds no room and is on dirty
    raw = day(job=["b"], cluster=["clean"], start=[1])
    settled = co.solve(from_dict(raw), "milp", mip_rel_gap=0)  # b keeps clean: 2 x 10 g; a goes to dirty: 4 x 100 g
    assert settled.objective == pytest.approx(0.42)
    assert dict(zip(settled.columns["job"], settled.columns["cluster"], strict=True)) == {"a": "dirty", "b": "clean"}


def test_a_job_for_which_the_running_one_leaves_no_room_is_named():
    raw = day(job=["b"], cluster=["clean"], start=[1])
    raw["clusters"]["capacity"]["cpu"] = [1, 2]
    (finding,) = problem_of("mosp").role("stuck")(from_dict(raw))
    assert finding.jobs == ("a",)
    assert "finds no 2 slots in a row with room for it alone" in str(finding)


def test_the_checker_wants_the_run_as_it_is():
    instance = from_dict(day(job=["b"], cluster=["clean"], start=[1]))
    whole = {"job": ["a", "b"], "cluster": ["dirty", "clean"], "start": [0, 1]}
    assert check(instance, whole, None).violations == ()
    for change in ({"start": [0, 2]}, {"cluster": ["clean", "dirty"]}):
        assert [v.constraint for v in check(instance, whole | change, None).violations] == ["fixed"]
    absent = {"job": ["a"], "cluster": ["dirty"], "start": [0]}
    told = [v.message for v in check(instance, absent, None).violations if v.constraint == "fixed"]
    assert told == ["job 'b' does not run; it is fixed on cluster 'clean' from slot 1"]


@pytest.mark.parametrize(
    ("fixed", "told"),
    [
        ({"job": ["x"], "cluster": ["clean"], "start": [0]}, "fixed.job[0] = 'x': is unknown"),
        ({"job": ["a"], "cluster": ["x"], "start": [0]}, "fixed.cluster[0] = 'x': is unknown"),
        ({"job": ["a"], "cluster": ["clean"], "start": [3]}, "fixed.start[0] = 3: must be from 0"),
        ({"job": ["a"], "cluster": ["clean"], "start": [-1]}, "fixed.start[0] = -1: must be at least 0"),
        ({"job": ["a"], "cluster": [], "start": [0]}, "must have one entry for each of the 1 fixed jobs"),
        ({"job": ["a", "a"], "cluster": ["clean"] * 2, "start": [0, 0]}, "is a duplicate of row 0"),
        ({"job": ["a", "b"], "cluster": ["clean"] * 2, "start": [0, 1]}, "use 3 cpu of cluster 'clean' in slot 1"),
        ({"job": ["a"], "cluster": ["clean"], "start": [0.5]}, "fixed.start[0] = 0.5: must be a whole number"),
    ],
)
def test_wrong_runs_are_told(fixed, told):
    with pytest.raises(co.InputError) as caught:
        from_dict(day(**fixed))
    assert told in str(caught.value)


def test_files_without_it_are_as_before_and_caspian_refuses():
    assert "fixed" not in from_dict(day()).to_dict()
    assert from_dict(day() | {"fixed": None}).sha256 == from_dict(day()).sha256
    fixed = from_dict(day(job=["b"], cluster=["clean"], start=[1]))
    assert fixed.constraints == ("fixed",)
    assert from_dict(fixed.to_dict()).sha256 == fixed.sha256 != from_dict(day()).sha256
    raw = reference.random_instance(0, "caspian")
    raw["fixed"] = {"job": ["job0"], "cluster": ["cluster0"], "start": [raw["jobs"]["arrival"][0]]}
    with pytest.raises(co.InputError, match="must not be there under the caspian objective"):
        from_dict(raw)


def test_policies_refuse_it():
    with pytest.raises(RefusedError, match="does not respect fixed"):
        co.simulate(from_dict(day(job=["b"], cluster=["clean"], start=[1])), "earliest-clean")


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("limit", [None, 1])
def test_all_methods_agree_with_brute_force(seed, limit):
    raw = reference.random_instance(seed, "carbon")
    schedule = reference.brute_force(raw)[1]
    if not schedule["job"]:
        pytest.skip("no schedule to fix runs of")
    jobs, clusters = raw["jobs"], raw["clusters"]["name"]
    job = schedule["job"][seed % len(schedule["job"])]
    i = jobs["name"].index(job)
    cluster = schedule["cluster"][schedule["job"].index(job)]
    if seed % 2:  # where the job would not go of itself
        cluster = clusters[(clusters.index(cluster) + 1) % len(clusters)]
    raw["fixed"] = {"job": [job], "cluster": [cluster], "start": [jobs["arrival"][i]]}
    raw["clusters"]["max_starts_per_slot"] = limit
    try:
        instance = from_dict(raw)
    except co.InputError:
        pytest.skip("the job may not run there")
    best = reference.brute_force(raw)[0]
    exact = co.solve(instance, "milp", mip_rel_gap=0, time_limit=None)
    assert exact.objective == (None if best is None else pytest.approx(best, rel=1e-7))
    assert (exact.status == "infeasible") == (best is None)
    model = pyomo.build(instance.to_dict())
    assert (pyomo.optimize(model) == "optimal") == (best is not None)
    if best is not None:
        assert float(pyomo.pyo.value(model.objective)) == pytest.approx(best, rel=1e-6)
    assert co.diagnose(instance).feasible is (best is not None)
    for name, method in problem_of("mosp").methods.items():
        if not method.is_for(instance):
            assert (name, limit) == ("price", 1)
            continue
        solution = co.solve(instance, name)
        report = co.check(instance, solution)
        assert report.violations == ()
        if best is None:
            assert not solution.has_solution
            continue
        if solution.has_solution:
            assert solution.objective >= best - 1e-9
        if solution.bound is not None:
            assert solution.bound <= best + 1e-9
        if solution.certificate is not None:
            assert report.proven_bound <= best + 1e-9


def test_the_program_as_it_is_written_has_the_runs():
    instance = from_dict(day(job=["b"], cluster=["clean"], start=[1]))
    assert "fixed" in co.formulate(instance).constraints
    only = from_dict(day(job=["a", "b"], cluster=["dirty", "clean"], start=[0, 1]))
    for name in problem_of("mosp").methods:
        assert co.solve(only, name).objective == pytest.approx(0.42)


def test_starts_and_progress_are_of_the_whole():
    instance = from_dict(day(job=["b"], cluster=["clean"], start=[1]))
    first = co.solve(instance, "greedy-clean")
    heard = []
    again = co.solve(instance, "milp", initial_solution=first, callback=heard.append, mip_rel_gap=0)
    assert again.objective <= first.objective
    for progress in heard:
        if progress.schedule is not None:
            assert check(instance, progress.schedule(), None).violations == ()

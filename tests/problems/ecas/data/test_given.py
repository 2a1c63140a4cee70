"""Machines that are not always available, and jobs that must run on one machine."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import ROOT, load_module
from loop_support import for_each

import carbonopt as co
from carbonopt.problems.ecas.data.file import from_dict
from carbonopt.problems.ecas.verify.check import check

reference = load_module(ROOT / "tests/reference/brute_force_ecas.py")
tiny = load_module(ROOT / "instances/tiny_ecas.py")
[RAW] = [raw for raw in tiny.tiny_instances() if "stayson" in raw["name"]]


def given(available: Any = None, machine: Any = None) -> dict[str, Any]:
    """Jobs a and b in slots 0 and 2 of three; m0 would stay on between them, a second machine is like it."""
    machines = {key: column * 2 for key, column in RAW["machines"].items() if isinstance(column, list)}
    capacity = {resource: units * 2 for resource, units in RAW["machines"]["capacity"].items()}
    machines |= {"name": ["m0", "m1"], "capacity": capacity, "available": available}
    return RAW | {"machines": machines, "jobs": RAW["jobs"] | {"machine": machine}}


@pytest.mark.parametrize(
    ("available", "machine", "objective"),
    [
        (None, None, 6.5),
        ([[1, 1, 1], [1, 1, 1]], [None, None], 6.5),
        ([[1, 0, 1], [0, 0, 0]], None, 7),
        (None, ["m0", "m1"], 7),
        ([[0, 1, 1], [1, 1, 0]], ["m0", None], None),
    ],
)
def test_by_hand(available: Any, machine: Any, objective: float | None) -> None:
    """Staying on through slot 1 costs 6.5. Where it may not, or jobs run apart, a second start makes it 7."""
    instance = from_dict(given(available, machine))
    solution = co.solve(instance, "milp", mip_rel_gap=0)
    assert solution.objective == (None if objective is None else pytest.approx(objective))
    assert co.solve(instance).objective == solution.objective
    assert co.diagnose(instance).feasible is (objective is not None)
    assert from_dict(instance.to_dict()).sha256 == instance.sha256


def test_the_file_without_them_is_as_ever() -> None:
    plain = from_dict(given())
    assert "available" not in plain.data()["machines"]
    assert "machine" not in plain.data()["jobs"]
    assert plain.constraints == ()


def test_what_the_checker_finds() -> None:
    instance = from_dict(given([[1, 0, 1], [1, 1, 1]], ["m1", None]))
    rows = [("a", "m0", 0, 1), ("b", "m0", 2, 3), (None, "m0", 0, 3)]
    schedule = {name: [row[k] for row in rows] for k, name in enumerate(("job", "machine", "start", "end"))}
    told = {violation.constraint: violation.message for violation in check(instance, schedule).violations}
    assert told == {
        "machine": "job 'a' runs on machine 'm0', must run on 'm1'",
        "available": "machine 'm0' is on in slot 1, in which it is not available",
    }


@pytest.mark.parametrize("method", ["price", "greedy", "lp-rounding"])
@for_each(seed=range(20))
def test_methods_against_brute_force(method: str, seed: int) -> None:
    """No schedule is better than the optimum, no bound above it, and `price` finds it."""
    raw = reference.random_instance(100 + seed, "given", jobs=4)
    optimum = reference.brute_force(raw)[0]
    instance = from_dict(raw)
    solution = co.solve(instance, method, time_limit=None)
    assert co.check(instance, solution).violations == ()
    if optimum is None:
        assert solution.objective is None
        return
    if solution.objective is not None:
        assert solution.objective >= optimum - 1e-9
    if solution.bound is not None:
        assert solution.bound <= optimum + 1e-9
    if method == "price":
        assert solution.objective == pytest.approx(optimum)


def test_jobs_wait_until_their_machine_is_available() -> None:
    """A job that may run on m0 alone, which is closed at first, runs when it opens; no job has a unit to use."""
    raw = given([[0, 0, 1], [1, 1, 1]], ["m0", None])
    window = {"arrival": [0, 0], "deadline": [3, 3]}
    for use in ({"cpu": [1, 1]}, {"cpu": [0, 0]}):
        instance = from_dict(raw | {"jobs": raw["jobs"] | window | {"use": use}})
        for method in ("price", "greedy", "lp-rounding"):
            solution = co.solve(instance, method)
            starts = dict(zip(solution.schedule["job"], solution.schedule["start"], strict=True))
            assert starts["a"] == 2


def test_the_bound_knows_them() -> None:
    """With m0 alone in slot 0, which must be on there, the relaxation proves more than without."""
    free, closed = (from_dict(given(available)) for available in (None, [[0, 0, 0], [1, 0, 1]]))
    assert co.solve(closed, "lp").bound > co.solve(free, "lp").bound
    assert co.check(closed, co.solve(closed, "lp")).violations == ()


@pytest.mark.parametrize(
    ("available", "machine", "words"),
    [
        ([[1, 1, 1]], None, "machines.available"),
        ([[1, 1], [1, 1, 1]], None, "must have 3 values, one a slot"),
        ([[1, 2, 1], [1, 1, 1]], None, "machines.available"),
        (None, ["m0"], "jobs.machine"),
        (None, ["m0", "m7"], "is unknown: machines.name has 'm0' or 'm1'"),
        (None, ["m0", 3], "jobs.machine"),
    ],
)
def test_what_is_wrong_is_told(available: Any, machine: Any, words: str) -> None:
    with pytest.raises(co.InputError) as caught:
        from_dict(given(available, machine))
    assert any(words in line for line in caught.value.lines()), caught.value.lines()

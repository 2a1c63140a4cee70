"""The checker finds every broken constraint, and evaluates by hand-checked numbers."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import ROOT, load_module

import carbonopt as co
from carbonopt.problems.ecas.data.file import from_dict
from carbonopt.problems.ecas.verify.check import check

tiny = load_module(ROOT / "instances/tiny_ecas.py")
RAW = {raw["name"].split("-")[1].removeprefix("tiny_"): raw for raw in tiny.tiny_instances()}
GOOD = [("a", "m0", 0, 1), ("b", "m0", 2, 3), (None, "m0", 0, 3)]


def schedule(rows: list[tuple[Any, ...]]) -> dict[str, Any]:
    return {name: [row[k] for row in rows] for k, name in enumerate(("job", "machine", "start", "end"))}


def test_the_value_by_hand() -> None:
    report = check(from_dict(RAW["stayson"]), schedule(GOOD))
    assert report.violations == ()
    assert report.objective == 6.5
    expected = {"energy_kwh": 5, "idle_kwh": 3, "energy_cost": 5, "switching_cost": 1.5, "starts": 1}
    assert report.metrics == expected


def test_two_stretches_pay_twice() -> None:
    rows = [*GOOD[:2], (None, "m0", 0, 1), (None, "m0", 2, 3)]
    assert check(from_dict(RAW["stayson"]), schedule(rows)).objective == 7


def test_carbon_counts_by_its_weight() -> None:
    raw = RAW["stayson"] | {
        "carbon": {"zones": ["A"], "g_per_kwh": [[100, 200, 300]]},
        "objective": {"weights": {"cost": 0, "carbon_kg": 2}},
    }
    report = check(from_dict(raw), schedule(GOOD))
    assert report.metrics["carbon_kg"] == pytest.approx(1.0)
    assert report.objective == pytest.approx(2 * 1.0 + 1.5)


@pytest.mark.parametrize(
    ("rows", "constraint", "words"),
    [
        ([("a", "m0", 0, 1), (None, "m0", 0, 3)], "placement", "job 'b' runs 0 times, must run once"),
        ([GOOD[0], *GOOD], "placement", "job 'a' runs 2 times"),
        ([("a", "m0", 1, 2), *GOOD[1:]], "window", "job 'a' runs in 1..2, its window is 0..1"),
        ([("a", "m0", 0, 2), *GOOD[1:]], "duration", "job 'a' runs for 2 slots, must run for 1"),
        ([*GOOD[:2], (None, "m0", 0, 2)], "on", "job 'b' runs on machine 'm0', which is off in slot 2"),
        ([*GOOD, (None, "m0", 1, 2)], "on", "machine 'm0' is on twice in slot 1"),
        ([("c", "m0", 0, 1), *GOOD], "format", "job 'c' is unknown"),
        ([("a", "m7", 0, 1), *GOOD[1:]], "format", "machine 'm7' is unknown"),
        ([*GOOD, (None, "m0", 3, 4)], "format", "slots 3 to 4 must be whole, from 0 to 3"),
        ([*GOOD, (None, "m0", True, 3)], "format", "slots true to 3"),
        ([*GOOD, (None, [], 0, 3)], "format", "machine [] is unknown"),
        ([*GOOD, ([], "m0", 0, 3)], "format", "job [] is unknown"),
    ],
)
def test_what_is_broken(rows: list[tuple[Any, ...]], constraint: str, words: str) -> None:
    report = check(from_dict(RAW["stayson"]), schedule(rows))
    assert any(v.constraint == constraint and words in v.message for v in report.violations), report.violations


def test_loads_beyond_all_whole_numbers_are_loads() -> None:
    """1,500 uses of 2^53 - 1 units are more than 64 bits hold."""
    most = 2**53 - 1
    jobs = [f"j{number}" for number in range(1500)]
    raw = RAW["fullslot"] | {
        "machines": {"name": ["m0"], "capacity": {"cpu": [most]}, "idle_kw": [1], "up_cost": [0], "down_cost": [0]},
        "jobs": {
            "name": jobs,
            "arrival": [0] * 1500,
            "duration": [1] * 1500,
            "deadline": [1] * 1500,
            "power_kw": [1] * 1500,
            "use": {"cpu": [most] * 1500},
        },
    }
    report = check(from_dict(raw), schedule([(None, "m0", 0, 1), *((job, "m0", 0, 1) for job in jobs)]))
    assert [violation.constraint for violation in report.violations] == ["capacity"]


def test_capacity() -> None:
    instance = from_dict(RAW["fullslot"])
    rows = [("a", "m0", 0, 1), ("b", "m0", 0, 1), (None, "m0", 0, 1)]
    [violation] = check(instance, schedule(rows)).violations
    assert (violation.constraint, violation.amount, violation.slot) == ("capacity", 1, 0)
    assert violation.message == "machine 'm0' lacks 1 cpu in slot 0"


def test_other_columns() -> None:
    assert check(from_dict(RAW["stayson"]), {"job": ["a"]}).violations[0].constraint == "format"


def test_a_solution_file_holds_the_rows_of_machines(tmp_path: Any) -> None:
    instance = from_dict(RAW["stayson"])
    solution = co.solve(instance, "greedy")
    solution.write(tmp_path / "s.json")
    assert co.check(instance, co.read_solution(tmp_path / "s.json")).violations == ()

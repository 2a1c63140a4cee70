"""Solution files: they come back as they were, damage is told by field and row, and `check` finds tampering."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from instance_support import RAW, REMOVED, Place, Raw, change, tamper

import carbonopt as co
from carbonopt.core.errors import InputError
from carbonopt.io.solution import solution_from_dict
from carbonopt.problems.mosp.data.file import from_dict

CASPIAN = {"kind": "caspian", "weights": {"z1": 1, "z2": 1, "z3": 1}, "normalizers": None}
INSTANCE = from_dict(RAW)
ON_CASPIAN = from_dict(change({("objective",): CASPIAN}))


@pytest.fixture(scope="module")
def raw() -> Raw:
    """Return the optimum as its file holds it."""
    return plain(co.solve(INSTANCE, "milp"))


@pytest.fixture(scope="module")
def caspian_raw() -> Raw:
    """Return a solution under the caspian objective, whose normalizers it records."""
    return plain(co.solve(ON_CASPIAN, "milp"))


def plain(solution: co.Solution) -> Raw:
    content: Raw = json.loads(json.dumps(solution.to_dict()))
    return content


def violations(raw: Raw, changes: dict[Place, Any], instance: co.Instance = INSTANCE) -> list[str]:
    """Return what `check` finds in the changed solution, and have it survive JSON."""
    report = co.check(instance, solution_from_dict(tamper(raw, changes)))
    json.dumps([vars(violation) for violation in report.violations], allow_nan=False)
    return [str(violation) for violation in report.violations]


def faults(raw: Raw, changes: dict[Place, Any]) -> list[str]:
    with pytest.raises(InputError) as caught:
        solution_from_dict(tamper(raw, changes))
    return [str(fault) for fault in caught.value.faults]


class TestRoundTrip:
    @pytest.mark.parametrize("name", ["s.json", "s.json.gz"])
    @pytest.mark.parametrize("method", ["milp", "lp", "greedy-clean"])
    def test_it_comes_back_as_it_was(self, tmp_path: Path, name: str, method: str) -> None:
        solution = co.solve(INSTANCE, method)
        solution.write(tmp_path / name)
        assert [path.name for path in tmp_path.iterdir()] == [name]  # no .part file is left
        again = co.read_solution(tmp_path / name)
        assert again.to_dict() == solution.to_dict()
        assert again.schedule.equals(solution.schedule)
        assert co.check(INSTANCE, again).violations == ()

    def test_a_solution_without_a_schedule(self, tmp_path: Path) -> None:
        instance = from_dict(change({("jobs", "demand", "gpu", 0): 99}))
        solution = co.solve(instance, "milp")
        solution.write(tmp_path / "s.json")
        again = co.read_solution(tmp_path / "s.json")
        assert again.status == "infeasible"
        assert not again.has_solution
        assert again.to_dict() == solution.to_dict()

    def test_the_same_solution_gives_the_same_bytes(self, tmp_path: Path) -> None:
        solution = co.solve(INSTANCE, "greedy-clean")
        for name in ("a.json.gz", "b.json.gz"):
            solution.write(tmp_path / name)
        assert (tmp_path / "a.json.gz").read_bytes() == (tmp_path / "b.json.gz").read_bytes()

    def test_writing_over_a_file_replaces_it(self, tmp_path: Path) -> None:
        path = tmp_path / "s.json"
        path.write_text("old" * 10_000)
        co.solve(INSTANCE, "greedy-clean").write(path)
        assert co.read_solution(path).method == "greedy-clean"
        assert list(tmp_path.iterdir()) == [path]


class TestDamage:
    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (b"", "is empty"),
            (b"{", "is not JSON: line 1, column 2: "),
            (b"\x1f\x8b\x08\x00", "is not a whole gzip file ("),
            (b"[]", "[]: must hold one JSON object {...}"),
            (b'{"problem": "mosp", "jobs": {}}', "is an instance file, must be a solution file"),
            (b"{}", "problem: is missing: must be 'ecas', 'elastic', 'mlcluster', 'mosp' or 'purchasing'"),
            (
                b'{"problem": {}}',
                "problem = {}: is unknown: must be 'ecas', 'elastic', 'mlcluster', 'mosp' or 'purchasing'",
            ),
        ],
    )
    def test_what_is_no_solution_file_is_one_line(self, tmp_path: Path, content: bytes, words: str) -> None:
        path = tmp_path / "s.json"
        path.write_bytes(content)
        with pytest.raises(InputError) as caught:
            co.read_solution(path)
        [line] = caught.value.lines()
        assert line.startswith(f"{path}: {words}")

    @pytest.mark.parametrize(
        ("place", "value", "line"),
        [
            (("schema_version",), 2, "schema_version = 2: must be 1 (this carbonopt reads no other)"),
            (("schema_version",), True, "schema_version = true: must be 1 (this carbonopt reads no other)"),
            (("instance",), "", "instance = '': must not be empty"),
            (("instance_sha256",), "abc", "instance_sha256 = 'abc': must be 64 hexadecimal digits"),
            (("method",), REMOVED, "method: is missing"),
            (("sense",), "up", "sense = 'up': must be 'min' or 'max'"),
            (("objective",), float("nan"), "objective = nan: must be finite"),
            (("objective",), "0.02", "objective = '0.02': must be a number"),
            (("bound",), float("-inf"), "bound = -inf: must be finite"),
            (("gap",), -0.1, "gap = -0.1: must be at least 0"),
            (("wall_seconds",), -1, "wall_seconds = -1: must be at least 0"),
            (("metrics", "carbon_kg"), float("nan"), "metrics.carbon_kg = nan: must be finite"),
            (("metrics", "carbon_kg"), "0", "metrics.carbon_kg = '0': must be a number"),
            (("certificate",), [1], "certificate = [1]: must be an object {...}"),
            (("schedule",), [1], "schedule = [1]: must be an object {...}"),
            (("schedule", "start"), 0, "schedule.start = 0: must be a list"),
            (("schedule", "start", 1), float("nan"), "schedule.start[1] = nan: must be finite"),
            (("info", "nodes"), float("inf"), "info.nodes = inf: must be finite"),
            (("status",), "done", "status = 'done': must be 'optimal', 'feasible', 'time_limit', 'infeasible',"
             " 'interrupted', 'unknown' or 'error'"),
        ],
    )  # fmt: skip
    def test_a_wrong_field(self, raw: Raw, place: Place, value: Any, line: str) -> None:
        assert faults(raw, {place: value}) == [line]

    def test_a_misspelt_field(self, raw: Raw) -> None:
        assert faults(raw, {("methods",): 1}) == ["methods: is not a known field: did you mean 'method'?"]

    def test_all_faults_come_at_once(self, raw: Raw) -> None:
        changes = {("sense",): 1, ("bound",): "x", ("schedule", "start", 0): float("nan"), ("gap",): REMOVED}
        found = [line.split(" = ")[0] for line in faults(raw, changes | {("status",): None})]
        assert found == ["status", "sense", "bound", "schedule.start[0]"]


class TestTampering:
    def test_nothing_is_found_where_nothing_was_changed(self, raw: Raw, caspian_raw: Raw) -> None:
        assert violations(raw, {}) == []
        assert violations(caspian_raw, {}, ON_CASPIAN) == []

    def test_objective_and_bound(self, raw: Raw) -> None:
        assert violations(raw, {("objective",): 0.5, ("bound",): 9}) == [
            f"objective: the file claims 0.5, the schedule's is {raw['objective']:.9g}",
            f"bound: the claimed bound 9 is beaten by the schedule's {raw['objective']:.9g}",
        ]

    @pytest.mark.parametrize("name", ["carbon_kg", "energy_kwh", "jobs_run", "deadlines_met", "completion_ratio", "z3"])
    def test_metrics(self, raw: Raw, name: str) -> None:
        [line] = violations(raw, {("metrics", name): raw["metrics"][name] + 1})
        assert line.startswith(f"metrics: the file claims {name} = ")

    def test_a_solution_of_another_instance(self, raw: Raw) -> None:
        other = from_dict(change({("carbon", "g_per_kwh", 0, 0): 2}))
        found = violations(raw, {}, other)
        assert "instance: the solution was made for 'two' with other data (content hash differs)" in found
        assert any(line.startswith("objective: ") for line in found)

    @pytest.mark.parametrize("job", ["z", "", 5, None, ["x"], {"a": 1}, True])
    def test_an_unknown_job(self, raw: Raw, job: Any) -> None:
        found = violations(raw, {("schedule", "job", 0): job})
        assert found[0].startswith("format: row 0 names an unknown job ")
        assert "placement: job 'x' does not run, and no rejection price is set" in found

    @pytest.mark.parametrize("cluster", ["c", 0, None, []])
    def test_an_unknown_cluster(self, raw: Raw, cluster: Any) -> None:
        found = violations(raw, {("schedule", "cluster", 1): cluster})
        assert found[0].startswith("format: job 'y' is on an unknown cluster ")

    @pytest.mark.parametrize("start", [0.5, "0", None, True, [0], {}, 2**53, 10**30, 10**300, -(10**30), 1e308])
    def test_a_start_that_is_no_slot(self, raw: Raw, start: Any) -> None:
        found = violations(raw, {("schedule", "start", 0): start})
        assert found[0].startswith("format: job 'x' starts at ")
        assert found[0].endswith(": must be a whole slot from 0 to 3")

    @pytest.mark.parametrize("start", [float("nan"), float("inf")])
    def test_a_start_that_is_not_finite_in_a_schedule_made_by_a_program(self, start: float) -> None:
        report = co.solve(INSTANCE, "greedy-clean")
        assert report.columns is not None
        columns = report.columns | {"start": [start, 1]}
        solution = co.Solution(**{**vars(report), "columns": columns})
        assert co.check(INSTANCE, solution).violations[0].constraint == "format"

    @pytest.mark.parametrize(("start", "name"), [(-1, "release"), (-(10**15), "release"), (10**15, "horizon")])
    def test_a_start_outside_the_horizon(self, raw: Raw, start: int, name: str) -> None:
        assert violations(raw, {("schedule", "start", 0): start})[0].startswith(f"{name}: job 'x' ")

    def test_a_job_that_runs_twice(self, raw: Raw) -> None:
        twice = {("schedule", name): raw["schedule"][name] * 2 for name in ("job", "cluster", "start")}
        found = violations(raw, dict(twice))
        assert found[:2] == ["placement: job 'x' runs 2 times", "placement: job 'y' runs 2 times"]

    @pytest.mark.parametrize(
        ("changes", "has"),
        [
            ({("schedule", "start"): REMOVED}, "job (2 rows), cluster (2 rows)"),
            ({("schedule", "start"): [0]}, "job (2 rows), cluster (2 rows), start (1 rows)"),
            ({("schedule", "job"): []}, "job (0 rows), cluster (2 rows), start (2 rows)"),
            ({("schedule", "end"): [1, 3]}, "job (2 rows), cluster (2 rows), start (2 rows), end (2 rows)"),
            ({("schedule",): {}}, "none"),
        ],
    )
    def test_columns_that_are_missing_ragged_or_unknown(self, raw: Raw, changes: dict[Place, Any], has: str) -> None:
        assert violations(raw, changes) == [
            f"format: the schedule must have the columns job, cluster, start, all of one length; it has {has}"
        ]

    @pytest.mark.parametrize("bars", [[1, 1, 1], "1", {"z1": 1, "z2": 1}, {"z1": "1", "z2": 1, "z3": 1}])
    def test_normalizers_that_are_none(self, caspian_raw: Raw, bars: Any) -> None:
        found = violations(caspian_raw, {("info", "normalizers"): bars}, ON_CASPIAN)
        assert len(found) == 1
        assert found[0].startswith("normalizer: the solution's info.normalizers must be three numbers z1, z2, z3")

    def test_normalizers_that_are_missing_or_too_small(self, caspian_raw: Raw) -> None:
        [line] = violations(caspian_raw, {("info", "normalizers"): REMOVED}, ON_CASPIAN)
        assert line == "normalizer: the solution's info.normalizers are missing: without Zbar no objective"
        found = violations(caspian_raw, {("info", "normalizers", "z2"): 0.5}, ON_CASPIAN)
        assert found[0].startswith("normalizer: z2 = ")
        assert found[1].startswith("objective: the file claims ")

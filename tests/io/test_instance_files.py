"""Instance files: every fault is told at once, by field, row, value, and what would be right."""

from __future__ import annotations

import json
from typing import Any

import pytest
from instance_support import RAW, REMOVED, Place, Raw, change, lines
from loop_support import for_each

import carbonopt as co
from carbonopt.problems.mosp.data.file import from_dict


def test_the_instance_that_the_faults_are_put_into_is_sound() -> None:
    instance = from_dict(RAW)
    assert instance.clusters.capacity.shape == (2, 1, 4)
    assert instance.eligible.tolist() == [[True, False], [True, True]]


class TestTopLevel:
    @pytest.mark.parametrize("version", [0, 2, 1.0, "1", True, None, [1], 10**400, float("nan")])
    def test_schema_version(self, version: Any) -> None:
        [line] = lines(change({("schema_version",): version}))
        assert line.startswith("schema_version = ")
        assert line.endswith(": must be 1 (this carbonopt reads no other)")

    @pytest.mark.parametrize(
        "field", ["schema_version", "problem", "name", "time", "carbon", "clusters", "jobs", "objective"]
    )
    def test_missing(self, field: str) -> None:
        assert lines(change({(field,): REMOVED})) == [f"{field}: is missing"]

    def test_provenance_may_be_missing(self) -> None:
        assert from_dict(change({("provenance",): REMOVED})).provenance == {}

    def test_misspelt(self) -> None:
        assert lines(change({("job",): 1, ("carbno",): 1, ("comment",): ""})) == [
            "job: is not a known field: did you mean 'jobs'?",
            "carbno: is not a known field: did you mean 'carbon'?",
            "comment: is not a known field; known are schema_version, problem, name, provenance, time, carbon,"
            " clusters, jobs, objective, fixed, energy_price",
        ]

    @pytest.mark.parametrize(
        ("path", "value", "line"),
        [
            (("name",), "", "name = '': must not be empty"),
            (("name",), 5, "name = 5: must be text"),
            (("provenance",), [], "provenance = []: must be an object {...}"),
            (("provenance",), {"a": [1, {"b": float("inf")}]}, "provenance.a[1].b = inf: must be finite"),
            (("time",), [1], "time = [1]: must be an object {...}"),
            (("jobs",), 3, "jobs = 3: must be an object {...}"),
            (("objective",), "carbon", "objective = 'carbon': must be an object {...}"),
            (("objective", "kind"), "carbn", "objective.kind = 'carbn': must be 'carbon' or 'caspian'"),
            (("objective", "kind"), ["carbon"], "objective.kind = ['carbon']: must be 'carbon' or 'caspian'"),
            (("objective", "kind"), REMOVED, "objective.kind: is missing"),
            (("objective", "weights", "carbon_kg"), REMOVED, "objective.weights.carbon_kg: is missing"),
            (
                ("objective", "weights", "carbon"),
                1,
                "objective.weights.carbon: is not a known field: did you mean 'carbon_kg'?",
            ),
            (("objective", "rejection_price"), -1, "objective.rejection_price = -1: must be at least 0"),
        ],
    )
    def test_a_wrong_section(self, path: Place, value: Any, line: str) -> None:
        assert lines(change({path: value})) == [line]

    def test_free_parts_may_not_be_nested_without_end(self) -> None:
        deep: Any = 1
        for _ in range(500):
            deep = [deep]
        assert lines(change({("provenance",): {"a": deep}})) == ["provenance: is nested more than 100 deep"]


NUMBERS: dict[str, tuple[Place, str, str]] = {
    "time.slot_hours": (("time", "slot_hours"), "time.slot_hours", "number"),
    "carbon": (("carbon", "g_per_kwh", 1, 2), "carbon.g_per_kwh[1][2]", "number"),
    "capacity": (("clusters", "capacity", "gpu", 0), "clusters.capacity.gpu[0]", "number"),
    "capacity per slot": (("clusters", "capacity", "gpu", 1, 3), "clusters.capacity.gpu[1][3]", "number"),
    "watts": (("clusters", "watts_per_unit", "gpu", 1), "clusters.watts_per_unit.gpu[1]", "number"),
    "deadline": (("jobs", "deadline", 1), "jobs.deadline[1]", "number"),
    "demand": (("jobs", "demand", "gpu", 0), "jobs.demand.gpu[0]", "number"),
    "weight": (("objective", "weights", "carbon_kg"), "objective.weights.carbon_kg", "number"),
    "slots": (("time", "slots"), "time.slots", "whole number"),
    "arrival": (("jobs", "arrival", 1), "jobs.arrival[1]", "whole number"),
    "duration": (("jobs", "duration", 0), "jobs.duration[0]", "whole number"),
}


@pytest.mark.parametrize(("path", "place", "kind"), NUMBERS.values(), ids=NUMBERS)
class TestNumbers:
    def test_what_is_no_number(self, path: Place, place: str, kind: str) -> None:
        for value, shown in ((True, "true"), (None, "null"), ("5", "'5'"), ({}, "{}"), ({"a": 1}, "{'a': 1}")):
            assert lines(change({path: value})) == [f"{place} = {shown}: must be a {kind}"]

    @for_each(value=["NaN", "Infinity", "-Infinity", "1e400", "-1e400"])
    def test_what_is_not_finite(self, path: Place, place: str, kind: str, value: str) -> None:
        [line] = lines(change({path: json.loads(value)}))
        assert line.startswith(f"{place} = ")
        assert line.endswith(": must be finite" if kind == "number" else ": must be a whole number")

    def test_negative(self, path: Place, place: str, kind: str) -> None:
        [line] = lines(change({path: -1}))
        least = {"time.slot_hours": "above 0", "time.slots": "at least 1", "jobs.duration[0]": "at least 1"}
        assert line == f"{place} = -1: must be {least.get(place, 'at least 0')}"

    @for_each(value=[10**31, 10**400])
    def test_huge(self, path: Place, place: str, kind: str, value: int) -> None:
        [line] = lines(change({path: value}))
        assert line.startswith(f"{place} = 1000000000")
        most = "at most 9007199254740991" if kind == "whole number" else "at most 1e+30"
        assert line.endswith(most if value < 10**300 or kind == "whole number" else "must be a number")

    def test_a_list_where_a_number_belongs(self, path: Place, place: str, kind: str) -> None:
        [line] = lines(change({path: [[1]]}))[:1]
        assert line.startswith((f"{place} = [[1]]: must be a {kind}", f"{place}[0] = [1]: must be a number"))


class TestValues:
    @pytest.mark.parametrize("value", [0, -3])
    def test_a_job_lasts_a_slot_at_least(self, value: int) -> None:
        assert lines(change({("jobs", "duration", 1): value})) == [f"jobs.duration[1] = {value}: must be at least 1"]

    @pytest.mark.parametrize("field", ["arrival", "duration"])
    def test_slots_are_whole(self, field: str) -> None:
        assert lines(change({("jobs", field, 0): 1.5})) == [f"jobs.{field}[0] = 1.5: must be a whole number"]
        assert from_dict(change({("jobs", field, 0): 1.0})).sha256 == from_dict(change({("jobs", field, 0): 1})).sha256

    @pytest.mark.parametrize("start", ["", "yesterday", "2023-13-01", "0001-01-01T00:00:00+14:00"])
    def test_the_start_is_a_moment(self, start: str) -> None:
        assert lines(change({("time", "start"): start})) == [
            f"time.start = {start!r}: must be an ISO 8601 moment such as 2023-11-14T00:00:00Z"
        ]

    @pytest.mark.parametrize(
        ("path", "place"),
        [
            (("carbon", "zones"), "carbon.zones"),
            (("carbon", "g_per_kwh"), "carbon.g_per_kwh"),
            (("carbon", "g_per_kwh", 1), "carbon.g_per_kwh[1]"),
            (("clusters", "zone"), "clusters.zone"),
            (("clusters", "capacity", "gpu"), "clusters.capacity.gpu"),
            (("jobs", "name"), "jobs.name"),
            (("jobs", "demand", "gpu"), "jobs.demand.gpu"),
            (("jobs", "eligible"), "jobs.eligible"),
            (("jobs", "eligible", 0), "jobs.eligible[0]"),
        ],
    )
    @for_each(value=[7, "text", {"0": 1}])
    def test_a_list_is_a_list(self, path: Place, place: str, value: Any) -> None:
        assert lines(change({path: value})) == [f"{place} = {value!r}: must be a list"]

    def test_a_table_is_an_object(self) -> None:
        assert lines(change({("jobs", "demand"): [1, 2]})) == ["jobs.demand = [1, 2]: must be an object {...}"]


def everything_wrong() -> tuple[Raw, set[str]]:
    """Return an instance with a fault of every class in every section, and the place of each."""
    raw = change(
        {
            ("schema_version",): 2,
            ("comment",): "",
            ("time", "slot_hours"): 0,
            ("time", "start"): "soon",
            ("carbon", "zones"): ["A", "A"],
            ("carbon", "g_per_kwh"): [[1, float("nan")], [1, 1, 1, 1], [1, 1, 1, 1]],
            ("clusters", "name"): ["a", "a"],
            ("clusters", "zone"): ["A", "Q"],
            ("clusters", "capacity", "gpu"): [[1], -1],
            ("clusters", "watts_per_unit"): {"gpu": [None], "tpu": [1, 1]},
            ("jobs", "name"): ["x", "x"],
            ("jobs", "arrival"): ["0", 1],
            ("jobs", "duration"): [0],
            ("jobs", "deadline"): REMOVED,
            ("jobs", "dedline"): [1, 1],
            ("jobs", "eligible"): [["z"], []],
            ("objective", "weights", "carbon_kg"): True,
        }
    )
    places = {
        "schema_version", "comment", "time.slot_hours", "time.start", "carbon.zones[1]", "carbon.g_per_kwh",
        "carbon.g_per_kwh[0]", "carbon.g_per_kwh[0][1]", "clusters.name[1]", "clusters.zone[1]",
        "clusters.capacity.gpu[1]", "clusters.watts_per_unit.gpu", "clusters.watts_per_unit.gpu[0]",
        "clusters.watts_per_unit.tpu", "jobs.name[1]", "jobs.arrival[0]", "jobs.duration", "jobs.duration[0]",
        "jobs.deadline", "jobs.dedline", "jobs.eligible[0]", "objective.weights.carbon_kg",
    }  # fmt: skip
    return raw, places


def test_all_faults_of_one_file_come_at_once() -> None:
    raw, places = everything_wrong()
    found = lines(raw)
    assert {line.split(" = ")[0].split(": ")[0] for line in found} == places - {"carbon.g_per_kwh[0]"}
    assert len(found) == len(places) - 1  # the horizon could not be read: rows are not measured against it


def test_rows_are_measured_where_the_horizon_is_sound() -> None:
    raw, places = everything_wrong()
    raw["time"] = change({})["time"]
    expected = (places - {"time.slot_hours", "time.start"}) | {"clusters.capacity.gpu[0]"}
    found = lines(raw)
    assert {line.split(" = ")[0].split(": ")[0] for line in found} == expected
    assert len(found) == len(expected)


def test_a_job_that_no_cluster_can_hold_makes_a_valid_instance() -> None:
    instance = from_dict(change({("jobs", "demand", "gpu", 0): 99}))
    found = co.diagnose(instance)
    assert found.feasible is False
    assert [str(finding) for finding in found.findings] == [
        "job 'x' needs 99 gpu, the largest cluster that may run it has 4"
    ]

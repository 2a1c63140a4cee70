"""Elastic instance files: every fault is told at once, by field, row, value, and what would be right."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from elastic_support import RAW, REMOVED, change, lines
from instance_support import Place, told

import carbonopt as co
from carbonopt.core.errors import TooLargeError
from carbonopt.problems.elastic.data.file import from_dict
from carbonopt.problems.elastic.data.instance import Profile

NBODY = ("profiles", "nbody")
ABOVE_0 = "must be finite and above 0"
THREE = "must have one entry for each of the 3 units of marginal_throughput"


def places(found: list[str]) -> list[str]:
    return [line.split(" = ")[0].split(": ")[0] for line in found]


def test_the_instance_that_the_faults_are_put_into_is_sound(tmp_path: Path) -> None:
    instance = from_dict(RAW)
    assert instance.jobs.window_end.tolist() == [4, 4]
    instance.write(tmp_path / "two.json.gz")
    again = co.read(tmp_path / "two.json.gz")
    assert again.sha256 == instance.sha256
    assert again.to_dict() == instance.to_dict()


def test_what_may_be_left_out() -> None:
    raw = change(
        {
            ("provenance",): REMOVED,
            ("objective",): REMOVED,
            ("cluster", "network_watts_per_gbps"): REMOVED,
            (*NBODY, "marginal_gbps"): REMOVED,
            (*NBODY, "k_min"): REMOVED,
            ("cluster", "capacity"): 3,
        }
    )
    instance = from_dict(raw)
    assert instance.switching_g_per_server == 0
    assert instance.cluster.capacity.tolist() == [3.0] * 4
    assert instance.profiles[0].k_min == 1


class TestTopLevel:
    @pytest.mark.parametrize(
        "field", ["schema_version", "problem", "name", "time", "carbon", "cluster", "profiles", "jobs", "model"]
    )
    def test_missing(self, field: str) -> None:
        found = lines(change({(field,): REMOVED}))
        assert f"{field}: is missing" in found
        assert len(found) == 1

    def test_misspelt(self) -> None:
        assert lines(change({("clusters",): {}, ("profile",): {}, ("xyz",): 1})) == [
            "clusters: is not a known field: did you mean 'cluster'?",
            "profile: is not a known field: did you mean 'profiles'?",
            "xyz: is not a known field; known are schema_version, problem, name, provenance, time, carbon, cluster,"
            " profiles, jobs, objective, model",
        ]

    @pytest.mark.parametrize(
        ("path", "value", "line"),
        [
            (("schema_version",), 2, "schema_version = 2: must be 1 (this carbonopt reads no other)"),
            (("name",), "", "name = '': must not be empty"),
            (("time",), 4, "time = 4: must be an object {...}"),
            (("cluster",), [], "cluster = []: must be an object {...}"),
            (("profiles",), [], "profiles = []: must be an object {...}"),
            (("profiles", "nbody"), 7, "profiles.nbody = 7: must be an object {...}"),
            (("jobs",), 7, "jobs = 7: must be an object {...}"),
            (("objective",), None, "objective = null: must be an object {...}"),
            (
                ("objective", "switching"),
                1,
                "objective.switching: is not a known field; known are switching_g_per_server",
            ),
            (("cluster", "capasity"), 1, "cluster.capasity: is not a known field: did you mean 'capacity'?"),
            (("jobs", "lenght"), [1, 1], "jobs.lenght: is not a known field: did you mean 'length'?"),
            ((*NBODY, "k_max"), 4, "profiles.nbody.k_max: is not a known field"),
            (("cluster", "zone"), REMOVED, "cluster.zone: is missing"),
            (("cluster", "capacity"), REMOVED, "cluster.capacity: is missing"),
            (("jobs", "slack"), REMOVED, "jobs.slack: is missing"),
            ((*NBODY, "marginal_watts"), REMOVED, "profiles.nbody.marginal_watts: is missing"),
            (("model",), "integr", "model = 'integr': must be 'integer' or 'fluid'"),
            (("model",), ["fluid"], "model = ['fluid']: must be 'integer' or 'fluid'"),
            (("model",), None, "model = null: must be 'integer' or 'fluid'"),
            (("objective", "switching_g_per_server"), -1, "objective.switching_g_per_server = -1: must be at least 0"),
        ],
    )
    def test_a_wrong_section(self, path: Place, value: Any, line: str) -> None:
        [found] = lines(change({path: value}))
        assert found.startswith(line)

    def test_switching_has_no_fluid_model(self) -> None:
        assert lines(change({("model",): "fluid", ("objective", "switching_g_per_server"): 1})) == [
            "objective.switching_g_per_server = 1.0: must be 0: the fluid model has no whole servers to switch"
            " (or use model 'integer')"
        ]


class TestProfiles:
    @pytest.mark.parametrize(
        ("column", "value", "found"),
        [
            ("marginal_throughput", [], [" = []: must have at least one entry, that of k_min"]),
            ("marginal_throughput", [1, 0.5, 0.6], ["[2] = 0.6: must not increase: the entry before is 0.5"]),
            ("marginal_throughput", [0.9, 0.5, 0.1], ["[0] = 0.9: must be 1: throughput is in units of that at k_min"]),
            ("marginal_throughput", [1, 0, 0], [f"[1] = 0.0: {ABOVE_0}", f"[2] = 0.0: {ABOVE_0}"]),
            ("marginal_throughput", [1, -1, 0.5], ["[1] = -1.0: must be finite and above 0"]),
            ("marginal_throughput", [1, float("nan"), 0.5], ["[1] = nan: must be finite and above 0"]),
            ("marginal_throughput", [1, "1", 0.5], ["[1] = '1': must be a number"]),
            ("marginal_throughput", [1, True, 0.5], ["[1] = true: must be a number"]),
            ("marginal_throughput", 1, [" = 1: must be a list"]),
            ("marginal_watts", [100, 110], [f" = 2 entries: {THREE}"]),
            ("marginal_watts", [], [f" = 0 entries: {THREE}"]),
            ("marginal_watts", [100, -1, 1], ["[1] = -1: must be at least 0"]),
            ("marginal_watts", [100, float("inf"), 1], ["[1] = inf: must be finite"]),
            ("marginal_watts", [100, 1e31, 1], ["[1] = 1e+31: must be at most 1e+30"]),
            ("marginal_watts", None, [" = null: must be a list"]),
            ("marginal_gbps", [1], [f" = 1 entries: {THREE}"]),
            ("marginal_gbps", [1, -2, 3], ["[1] = -2: must be at least 0"]),
            ("k_min", 0, [" = 0: must be at least 1"]),
            ("k_min", 1.5, [" = 1.5: must be a whole number"]),
            ("k_min", True, [" = true: must be a whole number"]),
            ("k_min", 10**400, None),
        ],
    )  # fmt: skip
    def test_a_wrong_value(self, column: str, value: Any, found: list[str] | None) -> None:
        told_lines = lines(change({(*NBODY, column): value}))
        if found is None:
            assert places(told_lines) == [f"profiles.nbody.{column}"]
        else:
            assert told_lines == [f"profiles.nbody.{column}{line}" for line in found]

    def test_none(self) -> None:
        found = lines(change({("profiles",): {}}))
        assert found[0] == "profiles = {}: must not be empty"
        assert found[1:] == [f"jobs.profile[{i}] = {n!r}: is unknown: profiles is empty"
                             for i, n in enumerate(["nbody", "resnet"])]  # fmt: skip

    def test_a_name_must_not_be_empty(self) -> None:
        raw = change({("profiles", ""): RAW["profiles"]["resnet"]})
        assert [line for line in lines(raw) if "must not be empty" in line]


class TestJobs:
    @pytest.mark.parametrize(
        ("value", "line"),
        [
            (0, "0: must be above 0"),
            (-2, "-2: must be above 0"),
            (float("nan"), "nan: must be "),
            (float("inf"), "inf: must be finite"),
            ("1", "'1': must be a number"),
            (True, "true: must be a number"),
            (None, "null: must be a number"),
            (1e29, "1e+29: must be at most 9007199254740991"),
        ],
    )
    def test_length(self, value: Any, line: str) -> None:
        found = lines(change({("jobs", "length", 1): value}))
        assert len(found) == 1
        assert found[0].startswith(f"jobs.length[1] = {line}")

    @pytest.mark.parametrize("column", ["arrival", "slack"])
    @pytest.mark.parametrize(
        ("value", "words"),
        [(-1, "at least 0"), (1.5, "a whole number"), ("1", "a whole number"), (float("nan"), "a whole number")],
    )
    def test_slots(self, column: str, value: Any, words: str) -> None:
        [line] = lines(change({("jobs", column, 0): value}))
        assert line == f"jobs.{column}[0] = {value!r}: must be {words}"

    @pytest.mark.parametrize(
        ("column", "value"), [("arrival", [0]), ("length", [1, 1, 1]), ("slack", []), ("profile", ["nbody"])]
    )
    def test_a_column_has_an_entry_a_job(self, column: str, value: list[Any]) -> None:  # fmt: skip
        words = f"jobs.{column} = {len(value)} entries: must have one entry for each of the 2 jobs"
        assert lines(change({("jobs", column): value})) == [words]

    def test_a_window_ends_with_the_horizon(self) -> None:
        assert lines(change({("jobs", "slack"): [3, 9]})) == [
            "jobs.slack[0] = 3: gives job 'x' a window [0, 5) past the horizon of 4 slots: "
            "arrival + ceil(length) + slack must be at most 4",
            "jobs.slack[1] = 9: gives job 'y' a window [1, 12) past the horizon of 4 slots: "
            "arrival + ceil(length) + slack must be at most 4",
        ]

    @pytest.mark.parametrize("changes", [{("jobs", "arrival", 0): 2**53 - 1}, {("jobs", "length", 0): 2.0**53 - 1}])
    def test_a_window_beyond_all_numbers(self, changes: dict[Place, Any]) -> None:
        [line] = lines(change(changes))
        assert "past the horizon of 4 slots" in line

    def test_rounding_makes_no_slot(self) -> None:
        raw = change({("jobs", "length", 0): 2 + 1e-10})
        assert from_dict(raw).jobs.window_end[0] == 4

    def test_unknown_names(self) -> None:
        raw = change({("jobs", "profile", 1): "nbdy", ("cluster", "zone"): "C"})
        assert lines(raw) == [
            "cluster.zone = 'C': is unknown: carbon.zones has 'A' or 'B'",
            "jobs.profile[1] = 'nbdy': is unknown: profiles has 'nbody' or 'resnet'",
        ]

    def test_duplicates(self) -> None:
        assert lines(change({("jobs", "name", 1): "x"})) == ["jobs.name[1] = 'x': is a duplicate of row 0"]

    def test_no_jobs(self) -> None:
        instance = from_dict(change({("jobs",): {k: [] for k in ("name", "arrival", "length", "slack", "profile")}}))
        assert co.solve(instance).objective == 0
        assert instance.features()["jobs"] == 0


class TestCapacity:
    @pytest.mark.parametrize(
        ("value", "line"),
        [
            ([3, 3], "cluster.capacity = 2 values: must have 4 values, one a slot, or be one number"),
            ([], "cluster.capacity = 0 values: must have 4 values, one a slot, or be one number"),
            ([3, 3, -1, 3], "cluster.capacity[2] = -1: must be at least 0"),
            ([3, 3, float("nan"), 3], "cluster.capacity[2] = nan: must be "),
            (-1, "cluster.capacity = -1: must be at least 0"),
            ("3", "cluster.capacity = '3': must be a number"),
            (None, "cluster.capacity = null: must be a number"),
            ({}, "cluster.capacity = {}: must be a number"),
        ],
    )
    def test_a_wrong_one(self, value: Any, line: str) -> None:
        found = lines(change({("cluster", "capacity"): value}))
        assert len(found) == 1
        assert found[0].startswith(line)

    def test_network(self) -> None:
        [line] = lines(change({("cluster", "network_watts_per_gbps"): -1}))
        assert line == "cluster.network_watts_per_gbps = -1: must be at least 0"


def test_all_faults_of_one_file_come_at_once() -> None:
    raw = change(
        {
            ("schema_version",): 2, ("comment",): "", ("time", "start"): "soon", ("carbon", "zones"): ["A", "A"],
            ("carbon", "g_per_kwh"): [[1], [1, 2, -3, 4], [1, 1, 1, 1]], ("cluster", "capacity"): [1, "2"],
            ("cluster", "zone"): "Q", (*NBODY, "marginal_throughput"): [1, 0.5, 0.6], (*NBODY, "k_min"): 0,
            ("profiles", "resnet", "marginal_watts"): [-5], ("jobs", "name"): ["x", "x"], ("jobs", "arrival"): ["0", 1],
            ("jobs", "length"): [0], ("jobs", "slack"): REMOVED, ("jobs", "profile", 0): "lbm",
            ("objective", "switching_g_per_server"): True, ("model",): "integers",
        }
    )  # fmt: skip
    found = set(places(lines(raw)))
    assert found >= {
        "schema_version", "comment", "time.start", "carbon.zones[1]", "carbon.g_per_kwh", "carbon.g_per_kwh[1][2]",
        "cluster.capacity[1]", "cluster.zone", "profiles.nbody.k_min", "profiles.resnet.marginal_watts[0]",
        "jobs.name[1]", "jobs.arrival[0]", "jobs.length", "jobs.length[0]", "jobs.slack", "jobs.profile[0]",
        "objective.switching_g_per_server", "model",
    }  # fmt: skip


def test_too_large_to_hold_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=100))
    with pytest.raises(TooLargeError, match="an instance of 2 jobs and 4 slots"):
        from_dict(RAW)


def test_data_made_in_a_program_are_checked_as_well() -> None:
    jobs = from_dict(RAW).jobs
    with pytest.raises(co.InputError, match=r"jobs.length\[0\] = 1e\+29: must be above 0 and at most 9007199254740991"):
        replace(jobs, length=[1e29, 1.0])
    with pytest.raises(co.InputError, match=r"jobs.slack\[1\] = -1: must be at least 0 slots"):
        replace(jobs, slack=[0, -1])
    with pytest.raises(
        co.InputError, match=r"profiles\.p\.marginal_watts = 1 entries: must have one entry for each of"
    ):
        Profile("p", 1, [1.0, 0.5], [1.0])
    with pytest.raises(co.InputError, match=r"profiles\.p\.k_min = 0: must be a whole number of servers, at least 1"):
        Profile("p", 0, [1.0], [1.0])


def test_a_horizon_without_end_is_told_by_the_rows_that_are_too_short() -> None:
    found = lines(change({("time", "slots"): 10**9}))
    assert found[0] == "carbon.g_per_kwh[0] = 4 values: must have 1000000000 values, one a slot (time.slots)"


def test_another_problem_and_no_file(tmp_path: Path) -> None:
    content = json.dumps(change({("problem",): "elastik"})).encode()
    assert told(tmp_path / "a.json", content) == [
        "problem = 'elastik': is unknown: must be 'ecas', 'elastic', 'mlcluster', 'mosp' or 'purchasing'"
    ]
    content = json.dumps(change({("jobs", "length", 0): 0})).encode()
    assert told(tmp_path / "b.json", content) == ["jobs.length[0] = 0: must be above 0"]

"""Instance files: columns of a wrong length, names that refer to nothing, and sizes that do not fit."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from instance_support import RAW, REMOVED, Place, change, lines

import carbonopt as co
from carbonopt.core.errors import TooLargeError
from carbonopt.problems.mosp.data.file import from_dict

CASPIAN = {"kind": "caspian", "weights": {"z1": 1, "z2": 1, "z3": 1}, "normalizers": None}


class TestShape:
    @pytest.mark.parametrize(
        ("path", "place", "value"),
        [
            (("jobs", "arrival"), "jobs.arrival", [0]),
            (("jobs", "duration"), "jobs.duration", [1, 1, 1]),
            (("jobs", "deadline"), "jobs.deadline", []),
            (("jobs", "demand", "gpu"), "jobs.demand.gpu", [1]),
            (("jobs", "eligible"), "jobs.eligible", [["a"]]),
        ],
    )
    def test_a_column_of_jobs_has_an_entry_a_job(self, path: Place, place: str, value: list[Any]) -> None:
        words = f"{place} = {len(value)} entries: must have one entry for each of the 2 jobs"
        assert lines(change({path: value})) == [words]

    @pytest.mark.parametrize("path", [("zone",), ("capacity", "gpu"), ("watts_per_unit", "gpu")])
    def test_a_column_of_clusters_has_an_entry_a_cluster(self, path: tuple[str, ...]) -> None:
        value = ["A"] if path == ("zone",) else [1]
        place = ".".join(("clusters", *path))
        assert lines(change({("clusters", *path): value})) == [
            f"{place} = 1 entries: must have one entry for each of the 2 clusters"
        ]

    def test_every_row_of_intensity_is_as_long_as_the_horizon(self) -> None:
        assert lines(change({("carbon", "g_per_kwh"): [[1], [1, 2, 3, 4, 5], [1]]})) == [
            "carbon.g_per_kwh = 3 rows: must have one row for each of the 2 zones",
            "carbon.g_per_kwh[0] = 1 values: must have 4 values, one a slot (time.slots)",
            "carbon.g_per_kwh[1] = 5 values: must have 4 values, one a slot (time.slots)",
            "carbon.g_per_kwh[2] = 1 values: must have 4 values, one a slot (time.slots)",
        ]

    def test_every_row_of_capacity_is_one_number_or_as_long_as_the_horizon(self) -> None:
        assert lines(change({("clusters", "capacity", "gpu"): [[1, 2, 3], []]})) == [
            "clusters.capacity.gpu[0] = 3 values: must have 4 values, one a slot, or be one number",
            "clusters.capacity.gpu[1] = 0 values: must have 4 values, one a slot, or be one number",
        ]

    def test_a_horizon_without_end_is_told_by_the_rows_that_are_too_short(self) -> None:
        found = lines(change({("time", "slots"): 10**9}))
        assert found[0] == "carbon.g_per_kwh[0] = 4 values: must have 1000000000 values, one a slot (time.slots)"

    def test_no_clusters_and_no_resources(self) -> None:
        assert lines(change({("clusters", "name"): []}))[0] == "clusters.name = []: must not be empty"
        assert lines(change({("clusters", "capacity"): {}}))[0] == "clusters.capacity = {}: must not be empty"

    def test_no_jobs_is_an_instance(self) -> None:
        none: dict[str, Any] = {name: [] for name in ("name", "arrival", "duration", "deadline")}
        instance = from_dict(change({("jobs",): none | {"demand": {"gpu": []}}}))
        assert len(instance.jobs) == 0
        assert co.solve(instance, "greedy-clean").objective == 0


class TestNames:
    @pytest.mark.parametrize(
        ("path", "place"),
        [
            (("carbon", "zones"), "carbon.zones"),
            (("clusters", "name"), "clusters.name"),
            (("jobs", "name"), "jobs.name"),
        ],
    )
    def test_a_duplicate_names_both_rows(self, path: Place, place: str) -> None:
        first = change({})[path[0]][path[1]][0]
        found = lines(change({(*path, 1): first}))
        assert f"{place}[1] = {first!r}: is a duplicate of row 0" in found

    def test_an_unknown_zone(self) -> None:
        assert lines(change({("clusters", "zone", 1): "b"})) == [
            "clusters.zone[1] = 'b': is unknown: carbon.zones has 'A' or 'B'"
        ]

    def test_eligible_names_unknown_clusters(self) -> None:
        assert lines(change({("jobs", "eligible"): [["c", "a"], ["b", "", 5, "A"]]})) == [
            "jobs.eligible[1][1] = '': must not be empty",
            "jobs.eligible[1][2] = 5: must be text",
            "jobs.eligible[0] = 'c': is unknown: clusters.name has 'a' or 'b'",
            "jobs.eligible[1] = 'A': is unknown: clusters.name has 'a' or 'b'",
        ]

    @pytest.mark.parametrize("table", [("clusters", "watts_per_unit"), ("jobs", "demand")])
    def test_resources_are_those_of_the_capacity(self, table: tuple[str, str]) -> None:
        assert lines(change({(*table, "cpu"): [1, 1], (*table, "gpu"): REMOVED})) == [
            f"{'.'.join(table)}.gpu: is missing: clusters.capacity has this resource",
            f"{'.'.join(table)}.cpu: is an unknown resource: clusters.capacity has 'gpu'",
        ]

    def test_a_resource_needs_a_name(self) -> None:
        assert lines(change({("clusters", "capacity", ""): [1, 1]})) == ["clusters.capacity.'' = '': must not be empty"]


class TestCaspian:
    def test_what_the_objective_divides_by_is_above_0_where_work_may_run(self) -> None:
        raw = change({("objective",): CASPIAN, ("carbon", "g_per_kwh", 1, 2): 0})
        raw["clusters"]["watts_per_unit"]["gpu"][0] = 0
        why = "the caspian objective divides by it: must be above 0 (or use objective.kind 'carbon')"
        assert lines(raw) == [f"carbon.g_per_kwh[1][2] = 0: {why}", f"clusters.watts_per_unit.gpu[0] = 0: {why}"]
        raw["clusters"]["zone"] = ["A", "A"]
        assert len(lines(raw)) == 1

    def test_it_is_told_beside_faults_of_the_jobs(self) -> None:
        raw = change({("objective",): CASPIAN, ("carbon", "g_per_kwh", 0, 0): 0, ("jobs", "duration", 0): 0})
        assert [line.split(" = ")[0] for line in lines(raw)] == ["jobs.duration[0]", "carbon.g_per_kwh[0][0]"]

    def test_normalizers(self) -> None:
        raw = change({("objective",): CASPIAN | {"normalizers": {"z1": -1, "z2": "1"}}})
        assert lines(raw) == [
            "objective.normalizers.z1 = -1: must be at least 0",
            "objective.normalizers.z2 = '1': must be a number",
            "objective.normalizers.z3: is missing",
        ]


@pytest.fixture(scope="module")
def huge() -> co.Instance:
    """Return an instance whose program has more columns than HiGHS counts."""
    return co.generate("mosp", preset="bench", jobs=200_000, clusters=10, slots=2000)


class TestSize:
    @pytest.fixture
    def free(self, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
        """Return what pretends that so many bytes of memory are free."""
        import psutil

        return lambda count: monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=count))

    def test_a_small_file_that_stands_for_large_arrays_is_refused_with_an_estimate(
        self, free: Callable[[int], None]
    ) -> None:
        free(100)
        words = "2 clusters, 1 resources, 4 slots and 2 jobs does not fit into memory"
        with pytest.raises(TooLargeError, match=words):
            from_dict(RAW)

    @pytest.mark.parametrize("sizes", [{"jobs": 10**9}, {"slots": 10**9}, {"jobs": 10, "clusters": 10**9}])
    def test_generating_is_refused_before_anything_is_allocated(
        self, free: Callable[[int], None], sizes: dict[str, int]
    ) -> None:
        free(2**34)
        with pytest.raises(TooLargeError, match="GiB"):
            co.generate("mosp", preset="bench", **sizes)

    @pytest.mark.parametrize("method", ["milp", "lp", "lp-rounding", "lp-rounding-caspian"])
    def test_a_program_that_does_not_fit_is_refused_with_an_estimate(self, huge: co.Instance, method: str) -> None:
        with pytest.raises(TooLargeError, match=r"2\.5e\+09 columns and .* nonzeros, about 1\d\d\d\.\d GiB"):
            co.solve(huge, method)

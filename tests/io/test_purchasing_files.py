"""Purchasing instance files: every fault is told at once, by field, row, value, and what would be right."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from instance_support import REMOVED, Place, told
from purchasing_support import RAW, change, lines

import carbonopt as co
from carbonopt.core.errors import InputError
from carbonopt.core.registry import problem_names
from carbonopt.problems.purchasing.data.file import PurchasingFile, from_dict
from carbonopt.problems.purchasing.data.instance import (
    GAIA_QUEUES,
    Limits,
    Prices,
    PurchasingJobs,
    Queue,
    Spot,
    Weights,
)

ABOVE_0, AT_LEAST_0 = "must be above 0", "must be at least 0"
WEIGHTS, LIMITS = ("objective", "weights"), ("objective", "limits")


class TestSound:
    def test_the_instance_that_the_faults_are_put_into(self, tmp_path: Path) -> None:
        instance = from_dict(RAW)
        assert instance.queue_of_job.tolist() == [0, 1, 0]
        assert instance.latest_end_hours.tolist() == [7, 28.75, 10.25]
        assert instance.kg_per_cpu_hour[3] == pytest.approx(3e-5)
        instance.write(tmp_path / "three.json.gz")
        again = co.read(tmp_path / "three.json.gz")
        assert again.sha256 == instance.sha256
        assert again.to_dict() == instance.to_dict()
        assert instance.to_dict() == RAW

    def test_numbers_come_back_to_the_last_bit(self, tmp_path: Path) -> None:
        rng = np.random.default_rng(0)
        odd = {key: rng.uniform(1e-9, 3, 3).tolist() for key in ("arrival_hours", "length_hours", "cpus")}
        raw = change({("jobs", key): values for key, values in odd.items()})
        from_dict(raw).write(tmp_path / "odd.json")
        again: Any = co.read(tmp_path / "odd.json")
        for key, values in odd.items():
            assert getattr(again.jobs, key).tolist() == values

    def test_what_may_be_left_out(self) -> None:
        left = [("provenance",), ("zone",), ("spot",), ("model",), LIMITS, ("time", "slot_hours")]
        one_zone = {("carbon", "zones"): ["A"], ("carbon", "g_per_kwh"): [[1] * 40]}
        instance = from_dict(change(dict.fromkeys(left, REMOVED) | one_zone))
        assert (instance.zone, instance.spot, instance.model) == ("A", None, "splitting")
        assert instance.limits == Limits()
        assert not instance.spot_allowed.any()

    def test_null_is_no_spot_no_limit_and_reserved_cpus_to_be_decided(self) -> None:
        instance = from_dict(change({("spot",): None, ("reserved_cpus",): None, (*LIMITS, "cost_usd"): None}))
        assert (instance.spot, instance.reserved_cpus, bool(instance.limits)) == (None, None, False)

    def test_queues_may_stand_in_any_order_as_fields_of_an_object_do(self) -> None:
        queues = dict(reversed(RAW["queues"].items()))
        again = from_dict(change({("queues",): queues}))
        assert again.queues == GAIA_QUEUES
        assert again.sha256 == from_dict(RAW).sha256

    def test_more_reserved_cpus_than_any_demand_are_fine(self) -> None:
        assert from_dict(change({("reserved_cpus",): 10**9})).reserved_cpus == 10**9

    def test_no_jobs(self) -> None:
        nothing = {("jobs", key): [] for key in RAW["jobs"]}
        assert from_dict(change(nothing)).features()["jobs"] == 0

    def test_a_job_of_exactly_a_queues_length_belongs_to_it(self) -> None:
        lengths = [2, 2.0000001, 1.9999999]
        assert from_dict(change({("jobs", "length_hours"): lengths})).queue_of_job.tolist() == [0, 1, 0]

    def test_it_fits_its_schema(self) -> None:
        jsonschema.validate(from_dict(RAW).to_dict(), PurchasingFile.model_json_schema())


class TestTopLevel:
    @pytest.mark.parametrize(
        "field",
        [
            "schema_version", "problem", "name", "time", "carbon", "prices", "reserved_cpus", "watts_per_cpu", "queues",
            "jobs", "objective",
        ],
    )  # fmt: skip
    def test_missing(self, field: str) -> None:
        assert lines(change({(field,): REMOVED})) == [f"{field}: is missing"]

    @pytest.mark.parametrize(
        ("path", "value", "line"),
        [
            (("schema_version",), 2, "schema_version = 2: must be 1 (this carbonopt reads no other)"),
            (("name",), "", "name = '': must not be empty"),
            (("reserved",), 1, "reserved: is not a known field: did you mean 'reserved_cpus'?"),
            (("prices", "spot"), 1, "prices.spot: is not a known field"),
            (("prices",), [], "prices = []: must be an object {...}"),
            (("prices", "spot_fraction"), REMOVED, "prices.spot_fraction: is missing"),
            (("prices", "spot_fraction"), -0.2, f"prices.spot_fraction = -0.2: {AT_LEAST_0}"),
            (("prices", "reserved_fraction"), -1, f"prices.reserved_fraction = -1: {AT_LEAST_0}"),
            (("prices", "on_demand_usd_per_cpu_hour"), "free", "prices.on_demand_usd_per_cpu_hour = 'free': must be a"),
            (("reserved_cpus",), -1, f"reserved_cpus = -1: {AT_LEAST_0}"),
            (("reserved_cpus",), 1.5, "reserved_cpus = 1.5: must be a whole number"),
            (("reserved_cpus",), True, "reserved_cpus = true: must be a whole number"),
            (("reserved_cpus",), 2**53, "reserved_cpus = 9007199254740992: must be at most"),
            (("watts_per_cpu",), -1, f"watts_per_cpu = -1: {AT_LEAST_0}"),
            (("watts_per_cpu",), None, "watts_per_cpu = null: must be a number"),
            (("spot",), 2, "spot = 2: must be an object {...}"),
            (("spot", "max_length_hours"), REMOVED, "spot.max_length_hours: is missing"),
            (("spot", "evictions_per_hour"), -0.1, f"spot.evictions_per_hour = -0.1: {AT_LEAST_0}"),
            (("spot", "evictions"), 0, "spot.evictions: is not a known field: did you mean 'evictions_per_hour'?"),
            (("queues",), {}, "queues = {}: must not be empty"),
            (("queues",), [], "queues = []: must be an object {...}"),
            (("queues", "short"), 6, "queues.short = 6: must be an object {...}"),
            (("queues", "short", "max_wait_hours"), -6, f"queues.short.max_wait_hours = -6: {AT_LEAST_0}"),
            (("queues", "short", "max_wait_hours"), None, "queues.short.max_wait_hours = null: must be a number"),
            (("queues", "short", "max_length_hours"), 0, f"queues.short.max_length_hours = 0: {ABOVE_0}"),
            (("queues", "long", "max_length_hours"), 9, "queues.long.max_length_hours = 9.0: must be null: the last"),
            (("queues", "long", "max_length_hours"), 2, "queues.long.max_length_hours = 2.0: must be longer than that"),
            (("queues", "short", "max_length_hours"), None, "queues.long.max_length_hours = inf: must be longer than"),
            (("queues", ""), {}, "queues.'' = '': must not be empty"),
            (("objective", "weights"), REMOVED, "objective.weights: is missing"),
            ((*WEIGHTS, "carbon_kg"), -1, f"objective.weights.carbon_kg = -1: {AT_LEAST_0}"),
            ((*WEIGHTS, "wait"), 1, "objective.weights.wait: is not a known field; known are carbon_kg, cost_usd"),
            ((*LIMITS, "cost_usd"), -1, f"objective.limits.cost_usd = -1: {AT_LEAST_0}"),
            ((*LIMITS, "wait_hours"), 1, "objective.limits.wait_hours: is not a known field: did you mean 'mean_wait"),
            (("zone",), "C", "zone = 'C': is unknown: carbon.zones has 'A' or 'B'"),
            (("zone",), None, "zone: is missing: the signal has 'A' or 'B'"),
            (("zone",), ["A"], "zone = ['A']: must be text"),
            (("model",), "split", "model = 'split': must be 'splitting', 'no-split' or 'suspend-resume'"),
            (("model",), None, "model = null: must be 'splitting', 'no-split' or 'suspend-resume'"),
        ],
    )  # fmt: skip
    def test_a_wrong_field(self, path: Place, value: Any, line: str) -> None:
        assert lines(change({path: value}))[0].startswith(line)


class TestJobs:
    @pytest.mark.parametrize(
        ("column", "row", "value", "line"),
        [
            ("arrival_hours", 1, -0.5, f"jobs.arrival_hours[1] = -0.5: {AT_LEAST_0}"),
            ("arrival_hours", 2, float("nan"), "jobs.arrival_hours[2] = nan: must be"),
            ("length_hours", 0, 0, f"jobs.length_hours[0] = 0: {ABOVE_0}"),
            ("length_hours", 0, float("inf"), "jobs.length_hours[0] = inf: must be"),
            ("cpus", 2, 0, f"jobs.cpus[2] = 0: {ABOVE_0}"),
            ("cpus", 2, "4", "jobs.cpus[2] = '4': must be a number"),
            ("name", 1, "x", "jobs.name[1] = 'x': is a duplicate of row 0"),
            ("name", 1, "", "jobs.name[1] = '': must not be empty"),
        ],
    )
    def test_a_wrong_value(self, column: str, row: int, value: Any, line: str) -> None:
        [found] = lines(change({("jobs", column, row): value}))
        assert found.startswith(line)

    @pytest.mark.parametrize("column", ["arrival_hours", "length_hours", "cpus"])
    def test_a_column_of_another_length(self, column: str) -> None:
        words = "must have one entry for each of the 3 jobs"
        assert lines(change({("jobs", column): [1]})) == [f"jobs.{column} = 1 entries: {words}"]

    def test_a_job_longer_than_the_signal_and_one_that_ends_too_late(self) -> None:
        assert lines(change({("jobs", "length_hours"): [50, 3.25, 2], ("jobs", "arrival_hours"): [0, 13, 2.25]})) == [
            "jobs.length_hours[0] = 50.0: is too long for job 'x': it may end 74 h after the beginning,"
            " the signal ends after 40 h",
            "jobs.length_hours[1] = 3.25: is too long for job 'y': it may end 40.25 h after the beginning,"
            " the signal ends after 40 h",
        ]

    def test_a_window_may_end_with_the_signal(self) -> None:
        assert from_dict(change({("jobs", "arrival_hours", 1): 12.75})).latest_end_hours[1] == 40

    def test_a_job_that_may_be_evicted_may_run_twice(self) -> None:
        late = {("jobs", "arrival_hours", 2): 31}
        assert "it may end 41 h after the beginning" in lines(change(late))[0]
        for never in ({("spot",): None}, {("spot", "evictions_per_hour"): 0}, {("spot", "max_length_hours"): 1.5}):
            assert from_dict(change(late | never)).latest_end_hours[2] == 39


class TestCarbon:
    def test_shapes_and_names(self) -> None:
        raw = change({("carbon", "zones"): ["A", "A", "B"], ("carbon", "g_per_kwh", 1): [1, 2]})
        assert lines(raw) == [
            "carbon.zones[1] = 'A': is a duplicate of row 0",
            "carbon.g_per_kwh = 2 rows: must have one row for each of the 3 zones",
            "carbon.g_per_kwh[1] = 2 values: must have 40 values, one a slot (time.slots)",
        ]

    def test_a_wrong_value(self) -> None:
        [found] = lines(change({("carbon", "g_per_kwh", 0, 7): -3}))
        assert found == "carbon.g_per_kwh[0][7] = -3: must be at least 0"

    def test_a_wrong_horizon(self) -> None:
        [found] = lines(change({("time", "slots"): 0}))
        assert found == "time.slots = 0: must be at least 1"


class TestSeveral:
    def test_faults_of_all_parts_come_at_once(self) -> None:
        raw = change(
            {
                ("nmae",): 1,
                ("time", "start"): "soon",
                ("prices", "spot_fraction"): -1,
                ("queues", "long", "max_length_hours"): 2,
                ("jobs", "cpus"): [0, 1],
                ("objective", "weights", "wait_hours"): "much",
                ("spot", "evictions_per_hour"): None,
                ("zone",): "C",
                ("model",): "x",
                ("reserved_cpus",): "all",
            }
        )
        places = [line.split(" = ")[0].split(": ")[0] for line in lines(raw)]
        assert sorted(set(places)) == [
            "jobs.cpus", "jobs.cpus[0]", "model", "nmae", "objective.weights.wait_hours", "prices.spot_fraction",
            "queues.long.max_length_hours", "reserved_cpus", "spot.evictions_per_hour", "time.start", "zone",
        ]  # fmt: skip

    def test_the_file_is_named_in_every_line(self, tmp_path: Path) -> None:
        content = json.dumps(change({("model",): "x", ("watts_per_cpu",): -1})).encode()
        assert len(told(tmp_path / "a.json", content)) == 2
        other = json.dumps(change({("problem",): "buying"})).encode()
        [line] = told(tmp_path / "a.json", other)
        assert line.startswith("problem = 'buying': is unknown: must be 'ecas'")
        assert all(repr(name) in line for name in problem_names())


class TestBuiltInAProgram:
    """The dataclasses tell the same faults, without a file."""

    @pytest.mark.parametrize(
        ("make", "line"),
        [
            (lambda: Prices(-1), "prices.on_demand_usd_per_cpu_hour = -1: must be finite and at least 0"),
            (lambda: Prices(spot_fraction=np.nan), "prices.spot_fraction = nan: must be finite and at least 0"),
            (lambda: Spot(evictions_per_hour=np.inf), "spot.evictions_per_hour = inf: must be finite and at least 0"),
            (lambda: Queue("q", 0, 1), "queues.q.max_length_hours = 0: must be above 0"),
            (lambda: Queue("q", 1, -1), "queues.q.max_wait_hours = -1: must be finite and at least 0"),
            (lambda: Weights(cost_usd=-1), "objective.weights.cost_usd = -1: must be finite and at least 0"),
            (lambda: Limits(carbon_kg=-1), "objective.limits.carbon_kg = -1: must be finite and at least 0"),
            (lambda: PurchasingJobs(("x",), [0], [1], [1, 2]), "jobs.cpus = 2 entries: must have one entry for each"),
            (lambda: PurchasingJobs(("x",), [[0]], [1], [1]), "jobs.arrival_hours = shape (1, 1): must have axes"),
            (lambda: from_dict(RAW).with_model("x"), "model = 'x': must be 'splitting', 'no-split' or"),
            (lambda: from_dict(RAW).with_reserved(-1), "reserved_cpus = -1: must be a whole number of CPUs"),
        ],
    )  # fmt: skip
    def test_a_wrong_part(self, make: Any, line: str) -> None:
        with pytest.raises(InputError) as caught:
            make()
        assert str(caught.value).startswith(line)

    def test_queues_out_of_order(self) -> None:
        from dataclasses import replace

        with pytest.raises(InputError) as caught:
            replace(from_dict(RAW), queues=GAIA_QUEUES[::-1])
        assert caught.value.lines() == [
            "queues.short.max_length_hours = 2.0: must be longer than that of 'long', inf",
            "queues.short.max_length_hours = 2.0: must be null: the last queue takes jobs of any length",
        ]

    def test_the_raw_content_is_left_as_it_was(self) -> None:
        before = deepcopy(RAW)
        from_dict(RAW)
        assert before == RAW

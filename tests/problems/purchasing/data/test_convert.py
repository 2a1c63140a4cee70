"""Purchasing instances from carbon files and job traces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from carbonopt.core.errors import InputError, UnsupportedError
from carbonopt.core.registry import problem_of
from carbonopt.io.window import Window

HOURS = 96
CARBON = "datetime,zone,carbon_intensity_g_per_kwh\n" + "".join(
    f"2022-01-{1 + hour // 24:02d}T{hour % 24:02d}:00:00Z,{zone},{base + hour}\n"
    for zone, base in (("A", 100), ("B", 300))
    for hour in range(HOURS)
)
JOBS = "arrival_time,length,cpus\n0,1.5,1\n40,30,4\n1.25,2,2\n10,0.5,3\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("carbon.csv").write_text(CARBON)
    Path("jobs.csv").write_text(JOBS)


def convert(**options: Any) -> Any:
    given = {"jobs": Path("jobs.csv"), "carbon": [Path("carbon.csv")], "time_unit": "hours", "zone": "A"} | options
    return problem_of("purchasing").role("convert")(**given)


class TestWhole:
    def test_jobs_are_as_the_trace_has_them(self) -> None:
        instance = convert(wrap=True)
        assert instance.jobs.name == ("row0", "row1", "row2", "row3")
        assert instance.jobs.arrival_hours.tolist() == [0, 40, 1.25, 10]
        assert instance.jobs.length_hours.tolist() == [1.5, 30, 2, 0.5]
        assert instance.jobs.cpus.tolist() == [1, 4, 2, 3]
        assert (instance.reserved_cpus, instance.zone, instance.spot) == (0, "A", None)

    def test_the_horizon_is_as_long_as_the_jobs_need_and_a_slot(self) -> None:
        instance = convert()
        assert instance.time.slots == 40 + 24 + 30 + 1
        assert instance.name == "purchasing-jobs-j0004-t095-A-s00"
        assert convert(slot_hours=0.5).time.slots == 2 * 94 + 1
        with pytest.raises(InputError, match="must stay inside the data of zone 'A'"):
            convert(evictions_per_hour=0.1, spot_max_length_hours=40)
        assert convert(evictions_per_hour=0.1, spot_max_length_hours=40, wrap=True).time.slots == 125

    def test_views_of_policies_that_know_the_mean_length_are_inside_the_horizon(self) -> None:
        Path("jobs.csv").write_text("arrival_time,length,cpus\n0,20,1\n30,4,1\n")
        assert convert().time.slots == 30 + 24 + 12 + 1

    def test_start_and_wrap(self) -> None:
        instance = convert(start="2022-01-02T00:00:00Z", wrap=True)
        assert instance.intensity[0] == 124
        assert instance.intensity[HOURS - 24 - 1 : HOURS - 24 + 1].tolist() == [195, 100]
        assert instance.provenance["carbon_start"] == "2022-01-02T00:00:00Z"

    def test_jobs_past_the_horizon_are_counted(self) -> None:
        instance = convert(slots=70)
        assert instance.jobs.name == ("row0", "row2", "row3")
        assert instance.provenance["dropped_jobs"] == 1
        with pytest.raises(InputError, match=r"jobs\.csv: jobs: no job's window ends within 5 slots"):
            convert(slots=5)

    def test_reserved_cpus_of_the_mean_demand(self) -> None:
        instance = convert(reserved_share=0.5)
        assert instance.provenance["mean_cpus_while_jobs_arrive"] == pytest.approx(127 / 41)
        assert instance.reserved_cpus == 2
        assert convert(decide_reserved=True).reserved_cpus is None


class TestParts:
    def test_the_first_that_arrive(self) -> None:
        assert convert(window=Window(first=2)).jobs.name == ("row0", "row2")

    def test_from_an_hour_until_another(self) -> None:
        instance = convert(window=Window(1, 40))
        assert instance.jobs.name == ("row2", "row3")
        assert instance.jobs.arrival_hours.tolist() == [0.25, 9]
        assert instance.provenance["jobs_of_other_parts"] == 2
        assert convert(window=Window(1, 41, first=1)).jobs.name == ("row2",)

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (
                {"window": Window(41)},
                "jobs: no job arrives in this part: from 41 h on, while jobs arrive from 0 h to 40 h",
            ),
            ({"window": Window(-1)}, "--from -1: must be hours since the trace's zero, from 0 to"),
            ({"window": Window(end=-1)}, "--until -1: must be hours since the trace's zero, from 0 to"),
            ({"window": Window(end=0)}, "no job arrives in this part"),
        ],
    )
    def test_wrong_ones(self, options: dict[str, Any], words: str) -> None:
        with pytest.raises((InputError, UnsupportedError), match=words):
            convert(**options)


class TestFormats:
    def test_a_log_in_the_standard_workload_format(self) -> None:
        line = "{} {} 0 {} 2 -1 -1 2 -1 -1 {} 1 1 -1 1 -1 -1 -1\n"
        Path("log.swf").write_text("; Version: 2.2\n" + line.format(1, 0, 3600, 1) + line.format(2, 60, 5, 5))
        with pytest.warns(UserWarning, match="1 of 2 jobs left out: 1 cancelled"):
            instance = convert(jobs=Path("log.swf"), time_unit=None)
        assert instance.jobs.length_hours.tolist() == [1]
        assert instance.provenance["trace_jobs_left_out"] == {"cancelled": 1}

    def test_slurms_accounts(self) -> None:
        Path("sacct.txt").write_text(
            "JobID|Submit|Elapsed|AllocCPUS|State\n7|2024-03-01T10:00:00|02:00:00|4|COMPLETED\n"
        )
        with pytest.raises(InputError, match="must stay inside the data"):  # which are of another year than the jobs
            convert(jobs=Path("sacct.txt"), time_unit=None)
        instance = convert(jobs=Path("sacct.txt"), time_unit=None, start="2022-01-01T00:00Z")
        assert instance.jobs.cpus.tolist() == [4]
        assert instance.provenance["trace_zero"] == "2024-03-01T10:00:00"


class TestWrongFiles:
    @pytest.mark.parametrize(
        ("row", "told"),
        [
            ("2022-01-01T02:00:00Z,A,-5", ["line 4: carbon_intensity_g_per_kwh = '-5': must be a number of g/kWh"]),
            ("2022-01-01T01:00:00Z,A,5", ["line 4: datetime = '2022-01-01T01:00:00Z': is a duplicate of line 3"]),
            ("", ["line 5: datetime = '2022-01-01T03:00:00Z': must be 1 h after line 3, not 2 h"]),
            ("soon,A,x", ["line 4: datetime = 'soon'", "line 4: carbon_intensity_g_per_kwh = 'x'"]),
        ],
        ids=["negative", "duplicate", "gap", "two faults"],
    )  # fmt: skip
    def test_carbon(self, row: str, told: list[str]) -> None:
        lines = CARBON.splitlines()
        lines[3] = row
        Path("carbon.csv").write_text("\n".join(lines[:6]))
        with pytest.raises(InputError) as caught:
            convert()
        found = caught.value.lines()
        assert all(word in line for word, line in zip(told, found, strict=False))

    def test_carbon_in_any_order_is_fine(self) -> None:
        head, *rows = CARBON.splitlines()
        Path("carbon.csv").write_text("\n".join([head, *reversed(rows)]))
        assert convert().intensity[:3].tolist() == [100, 101, 102]

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"zone": "C"}, "zones.* = 'C': is an unknown zone: the files have 'A' or 'B'"),
            ({"zone": None}, "zone: is missing: .* the carbon signal has 'A' or 'B'"),
            ({"carbon": []}, "--carbon is missing"),
            ({"time_unit": None}, "--time-unit is missing"),
            ({"time_unit": "days"}, "time_unit = 'days': must be 'seconds', 'minutes' or 'hours'"),
            ({"jobs": Path("no.csv")}, "no.csv: no such file"),
            ({"slot_hours": 0}, "slot_hours = 0: must be above 0"),
            ({"model": "x"}, "unknown model 'x'"),
            ({"queues": "x"}, "queues: 'x': must be name:longest job"),
        ],
    )
    def test_options(self, options: dict[str, Any], words: str) -> None:
        with pytest.raises((InputError, UnsupportedError), match=words):
            convert(**options)

    @pytest.mark.parametrize("text", ["", "arrival_time,length,cpus\n"])
    def test_an_empty_trace(self, text: str) -> None:
        Path("jobs.csv").write_text(text)
        with pytest.raises(InputError, match=r"is empty|has a header but no rows"):
            convert()

    @pytest.mark.filterwarnings("default")
    def test_a_wrong_unit_is_warned_of(self) -> None:
        with pytest.warns(UserWarning, match="is the unit right"):
            convert(time_unit="seconds")


class TestRealTraces:
    def test_a_week_of_alibaba(self, data_folder: Path) -> None:
        jobs, carbon = data_folder / "jobs/pai_1k.csv", data_folder / "carbon/AU-SA_2022_hourly.csv"
        instance = convert(
            jobs=jobs, carbon=[carbon], time_unit="seconds", zone=None, start="2022-10-19T16:00Z", reserved=9
        )
        assert len(instance.jobs) == 1000
        assert 1000 / instance.weights.carbon_kg == pytest.approx(562.3, abs=0.1), "grams, of every job at once"

    @pytest.mark.parametrize(("name", "reserved"), [("pai-100k", 115), ("azure-100k", 161)])
    def test_a_year_runs_on_into_the_next(self, data_folder: Path, name: str, reserved: int) -> None:
        jobs, carbon = data_folder / f"jobs/{name}.csv", data_folder / "carbon/AU-SA_2022_hourly.csv"
        instance = convert(jobs=jobs, carbon=[carbon], zone=None, wrap=True, reserved_share=1)
        assert instance.reserved_cpus == reserved
        assert instance.provenance["dropped_jobs"] == 0
        assert instance.time.slots > 8760
        assert np.array_equal(instance.intensity[8760:], instance.intensity[: instance.time.slots - 8760])

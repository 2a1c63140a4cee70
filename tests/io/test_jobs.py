"""Job traces in GAIA's format: the unit is the caller's to say, and faults name file, column and line."""

from __future__ import annotations

import gzip
import os
import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from work_support import counted_calls

from carbonopt.core.errors import InputError
from carbonopt.io.csvfile import words
from carbonopt.io.jobs import read_jobs

DATA = Path(os.environ.get("CARBONOPT_DATA", Path(__file__).parents[3] / "shared" / "data")) / "jobs"

HEADER = "arrival_time,length,cpus\n"


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def real(name: str) -> Path:
    if not (DATA / name).exists():
        pytest.skip(f"real data {name} is absent: set CARBONOPT_DATA")
    return DATA / name


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "jobs.csv", HEADER + "0.0,3600,1\n68,7200,2.5\n\n30.5,120,400\n")


class TestReading:
    @pytest.mark.parametrize(("unit", "per_hour"), [("seconds", 3600), ("minutes", 60)])
    def test_times_come_in_hours(self, path: Path, unit: str, per_hour: float) -> None:
        trace = read_jobs(path, unit)
        assert_allclose(trace.arrival_hours, np.array([0, 68, 30.5]) / per_hour)
        assert_allclose(trace.length_hours, np.array([3600, 7200, 120]) / per_hour)

    def test_jobs_keep_the_order_of_the_file_and_know_their_lines(self, path: Path) -> None:
        trace = read_jobs(path, "seconds")
        assert len(trace) == 3
        assert trace.cpus.tolist() == [1, 2.5, 400]
        assert trace.rows.tolist() == [2, 3, 5]

    def test_arrays_are_read_only(self, path: Path) -> None:
        trace = read_jobs(path, "seconds")
        for array in (trace.arrival_hours, trace.length_hours, trace.cpus, trace.rows):
            assert not array.flags.writeable

    def test_columns_stand_in_any_order_and_case_beside_others_and_gzip(self, tmp_path: Path) -> None:
        path = tmp_path / "jobs.csv.gz"
        path.write_bytes(gzip.compress(b"name,CPUS, Length ,Arrival_Time\r\na,4,60,30\r\nb,8,90,0\r\n"))
        with pytest.warns(UserWarning, match="column 'name' is not read"):
            trace = read_jobs(path, "minutes")
        assert trace.arrival_hours.tolist() == [0.5, 0]
        assert trace.length_hours.tolist() == [1, 1.5]
        assert trace.cpus.tolist() == [4, 8]

    def test_names_of_columns_compare_by_their_words(self) -> None:
        assert words(" Arrival-Time ") == words("arrival_time") == "arrival time"


class TestUnit:
    @pytest.mark.parametrize("unit", ["", "s", "Hours", "days", None])
    def test_it_must_be_said_because_a_guess_may_be_far_off(self, path: Path, unit: str) -> None:
        with pytest.raises(InputError, match=r"time_unit = .*must be 'seconds', 'minutes' or 'hours'.*3600-fold"):
            read_jobs(path, unit)

    def test_seconds_read_as_hours_are_warned_of(self, path: Path) -> None:
        with pytest.warns(UserWarning, match=r"jobs\.csv: with time_unit='hours' the median job lasts 3600 h"):
            read_jobs(path, "hours")

    def test_hours_read_as_seconds_are_warned_of(self, tmp_path: Path) -> None:
        path = write(tmp_path / "jobs.csv", HEADER + "0,0.5,1\n1,0.75,1\n2,48,1\n")
        with pytest.warns(UserWarning, match=r"the median job lasts 0\.75 s, outside 1 minute to 1000 hours"):
            read_jobs(path, "seconds")

    @pytest.mark.parametrize("length", ["60", "3600000"])
    def test_no_warning_from_one_minute_to_1000_hours(self, tmp_path: Path, length: str) -> None:
        path = write(tmp_path / "jobs.csv", HEADER + f"0,{length},1\n")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            read_jobs(path, "seconds")


class TestFaults:
    @pytest.mark.parametrize(
        ("row", "column", "value", "problem"),
        [
            ("-1,60,1", "arrival_time", "-1", "must be a number of seconds, at least 0"),
            ("nan,60,1", "arrival_time", "nan", "must be a number of seconds, at least 0"),
            ("inf,60,1", "arrival_time", "inf", "must be a number of seconds, at least 0"),
            (",60,1", "arrival_time", "", "must be a number of seconds, at least 0"),
            ("5,0,1", "length", "0", "must be a number of seconds, more than 0"),
            ("5,-60,1", "length", "-60", "must be a number of seconds, more than 0"),
            ("5,NaN,1", "length", "NaN", "must be a number of seconds, more than 0"),
            ("5,1 hour,1", "length", "1 hour", "must be a number of seconds, more than 0"),
            ("5,60,0", "cpus", "0", "must be a number of CPUs, more than 0"),
            ("5,60,-2", "cpus", "-2", "must be a number of CPUs, more than 0"),
            ("5,60,four", "cpus", "four", "must be a number of CPUs, more than 0"),
            ("5,60,inf", "cpus", "inf", "must be a number of CPUs, more than 0"),
        ],
    )
    def test_a_wrong_cell(self, tmp_path: Path, row: str, column: str, value: str, problem: str) -> None:
        path = write(tmp_path / "jobs.csv", f"{HEADER}0,3600,1\n{row}\n10,3600,1\n")
        with pytest.raises(InputError) as caught:
            read_jobs(path, "seconds")
        assert caught.value.lines() == [f"{path}, line 3: {column} = {value!r}: {problem}"]

    def test_all_wrong_cells_are_told_at_once(self, tmp_path: Path) -> None:
        path = write(tmp_path / "jobs.csv", HEADER + "x,0,-1\n0,60,1\n0,60,0\n")
        with pytest.raises(InputError) as caught:
            read_jobs(path, "seconds")
        assert [(fault.field, fault.line) for fault in caught.value.faults] == [
            ("arrival_time", 2),
            ("length", 2),
            ("cpus", 2),
            ("cpus", 4),
        ]

    def test_every_missing_column_is_named(self, tmp_path: Path) -> None:
        path = write(tmp_path / "jobs.csv", "arrival;length\n0;1\n")
        with pytest.raises(InputError) as caught:
            read_jobs(path, "hours")
        assert [fault.field for fault in caught.value.faults] == ["arrival_time", "length", "cpus"]
        assert str(caught.value.faults[0]) == (
            f"{path}: arrival_time = 'arrival;length': must be one column of the header: none found"
        )

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("", "is empty"),
            (HEADER, "has a header but no rows"),
            (HEADER + "0,1\n", "line 2: '0,1': must have 3 cells, has 2"),
            (HEADER + "0,1,1,\n", "line 2: '0,1,1,': must have 3 cells, has 4"),
        ],
    )
    def test_a_wrong_table(self, tmp_path: Path, text: str, problem: str) -> None:
        with pytest.raises(InputError, match=problem):
            read_jobs(write(tmp_path / "jobs.csv", text), "hours")

    def test_unreadable_files(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="no such file"):
            read_jobs(tmp_path / "nowhere.csv", "hours")
        (tmp_path / "latin.csv").write_bytes(b"arrival_time,length,cpus,caf\xe9\n0,1,1,1\n")
        with pytest.raises(InputError, match="is not UTF-8"):
            read_jobs(tmp_path / "latin.csv", "hours")


class TestRealTraces:
    def test_a_week_of_alibaba_in_seconds(self) -> None:
        trace = read_jobs(real("pai_1k.csv"), "seconds")
        assert len(trace) == 1000
        assert_allclose(trace.arrival_hours[:3], [0, 68 / 3600, 463 / 3600])
        assert_allclose(trace.length_hours[:3], [6302 / 3600, 1000 / 3600, 1570 / 3600])
        assert trace.cpus[:3].tolist() == [1, 1, 3]
        assert trace.arrival_hours.max() < 168

    @pytest.mark.parametrize(("name", "jobs"), [("pai-100k.csv", 99998), ("azure-100k.csv", 99988)])
    def test_a_year_in_hours_is_read_in_a_moment(self, name: str, jobs: int) -> None:
        with counted_calls() as calls:
            trace = read_jobs(real(name), "hours")
        assert calls[0] < 6 * jobs  # a loop gone quadratic makes more
        assert len(trace) == jobs
        assert trace.arrival_hours.max() < 8760

    @pytest.mark.parametrize(("name", "unit"), [("pai_1k.csv", "hours"), ("pai-100k.csv", "seconds")])
    def test_the_wrong_unit_is_warned_of(self, name: str, unit: str) -> None:
        with pytest.warns(UserWarning, match="is the unit right"):
            read_jobs(real(name), unit)

"""Deadlines in a table of jobs: read, rounded down to slots, checked; what is not read is said; times by the clock."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from trace_support import faults, write

import carbonopt as co
from carbonopt.core.registry import problem_of
from carbonopt.core.time import format_utc
from carbonopt.io.jobs import read_jobs
from carbonopt.io.window import Window

HEADER = "arrival_time,length,cpus,deadline\n"
CARBON = "datetime,zone,carbon_intensity_g_per_kwh\n" + "".join(
    f"2026-03-03T{hour:02d}:00:00Z,DE,{300 - hour}\n" for hour in range(24)
)


@pytest.fixture
def carbon(tmp_path: Path) -> Path:
    return write(tmp_path / "carbon.csv", CARBON)


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    """Two jobs with deadlines, the second within a slot; the third without."""
    return write(tmp_path / "jobs.csv", HEADER + "0,3,2,7\n1.5,5,1,12.9\n2,2,4,\n")


def converted(problem: str, jobs: Path, carbon: Path, **options):
    return problem_of(problem).role("convert")(jobs=jobs, carbon=[carbon], time_unit="hours", wrap=True, **options)


def test_a_deadline_counts_in_the_unit_of_arrivals(tmp_path: Path) -> None:
    trace = read_jobs(write(tmp_path / "jobs.csv", HEADER + "0,60,1,90\n0,60,1, \n"), "minutes")
    assert trace.deadline_hours is not None
    assert trace.deadline_hours[0] == 1.5
    assert np.isnan(trace.deadline_hours[1])


def test_mosp_has_the_deadlines_of_the_table_in_whole_slots(jobs: Path, carbon: Path) -> None:
    """7 h and 12.9 h are slots 7 and 12; the job without one arrives at 2, takes 2 and may wait 6."""
    instance = converted("mosp", jobs, carbon, capacity=8)
    assert instance.jobs.deadline.tolist() == [7, 12, 10]
    assert converted("mosp", jobs, carbon, capacity=8, slot_hours=0.5).jobs.deadline.tolist() == [14, 25, 20]


def test_options_for_waits_are_for_jobs_without_a_deadline(jobs: Path, carbon: Path) -> None:
    waits = {"short_wait_hours": 1.0, "long_wait_hours": 2.0}
    assert converted("mosp", jobs, carbon, capacity=8, **waits).jobs.deadline.tolist() == [7, 12, 5]
    assert converted("elastic", jobs, carbon, slack_hours=1).jobs.window_end.tolist() == [7, 12, 5]


def test_a_schedule_that_meets_all_deadlines_meets_those_of_the_table(jobs: Path, carbon: Path) -> None:
    instance = converted("mosp", jobs, carbon, capacity=8)
    solution = co.solve(instance, "milp")
    assert solution.metrics["deadlines_met"] == 3
    table = solution.timetable(instance, tz="UTC").set_index("job").loc[list(instance.jobs.name)]
    start = pd.Timestamp(instance.time.start)
    due = [start + pd.Timedelta(hours=hours) for hours in (7, 12.9, 10)]
    assert (pd.DatetimeIndex(table["end"]) <= pd.DatetimeIndex(due)).all()


def test_deadlines_count_from_the_beginning_of_a_window(jobs: Path, carbon: Path) -> None:
    instance = converted("mosp", jobs, carbon, capacity=8, window=Window(begin=1))
    assert instance.jobs.arrival.tolist() == [1, 1]
    assert instance.jobs.deadline.tolist() == [11, 9]


def test_a_deadline_that_slots_are_too_long_for(tmp_path: Path, carbon: Path) -> None:
    """From 0.5 to 2 h there is room for one hour, but not from slot 1 on in whole slots of 2 h."""
    path = write(tmp_path / "jobs.csv", HEADER + "0.5,1,1,2\n0,1,1,4\n")
    words = (
        rf"{path}, line 2: deadline = 2 h from slot 0 \(earliest end 4 h\): cannot be met in slots of 2 h, .*"
        "must be at least the earliest end, or --slot-hours smaller"
    )
    with pytest.warns(UserWarning, match=words):
        instance = converted("mosp", path, carbon, slot_hours=2.0)
    assert instance.jobs.deadline.tolist() == [1, 2]
    with pytest.raises(co.InputError, match=words):
        converted("elastic", path, carbon, slot_hours=2.0)
    assert converted("elastic", path, carbon, slot_hours=0.5).jobs.window_end.tolist() == [4, 8]


@pytest.mark.parametrize("problem", ["purchasing", "mlcluster"])
def test_where_there_are_no_deadlines_that_is_said(jobs: Path, carbon: Path, problem: str) -> None:
    with pytest.warns(UserWarning, match=f"deadlines are not used: {problem} has no deadlines of single jobs"):
        converted(problem, jobs, carbon)


@pytest.mark.parametrize(
    ("cell", "problem"),
    [
        ("4.9", "'4.9' (arrival_time = '2', length = '3'): must be at least arrival_time + length"),
        ("soon", "'soon': must be a number of hours since the same zero as arrival_time, or blank"),
        ("-1", "'-1': must be a number of hours since the same zero as arrival_time, or blank"),
        ("inf", "'inf': must be a number of hours since the same zero as arrival_time, or blank"),
        ("2026-03-03T00:00Z", "'2026-03-03T00:00Z': must be a number of hours since the same zero"),
        ("1e10", "'1e10': must be at most 1e+09 hours"),
    ],
)
def test_a_wrong_deadline(tmp_path: Path, cell: str, problem: str) -> None:
    path = write(tmp_path / "jobs.csv", f"{HEADER}0,3,1,9\n2,3,1,{cell}\n")
    (line,) = [found for found in faults(lambda file: read_jobs(file, "hours"), path) if "'-1' (arr" not in found]
    assert line.startswith(f", line 3: deadline = {problem}")


def test_a_sum_that_is_rounded_is_no_fault(tmp_path: Path) -> None:
    assert 0.1 + 0.2 > 0.3
    read_jobs(write(tmp_path / "jobs.csv", HEADER + "0.1,0.2,1,0.3\n"), "hours")


def test_a_column_that_is_not_read_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "jobs.csv", ",arrival_time,length,cpus,latest_end\n0,0,3,2,7\n")
    with pytest.warns(UserWarning, match="not read") as told:
        read_jobs(path, "hours")
    assert [str(each.message) for each in told] == [
        f"{path}: column 'latest_end' is not read: a deadline is read from 'deadline', others come from "
        "--short/long-wait-hours (mosp), --slack-hours (elastic); what is read: arrival_time, length, cpus, deadline, "
        "job_id, user, gpus, memory_gb, watts"
    ]
    write(path, "arrival_time,length,cpus,deadline,team,state\n0,3,2,7,a,b\n")
    with pytest.warns(UserWarning, match="columns 'team', 'state' are not read; what is read: arrival_time"):
        read_jobs(path, "hours")


def test_two_columns_of_deadlines_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "jobs.csv", "arrival_time,length,cpus,deadline,Deadline\n0,3,2,7,8\n")
    (line,) = faults(lambda file: read_jobs(file, "hours"), path)
    assert "deadline = 'arrival_time,length,cpus,deadline,Deadline': must be one column of the header: 2 found" in line


class TestByTheClock:
    def test_hours_count_from_the_hour_of_the_first_arrival(self, tmp_path: Path, carbon: Path) -> None:
        """The first job arrives at 6:06 UTC, so slot 0 begins at 6; the second at 8:30 in Berlin, 7:30 UTC."""
        rows = "2026-03-03T06:06:00+00:00,1,1,2026-03-03T09:00Z\n2026-03-03T08:30+01:00,2,1,\n"
        path = write(tmp_path / "jobs.csv", HEADER + rows)
        trace = read_jobs(path, "hours")
        assert trace.arrival_hours.tolist() == [0.1, 1.5]
        assert trace.zero == "2026-03-03T06:00:00Z"
        instance = converted("mosp", path, carbon)
        assert format_utc(instance.time.start) == "2026-03-03T06:00:00Z"
        assert instance.carbon.g_per_kwh[0, 0] == 294
        assert instance.jobs.arrival.tolist() == [1, 2]
        assert instance.jobs.deadline.tolist() == [3, 10]

    def test_a_time_without_an_offset_is_a_fault(self, tmp_path: Path) -> None:
        path = write(tmp_path / "jobs.csv", HEADER + "2026-03-03T06:06:00,1,1,\n2026-03-03T07:00Z,1,1,9\n")
        iso = "must be an ISO 8601 time with its offset from UTC, e.g. 2026-03-03T00:06:00+00:00"
        assert faults(lambda file: read_jobs(file, "hours"), path) == [
            f", line 2: arrival_time = '2026-03-03T06:06:00': {iso}",
            f", line 3: deadline = '9': {iso}, or blank",
        ]

    def test_another_spelling_of_dates_is_told_once(self, tmp_path: Path) -> None:
        path = write(tmp_path / "jobs.csv", HEADER + "03.03.2026 06:06,1,1,\n" * 25)
        assert faults(lambda file: read_jobs(file, "hours"), path) == [
            ", line 2: arrival_time = '03.03.2026 06:06': must be a number of hours, at least 0, or an ISO 8601 time "
            "with its offset from UTC, e.g. 2026-03-03T00:06:00+00:00 (25 rows have this fault; the others: lines 3, "
            "4, 5, 6, 7, ...)"
        ]

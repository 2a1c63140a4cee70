"""Job logs in the Standard Workload Format."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from trace_support import faults, swf, write

from carbonopt.io.swf import read_swf
from carbonopt.io.trace import read_trace

SWF = """\
; Version: 2.2
;  UnixStartTime: 0
  1     0   10  3600    4  -1 -1    4  7200 -1  1  3 1 -1 1 -1 -1 -1

  2  1800    0   5400.5 -1 -1 -1    8  7200 -1  0  3 1 -1 1 -1 -1 -1
"""


@pytest.mark.parametrize(
    ("header", "zero"),
    [
        ("", ""),
        ("; UnixStartTime: 0\n", ""),
        ("; UnixStartTime: -1\n", ""),
        (";UnixStartTime:1654041600\n", "2022-06-01T00:00:00Z"),
        ("; Note: 5\n\n;  unixstarttime : 1654041600\n", "2022-06-01T00:00:00Z"),
    ],
)
def test_the_header_tells_when_the_log_begins(tmp_path: Path, header: str, zero: str) -> None:
    assert read_swf(write(tmp_path / "log.swf", header + swf())).zero == zero


@pytest.mark.parametrize("value", ["", "June", "1e9", "9" * 400, "10000000001", "1.5"])
def test_a_beginning_that_is_no_date_is_told_in_a_line(tmp_path: Path, value: str) -> None:
    path = write(tmp_path / "log.swf", f"; Version: 2\n; UnixStartTime: {value}\n" + swf())
    (line,) = faults(read_swf, path)
    assert line.startswith(", line 2: UnixStartTime")
    assert "must be whole seconds since 1970" in line


def test_submit_time_run_time_and_processors(tmp_path: Path) -> None:
    trace = read_swf(write(tmp_path / "log.swf", SWF))
    assert trace.arrival_hours.tolist() == [0, 0.5]
    assert trace.length_hours.tolist() == [1, 5400.5 / 3600]
    assert trace.cpus.tolist() == [4, 8], "those requested, where those allocated are unknown"
    assert trace.rows.tolist() == [3, 5]
    assert trace.provenance() == {}


def test_gzip_and_windows_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "log.swf.gz"
    path.write_bytes(gzip.compress(SWF.replace("\n", "\r\n").encode()))
    assert len(read_trace(path)) == 2


def test_comments_in_any_encoding(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    path.write_bytes("; Universität\n".encode("latin-1") + swf().encode())
    assert len(read_swf(path)) == 1


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"status": 5}, "cancelled"),
        ({"status": 5, "run": 0}, "cancelled"),
        ({"status": 2}, "pieces of a job"),
        ({"status": 3}, "pieces of a job"),
        ({"status": 4}, "pieces of a job"),
        ({"run": 0}, "without run time"),
        ({"run": -1}, "without run time"),
        ({"submit": -1}, "without submit time"),
        ({"allocated": -1, "requested": -1}, "without processors"),
        ({"allocated": 0, "requested": 0}, "without processors"),
    ],
)
def test_what_is_left_out_is_counted_and_told(tmp_path: Path, fields: dict[str, int], reason: str) -> None:
    path = write(tmp_path / "log.swf", swf() + swf(**fields) + swf(status=0) + swf(status=-1))
    with pytest.warns(UserWarning, match=rf"log\.swf: 1 of 4 jobs left out: 1 {reason}"):
        trace = read_swf(path)
    assert trace.rows.tolist() == [1, 3, 4], "failed jobs ran, too"
    assert trace.provenance() == {"trace_jobs_left_out": {reason: 1}}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (swf(submit=-2), "submit_time = '-2': must be a number of seconds, at least 0, or -1 where it is unknown"),
        (swf(run="1:00"), "run_time = '1:00': must be a number of seconds, at least 0, or -1 where it is unknown"),
        (swf(run="nan"), "run_time = 'nan': must be a number of seconds, at least 0, or -1 where it is unknown"),
        (swf(allocated="inf"), "allocated_processors = 'inf': must be a number, at least 0, or -1"),
        (swf(status="x"), "status = 'x': must be a number, at least 0, or -1"),
        ("1 2 3\n", "'1 2 3': must have 18 numbers, has 3"),
        (swf().strip() + " 7\n", "must have 18 numbers, has 19"),
        ("arrival_time,length,cpus\n", "'arrival_time,length,cpus': must have 18 numbers, has 1"),
    ],
)
def test_a_wrong_line(tmp_path: Path, line: str, told: str) -> None:
    [found] = faults(read_swf, write(tmp_path / "log.swf", "; a comment\n" + swf() + line))
    assert found.startswith(", line 3: ")
    assert told in found


def test_every_fault_at_once(tmp_path: Path) -> None:
    found = faults(read_swf, write(tmp_path / "log.swf", swf(submit="x") + swf(run=-7, status="y")))
    assert [line.split(" = ")[0] for line in found] == [
        ", line 1: submit_time", ", line 2: run_time", ", line 2: status",
    ]  # fmt: skip


def test_nothing_that_ran(tmp_path: Path) -> None:
    [found] = faults(read_swf, write(tmp_path / "a.swf", "; nothing\n"))
    assert found == ": is empty: must hold one line of 18 numbers for each job"
    [found] = faults(read_swf, write(tmp_path / "b.swf", swf(status=5) + swf(run=0)))
    assert found.startswith(": holds no job that ran to an end: 2 of 2 jobs left out: 1 cancelled, 1 without run")

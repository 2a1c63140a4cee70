"""Which reader a job log goes to."""

from __future__ import annotations

from pathlib import Path

import pytest
from trace_support import swf, write

from carbonopt.core.errors import InputError, UnsupportedError
from carbonopt.io.trace import guess_format, read_trace


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("log.swf", "1 2", "swf"),
        ("LOG.SWF.GZ", "1 2", "swf"),
        ("log.txt", "\n; Version: 2", "swf"),
        ("jobs.csv", "State|JobID\n", "sacct"),
        ("jobs.txt", "arrival_time,length,cpus\n", "gaia"),
        ("jobs.txt", "", "gaia"),
    ],
)
def test_it_is_told_by_the_name_or_the_first_line(tmp_path: Path, name: str, text: str, expected: str) -> None:
    assert guess_format(write(tmp_path / name, text)) == expected


def test_it_may_be_said(tmp_path: Path) -> None:
    path = write(tmp_path / "log.txt", swf(run=7200))
    assert read_trace(path, format="swf").length_hours.tolist() == [2]
    with pytest.raises(UnsupportedError, match="unknown trace format 'csv': must be 'gaia', 'swf', 'sacct', 'pai', "):
        read_trace(path, format="csv")


def test_only_a_trace_in_csv_needs_a_unit(tmp_path: Path) -> None:
    log, table = (
        write(tmp_path / "log.swf", swf(run=7200)),
        write(tmp_path / "a.csv", "arrival_time,length,cpus\n0,2,1\n"),
    )
    assert read_trace(log, "seconds").length_hours.tolist() == [2]
    with pytest.raises(UnsupportedError, match=r"--time-unit hours: .*log\.swf is in seconds, as every swf file is"):
        read_trace(log, "hours")
    assert read_trace(table, "hours").length_hours.tolist() == [2]
    with pytest.raises(UnsupportedError, match="--time-unit is missing"):
        read_trace(table)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for name in ("a.csv", "a.swf", "a.txt"):
        with pytest.raises(InputError, match="no such file"):
            read_trace(tmp_path / name, "seconds")

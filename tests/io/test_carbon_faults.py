"""What is wrong with a carbon file is told by file, column and line, all of it at once."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from carbon_support import PLAIN, hours, write

from carbonopt.core.errors import Fault, InputError
from carbonopt.io.carbon import read_carbon


def faults_of(path: Path) -> tuple[Fault, ...]:
    with pytest.raises(InputError) as caught:
        read_carbon(path)
    assert {fault.file for fault in caught.value.faults} == {str(path)}
    return caught.value.faults


def only_fault(path: Path) -> Fault:
    (fault,) = faults_of(path)
    return fault


class TestFaults:
    @pytest.mark.parametrize("value", ["abc", "", "nan", "inf", "-inf", "-1", "1e400", "1;5"])
    def test_a_value_that_is_no_intensity(self, tmp_path: Path, value: str) -> None:
        fault = only_fault(write(tmp_path / "a.csv", PLAIN + hours(1, value, 3)))
        assert (fault.field, fault.line, fault.value) == ("carbon_intensity_g_per_kwh", 3, repr(value))
        assert fault.problem == "must be a number of g/kWh, at least 0"

    @pytest.mark.parametrize(
        "time", ["yesterday", "now", "today", "", "NaT", "2022", "01/02/2022", "2022-13-01", "9999-01-01"]
    )
    def test_a_time_that_is_none(self, tmp_path: Path, time: str) -> None:
        fault = only_fault(write(tmp_path / "a.csv", PLAIN + hours(1, 2) + f"{time},DE,3\n"))
        assert (fault.field, fault.line, fault.value) == ("datetime", 4, repr(time))
        assert "ISO 8601" in fault.problem

    def test_a_missing_hour(self, tmp_path: Path) -> None:
        lines = hours(1, 2, 3, 4, 5).splitlines(keepends=True)
        fault = only_fault(write(tmp_path / "a.csv", PLAIN + "".join(lines[:2] + lines[3:])))
        assert (fault.field, fault.line, fault.value) == ("datetime", 4, "'2022-01-01T03:00:00Z'")
        assert (
            fault.problem
            == "must be 1 h after line 3, not 2 h: a zone's rows must leave no gap; missing 2022-01-01T02:00:00Z"
        )

    def test_a_time_off_the_beat(self, tmp_path: Path) -> None:
        fault = only_fault(write(tmp_path / "a.csv", PLAIN + hours(1, 2, 3) + "2022-01-01T02:30Z,DE,4\n"))
        assert (fault.line, fault.problem[:40]) == (5, "must be 1 h after line 4, not 0.5 h: a z")

    def test_a_duplicate_time_of_one_zone(self, tmp_path: Path) -> None:
        text = PLAIN + hours(1, 2, 3) + hours(1, 2, 3, zone="PL") + "2022-01-01T01:00:00Z,PL,9\n"
        fault = only_fault(write(tmp_path / "a.csv", text))
        assert (fault.field, fault.line) == ("datetime", 8)
        assert fault.problem == "is a duplicate of line 6: a zone has each time once"

    def test_a_zone_with_one_time_lasts_for_unknown_long(self, tmp_path: Path) -> None:
        fault = only_fault(write(tmp_path / "a.csv", PLAIN + hours(1, 2) + hours(3, zone="PL")))
        assert (fault.field, fault.line) == ("datetime", 4)
        assert "two times or more" in fault.problem

    def test_a_row_without_a_zone(self, tmp_path: Path) -> None:
        fault = only_fault(write(tmp_path / "a.csv", PLAIN + hours(1, 2, 3) + "2022-01-01T03:00Z, ,4\n"))
        assert (fault.field, fault.line, fault.value, fault.problem) == ("zone", 5, "''", "must name a zone")

    def test_all_faults_of_all_files_are_told_at_once(self, tmp_path: Path) -> None:
        one = write(tmp_path / "one.csv", PLAIN + hours(-1, "x", 3))
        two = write(tmp_path / "two.csv", PLAIN + hours(1, 2, 3) + "never,PL,oops\n")
        with pytest.raises(InputError) as caught:
            read_carbon(one, two)
        assert [(fault.file, fault.field, fault.line) for fault in caught.value.faults] == [
            (str(one), "carbon_intensity_g_per_kwh", 2),
            (str(one), "carbon_intensity_g_per_kwh", 3),
            (str(two), "datetime", 5),
            (str(two), "carbon_intensity_g_per_kwh", 5),
        ]

    @pytest.mark.parametrize(("keep", "day"), [(24, "2022-01-03"), (24, "2022-01-01"), (23, "2022-01-02")])
    def test_files_of_one_zone_that_overlap_or_leave_a_gap(self, tmp_path: Path, keep: int, day: str) -> None:
        first = write(tmp_path / "1.csv", PLAIN + hours(*range(keep)))
        second = write(tmp_path / "2.csv", PLAIN + hours(*range(24), day=day))
        with pytest.raises(InputError, match="must go on from 2022-01-0") as caught:
            read_carbon(first, second)
        assert caught.value.faults[0].file == str(second)

    @pytest.mark.parametrize(
        ("header", "missing"),
        [
            ("datetime,zone,carbon\n", "carbon_intensity_g_per_kwh"),
            ("datetime,carbon_intensity_g_per_kwh,note\n", "zone"),
            ("when,zone,carbon_intensity_g_per_kwh\n", "datetime"),
            ("Datetime (UTC),Zone id,Renewable\n", "Carbon intensity gCO₂eq/kWh (Life cycle)"),
            ("Datetime (UTC),Zone,Carbon intensity gCO₂eq/kWh (LCA)\n", "Zone Id"),
        ],
    )
    def test_a_missing_column(self, tmp_path: Path, header: str, missing: str) -> None:
        fault = only_fault(write(tmp_path / "a.csv", header + hours(1, 2)))
        assert (fault.field, fault.value) == (missing, repr(header.strip()))
        assert fault.problem == "must be one column of the header: none found"

    def test_a_column_that_stands_twice(self, tmp_path: Path) -> None:
        fault = only_fault(write(tmp_path / "a.csv", "datetime,zone,zone,carbon_intensity_g_per_kwh\na,b,c,d\n"))
        assert (fault.field, fault.problem) == ("zone", "must be one column of the header: 2 found")

    def test_an_unknown_header(self, tmp_path: Path) -> None:
        fault = only_fault(write(tmp_path / "a.csv", "timestamp;WND;SUN\n1;2;3\n"))
        assert "Electricity Maps" in fault.problem
        assert "datetime,zone,carbon_intensity_g_per_kwh" in fault.problem

    @pytest.mark.parametrize(("row", "cells"), [("2022-01-01T03:00Z,DE\n", 2), ("2022-01-01T03:00Z,DE,1,5\n", 4)])
    def test_a_row_with_too_few_or_too_many_cells(self, tmp_path: Path, row: str, cells: int) -> None:
        fault = only_fault(write(tmp_path / "a.csv", PLAIN + hours(1, 2, 3) + row))
        assert (fault.line, fault.value, fault.problem) == (5, repr(row.strip()), f"must have 3 cells, has {cells}")

    def test_a_quote_that_never_ends(self, tmp_path: Path) -> None:
        assert "is not CSV" in only_fault(write(tmp_path / "a.csv", PLAIN + '"2022-01-01,DE,1\n')).problem

    @pytest.mark.parametrize(
        ("content", "problem"),
        [
            (b"", "is empty"),
            (b"\n \n", "is empty"),
            (PLAIN.encode(), "has a header but no rows"),
            (PLAIN.encode("utf-16"), "is not UTF-8"),
            (gzip.compress(PLAIN.encode(), mtime=0)[:-9], "is not a whole gzip file"),
        ],
    )
    def test_a_file_without_content(self, tmp_path: Path, content: bytes, problem: str) -> None:
        path = tmp_path / "a.csv"
        path.write_bytes(content)
        assert problem in only_fault(path).problem

    def test_a_missing_file(self, tmp_path: Path) -> None:
        assert only_fault(tmp_path / "nowhere.csv").problem == "no such file"

"""Files that are no JSON object, or cannot be written: one line each, and never half a file."""

from __future__ import annotations

import errno
import gzip
import json
import os
from pathlib import Path

import pytest
from instance_support import RAW, Raw, change, lines, told

import carbonopt as co
from carbonopt.core import jsonfile
from carbonopt.core.errors import MAX_SHOWN_FAULTS, Fault, InputError, TooLargeError
from carbonopt.problems.mosp.data.file import from_dict


class TestFile:
    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (b"", "is empty"),
            (b" \r\n", "is empty"),
            (b"{'problem': 'mosp'}", "is not JSON: line 1, column 2: "),
            (b'{\n"problem": "mosp",\n', "is not JSON: line 3, column 1: "),
            (b"[1, 2]", "[1, 2]: must hold one JSON object {...}"),
            (b"null", "null: must hold one JSON object {...}"),
            (b"[" * 100_000, "is nested too deeply to be an instance"),
            (b'{"name": ' + b"9" * 5000 + b"}", "holds a whole number of more than 4300 digits"),
            (b"\x89PNG\r\n\x1a\n", "is not UTF-8 text (byte 0): a binary file, or text in another encoding"),
            ('{"name": "Zürich"}'.encode("latin-1"), "is not UTF-8 text (byte 11)"),
            ('{"name": "a"}'.encode("utf-16"), "is not UTF-8 text (byte 0)"),
            (gzip.compress(json.dumps(RAW).encode(), mtime=0)[:-20], "is not a whole gzip file ("),
            (b"\x1f\x8b\x08", "is not a whole gzip file ("),
        ],
    )
    def test_what_cannot_be_read_is_one_line(self, tmp_path: Path, content: bytes, words: str) -> None:
        [line] = told(tmp_path / "a.json", content)
        assert line.startswith(words)

    @pytest.mark.parametrize("content", [b"\xef\xbb\xbf%s", b"\r\n%s\r\n"], ids=["byte order mark", "crlf"])
    def test_byte_order_mark_and_crlf_are_no_faults(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "a.json"
        path.write_bytes(content % json.dumps(RAW, indent=1).replace("\n", "\r\n").encode())
        assert co.read(path).sha256 == from_dict(RAW).sha256

    def test_gzip_is_told_by_its_content(self, tmp_path: Path) -> None:
        path = tmp_path / "a.json"
        path.write_bytes(gzip.compress(json.dumps(RAW).encode()))
        assert co.read(path).name == "two"

    def test_missing_files_and_folders(self, tmp_path: Path) -> None:
        for path, words in ((tmp_path / "no.json", "no such file"), (tmp_path, "cannot be read: Is a directory")):
            with pytest.raises(InputError) as caught:
                co.read(path)
            assert caught.value.lines() == [f"{path}: {words}"]

    def test_keys_that_stand_twice_are_told_by_their_paths(self, tmp_path: Path) -> None:
        text = '{"time": {"slots": 1, "slots": 2}, "a": [{"b": 1, "b": 2}], "name": 1, "name": {"c": 1, "c": 2}}'
        assert sorted(told(tmp_path / "a.json", text.encode())) == [
            f"{path}: stands twice in one object" for path in ("a[0].b", "name.c", "name", "time.slots")
        ]

    def test_half_a_surrogate_pair_is_refused_and_a_whole_one_is_not(self, tmp_path: Path) -> None:
        text = json.dumps(change({("jobs", "name", 0): "\ud800", ("name",): "\U0001f600"}))
        [line] = told(tmp_path / "a.json", text.encode())
        assert line == r"jobs.name[0] = '\ud800': is not valid Unicode: half of a surrogate pair"

    @pytest.mark.parametrize(
        ("raw", "line"),
        [
            ({}, "problem: is missing: must be 'ecas', 'elastic', 'mlcluster', 'mosp' or 'purchasing'"),
            (
                {"problem": "elastik"},
                "problem = 'elastik': is unknown: must be 'ecas', 'elastic', 'mlcluster', 'mosp' or 'purchasing'",
            ),
            (
                {"problem": None},
                "problem = null: is unknown: must be 'ecas', 'elastic', 'mlcluster', 'mosp' or 'purchasing'",
            ),
            (
                {"problem": ["mosp"]},
                "problem = ['mosp']: is unknown: must be 'ecas', 'elastic', 'mlcluster', 'mosp' or 'purchasing'",
            ),
            ({"problem": "mosp", "schedule": {}}, "is a solution file, must be an instance file"),
        ],
    )
    def test_an_unknown_problem_or_kind_of_file_is_one_line(self, tmp_path: Path, raw: Raw, line: str) -> None:
        assert told(tmp_path / "a.json", json.dumps(raw).encode()) == [line]

    def test_at_most_25_lines_and_how_many_are_left(self, tmp_path: Path) -> None:
        names = [f"x{row // 2}" for row in range(200)]
        raw = change({("jobs", "name"): names, ("jobs", "eligible"): None})
        found = told(tmp_path / "a.json", json.dumps(raw).encode())
        assert len(found) == MAX_SHOWN_FAULTS + 1
        assert found[-1] == "and 79 more faults"  # 100 duplicates and 4 columns, less 25

    def test_many_rows_with_one_cause_are_one_line(self, tmp_path: Path) -> None:
        raw = change({("jobs", "name"): ["x"] * 101, ("jobs", "eligible"): None})
        found = told(tmp_path / "a.json", json.dumps(raw).encode())
        assert len(found) == 5
        assert found[-1] == (
            "jobs.name[1] = 'x': is a duplicate of row 0 "
            "(100 rows have this fault; the others: rows 2, 3, 4, 5, 6, ...)"
        )

    def test_a_few_rows_with_one_cause_have_a_line_each(self) -> None:
        few = [Fault("jobs.arrival", "must be a whole number", f"{row}.5", row) for row in range(4)]
        assert len(InputError(few[:3]).lines()) == 3
        assert InputError([Fault("time", "is missing"), *few]).lines() == [
            "time: is missing",
            "jobs.arrival[0] = 0.5: must be a whole number (4 rows have this fault; the others: rows 1, 2, 3)",
        ]
        assert len(InputError([Fault("time", "is missing")] * 4).lines()) == 4  # no rows

    def test_a_line_break_in_a_name_does_not_break_the_line(self) -> None:
        raw = change({("jobs", "a\nb\x1b[31m"): 1})
        assert lines(raw)[0].startswith(r"jobs.a\nb\x1b[31m: is not a known field")


def test_faults_read_alike_from_files_and_from_programs() -> None:
    fault = Fault("jobs.duration", "must be at least 1", "0", 3)
    assert str(fault) == "jobs.duration[3] = 0: must be at least 1"
    assert InputError(fault).in_file("a.json").lines() == ["a.json: jobs.duration[3] = 0: must be at least 1"]
    assert InputError(fault).in_file("a.json").in_file("b.json").lines()[0].startswith("a.json: ")
    assert isinstance(TooLargeError(fault).in_file("a.json"), TooLargeError)


class TestWriting:
    def refused(self, path: Path) -> str:
        with pytest.raises(InputError) as caught:
            jsonfile.write_json(path, {"a": 1})
        [line] = caught.value.lines()
        return line

    def test_where_nothing_can_be_written_is_one_line(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        for folder in (tmp_path / "no", tmp_path / "file"):
            path = folder / "a.json"
            assert self.refused(path) == f"{path}: cannot be written: there is no folder '{folder}'"
        assert self.refused(tmp_path) == f"{tmp_path}: cannot be written: is a folder"
        long = tmp_path / ("n" * 300)
        assert self.refused(long) == f"{long}: cannot be written: File name too long"
        assert [path.name for path in tmp_path.iterdir()] == ["file"]

    def test_a_read_only_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(jsonfile.os, "access", lambda path, mode: False)
        words = f"cannot be written: the folder '{tmp_path}' is read-only"
        assert self.refused(tmp_path / "a.json") == f"{tmp_path / 'a.json'}: {words}"

    def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "a.json"
        jsonfile.write_json(path, {"old": 1})
        monkeypatch.setattr(jsonfile.os, "fsync", full_disk)
        assert self.refused(path) == f"{path}: cannot be written: No space left on device"
        assert [path] == list(tmp_path.iterdir())
        assert jsonfile.read_json(path) == {"old": 1}

    def test_a_link_stays_a_link_and_a_device_a_device(self, tmp_path: Path) -> None:
        link = tmp_path / "link.json"
        link.symlink_to("real.json")
        jsonfile.write_json(link, {"a": 1})
        assert link.is_symlink()
        assert jsonfile.read_json(tmp_path / "real.json") == {"a": 1}
        jsonfile.write_json("/dev/null", {"a": 1})
        assert not Path("/dev/null").is_file()

    def test_no_number_is_rounded_and_none_is_not_finite(self, tmp_path: Path) -> None:
        path, numbers = tmp_path / "a.json", [0.1 + 0.2, 1e-300, 2**53 + 1]
        jsonfile.write_json(path, {"numbers": numbers})
        assert jsonfile.read_json(path)["numbers"] == numbers
        with pytest.raises(ValueError, match="not JSON compliant"):
            jsonfile.write_json(path, {"numbers": [float("nan")]})


def full_disk(_number: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

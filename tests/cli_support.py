"""The command line in this process, and a folder of files good and bad."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from instance_support import RAW, change
from typer.testing import CliRunner

import carbonopt as co
from carbonopt.cli.main import app
from carbonopt.problems.mosp.data.file import from_dict

BAD = {
    "missing.json": ["no such file"],
    "words.json": ["is not JSON: line 1, column 1: Expecting value"],
    "cut.json.gz": [
        "is not a whole gzip file (Compressed file ended before the end-of-stream marker was reached);"
        " write or copy it again"
    ],
    "binary.json": ["is not UTF-8 text (byte 0): a binary file, or text in another encoding"],
    "empty.json": ["is empty"],
    "folder.json": ["cannot be read: Is a directory"],
    "elastik.json": ["problem = 'elastik': is unknown: must be 'ecas', 'elastic', 'mlcluster', 'mosp' or 'purchasing'"],
    "solution.json": ["is a solution file, must be an instance file"],
    "zero.json": [
        "jobs.duration[0] = 0: must be at least 1",
        "jobs.duration = 3 entries: must have one entry for each of the 2 jobs",
        "clusters.zone[0] = 'C': is unknown: carbon.zones has 'A' or 'B'",
    ],
}
ONE_LINE_EACH = [f"{name}: {line}" for name, lines in BAD.items() for line in lines]


def run(*arguments: object) -> Any:
    """Run the command line in this process; an exception that gets out of it fails the test."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert "Traceback" not in done.output
    return done


def errors(*arguments: object) -> list[str]:
    """Return the lines on stderr of a run that ends with exit code 2."""
    done = run(*arguments)
    assert done.exit_code == 2
    lines: list[str] = done.stderr.splitlines()
    assert all(line.startswith("error: ") for line in lines)
    return [line.removeprefix("error: ") for line in lines]


def write_files() -> None:
    """Write an instance, the same from another system, a solution, and the files of `BAD`."""
    text = json.dumps(RAW)
    Path("good.json").write_text(text)
    Path("windows.json").write_bytes(b"\xef\xbb\xbf" + json.dumps(RAW, indent=1).replace("\n", "\r\n").encode())
    Path("words.json").write_text("not JSON")
    Path("cut.json.gz").write_bytes(gzip.compress(text.encode())[:-20])
    Path("binary.json").write_bytes(b"\x89PNG\r\n\x1a\n")
    Path("empty.json").touch()
    Path("folder.json").mkdir()
    Path("elastik.json").write_text(json.dumps(change({("problem",): "elastik"})))
    Path("zero.json").write_text(json.dumps(change({("jobs", "duration"): [0, 2, 3], ("clusters", "zone", 0): "C"})))
    co.solve(from_dict(RAW), "greedy-clean").write("solution.json")

"""The file of a campaign: one JSON object a line, each a finished run."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from sys import float_info
from typing import Any

from carbonopt.bench.runs import Key, Row, planned
from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.core.jsonfile import parse_json, read_text

TEXTS = ("instance_sha256", "method_asked", "sense", "instance", "method", "status")
NUMBERS = ("seed", "time_limit", "bound", "objective", "wall_seconds")
BEGINNING = '{"'
"""Of every line that is written here, and of what a kill leaves of one."""


def read_results(results: Path, is_run: Callable[[Any], bool] | None = None) -> list[Row]:
    """Return the finished runs in a file; a line that a kill cut short is left out.

    Parameters
    ----------
    results
        It need not be there.
    is_run
        Tells whether the content of a line is a finished run; without it, of `carbonopt bench`.

    Raises
    ------
    InputError
        If a line is neither a finished run nor the beginning of one: the file is something else.
    """
    holds_run = _is_run if is_run is None else is_run
    if not results.exists():
        return []
    records = []
    for number, line in enumerate(read_text(results).split("\n"), start=1):
        try:
            record = parse_json(line)
        except json.JSONDecodeError:
            if line.startswith(BEGINNING) or BEGINNING.startswith(line):
                continue
            record = None
        except InputError as error:
            raise InputError(replace(fault, file=str(results), line=number) for fault in error.faults) from None
        if not holds_run(record):
            words = "is no finished run: choose another file for the results"
            raise InputError(Fault("", words, file=str(results), line=number))
        records.append(record)
    return records


def _is_run(record: Any) -> bool:
    """Return whether a line holds all that is read of a finished run, each of its own type."""
    if not isinstance(record, dict):
        return False
    texts = all(isinstance(record.get(name), str) for name in TEXTS)
    numbers = all(name in record and _is_number_or_none(record[name]) for name in NUMBERS)
    return texts and numbers and record["sense"] in ("min", "max") and record["wall_seconds"] is not None


def _is_number_or_none(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value is None
    return -float_info.max <= value <= float_info.max


def key_of(row: Row) -> Key:
    """Return what tells the run of a row apart from the others of its campaign."""
    return (row["instance_sha256"], row["method_asked"], row["seed"])


def conditions(row: Row) -> dict[str, Any]:
    """Return the options and versions under which a run was made: rows that differ in them cannot be compared."""
    versions = row.get("versions")
    return planned(row) | (versions if isinstance(versions, dict) else {})


def require_conditions(results: Path, rows: Sequence[Row], wanted: Mapping[str, Any]) -> None:
    """Refuse a file whose runs were made under other conditions.

    Raises
    ------
    InputError
        It names the file and what differs.
    """
    for row in rows:
        theirs = conditions(row)
        for name, value in wanted.items():
            if theirs.get(name) != value:
                made = f"holds runs with {name} {shown(theirs.get(name))}, and not with {shown(value)}"
                raise InputError(Fault("", f"{made}: they cannot be compared", file=str(results)))


def append(results: Path, row: Row) -> None:
    """Write one run at the end of the file, and wait until it is on disk."""
    content = (json.dumps(row, allow_nan=False) + "\n").encode()
    with results.open("ab+") as file:
        if file.tell() > 0:
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":  # a kill cut the last line short
                content = b"\n" + content
        file.write(content)
        file.flush()
        os.fsync(file.fileno())

"""JSON carbon signals as tables, so that their faults and gaps are found as those of CSV files are."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from carbonopt.core.arrays import frozen_int
from carbonopt.core.errors import Fault, InputError, one_of, shown
from carbonopt.core.jsonfile import parse_json, read_text
from carbonopt.io.carbon_formats import JSON_FORMATS
from carbonopt.io.carbon_formats.json_format import Row, field
from carbonopt.io.csvfile import Table


@dataclass(frozen=True, eq=False)
class JsonTable(Table):
    """A table whose rows have a place in JSON instead of a line."""

    places: tuple[str, ...] = ()

    def place(self, row: int) -> str:
        """Return the path of a row."""
        return self.places[row]

    def fault(self, column: int, row: int, problem: str) -> Fault:
        """Return a fault that names the path and the content of one value."""
        name = ".".join(filter(None, (self.places[row], self.header[column])))
        cell = self.cells[column][row]
        return Fault(name, problem, shown(cell) if cell else "missing", file=self.file)


def read_json_table(path: str | os.PathLike[str]) -> tuple[Table, list[Row]]:
    """Return zone, time and value [g/kWh] of every row of a JSON file, and the rows with their labels.

    Raises
    ------
    InputError
        If it is not JSON, of no known format, has no rows, or holds no carbon signal.
    """
    return _json_table(_parsed(path), str(path))


def read_json_issues(path: str | os.PathLike[str]) -> list[tuple[Table, list[Row]]]:
    """Return what `read_json_table` does of each forecast in the file: WattTime's forecast/historical has several."""
    raw = _parsed(path)
    data = field(raw, "data")
    issues = [raw]
    if isinstance(data, list) and any(field(row, "forecast") is not None for row in data):
        issues = [{**raw, "data": [row]} for row in data]
    return [_json_table(issue, str(path)) for issue in issues]


def _parsed(path: str | os.PathLike[str]) -> Any:
    try:
        return parse_json(read_text(path))
    except json.JSONDecodeError as error:
        problem = f"is not JSON: line {error.lineno}, column {error.colno}: {error.msg}"
        raise InputError(Fault("", problem, file=str(path))) from None
    except InputError as error:
        raise error.in_file(path) from None


def _json_table(raw: Any, file: str) -> tuple[Table, list[Row]]:
    try:
        kind = next((kind for kind in JSON_FORMATS if kind.matches(raw)), None)
        rows = list(kind.rows(raw)) if kind else []
    except InputError as error:
        raise error.in_file(file) from None
    if kind is None:
        known = one_of([kind.title for kind in JSON_FORMATS])
        raise InputError(Fault("", f"is no known JSON of carbon signals: must be {known}", file=file))
    if not rows:
        raise InputError(Fault("", f"is {kind.title} without a row", file=file))
    places, zones, times, values, _ = zip(*rows, strict=True)
    table = JsonTable(file, ("zone", "time", "value"), (zones, times, values), frozen_int(np.arange(len(rows))), places)
    return table, rows

"""A schedule that was made elsewhere: a table, columns in a mapping, a CSV file, or a challenge's own format."""

from __future__ import annotations

import os
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any

from carbonopt.core.arrays import plain
from carbonopt.core.errors import Fault, InputError, UnsupportedError
from carbonopt.core.instance import Instance
from carbonopt.core.options import Schedule
from carbonopt.core.registry import problem_of
from carbonopt.core.solution import Solution
from carbonopt.core.status import Status
from carbonopt.core.versions import installed_versions
from carbonopt.io.csvfile import read_table

NAMES = ("job", "cluster", "machine", "option")
"""Columns that hold names: a job called 7 stays text. The cells of all other columns are numbers."""
METHOD = "given"
"""Method of a solution whose schedule was made elsewhere."""


def read_schedule(given: Any) -> Schedule:
    """Return a schedule as columns of plain values, one row a decision.

    Parameters
    ----------
    given
        A `pandas.DataFrame`, a mapping from the name of a column to its values, or the path of a CSV file (UTF-8,
        plain or gzip) with a header. The columns are those of the problem's solution files, in any order.

    Returns
    -------
    dict
        A name is text, or None where the cell is empty. A whole number is an int, whether it was written as 3 or 3.0.
        What is neither stays as it is: the checker refuses it and says where.

    Raises
    ------
    InputError
        If the CSV file cannot be read, or a column is there twice.
    UnsupportedError
        If `given` is none of the three.
    """
    if isinstance(given, (str, os.PathLike)):
        if not is_csv(given):
            raise InputError(Fault("", "a schedule's file must end in .csv or .csv.gz", file=os.fspath(given)))
        columns = _from_csv(given)
    elif isinstance(given, Mapping):
        columns = {str(name): _listed(name, values) for name, values in given.items()}
    elif hasattr(given, "columns") and hasattr(given, "to_dict"):
        _require_single([str(name) for name in given.columns], None)
        columns = {str(name): given[name].tolist() for name in given.columns}
    else:
        words = "must be a DataFrame, a mapping of columns, or the path of a CSV file"
        raise UnsupportedError(f"a schedule of type {type(given).__name__}: {words}")
    return {name: [_cell(name, value) for value in values] for name, values in columns.items()}


def is_csv(path: str | os.PathLike[str]) -> bool:
    """Return whether a file's name says that it is CSV, plain or gzip."""
    return os.fspath(path).lower().endswith((".csv", ".csv.gz"))


def is_bare(instance: Instance, path: str | os.PathLike[str]) -> bool:
    """Return whether a file's name says that it holds a schedule alone, which `solution_of` reads."""
    return is_csv(path) or _is_in_own_format(instance, path)


def _is_in_own_format(instance: Instance, given: Any) -> bool:
    is_text = isinstance(given, (str, os.PathLike)) and os.fspath(given).lower().endswith(".txt")
    return is_text and "read_schedule" in problem_of(instance.problem).roles


def solution_of(instance: Instance, given: Any, info: Mapping[str, Any] | None = None) -> Solution:
    """Return a solution that holds a schedule and claims nothing of it.

    Parameters
    ----------
    instance
        That the schedule is for.
    given
        As `read_schedule` takes it; or the path of a text file (.txt) in the format of the problem's challenge.
    info
        What the checker needs beside the schedule, as solution files hold it: ``{"normalizers": ...}`` of a mosp
        instance that does not fix them.
    """
    if _is_in_own_format(instance, given):
        columns = problem_of(instance.problem).role("read_schedule")(instance, Path(given))
    else:
        columns = read_schedule(given)
    return Solution(
        problem=instance.problem,
        instance=instance.name,
        instance_sha256=instance.sha256,
        method=METHOD,
        status=Status.FEASIBLE,
        sense=instance.sense,
        columns=columns,
        info=dict(info or {}),
        versions=installed_versions(),
    )


def _from_csv(path: str | os.PathLike[str]) -> dict[str, list[Any]]:
    table = read_table(path)
    _require_single(list(table.header), str(path))
    return {name: list(cells) for name, cells in zip(table.header, table.cells, strict=True)}


def _listed(name: Any, values: Any) -> list[Any]:
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise InputError(Fault(str(name), "must be a list, one value a row"))
    return list(values)


def _require_single(header: list[str], file: str | None) -> None:
    faults = [Fault(name, "is a column twice", file=file) for name in sorted(set(header)) if header.count(name) > 1]
    if faults:
        raise InputError(faults)


def _cell(column: str, value: Any) -> Any:
    """Return a cell as the checkers take it."""
    value = plain(value)
    if value is None or value == "" or value != value:
        return None
    if column in NAMES:
        return value
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return value
    if isinstance(value, float) and isfinite(value) and value.is_integer():
        return int(value)
    return value

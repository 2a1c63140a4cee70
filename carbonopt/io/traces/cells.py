"""Columns of a trace as numbers and moments, with every fault of their cells; and the trace that is made of them."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray, frozen_int
from carbonopt.core.errors import Fault, InputError, UnsupportedError, one_of, shown
from carbonopt.core.files import read_bytes
from carbonopt.io.csvfile import Table, words
from carbonopt.io.jobs import LATEST_HOURS, LONGEST_HOURS, MOST_CPUS, JobTrace, kept_rows, unique_ids
from carbonopt.io.times import TIME_RULE, utc_text, utc_times

LARGEST_TRACE = 2**28
"""Of a trace's file [B], uncompressed: only the columns that are read become Python's objects."""
BLANK = ("", "nan", "none", "null", "nat", "n/a")
"""What stands for a value that is not known, in lower case."""
Layout = Mapping[str, Sequence[str]]


def trace_text(path: str | os.PathLike[str]) -> str:
    """Return the text of a trace's file, plain or gzip.

    Raises
    ------
    InputError
        If it cannot be read, or is no UTF-8.
    """
    try:
        return read_bytes(path, LARGEST_TRACE).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problem = f"is not UTF-8 text (byte {error.start}): a binary file, or text in another encoding"
        raise InputError(Fault("", problem, file=str(path))) from None


def read_columns(path: str | os.PathLike[str], wanted: Layout, header: Sequence[str] | None = None) -> Table:
    """Read some columns of a CSV file, plain or gzip; those that it has not are left out.

    Parameters
    ----------
    path
        The file.
    wanted
        Every spelling of each column.
    header
        Of a file that has none; None for its first line.

    Raises
    ------
    InputError
        If it is unreadable, empty, or a row has more or fewer cells than the header.
    """
    file = str(path)
    reader = csv.reader(io.StringIO(trace_text(path), newline=""), skipinitialspace=True, strict=True)
    spelled = {words(spelling) for spellings in wanted.values() for spelling in spellings}
    names = None if header is None else list(header)
    at: list[int] = []
    lines: list[int] = []
    rows: list[tuple[str, ...]] = []
    faults: list[Fault] = []
    try:
        for cells in reader:
            if not any(cells):
                continue
            if names is None:
                names = [cell.strip() for cell in cells]
                continue
            at = at or [column for column, name in enumerate(names) if words(name) in spelled]
            if len(cells) == len(names):
                lines.append(reader.line_num)
                rows.append(tuple(cells[column] for column in at))
            else:
                problem = f"must have {len(names)} cells, has {len(cells)}"
                faults.append(Fault("", problem, shown(",".join(cells)), file=file, line=reader.line_num))
    except csv.Error as error:
        raise InputError(Fault("", f"is not CSV: {error}", file=file, line=reader.line_num)) from None
    if names is None:
        faults = [Fault("", "is empty: must hold a header and one line for each job", file=file)]
    elif not rows and not faults:
        faults = [Fault("", "has a header but no rows", shown(",".join(names), limit=200), file=file)]
    if faults or names is None:
        raise InputError(faults)
    columns = tuple(zip(*rows, strict=True)) if at else ()
    return Table(file, tuple(names[column] for column in at), columns, frozen_int(lines))


class Cells:
    """Columns of a table by name; `faults` gathers what is wrong with their cells.

    Parameters
    ----------
    table
        The N rows.
    required, optional
        Every spelling of each column.

    Raises
    ------
    InputError
        For each required column that the header has not once.
    """

    def __init__(self, table: Table, required: Layout, optional: Layout | None = None) -> None:
        self.table = table
        self.at = table.columns(required)
        for name, spellings in (optional or {}).items():
            found = table.spelled(spellings)
            if len(found) == 1:
                self.at[name] = found[0]
        self.faults: list[Fault] = []

    def __len__(self) -> int:
        """Return the number of rows N."""
        return len(self.table.lines)

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a column without white space around its cells, empty where there is no such column."""
        if name not in self.at:
            return ("",) * len(self)
        return tuple(cell.strip() for cell in self.table.cells[self.at[name]])

    def ids(self, name: str) -> tuple[str, ...]:
        """Return a column of names, none of which may be missing."""
        texts = self.texts(name)
        self.require(name, np.array([bool(text) for text in texts]), "must be the job's name")
        return texts

    def numbers(self, name: str, what: str, most: float = MOST_CPUS, least: float = 0.0) -> FloatArray:
        """Return a column as numbers, shape (N,), NaN where a cell is blank or there is no such column."""
        if name not in self.at:
            return np.full(len(self), np.nan)
        values = self.table.numbers(self.at[name])
        blank = self._blank(name)
        good = (values >= least) & (values <= most)
        self.require(name, blank | good, f"must be {what}, at least {least:g} and at most {most:g}")
        return np.where(good & ~blank, values, np.nan)

    def seconds(self, name: str, least: float = 0.0) -> FloatArray:
        """Return a column of moments in seconds since some zero, shape (N,), NaN where a cell is blank."""
        return self.numbers(name, "a number of seconds", 3600 * LATEST_HOURS, least)

    def moments(self, name: str) -> FloatArray:
        """Return a column of ISO times in seconds since 1970 in UTC, shape (N,), NaN where a cell is blank."""
        if name not in self.at:
            return np.full(len(self), np.nan)
        times = utc_times(self.texts(name))
        missing = np.isnat(times)
        self.require(name, self._blank(name) | ~missing, TIME_RULE)
        return np.where(missing, np.nan, times.astype(np.int64) / 1e9)

    def span(self, start: FloatArray, end: FloatArray, name: str, first: str) -> FloatArray:
        """Return seconds from `start` to `end`, shape (N,); column `name` is at fault if it is before, or too late."""
        run = end - start
        self.require(name, ~(run < 0), f"must not be before {first}")
        return self.at_most(run, name)

    def at_most(self, run: FloatArray, name: str) -> FloatArray:
        """Return run times [s], shape (N,); column `name` is at fault where one is too long."""
        self.require(name, ~(run > 3600 * LONGEST_HOURS), f"must make a run time of at most {LONGEST_HOURS:g} h")
        return run

    def require(self, name: str, good: BoolArray, rule: str) -> None:
        """Add a fault for each cell that is not `good`, shape (N,)."""
        self.faults += self.table.faults(self.at[name], ~np.asarray(good, dtype=np.bool_), rule)

    def _blank(self, name: str) -> BoolArray:
        return np.array([cell.lower() in BLANK for cell in self.texts(name)], dtype=np.bool_)


def state_reasons(states: Sequence[str], usual: Sequence[str], asked: Collection[str] | None) -> list[str]:
    """Return why each job is left out by its state, empty where it is read.

    Raises
    ------
    UnsupportedError
        If a state is asked for that no job is in.
    """
    there = sorted({state.lower() for state in states})
    wanted = {state.lower() for state in (usual if asked is None else asked)}
    for state in sorted(wanted) if asked is not None else ():
        if state not in there:
            raise UnsupportedError(f"--states: no job is {state!r}; the file has {one_of(there)}")
    return ["" if state.lower() in wanted else state.lower() or "without state" for state in states]


def trace_of(
    table: Table,
    faults: list[Fault],
    reasons: Sequence[str],
    submit: FloatArray,
    run: FloatArray,
    cpus: FloatArray,
    ids: Sequence[str],
    dated: bool,
    **more: Any,
) -> JobTrace:
    """Return the trace of the jobs that have no reason to be left out, and of those alone.

    Parameters
    ----------
    table, faults
        The N rows, and what is wrong with them.
    reasons
        Why each is left out, empty where it is not.
    submit, run
        Submission [s], since 1970 in UTC if `dated`, and run time [s], shapes (N,), NaN where not known.
    cpus, ids
        Of each job.
    more
        Other columns of `JobTrace`, shapes (N,); ``started`` is in seconds, as `submit`.

    Raises
    ------
    InputError
        With every fault, and if no job is left.
    """
    if faults:
        raise InputError(faults)
    cases = {"without submit time": np.isnan(submit), "without run time": ~(run > 0), "without CPUs": ~(cpus > 0)}
    shape = np.select(list(cases.values()), list(cases), default="")
    why = [reason or str(other) for reason, other in zip(reasons, shape, strict=True)]
    keep, left_out = kept_rows(table, why)
    rows = np.flatnonzero(keep)
    zero = float(submit[rows].min())
    started = more.pop("started", None)
    if started is not None and not np.isnan(started).all():
        more["started_hours"] = (started - zero) / 3600
    known = {name: values for name, values in more.items() if _known(values)}
    return JobTrace(
        (submit[rows] - zero) / 3600,
        run[rows] / 3600,
        cpus[rows],
        table.lines[rows],
        left_out,
        utc_text(round(zero * 1e9)) if dated else "",
        unique_ids(ids[int(row)] for row in rows),
        **{name: _taken(values, rows) for name, values in known.items()},
    )


def _known(values: Any) -> bool:
    """Return whether a column tells anything."""
    return not np.isnan(values).all() if isinstance(values, np.ndarray) else values is False or any(values)


def _taken(values: Any, rows: IntArray) -> Any:
    if isinstance(values, bool):
        return values
    return values[rows] if isinstance(values, np.ndarray) else tuple(values[row] for row in rows)

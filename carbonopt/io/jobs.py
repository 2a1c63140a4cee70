"""Readers of job traces in GAIA's format, and the CSV tables that every reader of this folder uses."""

from __future__ import annotations

import csv
import io
import os
import re
import unicodedata
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray, frozen_float, frozen_int
from carbonopt.core.errors import Fault, InputError, one_of, shown
from carbonopt.core.jsonfile import read_text

HOURS_PER_UNIT = {"seconds": 1 / 3600, "minutes": 1 / 60, "hours": 1.0}

SHORTEST_MEDIAN_HOURS = 1 / 60
LONGEST_MEDIAN_HOURS = 1000.0
"""Median lengths outside these limits make `read_jobs` warn: they are how a wrong `time_unit` shows."""

_COLUMNS = {name: (name,) for name in ("arrival_time", "length", "cpus")}


@dataclass(frozen=True, eq=False)
class JobTrace:
    """Jobs of a trace, in the order of the file.

    Parameters
    ----------
    arrival_hours
        Arrival since the trace's own zero [h], shape (N,), at least 0.
    length_hours
        Run time [h], shape (N,), more than 0.
    cpus
        CPUs that each job holds while it runs, shape (N,), more than 0, as in the file: not always whole.
    rows
        1-based line of the file that each job stands on, shape (N,).
    """

    arrival_hours: FloatArray
    length_hours: FloatArray
    cpus: FloatArray
    rows: IntArray

    def __post_init__(self) -> None:
        """Freeze the arrays."""
        for name in ("arrival_hours", "length_hours", "cpus"):
            object.__setattr__(self, name, frozen_float(getattr(self, name)))
        object.__setattr__(self, "rows", frozen_int(self.rows))

    def __len__(self) -> int:
        """Return the number of jobs N."""
        return len(self.rows)


def read_jobs(path: str | os.PathLike[str], time_unit: str) -> JobTrace:
    r"""Read a job trace with the columns ``arrival_time,length,cpus`` (CSV, plain or gzip).

    Parameters
    ----------
    path
        The file. Columns may stand in any order and case, beside others that are not read.
    time_unit
        Unit of ``arrival_time`` and ``length``: ``"seconds"``, ``"minutes"`` or ``"hours"``. There is no
        default: GAIA's own traces come in seconds and in hours under the same header.

    Returns
    -------
    JobTrace
        The N jobs, in hours.

    Raises
    ------
    InputError
        With every fault: file, column, line, value and what would be right.

    Warns
    -----
    UserWarning
        If half of the jobs last less than a minute or more than 1000 hours, as jobs do in a wrong unit.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "jobs.csv")
    ...     _ = path.write_text("arrival_time,length,cpus\n0,3600,2\n1800,5400,1\n")
    ...     trace = read_jobs(path, time_unit="seconds")
    >>> trace.length_hours.tolist()
    [1.0, 1.5]
    """
    if time_unit not in HOURS_PER_UNIT:
        problem = f"must be {one_of(tuple(HOURS_PER_UNIT))}: the file does not say, and a guess may be 3600-fold off"
        raise InputError(Fault("time_unit", problem, shown(time_unit), file=str(path)))
    table = read_table(path)
    at = table.columns(_COLUMNS)
    arrival, length, cpus = (table.numbers(at[name]) for name in _COLUMNS)
    rules = {
        "arrival_time": ((arrival >= 0) & (arrival < np.inf), f"must be a number of {time_unit}, at least 0"),
        "length": ((length > 0) & (length < np.inf), f"must be a number of {time_unit}, more than 0"),
        "cpus": ((cpus > 0) & (cpus < np.inf), "must be a number of CPUs, more than 0"),
    }
    faults = [fault for name, (good, problem) in rules.items() for fault in table.faults(at[name], ~good, problem)]
    if faults:
        raise InputError(faults)
    to_hours = HOURS_PER_UNIT[time_unit]
    _warn_of_unit(path, time_unit, float(np.median(length)) * to_hours)
    return JobTrace(arrival * to_hours, length * to_hours, cpus, table.lines)


def _warn_of_unit(path: str | os.PathLike[str], time_unit: str, median_hours: float) -> None:
    if not SHORTEST_MEDIAN_HOURS <= median_hours <= LONGEST_MEDIAN_HOURS:
        text = f"{median_hours * 3600:.3g} s" if median_hours < 1 else f"{median_hours:.0f} h"
        warnings.warn(
            f"{path}: with time_unit={time_unit!r} the median job lasts {text}, outside 1 minute to "
            f"{LONGEST_MEDIAN_HOURS:.0f} hours: is the unit right?",
            stacklevel=3,
        )


@dataclass(frozen=True, eq=False)
class Table:
    """A CSV file as text, column by column.

    Parameters
    ----------
    file
        Where it was read from.
    header
        Names of the C columns as the file spells them.
    cells
        C tuples of N cells.
    lines
        1-based line of the file that each of the N rows stands on.
    """

    file: str
    header: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    lines: IntArray

    def columns(self, wanted: Mapping[str, Sequence[str]]) -> dict[str, int]:
        """Return where each column of `wanted` (its name: every spelling of it) stands.

        Raises
        ------
        InputError
            For each that is missing or stands in the header more than once.
        """
        at = {name: self.spelled(spellings) for name, spellings in wanted.items()}
        text = shown(",".join(self.header), limit=200)
        faults = [
            Fault(name, f"must be one column of the header: {len(found) or 'none'} found", text, file=self.file)
            for name, found in at.items()
            if len(found) != 1
        ]
        if faults:
            raise InputError(faults)
        return {name: found[0] for name, found in at.items()}

    def spelled(self, spellings: Sequence[str]) -> list[int]:
        """Return the columns whose names have the same words as one of `spellings`."""
        accepted = {words(spelling) for spelling in spellings}
        return [column for column, name in enumerate(self.header) if words(name) in accepted]

    def numbers(self, column: int) -> FloatArray:
        """Return a column as numbers, shape (N,), NaN where a cell is none."""
        cells = self.cells[column]
        try:
            return np.fromiter(map(float, cells), np.float64, len(cells))
        except ValueError:
            return np.array([_number(cell) for cell in cells])

    def faults(self, column: int, bad: BoolArray, problem: str) -> list[Fault]:
        """Return a fault for each cell of `column` that is `bad`, shape (N,)."""
        return [self.fault(column, int(row), problem) for row in np.flatnonzero(bad)]

    def fault(self, column: int, row: int, problem: str) -> Fault:
        """Return a fault that names the column, the line and the content of one cell."""
        return Fault(self.header[column], problem, shown(self.cells[column][row]), int(self.lines[row]), self.file)


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return float("nan")


def words(name: str) -> str:
    """Return the words of a column's name, so that spellings compare equal.

    Examples
    --------
    >>> words("Carbon Intensity gCO₂eq/kWh (LCA)") == words("carbon_intensity_gco2eq_kwh_lca")
    True
    """
    return " ".join(re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", name).lower()))


def read_table(path: str | os.PathLike[str], headerless: tuple[re.Pattern[str], Sequence[str]] | None = None) -> Table:
    """Read a CSV file (UTF-8, plain or gzip, blank lines ignored).

    Parameters
    ----------
    path
        The file.
    headerless
        A pattern and column names: a file of as many columns whose very first cell matches has no header.

    Raises
    ------
    InputError
        If it is unreadable, empty, or a row has more or fewer cells than the header.
    """
    file = str(path)
    reader = csv.reader(io.StringIO(read_text(path), newline=""), skipinitialspace=True, strict=True)
    try:
        numbered = [(reader.line_num, row) for row in reader if any(row)]
    except csv.Error as error:
        raise InputError(Fault("line", f"is not CSV: {error}", row=reader.line_num, file=file)) from None
    if not numbered:
        raise InputError(Fault("", "is empty: must hold a header and one line for each row", file=file))
    first = numbered[0][1]
    if headerless and len(first) == len(headerless[1]) and headerless[0].match(first[0]):
        header = tuple(headerless[1])
    else:
        header = tuple(name.strip() for name in first)
        del numbered[0]
    faults = [
        Fault("line", f"must have {len(header)} cells, has {len(row)}", shown(",".join(row)), line, file)
        for line, row in numbered
        if len(row) != len(header)
    ]
    if not numbered:
        faults = [Fault("", "has a header but no rows", shown(",".join(header), limit=200), file=file)]
    if faults:
        raise InputError(faults)
    lines, rows = zip(*numbered, strict=True)
    return Table(file, header, tuple(zip(*rows, strict=True)), frozen_int(lines))

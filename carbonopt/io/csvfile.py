"""CSV files as columns of text, with every fault told by file, column, line and value."""

from __future__ import annotations

import csv
import io
import os
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray, frozen_int
from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.core.jsonfile import read_text

PREAMBLE_ROWS = 10
"""Rows among which a header is looked for that does not stand first."""


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

    def place(self, row: int) -> str:
        """Return how messages name a row."""
        return f"line {self.lines[row]}"

    def fault(self, column: int, row: int, problem: str) -> Fault:
        """Return a fault that names the column, the line and the content of one cell."""
        return Fault(
            self.header[column],
            problem,
            shown(self.cells[column][row]),
            file=self.file,
            line=int(self.lines[row]),
        )


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


def read_table(
    path: str | os.PathLike[str],
    headerless: tuple[re.Pattern[str], Sequence[str]] | None = None,
    delimiter: str = ",",
    quoted: bool = True,
    preamble: Collection[str] = (),
) -> Table:
    """Read a CSV file (UTF-8, plain or gzip, blank lines ignored).

    Parameters
    ----------
    path
        The file.
    headerless
        A pattern and column names: a file of as many columns whose very first cell matches has no header.
    delimiter, quoted
        What separates cells, and whether quotation marks may hold one together.
    preamble
        Names of columns: the header is the first of the upper rows that has one of them, if there is one;
        the rows above it are left out.

    Raises
    ------
    InputError
        If it is unreadable, empty, or a row has more or fewer cells than the header.
    """
    file = str(path)
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    text = io.StringIO(read_text(path), newline="")
    reader = csv.reader(text, delimiter=delimiter, quoting=quoting, skipinitialspace=True, strict=True)
    try:
        numbered = [(reader.line_num, row) for row in reader if any(row)]
    except csv.Error as error:
        raise InputError(Fault("", f"is not CSV: {error}", file=file, line=reader.line_num)) from None
    if not numbered:
        raise InputError(Fault("", "is empty: must hold a header and one line for each row", file=file))
    heads = [row for row, (_, cells) in enumerate(numbered[:PREAMBLE_ROWS]) if set(preamble) & set(cells)]
    del numbered[: min(heads, default=0)]
    first = numbered[0][1]
    if headerless and len(first) == len(headerless[1]) and headerless[0].match(first[0]):
        header = tuple(headerless[1])
    else:
        header = tuple(name.strip() for name in first)
        del numbered[0]
    faults = [
        Fault("", f"must have {len(header)} cells, has {len(row)}", shown(delimiter.join(row)), file=file, line=line)
        for line, row in numbered
        if len(row) != len(header)
    ]
    if not numbered:
        faults = [Fault("", "has a header but no rows", shown(delimiter.join(header), limit=200), file=file)]
    if faults:
        raise InputError(faults)
    lines, rows = zip(*numbered, strict=True)
    return Table(file, header, tuple(zip(*rows, strict=True)), frozen_int(lines))

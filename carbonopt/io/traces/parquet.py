"""Parquet files as columns of text, so that what reads CSV reads them too; needs pyarrow."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from carbonopt.core.arrays import frozen_int
from carbonopt.core.errors import Fault, InputError, UnsupportedError, shown
from carbonopt.core.files import read_bytes
from carbonopt.io.csvfile import Table, words
from carbonopt.io.traces.cells import LARGEST_TRACE, Layout

MAGIC = b"PAR1"
MOST_ROWS = 20_000_000
"""Of a file, whose rows may take far less space in it than in memory."""
MOST_BYTES = 2**31
"""Of the columns that are read, uncompressed."""


class Rows(Table):
    """A table whose rows have a number, from 0, in the place of a line."""

    def place(self, row: int) -> str:
        """Return how messages name a row."""
        return f"row {self.lines[row]}"

    def fault(self, column: int, row: int, problem: str) -> Fault:
        """Return a fault that names the column, the row and the content of one cell."""
        return Fault(self.header[column], problem, shown(self.cells[column][row]), int(self.lines[row]), self.file)


def column_names(path: str | os.PathLike[str]) -> list[str]:
    """Return the names of a file's columns.

    Raises
    ------
    InputError
        If it is no whole Parquet file.
    UnsupportedError
        If pyarrow is not installed.
    """
    file = _open(path)
    return [str(name) for name in file.schema_arrow.names]


def read_rows(path: str | os.PathLike[str], wanted: Layout, means: Collection[str] = ()) -> Table:
    """Read some columns of a Parquet file; those that it has not are left out.

    Parameters
    ----------
    path
        The file.
    wanted
        Every spelling of each column.
    means
        Names in `wanted` of columns that hold a list of numbers in each row: their mean is read.

    Raises
    ------
    InputError
        If it is damaged, empty or too large.
    UnsupportedError
        If pyarrow is not installed.
    """
    file = _open(path)
    spelled = {words(spelling): name for name, spellings in wanted.items() for spelling in spellings}
    chosen = [name for name in file.schema_arrow.names if words(name) in spelled]
    _require_bounds(file, path)
    try:
        content = file.read(columns=chosen)
        cells = tuple(
            tuple(_means(content.column(name)) if spelled[words(name)] in means else _texts(content.column(name)))
            for name in chosen
        )
    except Exception as error:  # pyarrow's readers raise errors of many kinds on damaged bytes
        raise _damaged(path, error) from None
    return Rows(str(path), tuple(chosen), cells, frozen_int(range(content.num_rows)))


def _open(path: str | os.PathLike[str]) -> Any:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise UnsupportedError(f"{path}: Parquet needs pyarrow: pip install 'carbonopt[parquet]'") from None
    content = read_bytes(path, LARGEST_TRACE)
    try:
        return pq.ParquetFile(pa.BufferReader(content))
    except Exception as error:  # see above
        raise _damaged(path, error) from None


def _damaged(path: str | os.PathLike[str], error: Exception) -> InputError:
    told = str(error).partition("\n")[0][:120]
    return InputError(Fault("", f"is not a whole Parquet file ({told}): write or copy it again", file=str(path)))


def _require_bounds(file: Any, path: str | os.PathLike[str]) -> None:
    rows = file.metadata.num_rows
    size = sum(file.metadata.row_group(at).total_byte_size for at in range(file.metadata.num_row_groups))
    if not 0 < rows <= MOST_ROWS or not 0 <= size <= MOST_BYTES:
        rule = f"must have from 1 to {MOST_ROWS:,} rows in at most {MOST_BYTES // 2**20} MiB"
        raise InputError(Fault("", rule, f"{rows} rows, {size / 2**20:.0f} MiB", file=str(path)))


def _texts(column: Any) -> Sequence[str]:
    """Return a column as CSV would hold it, empty where a value is null."""
    import pyarrow as pa

    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
    return ["" if value is None else str(value) for value in column.to_pylist()]


def _means(column: Any) -> Sequence[str]:
    """Return the mean of each row's list, or its number where it has one; empty where there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_list(column.type) or pa.types.is_large_list(column.type)):
        return _texts(column)
    lists = column.combine_chunks()
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    values = np.asarray(pc.list_flatten(lists).to_numpy(zero_copy_only=False), dtype=float)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    known = ~np.isnan(values)
    counts = np.bincount(rows[known], minlength=len(lengths))
    sums = np.bincount(rows[known], values[known], len(lengths))
    return ["" if not count else repr(float(total / count)) for count, total in zip(counts, sums, strict=True)]

"""A sparse mathematical program made of named blocks of variables and rows."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.core.display import card
from carbonopt.core.errors import Fault, TooLargeError, UnsupportedError, one_of
from carbonopt.core.memory import free_bytes
from carbonopt.milp.block import Block
from carbonopt.milp.names import AxisNames
from carbonopt.milp.reading import Origin, Reading

INDEX_LIMIT = 2**31 - 1
"""HiGHS counts columns, rows and nonzeros in 32-bit integers."""
BYTES_PER_NONZERO = 72
BYTES_PER_COLUMN = 160
"""Measured peak of building, passing to HiGHS and presolving, rounded up."""
THREAD_BYTES = 2**27
"""Of addresses, which a limit of the process counts: stacks of two threads, and 64 MiB in which one allocates."""
WIDE_RANGE = 1e6


@dataclass(frozen=True, eq=False)
class Arrays:
    """A program as HiGHS takes it: columns compressed, shape (rows, columns)."""

    cost: FloatArray
    lower: FloatArray
    upper: FloatArray
    integer: BoolArray
    row_lower: FloatArray
    row_upper: FloatArray
    starts: npt.NDArray[np.int32]
    rows: npt.NDArray[np.int32]
    values: FloatArray


class Program:
    """Minimise or maximise ``cost @ x`` over ``row_lower <= A x <= row_upper`` and bounds.

    Variables and rows come in named blocks; nothing loops over their members.

    Parameters
    ----------
    name
        Shown in exported files.
    sense
        ``min`` or ``max``.

    Examples
    --------
    >>> program = Program("knapsack", sense="max")
    >>> x = program.add_variables("x", 3, upper=1, cost=[5, 4, 3], integer=True)
    >>> weight = program.add_rows("weight", 1, upper=5)
    >>> program.add_entries(weight.index, x.index, [2, 3, 4])
    >>> program.columns, program.rows, program.nonzeros
    (3, 1, 3)
    """

    def __init__(self, name: str, sense: str = "min") -> None:
        if sense not in ("min", "max"):
            raise UnsupportedError(f"sense {sense!r}: must be 'min' or 'max'")
        self.name = name
        self.sense = sense
        self.variables: dict[str, Block] = {}
        self.constraints: dict[str, Block] = {}
        self.columns = 0
        self.rows = 0
        self.nonzeros = 0
        self._columns: list[tuple[FloatArray, FloatArray, FloatArray, BoolArray]] = []
        self._rows: list[tuple[FloatArray, FloatArray]] = []
        self._entries: list[tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], FloatArray]] = []
        self._arrays: Arrays | None = None  # of the program as it is; any addition makes it stale
        self.names = AxisNames()
        self.reading: Reading | None = None
        self.origin: Origin | None = None
        self.is_completed = False

    def add_variables(
        self,
        name: str,
        shape: int | tuple[int, ...],
        lower: npt.ArrayLike = 0.0,
        upper: npt.ArrayLike = np.inf,
        cost: npt.ArrayLike = 0.0,
        integer: npt.ArrayLike = False,
        at: tuple[IntArray, ...] | None = None,
        axes: tuple[str, ...] = (),
    ) -> Block:
        """Add a block of variables; `lower`, `upper`, `cost` and `integer` broadcast to `shape`.

        `at` gives the indices of the members of a sparse block, and `axes` says what they are indices of: for the
        names in exported files, and for tables.
        """
        block = self._block(self.variables, name, self.columns, shape, at, axes)
        self._columns.append(
            (
                _spread(lower, block),
                _spread(upper, block),
                _spread(cost, block),
                np.broadcast_to(np.asarray(integer, dtype=np.bool_), block.shape).reshape(-1),
            )
        )
        self.columns += block.size
        return block

    def add_rows(
        self,
        name: str,
        shape: int | tuple[int, ...],
        lower: npt.ArrayLike = -np.inf,
        upper: npt.ArrayLike = np.inf,
        axes: tuple[str, ...] = (),
        at: tuple[IntArray, ...] | None = None,
    ) -> Block:
        """Add a block of rows ``lower <= A x <= upper``, without entries yet; `axes` and `at` as of variables."""
        block = self._block(self.constraints, name, self.rows, shape, at, axes)
        self._rows.append((_spread(lower, block), _spread(upper, block)))
        self.rows += block.size
        return block

    def add_entries(self, rows: npt.ArrayLike, columns: npt.ArrayLike, values: npt.ArrayLike) -> None:
        """Add matrix entries by position; the three broadcast, entries of one place add up.

        Raises
        ------
        UnsupportedError
            If the three do not broadcast, there is no such column yet, or a value is not finite. That there are such
            rows is checked when the program is used.
        """
        given = np.asarray(rows), np.asarray(columns), np.asarray(values, dtype=np.float64)
        try:
            row, column, value = np.broadcast_arrays(*given)
        except ValueError:
            shapes = " and ".join(
                f"{len(part)} {what}" if part.ndim == 1 else f"{what} of shape {part.shape}"
                for what, part in zip(("rows", "columns", "values"), given, strict=True)
                if part.ndim
            )
            raise UnsupportedError(f"entries of {self.name}: {shapes} do not fit: must be as many, or one") from None
        row, column = row.reshape(-1), column.reshape(-1)
        if column.size and not (column.min() >= 0 and column.max() < self.columns):
            _require_below(
                self.columns, column, f"entries of {self.name}, in row {self._row_of(row, column)}: each column"
            )
        if not np.isfinite(value).all():
            raise UnsupportedError(f"entries of {self.name}: each value must be a finite number")
        self._arrays = None
        self._entries.append((row.astype(np.int32), column.astype(np.int32), value.reshape(-1)))
        self.nonzeros += row.size

    def _row_of(self, row: IntArray, column: IntArray) -> str:
        """Return the name of the row of the first entry whose column there is not."""
        wrong = int(row[np.flatnonzero((column < 0) | (column >= self.columns))[0]])
        for block in self.constraints.values():
            if 0 <= wrong - block.start < block.size:
                return block.labels()[wrong - block.start]
        return str(wrong)

    def arrays(self) -> Arrays:
        """Return the program as compressed columns, entries of one place added up."""
        if self._arrays is None:
            self._arrays = self._compress()
        return self._arrays

    def _compress(self) -> Arrays:
        from scipy.sparse import coo_array

        rows = _join([entry[0] for entry in self._entries], np.int32)
        columns = _join([entry[1] for entry in self._entries], np.int32)
        values = _join([entry[2] for entry in self._entries], np.float64)
        _require_below(self.rows, rows, f"entries of {self.name}: each row")
        matrix = coo_array((values, (rows, columns)), shape=(self.rows, self.columns)).tocsc()
        matrix.sort_indices()
        if not matrix.data.all():
            matrix.eliminate_zeros()
        lower, upper, cost = (_join([column[part] for column in self._columns], np.float64) for part in range(3))
        row_lower, row_upper = (_join([row[part] for row in self._rows], np.float64) for part in range(2))
        return Arrays(
            cost=cost,
            lower=lower,
            upper=upper,
            integer=_join([column[3] for column in self._columns], np.bool_),
            row_lower=row_lower,
            row_upper=row_upper,
            starts=matrix.indptr.astype(np.int32, copy=False),
            rows=matrix.indices.astype(np.int32, copy=False),
            values=matrix.data,
        )

    def ranges(self) -> dict[str, tuple[float, float]]:
        """Return smallest and largest absolute value of matrix, cost and right-hand sides."""
        arrays = self.arrays()
        sides = np.concatenate([arrays.row_lower, arrays.row_upper])
        parts = {"matrix": arrays.values, "cost": arrays.cost, "right-hand side": sides}
        return {name: _range(part) for name, part in parts.items()}

    def range_warnings(self) -> list[str]:
        """Return a line for each part whose values span more than six orders of magnitude."""
        return [
            f"{self.name}: {part} coefficients span {low:.1g} to {high:.1g}, more than six orders of"
            " magnitude; choose units that bring them together (kg and kWh, not g and W)"
            for part, (low, high) in self.ranges().items()
            if low > 0 and high / low > WIDE_RANGE
        ]

    def to_lp(self, path: str | os.PathLike[str]) -> None:
        """Write the program as a CPLEX LP file with readable names."""
        self._export(path, ".lp")

    def to_mps(self, path: str | os.PathLike[str]) -> None:
        """Write the program as a free MPS file with readable names."""
        self._export(path, ".mps")

    def complete(self) -> None:
        """Add the rows that only a program with additions needs, once."""
        if self.has_additions and not self.is_completed and self.reading and self.reading.when_added_to:
            self.is_completed = True
            self.reading.when_added_to(self)

    def activity(self, values: FloatArray) -> FloatArray:
        """Return ``A @ values``, shape (rows,)."""
        arrays = self.arrays()
        columns = np.repeat(np.arange(self.columns), np.diff(arrays.starts))
        return np.bincount(arrays.rows, arrays.values * values[columns], self.rows).astype(np.float64)

    @property
    def has_additions(self) -> bool:
        """Whether variables, rows or entries were added since `carbonopt.formulate` made it."""
        size = (self.columns, self.rows, self.nonzeros)
        return self.origin is None or size != (self.origin.columns, self.origin.rows, self.origin.nonzeros)

    def _export(self, path: str | os.PathLike[str], suffix: str) -> None:
        from carbonopt.milp.export import export

        if not str(path).endswith(suffix):
            raise UnsupportedError(f"{path}: the name must end in {suffix}")
        export(self, path)

    def block(self, name: str) -> Block:
        """Return the block of variables or rows of that name.

        Raises
        ------
        UnsupportedError
            If there is none; the message lists those there are.
        """
        blocks = self.variables | self.constraints
        if name not in blocks:
            raise UnsupportedError(f"no block {name!r} in {self.name}: must be {one_of(tuple(blocks))}")
        return blocks[name]

    def _block(
        self,
        known: dict[str, Block],
        name: str,
        start: int,
        shape: int | tuple[int, ...],
        at: tuple[IntArray, ...] | None = None,
        axes: tuple[str, ...] = (),
    ) -> Block:
        self._arrays = None
        if name in self.variables or name in self.constraints:
            raise UnsupportedError(f"{self.name} has a block {name!r} already")
        known[name] = Block(name, start, (shape,) if isinstance(shape, int) else tuple(shape), at, axes)
        return known[name]

    def __repr__(self) -> str:
        return f"Program({self.name!r}, {self.sense}, {self._size()})"

    def _size(self) -> str:
        return f"{self.columns} columns, {self.rows} rows, {self.nonzeros} entries"

    def _repr_html_(self) -> str:
        facts = {"sense": self.sense, "size": self._size()}
        facts |= {f"variables {b.name}": " x ".join(map(str, b.shape)) for b in self.variables.values()}
        facts |= {f"rows {b.name}": " x ".join(map(str, b.shape)) for b in self.constraints.values()}
        return card(f"Program {self.name}", facts)


def require_memory(what: str, columns: int, nonzeros: int) -> None:
    """Refuse a program that would not fit into memory, before anything is allocated.

    Raises
    ------
    TooLargeError
        With the estimate and with what is free.
    """
    needed = columns * BYTES_PER_COLUMN + nonzeros * BYTES_PER_NONZERO
    free = free_bytes(beside=THREAD_BYTES)
    size = f"{columns:.3g} columns and {nonzeros:.3g} nonzeros, about {needed / 2**30:.1f} GiB"
    if max(columns, nonzeros) > INDEX_LIMIT:
        raise TooLargeError(Fault("", f"{what} would have {size}; HiGHS takes at most {INDEX_LIMIT:.3g} of each"))
    if needed > free:
        raise TooLargeError(Fault("", f"{what} would have {size}; {free / 2**30:.1f} GiB are free"))


def _require_below(count: int, positions: IntArray, what: str) -> None:
    """Refuse positions that are not from 0 to `count` - 1, naming the first."""
    wrong = np.flatnonzero((positions < 0) | (positions >= count))
    if len(wrong):
        raise UnsupportedError(f"{what} must be from 0 to {count - 1}, not {positions[wrong[0]]}")


def _spread(values: npt.ArrayLike, block: Block) -> FloatArray:
    numbers = np.asarray(values, dtype=np.float64)
    if np.isnan(numbers).any():
        raise UnsupportedError(f"block {block.name!r}: a bound or cost is not a number")
    return np.broadcast_to(numbers, block.shape).reshape(-1)


def _join(parts: list[Any], kind: type[Any]) -> Any:
    """Return the parts one after the other; a part that is alone is not copied."""
    if len(parts) == 1:
        return np.ascontiguousarray(parts[0], dtype=kind)
    return np.concatenate(parts, dtype=kind) if parts else np.zeros(0, dtype=kind)


def _range(values: FloatArray) -> tuple[float, float]:
    sizes = np.abs(values[np.isfinite(values) & (values != 0)])
    return (float(sizes.min()), float(sizes.max())) if sizes.size else (0.0, 0.0)

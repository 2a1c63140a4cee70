"""Small linear programs in which rows of ones are at most 1, and which get more such rows as they go."""

from __future__ import annotations

from collections.abc import Sequence

import highspy
import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.milp.first import new_highs

TOLERANCE = 1e-9
"""Price of a row below which it counts as 0."""
STEPS_OF_SOLVE = 1.2e5
STEPS_OF_ENTRY = 120.0
"""Loop steps of a solve: of the call, and for each one in the rows."""


class PackingProgram:
    """Maximise ``gain @ x`` over x from 0 to 1, where the entries of x in each row add up to at most 1.

    Parameters
    ----------
    gain
        Of each column, shape (columns,).
    rows
        Columns of each row.

    Attributes
    ----------
    entries
        Number of ones in the rows.
    """

    def __init__(self, gain: FloatArray, rows: Sequence[IntArray]) -> None:
        self._highs = new_highs()
        for name, value in (("output_flag", False), ("threads", 1), ("presolve", "off")):
            self._highs.setOptionValue(name, value)
        count = len(gain)
        sizes = [len(row) for row in rows]
        begin = np.cumsum([0, *sizes])
        column = np.concatenate([np.zeros(0, dtype=np.int64), *rows])
        infinite = np.full(len(rows), -np.inf)
        self.entries = len(column)
        self._highs.passModel(
            count,
            len(rows),
            len(column),
            int(highspy.MatrixFormat.kRowwise),
            int(highspy.ObjSense.kMaximize),
            0.0,
            gain,
            np.zeros(count),
            np.ones(count),
            infinite,
            np.ones(len(rows)),
            begin.astype(np.int32),
            column.astype(np.int32),
            np.ones(len(column)),
            np.zeros(count, dtype=np.int32),
        )

    def add(self, row: IntArray) -> None:
        """Add a row."""
        self._highs.addRow(-np.inf, 1.0, len(row), row.astype(np.int32), np.ones(len(row)))
        self.entries += len(row)

    def solve(self) -> FloatArray | None:
        """Return the best x, shape (columns,); None where HiGHS finds none."""
        self._highs.run()
        if self._highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        return np.array(self._highs.getSolution().col_value)

    @property
    def steps(self) -> float:
        """Loop steps of a solve, about."""
        return STEPS_OF_SOLVE + STEPS_OF_ENTRY * self.entries

    def priced(self) -> IntArray:
        """Return the numbers of the rows that have a price at the last x."""
        return np.flatnonzero(np.abs(self._highs.getSolution().row_dual) > TOLERANCE)

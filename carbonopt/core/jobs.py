"""The job table: one array a column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from carbonopt.core.arrays import IntArray, frozen_int
from carbonopt.core.errors import Fault, shown

if TYPE_CHECKING:
    import pandas as pd


HTML_ROWS = 10
"""Rows of a table that a notebook shows; the middle ones are left out."""


@dataclass(frozen=True, eq=False, repr=False)
class JobTable:
    """Jobs as a struct of arrays; problems add their own columns.

    Parameters
    ----------
    name
        Names of the N jobs, all different.
    """

    name: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", tuple(self.name))

    def __len__(self) -> int:
        return len(self.name)

    def __repr__(self) -> str:
        columns = ", ".join(key for key, column in self.columns() if column is not None)
        return f"{type(self).__name__}({len(self)} rows: {columns})"

    def _repr_html_(self) -> str:
        html: str = self.to_frame().to_html(max_rows=HTML_ROWS, notebook=True)
        return html

    def columns(self) -> Iterator[tuple[str, Any]]:
        """Yield each column that holds one entry a job, by name."""
        for field in fields(self):
            yield field.name, getattr(self, field.name)

    def to_frame(self) -> pd.DataFrame:
        """Return the table as a DataFrame, one row a job, columns of several parts as tuples."""
        import pandas as pd

        return pd.DataFrame(
            {
                key: list(map(tuple, column)) if np.ndim(column) > 1 else list(column)
                for key, column in self.columns()
                if column is not None
            }
        )

    def length_faults(self) -> list[Fault]:
        """Return a fault for each column whose length is not the number of jobs."""
        return [
            Fault(f"jobs.{key}", f"must have one entry for each of the {len(self)} jobs", f"{len(column)} entries")
            for key, column in self.columns()
            if column is not None and len(column) != len(self)
        ]


@dataclass(frozen=True, eq=False, repr=False)
class SlotJobTable(JobTable):
    """Jobs that arrive at the beginning of a slot.

    Parameters
    ----------
    arrival
        Release: the first slot in which each job may start, shape (N,).
    """

    arrival: IntArray

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "arrival", frozen_int(self.arrival, "jobs.arrival"))


def duplicate_faults(field: str, names: tuple[str, ...]) -> list[Fault]:
    """Return a fault for each name that stands in `names` before."""
    seen: dict[str, int] = {}
    faults = []
    for row, name in enumerate(names):
        first = seen.setdefault(name, row)
        if first != row:
            faults.append(Fault(field, f"is a duplicate of row {first}", shown(name), row))
    return faults

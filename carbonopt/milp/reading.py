"""How a program is read as one of an instance: its schedule, its bound, and whether anything was added to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from carbonopt.core.arrays import FloatArray
from carbonopt.core.options import Schedule

if TYPE_CHECKING:
    from carbonopt.milp.program import Program


@dataclass(frozen=True, eq=False)
class Reading:
    """What a program of an instance says of the instance.

    Parameters
    ----------
    schedule_of
        Returns the schedule that values of the columns stand for, and what the checker needs beside it; None where
        fractions of columns are no schedule.
    constant
        To be added to the program's objective.
    bound_error
        As `carbonopt.milp.highs.solve` takes it.
    bounds_instance
        Whether no schedule of the instance is better than the program's optimum.
    when_added_to
        Adds rows that the program's own optimum keeps by itself, and one with added rows may not.
    """

    schedule_of: Callable[[FloatArray], tuple[Schedule, dict[str, Any]]] | None = None
    constant: float = 0.0
    bound_error: tuple[int, float] = (0, 0.0)
    bounds_instance: bool = True
    when_added_to: Callable[[Program], None] | None = None


@dataclass(frozen=True)
class Origin:
    """The instance that `carbonopt.formulate` made a program of, and the program's size at that time."""

    instance_sha256: str
    columns: int
    rows: int
    nonzeros: int

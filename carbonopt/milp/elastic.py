"""Elastic rows: capacity that may be exceeded at a price, to find out what is missing."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from carbonopt.milp.block import Block
from carbonopt.milp.program import Program


def add_shortage(program: Program, rows: Block, unit: npt.ArrayLike = 1.0) -> Block:
    """Let each ``<=`` row of `rows` be exceeded at a price of 1 for each `unit`, and return the excess variables.

    With no other cost, the optimum is the least total shortage, in `unit` of each row: above 0 it
    proves that the rows cannot all hold. The excess variables are in `unit` too.
    """
    shortage = program.add_variables(f"shortage_{rows.name}", rows.shape, cost=1.0)
    program.add_entries(rows.index, shortage.index, -np.broadcast_to(unit, rows.shape))
    return shortage

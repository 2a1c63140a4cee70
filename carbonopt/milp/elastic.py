"""Elastic rows: capacity that may be exceeded at a price, to find out what is missing."""

from __future__ import annotations

from carbonopt.milp.program import Block, Program


def add_shortage(program: Program, rows: Block, price: float = 1.0) -> Block:
    """Let each ``<=`` row of `rows` be exceeded at `price` a unit, and return the excess variables.

    With no other cost, the optimum is the least total shortage: above 0 it proves that the rows
    cannot all hold.
    """
    shortage = program.add_variables(f"shortage_{rows.name}", rows.shape, cost=price)
    program.add_entries(rows.index, shortage.index, -1.0)
    return shortage

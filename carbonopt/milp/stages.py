"""Two-stage programs: some columns are decided now, the others in each scenario.

From a program  min c x,  A x <= b  and the cost c^s of its columns in each scenario s:

    now     x_k          columns of the first stage, one for all scenarios
    later   x_sk         the other columns, one in each scenario
    rows    A_r x <= b_r          once, where row r has entries of the first stage alone
    rows    A_r (x, x_s) <= b_r   in each scenario, where it has others; its name ends in ``_later``

and minimises the mean of c^s (x, x_s), or its CVaR_alpha by the rows of `carbonopt/milp/risk.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.milp.block import Block
from carbonopt.milp.program import Program
from carbonopt.milp.risk import add_tail


@dataclass(frozen=True, eq=False)
class StagedProgram:
    """The program, and where the columns of the first one went.

    Parameters
    ----------
    program
        Of both stages.
    column
        Position of each column of the first program in each scenario, shape (S, columns).
    """

    program: Program
    column: IntArray


def staged(
    base: Program, is_now: BoolArray, costs: FloatArray, probability: FloatArray, level: float | None
) -> StagedProgram:
    """Return the two-stage program of another one.

    Parameters
    ----------
    base
        To be minimised; its own costs are not used.
    is_now
        Which columns are decided now, shape (columns,).
    costs
        Of each column in each scenario, at least 0, shape (S, columns).
    probability
        Of each scenario, shape (S,).
    level
        alpha of the tail mean; None for the expectation.
    """
    count = len(costs)
    program = Program(base.name)
    program.names = base.names
    share = np.zeros((count, 1)) if level is not None else probability[:, None]
    column = _add_columns(program, base, is_now, share * costs)
    _add_rows(program, base, is_now, column)
    if level is not None:
        add_tail(program, column, costs, probability, level)
    return StagedProgram(program, column)


def _add_columns(program: Program, base: Program, is_now: BoolArray, costs: FloatArray) -> IntArray:
    """Add the columns of each block, and return their positions."""
    arrays = base.arrays()
    column = np.zeros(costs.shape, dtype=np.int64)
    for block in base.variables.values():
        here = np.arange(block.start, block.start + block.size)
        for name, part, is_first in (
            (block.name, here[is_now[block.slice]], True),
            (f"{block.name}_later", here[~is_now[block.slice]], False),
        ):
            own = costs[:, part].sum(axis=0) if is_first else costs[:, part].ravel()
            times = 1 if is_first else len(costs)
            at, axes = _named(block, part, times, is_first)
            made = program.add_variables(
                name,
                len(own),
                lower=np.tile(arrays.lower[part], times),
                upper=np.tile(arrays.upper[part], times),
                cost=own,
                integer=np.tile(arrays.integer[part], times),
                at=at,
                axes=axes,
            )
            column[:, part] = made.index if is_first else made.index.reshape(len(costs), -1)
    return column


def _add_rows(program: Program, base: Program, is_now: BoolArray, column: IntArray) -> None:
    """Add the rows of each block, with their entries."""
    arrays = base.arrays()
    count = len(column)
    of_column = np.repeat(np.arange(base.columns), np.diff(arrays.starts))
    is_once = np.ones(base.rows, dtype=np.bool_)
    is_once[arrays.rows[~is_now[of_column]]] = False
    position = np.zeros((count, base.rows), dtype=np.int64)
    for block in base.constraints.values():
        here = np.arange(block.start, block.start + block.size)
        for name, part, is_first in (
            (block.name, here[is_once[block.slice]], True),
            (f"{block.name}_later", here[~is_once[block.slice]], False),
        ):
            times = 1 if is_first else count
            at, axes = _named(block, part, times, is_first)
            made = program.add_rows(
                name,
                times * len(part),
                lower=np.tile(arrays.row_lower[part], times),
                upper=np.tile(arrays.row_upper[part], times),
                at=at,
                axes=axes,
            )
            position[:, part] = made.index.reshape(times, -1)
    once = is_once[arrays.rows]
    program.add_entries(position[0, arrays.rows[once]], column[0, of_column[once]], arrays.values[once])
    each = ~once
    program.add_entries(position[:, arrays.rows[each]], column[:, of_column[each]], arrays.values[each][None])


def _named(block: Block, part: IntArray, times: int, is_first: bool) -> tuple[tuple[IntArray, ...], tuple[str, ...]]:
    """Return indices and axes of some members of a block, with the scenario before them in the second stage."""
    members = block.members()
    at = [np.tile(indices[part - block.start], times) for indices in members.values()]
    axes = tuple(members)
    if not is_first:
        at.insert(0, np.repeat(np.arange(times), len(part)))
        axes = ("scenario", *axes)
    return tuple(at), axes

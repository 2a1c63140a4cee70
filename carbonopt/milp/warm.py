"""A linear program that is solved again and again, each time from where it last ended."""

from __future__ import annotations

from typing import Any, NamedTuple

import highspy
import numpy as np
import numpy.typing as npt

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.options import Options
from carbonopt.milp.first import new_highs
from carbonopt.milp.highs import pass_program
from carbonopt.milp.program import Program
from carbonopt.milp.run import PASS_STEPS
from carbonopt.milp.scaling import scaling_of

TOLERANCE = 1e-7
"""Of feasibility and optimality, after scaling: solutions are steps on the way."""
ITERATION_STEPS = 240.0
"""Loop steps of an iteration of the simplex method for each root of the entries, about: short runs begin often."""
COLUMN_STEPS = 180.0
"""Loop steps of a solve for each column, beside those of its iterations."""
BASIS_STEPS = 2000.0
"""Loop steps for each row of a solve that begins at a given basis: it is factorised, and edges are weighed anew."""
SHORT = 300
"""Iterations after which costs are perturbed: degenerate programs take half as many then. Shorter solves take more,
since the perturbation has to be taken back."""
TRIES = 2
"""How often a program is solved where HiGHS fails: the second time from nothing."""

_ENDED = (
    highspy.HighsModelStatus.kOptimal,
    highspy.HighsModelStatus.kInfeasible,
    highspy.HighsModelStatus.kObjectiveBound,
    highspy.HighsModelStatus.kTimeLimit,
    highspy.HighsModelStatus.kIterationLimit,
    highspy.HighsModelStatus.kInterrupt,
)


_STATUSES = tuple(map(highspy.HighsBasisStatus, range(5)))


BASIC = 1
AT_UPPER = 2
"""Two of HiGHS's statuses: of a row that does not bind, and of one that does."""
_DEVEX = 1
_CHOICE = -1
"""HiGHS's weights of edges: cheap ones for a few iterations, and its own choice."""


class Basis(NamedTuple):
    """Where a program ended: HiGHS's status of each column and of each row, as numbers."""

    columns: npt.NDArray[np.int8]
    rows: npt.NDArray[np.int8]


class Point(NamedTuple):
    """A solution of a linear program.

    Attributes
    ----------
    objective
        What it costs.
    values, row_dual
        Of all columns, and of all rows; shapes (columns,) and (rows,).
    """

    objective: float
    values: FloatArray
    row_dual: FloatArray


class WarmProgram:
    """A linear program to be minimised that gets columns, rows, and other bounds, and is solved after each change.

    Parameters
    ----------
    program
        Without integer columns, and with columns that begin at 0; it is copied.
    options
        Count the work.

    Attributes
    ----------
    columns, entries
        How many there are.
    """

    def __init__(self, program: Program, options: Options) -> None:
        arrays = program.arrays()
        scaling = scaling_of(arrays)
        self.cost_scale = scaling.cost
        self.row_scale = scaling.rows
        self.columns = program.columns
        self.entries = len(arrays.values)
        self._lower, self._upper = arrays.lower.copy(), arrays.upper.copy()
        highspy.Highs.resetGlobalScheduler(True)  # one with more threads, of an earlier solve, would refuse to run
        self._highs: Any = new_highs()
        settings = {
            "output_flag": False,
            "threads": 1,
            "presolve": "off",
            "solver": "simplex",
            "primal_feasibility_tolerance": TOLERANCE,
            "dual_feasibility_tolerance": TOLERANCE,
        }
        for name, value in settings.items():
            self._highs.setOptionValue(name, value)
        options.spend(PASS_STEPS * self.entries)
        pass_program(self._highs, program, arrays, scaling)

    def add_columns(
        self,
        cost: FloatArray,
        upper: FloatArray,
        begin: IntArray,
        rows: IntArray,
        values: FloatArray,
        options: Options,
    ) -> None:
        """Add columns from 0 to `upper`; the entries of the k-th are those from ``begin[k]`` to ``begin[k + 1]``."""
        count = len(cost)
        self._highs.addCols(
            count,
            cost * self.cost_scale,
            np.zeros(count),
            upper,
            len(rows),
            begin[:-1].astype(np.int32),
            rows.astype(np.int32),
            values * self.row_scale[rows],
        )
        self.columns += count
        self._lower = np.concatenate([self._lower, np.zeros(count)])
        self._upper = np.concatenate([self._upper, upper])
        self.entries += len(rows)
        options.spend(PASS_STEPS * len(rows))

    def add_rows(
        self, upper: FloatArray, begin: IntArray, columns: IntArray, values: FloatArray, options: Options
    ) -> None:
        """Add rows of at most `upper`; the entries of the k-th are those from ``begin[k]`` to ``begin[k + 1]``."""
        count = len(upper)
        self._highs.addRows(
            count,
            np.full(count, -np.inf),
            upper,
            len(columns),
            begin[:-1].astype(np.int32),
            columns.astype(np.int32),
            values,
        )
        self.row_scale = np.concatenate([self.row_scale, np.ones(count)])
        self.entries += len(columns)
        options.spend(PASS_STEPS * len(columns))

    def delete_rows(self, rows: IntArray) -> None:
        """Delete rows; later ones move up. The next solve must begin at a given basis."""
        self._highs.deleteRows(len(rows), rows.astype(np.int32))
        self.row_scale = np.delete(self.row_scale, rows)
        self.entries = int(self._highs.getNumNz())

    def basis(self) -> Basis:
        """Return where the last solve ended."""
        basis = self._highs.getBasis()
        return Basis(*(np.array(list(map(int, part)), np.int8) for part in (basis.col_status, basis.row_status)))

    def begin_at(self, basis: Basis, options: Options) -> None:
        """Begin the next solve where another one ended, with newer columns at 0 and newer rows not binding."""
        full = highspy.HighsBasis()
        columns, rows = ([_STATUSES[k] for k in part.tolist()] for part in basis)
        full.col_status = columns + [highspy.HighsBasisStatus.kLower] * (self.columns - len(columns))
        full.row_status = rows + [highspy.HighsBasisStatus.kBasic] * (self.rows - len(rows))
        full.valid = True
        self._highs.setBasis(full)
        options.spend(BASIS_STEPS * self.rows)

    def set_bounds(self, upper: FloatArray, lower: FloatArray | float = 0.0) -> None:
        """Set the bounds of all columns."""
        lower = np.broadcast_to(lower, upper.shape)
        changed = np.flatnonzero((lower != self._lower) | (upper != self._upper))
        self._lower[changed], self._upper[changed] = lower[changed], upper[changed]
        self._highs.changeColsBounds(len(changed), changed.astype(np.int32), self._lower[changed], self._upper[changed])

    def set_cost(self, columns: IntArray, cost: FloatArray) -> None:
        """Set what some columns cost."""
        self._highs.changeColsCost(len(columns), columns.astype(np.int32), cost * self.cost_scale)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.row_scale)

    def solve(self, options: Options, most: float = np.inf) -> Point | None:
        """Return the best solution; None where there is none of at most `most`, and where time or work is out."""
        highs = self._highs
        objective = self._run(options, most, np.inf)
        if highs.getModelStatus() == highspy.HighsModelStatus.kIterationLimit:
            options.spend(max(0.0, options.steps_left))
        if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal or objective > most:
            return None
        solution = highs.getSolution()
        row_dual = np.array(solution.row_dual) * self.row_scale / self.cost_scale
        return Point(objective, np.array(solution.col_value), row_dual)

    def bound_after(self, most_iterations: int, options: Options) -> float:
        """Return what some iterations of the dual simplex method prove; infinite where there is no solution."""
        self._highs.setOptionValue("simplex_dual_edge_weight_strategy", _DEVEX)  # exact ones take longer to begin
        objective = self._run(options, np.inf, most_iterations)
        self._highs.setOptionValue("simplex_dual_edge_weight_strategy", _CHOICE)
        return np.inf if self._highs.getModelStatus() == highspy.HighsModelStatus.kInfeasible else objective

    def _run(self, options: Options, most: float, most_iterations: float) -> float:
        """Run HiGHS until its objective is above `most`, or iterations, time, or work are out; return its objective."""
        highs = self._highs
        highs.setOptionValue("objective_bound", most * self.cost_scale)
        highs.setOptionValue("time_limit", highs.getRunTime() + max(options.seconds_left, 1e-3))  # of all runs
        iteration_steps = ITERATION_STEPS * float(np.sqrt(self.entries))
        left = int(min(options.steps_left / iteration_steps, most_iterations, 2.0**31 - 1))
        options.spend(COLUMN_STEPS * self.columns)
        done = self._iterate(min(left, SHORT), 0.0)
        options.spend(done * iteration_steps)
        if highs.getModelStatus() == highspy.HighsModelStatus.kIterationLimit and done < left:
            options.spend(self._iterate(left - done, 1.0) * iteration_steps)
        return float(highs.getInfo().objective_function_value) / self.cost_scale

    def _iterate(self, most: int, perturbation: float) -> int:
        """Let HiGHS do at most so many iterations, with costs perturbed by so much; return how many it has done."""
        highs = self._highs
        highs.setOptionValue("dual_simplex_cost_perturbation_multiplier", perturbation)
        done = 0
        for _ in range(TRIES):
            highs.setOptionValue("simplex_iteration_limit", most - done)
            highs.run()
            done += max(int(highs.getInfo().simplex_iteration_count), 0)
            if highs.getModelStatus() in _ENDED:
                break
            highs.clearSolver()
        return done

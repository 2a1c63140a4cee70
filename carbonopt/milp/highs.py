"""HiGHS: programs in as arrays, honest statuses out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import highspy
import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.errors import CarbonoptError
from carbonopt.core.interrupt import is_asked
from carbonopt.core.options import Options
from carbonopt.core.status import Status
from carbonopt.milp.first import new_highs
from carbonopt.milp.program import Arrays, Program
from carbonopt.milp.run import PASS_STEPS, Judged, Run
from carbonopt.milp.scaling import Scaling, scaling_of

HIGHS_SEEDS = 2**31
"""HiGHS takes seeds below; larger ones begin again at 0."""
TOLERANCE = 1e-9
"""Of feasibility, optimality and integrality, after scaling; HiGHS takes 1e-10 at the least."""
LOOSE_TOLERANCE = 1e-7
"""Of feasibility at an interior point that is only a step on the way."""

_STATUS = {
    highspy.HighsModelStatus.kOptimal: Status.OPTIMAL,
    highspy.HighsModelStatus.kInfeasible: Status.INFEASIBLE,
    highspy.HighsModelStatus.kTimeLimit: Status.TIME_LIMIT,
    highspy.HighsModelStatus.kIterationLimit: Status.TIME_LIMIT,
    highspy.HighsModelStatus.kSolutionLimit: Status.TIME_LIMIT,  # of nodes
    highspy.HighsModelStatus.kInterrupt: Status.TIME_LIMIT,  # unless the user asked for it
}


class Basis(NamedTuple):
    """Where a linear program ended: HiGHS's status of each column and of each row."""

    columns: list[Any]
    rows: list[Any]

    def with_rows(self, rows: int) -> Basis:
        """Return where to begin with a program that has more rows behind these, `rows` in all."""
        return Basis(self.columns, self.rows + [highspy.HighsBasisStatus.kBasic] * (rows - len(self.rows)))


@dataclass(frozen=True, eq=False)
class Result:
    """What HiGHS says of a program.

    Parameters
    ----------
    status
        Why it stopped; ``time_limit`` and ``interrupted`` may come with or without `values`.
    values
        Of the columns; None where HiGHS has no feasible point (its arrays are then not valid).
    objective
        Of `values`, as HiGHS computes it.
    bound
        Dual bound of the tree, or the LP's optimum; None where there is none.
    row_dual
        Change of the objective per unit of each row's right-hand side; LPs only.
    info
        Nodes and iterations; of a MILP ``root_bound``, the bound before it branched, or None if HiGHS told none.
    best
        The schedule of least objective among those that `judge` made of what HiGHS found on its way; None if none is
        feasible, and without `judge`.
    basis
        Where an LP ended at a vertex; None where it did not.
    """

    status: Status
    values: FloatArray | None = None
    objective: float | None = None
    bound: float | None = None
    row_dual: FloatArray | None = None
    info: dict[str, Any] = field(default_factory=dict)
    best: Judged | None = None
    basis: Basis | None = None


def solve(
    program: Program,
    options: Options,
    start: FloatArray | None = None,
    schedule_of: Callable[[FloatArray], Any] | None = None,
    lp_solver: str = "choose",
    typical_cost: float | None = None,
    bound_error: tuple[int, float] = (0, 0.0),
    interior_tolerance: float | None = None,
    tolerance: float = TOLERANCE,
    root_only: bool = False,
    judge: Callable[[FloatArray], Judged] | None = None,
    basis: Basis | None = None,
) -> Result:
    """Solve a program with HiGHS.

    Parameters
    ----------
    program
        An LP if no column is integer, else a MILP.
    options
        The time limit counts from ``options.started``, as does the work. Ctrl-C ends the solve with the incumbent.
    start
        Values of all columns to start a MILP from.
    schedule_of
        Turns column values into what progress reports hand out as the incumbent.
    lp_solver
        HiGHS's option ``solver`` for LPs, e.g. ``simplex`` or ``ipm``.
    typical_cost
        Size of the costs that the optimum is made of, where the largest cost says little about it.
    bound_error
        How many columns can be at 1 together, and by how much the costs of a point may be wrong in
        all. The tree's bound is weakened by the solver's tolerance for each of the columns, and by
        the latter: reduced costs may be wrong by that much.
    interior_tolerance
        Of an LP that is a step on the way: stop the interior point at this relative gap, without a
        crossover to a vertex. Values and duals are then good to about this tolerance only.
    tolerance
        Of feasibility and optimality. A larger one is for steps on the way as well: a vertex that misses it counts
        as no point at all.
    root_only
        Of a MILP: stop where it would branch, and look for no feasible points: for the bound that cuts give.
    judge
        Makes a schedule of column values and says what it costs, where the program's value is only a bound of that.
        Progress then tells the best of these schedules.
    basis
        Of an LP: where to begin.

    Returns
    -------
    Result
        Values and bound in the program's own sense.
    """
    for warning in program.range_warnings():
        warnings.warn(warning, stacklevel=2)
    arrays = program.arrays()
    is_mip = bool(arrays.integer.any())
    scaling = scaling_of(arrays, typical_cost)
    highs = _configured(
        options, lp_solver if not is_mip else "choose", scaling.cost, tolerance, interior_tolerance, root_only
    )
    if options.steps_left < PASS_STEPS * len(arrays.values):
        options.spend(options.steps_left)
        return Result(Status.TIME_LIMIT, info={"highs_status": "not begun: more work than is left"})
    pass_program(highs, program, arrays, scaling)
    if start is not None and is_mip:
        solution = highspy.HighsSolution()
        solution.col_value = np.asarray(start, dtype=np.float64)
        highs.setSolution(solution)
    if basis is not None and not is_mip:
        begin = highspy.HighsBasis()
        begin.col_status, begin.row_status = basis
        begin.valid = True
        highs.setBasis(begin)
    slack = 2 * TOLERANCE / scaling.cost * bound_error[0] + bound_error[1]
    slack = -slack if program.sense == "min" else slack
    highs.setOptionValue("time_limit", max(options.seconds_left, 1e-3))
    run = Run(highs, options, schedule_of if is_mip else None, scaling.cost, slack, len(arrays.values), judge)
    if scaling.cost != 1 and options.verbose:
        print(_scale_line(scaling.cost), flush=True)
    run.to_the_end()
    if run.is_left_behind:
        return _reported(run)
    if options.log_file is not None:
        _end_log(options.log_file, scaling.cost)
    result = replace(_result(highs, program, scaling, is_mip, run.stopped_by_user), best=run.best)
    if result.bound is None:
        return result
    bound = result.bound + slack
    info = dict(result.info)
    if is_mip:
        info["root_bound"] = bound if info["nodes"] <= 1 else run.root_bound
    return replace(result, bound=bound, info=info)


def farkas_multipliers(program: Program, options: Options) -> FloatArray | None:
    """Return multipliers of the rows whose sum no point of the relaxation satisfies (Farkas' lemma), shape (rows,).

    Those of ``<=`` rows are at most 0, those of ``>=`` rows at least 0. None where the relaxation has points, so that
    only the tree shows that the program has none, and where the time ran out.
    """
    whole = program.arrays()
    arrays = replace(whole, cost=np.zeros_like(whole.cost), integer=np.zeros_like(whole.integer))
    scaling = scaling_of(arrays)
    highs = _configured(options, "simplex", 1.0, TOLERANCE, None, root_only=False)
    highs.setOptionValue("presolve", "off")  # it finds out without multipliers
    highs.setOptionValue("time_limit", max(options.seconds_left, 1e-3))
    if options.steps_left < PASS_STEPS * len(arrays.values):
        return None
    pass_program(highs, program, arrays, scaling)
    run = Run(highs, replace(options, callback=None), None, 1.0, 0.0, len(arrays.values))
    run.to_the_end()
    if run.is_left_behind or highs.getModelStatus() != highspy.HighsModelStatus.kInfeasible:
        return None
    _, exists, multipliers = highs.getDualRay()
    return np.array(multipliers) * scaling.rows if exists else None


def _configured(
    options: Options,
    lp_solver: str,
    factor: float,
    tolerance: float,
    interior_tolerance: float | None,
    root_only: bool,
) -> Any:
    highspy.Highs.resetGlobalScheduler(True)  # else a second solve keeps the first one's threads
    highs = new_highs()
    settings: dict[str, Any] = {
        "output_flag": options.verbose or options.log_file is not None,
        "log_to_console": options.verbose,
        "mip_rel_gap": options.mip_rel_gap,
        "mip_abs_gap": options.mip_abs_gap * factor,
        "random_seed": options.seed % HIGHS_SEEDS,
        "solver": lp_solver,
        "primal_feasibility_tolerance": tolerance,
        "dual_feasibility_tolerance": tolerance,
        "mip_feasibility_tolerance": tolerance,
        "mip_allow_restart": False,  # at tolerances this tight, restarts of 1.15.1 have cut off optima, and crashed
    }
    if interior_tolerance is not None:
        loose = max(interior_tolerance, LOOSE_TOLERANCE)
        settings |= {
            "run_crossover": "off",
            "ipm_optimality_tolerance": interior_tolerance,
            "primal_feasibility_tolerance": loose,
            "dual_feasibility_tolerance": loose,
        }
    if root_only:
        settings |= {"mip_max_nodes": 1, "mip_heuristic_effort": 0.0}
    if options.work_limit is not None:
        settings["threads"] = 1
    elif options.threads is not None:
        settings["threads"] = min(options.threads, os.cpu_count() or 1)  # more would wait for each other
    if options.log_file is not None:
        settings["log_file"] = os.fspath(options.log_file)
    for name, value in (settings | dict(options.solver_options)).items():
        if highs.setOptionValue(name, value) == highspy.HighsStatus.kError:
            raise CarbonoptError(f"HiGHS refuses {name} = {value!r}")
    return highs


def _end_log(path: str | os.PathLike[str], factor: float) -> None:
    """Write the last line of the log; HiGHS does not say that it could not write, this does."""
    try:
        with Path(path).open("a", encoding="utf-8") as log:
            log.write(f"{_scale_line(factor) if factor != 1 else ''}\n")
    except OSError as error:  # the answer is worth more than its log
        warnings.warn(f"{path}: the log cannot be kept: {error.strerror}", stacklevel=3)


def _scale_line(factor: float) -> str:
    return f"carbonopt: this log shows {factor:.0f} times the objective and the bound"


def pass_program(highs: Any, program: Program, arrays: Arrays, scaling: Scaling) -> None:
    """Hand a program to a solver, its costs and rows times the factors of `scaling`."""
    sense = highspy.ObjSense.kMinimize if program.sense == "min" else highspy.ObjSense.kMaximize
    status = highs.passModel(
        program.columns,
        program.rows,
        len(arrays.values),
        int(highspy.MatrixFormat.kColwise),
        int(sense),
        0.0,
        arrays.cost * scaling.cost,
        arrays.lower,
        arrays.upper,
        arrays.row_lower * scaling.rows,
        arrays.row_upper * scaling.rows,
        arrays.starts,
        arrays.rows,
        arrays.values * scaling.rows[arrays.rows],
        arrays.integer.astype(np.int32),
    )
    if status == highspy.HighsStatus.kError:
        raise CarbonoptError(f"HiGHS refuses the program {program.name}")


def _result(highs: Any, program: Program, scaling: Scaling, is_mip: bool, stopped_by_user: bool) -> Result:
    model_status = highs.getModelStatus()
    info = highs.getInfo()
    solution = highs.getSolution()
    if program.columns == 0:  # HiGHS calls it empty, and does not look at the rows
        return _without_columns(program)
    factor = scaling.cost
    status = _STATUS.get(model_status, Status.ERROR)
    if stopped_by_user or is_asked():  # also where HiGHS has ended well in that moment: what comes next is not wanted
        status = Status.INTERRUPTED
    feasible = info.primal_solution_status == int(highspy.SolutionStatus.kSolutionStatusFeasible)
    has_values = bool(solution.value_valid) and feasible
    notes = {
        "highs_status": highs.modelStatusToString(model_status),
        "simplex_iterations": max(int(info.simplex_iteration_count), 0),
        "ipm_iterations": max(int(info.ipm_iteration_count), 0),
    }
    if is_mip:
        notes["nodes"] = max(int(info.mip_node_count), 0)
        bound: float | None = float(info.mip_dual_bound) / factor
    else:
        is_optimal = model_status == highspy.HighsModelStatus.kOptimal
        bound = float(info.objective_function_value) / factor if is_optimal else None
    if (bound is not None and not np.isfinite(bound)) or status in (Status.INFEASIBLE, Status.ERROR):
        bound = None
    return Result(
        status=status,
        values=np.array(solution.col_value) if has_values else None,
        objective=float(info.objective_function_value) / factor if has_values else None,
        bound=bound,
        row_dual=np.array(solution.row_dual) * scaling.rows / factor if solution.dual_valid and not is_mip else None,
        info=notes,
        basis=_basis_of(highs) if model_status == highspy.HighsModelStatus.kOptimal and not is_mip else None,
    )


def _basis_of(highs: Any) -> Basis | None:
    basis = highs.getBasis()
    return Basis(list(basis.col_status), list(basis.row_status)) if basis.valid else None


def _reported(run: Run) -> Result:
    """Return what HiGHS reported before it was left behind."""
    return Result(
        status=Status.INTERRUPTED if run.stopped_by_user or is_asked() else Status.TIME_LIMIT,
        values=run.incumbent,
        objective=run.state["incumbent"],
        bound=run.state["bound"],
        best=run.best,
        info={"highs_status": "left behind: it did not stop at the limit"},
    )


def _without_columns(program: Program) -> Result:
    arrays = program.arrays()
    if ((arrays.row_lower > 0) | (arrays.row_upper < 0)).any():
        return Result(Status.INFEASIBLE)
    return Result(Status.OPTIMAL, np.zeros(0), 0.0, 0.0, np.zeros(program.rows))


def version() -> str:
    """Return the version of HiGHS."""
    return str(new_highs().version())

"""HiGHS: programs in as arrays, honest statuses out. The only import of highspy."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import highspy
import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.errors import CarbonoptError
from carbonopt.core.options import Options
from carbonopt.core.status import Status
from carbonopt.milp.program import Program

POLL_SECONDS = 0.1

_STATUS = {
    highspy.HighsModelStatus.kOptimal: Status.OPTIMAL,
    highspy.HighsModelStatus.kInfeasible: Status.INFEASIBLE,
    highspy.HighsModelStatus.kTimeLimit: Status.TIME_LIMIT,
    highspy.HighsModelStatus.kIterationLimit: Status.TIME_LIMIT,
    highspy.HighsModelStatus.kInterrupt: Status.INTERRUPTED,
}


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
        Nodes and iterations.
    """

    status: Status
    values: FloatArray | None = None
    objective: float | None = None
    bound: float | None = None
    row_dual: FloatArray | None = None
    info: dict[str, Any] = field(default_factory=dict)


def solve(
    program: Program,
    options: Options,
    start: FloatArray | None = None,
    schedule_of: Callable[[FloatArray], Any] | None = None,
    lp_solver: str = "choose",
) -> Result:
    """Solve a program with HiGHS.

    Parameters
    ----------
    program
        An LP if no column is integer, else a MILP.
    options
        The time limit counts from ``options.started``. Ctrl-C ends the solve with the incumbent.
    start
        Values of all columns to start a MILP from.
    schedule_of
        Turns column values into what progress reports hand out as the incumbent.
    lp_solver
        HiGHS's option ``solver`` for LPs, e.g. ``simplex`` or ``ipm``.

    Returns
    -------
    Result
        Values and bound in the program's own sense.
    """
    for warning in program.range_warnings():
        warnings.warn(warning, stacklevel=2)
    arrays = program.arrays()
    is_mip = bool(arrays.integer.any())
    factor = _cost_factor(arrays.cost)
    highs = _configured(options, lp_solver if not is_mip else "choose", factor)
    _pass(highs, program, factor)
    if start is not None and is_mip:
        solution = highspy.HighsSolution()
        solution.col_value = np.asarray(start, dtype=np.float64)
        highs.setSolution(solution)
    run = _Run(highs, options, schedule_of if is_mip else None, factor)
    run.to_the_end()
    return _result(highs, is_mip, run.stopped_by_user, factor)


def _cost_factor(cost: FloatArray) -> float:
    """Return the power of 2 that brings the largest cost to 1 or above, 1 if it is there already.

    Tolerances are absolute (1e-7): with costs of the order 1e-5, as Caspian's Z1 has, the LP optimum
    came out 6e-6 too low.
    """
    largest = float(np.abs(cost).max(initial=0.0))
    return float(2.0 ** -np.floor(np.log2(largest))) if 0 < largest < 1 else 1.0


def _configured(options: Options, lp_solver: str, factor: float) -> Any:
    highspy.Highs.resetGlobalScheduler(True)  # else a second solve keeps the first one's threads
    highs = highspy.Highs()
    settings: dict[str, Any] = {
        "output_flag": options.verbose or options.log_file is not None,
        "log_to_console": options.verbose,
        "mip_rel_gap": options.mip_rel_gap,
        "mip_abs_gap": options.mip_abs_gap * factor,
        "random_seed": options.seed,
        "solver": lp_solver,
        "time_limit": max(options.remaining, 1e-3),
    }
    if options.threads is not None:
        settings["threads"] = options.threads
    if options.log_file is not None:
        settings["log_file"] = os.fspath(options.log_file)
    for name, value in settings.items():
        if highs.setOptionValue(name, value) == highspy.HighsStatus.kError:
            raise CarbonoptError(f"HiGHS refuses {name} = {value!r}")
    return highs


def _pass(highs: Any, program: Program, factor: float = 1.0) -> None:
    arrays = program.arrays()
    sense = highspy.ObjSense.kMinimize if program.sense == "min" else highspy.ObjSense.kMaximize
    status = highs.passModel(
        program.columns,
        program.rows,
        len(arrays.values),
        int(highspy.MatrixFormat.kColwise),
        int(sense),
        0.0,
        arrays.cost * factor,
        arrays.lower,
        arrays.upper,
        arrays.row_lower,
        arrays.row_upper,
        arrays.starts,
        arrays.rows,
        arrays.values,
        arrays.integer.astype(np.int32),
    )
    if status == highspy.HighsStatus.kError:
        raise CarbonoptError(f"HiGHS refuses the program {program.name}")


class _Run:
    """One run in a thread of its own, so that Ctrl-C and progress reach the calling thread."""

    def __init__(
        self, highs: Any, options: Options, schedule_of: Callable[[FloatArray], Any] | None, factor: float
    ) -> None:
        self.highs = highs
        self.options = options
        self.schedule_of = schedule_of
        self.factor = factor
        self.stopped_by_user = False
        self.failure: BaseException | None = None
        self.incumbent: FloatArray | None = None
        self.state: dict[str, float | None] = {"objective": None, "bound": None}
        self.finished = threading.Event()

    def to_the_end(self) -> None:
        callbacks = (self.highs.cbMipInterrupt, self.highs.cbSimplexInterrupt, self.highs.cbIpmInterrupt)
        for callback in callbacks:
            callback += self._on_interrupt_check
        if self.schedule_of is not None:
            self.highs.cbMipImprovingSolution += self._on_improvement
        thread = threading.Thread(target=self._work, daemon=True)
        thread.start()
        while not self.finished.is_set():
            try:
                self.finished.wait(POLL_SECONDS)
                self._poll()
            except KeyboardInterrupt:  # the first asks the solver to stop: what it has is still wanted
                if self.stopped_by_user:
                    raise
                self.stopped_by_user = True
        thread.join()
        if self.failure is not None:
            raise self.failure

    def _work(self) -> None:
        try:
            self.highs.run()
        except BaseException as error:  # reaches the caller in to_the_end
            self.failure = error
        finally:
            self.finished.set()

    def _poll(self) -> None:
        if self.options.callback is None:
            return
        values, self.incumbent = self.incumbent, None
        make = None
        if values is not None and self.schedule_of is not None:
            make = _bind(self.schedule_of, values)
        self.options.report(**self.state, incumbent=make)

    def _on_interrupt_check(self, event: Any) -> None:
        if self.stopped_by_user:
            event.data_in.user_interrupt = True
        bound = event.data_out.mip_dual_bound
        if bound and np.isfinite(bound):
            self.state["bound"] = float(bound) / self.factor

    def _on_improvement(self, event: Any) -> None:
        self.incumbent = np.array(event.data_out.mip_solution, dtype=np.float64)
        self.state["objective"] = float(event.data_out.objective_function_value) / self.factor


def _bind(function: Callable[[FloatArray], Any], values: FloatArray) -> Callable[[], Any]:
    return lambda: function(values)


def _result(highs: Any, is_mip: bool, stopped_by_user: bool, factor: float) -> Result:
    model_status, info, solution = highs.getModelStatus(), highs.getInfo(), highs.getSolution()
    if model_status == highspy.HighsModelStatus.kModelEmpty:
        return Result(Status.OPTIMAL, np.zeros(0), 0.0, 0.0, np.zeros(highs.getNumRow()))
    status = _STATUS.get(model_status, Status.ERROR)
    if stopped_by_user and status is not Status.OPTIMAL:
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
        bound = float(info.objective_function_value) / factor if status is Status.OPTIMAL else None
    if (bound is not None and not np.isfinite(bound)) or status in (Status.INFEASIBLE, Status.ERROR):
        bound = None
    return Result(
        status=status,
        values=np.array(solution.col_value) if has_values else None,
        objective=float(info.objective_function_value) / factor if has_values else None,
        bound=bound,
        row_dual=np.array(solution.row_dual) / factor if solution.dual_valid and not is_mip else None,
        info=notes,
    )


def export(program: Program, path: str | os.PathLike[str]) -> None:
    """Write a program as LP or MPS (told by the suffix), with the names of blocks and members."""
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    _pass(highs, program)
    for block in program.variables.values():
        for position, label in enumerate(block.labels(), start=block.start):
            highs.passColName(position, label)
    for block in program.constraints.values():
        for position, label in enumerate(block.labels(), start=block.start):
            highs.passRowName(position, label)
    if highs.writeModel(os.fspath(path)) == highspy.HighsStatus.kError:
        raise CarbonoptError(f"{path}: HiGHS could not write the program")


def version() -> str:
    """Return the version of HiGHS."""
    return str(highspy.Highs().version())

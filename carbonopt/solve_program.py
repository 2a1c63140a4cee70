"""`solve_program`: a program with rows of one's own, solved, and its schedule checked."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray
from carbonopt.core.errors import CarbonoptError, Fault, InputError, UnsupportedError
from carbonopt.core.files import replace_file, require_log
from carbonopt.core.instance import Instance
from carbonopt.core.options import Options, Progress, Schedule, TimeLimit, seconds_of
from carbonopt.core.solution import Outcome, Solution
from carbonopt.core.status import Status
from carbonopt.judge import Run, judged

if TYPE_CHECKING:
    import pandas as pd

    from carbonopt.milp.block import Block
    from carbonopt.milp.highs import Result
    from carbonopt.milp.program import Program
    from carbonopt.milp.reading import Reading

ROW_TOLERANCE = 1e-6
"""By how much rows may be missed, relative to their side: what programs commonly allow a solver."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ProgramSolution(Solution):
    """A checked solution, and the values of the program that it comes from.

    Parameters
    ----------
    program
        That was solved.
    program_status
        What the solver says of the program with all its rows.
    program_objective, program_bound
        Of the program; a bound with own rows is none of the instance.
    values
        Of the columns, shape (columns,); None where there are none.
    row_dual
        Change of the program's objective per unit of each row's side, shape (rows,); None of a program with integers.
    """

    program: Program
    program_status: Status
    program_objective: float | None
    program_bound: float | None
    values: FloatArray | None
    row_dual: FloatArray | None

    @property
    def schedule(self) -> pd.DataFrame:
        """The schedule, one row a decision.

        Raises
        ------
        ValueError
            If there is none; it says how the program ended.
        """
        if self.columns is None and self.program_status is not self.status:
            rows = f"the program of {self.instance}, with all that was added to it,"
            raise ValueError(f"{rows} ended {self.program_status}, without a schedule")
        return super().schedule

    def block(self, name: str) -> pd.DataFrame:
        """Return a block of variables or rows, one member a row.

        Parameters
        ----------
        name
            Of the block.

        Returns
        -------
        DataFrame
            What each member is of, e.g. ``cluster``, ``resource`` and ``slot``. Of variables then ``value``, ``lower``,
            ``upper`` and ``cost``. Of rows ``activity``, ``lower``, ``upper``, ``slack`` (to the nearer side) and
            ``dual`` (NaN of a program with integers).

        Raises
        ------
        UnsupportedError
            If there is no such block, or the solver found no values.
        """
        import pandas as pd

        block = self.program.block(name)
        if self.values is None:
            raise UnsupportedError(f"the program of {self.instance} has no values: it ended {self.program_status}")
        numbers = self._rows(block) if name in self.program.constraints else self._variables(block)
        return pd.DataFrame(self.program.names.members(block) | numbers)

    def _variables(self, block: Block) -> dict[str, Any]:
        assert self.values is not None
        arrays = self.program.arrays()
        parts = {"value": self.values, "lower": arrays.lower, "upper": arrays.upper, "cost": arrays.cost}
        return {name: part[block.slice] for name, part in parts.items()}

    def _rows(self, block: Block) -> dict[str, Any]:
        assert self.values is not None
        arrays = self.program.arrays()
        activity = self.program.activity(self.values)[block.slice]
        lower = arrays.row_lower[block.slice]
        upper = arrays.row_upper[block.slice]
        dual = np.full(block.size, np.nan) if self.row_dual is None else self.row_dual[block.slice]
        slack = np.minimum(activity - lower, upper - activity)
        return {"activity": activity, "lower": lower, "upper": upper, "slack": slack, "dual": dual}

    def to_sol(self, path: str | os.PathLike[str]) -> None:
        """Write the columns that are not 0 as a ``.sol`` file, with the names of `Program.to_mps` and `to_lp`.

        The first line is ``=obj=`` and the objective; each other line has a name and a value.

        Raises
        ------
        UnsupportedError
            If the name does not end in ``.sol``, or there are no values.
        """
        if not str(path).endswith(".sol"):
            raise UnsupportedError(f"{path}: the name must end in .sol")
        if self.values is None:
            raise UnsupportedError(f"the program of {self.instance} has no values: it ended {self.program_status}")
        lines = [f"=obj= {float(self.program.arrays().cost @ self.values)!r}"]
        for block in self.program.variables.values():
            part = self.values[block.slice]
            labels = self.program.names.labels(block)
            lines += [f"{labels[place]} {float(part[place])!r}" for place in np.flatnonzero(part)]
        text = "\n".join(lines) + "\n"

        def write(part: Path) -> None:
            part.write_text(text, encoding="ascii")

        replace_file(path, write)


def solve_program(
    program: Program,
    instance: Instance,
    *,
    time_limit: TimeLimit = "auto",
    work_limit: float | None = None,
    mip_rel_gap: float = 1e-4,
    mip_abs_gap: float = 0.0,
    seed: int = 0,
    threads: int | None = None,
    verbose: bool = False,
    log_file: str | os.PathLike[str] | None = None,
    callback: Callable[[Progress], None] | None = None,
    solver_options: Mapping[str, Any] | None = None,
) -> ProgramSolution:
    """Solve a program of `formulate`, with rows and variables that were added to it, and check its schedule.

    Parameters
    ----------
    program
        From ``formulate(instance)``; ``formulate(instance, "lp")`` gives duals, and mostly no schedule.
    instance
        That the program was made of.
    time_limit, work_limit, mip_rel_gap, mip_abs_gap, seed, threads, verbose, log_file, callback, solver_options
        As in `solve`.

    Returns
    -------
    ProgramSolution
        Objective and metrics are the checker's. If anything was added to the program, the solution has no bound, and
        its status is at best ``feasible``: what the program proves holds with the added rows only. That stands in
        `program_status` and `program_bound`.

    Raises
    ------
    InputError
        If the schedule violates a constraint of the instance: what was added loosens the program's own rows.
    UnsupportedError
        If the program is not of this instance, or an option is out of range.
    """
    from carbonopt.milp import highs
    from carbonopt.milp.solver_options import checked_options

    reading = _reading(program, instance)
    program.complete()
    if log_file is not None:
        require_log(log_file)
    options = Options(
        seconds_of(time_limit, work_limit),
        mip_rel_gap,
        mip_abs_gap,
        seed,
        threads,
        verbose,
        log_file,
        callback=callback,
        work_limit=work_limit,
        solver_options=checked_options(solver_options or {}),
    )
    schedule_of = reading.schedule_of
    result = highs.solve(
        program,
        options,
        schedule_of=None if schedule_of is None else lambda values: schedule_of(values)[0],
        bound_error=reading.bound_error,
    )
    values = (
        None if result.values is None else np.where(program.arrays().integer, np.round(result.values), result.values)
    )
    if values is not None:
        _require_rows(program, values)
    outcome = _outcome(program, reading, result, values)
    run = Run("program", options.to_dict(), options.seconds, mip_rel_gap, mip_abs_gap, options.work.units)
    solution = judged(instance, outcome, run)
    if "violations" in solution.info:
        raise InputError(Fault("", f"the program's schedule: {line}") for line in solution.info["violations"])
    return ProgramSolution(
        **{part.name: getattr(solution, part.name) for part in fields(Solution)},
        program=program,
        program_status=result.status,
        program_objective=_plus(result.objective, reading.constant),
        program_bound=_plus(result.bound, reading.constant),
        values=values,
        row_dual=result.row_dual,
    )


def _reading(program: Program, instance: Instance) -> Reading:
    """Return how the program is read, after a look at whether it is the instance's."""
    if program.origin is None or program.reading is None:
        raise UnsupportedError(f"the program {program.name} does not come from formulate(instance)")
    if program.origin.instance_sha256 != instance.sha256:
        raise UnsupportedError(f"the program {program.name} was made of another instance than {instance.name}")
    return program.reading


def _require_rows(program: Program, values: FloatArray) -> None:
    """Refuse values that miss a row, once the integers among them are whole.

    Raises
    ------
    CarbonoptError
        It names the first block that is missed.
    """
    missed = _missed(program, values)
    for block in program.constraints.values():
        if missed[block.slice].any():
            words = f"row block {block.name!r} does not hold once the integers are whole"
            raise CarbonoptError(f"{program.name}: {words}: bring its coefficients nearer to 1")


def _missed(program: Program, values: FloatArray) -> BoolArray:
    arrays = program.arrays()
    activity = program.activity(values)
    low = arrays.row_lower - ROW_TOLERANCE * np.maximum(1.0, np.abs(arrays.row_lower))
    high = arrays.row_upper + ROW_TOLERANCE * np.maximum(1.0, np.abs(arrays.row_upper))
    return np.asarray((activity < low) | (activity > high))


def _outcome(program: Program, reading: Reading, result: Result, values: FloatArray | None) -> Outcome:
    """Return what the program's result says of the instance."""
    is_own = program.has_additions
    schedule: Schedule | None = None
    info: dict[str, Any] = dict(result.info)
    if values is not None and reading.schedule_of is not None:
        schedule, more = reading.schedule_of(values)
        info |= more
    if is_own:
        info["own_rows"] = True
    bound = _plus(result.bound, reading.constant) if reading.bounds_instance and not is_own else None
    status = result.status
    if bound is None and status is Status.OPTIMAL:
        status = Status.UNKNOWN if schedule is None else Status.FEASIBLE
    elif status is Status.INFEASIBLE and (is_own or not reading.bounds_instance):
        status = Status.UNKNOWN  # of the instance
    return Outcome(status, schedule, bound, info=info)


def _plus(number: float | None, constant: float) -> float | None:
    return None if number is None else number + constant

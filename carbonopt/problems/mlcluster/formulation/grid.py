"""The time-indexed program of an ML cluster: jobs change their GPUs at the edges of cells alone.

    min  w_c sum_jtn c_t dP_j(n) (a_jt y_jtn - d_jtn)  +  w_J sum_j C_j
    once      sum_n y_jtn <= 1                                        each job and cell
    capacity  sum_jn n y_jtn <= C                                     each cell t
    work      sum_tn X_j(n) (a_jt y_jtn - d_jtn - R_j k_jtn) >= W_j   each job j
    trim      d_jtn <= a_jt y_jtn
    last      sum_n d_jtn <= a_jt (1 - u_j,t+1)                       a job stops early in its last cell alone
    ahead     u_jt >= u_j,t+1,  u_jt >= sum_n y_jtn                   u: runs in cell t or later
    before    b_jt >= b_j,t-1,  b_jt >= sum_n y_jtn                   b: has run in cell t or earlier
    restart   k_jtn >= y_jtn - y_j,t-1,n + b_j,t-1 - 1                k: a run begins that is not the first
    budget    sum_j C_j <= N B                                        where there is a JCT budget

y_jtn in {0, 1}: job j holds n GPUs in cell t, from its beginning or the job's arrival on. a_jt is what of the cell is
left after the arrival [min], d_jtn how much earlier the job stops [min], R_j its restart [min], and

    C_j = sum_t delta u_jt - sum_tn d_jtn - r_j + (beginning of the cell of r_j)                      [min]

its completion time. u, b and k are whole by themselves. Its optimum is the best schedule on the grid. It is no bound
for schedules that change GPUs between the edges of cells; the linear program of
`carbonopt.problems.mlcluster.formulation.program` bounds those.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.options import Schedule
from carbonopt.milp.block import Block
from carbonopt.milp.program import Program, require_memory
from carbonopt.problems.mlcluster.data.instance import MlClusterInstance
from carbonopt.problems.mlcluster.formulation.objective import CellCoefficients
from carbonopt.problems.mlcluster.formulation.program import AXES


@dataclass(frozen=True, eq=False)
class GridProgram:
    """The program, and what its columns stand for.

    Parameters
    ----------
    program
        As HiGHS takes it.
    coefficients
        Of the cells.
    job, cell, gpus
        Of each y_jtn, shape (R,), sorted by job, cell and GPUs.
    y
        Block of the y_jtn.
    constant
        To be added to its optimum: ``w_J sum (beginning of the cell of r_j - r_j)``.
    """

    program: Program
    coefficients: CellCoefficients
    job: IntArray
    cell: IntArray
    gpus: IntArray
    y: Block
    constant: float

    def schedule(self, values: FloatArray, instance: MlClusterInstance) -> Schedule:
        """Return the runs that the y_jtn make, each job stopped when its work is done."""
        held = np.flatnonzero(values[self.y.slice] > 0.5)
        minutes = self.coefficients.minutes
        rows: list[tuple[int, float, float, int]] = []
        for job, cell, gpus in zip(
            self.job[held].tolist(), self.cell[held].tolist(), self.gpus[held].tolist(), strict=True
        ):
            start = max(cell * minutes, float(instance.jobs.arrival_minutes[job]))
            end = (cell + 1) * minutes
            if rows and rows[-1][0] == job and rows[-1][2] == start and rows[-1][3] == gpus:
                rows[-1] = (job, rows[-1][1], end, gpus)
            else:
                rows.append((job, start, end, gpus))
        return _stopped(instance, rows)


def _stopped(instance: MlClusterInstance, rows: list[tuple[int, float, float, int]]) -> Schedule:
    """Return runs as a schedule, cut where the work of their job is done."""
    left = instance.jobs.work_gpu_minutes.tolist()
    ran: set[int] = set()
    kept = []
    for job, start, end, gpus in rows:
        profile = instance.profile_of_job[job]
        speed = float(instance.scales.throughput[profile, gpus - 1])
        restart = float(instance.scales.restart_minutes[profile]) if job in ran else 0.0
        stop = min(end, start + restart + left[job] / speed)
        if left[job] > 0 and stop > start:
            kept.append((instance.jobs.name[job], start, stop, gpus))
            left[job] -= max(0.0, stop - start - restart) * speed
            ran.add(job)
    names = ("job", "start_minutes", "end_minutes", "gpus")
    return {name: [row[k] for row in kept] for k, name in enumerate(names)}


def estimate_grid(instance: MlClusterInstance, cells: int = 1) -> tuple[int, int]:
    """Return columns and nonzeros of the program, without building it."""
    pairs = CellCoefficients(instance, cells)
    width = (pairs.count - pairs.first_cell).astype(float)
    levels = float(width @ instance.allowed.sum(axis=1))
    columns = 3 * levels + 2 * float(width.sum())
    return int(columns), int(18 * levels + 6 * float(width.sum()))


def build_grid(instance: MlClusterInstance, cells: int = 1) -> GridProgram:
    """Return the program of `instance` on slots cut into `cells`.

    Parameters
    ----------
    instance
        N jobs.
    cells
        Cells of each slot.

    Raises
    ------
    TooLargeError
        If it would not fit into memory; nothing is allocated then.
    UnsupportedError
        If a restart takes longer than a cell: it would reach into the next.
    """
    require_memory(f"the time-indexed program of {instance.name}", *estimate_grid(instance, cells))
    grid = CellCoefficients(instance, cells)
    _require_short_restarts(instance, grid)
    return _Rows(instance, grid).build()


def _require_short_restarts(instance: MlClusterInstance, grid: CellCoefficients) -> None:
    for profile in instance.profiles:
        if profile.restart_minutes > grid.minutes:
            raise UnsupportedError(
                f"profile {profile.name!r}: restart_minutes = {profile.restart_minutes:g}: must be at most"
                f" {grid.minutes:g}, the length of a cell, for a time-indexed program"
            )


class _Rows:
    """What the blocks of rows share: (job, cell) pairs p, and levels (p, n) of them.

    Parameters
    ----------
    instance, grid
        N jobs, and the cells.
    """

    def __init__(self, instance: MlClusterInstance, grid: CellCoefficients) -> None:
        self.instance, self.grid = instance, grid
        width = grid.count - grid.first_cell
        self.job = np.repeat(np.arange(len(width)), width)
        self.cell = np.arange(len(self.job)) - np.repeat(np.cumsum(width) - width - grid.first_cell, width)
        begin = np.maximum(self.cell * grid.minutes, instance.jobs.arrival_minutes[self.job])
        self.left = (self.cell + 1) * grid.minutes - begin
        self.later = np.flatnonzero(self.cell > grid.first_cell[self.job])  # the cell before is pair p - 1
        self.pair, level = np.nonzero(instance.allowed[self.job])
        self.gpus = level + 1
        kind = grid.kind[self.job[self.pair]]
        self.speed = grid.speed[kind, level]
        self.watts = grid.watts[kind, level]
        self.program = Program(instance.name, sense="min")
        self.program.names.give("job", instance.jobs.name)

    def build(self) -> GridProgram:
        """Return the whole program."""
        program = self.program
        instance = self.instance
        grid = self.grid
        job = self.job[self.pair]
        cell = self.cell[self.pair]
        kg = grid.carbon[cell] * self.watts
        hour = instance.weights.jct_hours / 60
        at = (job, cell, self.gpus)
        y = program.add_variables(
            "y", len(job), upper=1.0, cost=kg * self.left[self.pair], integer=True, at=at, axes=AXES
        )
        trimmed = program.add_variables("d", len(job), upper=self.left[self.pair], cost=-kg - hour, at=at, axes=AXES)
        minute = hour * grid.minutes
        pair = (self.job, self.cell)
        ahead = program.add_variables("u", len(self.job), upper=1.0, cost=minute, at=pair, axes=AXES[:2])
        restart = self._add_restarts(y, at)
        once = program.add_rows("once", len(self.job), upper=1.0)
        program.add_entries(once.start + self.pair, y.index, 1.0)
        capacity = program.add_rows("capacity", grid.count, upper=float(instance.cluster.gpus), axes=("cell",))
        program.add_entries(capacity.start + cell, y.index, self.gpus)
        work = program.add_rows("work", len(instance.jobs), lower=instance.jobs.work_gpu_minutes, axes=("job",))
        program.add_entries(work.start + job, y.index, self.speed * self.left[self.pair])
        program.add_entries(work.start + job, trimmed.index, -self.speed)
        if restart is not None:
            lost = instance.scales.restart_minutes[instance.profile_of_job[job]]
            program.add_entries(work.start + job, restart.index, -self.speed * lost)
        self._add_ends(y, trimmed, ahead)
        started = float((grid.first_cell * grid.minutes - instance.jobs.arrival_minutes).sum())
        self._add_budget(trimmed, ahead, started)
        return GridProgram(program, grid, job, cell, self.gpus, y, hour * started)

    def _add_restarts(self, y: Block, at: tuple[IntArray, ...]) -> Block | None:
        """Add k, which is 1 where a run begins that is not the job's first; None where restarts are free."""
        if not self.instance.scales.restart_minutes.any():
            return None
        program = self.program
        begun = program.add_variables("b", len(self.job), upper=1.0, at=(self.job, self.cell), axes=AXES[:2])
        restart = program.add_variables("k", len(self.pair), upper=1.0, at=at, axes=AXES)
        self._add_monotone("before", begun, y, self.later, self.later - 1)
        first = self.cell[self.pair] == self.grid.first_cell[self.job[self.pair]]
        place = np.flatnonzero(~first)
        levels = self.instance.allowed.sum(axis=1)[self.job[self.pair[place]]]
        rows = program.add_rows("restart", len(place), lower=-1.0)
        program.add_entries(rows.index, restart.start + place, 1.0)
        program.add_entries(rows.index, y.start + place, -1.0)
        program.add_entries(rows.index, y.start + place - levels, 1.0)  # the same GPUs in the cell before
        program.add_entries(rows.index, begun.start + self.pair[place] - 1, -1.0)
        return restart

    def _add_monotone(self, name: str, state: Block, y: Block, pairs: IntArray, others: IntArray) -> None:
        """Let a state be at least that of another pair, and 1 where a job holds GPUs."""
        program = self.program
        rows = program.add_rows(f"{name}_kept", len(pairs), lower=0.0)
        program.add_entries(rows.index, state.start + pairs, 1.0)
        program.add_entries(rows.index, state.start + others, -1.0)
        held = program.add_rows(f"{name}_held", len(self.job), lower=0.0)
        program.add_entries(held.index, state.index, 1.0)
        program.add_entries(held.start + self.pair, y.index, -1.0)

    def _add_ends(self, y: Block, trimmed: Block, ahead: Block) -> None:
        """Let a job stop early in its last cell alone."""
        program = self.program
        self._add_monotone("ahead", ahead, y, self.later - 1, self.later)
        trim = program.add_rows("trim", len(self.pair), upper=0.0)
        program.add_entries(trim.index, trimmed.index, 1.0)
        program.add_entries(trim.index, y.index, -self.left[self.pair])
        last = program.add_rows("last", len(self.job), upper=self.left)
        program.add_entries(last.start + self.pair, trimmed.index, 1.0)
        program.add_entries(last.start + self.later - 1, ahead.start + self.later, self.left[self.later - 1])

    def _add_budget(self, trimmed: Block, ahead: Block, started: float) -> None:
        limit = self.instance.limits.mean_jct_hours
        if limit is None:
            return
        most = limit * 60 * len(self.instance.jobs) - started
        budget = self.program.add_rows("budget", 1, upper=most)
        self.program.add_entries(budget.start, ahead.index, self.grid.minutes)
        self.program.add_entries(budget.start, trimmed.index, -1.0)

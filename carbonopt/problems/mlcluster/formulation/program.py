"""The linear program of the offline counterpart as sparse blocks.

    min  sum_jtn c_jtn y_jtn + constant
    work      sum_tn X_j(n) y_jtn >= W_j / delta           each job j
    capacity  sum_jn n y_jtn <= C                           each cell t
    once      sum_n y_jtn <= available share of t           each job and cell
    budget    sum of completion times <= N B               where there is a JCT budget

y_jtn is the share of cell t that job j spends on n GPUs. `carbonopt.problems.mlcluster.formulation.objective` says
what the coefficients are, and why the optimum is a lower bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.options import Schedule
from carbonopt.milp.block import Block
from carbonopt.milp.program import Program, require_memory
from carbonopt.problems.mlcluster.data.instance import MlClusterInstance
from carbonopt.problems.mlcluster.formulation.layout import wrapped
from carbonopt.problems.mlcluster.formulation.objective import CellCoefficients

AXES = ("job", "cell", "gpus")
"""What a y_jtn is of."""


@dataclass(frozen=True, eq=False)
class MlClusterProgram:
    """The program, its rows, and what its objective leaves out.

    Parameters
    ----------
    program
        As HiGHS takes it.
    work, capacity
        Rows of the jobs and of the cells.
    job, cell, gpus
        Of each column, shape (R,).
    budget
        Row of the JCT budget; None without one.
    constant
        To be added to its optimum: ``w_J sum (p_j / 2 - r_j)``.
    """

    program: Program
    job: IntArray
    cell: IntArray
    gpus: IntArray
    work: Block
    capacity: Block
    budget: Block | None
    constant: float

    def schedule(self, values: FloatArray, instance: MlClusterInstance, cells: int) -> Schedule:
        """Return the columns' GPU times laid out on whole GPUs; the checker may have to refuse it."""
        minutes = instance.slot_minutes / cells
        key, place = np.unique(self.cell * len(instance.jobs) + self.job, return_inverse=True)
        times = np.bincount(place, np.maximum(values, 0.0) * self.gpus * minutes, len(key)).astype(np.float64)
        return wrapped(instance, key % len(instance.jobs), key // len(instance.jobs), times, cells)


def estimate_size(instance: MlClusterInstance, cells: int = 1) -> tuple[int, int]:
    """Return columns and nonzeros of the program, without building it."""
    fluid = CellCoefficients(instance, cells)
    pairs = (fluid.count - fluid.first_cell).astype(float)
    columns = float(pairs @ instance.allowed.sum(axis=1))
    rows = 4 if instance.limits.mean_jct_hours is not None else 3
    return int(columns), int(rows * columns)


def build(instance: MlClusterInstance, cells: int = 1, whole_work: bool = False) -> MlClusterProgram:
    """Return the program of `instance` over slots cut into `cells`.

    Parameters
    ----------
    instance
        N jobs.
    cells
        Cells of each slot.
    whole_work
        Demand all of the work, without the checker's allowance.

    Raises
    ------
    TooLargeError
        If it would not fit into memory; nothing is allocated then.
    """
    require_memory(f"the program of {instance.name}", *estimate_size(instance, cells))
    fluid = CellCoefficients(instance, cells)
    jobs = instance.jobs
    minutes = fluid.minutes
    limit = instance.limits.mean_jct_hours
    width = fluid.count - fluid.first_cell
    pair_job = np.repeat(np.arange(len(jobs)), width)
    pair_cell = np.arange(len(pair_job)) - np.repeat(np.cumsum(width) - width - fluid.first_cell, width)
    begin = np.maximum(pair_cell * minutes, jobs.arrival_minutes[pair_job])
    pair, level = np.nonzero(instance.allowed[pair_job])
    job = pair_job[pair]
    cell = pair_cell[pair]
    speed = fluid.speed[fluid.kind[job], level]
    watts = fluid.watts[fluid.kind[job], level]
    late = speed * minutes / fluid.required[job] * begin[pair] / 60
    cost = fluid.carbon[cell] * watts * minutes + instance.weights.jct_hours * late
    program = Program(instance.name, sense="min")
    program.names.give("job", jobs.name)
    y = program.add_variables("y", len(job), upper=1.0, cost=cost, at=(job, cell, level + 1), axes=AXES)
    target = jobs.work_gpu_minutes if whole_work else fluid.required
    work = program.add_rows("work", len(jobs), lower=target / minutes, axes=("job",))
    program.add_entries(work.start + job, y.index, speed)
    capacity = program.add_rows("capacity", fluid.count, upper=float(instance.cluster.gpus), axes=("cell",))
    program.add_entries(capacity.start + cell, y.index, level + 1.0)
    once = program.add_rows("once", len(pair_job), upper=((pair_cell + 1) * minutes - begin) / minutes)
    program.add_entries(once.start + pair, y.index, 1.0)
    budget = None
    least = float(fluid.least_delay.sum()) / 60
    if limit is not None:
        budget = program.add_rows("budget", 1, upper=limit * len(jobs) - least)
        program.add_entries(budget.start, y.index, late)
    return MlClusterProgram(program, job, cell, level + 1, work, capacity, budget, instance.weights.jct_hours * least)

"""The mathematical program of purchasing over slots where jobs may be interrupted (``suspend-resume``).

With y_jt the hours of job j in slot t, x_jb a run of the whole job on spot CPUs, m_j = min(n_j, R):

    min  sum_jt f_jt y_jt + sum_jb f_jb x_jb + w p_od sum_t o_t (+ w p_res T R)
    assign  sum_t y_jt + L_j sum_b x_jb = L_j                                     each job j
    load    sum_j m_j y_jt <= R delta + o_t                                       each slot t
    limit   sums of carbon, cost and wait are at most their limits

Without a price of waiting that is a flow from jobs over slots to reserved and on-demand CPUs. With one, g_jt in {0, 1}
says that j is not completed in slot t or before, and of the hours in a slot, v_jt are those in the slot of completion:

    chain   g_jt <= g_j,t-1                                                       g_j,-1 = 1 - sum_b x_jb
    early   y_jt <= h_jt g_jt              h_jt the hours of slot t in j's window
    late    v_jt <= h_jt (g_j,t-1 - g_jt)
    wait_j = sum_t (h_jt g_jt - y_jt)

since what a job waits is what it does not run in the slots before that of its completion, if that begins with its work.
The program bounds every schedule in continuous time. A schedule may cost more: not all loads can be levelled in a slot.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.milp.block import Block
from carbonopt.milp.program import Program
from carbonopt.problems.purchasing.data.instance import PurchasingInstance
from carbonopt.problems.purchasing.formulation.breakpoints import slot_hours_of_runs
from carbonopt.problems.purchasing.formulation.choices import Choices, choices_of
from carbonopt.problems.purchasing.formulation.limits import add_limits
from carbonopt.problems.purchasing.formulation.program import (
    add_pool,
    name_axes,
    needs_completion,
    refuse_if_too_large,
    shared_cpus,
)


@dataclass(frozen=True, eq=False)
class PieceProgram:
    """The program of interrupted jobs, with what its columns stand for: job, slot and hours there of each y_jt."""

    program: Program
    choices: Choices
    job: IntArray
    slot: IntArray
    hours: FloatArray

    def work(self, values: FloatArray) -> FloatArray:
        """Return the hours that each job runs in each slot of its window."""
        blocks = [self.program.block(name) for name in ("y", "v") if name in self.program.variables]
        return np.asarray(np.clip(sum(values[block.slice] for block in blocks), 0.0, self.hours))

    def spot(self, values: FloatArray) -> IntArray:
        """Return the choices of spot CPUs that are taken."""
        x = values[self.program.block("x").slice]
        order = np.lexsort((-x, self.choices.job))
        best = order[np.diff(self.choices.job[order], prepend=-1) != 0]
        total = np.bincount(self.choices.job, x, minlength=1)
        return np.asarray(best[total[self.choices.job[best]] > 0.5])

    def columns_of(self, instance: PurchasingInstance, job: IntArray, start: FloatArray, end: FloatArray) -> FloatArray:
        """Return the columns of a schedule without spot CPUs; HiGHS completes the rest."""
        run, slot, hours = slot_hours_of_runs(instance, start, end)
        table = np.zeros((len(instance.jobs), instance.time.slots))
        np.add.at(table, (job[run], slot), hours)
        work = np.minimum(table[self.job, self.slot], self.hours)
        values = np.zeros(self.program.columns)
        if "g" in self.program.variables:
            completed = np.zeros(len(instance.jobs))
            np.maximum.at(completed, job, end)
            running = (self.slot + 1) * instance.time.slot_hours < completed[self.job]
            values[self.program.block("g").slice] = running
            values[self.program.block("v").slice] = np.where(running, 0.0, work)
            work = np.where(running, work, 0.0)
        values[self.program.block("y").slice] = work
        return values


def build_pieces(instance: PurchasingInstance, integer: bool = True) -> PieceProgram:
    """Return the program of an instance whose jobs may be interrupted.

    Parameters
    ----------
    instance
        The instance.
    integer
        Whether x and g are binary, and R whole; else the LP relaxation.

    Raises
    ------
    TooLargeError
        If it would not fit into memory; nothing is allocated then.
    """
    refuse_if_too_large(instance)
    jobs = instance.jobs
    choices = choices_of(instance, whole_runs=False)
    job, slot, hours = slot_hours_of_runs(instance, jobs.arrival_hours, instance.latest_end_hours)
    program = Program(instance.name, sense="min")
    name_axes(program, instance)
    timed = needs_completion(instance)
    sums = _sums(instance, job, slot)
    waits = np.full(len(job), -1.0 if timed else 0.0)
    y = program.add_variables(
        "y", len(job), upper=hours, cost=_cost(instance, sums, waits), at=(job, slot), axes=("job", "slot")
    )
    x = program.add_variables("x", len(choices), upper=1, cost=choices.cost(instance), integer=integer)
    work = program.add_rows("assign", len(jobs), lower=jobs.length_hours, upper=jobs.length_hours, axes=("job",))
    program.add_entries(work.start + job, y.index, 1.0)
    program.add_entries(work.start + choices.job, x.index, jobs.length_hours[choices.job])
    parts = [(x, choices.sums()), (y, sums | {"mean_wait_hours": waits})]
    pool = add_pool(program, instance, integer)
    cpus = shared_cpus(instance)[job]
    if pool is not None:
        program.add_entries(pool.start + slot, y.index, cpus)
    if timed:
        g, v = _add_completion(program, instance, (job, slot, hours), sums, integer)
        _add_chain(program, choices, (job, hours), (y, v, g, x))
        program.add_entries(work.start + job, v.index, 1.0)
        if pool is not None:
            program.add_entries(pool.start + slot, v.index, cpus)
        nothing = np.zeros(len(job))
        parts.append((v, sums | {"mean_wait_hours": nothing}))
        parts.append((g, {"carbon_kg": nothing, "cost_usd": nothing, "mean_wait_hours": hours}))
    add_limits(program, instance, parts)
    return PieceProgram(program, choices, job, slot, hours)


def _sums(instance: PurchasingInstance, job: IntArray, slot: IntArray) -> dict[str, FloatArray]:
    """Return carbon, and cost but for the overflow, of an hour of each job in each slot of its window."""
    above = instance.jobs.cpus - shared_cpus(instance)
    usd = instance.prices.on_demand_usd_per_cpu_hour * above[job]
    return {"carbon_kg": instance.jobs.cpus[job] * instance.kg_per_cpu_hour[slot], "cost_usd": usd}


def _cost(instance: PurchasingInstance, sums: dict[str, FloatArray], wait: FloatArray) -> FloatArray:
    weights = instance.weights
    return np.asarray(
        weights.carbon_kg * sums["carbon_kg"] + weights.cost_usd * sums["cost_usd"] + weights.wait_hours * wait
    )


def _add_completion(
    program: Program,
    instance: PurchasingInstance,
    cells: tuple[IntArray, IntArray, FloatArray],
    sums: dict[str, FloatArray],
    integer: bool,
) -> tuple[Block, Block]:
    """Add g, and the hours v in the slot of completion."""
    job, slot, hours = cells
    price = instance.weights.wait_hours
    nothing = np.zeros(len(job))
    last = np.diff(job, append=-1) != 0
    open_ended = np.where(last, 0.0, 1.0)  # the window ends with its last slot
    g = program.add_variables(
        "g", len(job), upper=open_ended, cost=price * hours, integer=integer, at=(job, slot), axes=("job", "slot")
    )
    v = program.add_variables(
        "v", len(job), upper=hours, cost=_cost(instance, sums, nothing), at=(job, slot), axes=("job", "slot")
    )
    return g, v


def _add_chain(
    program: Program,
    choices: Choices,
    cells: tuple[IntArray, FloatArray],
    blocks: tuple[Block, Block, Block, Block],
) -> None:
    """Add the rows ``chain``, ``early`` and ``late``; before the first slot g is 1 less the job's x."""
    (job, hours), (y, v, g, x) = cells, blocks
    first = np.diff(job, prepend=-1) != 0
    later = np.flatnonzero(~first)
    early = program.add_rows("early", len(job), upper=0.0)
    program.add_entries(early.index, y.index, 1.0)
    program.add_entries(early.index, g.index, -hours)
    started = np.where(first, 1.0, 0.0)
    chain = program.add_rows("chain", len(job), upper=started)
    late = program.add_rows("late", len(job), upper=hours * started)
    program.add_entries(late.index, v.index, 1.0)
    for rows, factor in ((chain, np.ones(len(job))), (late, hours)):
        program.add_entries(rows.index, g.index, factor)
        program.add_entries(rows.start + later, g.start + later - 1, -factor[later])
        place = np.flatnonzero(first)[np.searchsorted(job[first], choices.job)]
        program.add_entries(rows.start + place, x.index, factor[place])

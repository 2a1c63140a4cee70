"""The mathematical program of purchasing over slots (GAIA, section 4; the bound of the problem's page).

Jobs that run without a break (``splitting``, ``no-split``), with x_jb in {0, 1} a start b and an option of job j, and
y_jb in [0, x_jb] the part of the way to its next start:

    min  sum_jb f_jb x_jb + d_jb y_jb + w p_od sum_t o_t (+ w p_res T R)
    assign  sum_b x_jb = 1                                                        each job j
    load    sum_jb m_j (l_jbt x_jb + (l_jb't - l_jbt) y_jb) <= R delta + o_t      each slot t; no o_t in ``no-split``
    move    y_jb <= x_jb
    limit   sums of carbon, cost and wait are at most their limits

f is the cost of carbon, wait and use but for the overflow o, l the hours of a run in slot t, m_j = min(n_j, R): the
other CPUs of a job are on demand wherever it runs (``splitting``; n_j where R is decided, and in ``no-split``, where
only choices of reserved CPUs load). Between breakpoints all of that is linear, and a slot's mean load is all that the
rows see: the program bounds every schedule in continuous time from below. It needs no y, and is exact, where all data
are whole slots and nothing is limited; its LP relaxation never needs y. `program_pieces` states ``suspend-resume``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.milp.block import Block
from carbonopt.milp.program import Program, require_memory
from carbonopt.problems.purchasing.data.instance import PurchasingInstance
from carbonopt.problems.purchasing.data.purchase_options import OPTIONS, SHARED
from carbonopt.problems.purchasing.formulation.breakpoints import SAME, is_whole, slot_hours_of_runs
from carbonopt.problems.purchasing.formulation.choices import Choices, choices_of
from carbonopt.problems.purchasing.formulation.limits import add_limits, add_to_limits, floored

AXES = ("job", "option", "choice")
"""What a variable of a run is of; choices differ in their starts."""


@dataclass(frozen=True, eq=False)
class RunProgram:
    """The program of uninterrupted jobs, with what its columns stand for."""

    program: Program
    choices: Choices
    moved: IntArray

    def runs(self, values: FloatArray) -> tuple[IntArray, FloatArray, IntArray]:
        """Return job, start and option of the runs that the columns stand for."""
        x = values[self.program.block("x").slice]
        order = np.lexsort((-x, self.choices.job))
        chosen = order[np.diff(self.choices.job[order], prepend=-1) != 0]
        part = np.zeros(len(x))
        if len(self.moved):
            part[self.moved] = values[self.program.block("y").slice]
        start = self.choices.start + np.clip(part, 0.0, 1.0) * (self.choices.until - self.choices.start)
        return self.choices.job[chosen], start[chosen], self.choices.option[chosen]

    def columns_of(
        self, instance: PurchasingInstance, job: IntArray, start: FloatArray, option: IntArray
    ) -> FloatArray:
        """Return the columns nearest to runs of all jobs; HiGHS makes a point of them that holds, or drops them."""
        values = np.zeros(self.program.columns)
        x = values[self.program.block("x").slice]
        choices = self.choices
        of_job = np.zeros(len(instance.jobs), dtype=np.int64)
        of_start = np.zeros(len(instance.jobs))
        of_job[job], of_start[job] = option, start
        same = choices.option == of_job[choices.job]
        gone = of_start[choices.job] - choices.start
        off = np.where(same, np.where(gone >= 0, gone, instance.time.hours - gone), np.inf)
        order = np.lexsort((off, choices.job))
        best = order[np.diff(choices.job[order], prepend=-1) != 0]
        x[best] = 1.0
        if len(self.moved):
            width = np.maximum(choices.until - choices.start, 1e-12)[self.moved]
            y = values[self.program.block("y").slice]
            y[:] = np.where(x[self.moved] > 0, np.clip(gone[self.moved] / width, 0.0, 1.0), 0.0)
        return values


def estimate_size(instance: PurchasingInstance) -> tuple[int, int]:
    """Return columns and nonzeros of the program at most, without building it."""
    step = instance.time.slot_hours
    length = instance.jobs.length_hours
    starts = 2 * np.ceil(instance.max_wait_hours / step) + 4
    moves = 1 if _stays(instance) else 2
    if instance.limits:
        spot = float(3 * moves * starts[instance.spot_allowed].sum())
    else:
        spot = float(len(starts))
    if instance.model == "suspend-resume":
        cells = float((np.ceil((instance.max_wait_hours + length) / step) + 1).sum())
        timed = 3 if needs_completion(instance) else 1
        return int(timed * cells + spot), int(6 * timed * cells + 5 * spot)
    columns = moves * starts * (2 if instance.model == "no-split" and instance.limits else 1)
    return int(columns.sum() + spot), int((columns * (np.ceil(length / step) + 5)).sum() + 5 * spot)


def needs_completion(instance: PurchasingInstance) -> bool:
    """Whether anything depends on when interrupted jobs are completed."""
    return instance.weights.wait_hours > 0 or instance.limits.mean_wait_hours is not None


def refuse_if_too_large(instance: PurchasingInstance) -> None:
    """Refuse an instance whose program would not fit into memory.

    Raises
    ------
    TooLargeError
        With the estimate; nothing has been allocated then.
    """
    require_memory(f"the program of {instance.name}", *estimate_size(instance))


def build(instance: PurchasingInstance, integer: bool = True) -> RunProgram:
    """Return the program of an instance whose jobs run without a break.

    Parameters
    ----------
    instance
        The instance.
    integer
        Whether x is binary, and R whole; else the LP relaxation.

    Raises
    ------
    TooLargeError
        If it would not fit into memory; nothing is allocated then.
    """
    refuse_if_too_large(instance)
    choices = choices_of(instance)
    program = Program(instance.name, sense="min")
    name_axes(program, instance)
    at = (choices.job, choices.option, np.arange(len(choices)))
    cost = choices.cost(instance)
    cost = floored(cost, float(cost.max(initial=0.0)))
    x = program.add_variables("x", len(choices), upper=1, cost=cost, integer=integer, at=at, axes=AXES)
    assign = program.add_rows("assign", len(instance.jobs), lower=1, upper=1, axes=("job",))
    program.add_entries(assign.start + choices.job, x.index, 1.0)
    moved = _moved(instance, choices) if integer else np.zeros(0, dtype=np.int64)
    y = _add_moves(program, instance, choices, moved, x)
    _add_load(program, instance, choices, moved, (x, y), integer)
    add_limits(program, instance, [(x, choices.sums())])
    if y is not None:
        add_to_limits(program, instance, y, choices.moves(), moved)
    return RunProgram(program, choices, moved)


def name_axes(program: Program, instance: PurchasingInstance) -> None:
    """Name jobs, purchase options and slots."""
    program.names.give("job", instance.jobs.name)
    program.names.give("option", OPTIONS)
    program.names.give_slots(instance.time)


def _stays(instance: PurchasingInstance) -> bool:
    """Whether whole slots are the best starts."""
    return not instance.limits and is_whole(instance)


def _moved(instance: PurchasingInstance, choices: Choices) -> IntArray:
    """Return the choices whose starts may be put off towards the next."""
    if _stays(instance):
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(choices.until > choices.start)


def _add_moves(
    program: Program, instance: PurchasingInstance, choices: Choices, moved: IntArray, x: Block
) -> Block | None:
    if not len(moved):
        return None
    at = (choices.job[moved], choices.option[moved], moved)
    cost = floored(choices.cost_of_moving(instance)[moved], float(choices.cost(instance).max()))
    y = program.add_variables("y", len(moved), upper=1, cost=cost, at=at, axes=AXES)
    rows = program.add_rows("move", len(moved), upper=0.0)
    program.add_entries(rows.index, y.index, 1.0)
    program.add_entries(rows.index, x.start + moved, -1.0)
    return y


def _add_load(
    program: Program,
    instance: PurchasingInstance,
    choices: Choices,
    moved: IntArray,
    blocks: tuple[Block, Block | None],
    integer: bool,
) -> None:
    """Add the rows of the reserved CPUs, and what overflows them."""
    loads = choices.option <= SHARED
    rows = add_pool(program, instance, integer)
    if rows is None:
        return
    x, y = blocks
    length = instance.jobs.length_hours[choices.job]
    cpus = shared_cpus(instance)[choices.job]
    used = np.flatnonzero(loads)
    run, slot, hours = slot_hours_of_runs(instance, choices.start[used], (choices.start + length)[used])
    largest = float(cpus.max(initial=0.0)) * instance.time.slot_hours
    program.add_entries(rows.start + slot, x.start + used[run], floored(cpus[used[run]] * hours, largest))
    if y is None:
        return
    place = np.flatnonzero(loads[moved])
    run, slot, hours = _moved_hours(
        instance, choices.start[moved[place]], choices.until[moved[place]], length[moved[place]]
    )
    program.add_entries(rows.start + slot, y.start + place[run], floored(cpus[moved[place[run]]] * hours, largest))


def _moved_hours(
    instance: PurchasingInstance, start: FloatArray, until: FloatArray, length: FloatArray
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return for runs that are put off: the run, the slot, and by how much its hours there change, where they do."""
    one, two = (slot_hours_of_runs(instance, moment, moment + length) for moment in (start, until))
    run, slot = (np.concatenate(pair) for pair in zip(one[:2], two[:2], strict=True))
    change = np.concatenate([-one[2], two[2]])
    cell, position = np.unique(run * instance.time.slots + slot, return_inverse=True)
    total = np.asarray(np.bincount(position, change, len(cell)), dtype=np.float64)
    kept = np.abs(total) > SAME * instance.time.hours
    return cell[kept] // instance.time.slots, cell[kept] % instance.time.slots, total[kept]


def shared_cpus(instance: PurchasingInstance) -> FloatArray:
    """Return m_j: the CPUs of each job that compete for the reserved ones, shape (N,)."""
    if instance.reserved_cpus is None or instance.model == "no-split":
        return instance.jobs.cpus
    return np.minimum(instance.jobs.cpus, instance.reserved_cpus)


def add_pool(program: Program, instance: PurchasingInstance, integer: bool) -> Block | None:
    """Add reserved CPUs and overflow, and the rows ``load - overflow <= R delta``; None where nothing is reserved."""
    slots = instance.time.slots
    hours = instance.time.slot_hours
    reserved = instance.reserved_cpus
    if reserved == 0:
        return None
    rows = program.add_rows("load", slots, upper=0.0 if reserved is None else reserved * hours, axes=("slot",))
    if instance.model != "no-split":
        price = instance.weights.cost_usd * instance.prices.on_demand_usd_per_cpu_hour
        overflow = program.add_variables("overflow", slots, cost=price, axes=("slot",))
        program.add_entries(rows.index, overflow.index, -1.0)
    if reserved is None:
        price = instance.weights.cost_usd * instance.prepaid_usd(1)
        most = float(np.ceil(instance.jobs.cpus.sum()))
        decided = program.add_variables("reserved", 1, upper=most, cost=price, integer=integer)
        program.add_entries(rows.index, decided.index, -hours)
    return rows

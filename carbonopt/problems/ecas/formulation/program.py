"""The integer program of ecas, equations (1)-(4).

x_jmt   job j starts on machine m in slot t         v_mt   machine m is on in slot t
y_mt    it is switched on at the beginning of t     z_mt   it is switched off at the beginning of t
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.memory import require_bytes
from carbonopt.core.options import Schedule
from carbonopt.milp.block import Block
from carbonopt.milp.program import BYTES_PER_COLUMN, BYTES_PER_NONZERO, Program
from carbonopt.milp.reading import Reading
from carbonopt.problems.ecas.data.instance import EcasInstance
from carbonopt.problems.ecas.data.schedule import as_schedule


@dataclass(frozen=True, eq=False)
class EcasProgram:
    """The program and the blocks that methods read.

    Parameters
    ----------
    program
        The program.
    starts
        Variables x, one for each possible (job, machine, start).
    on
        Variables v, shape (M, T).
    capacity
        Rows (2), shape (M, R, T).
    """

    program: Program
    starts: Block
    on: Block
    capacity: Block

    def schedule(self, instance: EcasInstance, values: FloatArray) -> Schedule:
        """Return the schedule that whole values stand for."""
        assert self.starts.at is not None
        job, machine, start = (part[values[self.starts.slice] > 0.5] for part in self.starts.at)
        on = values[self.on.slice].reshape(self.on.shape) > 0.5
        return as_schedule(instance, job, machine, start, on)


def formulate(instance: EcasInstance, form: str = "milp") -> Program:
    """Return the program, or with form ``lp`` its relaxation."""
    if form not in ("milp", "lp"):
        raise UnsupportedError(f"unknown form {form!r}: must be 'milp' or 'lp'")
    built = build(instance, integer=form == "milp")
    whole = form == "milp"
    built.program.reading = Reading((lambda values: (built.schedule(instance, values), {})) if whole else None)
    return built.program


def estimate_size(instance: EcasInstance) -> tuple[int, int]:
    """Return the columns and nonzeros of the program, or more where a job does not fit every machine."""
    jobs = instance.jobs
    machines = len(instance.machines)
    slots = instance.time.slots
    starts = (jobs.last_start - jobs.arrival + 1).astype(np.float64)
    columns = float(starts.sum()) * machines
    running = float(starts @ jobs.duration) * machines
    resources = len(instance.resources)
    windows = float((jobs.deadline - jobs.arrival).sum()) * machines  # rows of (3)
    own = machines * (slots * (resources + 4) + 1)  # of v, y and z
    return int(columns) + machines * (3 * slots + 1), int(columns + running * (resources + 1) + windows) + own


def build(instance: EcasInstance, integer: bool = True) -> EcasProgram:
    """Build the program.

    Where a job uses something, (3) follows from (2) for whole values. The relaxation leaves it out then, so that the
    duals of (2) alone prove its optimum.

    Raises
    ------
    TooLargeError
        If it would not fit into memory.
    """
    columns, nonzeros = estimate_size(instance)
    require_bytes(f"the program of {instance.name}", BYTES_PER_COLUMN * columns + BYTES_PER_NONZERO * nonzeros)
    machines = instance.machines
    shape = (len(instance.machines), instance.time.slots)
    program = Program(instance.name)
    program.names.give("job", instance.jobs.name)
    program.names.give("machine", instance.machines.name)
    program.names.give("resource", instance.resources)
    program.names.give_slots(instance.time)
    job, machine, start = _placements(instance)
    kwh = instance.job_kwh[job]
    length = instance.jobs.duration[job]
    value = np.concatenate([[0.0], np.cumsum(instance.value_per_kwh)])
    energy = kwh * (value[start + length] - value[start])
    at = (job, machine, start)
    axes = ("job", "machine", "slot")
    x = program.add_variables("x", len(job), upper=1, cost=energy, integer=integer, at=at, axes=axes)
    both = ("machine", "slot")
    available = 1 if machines.available is None else machines.available
    v = program.add_variables("v", shape, upper=available, cost=instance.idle_cost, integer=integer, axes=both)
    y = program.add_variables("y", shape, upper=1, cost=machines.up_cost[:, None], integer=integer, axes=both)
    down = machines.down_cost[:, None]
    z = program.add_variables("z", (shape[0], shape[1] + 1), upper=1, cost=down, integer=integer, axes=both)
    placement = program.add_rows("placement", len(instance.jobs), lower=1, upper=1, axes=("job",))  # (1)
    program.add_entries(placement.start + job, x.index, 1.0)
    member = np.repeat(np.arange(len(job)), length)  # of x, once for each slot of the run
    slot = start[member] + np.arange(len(member)) - np.repeat(np.cumsum(length) - length, length)
    capacity = _add_capacity(program, instance, x, v, (member, slot))  # (2)
    strong = integer | (instance.jobs.use[job].max(axis=1, initial=0) == 0)
    _add_running(program, x, v, member[strong[member]], slot[strong[member]])  # (3)
    _add_switching(program, v, y, z)  # (4)
    return EcasProgram(program, x, v, capacity)


def _placements(instance: EcasInstance) -> tuple[IntArray, IntArray, IntArray]:
    """Return every (job, machine, start) at which a job could run on its own."""
    jobs = instance.jobs
    pair_job, pair_machine = np.nonzero(instance.fits)
    counts = (jobs.last_start - jobs.arrival + 1)[pair_job]
    job = np.repeat(pair_job, counts)
    machine = np.repeat(pair_machine, counts)
    start = np.arange(len(job)) - np.repeat(np.cumsum(counts) - counts - jobs.arrival[pair_job], counts)
    return job, machine, start


def _add_capacity(
    program: Program, instance: EcasInstance, x: Block, v: Block, running: tuple[IntArray, IntArray]
) -> Block:
    """Add ``sum_j u_jr [j runs on m in t] <= c_mr v_mt``."""
    machines = v.shape[0]
    resources = len(instance.resources)
    slots = v.shape[1]
    rows = program.add_rows("capacity", (machines, resources, slots), upper=0, axes=("machine", "resource", "slot"))
    member, slot = running
    assert x.at is not None
    job = x.at[0][member]
    machine = x.at[1][member]
    for r in range(resources):
        program.add_entries(rows.index[machine, r, slot], x.start + member, instance.jobs.use[job, r])
        program.add_entries(rows.index[:, r, :], v.index, -instance.machines.capacity[:, r, None].astype(np.float64))
    return rows


def _add_running(program: Program, x: Block, v: Block, member: IntArray, slot: IntArray) -> None:
    """Add ``[j runs on m in t] <= v_mt``."""
    assert x.at is not None
    job = x.at[0][member]
    machine = x.at[1][member]
    key = (job * v.shape[0] + machine) * v.shape[1] + slot
    kinds, row = np.unique(key, return_inverse=True)
    rows = program.add_rows("running", len(kinds), upper=0)
    program.add_entries(rows.start + row, x.start + member, 1.0)
    machine_of = kinds // v.shape[1] % v.shape[0]
    slot_of = kinds % v.shape[1]
    program.add_entries(rows.index, v.index[machine_of, slot_of], -1.0)


def _add_switching(program: Program, v: Block, y: Block, z: Block) -> None:
    """Add ``v_mt - v_m,t-1 = y_mt - z_mt``, and that what is on at last is switched off at T."""
    machines, slots = v.shape
    rows = program.add_rows("switching", (machines, slots + 1), lower=0, upper=0, axes=("machine", "slot"))
    program.add_entries(rows.index[:, :-1], v.index, 1.0)
    program.add_entries(rows.index[:, 1:], v.index, -1.0)
    program.add_entries(rows.index[:, :-1], y.index, -1.0)
    program.add_entries(rows.index, z.index, 1.0)

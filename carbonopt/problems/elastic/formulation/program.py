"""The mathematical program of elastic in its unit formulation (CarbonFlex, section 4.1).

    min  sum_jtu CI_t e_u y_jtu (+ s sum_jt |k_jt - k_j,t-1|)     carbon [g]
    work        sum_tu p_u y_jtu >= l_j                           each job j
    capacity    sum_ju w_u y_jtu <= M_t                           each slot t
    precedence  y_jtu <= y_jt,u-1                                 where it is not implied
                y_jtu in {0, 1}, or [0, 1] in the fluid model

Unit 0 is the base of k_min servers (w_0 = k_min), each further unit one server. k_jt = sum_u w_u y_jtu.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.options import Schedule
from carbonopt.milp.block import Block
from carbonopt.milp.program import Program, require_memory
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.data.schedule import from_units, repaired
from carbonopt.problems.elastic.formulation.objective import all_units


@dataclass(frozen=True, eq=False)
class ElasticProgram:
    """The program, with what its columns stand for: job, slot and unit of each y_jtu."""

    program: Program
    job: IntArray
    slot: IntArray
    unit: IntArray
    y: Block
    work: Block
    capacity: Block

    def switched(self, values: FloatArray) -> FloatArray:
        """Return the servers gained or lost at every edge of every window, for values of y."""
        rise = self.program.block("rise")
        arrays = self.program.arrays()
        matrix = csc_array((arrays.values, arrays.rows, arrays.starts), shape=(self.program.rows, self.program.columns))
        only_y = np.where(np.arange(len(values)) < self.y.size, values, 0.0)
        return np.abs((matrix @ only_y)[rise.slice])

    def schedule(self, values: FloatArray, instance: ElasticInstance) -> Schedule:
        """Return the schedule that the columns stand for, cleared of the solver's tolerances."""
        on = np.clip(values[self.y.slice], 0.0, 1.0)
        if implied(instance):  # ties may have left a unit on above one that is off
            order = np.lexsort((-on, self.slot, self.job))
            on = on[order]
        if instance.model == "fluid":
            on = repaired(instance, self.job, self.slot, self.unit, on)
        return from_units(instance, self.job, self.slot, self.unit, on)


def estimate_size(instance: ElasticInstance) -> tuple[int, int]:
    """Return columns and nonzeros of the program, without building it."""
    jobs = instance.jobs
    width = (jobs.window_end - jobs.arrival).astype(float)
    units = float(width @ instance.units.count[instance.profile_of_job])
    steps = float((width + 1).sum()) if instance.switching_g_per_server else 0.0
    inner = 0.0 if implied(instance) else 2 * units
    switching = 4 * units + 2 * steps if steps else 0.0
    return int(units + steps), int(2 * units + inner + switching)


def refuse_if_too_large(instance: ElasticInstance) -> None:
    """Refuse an instance whose program would not fit into memory.

    Raises
    ------
    TooLargeError
        With the estimate; nothing has been allocated then.
    """
    require_memory(f"the program of {instance.name}", *estimate_size(instance))


def build(instance: ElasticInstance, integer: bool | None = None, whole_work: bool = False) -> ElasticProgram:
    """Return the program of `instance`.

    Parameters
    ----------
    instance
        N jobs, T slots, P profiles of at most U units.
    integer
        Whether y is binary; None: as the instance's model says.
    whole_work
        Demand all of the work, without the checker's allowance.

    Raises
    ------
    TooLargeError
        If it would not fit into memory; nothing is allocated then.
    """
    refuse_if_too_large(instance)
    whole = instance.model == "integer" if integer is None else integer
    job, slot, unit = all_units(instance)
    profile = instance.profile_of_job[job]
    program = Program(instance.name, sense="min")
    program.names.give("job", instance.jobs.name)
    program.names.give_slots(instance.time)
    cost = instance.intensity[slot] * instance.units.kwh[profile, unit]
    axes = ("job", "slot", "unit")
    y = program.add_variables("y", len(job), upper=1, cost=cost, integer=whole, at=(job, slot, unit), axes=axes)
    target = instance.jobs.length if whole_work else instance.jobs.required
    work = program.add_rows("work", len(instance.jobs), lower=target, axes=("job",))
    program.add_entries(work.start + job, y.index, instance.units.gain[profile, unit])
    capacity = program.add_rows("capacity", instance.time.slots, upper=instance.servers_to_give, axes=("slot",))
    program.add_entries(capacity.start + slot, y.index, instance.units.servers[profile, unit])
    if not implied(instance):
        add_precedence(program, y, unit)
    if instance.switching_g_per_server > 0:
        _add_switching(program, instance, y, job, slot, unit)
    return ElasticProgram(program, job, slot, unit, y, work, capacity)


def implied(instance: ElasticInstance) -> bool:
    """Whether some optimum keeps precedence by itself: regular profiles, and levels that cost nothing to change."""
    return False if instance.switching_g_per_server > 0 else instance.units.regular


def add_precedence(program: Program, y: Block, unit: IntArray) -> None:
    """Add ``y_jtu <= y_jt,u-1``."""
    later = np.flatnonzero(unit > 0)  # the unit before stands in the column before
    rows = program.add_rows("precedence", len(later), upper=0.0)
    program.add_entries(rows.index, y.start + later, 1.0)
    program.add_entries(rows.index, y.start + later - 1, -1.0)


def _add_switching(
    program: Program, instance: ElasticInstance, y: Block, job: IntArray, slot: IntArray, unit: IntArray
) -> None:
    """|k_jt - k_j,t-1| from above, at every edge of the window; outside it a job has no servers."""
    jobs = instance.jobs
    edges = jobs.window_end - jobs.arrival + 1
    first = np.cumsum(edges) - edges  # edge t of job j: between slots t - 1 and t
    edge = first[job] + slot - jobs.arrival[job]
    count = int(edges.sum())
    change = program.add_variables("switched", count, cost=instance.switching_g_per_server)
    servers = instance.units.servers[instance.profile_of_job[job], unit]
    for name, sign in (("rise", 1.0), ("fall", -1.0)):
        rows = program.add_rows(name, count, upper=0.0)
        program.add_entries(rows.start + edge, y.index, sign * servers)
        program.add_entries(rows.start + edge + 1, y.index, -sign * servers)
        program.add_entries(rows.index, change.index, -1.0)

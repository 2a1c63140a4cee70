"""The mathematical program of mosp (Caspian, section II-A, constraints (5)-(8)).

    min or max   sum_ijt value_ijt x_ijt (+ rejection_price sum_i u_i)
    placement    sum_jt x_ijt (+ u_i) = 1     each job i    (<= 1 under the caspian objective)   (6)
    capacity     sum_i r_ir sum_{t' in (t - l_i, t]} x_ijt' <= C_jr^t   each j, r, t             (5)
                 x_ijt in {0, 1}                                                                 (8)
    starts       sum_i x_ijt <= S_j                         each j, t, where the instance has S_j   (not of the paper)

    limits       sum_ijt q_ijt x_ijt <= limit of q          each quantity q that is limited        (not of the paper)

Where the instance fixes runs, x_ijt = 1 for each of them, and they are not counted in starts.

x_ijt exists only where job i may start on cluster j in slot t: released, eligible (7), inside the
horizon, and within the cluster's capacity on its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.core.options import Schedule
from carbonopt.milp.block import Block
from carbonopt.milp.program import Program, require_memory
from carbonopt.problems.mosp.data.fixed import fixed_rows
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.data.objectives import CarbonObjective
from carbonopt.problems.mosp.data.schedule import as_schedule
from carbonopt.problems.mosp.formulation.objective import PlacementValue, quantity_value


@dataclass(frozen=True, eq=False)
class Placements:
    """Where each job may start: one entry a column x_ijt, sorted by job, cluster, start."""

    job: IntArray
    cluster: IntArray
    start: IntArray

    def __len__(self) -> int:
        return len(self.job)


@dataclass(frozen=True, eq=False)
class MospProgram:
    """The program, with what its columns and rows stand for."""

    program: Program
    placements: Placements
    x: Block
    placement: Block
    capacity: Block

    def schedule(self, values: FloatArray, instance: MospInstance) -> Schedule:
        """Return the schedule that the columns at 1 stand for."""
        chosen = np.flatnonzero(values[self.x.slice] > 0.5)
        return as_schedule(
            instance,
            self.placements.job[chosen],
            self.placements.cluster[chosen],
            self.placements.start[chosen],
        )


def count_starts(instance: MospInstance) -> IntArray:
    """Return how many slots each job may start in, by release and horizon alone, shape (N,)."""
    jobs = instance.jobs
    return np.asarray(np.maximum(0, instance.time.slots - jobs.duration - jobs.arrival + 1))


def estimate_size(instance: MospInstance) -> tuple[int, int]:
    """Return upper bounds on columns and nonzeros of the program, without building it."""
    columns = count_starts(instance) * instance.eligible.sum(axis=1)
    resources = (instance.jobs.demand > 0).sum(axis=1)
    nonzeros = columns.astype(float) @ (1.0 + resources * instance.jobs.duration)
    return int(columns.sum()), int(nonzeros)


def refuse_if_too_large(instance: MospInstance) -> None:
    """Refuse an instance whose program would not fit into memory.

    Raises
    ------
    TooLargeError
        With the estimate; nothing has been allocated then.
    """
    require_memory(f"the program of {instance.name}", *estimate_size(instance))


def possible_placements(instance: MospInstance, fitting: bool = True) -> Placements:
    """Return every (job, cluster, start) at which a job could run on its own.

    With `fitting` False also those at which its demand exceeds the capacity, which only fractions of
    a job could use.

    Raises
    ------
    TooLargeError
        If a program with these columns would not fit into memory; nothing is allocated then.
    """
    refuse_if_too_large(instance)
    starts = count_starts(instance)
    pair_job, pair_cluster = np.nonzero(instance.eligible & (starts[:, None] > 0))
    counts = starts[pair_job]
    first = np.cumsum(counts) - counts
    job = np.repeat(pair_job, counts)
    cluster = np.repeat(pair_cluster, counts)
    start = np.arange(len(job)) - np.repeat(first - instance.jobs.arrival[pair_job], counts)
    fits = _fits_alone(instance, job, cluster, start) if fitting else None
    if fits is None or fits.all():
        return Placements(job, cluster, start)
    return Placements(job[fits], cluster[fits], start[fits])


def place_count(instance: MospInstance, jobs: IntArray) -> int:
    """Return how many places some jobs (rows) have, clusters and starts in time, about."""
    return int(count_starts(instance)[jobs].sum()) * len(instance.clusters)


def _fits_alone(instance: MospInstance, job: IntArray, cluster: IntArray, start: IntArray) -> BoolArray:
    """Return whether demand is at most the least capacity over the run, for every resource."""
    duration = instance.jobs.duration[job]
    demand = instance.jobs.demand[job]
    fits = np.ones(len(job), dtype=np.bool_)
    for r in range(len(instance.resources)):
        capacity = instance.clusters.limit[:, r]
        if (capacity == capacity[:, :1]).all():
            fits &= demand[:, r] <= capacity[cluster, 0]
            continue
        # Range minima: the least of any 2**level slots, then two overlapping runs cover [start, end).
        least = capacity
        level = 0
        level_of = np.frexp(duration)[1] - 1
        while True:
            here = np.flatnonzero(level_of == level)
            ends = start[here] + duration[here] - (1 << level)
            covered = np.minimum(least[cluster[here], start[here]], least[cluster[here], ends])
            fits[here] &= demand[here, r] <= covered
            level += 1
            if not len(level_of) or level > level_of.max():
                break
            half = 1 << (level - 1)
            least = np.minimum(least[:, :-half], least[:, half:])
    return fits


def build(instance: MospInstance, value: PlacementValue, integer: bool = True) -> MospProgram:
    """Return the program of `instance` under the objective `value`.

    Parameters
    ----------
    instance
        N jobs, M clusters, R resources, T slots.
    value
        What each placement is worth.
    integer
        False for the LP relaxation.

    Raises
    ------
    TooLargeError
        If it would not fit into memory; nothing is allocated then.
    """
    placements = possible_placements(instance)
    return _assemble(instance, value, placements, integer)


def build_normalizer(instance: MospInstance, term: PlacementValue) -> MospProgram:
    """Return the LP of one term Z_k alone, whose optimum is Zbar_k (Algorithm 2, line 1).

    It is the paper's plain LP: here a fraction of a job may use slots in which the whole would not
    fit, since Zbar_k would otherwise depend on what a presolve removes.
    """
    return _assemble(instance, term, possible_placements(instance, fitting=False), integer=False)


def _assemble(instance: MospInstance, value: PlacementValue, placements: Placements, integer: bool) -> MospProgram:
    job = placements.job
    cluster = placements.cluster
    start = placements.start
    program = Program(instance.name, sense=value.sense)
    program.names.give("job", instance.jobs.name)
    program.names.give("cluster", instance.clusters.name)
    program.names.give("resource", instance.resources)
    program.names.give_slots(instance.time)
    cost = value.of(job, cluster, start)
    at = (job, cluster, start)
    axes = ("job", "cluster", "slot")
    x = program.add_variables("x", len(placements), upper=1, cost=cost, integer=integer, at=at, axes=axes)
    price = instance.objective.rejection_cost
    placement = program.add_rows(  # (6)
        "placement", len(instance.jobs), lower=1 if price > 0 else -np.inf, upper=1, axes=("job",)
    )
    program.add_entries(placement.start + job, x.index, 1.0)
    if 0 < price < np.inf:
        rejected = program.add_variables("rejected", len(instance.jobs), upper=1, cost=price, axes=("job",))
        program.add_entries(placement.index, rejected.index, 1.0)
    capacity = _add_capacity(program, instance, x, placements)  # (5)
    free = _is_free(instance, placements)
    if instance.fixed is not None:
        at = (job[~free], cluster[~free], start[~free])
        settled = program.add_rows("fixed", int((~free).sum()), lower=1, axes=axes, at=at)
        program.add_entries(settled.index, x.index[~free], 1.0)
    if instance.clusters.max_starts_per_slot is not None:
        _add_starts(program, instance, x, placements, free)  # (S): not of the paper
    limits = instance.objective.limits.told() if isinstance(instance.objective, CarbonObjective) else {}
    for name, limit in limits.items():
        row = program.add_rows(f"limit_{name}", 1, upper=limit)
        program.add_entries(row.start, x.index, quantity_value(instance, name).of(job, cluster, start))
    return MospProgram(program, placements, x, placement, capacity)


def _add_capacity(program: Program, instance: MospInstance, x: Block, placements: Placements) -> Block:
    upper = instance.clusters.capacity
    slots = upper.shape[2]
    rows = program.add_rows("capacity", upper.shape, upper=upper, axes=("cluster", "resource", "slot"))
    duration = instance.jobs.duration[placements.job]
    column = np.repeat(x.index.astype(np.int32), duration)
    first = np.cumsum(duration) - duration  # entry of each column's first slot
    for r in range(len(instance.resources)):
        row = rows.start + (placements.cluster * len(instance.resources) + r) * slots + placements.start
        running = np.repeat((row - first).astype(np.int32), duration)
        running += np.arange(len(column), dtype=np.int32)
        demand = np.repeat(instance.jobs.demand[placements.job, r], duration)
        used = slice(None) if demand.all() else np.flatnonzero(demand)
        program.add_entries(running[used], column[used], demand[used])
    return rows


def _is_free(instance: MospInstance, placements: Placements) -> BoolArray:
    """Return which placements are to be decided, shape (columns,)."""
    job, cluster, start = fixed_rows(instance)
    place = np.full((len(instance.jobs), 2), -1, dtype=np.int64)  # cluster and start of each job that has them
    place[job, 0] = cluster
    place[job, 1] = start
    own = place[placements.job]
    return np.asarray((own[:, 0] != placements.cluster) | (own[:, 1] != placements.start))


def _add_starts(program: Program, instance: MospInstance, x: Block, placements: Placements, free: BoolArray) -> None:
    slots = instance.time.slots
    limit = instance.clusters.max_starts_per_slot
    assert limit is not None
    rows = program.add_rows("starts", (len(limit), slots), upper=limit[:, None], axes=("cluster", "slot"))
    row = rows.start + placements.cluster * slots + placements.start
    program.add_entries(row[free], x.index[free], 1.0)

"""CarbonFlex's Algorithm 1, in three variants under honest names.

It sorts every unit (job, slot, scale) by throughput per carbon, p / (e CI), then by the deadline a + l + d
(line 6), and takes units in this order while the job has work left and the slot has room. All units of one
profile, scale and slot have the same ratio, so only these classes are sorted by it. A compiled loop walks through
the classes; the jobs of all classes with one ratio, whatever their profile, come by deadline.

- ``printed``: capacity tested by `sum + k >= M`, a closed window, a scale that overwrites the one before.
- ``corrected``: load at most M, half-open window, servers that the last slot does not need released.
- ``fluid``: corrected, and a unit may be taken for the part of the slot that is needed or free.

None is optimal (Theorem 4.1 of the paper is false): see the problem's page for counterexamples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from carbonopt.algorithms.kernel import kernel, loops, managed_kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.options import Options, Schedule
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.data.schedule import from_units, integer_schedule
from carbonopt.problems.elastic.formulation.objective import unit_carbon
from carbonopt.problems.elastic.verify.check import check

VARIANTS = ("printed", "corrected", "fluid")
"""Variants of Algorithm 1, by the number that the kernel takes."""
STEPS_PER_UNIT = 20
"""Loop steps that a unit (job, slot, scale) takes: the interpreter's lines in the innermost loop."""
COMPILE_SECONDS = 4.0
"""What compiling the walk takes, with the import of numba (3.9 s of CPU time measured)."""


@dataclass(frozen=True, eq=False)
class Allocation:
    """What the greedy gave away.

    Parameters
    ----------
    job, slot, unit
        Of each unit taken, sorted.
    part
        Part of the slot for which it is taken; 1 but for the fluid variant.
    left
        Work that is not done [slots at k_min], shape (N,).
    late
        Jobs that run after the end of their window (the printed variant's closed window).
    """

    job: IntArray
    slot: IntArray
    unit: IntArray
    part: FloatArray
    left: FloatArray
    late: IntArray

    @property
    def unfinished(self) -> IntArray:
        """Jobs with work left."""
        return np.flatnonzero(self.left > 0)

    def schedule(self, instance: ElasticInstance) -> Schedule:
        """Return the allocation as a schedule of the instance's model."""
        if instance.model == "fluid":
            return from_units(instance, self.job, self.slot, self.unit, self.part)
        key = self.job * instance.time.slots + self.slot
        found, place = np.unique(key, return_inverse=True)
        highest = np.zeros(len(found), dtype=np.int64)
        np.maximum.at(highest, place, self.unit)
        job = found // instance.time.slots
        k_min = instance.units.servers[instance.profile_of_job[job], 0].astype(np.int64)
        return integer_schedule(instance, job, found % instance.time.slots, highest + k_min)


def carbonflex_greedy(instance: ElasticInstance, options: Options, variant: str) -> Outcome:  # noqa: ARG001
    """Run Algorithm 1.

    Parameters
    ----------
    instance, options
        As for every method.
    variant
        ``printed``: as in the paper. ``corrected``: load at most M, half-open windows, the last slot trimmed.
        ``fluid``: with units pro rata, for the fluid model.
    """
    if variant == "fluid" and instance.model != "fluid":
        raise UnsupportedError("carbonflex-greedy-fluid takes parts of slots: it needs an instance of model 'fluid'")
    found = allocate(instance, variant)
    names = instance.jobs.name
    if not len(found.unfinished) and not len(found.late):
        return Outcome(Status.FEASIBLE, found.schedule(instance))
    schedule = found.schedule(instance)
    info = {
        "unfinished_jobs": [names[i] for i in found.unfinished],
        "unfinished_slots": float(found.left.sum()),
        "late_jobs": [names[i] for i in found.late],
        "objective_as_printed": check(instance, schedule).objective,
        "schedule_as_printed": schedule,
    }
    return Outcome(Status.UNKNOWN, info=info)


def first_schedule(instance: ElasticInstance, options: Options) -> Schedule | None:
    """Return the user's start, or else the schedule of the model's variant, and report it; None without either."""
    first = options.start
    if first is None:
        found = allocate(instance, "fluid" if instance.model == "fluid" else "corrected")
        first = None if len(found.unfinished) else found.schedule(instance)
    if first is not None:
        options.report(incumbent=check(instance, first).objective, schedule=lambda: first)
    return first


def allocate(instance: ElasticInstance, variant: str = "corrected") -> Allocation:
    """Run Algorithm 1.

    Parameters
    ----------
    instance
        N jobs, T slots.
    variant
        One of `VARIANTS`.
    """
    jobs = instance.jobs
    slots = instance.time.slots
    closed = variant == "printed"
    end = np.minimum(jobs.window_end + closed, slots)
    rank = np.empty(len(jobs), dtype=np.int64)
    rank[np.argsort(jobs.arrival + jobs.length + jobs.slack, kind="stable")] = np.arange(len(jobs))
    first, member = _members(instance, end, rank)
    order, tie = _classes(instance)
    size = int(((end - jobs.arrival) * instance.units.count[instance.profile_of_job]).sum())
    left = np.array(jobs.length if variant == "fluid" else jobs.required)
    capacity = instance.cluster.limit if variant == "corrected" else instance.cluster.capacity
    free = np.array(capacity, dtype=np.float64)
    width = end - jobs.arrival
    level = np.zeros(int(width.sum()), dtype=np.int64)
    rest = np.zeros(int(width.sum()))
    offset = np.asarray(np.cumsum(width) - width - jobs.arrival, dtype=np.int64)
    with loops(STEPS_PER_UNIT * size, (_take,), COMPILE_SECONDS):
        _take(
            order, tie, rank, first, member, instance.units.gain, instance.units.servers,
            VARIANTS.index(variant), offset, level, rest, left, free,
        )  # fmt: skip
    used = np.flatnonzero((level > 0) | (rest > 0))
    count = level[used] + (rest[used] > 0)
    pair = np.repeat(used, count)
    unit = np.arange(len(pair)) - np.repeat(np.cumsum(count) - count, count)
    job = np.searchsorted(np.cumsum(width), pair, side="right")
    slot = pair - offset[job]
    part = np.where(unit < level[pair], 1.0, rest[pair])
    left = np.maximum(left, 0.0)
    if variant == "fluid":
        left[left <= jobs.length - jobs.required] = 0.0  # parts that add up but for rounding
    if variant == "corrected":
        kept = _trimmed(instance, job, slot, unit)
        job = job[kept]
        slot = slot[kept]
        unit = unit[kept]
        part = part[kept]
    late = np.unique(job[slot >= jobs.window_end[job]])
    return Allocation(job, slot, unit, part, left, late)


def _classes(instance: ElasticInstance) -> tuple[IntArray, IntArray]:
    """Return (profile, slot, unit) of every class in the order of the greedy, and where each ratio begins.

    By throughput per carbon, best first. A unit never comes before the one below it, also where its own
    ratio is better. Shapes (C, 3) and (R + 1,) for C classes of R ratios.
    """
    carbon = unit_carbon(instance)
    gain = instance.units.gain[:, None, :]
    ratio = np.divide(gain, carbon, out=np.full(carbon.shape, np.inf), where=carbon > 0)
    ratio = np.minimum.accumulate(ratio, axis=2)
    exists = np.arange(carbon.shape[2]) < instance.units.count[:, None]
    profile, slot, unit = np.nonzero(np.broadcast_to(exists[:, None, :], carbon.shape))
    key = ratio[profile, slot, unit]
    order = np.lexsort((profile, unit, slot, -key))
    begins = np.flatnonzero(np.concatenate([[True], key[order][1:] != key[order][:-1]]))
    return np.column_stack([profile, slot, unit])[order], np.append(begins, len(order))


def _members(instance: ElasticInstance, end: IntArray, rank: IntArray) -> tuple[IntArray, IntArray]:
    """Return the jobs of each profile whose window holds each slot, by deadline, compressed."""
    jobs = instance.jobs
    slots = instance.time.slots
    width = end - jobs.arrival
    job = np.repeat(np.arange(len(jobs)), width)
    slot = np.arange(len(job)) - np.repeat(np.cumsum(width) - width - jobs.arrival, width)
    key = instance.profile_of_job[job] * slots + slot
    first = np.zeros(len(instance.profiles) * slots + 1, dtype=np.int64)
    np.cumsum(np.bincount(key, minlength=len(first) - 1), out=first[1:])
    return first, job[np.lexsort((rank[job], key))]


@managed_kernel
def _queue(
    order: IntArray, begin: int, end: int, rank: IntArray, first: IntArray, member: IntArray, slots: int
) -> IntArray:
    """Return (job, class) of the units of classes begin..end-1 by deadline, then by slot and unit, shape (Q, 2)."""
    size = 0
    for c in range(begin, end):
        cell = order[c, 0] * slots + order[c, 1]
        size += first[cell + 1] - first[cell]
    found = np.empty((size, 2), dtype=np.int64)
    key = np.empty(size, dtype=np.int64)
    row = 0
    for c in range(begin, end):
        cell = order[c, 0] * slots + order[c, 1]
        for m in range(first[cell], first[cell + 1]):
            found[row, 0] = member[m]
            found[row, 1] = c
            key[row] = rank[member[m]] * (end - begin) + c - begin
            row += 1
    return found[np.argsort(key)] if end - begin > 1 else found


@kernel
def _take(
    order: IntArray,
    tie: IntArray,
    rank: IntArray,
    first: IntArray,
    member: IntArray,
    gain: FloatArray,
    servers: FloatArray,
    variant: int,
    offset: IntArray,
    level: IntArray,
    rest: FloatArray,
    left: FloatArray,
    free: FloatArray,
) -> None:
    """Walk through the classes; count whole units taken in `level`, and note the part of a last one in `rest`."""
    slots = len(free)
    for r in range(len(tie) - 1):
        queue = _queue(order, tie[r], tie[r + 1], rank, first, member, slots)
        for i in range(len(queue)):
            j = queue[i, 0]
            c = queue[i, 1]
            p = order[c, 0]
            t = order[c, 1]
            u = order[c, 2]
            need = servers[p, u]
            place = offset[j] + t
            if left[j] <= 0.0 or level[place] != u or rest[place] > 0.0:
                continue
            share = 1.0
            if variant == 0:
                if need >= free[t]:  # sum + k >= M, with the servers of all other jobs in the sum
                    continue
            elif variant == 1:
                if need > free[t]:
                    continue
            else:
                share = min(1.0, free[t] / need, left[j] / gain[p, u])
                if share <= 1e-12:
                    continue
            free[t] -= share * need
            left[j] -= share * gain[p, u]
            if share == 1.0:
                level[place] = u + 1
            else:
                rest[place] = share
                if left[j] <= 1e-12:
                    left[j] = 0.0


def _trimmed(instance: ElasticInstance, job: IntArray, slot: IntArray, unit: IntArray) -> IntArray:
    """Return which units remain once each job gives up those of its last slot that it does not need."""
    gain = instance.units.gain[instance.profile_of_job[job], unit]
    done = np.bincount(job, gain, len(instance.jobs))
    last = np.full(len(instance.jobs), -1, dtype=np.int64)
    np.maximum.at(last, job, slot)
    kept = np.ones(len(job), dtype=np.bool_)
    spare = done - instance.jobs.required
    in_last = np.flatnonzero(slot == last[job])
    for i in in_last[np.lexsort((-unit[in_last], job[in_last]))]:  # highest unit first
        if gain[i] <= spare[job[i]]:
            spare[job[i]] -= gain[i]
            kept[i] = False
        else:
            spare[job[i]] = -1.0  # what is below it stays
    return np.flatnonzero(kept)

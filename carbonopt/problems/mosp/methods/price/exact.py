"""Closing the gap by branching: the program of a small instance, without the places that prices rule out.

A place whose excess is above the gap between incumbent and bound is in no better schedule than the incumbent. Of what
is left, u counts the jobs of a shape that start at a place, and n those of a member that start in a slot; with u whole,
n is a transportation problem, whose vertices are whole.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray, prefix_sums
from carbonopt.core.options import Options
from carbonopt.core.status import Status
from carbonopt.milp import highs
from carbonopt.milp.block import Block
from carbonopt.milp.program import Program
from carbonopt.problems.mosp.methods.price.dual import Dual
from carbonopt.problems.mosp.methods.price.places import Places
from carbonopt.problems.mosp.methods.price.table import time_costs

ROUNDING = 1e-6
"""Relative, of the excess of places: they are kept in single precision."""


@dataclass(frozen=True, eq=False)
class SmallProgram:
    """A program and what its columns mean.

    Parameters
    ----------
    program
        Minimises the cost of all jobs.
    u, n
        Its blocks of columns.
    shape, place
        Of each u.
    member, slot
        Of each n.
    """

    program: Program
    u: Block
    n: Block
    shape: IntArray
    place: IntArray
    member: IntArray
    slot: IntArray

    def values(self, dual: Dual, place: IntArray) -> FloatArray:
        """Return the columns that stand for a schedule, given by each job's place."""
        slots = dual.shape[2]
        values = np.zeros(self.program.columns)
        job = np.flatnonzero(place >= 0)
        columns = {key: k for k, key in enumerate(zip(self.shape.tolist(), self.place.tolist(), strict=True))}
        numbers = {key: k for k, key in enumerate(zip(self.member.tolist(), self.slot.tolist(), strict=True))}
        for i in job:
            values[self.u.start + columns[int(dual.jobs.shape[i]), int(place[i])]] += 1
            values[self.n.start + numbers[int(dual.jobs.member[i]), int(place[i]) % slots]] += 1
        if "rejected" in self.program.variables:
            rejected = np.bincount(dual.jobs.member[place < 0], minlength=len(dual.table.jobs))
            values[self.program.variables["rejected"].slice] = rejected
        return values

    def places(self, dual: Dual, values: FloatArray) -> IntArray:
        """Return a place for each job, -1 for rejected, from whole columns."""
        slots = dual.shape[2]
        waiting: dict[tuple[int, int], list[int]] = {}
        for k in np.flatnonzero(values[self.u.slice] > 0.5):
            key = int(self.shape[k]), int(self.place[k]) % slots
            waiting.setdefault(key, []).extend([int(self.place[k])] * round(values[self.u.start + k]))
        jobs_of: dict[int, list[int]] = {}
        for i, m in enumerate(dual.jobs.member.tolist()):
            jobs_of.setdefault(m, []).append(i)
        place = np.full(len(dual.jobs.member), -1, dtype=np.int64)
        for k in np.flatnonzero(values[self.n.slice] > 0.5):
            for _ in range(round(values[self.n.start + k])):
                free = None
                jobs = jobs_of[int(self.member[k])]
                if jobs:
                    free = waiting.get((int(dual.jobs.shape[jobs[0]]), int(self.slot[k])))
                if free:
                    place[jobs.pop()] = free.pop()
        return place


@dataclass(frozen=True, eq=False)
class Closed:
    """What HiGHS says of a small program, in the sense of a minimisation.

    Parameters
    ----------
    status, info
        Its own.
    place
        Of each job, -1 for rejected; None where it has no schedule.
    bound
        On the cost of all schedules; None where it has none.
    """

    status: Status
    info: dict[str, Any]
    place: IntArray | None
    bound: float | None


def close_gap(
    dual: Dual,
    places: Places,
    known: tuple[IntArray, float] | None,
    bound: float,
    typical: float,
    rounding: float,
    options: Options,
    cuts_only: bool = False,
    most_columns: float = np.inf,
) -> Closed | None:
    """Close the gap of an instance, or some of it, over the places that prices do not rule out.

    Parameters
    ----------
    dual, places
        Its dual function, and the places of its jobs at some prices.
    known
        Place of each job in the best schedule, and its cost; None where there is none.
    bound
        What these prices prove.
    typical
        Cost of a typical job, in size.
    rounding
        By how much the costs of a schedule may be wrong.
    options
        Of the run.
    cuts_only
        Whether to stop before branching: cuts raise the bound.
    most_columns
        Of the program.

    Returns
    -------
    Closed or None
        None if not all places are known, or columns are too many.

    Raises
    ------
    KeyboardInterrupt
        At Ctrl-C.
    """
    most = np.inf
    if known is not None:
        most = known[1] - bound + 1e-9 * (abs(known[1]) + abs(bound)) + 2 * rounding
    small = small_program(dual, places, most)
    if small is None or small.program.columns > most_columns:
        return None
    result = highs.solve(
        small.program,
        replace(options, callback=None),
        start=None if known is None else small.values(dual, known[0]),
        typical_cost=typical,
        bound_error=(len(dual.jobs.member), rounding),
        root_only=cuts_only,
    )
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    place = None if result.values is None else small.places(dual, result.values)
    proven = result.bound
    if proven is not None and known is not None:
        proven = min(proven, known[1])  # what costs more than the best schedule is not in the program
    return Closed(result.status, result.info, place, proven)


def small_program(dual: Dual, places: Places, most_excess: float) -> SmallProgram | None:
    """Return the program over the places whose excess is at most `most_excess`; None if not all of these are known."""
    table = dual.table
    clusters, _, slots = dual.shape
    most_excess *= 1 + ROUNDING
    full = (places.size == places.entry.shape[1]) & (places.entry.shape[1] < clusters * slots)
    if (full & (places.excess[:, -1] <= most_excess)).any():
        return None
    shape_of_class = np.repeat(np.arange(len(table.group)), np.diff(table.class_first))
    shape_of = np.repeat(shape_of_class, np.diff(table.member_first))
    member, k = np.nonzero((np.arange(places.entry.shape[1]) < places.size[:, None]) & (places.excess <= most_excess))
    place = places.place[member, k].astype(np.int64)
    key = np.unique(shape_of[member] * (clusters * slots) + place)
    shape = key // (clusters * slots)
    where = key % (clusters * slots)
    key = np.unique(member * slots + place % slots)
    of = key // slots
    slot = key % slots
    jobs = np.bincount(shape_of, weights=table.jobs, minlength=len(table.group)).astype(np.float64)
    program = Program("small")
    u = _add_units(program, dual, shape, where, jobs)
    end = slot + table.length[table.group[shape_of[of]]]
    cost = time_costs(end, table.deadline[of], table)
    n = program.add_variables("n", len(of), upper=table.jobs[of], cost=cost)
    every = program.add_rows("jobs", len(table.jobs), lower=table.jobs, upper=table.jobs)
    program.add_entries(every.start + of, n.index, 1.0)
    if np.isfinite(table.rejection_cost):
        rejected = program.add_variables("rejected", len(table.jobs), upper=table.jobs, cost=table.rejection_cost)
        program.add_entries(every.index, rejected.index, 1.0)
    both = np.concatenate([shape * slots + where % slots, shape_of[of] * slots + slot])
    key, row = np.unique(both, return_inverse=True)
    link = program.add_rows("link", len(key), lower=0.0, upper=0.0)
    program.add_entries(link.start + row[: len(shape)], u.index, 1.0)
    program.add_entries(link.start + row[len(shape) :], n.index, -1.0)
    return SmallProgram(program, u, n, shape, where, of, slot)


def _add_units(program: Program, dual: Dual, shape: IntArray, where: IntArray, most: FloatArray) -> Block:
    """Add u: what depends on the cluster, and the capacity that it takes."""
    table = dual.table
    _, resources, slots = dual.shape
    group = table.group[shape]
    j = where // slots
    t = where % slots
    length = table.length[group]
    base = prefix_sums(dual.base)
    unit_cost = ((base[j, :, t + length] - base[j, :, t]) * table.mix[group]).sum(axis=1)
    u = program.add_variables("u", len(shape), upper=most[shape], cost=table.scale[shape] * unit_cost, integer=True)
    rows = program.add_rows("capacity", dual.shape, upper=dual.limit)
    first = np.cumsum(length) - length
    column = np.repeat(u.index, length)
    for r in range(resources):
        row = rows.start + (j * resources + r) * slots + t
        running = np.repeat(row - first, length) + np.arange(len(column))
        program.add_entries(running, column, np.repeat(table.scale[shape] * table.mix[group, r], length))
    return u

"""The arrays that kernels read and change: an instance as numbers, and an incomplete schedule."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray, prefix_sums
from carbonopt.core.options import Schedule
from carbonopt.problems.ecas.data.instance import ANY, EcasInstance
from carbonopt.problems.ecas.data.schedule import as_schedule
from carbonopt.problems.ecas.methods.price.words import Fields, fields_for, packed

NOWHERE = -1
"""Machine of a job that has no place."""


class Tables(NamedTuple):
    """An instance as arrays.

    Parameters
    ----------
    arrival, last_start, duration
        Of the N jobs [slot], shape (N,).
    own
        The machine on which a job must run, below 0 where it may run on any, shape (N,).
    kwh
        Energy of a job in a slot [kWh], shape (N,).
    use, capacity
        Units of each resource, shapes (N, R) and (M, R).
    fields
        Where they stand in words, and after them a field that is below 0 where a machine is not available.
    need
        Units of a job as words, shape (N, W).
    value
        Sums of the objective of a kilowatt hour over the first t slots, shape (T + 1,).
    idle
        Objective of a machine that is on, by slot: infinite where it is not available, shape (M, T).
    up, down
        Objective of a start and a stop, shape (M,).
    penalty
        What a job without a place counts [objective], shape (N,).
    least_energy
        What a job adds to the objective by itself at its best start, shape (N,).
    least_idle
        The least that idle energy can add to the objective of a machine: below 0 only where a price is, shape (M,).
    size
        Share of a machine's scarcest resource times slots, by which jobs are sorted, shape (N,).
    """

    arrival: IntArray
    last_start: IntArray
    duration: IntArray
    own: IntArray
    kwh: FloatArray
    use: IntArray
    capacity: IntArray
    fields: Fields
    need: IntArray
    value: FloatArray
    idle: FloatArray
    up: FloatArray
    down: FloatArray
    penalty: FloatArray
    least_energy: FloatArray
    least_idle: FloatArray
    size: FloatArray


class State(NamedTuple):
    """A schedule that jobs are taken from and put into.

    Parameters
    ----------
    machine, start
        Of each job; machine `NOWHERE` where it has no place, shape (N,).
    free
        Units that are not in use, as words, shape (M, W, T). The last field is below 0 where a machine is not
        available, so that no job finds room.
    running
        Jobs that run, shape (M, T).
    on
        1 where the machine is on: the cheapest pattern for the jobs that run, shape (M, T).
    cost
        Of that pattern: idle energy, starts and stops, shape (M,).
    came
        Work space of the pattern: whether the machine was on before, by slot and by whether it is on, shape (T, 2).
    off_cost
        Sums over the first t slots of what it costs to be on where the machine is off, shape (M, T + 1).
    full
        Work space of a search for room: the last slot of a job's window, up to each, in which it lacks something;
        shape (T,).
    """

    machine: IntArray
    start: IntArray
    free: IntArray
    running: IntArray
    on: IntArray
    cost: FloatArray
    came: IntArray
    off_cost: FloatArray
    full: IntArray


class Ranking(NamedTuple):
    """Starts of each job in the order of what they cost, whatever the machine.

    Parameters
    ----------
    guide
        Share of the idle energy that the scores hold, from 0 to 1: the rest of it is of a machine.
    first
        Rows of a job's starts: from ``first[j]`` to ``first[j + 1]``, shape (N + 1,).
    start, score
        A start, and the job's energy with the price of its room there [objective], one row a start.
    """

    guide: float
    first: IntArray
    start: IntArray
    score: FloatArray


def all_starts(arrival: IntArray, last_start: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the first row of each job and of one beyond, shape (N + 1,), and job and start of each row."""
    count = np.maximum(last_start - arrival + 1, 0)
    first = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
    job = np.repeat(np.arange(len(count)), count)
    return first, job, np.arange(len(job)) - first[job] + arrival[job]


def ranked(tables: Tables, prices: FloatArray, guide: float) -> Ranking:
    """Return the ranking of all starts by their energy and the prices of their room.

    Parameters
    ----------
    prices
        Sums over the first t slots, shape (R, T + 1).
    guide
        Share of the idle energy that the prices hold.
    """
    first, job, start = all_starts(tables.arrival, tables.last_start)
    end = start + tables.duration[job]
    score = tables.kwh[job] * (tables.value[end] - tables.value[start])
    for r in range(len(prices)):
        score += tables.use[job, r] * (prices[r, end] - prices[r, start])
    order = np.lexsort((score, job))
    return Ranking(guide, first, start[order], score[order])


def by_energy(tables: Tables) -> Ranking:
    """Return the ranking of all starts by their energy alone."""
    return ranked(tables, np.zeros((0, len(tables.value))), 0.0)


def tables_of(instance: EcasInstance, penalty: float) -> Tables:
    """Return an instance as arrays; a job without a place counts `penalty` times what its room may cost."""
    jobs, machines = instance.jobs, instance.machines
    if len(machines):
        mean = np.maximum(machines.capacity.mean(axis=0), 1e-9)
    else:
        mean = np.ones(len(instance.resources))
    share = (jobs.use / mean).max(axis=1, initial=1e-3)
    size = share * jobs.duration
    idle = np.abs(instance.idle_cost).mean() if instance.idle_cost.size else 0.0
    energy = instance.job_kwh * jobs.duration * np.abs(instance.value_per_kwh).max()
    change = float(np.mean(machines.up_cost + machines.down_cost)) if len(machines) else 0.0
    own = np.full(len(jobs), ANY) if jobs.machine is None else np.array(jobs.machine)
    on_cost = np.array(instance.idle_cost)
    if machines.available is not None:
        on_cost[~machines.available] = np.inf
    value = prefix_sums(instance.value_per_kwh)
    _, job, start = all_starts(jobs.arrival, jobs.last_start)
    least_energy = np.full(len(jobs), np.inf)
    np.minimum.at(least_energy, job, instance.job_kwh[job] * (value[start + jobs.duration[job]] - value[start]))
    use = np.array(jobs.use, order="C")  # of a file they come by column: loops would be compiled for both orders
    capacity = np.array(machines.capacity, order="C")
    most = np.maximum(use.max(axis=0, initial=0), capacity.max(axis=0, initial=0))
    fields = fields_for(np.append(most, 0))
    left_out = penalty * (energy + idle * size + change + 1e-9)
    return Tables(
        np.array(jobs.arrival),
        np.array(jobs.last_start),
        np.array(jobs.duration),
        own,
        np.array(instance.job_kwh),
        use,
        capacity,
        fields,
        packed(fields, np.pad(use, ((0, 0), (0, 1)))),
        np.array(value),
        on_cost,
        np.array(machines.up_cost),
        np.array(machines.down_cost),
        left_out,
        np.minimum(least_energy, left_out),
        np.minimum(on_cost, 0.0).sum(axis=1),
        size,
    )


def empty_state(instance: EcasInstance, tables: Tables) -> State:
    """Return a schedule without jobs; patterns are yet to be made."""
    jobs = len(instance.jobs)
    machines = len(instance.machines)
    slots = instance.time.slots
    free = np.zeros((machines, slots, len(instance.resources) + 1), dtype=np.int64)
    free[:, :, :-1] = tables.capacity[:, None, :]
    available = instance.machines.available
    if available is not None:
        free[~available, -1] = -1
    words = packed(tables.fields, free) + tables.fields.guards
    return State(
        np.full(jobs, NOWHERE, dtype=np.int64),
        np.zeros(jobs, dtype=np.int64),
        np.ascontiguousarray(words.transpose(0, 2, 1)),
        np.zeros((machines, slots), dtype=np.int64),
        np.zeros((machines, slots), dtype=np.int64),
        np.zeros(machines),
        np.zeros((slots, 2), dtype=np.int64),
        np.zeros((machines, slots + 1)),
        np.zeros(slots, dtype=np.int64),
    )


def schedule_of(instance: EcasInstance, state: State) -> Schedule:
    """Return a state in which every job has a place as a schedule."""
    jobs = range(len(instance.jobs))
    return as_schedule(instance, jobs, state.machine.tolist(), state.start.tolist(), state.on > 0)

"""The arrays that kernels read and change: an instance as numbers, and an incomplete schedule."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray, prefix_sums
from carbonopt.core.options import Schedule
from carbonopt.problems.ecas.data.instance import ANY, EcasInstance
from carbonopt.problems.ecas.data.schedule import as_schedule

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
    value
        Sums of the objective of a kilowatt hour over the first t slots, shape (T + 1,).
    idle
        Objective of a machine that is on, by slot: infinite where it is not available, shape (M, T).
    up, down
        Objective of a start and a stop, shape (M,).
    penalty
        What a job without a place counts [objective], shape (N,).
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
    value: FloatArray
    idle: FloatArray
    up: FloatArray
    down: FloatArray
    penalty: FloatArray
    least_idle: FloatArray
    size: FloatArray


class State(NamedTuple):
    """A schedule that jobs are taken from and put into.

    Parameters
    ----------
    machine, start
        Of each job; machine `NOWHERE` where it has no place, shape (N,).
    load
        Units in use, shape (M, T, R); beyond capacity where a machine is not available, so that no job finds room.
    running
        Jobs that run, shape (M, T).
    on
        1 where the machine is on: the cheapest pattern for the jobs that run, shape (M, T).
    cost
        Of that pattern: idle energy, starts and stops, shape (M,).
    came
        Work space of the pattern: whether the machine was on before, by slot and by whether it is on, shape (T, 2).
    closed
        Work space of a search for room: its number, then the number of the last one in which a start was closed, by
        slot, shape (T + 1,).
    """

    machine: IntArray
    start: IntArray
    load: IntArray
    running: IntArray
    on: IntArray
    cost: FloatArray
    came: IntArray
    closed: IntArray


class Ranking(NamedTuple):
    """Starts of each job in the order of what they cost, whatever the machine.

    Parameters
    ----------
    guide
        Weight of the prices of room, from 0 to 1.
    first
        Rows of a job's starts: from ``first[j]`` to ``first[j + 1]``, shape (N + 1,).
    start, score
        A start, and the job's energy with the price of its room there [objective], one row a start.
    """

    guide: float
    first: IntArray
    start: IntArray
    score: FloatArray


def ranked(tables: Tables, prices: FloatArray, guide: float) -> Ranking:
    """Return the ranking of all starts at prices of room that count with weight `guide`.

    Parameters
    ----------
    prices
        Sums over the first t slots, shape (R, T + 1).
    """
    count = np.maximum(tables.last_start - tables.arrival + 1, 0)
    first = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
    job = np.repeat(np.arange(len(count)), count)
    start = np.arange(len(job)) - first[job] + tables.arrival[job]
    end = start + tables.duration[job]
    score = tables.kwh[job] * (tables.value[end] - tables.value[start])
    for r in range(len(prices)):
        score += guide * tables.use[job, r] * (prices[r, end] - prices[r, start])
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
    return Tables(
        np.array(jobs.arrival),
        np.array(jobs.last_start),
        np.array(jobs.duration),
        own,
        np.array(instance.job_kwh),
        np.array(jobs.use, order="C"),  # of a file they come by column: loops would be compiled for both orders
        np.array(machines.capacity, order="C"),
        np.array(prefix_sums(instance.value_per_kwh)),
        on_cost,
        np.array(machines.up_cost),
        np.array(machines.down_cost),
        penalty * (energy + idle * size + change + 1e-9),
        np.minimum(on_cost, 0.0).sum(axis=1),
        size,
    )


def empty_state(instance: EcasInstance) -> State:
    """Return a schedule without jobs; patterns are yet to be made."""
    jobs = len(instance.jobs)
    machines = len(instance.machines)
    slots = instance.time.slots
    load = np.zeros((machines, slots, len(instance.resources)), dtype=np.int64)
    available = instance.machines.available
    if available is not None:
        load += np.where(available[:, :, None], 0, instance.machines.capacity[:, None, :] + 1)
    return State(
        np.full(jobs, NOWHERE, dtype=np.int64),
        np.zeros(jobs, dtype=np.int64),
        load,
        np.zeros((machines, slots), dtype=np.int64),
        np.zeros((machines, slots), dtype=np.int64),
        np.zeros(machines),
        np.zeros((slots, 2), dtype=np.int64),
        np.zeros(slots + 1, dtype=np.int64),
    )


def schedule_of(instance: EcasInstance, state: State) -> Schedule:
    """Return a state in which every job has a place as a schedule."""
    jobs = range(len(instance.jobs))
    return as_schedule(instance, jobs, state.machine.tolist(), state.start.tolist(), state.on > 0)

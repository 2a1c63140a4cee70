"""The checker of ecas: imports no solver, no formulation and no heuristic.

A schedule has the columns ``job``, ``machine``, ``start`` and ``end`` [slot]. A row with a job says where and when it
runs. A row without one (null) says that the machine is on from ``start`` to ``end``. Each such row is paid with one
start and one stop. A machine may be on from slot 0 and until the end of the last slot.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import fsum
from typing import Any

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray
from carbonopt.core.errors import shown
from carbonopt.core.report import Report, Violation
from carbonopt.problems.ecas.data.instance import EcasInstance

COLUMNS = ("job", "machine", "start", "end")
"""Columns that a schedule must have, and no others."""


@dataclass(frozen=True)
class Row:
    """One row of a schedule, by numbers of job and machine; job None where it says that the machine is on."""

    job: int | None
    machine: int
    start: int
    end: int


def check(instance: EcasInstance, schedule: dict[str, Any], info: dict[str, Any] | None = None) -> Report:  # noqa: ARG001
    """Check a schedule and evaluate it.

    Parameters
    ----------
    instance
        The instance that the schedule is for.
    schedule
        Columns ``job`` (name, or null for a machine that is on), ``machine``, ``start`` and ``end``.
    info
        Not used: nothing of a solver is needed to evaluate a schedule.

    Returns
    -------
    Report
        Every violated constraint, the objective, and the metrics ``energy_kwh``, ``idle_kwh``, ``energy_cost``,
        ``switching_cost``, ``starts``, and ``carbon_kg`` where the instance has a zone.
    """
    if set(schedule) != set(COLUMNS) or len({len(column) for column in schedule.values()}) != 1:
        message = f"the schedule must have the columns {', '.join(COLUMNS)}, all of one length"
        return Report((Violation("format", message),), None)
    rows, violations = _parsed(instance, schedule)
    violations += _placement(instance, rows)
    violations += _windows(instance, rows)
    on, overlaps = _on(instance, rows)
    violations += overlaps
    violations += _loads(instance, rows, on)
    objective, metrics = _value(instance, rows)
    return Report(tuple(violations), objective, metrics)


def _parsed(instance: EcasInstance, schedule: dict[str, Any]) -> tuple[list[Row], list[Violation]]:
    """Return the rows that can be understood, and a violation for each other."""
    jobs = {name: j for j, name in enumerate(instance.jobs.name)}
    machines = {name: m for m, name in enumerate(instance.machines.name)}
    rows: list[Row] = []
    faults: list[Violation] = []
    for job, machine, start, end in zip(*(schedule[name] for name in COLUMNS), strict=True):
        if not (job is None or (isinstance(job, str) and job in jobs)):
            faults.append(Violation("format", f"job {shown(job)} is unknown"))
        elif not isinstance(machine, str) or machine not in machines:
            faults.append(Violation("format", f"machine {shown(machine)} is unknown"))
        elif not (_is_slot(start) and _is_slot(end) and 0 <= start < end <= instance.time.slots):
            words = (
                f"slots {shown(start)} to {shown(end)} must be whole, from 0 to {instance.time.slots}, and not empty"
            )
            faults.append(Violation("format", words, job=job, cluster=machine))
        else:
            rows.append(Row(None if job is None else jobs[job], machines[machine], int(start), int(end)))
    return rows, faults


def _is_slot(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))


def _placement(instance: EcasInstance, rows: list[Row]) -> Iterator[Violation]:
    """Yield the jobs that do not run exactly once (1)."""
    times = np.bincount([row.job for row in rows if row.job is not None], minlength=len(instance.jobs))
    for j in np.flatnonzero(times != 1):
        name = instance.jobs.name[j]
        yield Violation("placement", f"job {name!r} runs {times[j]} times, must run once", job=name)


def _windows(instance: EcasInstance, rows: list[Row]) -> Iterator[Violation]:
    """Yield the runs that are not as long as the job, or outside of its window."""
    jobs = instance.jobs
    for row in rows:
        if row.job is None:
            continue
        j = row.job
        name = jobs.name[row.job]
        if row.end - row.start != jobs.duration[j]:
            words = f"job {name!r} runs for {row.end - row.start} slots, must run for {jobs.duration[j]}"
            yield Violation("duration", words, job=name, slot=row.start)
        if row.start < jobs.arrival[j] or row.end > jobs.deadline[j]:
            words = f"job {name!r} runs in {row.start}..{row.end}, its window is {jobs.arrival[j]}..{jobs.deadline[j]}"
            yield Violation("window", words, job=name, slot=row.start)
        own = -1 if jobs.machine is None else int(jobs.machine[j])
        if own not in (-1, row.machine):
            names = instance.machines.name
            words = f"job {name!r} runs on machine {names[row.machine]!r}, must run on {names[own]!r}"
            yield Violation("machine", words, job=name, slot=row.start)


def _on(instance: EcasInstance, rows: list[Row]) -> tuple[BoolArray, list[Violation]]:
    """Return which machine is on in which slot, shape (M, T), and where it is said twice."""
    times = np.zeros((len(instance.machines), instance.time.slots), dtype=np.int64)
    for row in rows:
        if row.job is None:
            times[row.machine, row.start : row.end] += 1
    faults = []
    for m in np.flatnonzero((times > 1).any(axis=1)):
        name = instance.machines.name[m]
        slot = int(np.argmax(times[m] > 1))
        faults.append(Violation("on", f"machine {name!r} is on twice in slot {slot}", cluster=name, slot=slot))
    return times > 0, faults + _unavailable(instance, times > 0)


def _unavailable(instance: EcasInstance, on: BoolArray) -> list[Violation]:
    """Return the machines that are on where they may not be."""
    if instance.machines.available is None:
        return []
    wrong = on & ~instance.machines.available
    found = []
    for m in np.flatnonzero(wrong.any(axis=1)):
        slot = int(np.argmax(wrong[m]))
        name = instance.machines.name[m]
        words = f"machine {name!r} is on in slot {slot}, in which it is not available"
        found.append(Violation("available", words, cluster=name, slot=slot))
    return found


def _loads(instance: EcasInstance, rows: list[Row], on: BoolArray) -> Iterator[Violation]:
    """Yield the jobs that run on a machine that is off (3), and the loads above the capacity (2)."""
    machines = instance.machines
    load = np.zeros((*on.shape, len(instance.resources)))  # of doubles: sums beyond all capacities must not wrap
    for row in rows:
        if row.job is None:
            continue
        load[row.machine, row.start : row.end] += instance.jobs.use[row.job]
        off = ~on[row.machine, row.start : row.end]
        if off.any():
            job = instance.jobs.name[row.job]
            name = machines.name[row.machine]
            slot = row.start + int(np.argmax(off))
            words = f"job {job!r} runs on machine {name!r}, which is off in slot {slot}"
            yield Violation("on", words, job=job, cluster=name, slot=slot)
    excess = load - machines.capacity[:, None, :]
    for m, r in np.argwhere((excess > 0).any(axis=1)):
        slot = int(np.argmax(excess[m, :, r]))
        amount = float(excess[m, :, r].max())
        name = machines.name[m]
        resource = instance.resources[r]
        words = f"machine {name!r} lacks {amount:.16g} {resource} in slot {slot}"
        yield Violation("capacity", words, amount=amount, cluster=name, slot=slot, resource=resource)


def _value(instance: EcasInstance, rows: list[Row]) -> tuple[float, dict[str, Any]]:
    """Return the objective and the metrics."""
    kwh = np.zeros(instance.time.slots)
    idle = np.zeros(instance.time.slots)
    switching: list[float] = []
    hours = instance.time.slot_hours
    machines = instance.machines
    for row in rows:
        if row.job is not None:
            kwh[row.start : row.end] += instance.jobs.power_kw[row.job] * hours
            continue
        idle[row.start : row.end] += machines.idle_kw[row.machine] * hours
        switching += [float(machines.up_cost[row.machine]), float(machines.down_cost[row.machine])]
    total = kwh + idle
    cost = _sum(total * instance.price_per_kwh)
    metrics = {
        "energy_kwh": _sum(total),
        "idle_kwh": _sum(idle),
        "energy_cost": cost,
        "switching_cost": fsum(switching),
        "starts": len(switching) // 2,
    }
    objective = instance.weights.cost * cost + metrics["switching_cost"]
    if instance.carbon.zones:
        metrics["carbon_kg"] = _sum(total * instance.carbon.g_per_kwh[0]) / 1000
        objective += instance.weights.carbon_kg * metrics["carbon_kg"]
    return objective, metrics


def _sum(values: FloatArray) -> float:
    return fsum(values.tolist())

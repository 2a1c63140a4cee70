"""From columns of a program to a schedule in continuous time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.options import Schedule
from carbonopt.problems.purchasing.data.instance import ROUNDING, PurchasingInstance
from carbonopt.problems.purchasing.data.purchase_options import ON_DEMAND, OPTIONS, RESERVED, SHARED, SPOT
from carbonopt.problems.purchasing.data.settings import Limits
from carbonopt.problems.purchasing.formulation.form import Form
from carbonopt.problems.purchasing.formulation.piece_program import PieceProgram
from carbonopt.problems.purchasing.verify.accounts import load_of
from carbonopt.problems.purchasing.verify.check import check

SHORTEST_HOURS = 1e-8
"""Pieces shorter than this come from a solver's tolerance."""
LEAST = 1e-12
"""Hours that come from rounding."""


@dataclass(frozen=True)
class CheckedSchedule:
    """A schedule with what the checker says of it; the objective is infinite where it is not feasible."""

    schedule: Schedule
    info: dict[str, Any] = field(default_factory=dict)
    objective: float = np.inf


def checked(instance: PurchasingInstance, schedule: Schedule, reserved: int | None = None) -> CheckedSchedule:
    """Return a schedule with its value; where R is to be decided, with `reserved` or the best number for it."""
    info: dict[str, Any] = {}
    if instance.reserved_cpus is None:
        if reserved is None:
            info["reserved_cpus"] = _least_reserved(instance, schedule)
        else:
            info["reserved_cpus"] = reserved
    report = check(instance, schedule, info)
    return CheckedSchedule(schedule, info, report.cost)


def tightened(instance: PurchasingInstance, limits: Limits, found: CheckedSchedule, share: float) -> Limits:
    """Return limits that are tighter by a share of what a schedule exceeds those of the instance by."""
    metrics = check(instance, found.schedule, found.info).metrics
    asked = {name: most for name, most in vars(instance.limits).items() if most is not None}
    over = {name: max(0.0, metrics[name] - most) for name, most in asked.items()}
    return Limits(**{name: max(0.0, getattr(limits, name) - share * over[name]) for name in asked})


def rounded(instance: PurchasingInstance, form: Form, values: FloatArray) -> CheckedSchedule:
    """Return the best schedule that columns stand for: whole or not, each job does what is largest."""
    if isinstance(form, PieceProgram):
        both = (checked(instance, pieces_of(instance, form, values, level)) for level in (True, False))
        return min(both, key=lambda one: one.objective)
    job, start, option = form.runs(values)
    if instance.model != "no-split":
        return checked(instance, runs_of(instance, job, start, option))
    reserved = instance.reserved_cpus
    if reserved is None:
        reserved = round(float(values[form.program.block("reserved").start]))
    pool = np.flatnonzero(option != SPOT)
    work = (instance.jobs.cpus * instance.jobs.length_hours)[job[pool]]
    order = pool[np.lexsort((-work, option[pool] != RESERVED))]  # as chosen as far as they fit, then any that fits
    option = np.where(option == SPOT, SPOT, reserve(instance, reserved, job, start, order))
    return checked(instance, runs_of(instance, job, start, option), reserved)


def runs_of(instance: PurchasingInstance, job: IntArray, start: FloatArray, option: IntArray) -> Schedule:
    """Return the schedule of uninterrupted runs."""
    return _table(instance, job, start, start + instance.jobs.length_hours[job], option)


def _table(
    instance: PurchasingInstance, job: IntArray, start: FloatArray, end: FloatArray, option: IntArray
) -> Schedule:
    names = instance.jobs.name
    return {
        "job": [names[j] for j in job],
        "start_hours": start.tolist(),
        "end_hours": end.tolist(),
        "option": [OPTIONS[code] for code in option],
    }


def reserve(
    instance: PurchasingInstance, reserved: float, job: IntArray, start: FloatArray, order: IntArray
) -> IntArray:
    """Return an option for each run: reserved CPUs if all of it fits with those before it in `order`, else on demand.

    Parameters
    ----------
    instance, reserved
        The instance, and R.
    job, start
        The runs.
    order
        Positions of those that may have reserved CPUs.
    """
    end = start + instance.jobs.length_hours[job]
    moment = np.unique(np.concatenate([start, end]))
    load = np.zeros(len(moment))
    first = np.searchsorted(moment, start)
    last = np.searchsorted(moment, end)
    option = np.full(len(job), ON_DEMAND, dtype=np.int64)
    room = reserved * (1 + ROUNDING) - instance.jobs.cpus[job]
    for run in order[room[order] >= 0]:
        span = slice(first[run], last[run])
        if load[span].max() <= room[run]:
            load[span] += instance.jobs.cpus[job[run]]
            option[run] = RESERVED
    return option


def best_reserved(instance: PurchasingInstance, job: IntArray, start: FloatArray, end: FloatArray) -> int:
    """Return the number of reserved CPUs at which runs that share them cost least.

    One more is worth its price as long as the load is above for more than the share p_res / p_od of the horizon.
    """
    if not len(job):
        return 0
    moment, load = load_of(start, end, instance.jobs.cpus[job])
    hours = np.diff(moment)
    load = load[:-1]
    order = np.argsort(-load, kind="stable")
    enough = np.cumsum(hours[order]) > instance.prices.reserved_fraction * instance.time.hours
    busiest = load[order][np.flatnonzero(enough)[:1]]
    return int(np.ceil(busiest[0] - ROUNDING)) if len(busiest) else 0


def _least_reserved(instance: PurchasingInstance, schedule: Schedule) -> int:
    """Return the best number of reserved CPUs for a schedule as it is."""
    index = {name: i for i, name in enumerate(instance.jobs.name)}
    option = np.array([OPTIONS.index(name) for name in schedule["option"]], dtype=np.int64)
    pool = option <= SHARED
    job = np.array([index[name] for name in schedule["job"]], dtype=np.int64)[pool]
    start, end = (np.array(schedule[key], dtype=np.float64)[pool] for key in ("start_hours", "end_hours"))
    firm = option[pool] == RESERVED
    _, load = load_of(start[firm], end[firm], instance.jobs.cpus[job[firm]])
    needed = int(np.ceil(load.max(initial=0.0) * (1 - ROUNDING)))
    return max(needed, best_reserved(instance, job, start, end) if instance.model != "no-split" else 0)


def pieces_of(instance: PurchasingInstance, form: PieceProgram, values: FloatArray, level: bool) -> Schedule:
    """Return the schedule of interrupted jobs that the columns stand for.

    Parameters
    ----------
    instance, form, values
        The instance, its program and the columns.
    level
        Whether the jobs in a slot follow each other around it, which levels their load; else all begin with it.
    """
    spot = form.spot(values)
    on_spot = np.zeros(len(instance.jobs), dtype=np.bool_)
    on_spot[form.choices.job[spot]] = True
    work = _whole_work(instance, form, np.where(on_spot[form.job], 0.0, form.work(values)))
    pieces = _placed(instance, form, work, level)
    job, start, end = (np.concatenate(part) for part in zip(*pieces, strict=True))
    job, start, end = _merged(job, start, end)
    option = np.full(len(job), SHARED, dtype=np.int64)
    of_spot = form.choices.job[spot]
    runs = (of_spot, form.choices.start[spot], form.choices.start[spot] + instance.jobs.length_hours[of_spot])
    job, start, end = (np.concatenate(pair) for pair in zip((job, start, end), runs, strict=True))
    return _table(instance, job, start, end, np.concatenate([option, form.choices.option[spot]]))


def _whole_work(instance: PurchasingInstance, form: PieceProgram, work: FloatArray) -> FloatArray:
    """Return the hours of each job and slot, cleared of a solver's tolerances; jobs without any are left so."""
    work = np.where(work < SHORTEST_HOURS, 0.0, work)
    work = np.where(form.hours - work < SHORTEST_HOURS, form.hours, work)
    some = np.bincount(form.job, work, len(instance.jobs)) > 0
    missing = np.where(some, instance.jobs.length_hours - np.bincount(form.job, work, len(instance.jobs)), 0.0)
    for j in np.flatnonzero(np.abs(missing) > LEAST):
        cells = np.flatnonzero(form.job == j)
        for cell in cells[np.lexsort((-work[cells], work[cells] == 0))]:
            change = np.clip(missing[j], -work[cell], form.hours[cell] - work[cell])
            work[cell] += change
            missing[j] -= change
    return work


def _placed(
    instance: PurchasingInstance, form: PieceProgram, work: FloatArray, level: bool
) -> list[tuple[IntArray, FloatArray, FloatArray]]:
    """Return job, start and end of the pieces in the slots."""
    step = instance.time.slot_hours
    jobs = instance.jobs
    begin = np.maximum(form.slot * step, jobs.arrival_hours[form.job])
    finish = np.minimum((form.slot + 1) * step, instance.latest_end_hours[form.job])
    used = np.flatnonzero(work > 0)
    final = np.zeros(len(jobs), dtype=np.int64)
    np.maximum.at(final, form.job[used], form.slot[used])
    full = work >= form.hours
    waits = instance.weights.wait_hours > 0
    simple = full[used] | ~(level & (form.hours[used] >= step * (1 - ROUNDING)))
    simple |= waits & (form.slot[used] == final[form.job[used]])
    first = used[simple]
    pieces = [(form.job[first], begin[first], np.where(full[first], finish[first], begin[first] + work[first]))]
    turning = used[~simple]
    turning = turning[np.lexsort((-jobs.cpus[form.job[turning]], form.slot[turning]))]
    sums = np.cumsum(work[turning])
    before = sums - work[turning]
    new = np.diff(form.slot[turning], prepend=-1) != 0
    offset = before - np.repeat(before[new], np.diff(np.flatnonzero(np.append(new, True))))
    one = np.mod(offset, step)
    over = np.maximum(0.0, one + work[turning] - step)
    base = begin[turning]
    job = form.job[turning]
    pieces.append((job, base + one, base + one + work[turning] - over))
    wraps = over > LEAST
    pieces.append((job[wraps], base[wraps], base[wraps] + over[wraps]))
    return pieces


def _merged(job: IntArray, start: FloatArray, end: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return pieces with those that touch joined, sorted by job and start."""
    order = np.lexsort((start, job))
    job = job[order]
    start = start[order]
    end = end[order]
    kept = end - start > LEAST
    job = job[kept]
    start = start[kept]
    end = end[kept]
    touches = (job[1:] == job[:-1]) & (np.abs(start[1:] - end[:-1]) <= 10 * LEAST * np.maximum(1.0, end[:-1]))
    first = np.concatenate([[True], ~touches])
    last = np.concatenate([~touches, [True]])
    return (job[first], start[first], end[last]) if len(job) else (job, start, end)

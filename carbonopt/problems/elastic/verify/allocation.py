"""The check of an allocation: every constraint and every quantity, from the instance and the columns alone.

The columns say which job has how many servers in which slot, and in the fluid model for which share of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.core.errors import shown
from carbonopt.core.ranges import LARGEST_WHOLE
from carbonopt.core.report import Report, Violation
from carbonopt.problems.elastic.data.instance import ROUNDING, ElasticInstance

COLUMNS = {"integer": ("job", "slot", "servers"), "fluid": ("job", "slot", "servers", "share")}
"""Columns that a schedule of each model must have, and no others."""


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of a schedule whose names and numbers are sound, sorted by job and slot."""

    job: IntArray
    slot: IntArray
    servers: IntArray
    share: FloatArray

    def kept(self, good: BoolArray) -> _Rows:
        return _Rows(self.job[good], self.slot[good], self.servers[good], self.share[good])


def check_allocation(instance: ElasticInstance, schedule: dict[str, Any]) -> Report:
    """Check an allocation and evaluate it.

    Parameters
    ----------
    instance
        The instance that the schedule is for.
    schedule
        Columns ``job`` (names), ``slot`` and ``servers``; in the fluid model also ``share``, the part
        of the slot in which the job has that many servers. A job without rows does not run.

    Returns
    -------
    Report
        Every violated constraint, the objective [g], and the metrics of `_metrics`.
    """
    columns = COLUMNS[instance.model]
    if set(schedule) != set(columns) or len({len(column) for column in schedule.values()}) != 1:
        found = ", ".join(f"{name} ({len(column)} rows)" for name, column in schedule.items()) or "none"
        message = f"the schedule must have the columns {', '.join(columns)}, all of one length; it has {found}"
        return Report((Violation("format", message),), None)
    violations, rows = _parse(instance, schedule, columns)
    violations += _window(instance, rows)
    scale_faults, inside = _scale(instance, rows)
    violations += scale_faults
    violations += _once(instance, rows)
    rows = rows.kept(inside)
    work = _work(instance, rows)
    violations += _completion(instance, work)
    load = np.asarray(np.bincount(rows.slot, rows.servers * rows.share, instance.time.slots), dtype=np.float64)
    violations += _capacity(instance, rows, load)
    metrics = _metrics(instance, rows, load, work)
    switching = instance.switching_g_per_server * (metrics["servers_switched"] or 0)
    return Report(tuple(violations), metrics["carbon_kg"] * 1000 + switching, metrics)


def _parse(
    instance: ElasticInstance, schedule: dict[str, Any], columns: tuple[str, ...]
) -> tuple[list[Violation], _Rows]:
    """Turn names into numbers; rows that are no decision are violations and are left out."""
    index = {name: i for i, name in enumerate(instance.jobs.name)}
    count = len(schedule["job"])
    share_column = schedule["share"] if "share" in columns else [1.0] * count
    job = np.array([index.get(name, -1) if isinstance(name, str) else -1 for name in schedule["job"]], dtype=np.int64)
    slot, slot_ok = _whole(schedule["slot"], 0, instance.time.slots - 1)
    servers, servers_ok = _whole(schedule["servers"], 1, LARGEST_WHOLE)
    share, share_ok = _share(share_column)
    violations = []
    for row in np.flatnonzero((job < 0) | ~slot_ok | ~servers_ok | ~share_ok):
        name = schedule["job"][row]
        if job[row] < 0:
            fault = f"row {row} names an unknown job {shown(name)}"
        elif not slot_ok[row]:
            last = instance.time.slots - 1
            fault = f"job {name!r} runs in slot {shown(schedule['slot'][row])}: must be a whole slot from 0 to {last}"
        elif not servers_ok[row]:
            fault = f"job {name!r} has {shown(schedule['servers'][row])} servers: must be a whole number above 0"
        else:
            fault = f"job {name!r} has a share of {shown(share_column[row])}: must be above 0 and at most 1"
        violations.append(Violation("format", fault, job=str(name)))
    good = (job >= 0) & slot_ok & servers_ok & share_ok
    rows = _Rows(job, slot, servers, share).kept(good)
    order = np.lexsort((rows.slot, rows.job))
    return violations, _Rows(rows.job[order], rows.slot[order], rows.servers[order], rows.share[order])


def _whole(values: Any, least: int, most: int) -> tuple[IntArray, BoolArray]:
    """Return whole numbers, and which of `values` are such within the limits; the others as 0."""
    good = np.array(
        [
            isinstance(value, (int, float, np.integer)) and not isinstance(value, bool) and least <= value <= most
            for value in values
        ],
        dtype=np.bool_,
    )
    numbers = np.array([value if fine else 0 for value, fine in zip(values, good, strict=True)], dtype=np.float64)
    good &= numbers == np.floor(numbers)
    return np.where(good, numbers, 0).astype(np.int64), good


def _share(values: Any) -> tuple[FloatArray, BoolArray]:
    """Return shares of a slot, and which of `values` are such; the others as 0."""
    good = np.array(
        [isinstance(v, (int, float, np.number)) and not isinstance(v, bool) and 0 < v <= 1 + ROUNDING for v in values],
        dtype=np.bool_,
    )
    return np.array([v if fine else 0.0 for v, fine in zip(values, good, strict=True)], dtype=np.float64), good


def _window(instance: ElasticInstance, rows: _Rows) -> Iterator[Violation]:
    """Each job runs in its window W_j only."""
    jobs = instance.jobs
    end = instance.jobs.window_end
    for row in np.flatnonzero((rows.slot < jobs.arrival[rows.job]) | (rows.slot >= end[rows.job])):
        i = rows.job[row]
        slot = int(rows.slot[row])
        name = jobs.name[i]
        first = int(jobs.arrival[i])
        early = slot < first
        if early:
            where = f"before its arrival in slot {first}"
        else:
            where = f"its window ends at {end[i]}"
        amount = float(first - slot if early else slot - end[i] + 1)
        constraint = "release" if early else "deadline"
        yield Violation(constraint, f"job {name!r} runs in slot {slot}, {where}", amount, job=name, slot=slot)


def _scale(instance: ElasticInstance, rows: _Rows) -> tuple[list[Violation], BoolArray]:
    """Servers are between k_min and k_max; also say which rows are, since others have no throughput."""
    k_min = np.array([profile.k_min for profile in instance.profiles])[instance.profile_of_job]
    k_max = np.array([profile.k_max for profile in instance.profiles])[instance.profile_of_job]
    inside = (rows.servers >= k_min[rows.job]) & (rows.servers <= k_max[rows.job])
    violations = []
    for row in np.flatnonzero(~inside):
        i = rows.job[row]
        slot = int(rows.slot[row])
        name = instance.jobs.name[i]
        low = k_min[i]
        high = k_max[i]
        text = f"job {name!r} has {rows.servers[row]} servers in slot {slot}: its profile allows {low} to {high}"
        violations.append(Violation("scale", text, job=name, slot=slot))
    return violations, inside


def _once(instance: ElasticInstance, rows: _Rows) -> Iterator[Violation]:
    """One scale at a time: one row a job and slot, or shares that add up to at most 1."""
    key = rows.job * instance.time.slots + rows.slot
    found, position, count = np.unique(key, return_inverse=True, return_counts=True)
    total = np.bincount(position, rows.share, len(found))
    wrong = count > 1 if instance.model == "integer" else total > 1 + ROUNDING
    for place in np.flatnonzero(wrong):
        name = instance.jobs.name[found[place] // instance.time.slots]
        slot = int(found[place] % instance.time.slots)
        if instance.model == "integer":
            text = f"job {name!r} has {count[place]} rows in slot {slot}"
            amount = float(count[place] - 1)
        else:
            text = f"job {name!r} fills {total[place]:g} of slot {slot}"
            amount = float(total[place] - 1)
        yield Violation("scale", text, amount, job=name, slot=slot)


def _cumulative(instance: ElasticInstance, rows: _Rows, what: str) -> FloatArray:
    """Return throughput or power at the scale of each row: sums over the profile's units."""
    result = np.zeros(len(rows.job))
    for number, profile in enumerate(instance.profiles):
        here = np.flatnonzero(instance.profile_of_job[rows.job] == number)
        marginal = np.array(getattr(profile, what))
        if what == "marginal_watts" and profile.marginal_gbps is not None:
            marginal = marginal + instance.cluster.network_watts_per_gbps * profile.marginal_gbps
        result[here] = np.cumsum(marginal)[rows.servers[here] - profile.k_min]
    return result


def _work(instance: ElasticInstance, rows: _Rows) -> FloatArray:
    """Return the work done for each job [slots at k_min], shape (N,)."""
    done = _cumulative(instance, rows, "marginal_throughput") * rows.share
    return np.asarray(np.bincount(rows.job, done, len(instance.jobs)), dtype=np.float64)


def _completion(instance: ElasticInstance, work: FloatArray) -> Iterator[Violation]:
    """Every job does its length of work; adding up may lose a billionth."""
    length = instance.jobs.length
    for i in np.flatnonzero(work < instance.jobs.required):
        name = instance.jobs.name[i]
        text = f"job {name!r} does {work[i]:.9g} slots of work, its length is {length[i]:g}"
        yield Violation("work", text, float(length[i] - work[i]), job=name)


def _capacity(instance: ElasticInstance, rows: _Rows, load: FloatArray) -> Iterator[Violation]:
    """In each slot all jobs together have at most M_t servers."""
    capacity = instance.cluster.capacity
    for slot in np.flatnonzero(load > instance.cluster.limit):
        users = [instance.jobs.name[i] for i in np.unique(rows.job[rows.slot == slot])]
        named = ", ".join(users[:5]) + (f" and {len(users) - 5} more" if len(users) > 5 else "")
        excess = float(load[slot] - capacity[slot])
        text = f"jobs {named} use {load[slot]:g} servers in slot {slot}, {capacity[slot]:g} are there"
        yield Violation("capacity", f"{text} ({excess:g} too many)", excess, slot=int(slot))


def _metrics(instance: ElasticInstance, rows: _Rows, load: FloatArray, work: FloatArray) -> dict[str, Any]:
    """Evaluate a schedule; a job's delay is its completion less arrival and run time at k_min."""
    jobs = instance.jobs
    capacity = instance.cluster.capacity
    hours = instance.time.slot_hours
    zone = instance.carbon.index(instance.cluster.zone)
    kwh = _cumulative(instance, rows, "marginal_watts") * rows.share / 1000 * hours
    completion = np.zeros(len(jobs))
    np.maximum.at(completion, rows.job, rows.slot + 1.0)
    ran = np.unique(rows.job)
    delay = (completion - jobs.arrival - np.ceil(jobs.required))[ran]
    share = np.divide(load, capacity, out=np.zeros_like(load), where=capacity > 0)
    done = work >= jobs.required
    return {
        "carbon_kg": float((kwh * instance.carbon.g_per_kwh[zone, rows.slot]).sum()) / 1000,
        "energy_kwh": float(kwh.sum()),
        "server_hours": float(load.sum() * hours),
        "jobs_completed": int(done.sum()),
        "jobs_completed_share": float(done.mean()) if len(jobs) else 1.0,
        "mean_delay_slots": float(delay.mean()) if delay.size else 0.0,
        "mean_servers": float((rows.servers * rows.share).sum() / rows.share.sum()) if len(rows.job) else 0.0,
        "overshoot_slots": float(np.maximum(0.0, work - jobs.length).sum()),
        "utilisation": float(load.sum() / capacity.sum()) if capacity.sum() else 0.0,
        "peak_load_share": float(share.max()) if share.size else 0.0,
        "makespan_slots": int(completion.max()) if completion.size else 0,
        "servers_switched": _switched(rows) if instance.model == "integer" else None,
    }


def _switched(rows: _Rows) -> int:
    """Return the servers gained and lost from slot to slot, summed over jobs; none before and after."""
    if not len(rows.job):
        return 0
    follows = (rows.job[1:] == rows.job[:-1]) & (rows.slot[1:] == rows.slot[:-1] + 1)
    change = np.abs(np.diff(rows.servers))[follows].sum()
    starts = rows.servers[1:][~follows].sum()
    ends = rows.servers[:-1][~follows].sum()
    return int(change + starts + ends + rows.servers[0] + rows.servers[-1])

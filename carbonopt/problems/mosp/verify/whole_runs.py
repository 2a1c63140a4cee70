"""The check of a schedule of whole runs: each job starts once and runs to its end.

Every constraint and every quantity is evaluated from the instance and the three columns of the
schedule alone (Caspian, section II-A: (1)-(8)).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.errors import shown
from carbonopt.core.ranges import LARGEST_WHOLE
from carbonopt.core.report import Report, Violation
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.data.objectives import CarbonObjective
from carbonopt.problems.mosp.verify.objective import assumed, normalizer_faults, normalizers_of, objective_of

COLUMNS = ("job", "cluster", "start")


@dataclass(frozen=True, eq=False)
class _Runs:
    """The runs of a schedule whose names and numbers are sound."""

    job: IntArray
    cluster: IntArray
    start: IntArray


def check_runs(instance: MospInstance, schedule: dict[str, Any], info: dict[str, Any] | None = None) -> Report:
    """Check a schedule and evaluate it.

    Parameters
    ----------
    instance
        The instance that the schedule is for.
    schedule
        Columns ``job``, ``cluster`` (names) and ``start`` (slot); a job that is not listed does not run.
    info
        ``normalizers`` of the caspian objective where the instance does not fix them.

    Returns
    -------
    Report
        Every violated constraint, the objective, and the metrics of `_metrics`.
    """
    if set(schedule) != set(COLUMNS) or len({len(column) for column in schedule.values()}) != 1:
        found = ", ".join(f"{name} ({len(column)} rows)" for name, column in schedule.items()) or "none"
        message = f"the schedule must have the columns {', '.join(COLUMNS)}, all of one length; it has {found}"
        return Report((Violation("format", message),), None)
    violations, runs = _parse(instance, schedule)
    violations += _window(instance, runs)
    violations += _placement(instance, runs)
    violations += _fixed(instance, runs)
    load = _load(instance, runs)
    violations += _capacity(instance, runs, load)
    violations += _starts(instance, runs)
    metrics = _metrics(instance, runs, load)
    violations += _limits(instance, metrics)
    normalizers, faults = normalizers_of(instance, info or {})
    violations += faults
    if normalizers is not None and instance.objective.to_dict()["normalizers"] is None:
        violations += normalizer_faults(metrics, normalizers)
    value = objective_of(instance, metrics, normalizers)
    return Report(tuple(violations), value, metrics, assumes=assumed(instance))


def _parse(instance: MospInstance, schedule: dict[str, Any]) -> tuple[list[Violation], _Runs]:
    """Turn names into numbers; rows that name nothing known are violations and are left out."""
    jobs = {name: i for i, name in enumerate(instance.jobs.name)}
    clusters = {name: j for j, name in enumerate(instance.clusters.name)}
    violations: list[Violation] = []
    sound: list[tuple[int, int, int]] = []
    for row, (job, cluster, start) in enumerate(zip(*(schedule[name] for name in COLUMNS), strict=True)):
        fault = None
        if not isinstance(job, str) or job not in jobs:
            fault = f"row {row} names an unknown job {shown(job)}"
        elif not isinstance(cluster, str) or cluster not in clusters:
            fault = f"job {job!r} is on an unknown cluster {shown(cluster)}"
        elif not is_slot(start):
            fault = f"job {job!r} starts at {shown(start)}: must be a whole slot from 0 to {instance.time.slots - 1}"
        if fault is None:
            sound.append((jobs[job], clusters[cluster], int(start)))
        else:
            violations.append(Violation("format", fault, job=str(job), cluster=str(cluster)))
    columns = np.array(sound, dtype=np.int64).reshape(-1, 3).T
    return violations, _Runs(*columns)


def is_slot(start: Any) -> bool:
    """Return whether `start` is a whole number that doubles hold exactly; NaN and infinity are none."""
    is_number = isinstance(start, (int, float, np.integer)) and not isinstance(start, bool)
    return is_number and abs(start) <= LARGEST_WHOLE and start == int(start)


def _window(instance: MospInstance, runs: _Runs) -> Iterator[Violation]:
    """Release, horizon and eligibility a_ij."""
    jobs = instance.jobs
    slots = instance.time.slots
    for i, j, start in zip(runs.job, runs.cluster, runs.start, strict=True):
        name = jobs.name[i]
        cluster = instance.clusters.name[j]
        where = {"job": name, "cluster": cluster, "slot": int(start)}
        release = int(jobs.arrival[i])
        end = int(start + jobs.duration[i])
        if start < release:
            text = f"job {name!r} starts in slot {start}, before its arrival in slot {release}"
            yield Violation("release", text, amount=float(release - start), **where)
        if end > slots:
            text = f"job {name!r} ends at {end}, after the horizon of {slots} slots"
            yield Violation("horizon", text, amount=float(end - slots), **where)
        if jobs.eligible is not None and not jobs.eligible[i, j]:
            yield Violation("eligibility", f"job {name!r} may not run on cluster {cluster!r}", **where)


def _placement(instance: MospInstance, runs: _Runs) -> Iterator[Violation]:
    """(6): every job at most once; exactly once where it may not be rejected."""
    counts = np.bincount(runs.job, minlength=len(instance.jobs))
    for i in np.flatnonzero(counts > 1):
        name = instance.jobs.name[i]
        yield Violation("placement", f"job {name!r} runs {counts[i]} times", amount=float(counts[i] - 1), job=name)
    objective = instance.objective
    if isinstance(objective, CarbonObjective) and objective.rejection_price is None:
        for i in np.flatnonzero(counts == 0):
            name = instance.jobs.name[i]
            yield Violation("placement", f"job {name!r} does not run, and no rejection price is set", job=name)


def _fixed(instance: MospInstance, runs: _Runs) -> Iterator[Violation]:
    """Jobs that run already stay on their cluster and in their slots."""
    if instance.fixed is None:
        return
    found = {
        instance.jobs.name[i]: (instance.clusters.name[j], int(t))
        for i, j, t in zip(runs.job, runs.cluster, runs.start, strict=True)
    }
    for job, cluster, start in zip(instance.fixed.job, instance.fixed.cluster, instance.fixed.start, strict=True):
        there = found.get(job)
        if there != (cluster, start):
            is_at = "does not run" if there is None else f"is on cluster {there[0]!r} from slot {there[1]}"
            text = f"job {job!r} {is_at}; it is fixed on cluster {cluster!r} from slot {start}"
            yield Violation("fixed", text, job=job, cluster=cluster, slot=int(start))


def _load(instance: MospInstance, runs: _Runs) -> FloatArray:
    """Return the used units of each cluster, resource and slot, shape (M, R, T); runs are cut at the horizon."""
    jobs = instance.jobs
    slots = instance.time.slots
    start = np.clip(runs.start, 0, slots)
    end = np.clip(runs.start + jobs.duration[runs.job], 0, slots)
    length = np.maximum(0, end - start)
    row = np.repeat(np.arange(len(start)), length)  # one entry for each slot of each run
    slot = np.arange(len(row)) - np.repeat(np.cumsum(length) - length - start, length)
    load = np.zeros((len(instance.clusters), slots, len(instance.resources)))
    np.add.at(load, (runs.cluster[row], slot), jobs.demand[runs.job[row]])
    return np.asarray(load.transpose(0, 2, 1))


def _capacity(instance: MospInstance, runs: _Runs, load: FloatArray) -> Iterator[Violation]:
    """(5): the load of each cluster, resource and slot is at most its capacity."""
    capacity = instance.clusters.capacity
    excess = load - capacity
    ends = runs.start + instance.jobs.duration[runs.job]
    for j, r, t in np.argwhere(load > instance.clusters.limit):
        running = runs.job[(runs.cluster == j) & (runs.start <= t) & (t < ends)]
        users = [instance.jobs.name[i] for i in running if instance.jobs.demand[i, r] > 0]
        named = ", ".join(users[:5]) + (f" and {len(users) - 5} more" if len(users) > 5 else "")
        cluster = instance.clusters.name[j]
        resource = instance.resources[r]
        yield Violation(
            "capacity",
            f"jobs {named} use {load[j, r, t]:g} {resource} in slot {t} of cluster {cluster!r}, "
            f"{capacity[j, r, t]:g} are there ({excess[j, r, t]:g} too many)",
            amount=float(excess[j, r, t]),
            cluster=cluster,
            slot=int(t),
            resource=resource,
        )


def _starts(instance: MospInstance, runs: _Runs) -> Iterator[Violation]:
    """(S): at most S_j jobs start on cluster j in one slot."""
    limit = instance.clusters.max_starts_per_slot
    if limit is None:
        return
    settled = [] if instance.fixed is None else instance.fixed.job
    decided = ~np.isin(np.array([instance.jobs.name[i] for i in runs.job], dtype=object), list(settled))
    places, count = np.unique(np.array([runs.cluster, runs.start])[:, decided], axis=1, return_counts=True)
    for (j, t), started in zip(places.T.tolist(), count.tolist(), strict=True):
        if started > limit[j]:
            name = instance.clusters.name[j]
            text = f"{started} jobs start in slot {t} on cluster {name!r}, {limit[j]} may"
            yield Violation("max_starts_per_slot", text, amount=float(started - limit[j]), cluster=name, slot=t)


def _limits(instance: MospInstance, metrics: dict[str, Any]) -> Iterator[Violation]:
    """Yield the limits (epsilon-constraints) that are exceeded by more than rounding."""
    if not isinstance(instance.objective, CarbonObjective):
        return
    limits = instance.objective.limits
    for name, limit in limits.told().items():
        if metrics[name] > limits.allowed()[name]:
            text = f"{name} = {metrics[name]:.9g} is above its limit {limit:.9g}"
            yield Violation("limit", text, amount=float(metrics[name] - limit))


def _metrics(instance: MospInstance, runs: _Runs, load: FloatArray) -> dict[str, Any]:
    """Evaluate a schedule; sums and shares are over jobs, with jobs that do not run counted as late."""
    jobs = instance.jobs
    count = len(instance.jobs)
    kwh = load * instance.clusters.watts_per_unit[:, :, None] / 1000 * instance.time.slot_hours
    intensity = np.array([instance.carbon.g_per_kwh[instance.carbon.index(z)] for z in instance.clusters.zone])
    price = None if instance.energy_price is None else instance.energy_price.of(instance.clusters.zone)
    completion = (runs.start + jobs.duration[runs.job]).astype(float)
    deadline = jobs.deadline[runs.job]
    tardiness = np.maximum(0.0, completion - deadline)
    allowed = deadline - jobs.arrival[runs.job]
    ratio = (completion - jobs.arrival[runs.job])[allowed > 0] / allowed[allowed > 0]
    capacity = instance.clusters.capacity
    used_share = np.divide(load, capacity, out=np.zeros_like(load), where=capacity > 0)
    weight = capacity * intensity[:, None, :] * instance.clusters.watts_per_unit[:, :, None]
    on_time = int((tardiness == 0).sum())
    return {
        "carbon_kg": float((kwh.sum(axis=1) * intensity).sum() / 1000),
        "energy_kwh": float(kwh.sum()),
        **({} if price is None else {"energy_cost": float((kwh.sum(axis=1) * price).sum())}),
        "jobs_run": len(runs.job),
        "jobs_rejected": count - len(np.unique(runs.job)),
        "deadlines_met": on_time,
        "deadlines_met_share": on_time / count if count else 1.0,
        "tardiness_slots": float(tardiness.sum()),
        "completion_slots": float(completion.sum()),
        "completion_ratio": float(ratio.mean()) if ratio.size else None,
        "makespan_slots": int(completion.max()) if completion.size else 0,
        "peak_load_share": float(used_share.max()) if used_share.size else 0.0,
        "z1": float(np.divide(load, weight, out=np.zeros_like(load), where=weight > 0).sum()),
        "z2": float((1 / (1 + tardiness)).sum()),
        "z3": float((1 / (1 + np.maximum(0.0, completion))).sum()),
    }

"""The check of simulated schedules, in which a job may run in several pieces.

A schedule of this kind has one row a piece, columns ``job``, ``cluster``, ``start`` and ``end`` (slots, the
end not included), and its solution says so: ``info.pieces`` is ``suspend`` where a job may stop and go on later
on its cluster, ``migrate`` where it may go on anywhere, and ``none`` where each job runs in one piece.

Every piece is judged as if it were a job of its own by the check of whole runs: arrival, horizon, eligibility,
capacity, energy and carbon. What makes the pieces of one job a run is judged here: no two at a time, as many slots
in all as the job is long, on one cluster where it must be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.errors import shown
from carbonopt.core.report import Report, Violation
from carbonopt.problems.mosp.data.instance import MospInstance, MospJobs
from carbonopt.problems.mosp.data.objectives import CarbonObjective
from carbonopt.problems.mosp.verify.objective import assumed, normalizer_faults, normalizers_of, objective_of
from carbonopt.problems.mosp.verify.whole_runs import check_runs, is_slot

COLUMNS = ("job", "cluster", "start", "end")
RULES = ("none", "suspend", "migrate")
INCOMPARABLE = (
    "jobs run in several pieces, and the instance's bounds are those of jobs that run without interruption;"
    " see carbonopt.problems.mosp.online.bound for one that holds"
)


@dataclass(frozen=True, eq=False)
class _Pieces:
    """Pieces whose names and numbers are sound, sorted by job and start."""

    job: IntArray
    cluster: IntArray
    start: IntArray
    end: IntArray

    @property
    def follows(self) -> Any:
        """Whether each piece but the first is one of the same job as the piece before it, shape (P - 1,)."""
        return self.job[1:] == self.job[:-1]


def check_pieces(instance: MospInstance, schedule: dict[str, Any], rule: Any, info: dict[str, Any]) -> Report:
    """Check a schedule of pieces.

    Parameters
    ----------
    instance
        The instance that the schedule is for.
    schedule
        Columns ``job``, ``cluster``, ``start`` and ``end``, one row a piece.
    rule
        One of `RULES`.
    info
        ``normalizers`` of the caspian objective where the instance does not fix them.

    Returns
    -------
    Report
        Metrics of pieces are those of whole runs, and ``suspensions``, ``migrations``: times that a job stops
        and goes on later, and that it goes on on another cluster (at once or later); ``churn``: both together.
        `Report.incomparable` is set where a job has more than one piece.
    """
    if instance.fixed is not None:
        return _refused("the instance fixes runs, which are whole: a schedule of pieces cannot keep them")
    if rule not in RULES:
        return _refused(f"info.pieces is {shown(rule)}: must be one of {', '.join(RULES)}")
    if set(schedule) != set(COLUMNS) or len({len(column) for column in schedule.values()}) != 1:
        return _refused(f"a schedule of pieces must have the columns {', '.join(COLUMNS)}, all of one length")
    violations, pieces = _parse(instance, schedule)
    alone = _as_jobs(instance, pieces)
    single = check_runs(
        alone, {"job": list(alone.jobs.name), "cluster": _clusters(instance, pieces), "start": pieces.start.tolist()}
    )
    owner = dict(zip(alone.jobs.name, (instance.jobs.name[i] for i in pieces.job), strict=True))
    violations += [replace(v, job=owner.get(v.job or "", v.job)) for v in single.violations]
    violations += _run_faults(instance, pieces, rule)
    metrics = {**single.metrics, **_metrics(instance, pieces)}
    normalizers, faults = normalizers_of(instance, info)
    violations += faults
    broken = bool(pieces.follows.any())
    if normalizers is not None and not broken and instance.objective.to_dict()["normalizers"] is None:
        violations += normalizer_faults(metrics, normalizers)
    return Report(
        tuple(violations),
        objective_of(instance, metrics, normalizers),
        metrics,
        assumes=assumed(instance),
        incomparable=INCOMPARABLE if broken else "",
    )


def _refused(words: str) -> Report:
    return Report((Violation("format", words),), None)


def _parse(instance: MospInstance, schedule: Mapping[str, Any]) -> tuple[list[Violation], _Pieces]:
    """Turn names into numbers; rows that name nothing known, or no stretch of slots, are left out."""
    jobs = {name: i for i, name in enumerate(instance.jobs.name)}
    clusters = {name: j for j, name in enumerate(instance.clusters.name)}
    violations: list[Violation] = []
    sound: list[tuple[int, int, int, int]] = []
    for row, (job, cluster, start, end) in enumerate(zip(*(schedule[name] for name in COLUMNS), strict=True)):
        fault = None
        if not isinstance(job, str) or job not in jobs:
            fault = f"row {row} names an unknown job {shown(job)}"
        elif not isinstance(cluster, str) or cluster not in clusters:
            fault = f"job {job!r} is on an unknown cluster {shown(cluster)}"
        elif not is_slot(start) or not is_slot(end) or not start < end:
            fault = f"job {job!r} has a piece from {shown(start)} to {shown(end)}: must be whole slots, the end later"
        if fault is None:
            sound.append((jobs[job], clusters[cluster], int(start), int(end)))
        else:
            violations.append(Violation("format", fault, job=str(job), cluster=str(cluster)))
    columns = np.array(sorted(sound, key=lambda piece: (piece[0], piece[2])), dtype=np.int64).reshape(-1, 4).T
    return violations, _Pieces(*columns)


def _as_jobs(instance: MospInstance, pieces: _Pieces) -> MospInstance:
    """Return the instance whose jobs are the pieces."""
    jobs = instance.jobs
    seen = dict.fromkeys(instance.jobs.name, 0)
    names = []
    for i in pieces.job.tolist():
        seen[jobs.name[i]] += 1
        names.append(f"{jobs.name[i]} (piece {seen[jobs.name[i]]})")
    table = MospJobs(
        tuple(names),
        jobs.arrival[pieces.job],
        pieces.end - pieces.start,
        jobs.deadline[pieces.job],
        jobs.demand[pieces.job],
        None if jobs.eligible is None else jobs.eligible[pieces.job],
    )
    return replace(instance, jobs=table, objective=CarbonObjective())


def _clusters(instance: MospInstance, pieces: _Pieces) -> list[str]:
    return [instance.clusters.name[j] for j in pieces.cluster.tolist()]


def _run_faults(instance: MospInstance, pieces: _Pieces, rule: str) -> Iterator[Violation]:
    """Yield what keeps the pieces of a job from being a run of it."""
    jobs = instance.jobs
    follows = pieces.follows
    for row in np.flatnonzero(follows & (pieces.start[1:] < pieces.end[:-1])):
        name = jobs.name[pieces.job[row]]
        slot = int(pieces.start[row + 1])
        yield Violation("overlap", f"job {name!r} runs in two pieces at once in slot {slot}", job=name, slot=slot)
    for row in np.flatnonzero(follows if rule == "none" else np.zeros_like(follows)):
        name = jobs.name[pieces.job[row]]
        yield Violation("pieces", f"job {name!r} stops at {pieces.end[row]}: must run in one piece", job=name)
    moved = follows & (pieces.cluster[1:] != pieces.cluster[:-1])
    for row in np.flatnonzero(moved if rule != "migrate" else np.zeros_like(moved)):
        name = jobs.name[pieces.job[row]]
        cluster = instance.clusters.name[pieces.cluster[row + 1]]
        yield Violation("migration", f"job {name!r} goes on on {cluster!r}: must stay", job=name, cluster=cluster)
    yield from _work_faults(instance, pieces)


def _work_faults(instance: MospInstance, pieces: _Pieces) -> Iterator[Violation]:
    """(6): a job runs for its duration; not at all only where it may be rejected."""
    jobs = instance.jobs
    objective = instance.objective
    must_run = isinstance(objective, CarbonObjective) and objective.rejection_price is None
    done = _done(instance, pieces)
    present = np.bincount(pieces.job, minlength=len(jobs)) > 0
    for i in np.flatnonzero(~present if must_run else np.zeros_like(present)):
        words = f"job {jobs.name[i]!r} does not run, and no rejection price is set"
        yield Violation("placement", words, job=jobs.name[i])
    for i in np.flatnonzero(present & (done != jobs.duration)):
        words = f"job {jobs.name[i]!r} runs {done[i]} slots, its run time is {jobs.duration[i]}"
        yield Violation("work", words, amount=float(abs(done[i] - jobs.duration[i])), job=jobs.name[i])


def _done(instance: MospInstance, pieces: _Pieces) -> IntArray:
    """Return the slots that each job runs, shape (N,)."""
    done = np.zeros(len(instance.jobs), dtype=np.int64)
    np.add.at(done, pieces.job, pieces.end - pieces.start)
    return done


def _metrics(instance: MospInstance, pieces: _Pieces) -> dict[str, Any]:
    """Return what is measured once a job, from its last slot, and the churn."""
    jobs = instance.jobs
    count = len(instance.jobs)
    run = np.unique(pieces.job)
    last = np.zeros(count, dtype=np.int64)
    np.maximum.at(last, pieces.job, pieces.end)
    completion: FloatArray = last[run].astype(np.float64)
    deadline = jobs.deadline[run]
    arrival = jobs.arrival[run]
    tardiness = np.maximum(0.0, completion - deadline)
    allowed = deadline - arrival
    ratio = (completion - arrival)[allowed > 0] / allowed[allowed > 0]
    follows = pieces.follows
    on_time = int((tardiness == 0).sum())
    suspensions = int((follows & (pieces.start[1:] > pieces.end[:-1])).sum())
    migrations = int((follows & (pieces.cluster[1:] != pieces.cluster[:-1])).sum())
    return {
        "jobs_run": len(run),
        "jobs_rejected": count - len(run),
        "deadlines_met": on_time,
        "deadlines_met_share": on_time / count if count else 1.0,
        "tardiness_slots": float(tardiness.sum()),
        "completion_slots": float(completion.sum()),
        "completion_ratio": float(ratio.mean()) if ratio.size else None,
        "makespan_slots": int(last.max(initial=0)),
        "z2": float((1 / (1 + tardiness)).sum()),
        "z3": float((1 / (1 + np.maximum(0.0, completion))).sum()),
        "suspensions": suspensions,
        "migrations": migrations,
        "churn": suspensions + migrations,
    }

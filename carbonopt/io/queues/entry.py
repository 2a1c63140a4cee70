"""What the readers of Slurm's texts and of its JSON share: from fields to jobs, with every fault."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.io.jobs import LONGEST_HOURS
from carbonopt.io.queues.job import PENDING, RUNNING, Queue, QueuedJob
from carbonopt.io.queues.units import LARGEST_ARRAY, array_tasks

MOST_UNITS = 1e9
"""CPUs or GPUs of a job: more than all computers of a provider have."""


class EmptyQueueError(InputError):
    """No job waits or runs."""


@dataclass(frozen=True)
class Settings:
    """What a queue's file does not tell.

    Parameters
    ----------
    default_hours
        Run time of jobs without a time limit [h]; None to refuse them.
    leave_out
        Jobs by id that are not read.
    """

    default_hours: float | None = None
    leave_out: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Entry:
    """One job as a file has it, before it is judged.

    Parameters
    ----------
    job
        Its id may still stand for an array; its hours are infinite or NaN where there is no limit.
    tasks
        Of an array that waits whole, such as ``0-9``; empty for none.
    dependency
        On other jobs, as the scheduler prints it; empty for none.
    problem
        What keeps it from being planned; empty for nothing.
    fault
        Makes a fault of a field and a problem.
    """

    job: QueuedJob
    tasks: str
    dependency: str
    fault: Callable[[str, str, str], Fault]
    problem: str = ""


def queue_of(source: str, file: str, entries: Iterable[Entry], settings: Settings) -> Queue:
    """Return the queue that entries stand for.

    Raises
    ------
    InputError
        With every fault of every job that waits or runs; and where there is none.
    """
    jobs: list[QueuedJob] = []
    faults: list[Fault] = []
    left_out: Counter[str] = Counter()
    for entry in entries:
        if entry.job.id in settings.leave_out:
            left_out["asked for"] += 1
        elif entry.job.state not in (PENDING, RUNNING):
            left_out[entry.job.state.lower() or "without state"] += 1
        else:
            found = list(_faults(entry, settings))
            faults += found
            if not found:
                jobs += _jobs(entry, settings)
    seen = Counter(job.id for job in jobs)
    faults += [
        Fault("id", "must stand once: the queue has it twice", shown(name), file=file)
        for name, n in seen.items()
        if n > 1
    ]
    if faults:
        raise InputError(faults)
    if not jobs:
        counted = ", ".join(f"{n} {why}" for why, n in sorted(left_out.items())) or "no job at all"
        raise EmptyQueueError(Fault("", f"holds no job that waits or runs: {counted}", file=file))
    return Queue(source, tuple(jobs), dict(sorted(left_out.items())))


def _faults(entry: Entry, settings: Settings) -> Iterable[Fault]:
    job = entry.job
    if entry.problem:
        yield entry.fault("state", f"{entry.problem}: leave it out (--leave-out {job.id})", job.id)
    if entry.dependency and job.state == PENDING:
        words = f"job {job.id} waits for other jobs, which a plan does not order: leave it out (--leave-out {job.id})"
        yield entry.fault("dependency", words, entry.dependency)
    if not math.isfinite(job.hours) and settings.default_hours is None:
        words = f"job {job.id} has no time limit: must have one (or give --default-hours)"
        yield entry.fault("time_limit", words, "")
    elif math.isfinite(job.hours) and not 0 < job.hours <= LONGEST_HOURS:
        words = f"must be a time such as 1-02:30:00, more than 0 and at most {LONGEST_HOURS:g} h"
        yield entry.fault("time_limit", words, f"{job.hours:g} h")
    if not 0 < job.cpus <= MOST_UNITS:
        yield entry.fault(
            "cpus", f"job {job.id} must have a number of CPUs, more than 0 and at most {MOST_UNITS:g}", f"{job.cpus:g}"
        )
    if not 0 <= job.gpus <= MOST_UNITS:
        yield entry.fault("gpus", f"job {job.id} must have a number of GPUs, from 0 to {MOST_UNITS:g}", f"{job.gpus:g}")
    if job.state == RUNNING and job.started is None:
        yield entry.fault("start_time", f"job {job.id} runs: must tell since when", "")
    if "%" in entry.tasks:
        words = f"array {job.id} limits how many of its tasks run at once, which a plan does not: leave it out"
        yield entry.fault("array", words, entry.tasks)
    elif entry.tasks and array_tasks(entry.tasks) is None:
        words = f"must be tasks such as 0-9 or 1,4,7, {LARGEST_ARRAY} at most"
        yield entry.fault("array", words, entry.tasks)


def _jobs(entry: Entry, settings: Settings) -> list[QueuedJob]:
    """Return the job, or each task of an array as a job."""
    job = entry.job
    if not math.isfinite(job.hours):
        assert settings.default_hours is not None
        job = replace(job, hours=settings.default_hours)
    if not entry.tasks:
        return [job]
    return [replace(job, id=f"{job.id}_{task}") for task in array_tasks(entry.tasks) or ()]


def moment_of(seconds: float | None) -> datetime | None:
    """Return the moment that a number of seconds since 1970 names; None for none, and for 0."""
    if not seconds or not 0 < seconds < 4e9:
        return None
    return datetime.fromtimestamp(seconds, tz=UTC)

"""The commands that make a scheduler keep a plan. They are made here, quoted, and run nowhere.

Slurm takes all starts at once: ``StartTime`` is the earliest moment at which it starts a job (scontrol(1)). The
others have no such field: their commands are due at the begin of each job.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from math import ceil
from typing import Any

from carbonopt.core.display import counted
from carbonopt.core.errors import Fault, InputError, UnsupportedError, one_line, one_of, shown
from carbonopt.core.time import zone_of_time
from carbonopt.io.queues.job import PENDING, RUNNING
from carbonopt.io.queues.kubernetes import QUEUE_LABEL
from carbonopt.planning.result import Plan, Row

TARGETS = {"slurm": "slurm", "kubernetes": "kubernetes", "kueue": "kubernetes", "appwrapper": "kubernetes"}
"""What a plan can be applied to, and the source that its jobs must be of."""
GATE = "kueue.x-k8s.io/admission-gated-by"
CLUSTER_LABEL = "topology.kubernetes.io/region"
"""Label of nodes that a job of a plan with several clusters is bound to: its value is the cluster's name."""
_SLURM_ID = re.compile(r"[0-9]+(_[0-9]+)?")
_SLURM_USER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
_KUBERNETES_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_LABEL_VALUE = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")


@dataclass(frozen=True)
class Command:
    """One command.

    Parameters
    ----------
    job
        That it is for.
    due
        When it is to be run; None for now.
    words
        Program and arguments.
    """

    job: str
    due: datetime | None
    words: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the command as ``--json`` prints it."""
        return {"job": self.job, "due": self.due and self.due.isoformat(), "command": list(self.words)}


def commands(plan: Plan, to: str, reserve: bool = False) -> list[Command]:
    """Return the commands for the jobs whose start is new.

    Parameters
    ----------
    plan
        First plan: all jobs that wait. Replanned: those that moved.
    to
        One of `TARGETS`.
    reserve
        For Slurm: keep the CPUs of each job free for its slots, by a reservation that no other job may use. Without it
        a start is the earliest one, and waits where the cluster is full.

    Raises
    ------
    UnsupportedError
        If there is no such target, the jobs are of another scheduler, or a reservation cannot be had.
    InputError
        For each job whose id is none that the scheduler gives.
    """
    if to not in TARGETS:
        raise UnsupportedError(f"--to {shown(to)}: must be {one_of(tuple(TARGETS))}")
    if TARGETS[to] != plan.source:
        raise UnsupportedError(f"--to {to}: the plan's jobs are of {plan.source}, not of {TARGETS[to]}")
    rows = [row for row in plan.rows if row.state == PENDING and row.moved]
    several = len(plan.sites) > 1
    _require_names(rows, to, several)
    if reserve:
        _require_reservable(plan, rows, to, several)
        return [command for row in rows for command in _reserved(row, plan)]
    if to == "slurm":
        return [command for row in rows for command in _slurm(row, several)]
    held = list(_held_back(rows, plan, several)) if to == "kubernetes" else []
    return [*held, *(_opened(row, to, several) for row in rows)]


def script(plan: Plan, to: str, reserve: bool = False) -> str:
    """Return the commands as lines of a shell script, with a comment where one is due later."""
    found = commands(plan, to, reserve)
    running = sum(row.state == RUNNING for row in plan.rows)
    left = "1 job that runs is" if running == 1 else f"{running} jobs that run are"
    lines = [f"# {counted(len(found), 'command')} for {to}; {left} left alone. Nothing was sent."]
    if to == "slurm":
        zone = zone_of_time(plan.tz)
        lines.append(f"# Times are local times of {zone}, which must be the time zone of slurmctld.")
    last: datetime | None = None
    twice = {row.id for row in plan.rows if _comes_twice(row.begin)}
    for command in found:
        if command.due != last and command.due is not None:
            lines.append(f"# at {command.due.isoformat(timespec='minutes')}")
        last = command.due
        if to == "slurm" and command.job in twice:
            lines.append(f"# job {command.job}: this local time comes twice tonight; Slurm takes one of them")
        lines.append(shlex.join(command.words))
    return "".join(f"{one_line(line)}\n" for line in lines)


def _comes_twice(moment: datetime) -> bool:
    """Return whether clocks are set back over a moment: then its local time alone does not tell it."""
    return moment.replace(fold=0).utcoffset() != moment.replace(fold=1).utcoffset()


def is_name(text: str) -> bool:
    """Return whether a text is ``namespace/name`` of Kubernetes."""
    parts = text.split("/")
    return len(parts) == 2 and all(map(_KUBERNETES_NAME.fullmatch, parts))


def _require_names(rows: list[Row], to: str, several: bool) -> None:
    faults = []
    for row in rows:
        if to == "slurm":
            good = _SLURM_ID.fullmatch(row.id) is not None
            rule = "must be a number of Slurm such as 1234 or 1234_7"
        else:
            good = is_name(row.id)
            rule = "must be namespace/name of Kubernetes, of lower-case letters, digits, '-' and '.'"
        if not good:
            faults.append(Fault("jobs.id", rule, shown(row.id)))
        if several and not _LABEL_VALUE.fullmatch(row.cluster):
            faults.append(Fault("sites.name", "must be letters, digits, '-', '_' and '.'", shown(row.cluster)))
    if faults:
        raise InputError(faults)


def _slurm(row: Row, several: bool) -> Iterator[Command]:
    begin = row.begin.strftime("%Y-%m-%dT%H:%M:%S")
    if not several or row.cluster == row.was_on:
        yield Command(row.id, None, ("scontrol", "update", f"JobId={row.id}", f"StartTime={begin}"))
        return
    file = f"job-{row.id}.sh"  # another cluster has another slurmctld: the job is submitted there again
    yield Command(row.id, None, ("scontrol", "write", "batch_script", row.id, file))
    yield Command(row.id, None, ("sbatch", f"--clusters={row.cluster}", f"--begin={begin}", file))
    yield Command(row.id, None, ("scancel", row.id))


def _require_reservable(plan: Plan, rows: list[Row], to: str, several: bool) -> None:
    """Refuse what a reservation of Slurm's cannot hold.

    Raises
    ------
    UnsupportedError
        If it is no plan of one Slurm cluster.
    InputError
        For each job that holds GPUs, parts of a CPU, or belongs to a user whose name is none.
    """
    if to != "slurm" or several:
        raise UnsupportedError("--reserve is of plans of one Slurm cluster: leave it out")
    jobs = {job.id: job for job in plan.jobs}
    faults = []
    for row in rows:
        job = jobs[row.id]
        if job.gpus or job.cpus != int(job.cpus):
            words = f"job {row.id}: a reservation holds whole CPUs alone: leave --reserve out"
            faults.append(Fault("jobs", words, f"{job.cpus:g} CPUs, {job.gpus:g} GPUs"))
        if not _SLURM_USER.fullmatch(job.user):
            faults.append(Fault("jobs.user", f"job {row.id}: must be the name of a user of Slurm", shown(job.user)))
    if faults:
        raise InputError(faults)


def _reserved(row: Row, plan: Plan) -> Iterator[Command]:
    """Yield a reservation for the slots of a job, and what puts the job into it; one that was announced is moved."""
    job = next(job for job in plan.jobs if job.id == row.id)
    name = f"ReservationName=carbonopt-{row.id}"
    begin = row.begin.strftime("%Y-%m-%dT%H:%M:%S")
    minutes = max(1, ceil(job.hours * 60 - 1e-6))
    when = (f"StartTime={begin}", f"Duration={minutes}")
    if plan.replanned and row.id not in plan.replanned.get("new_jobs", ()):
        yield Command(row.id, None, ("scontrol", "update", name, *when))
    else:
        who = (f"Users={job.user}", f"CoreCnt={job.cpus:.0f}", "Flags=PURGE_COMP")
        yield Command(row.id, None, ("scontrol", "create", "reservation", name, *when, *who))
    yield Command(row.id, None, ("scontrol", "update", f"JobId={row.id}", f"StartTime={begin}", name))


def _held_back(rows: list[Row], plan: Plan, several: bool) -> Iterator[Command]:
    """Yield what suspends jobs that start later than now, and those whose node selector is to change."""
    for row in rows:
        if several or row.begin > plan.now:
            yield Command(row.id, None, _patch("job", row, {"spec": {"suspend": True}}))


def _opened(row: Row, to: str, several: bool) -> Command:
    """Return what starts a job when it is due."""
    if to == "appwrapper":
        return Command(row.id, row.begin, _patch("appwrappers.v1beta2.workload.codeflare.dev", row, _released()))
    if to == "kueue":
        metadata: dict[str, Any] = {"annotations": {GATE: None}}
        if several:
            metadata["labels"] = {QUEUE_LABEL: row.cluster}
        return Command(row.id, row.begin, _patch("job", row, {"metadata": metadata}))
    change = _released()
    if several:  # node selectors may change while a job is suspended
        change["spec"]["template"] = {"spec": {"nodeSelector": {CLUSTER_LABEL: row.cluster}}}
    return Command(row.id, row.begin, _patch("job", row, change))


def _released() -> dict[str, Any]:
    return {"spec": {"suspend": False}}


def _patch(kind: str, row: Row, change: dict[str, Any]) -> tuple[str, ...]:
    namespace, name = row.id.split("/")
    text = json.dumps(change, separators=(",", ":"))
    return ("kubectl", "patch", kind, name, f"--namespace={namespace}", "--type=merge", f"--patch={text}")

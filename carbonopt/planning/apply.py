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
from typing import Any

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


def commands(plan: Plan, to: str) -> list[Command]:
    """Return the commands for the jobs whose start is new.

    Parameters
    ----------
    plan
        First plan: all jobs that wait. Replanned: those that moved.
    to
        One of `TARGETS`.

    Raises
    ------
    UnsupportedError
        If there is no such target, or the jobs are of another scheduler.
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
    if to == "slurm":
        return [command for row in rows for command in _slurm(row, several)]
    held = list(_held_back(rows, plan, several)) if to == "kubernetes" else []
    return [*held, *(_opened(row, to, several) for row in rows)]


def script(plan: Plan, to: str) -> str:
    """Return the commands as lines of a shell script, with a comment where one is due later."""
    found = commands(plan, to)
    running = sum(row.state == RUNNING for row in plan.rows)
    lines = [f"# {len(found)} commands for {to}; {running} jobs that run are left alone. Nothing was sent."]
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

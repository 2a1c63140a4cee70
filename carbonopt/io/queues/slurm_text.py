"""Reader of queues in columns: ``sacct --parsable2``, and ``squeue --format`` with ``|`` between the fields.

Which columns there are is the caller's choice. Those of ``squeue --format="%i|%j|%u|%T|%C|%l|%V|%S|%Q|%E|%b|%m|%P"``
and of ``sacct --format=JobID,JobName,User,State,ReqCPUS,Timelimit,Submit,Start,Priority,ReqTRES,Cluster`` are known.
Times have no time zone there: they are local times of the cluster.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from datetime import datetime, tzinfo

from carbonopt.core.errors import Fault, shown
from carbonopt.io.csvfile import Table, read_table
from carbonopt.io.queues.entry import Entry, Settings, queue_of
from carbonopt.io.queues.job import PENDING, Queue, QueuedJob
from carbonopt.io.queues.units import gpus, slurm_memory_gb, tres

SPELLINGS = {
    "id": ("JOBID", "JobID"),
    "name": ("NAME", "JobName"),
    "user": ("USER", "User"),
    "state": ("STATE", "State"),
    "cpus": ("CPUS", "AllocCPUS", "NCPUS", "ReqCPUS"),
    "limit": ("TIME_LIMIT", "Timelimit"),
    "submitted": ("SUBMIT_TIME", "Submit"),
    "started": ("START_TIME", "Start"),
    "priority": ("PRIORITY", "Priority"),
    "dependency": ("DEPENDENCY",),
    "tres": ("TRES_PER_NODE", "TRES_PER_JOB", "ReqTRES", "AllocTRES"),
    "memory": ("MIN_MEMORY", "ReqMem"),
    "cluster": ("Cluster", "CLUSTER", "PARTITION", "Partition"),
}
REQUIRED = ("id", "state", "cpus", "limit")
_NONE = ("", "(null)", "N/A", "None", "Unknown", "UNKNOWN", "NOT_SET", "Partition_Limit")
_SPAN = re.compile(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?")
_ARRAY = re.compile(r"(\d+)_\[(.*)\]")


def slurm_text_queue(path: str | os.PathLike[str], zone: tzinfo, settings: Settings) -> Queue:
    """Read a queue in columns.

    Parameters
    ----------
    path
        The file.
    zone
        In which its times are.
    settings
        What the file does not tell.

    Raises
    ------
    InputError
        With every fault: file, column, line, value and what would be right.
    """
    table = read_table(path, delimiter="|", quoted=False)
    at = {name: table.spelled(spellings)[:1] for name, spellings in SPELLINGS.items()}
    table.columns({SPELLINGS[name][0]: SPELLINGS[name] for name in REQUIRED if not at[name]})
    return queue_of("slurm", table.file, _entries(table, at, zone), settings)


def _entries(table: Table, at: dict[str, list[int]], zone: tzinfo) -> Iterator[Entry]:
    for row in range(len(table.lines)):
        cells = {name: table.cells[columns[0]][row].strip() for name, columns in at.items() if columns}
        if "." not in cells["id"]:  # steps are parts of their jobs
            yield _entry(table, row, {name: "" if cell in _NONE else cell for name, cell in cells.items()}, zone)


def _entry(table: Table, row: int, cells: dict[str, str], zone: tzinfo) -> Entry:
    array = _ARRAY.fullmatch(cells["id"])
    state = cells["state"].partition(" ")[0].upper()
    resources = tres(cells.get("tres", ""))
    priority = _number(cells.get("priority", "")) if cells.get("priority") else None
    held = state == PENDING and priority == 0  # Slurm holds a job by this priority: scontrol(1), hold
    job = QueuedJob(
        id=array[1] if array else cells["id"],
        name=cells.get("name", ""),
        user=cells.get("user", ""),
        state="HELD" if held else state,
        hours=limit_hours(cells["limit"]),
        cpus=_number(cells["cpus"] or resources.get("cpu", "")),
        gpus=gpus(cells.get("tres", "")),
        memory_gb=slurm_memory_gb(resources.get("mem", cells.get("memory", ""))),
        priority=priority,
        submitted=_moment(cells.get("submitted", ""), zone),
        started=None if state == PENDING else _moment(cells.get("started", ""), zone),
        cluster=cells.get("cluster", ""),
    )

    raw = {"time_limit": cells["limit"], "cpus": cells["cpus"]}

    def fault(field: str, problem: str, value: str) -> Fault:
        value = raw.get(field, value)
        return Fault(field, problem, shown(value) if value else None, file=table.file, line=int(table.lines[row]))

    problem = "" if "+" not in job.id else f"job {job.id} is part of a heterogeneous job"
    return Entry(job, array[2] if array else "", cells.get("dependency", ""), fault, problem)


def limit_hours(text: str) -> float:
    """Return a time limit [h]: infinite where there is none, -1 where it is no time.

    Slurm writes ``minutes``, ``minutes:seconds``, ``hours:minutes:seconds`` and the same after ``days-``, where a
    number alone is of hours.

    Examples
    --------
    >>> limit_hours("1-02:30:00"), limit_hours("30:00"), limit_hours("90"), limit_hours("UNLIMITED"), limit_hours("x")
    (26.5, 0.5, 1.5, inf, -1.0)
    """
    if not text or text.upper() == "UNLIMITED":
        return math.inf
    found = _SPAN.fullmatch(text)
    if found is None:
        return -1.0
    days, *parts = found.groups()
    numbers = [float(part) for part in parts if part is not None]
    if days is not None:
        hours, minutes, seconds = (*numbers, 0.0, 0.0)[:3]
    elif len(numbers) == 3:
        hours, minutes, seconds = numbers
    else:
        hours = 0.0
        minutes, seconds = (*numbers, 0.0)[:2]
    return 24 * float(days or 0) + hours + minutes / 60 + seconds / 3600


def _moment(text: str, zone: tzinfo) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=zone)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan

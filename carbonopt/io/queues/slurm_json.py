"""Reader of ``squeue --json`` and ``sacct --json``: Slurm's data_parser, versions 0.0.37 and later.

A number is plain or ``{"set": ..., "infinite": ..., "number": ...}``; times are seconds since 1970, limits minutes.
Format: https://slurm.schedmd.com/job_state_codes.html and https://slurm.schedmd.com/rest_api.html.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.io.queues.entry import Entry, Settings, moment_of, queue_of
from carbonopt.io.queues.job import PENDING, Queue, QueuedJob
from carbonopt.io.queues.units import gpus, slurm_memory_gb, tres


def _number(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if value.get("infinite"):
        return math.inf
    return value.get("number") if value.get("set", True) else None


def _states(value: Any) -> Any:
    """Return states as a list: version 0.0.39 and earlier have one as text, accounts have them in ``current``."""
    if isinstance(value, dict):
        value = value.get("current")
    return [value] if isinstance(value, str) else value


Number = Annotated[float | None, BeforeValidator(_number)]
States = Annotated[list[str], BeforeValidator(_states)]


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")


class _Times(_Part):
    """Field ``time`` of accounts."""

    submission: Number = None
    start: Number = None
    limit: Number = None


class _Required(_Part):
    """Field ``required`` of accounts."""

    CPUs: Number = None


class _Tres(_Part):
    type: str
    name: str | None = None
    count: Number = None


class _TresLists(_Part):
    """Field ``tres`` of accounts."""

    allocated: list[_Tres] = Field(default_factory=list)
    requested: list[_Tres] = Field(default_factory=list)


class _Array(_Part):
    """Field ``array`` of accounts."""

    job_id: Number = None
    task_id: Number = None
    task: str | None = None


class SlurmJob(_Part):
    """One entry of ``jobs``."""

    job_id: int
    name: str | None = ""
    user_name: str | None = None
    user: str | None = None
    job_state: States | None = None
    state: States | None = None
    state_reason: str | None = ""
    cluster: str | None = ""
    partition: str | None = ""
    cpus: Number = None
    time_limit: Number = None
    submit_time: Number = None
    start_time: Number = None
    priority: Number = None
    dependency: str | None = ""
    array_job_id: Number = None
    array_task_id: Number = None
    array_task_string: str | None = ""
    tres_req_str: str | None = ""
    tres_alloc_str: str | None = ""
    het_job_id: Number = None
    time: _Times = Field(default_factory=_Times)
    required: _Required = Field(default_factory=_Required)
    tres: _TresLists = Field(default_factory=_TresLists)
    array: _Array = Field(default_factory=_Array)

    @property
    def id(self) -> str:
        """Of a task of an array as ``scontrol`` takes it: ``array_task``."""
        whole = self.array_job_id or self.array.job_id
        task = self.array_task_id if self.array_job_id else self.array.task_id
        if not whole:
            return str(self.job_id)
        return f"{whole:.0f}" if task is None else f"{whole:.0f}_{task:.0f}"

    @property
    def tasks(self) -> str:
        """Of an array of which no task has a number of its own yet."""
        text = self.array_task_string or self.array.task or ""
        alone = self.array_task_id is not None if self.array_job_id else self.array.task_id is not None
        return "" if alone else text

    def resources(self) -> dict[str, float]:
        """Return CPUs, GPUs and memory [GiB], what is allocated before what is asked for."""
        text = self.tres_alloc_str or self.tres_req_str or ""
        named = tres(text)
        found: dict[str, float] = {}
        if "cpu" in named and named["cpu"].isdecimal():
            found["cpus"] = float(named["cpu"])
        memory = slurm_memory_gb(named["mem"]) if "mem" in named else None
        if memory is not None:
            found["memory_gb"] = memory
        found["gpus"] = gpus(text)
        for item in self.tres.allocated or self.tres.requested:
            count = item.count or 0.0
            if item.type == "cpu":
                found["cpus"] = count
            elif item.type == "mem":
                found["memory_gb"] = count / 1024
            elif item.type == "gres" and (item.name or "") == "gpu":
                found["gpus"] = count
        return found


def slurm_json_queue(content: dict[str, Any], file: str, settings: Settings) -> Queue:
    """Return the queue that the content of a file holds.

    Raises
    ------
    InputError
        With every fault: file, field, job, value and what would be right.
    """
    rows = content.get("jobs")
    if not isinstance(rows, list):
        raise InputError(Fault("jobs", "must be a list of jobs, as squeue --json prints it", shown(rows), file=file))
    faults: list[Fault] = []
    entries: list[Entry] = []
    for row, raw in enumerate(rows):
        try:
            entries.append(_entry(SlurmJob.model_validate(raw), row, file))
        except ValidationError as error:
            faults += list(_schema_faults(error, row, file))
    if faults:
        raise InputError(faults)
    return queue_of("slurm", file, entries, settings)


def _schema_faults(error: ValidationError, row: int, file: str) -> Iterator[Fault]:
    for item in error.errors(include_url=False):
        path = ".".join(map(str, item["loc"]))
        where = f"jobs[{row}].{path}" if path else f"jobs[{row}]"
        if item["type"] == "missing":
            yield Fault(where, "is missing: a job must have it", file=file)
        else:
            words = item["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
            yield Fault(where, f"must be {words}", shown(item["input"]), file=file)


def _entry(one: SlurmJob, row: int, file: str) -> Entry:
    state = (one.job_state or one.state or [""])[0].upper()
    held = state == PENDING and (one.state_reason or "").startswith("JobHeld")
    found = one.resources()
    limit = one.time_limit if one.time_limit is not None else one.time.limit
    job = QueuedJob(
        id=one.id,
        name=one.name or "",
        user=one.user_name or one.user or "",
        state="HELD" if held else state,
        hours=math.inf if limit is None else limit / 60,
        cpus=found.get("cpus") or one.cpus or one.required.CPUs or 0.0,
        gpus=found["gpus"],
        memory_gb=found.get("memory_gb"),
        priority=one.priority,
        submitted=moment_of(one.submit_time or one.time.submission),
        started=None if state == PENDING else moment_of(one.start_time or one.time.start),
        cluster=one.cluster or one.partition or "",
    )

    def fault(field: str, problem: str, value: str) -> Fault:
        return Fault(f"jobs[{row}].{field}", problem, shown(value) if value else None, file=file)

    problem = f"job {one.id} is part of a heterogeneous job" if one.het_job_id else ""
    return Entry(job, one.tasks if state == PENDING else "", one.dependency or "", fault, problem)

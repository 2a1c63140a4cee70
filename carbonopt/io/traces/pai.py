"""Alibaba's PAI of 2020: a table of jobs and one of their tasks, whose headers stand in files beside them.

Fields: https://github.com/alibaba/clusterdata/tree/master/cluster-trace-gpu-v2020. CPUs and GPUs are in per cent
(600 are 6 CPUs), memory in GB, both for each of the task's instances. The job's ``start_time`` is its submission.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.errors import Fault, InputError, UnsupportedError, shown
from carbonopt.io.csvfile import Table, words
from carbonopt.io.jobs import JobTrace
from carbonopt.io.traces.cells import Cells, Layout, read_columns, state_reasons, trace_of, trace_text
from carbonopt.io.traces.source import Look, Paths, TraceSource

JOBS = ("job_name", "inst_id", "user", "status", "start_time", "end_time")
TASKS = (
    "job_name", "task_name", "inst_num", "status", "start_time", "end_time",
    "plan_cpu", "plan_mem", "plan_gpu", "gpu_type",
)  # fmt: skip
_JOB_COLUMNS = {name: (name,) for name in ("job_name", "user", "status", "start_time")}
_TASK_COLUMNS = {name: (name,) for name in TASKS if name not in ("task_name", "status", "gpu_type")}


def _kind(look: Look) -> tuple[str, ...] | None:
    """Return the columns of the table that a file is, None if it is neither."""
    cells = [words(cell) for cell in look.first_line.split(",")]
    for columns, told in ((TASKS, "plan cpu"), (JOBS, "inst id")):
        if {"job name", told} <= set(cells):
            return columns
    for columns, name in ((TASKS, "pai_task_table"), (JOBS, "pai_job_table")):
        if look.name.startswith(name):
            return columns
    return None


def _read(paths: Paths, states: Collection[str] | None) -> JobTrace:
    """Read both tables, in any order: a job runs from its first task's start to its last task's end."""
    found = dict[tuple[str, ...] | None, str | os.PathLike[str]]((_kind(look_of(path)), path) for path in paths)
    if len(paths) != 2 or JOBS not in found or TASKS not in found:
        given = ", ".join(Path(path).name for path in paths)
        rule = "PAI's trace is two files, pai_job_table and pai_task_table: give both with --trace"
        raise UnsupportedError(f"{rule} (given: {given})")
    jobs = Cells(_table(found[JOBS], JOBS, _JOB_COLUMNS), _JOB_COLUMNS)
    tasks = Cells(_table(found[TASKS], TASKS, _TASK_COLUMNS), _TASK_COLUMNS)
    names, status = jobs.ids("job_name"), jobs.texts("status")
    submit = jobs.seconds("start_time")
    of_job = _positions(jobs, tasks, names)
    sums = _sums(tasks, of_job, len(names))
    reasons = state_reasons(status, PAI.states, states)
    why = [reason or ("" if there else "without tasks") for reason, there in zip(reasons, sums["there"], strict=True)]
    return trace_of(
        jobs.table,
        jobs.faults + tasks.faults,
        why,
        submit,
        sums["end"] - sums["start"],
        sums["cpus"],
        names,
        dated=False,
        gpus=sums["gpus"],
        memory_gb=sums["memory"],
        user=jobs.texts("user"),
        state=status,
        started=sums["start"],
    )


def look_of(path: str | os.PathLike[str]) -> Look:
    """Return what tells which of the two tables a file is."""
    return Look(Path(path).name, trace_text(path).lstrip().partition("\n")[0])


def _table(path: str | os.PathLike[str], columns: tuple[str, ...], wanted: Layout) -> Table:
    """Return the table with the header of its first line, of its ``.header`` file, or as documented."""
    if words(look_of(path).first_line.partition(",")[0]) == "job name":
        return read_columns(path, wanted)
    beside = Path(path).with_name(Path(path).name.split(".")[0] + ".header")
    if beside.is_file():
        columns = tuple(name.strip() for name in trace_text(beside).strip().split(","))
    return read_columns(path, wanted, columns)


def _positions(jobs: Cells, tasks: Cells, names: tuple[str, ...]) -> IntArray:
    """Return which job each task is of, shape (tasks,); a job's name must stand once, a task's job in the table."""
    index: dict[str, int] = {}
    for row, name in enumerate(names):
        if index.setdefault(name, row) != row:
            jobs.faults.append(jobs.table.fault(jobs.at["job_name"], row, "must stand once in the table of jobs"))
    found = np.array([index.get(name, -1) for name in tasks.ids("job_name")], dtype=np.int64)
    if not (found >= 0).any():
        problem = f"no task is of a job of {jobs.table.file}: the two tables must be of one trace"
        raise InputError(Fault("job_name", problem, shown(tasks.texts("job_name")[0]), file=tasks.table.file))
    return found


def _sums(tasks: Cells, of_job: IntArray, count: int) -> dict[str, FloatArray]:
    """Return what the tasks of each job come to, shapes (count,); tasks of other jobs are not counted."""
    start, end = tasks.seconds("start_time"), tasks.seconds("end_time")
    tasks.span(start, end, "end_time", "start_time")
    instances = tasks.numbers("inst_num", "a number of instances")
    plans = {
        name: tasks.numbers(f"plan_{name}", unit)
        for name, unit in (("cpu", "per cent of a CPU"), ("gpu", "per cent of a GPU"), ("mem", "a number of GB"))
    }
    here = np.flatnonzero(of_job >= 0)
    rows = of_job[here]
    first, last = np.full(count, np.inf), np.full(count, -np.inf)
    np.fmin.at(first, rows, start[here])
    np.fmax.at(last, rows, end[here])
    there = np.bincount(rows, minlength=count) > 0
    timed = there & (np.bincount(rows, np.isnan(end - start)[here], count) == 0)

    def total(name: str) -> FloatArray:
        return np.bincount(rows, np.nan_to_num(instances * plans[name])[here], count).astype(float)

    return {
        "there": there.astype(float),
        "start": np.where(timed, first, np.nan),
        "end": np.where(timed, last, np.nan),
        "cpus": total("cpu") / 100,
        "gpus": total("gpu") / 100,
        "memory": total("mem"),
    }


PAI = TraceSource("pai", lambda look: _kind(look) is not None, _read, ("Terminated",), files=2)

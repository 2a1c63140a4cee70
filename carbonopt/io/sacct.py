"""Reader of Slurm's accounts: what ``sacct --parsable2`` prints.

Cells are separated by ``|`` under a header; which columns there are, and in what order, is the caller's
choice (``--format``). Format: https://slurm.schedmd.com/sacct.html.
"""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray
from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.io.csvfile import Table, read_table
from carbonopt.io.jobs import LONGEST_HOURS, MOST_CPUS, JobTrace, kept_rows, unique_ids
from carbonopt.io.queues.units import gpus, slurm_memory_gb
from carbonopt.io.queues.units import tres as amounts

ENDED = {
    "BOOT_FAIL",
    "COMPLETED",
    "DEADLINE",
    "FAILED",
    "NODE_FAIL",
    "OUT_OF_MEMORY",
    "PREEMPTED",
    "TIMEOUT",
}
"""States of jobs that ran to an end, though not always a good one."""
_REQUIRED = {name: (name,) for name in ("JobID", "Submit", "State")}
_CPUS = ("AllocCPUS", "NCPUS", "ReqCPUS")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
_SPAN = re.compile(r"(?:(?:(\d+)-)?(\d+):)?(\d+):(\d+)(?:\.\d+)?")
_NEVER = ("", "None", "Unknown")
_MOMENT_RULE = "must be a time such as 2023-11-14T00:00:00"


def read_sacct(path: str | os.PathLike[str]) -> JobTrace:
    r"""Read the output of ``sacct --parsable2`` (plain or gzip).

    A job arrives when it was submitted, hours counting from the earliest job that ran. It lasts
    ``Elapsed`` (or ``ElapsedRaw``, or from ``Start`` to ``End``) and holds ``AllocCPUS`` (or ``NCPUS``, or
    ``ReqCPUS``). Steps such as ``123.batch`` are part of their jobs and are passed over; each task of a
    job array and each component of a heterogeneous job is a job. Left out, and counted, are jobs that
    were cancelled, have not ended, or did not run. Where they are, ``User``, ``Priority``, ``Start``,
    ``Timelimit``, ``AllocTRES`` (GPUs, memory) and ``ConsumedEnergyRaw`` (J, as mean power) are passed on.

    Raises
    ------
    InputError
        With every fault: file, column, line, value and what would be right; and if no job ran.

    Warns
    -----
    UserWarning
        With the number of jobs that are left out.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "jobs.txt")
    ...     _ = path.write_text(
    ...         "JobID|Submit|Elapsed|AllocCPUS|State\n7|2024-03-01T10:00:00|1-02:30:00|4|COMPLETED\n"
    ...     )
    ...     trace = read_sacct(path)
    >>> trace.length_hours.tolist(), trace.cpus.tolist()
    ([26.5], [4.0])
    """
    table = _jobs(read_table(path, delimiter="|", quoted=False))
    at = table.columns(_REQUIRED)
    states = [_state(cell) for cell in table.cells[at["State"]]]
    ended = np.array([state in ENDED for state in states], dtype=np.bool_)
    hours, hours_faults = _hours(table, ended)
    ran = ended & (hours != 0)
    submit = _moments(table, at["Submit"])
    cpus = _cpus(table)
    counted = (cpus > 0) & (cpus <= MOST_CPUS)
    faults = [
        *table.faults(at["Submit"], ran & np.isnat(submit), _MOMENT_RULE),
        *hours_faults,
        *table.faults(_cpu_columns(table)[0], ran & ~counted, "must be a number, more than 0"),
    ]
    if faults:
        raise InputError(faults)
    why = [state.lower() or "without state" for state in states]
    reasons = np.select([ran, ended], ["", "without run time"], default=why)
    keep, left_out = kept_rows(table, map(str, reasons))
    zero = submit[keep].min()
    arrival = (submit[keep] - zero).astype(np.int64) / 3600
    cells = table.cells[at["JobID"]]
    ids = unique_ids(cells[row].strip() for row in np.flatnonzero(keep))
    return JobTrace(
        arrival,
        hours[keep],
        cpus[keep],
        table.lines[keep],
        left_out,
        str(zero),
        ids,
        state=tuple(states[row] for row in np.flatnonzero(keep)),
        **_more(Table(table.file, table.header, _rows(table, keep), table.lines[keep]), hours[keep], zero),
    )


def _rows(table: Table, keep: BoolArray) -> tuple[tuple[str, ...], ...]:
    rows = np.flatnonzero(keep)
    return tuple(tuple(column[row] for row in rows) for column in table.cells)


def _more(table: Table, hours: FloatArray, zero: np.datetime64) -> dict[str, Any]:
    """Return the columns that a trace may have besides, of those that the header names."""

    def cells(name: str) -> list[str]:
        found = table.spelled([name])
        return [cell.strip() for cell in table.cells[found[0]]] if found else []

    tres = cells("AllocTRES") or cells("ReqTRES")
    memory = [slurm_memory_gb(amounts(cell).get("mem", "")) for cell in tres]
    energy = np.array(
        [float(cell) if cell.isdecimal() and len(cell) < 19 else np.nan for cell in cells("ConsumedEnergyRaw")]
    )
    started = [_MOMENT.fullmatch(cell) is not None for cell in cells("Start")]
    numbers = {
        "gpus": np.array([gpus(cell) for cell in tres]),
        "memory_gb": np.array([np.nan if amount is None else amount for amount in memory]),
        "watts": np.where(energy > 0, energy, np.nan) / (3600 * hours) if len(energy) else energy,
        "priority": np.array([float(cell) if cell.isdecimal() else np.nan for cell in cells("Priority")]),
        "limit_hours": np.array([_span(cell) for cell in cells("Timelimit")]),
    }
    if started:
        since = (_moments(table, table.spelled(["Start"])[0]) - zero).astype(float) / 3600
        numbers["started_hours"] = np.where(started, since, np.nan)
    known: dict[str, Any] = {name: values for name, values in numbers.items() if not np.isnan(values).all()}
    users = cells("User")
    return known | ({"user": tuple(users)} if users else {})


def _jobs(table: Table) -> Table:
    """Return the table without the rows of steps.

    Raises
    ------
    InputError
        If nothing is left.
    """
    column = table.columns({"JobID": ("JobID",)})["JobID"]
    rows = np.flatnonzero(["." not in cell for cell in table.cells[column]])
    if not len(rows):
        words = "holds steps only, every JobID has a point: `sacct --allocations` prints jobs"
        raise InputError(Fault("", words, file=table.file))
    cells = tuple(tuple(column[row] for row in rows) for column in table.cells)
    return Table(table.file, table.header, cells, table.lines[rows])


def _state(cell: str) -> str:
    """Return the state alone and whole: of ``CANCELLED by 1001``, and of a cell cut to ``OUT_OF_ME+``."""
    state = cell.strip().partition(" ")[0].upper()
    if not state.endswith("+"):
        return state
    return next((known for known in ENDED if known.startswith(state[:-1])), state[:-1])


def _moments(table: Table, column: int) -> np.ndarray[tuple[int], np.dtype[np.datetime64]]:
    """Return a column of times, shape (N,), NaT where a cell is none."""
    cells = [cell.strip() for cell in table.cells[column]]
    texts = [cell if _MOMENT.fullmatch(cell) else "NaT" for cell in cells]
    try:
        return np.array(texts, dtype="datetime64[s]")
    except ValueError:  # a 13th month
        return np.array([_moment(text) for text in texts], dtype="datetime64[s]")


def _moment(text: str) -> np.datetime64:
    try:
        return np.datetime64(text, "s")
    except ValueError:
        return np.datetime64("NaT", "s")


def _hours(table: Table, ended: BoolArray) -> tuple[FloatArray, list[Fault]]:
    """Return how long each job ran [h], shape (N,), and what is wrong with it in jobs that have ended."""
    for name, parse, rule in _SPANS:
        found = table.spelled([name])
        if found:
            hours = np.array([parse(cell.strip()) for cell in table.cells[found[0]]])
            return hours, table.faults(found[0], ended & ~(hours < LONGEST_HOURS), rule)
    at = table.columns({name: (name,) for name in ("Start", "End")})
    started = np.array([cell.strip() not in _NEVER for cell in table.cells[at["Start"]]])
    start, end = (_moments(table, at[name]) for name in ("Start", "End"))
    span = (end - start).astype(np.int64) / 3600
    faults = [
        *table.faults(at["Start"], ended & started & np.isnat(start), _MOMENT_RULE),
        *table.faults(at["End"], ended & started & np.isnat(end), _MOMENT_RULE),
        *table.faults(at["End"], ended & started & (end < start), "must not be before Start"),
    ]
    return np.where(ended & started, span, 0.0), faults


def _span(cell: str) -> float:
    """Return a time such as ``1-02:30:00`` in hours, NaN if it is none."""
    found = _SPAN.fullmatch(cell)
    if not found:
        return float("nan")
    days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return 24 * days + hours + minutes / 60 + seconds / 3600


def _seconds(cell: str) -> float:
    return float(cell) / 3600 if cell.isdecimal() else float("nan")


_SPANS = (
    ("Elapsed", _span, "must be a time such as 1-02:30:00"),
    ("ElapsedRaw", _seconds, "must be a number of seconds, at least 0"),
)


def _cpus(table: Table) -> FloatArray:
    """Return the CPUs of each job, shape (N,), NaN or 0 where no column tells."""
    cpus = np.full(len(table.lines), np.nan)
    for column in _cpu_columns(table):
        cpus = np.where(cpus > 0, cpus, table.numbers(column))
    return cpus


def _cpu_columns(table: Table) -> list[int]:
    columns = [found[0] for name in _CPUS if (found := table.spelled([name]))]
    if not columns:
        words = "must be a column of the header, or NCPUS or ReqCPUS: none found"
        raise InputError(Fault(_CPUS[0], words, shown("|".join(table.header), limit=200), file=table.file))
    return columns

"""What a job trace is, and the reader of those in GAIA's format."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray, frozen_float, frozen_int
from carbonopt.core.errors import Fault, InputError, one_of, shown
from carbonopt.io.csvfile import Table, read_table
from carbonopt.io.job_times import deadline_faults, read_times

HOURS_PER_UNIT = {"seconds": 1 / 3600, "minutes": 1 / 60, "hours": 1.0}

SHORTEST_MEDIAN_HOURS = 1 / 60
LONGEST_MEDIAN_HOURS = 1000.0
"""Median lengths outside these limits make `read_jobs` warn: they are how a wrong `time_unit` shows."""
LONGEST_HOURS = 1e6
"""A job of more than a century is a slip of the pen."""
LATEST_HOURS = 1e9
"""A later arrival would have more slots than a whole number counts."""
MOST_CPUS = 1e30
"""Of a job: instance files hold no larger numbers."""

OPTIONAL_NUMBERS = ("gpus", "memory_gb", "watts", "priority", "started_hours", "limit_hours", "deadline_hours")
"""Columns of `JobTrace` that some sources have."""
SINCE_ZERO = ("started_hours", "deadline_hours")
"""Those of them that are times since the trace's own zero."""

_COLUMNS = {name: (name,) for name in ("arrival_time", "length", "cpus")}
_MORE = ("deadline", "job_id", "user", "gpus", "memory_gb", "watts")
"""Columns that a table may have besides."""
_MADE = ": a deadline is read from 'deadline', others come from --short/long-wait-hours (mosp), --slack-hours (elastic)"


@dataclass(frozen=True, eq=False)
class JobTrace:
    """Jobs of a trace, in the order of the file.

    Parameters
    ----------
    arrival_hours
        Arrival since the trace's own zero [h], shape (N,), at least 0.
    length_hours
        Run time [h], shape (N,), more than 0.
    cpus
        CPUs that each job holds while it runs, shape (N,), more than 0, as in the file: not always whole.
    rows
        1-based line of the file that each job stands on, shape (N,).
    left_out
        Number of jobs that the file holds but that never ran to an end, by reason.
    zero
        The moment that arrivals count from, as the file spells it; empty where it does not tell.
    ids
        By which the file knows the N jobs, all different; empty where it does not tell.
    gpus, memory_gb, watts
        GPUs that each job holds, memory [GB], measured mean power of the whole job [W], shapes (N,), NaN where one
        is not known; None where the source does not tell.
    priority
        Larger or smaller is sooner, as in the source.
    started_hours, limit_hours
        When each job began, since the trace's own zero, and its time limit [h].
    deadline_hours
        When each job should have ended, since the trace's own zero [h]; NaN where one has no deadline.
    user, state
        Of each job, as the source spells them; empty where it does not tell.
    cpus_known
        Whether `cpus` are CPUs: where the source tells GPUs alone, these stand in their place.
    """

    arrival_hours: FloatArray
    length_hours: FloatArray
    cpus: FloatArray
    rows: IntArray
    left_out: Mapping[str, int] = field(default_factory=dict)
    zero: str = ""
    ids: tuple[str, ...] = ()
    gpus: FloatArray | None = None
    memory_gb: FloatArray | None = None
    watts: FloatArray | None = None
    priority: FloatArray | None = None
    started_hours: FloatArray | None = None
    limit_hours: FloatArray | None = None
    deadline_hours: FloatArray | None = None
    user: tuple[str, ...] = ()
    state: tuple[str, ...] = ()
    cpus_known: bool = True

    def __post_init__(self) -> None:
        """Freeze the arrays."""
        for name in OPTIONAL_NUMBERS:
            if getattr(self, name) is not None:
                object.__setattr__(self, name, frozen_float(getattr(self, name)))
        for name in ("arrival_hours", "length_hours", "cpus"):
            object.__setattr__(self, name, frozen_float(getattr(self, name)))
        object.__setattr__(self, "rows", frozen_int(self.rows))

    def __len__(self) -> int:
        """Return the number of jobs N."""
        return len(self.rows)

    def provenance(self) -> dict[str, Any]:
        """Return what is to be told of the trace beside its jobs; empty where there is nothing."""
        told = {"trace_jobs_left_out": dict(self.left_out), "trace_zero": self.zero}
        return {key: value for key, value in told.items() if value}

    def names(self, rows: IntArray) -> tuple[str, ...]:
        """Return what the jobs at some positions are called: their ids, or ``row`` and the position."""
        if self.ids:
            return tuple(self.ids[row] for row in rows)
        return tuple(f"row{row}" for row in rows)

    def part(self, rows: IntArray, zero_hours: float = 0.0) -> JobTrace:
        """Return the jobs at some positions, called as they were, with arrivals since another zero [h]."""
        numbers = {name: values[rows] for name in OPTIONAL_NUMBERS if (values := getattr(self, name)) is not None}
        numbers |= {name: numbers[name] - zero_hours for name in SINCE_ZERO if name in numbers}
        return replace(
            self,
            arrival_hours=self.arrival_hours[rows] - zero_hours,
            length_hours=self.length_hours[rows],
            cpus=self.cpus[rows],
            rows=self.rows[rows],
            ids=self.names(rows),
            user=tuple(self.user[row] for row in rows) if self.user else (),
            state=tuple(self.state[row] for row in rows) if self.state else (),
            **numbers,
        )


def unique_ids(cells: Iterable[str]) -> tuple[str, ...]:
    """Return ids, with a count behind those that stood before: a job that was requeued has a line for each run.

    Examples
    --------
    >>> unique_ids(["7", "8", "7"])
    ('7', '8', '7 (run 2)')
    """
    seen: Counter[str] = Counter()
    ids = []
    for cell in cells:
        seen[cell] += 1
        ids.append(cell if seen[cell] == 1 else f"{cell} (run {seen[cell]})")
    return tuple(ids)


def kept_rows(table: Table, reasons: Iterable[str]) -> tuple[BoolArray, dict[str, int]]:
    """Return which rows are jobs that ran, shape (N,), and how many are not by reason, with a warning.

    Parameters
    ----------
    table
        The N rows.
    reasons
        Why each is left out, N words; empty for those that ran.

    Raises
    ------
    InputError
        If none ran.
    """
    found = list(reasons)
    keep = np.array([not reason for reason in found], dtype=np.bool_)
    left_out = dict(sorted(Counter(reason for reason in found if reason).items()))
    if left_out:
        count = sum(left_out.values())
        words = f"{count} of {len(found)} jobs left out: " + ", ".join(f"{n} {why}" for why, n in left_out.items())
        if not keep.any():
            raise InputError(Fault("", f"holds no job that ran to an end: {words}", file=table.file))
        warnings.warn(f"{table.file}: {words}", stacklevel=4)
    return keep, left_out


def read_jobs(path: str | os.PathLike[str], time_unit: str) -> JobTrace:
    r"""Read a job trace with the columns ``arrival_time,length,cpus`` (CSV, plain or gzip).

    Parameters
    ----------
    path
        The file. Columns may stand in any order and case, beside others that are not read. Where they are,
        ``deadline``, ``job_id``, ``user``, ``gpus``, ``memory_gb`` [GB] and ``watts`` (of the whole job) are read too.
    time_unit
        Unit of ``arrival_time``, ``length`` and ``deadline``: ``"seconds"``, ``"minutes"`` or ``"hours"``. There is
        no default: GAIA's own traces come in seconds and in hours under the same header. Arrivals and deadlines may
        be ISO 8601 times with an offset from UTC instead.

    Returns
    -------
    JobTrace
        The N jobs, in hours.

    Raises
    ------
    InputError
        With every fault: file, column, line, value and what would be right.

    Warns
    -----
    UserWarning
        If half of the jobs last less than a minute or more than 1000 hours, as jobs do in a wrong unit; and of
        columns that are not read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "jobs.csv")
    ...     _ = path.write_text("arrival_time,length,cpus\n0,3600,2\n1800,5400,1\n")
    ...     trace = read_jobs(path, time_unit="seconds")
    >>> trace.length_hours.tolist()
    [1.0, 1.5]
    """
    if time_unit not in HOURS_PER_UNIT:
        problem = f"must be {one_of(tuple(HOURS_PER_UNIT))}: the file does not say, and a guess may be 3600-fold off"
        raise InputError(Fault("time_unit", problem, shown(time_unit), file=str(path)))
    table = read_table(path)
    at = table.columns(_COLUMNS | {name: (name,) for name in _MORE if table.spelled([name])})
    length, cpus = (table.numbers(at[name]) for name in ("length", "cpus"))
    to_hours = HOURS_PER_UNIT[time_unit]
    times = read_times(table, at, time_unit, to_hours, LATEST_HOURS)
    longest = LONGEST_HOURS / to_hours
    rules = [
        ("length", (length > 0) & (length < np.inf), f"must be a number of {time_unit}, more than 0"),
        ("length", ~(length > longest) | (length == np.inf), f"must be at most {longest:g} {time_unit}"),
        ("cpus", (cpus > 0) & (cpus < np.inf), "must be a number of CPUs, more than 0"),
        ("cpus", ~(cpus > MOST_CPUS) | (cpus == np.inf), f"must be at most {MOST_CPUS:g}"),
    ]
    wrong = [fault for name, good, problem in rules for fault in table.faults(at[name], ~good, problem)]
    faults = [*times.faults, *wrong, *deadline_faults(table, at, times, length * to_hours)]
    if faults:
        raise InputError(faults)
    more = _more(table)
    _warn_of_unread(table, at)
    _warn_of_unit(path, time_unit, float(np.median(length)) * to_hours)
    return JobTrace(
        times.arrival,
        length * to_hours,
        cpus,
        table.lines,
        zero=times.zero,
        deadline_hours=times.deadline,
        **more,
    )


def _more(table: Table) -> dict[str, Any]:
    """Return the columns that a table may have besides.

    Raises
    ------
    InputError
        For what is neither blank nor a number, at least 0; and for a name that is missing.
    """
    found: dict[str, Any] = {}
    faults: list[Fault] = []
    for name in ("gpus", "memory_gb", "watts"):
        for column in table.spelled([name])[:1]:
            values = table.numbers(column)
            blank = np.array([not cell.strip() for cell in table.cells[column]], dtype=np.bool_)
            good = (values >= 0) & (values <= MOST_CPUS)
            faults += table.faults(
                column, ~(blank | good), f"must be a number, at least 0 and at most {MOST_CPUS:g}, or blank"
            )
            found[name] = np.where(good, values, np.nan)
    for column in table.spelled(["job_id"])[:1]:
        names = [cell.strip() for cell in table.cells[column]]
        faults += table.faults(column, np.array([not name for name in names]), "must be the job's name")
        found["ids"] = unique_ids(names)
    for column in table.spelled(["user"])[:1]:
        found["user"] = tuple(cell.strip() for cell in table.cells[column])
    if faults:
        raise InputError(faults)
    return found


def _warn_of_unread(table: Table, at: Mapping[str, int]) -> None:
    """Warn of columns with a name that mean nothing here: they may hold what the user counts on."""
    unread = [name for column, name in enumerate(table.header) if column not in at.values() and name.strip()]
    if unread:
        told = f"column {one_of(unread)} is" if len(unread) == 1 else f"columns {', '.join(map(repr, unread))} are"
        made = "" if "deadline" in at else _MADE
        read = ", ".join((*_COLUMNS, *_MORE))
        warnings.warn(f"{table.file}: {told} not read{made}; what is read: {read}", stacklevel=3)


def _warn_of_unit(path: str | os.PathLike[str], time_unit: str, median_hours: float) -> None:
    if not SHORTEST_MEDIAN_HOURS <= median_hours <= LONGEST_MEDIAN_HOURS:
        text = f"{median_hours * 3600:.3g} s" if median_hours < 1 else f"{median_hours:.0f} h"
        warnings.warn(
            f"{path}: with time_unit={time_unit!r} the median job lasts {text}, outside 1 minute to "
            f"{LONGEST_MEDIAN_HOURS:.0f} hours: is the unit right?",
            stacklevel=3,
        )

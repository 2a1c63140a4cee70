"""Reader of job logs in the Standard Workload Format of the Parallel Workloads Archive.

One job a line, 18 numbers separated by white space, -1 where one is unknown; a line that begins with ``;``
is a comment. Format: https://www.cs.huji.ac.il/labs/parallel/workload/swf.html (version 2.2).
"""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from operator import itemgetter

import numpy as np

from carbonopt.core.arrays import FloatArray, frozen_int
from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.core.files import read_bytes
from carbonopt.core.time import format_utc
from carbonopt.io.csvfile import Table
from carbonopt.io.jobs import LATEST_HOURS, LONGEST_HOURS, MOST_CPUS, JobTrace, kept_rows, unique_ids

FIELDS = 18
USED = {
    "job_number": 1,
    "submit_time": 2,
    "run_time": 4,
    "allocated_processors": 5,
    "requested_processors": 8,
    "status": 11,
    "wait_time": 3,
    "requested_time": 9,
    "user": 12,
}
"""The fields that are read, counted from 1 as the format does; the last three are passed on where they are known."""
CANCELLED = 5
PARTIAL = (2, 3, 4)
"""Status of the lines that tell the pieces of an interrupted job, beside the one line of the whole job."""
LARGEST_VALUES = {
    "submit_time": 3600 * LATEST_HOURS,
    "run_time": 3600 * LONGEST_HOURS,
    "allocated_processors": MOST_CPUS,
    "requested_processors": MOST_CPUS,
    "status": MOST_CPUS,
}
"""Of each number that is checked, in the order of `USED`: what no later step overflows by."""
_START = re.compile(r";\s*UnixStartTime\s*:\s*(.*)", re.IGNORECASE)
LATEST_UNIX_SECONDS = 10_000_000_000
"""Of the beginning of a log: in the year 2286."""
_UNITS = {"submit_time": "seconds", "run_time": "seconds"}


def read_swf(path: str | os.PathLike[str]) -> JobTrace:
    r"""Read a log in the Standard Workload Format (plain or gzip).

    Submit times count from the moment that the header's ``UnixStartTime`` tells; 0 and less stand for an unknown one.
    A job arrives at its submit time, lasts its run time, and holds its allocated processors, or those that
    it requested where the log does not know. Left out, and counted, are cancelled jobs, those without run
    time, submit time or processors, and the lines of a job's pieces (status 2, 3 and 4).

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
    ...     path = Path(folder, "log.swf")
    ...     _ = path.write_text("; Version: 2.2\n1 60 5 7200 4 -1 -1 4 9000 -1 1 1 1 -1 1 -1 -1 -1\n")
    ...     trace = read_swf(path)
    >>> trace.length_hours.tolist(), trace.cpus.tolist()
    ([2.0], [4.0])
    """
    text = read_bytes(path).decode("utf-8-sig", errors="replace")  # comments come in any encoding
    table = _table(path, text)
    submit, run, allocated, requested, status = columns = [
        table.numbers(column) for column in range(1, len(LARGEST_VALUES) + 1)
    ]
    faults = []
    for column, (name, values) in enumerate(zip(LARGEST_VALUES, columns, strict=True), start=1):
        good = ((values >= 0) & (values <= LARGEST_VALUES[name])) | (values == -1)
        what = f"a number of {_UNITS[name]}" if name in _UNITS else "a number"
        faults += table.faults(
            column, ~good, f"must be {what}, at least 0, or -1 where it is unknown; at most {LARGEST_VALUES[name]:g}"
        )
    if faults:
        raise InputError(faults)
    cpus = np.where(allocated > 0, allocated, requested)
    keep, left_out = kept_rows(table, _reasons(submit, run, cpus, status))
    ids = unique_ids(table.cells[0][row] for row in np.flatnonzero(keep))
    wait, limit = (table.numbers(column) for column in (6, 7))
    users = tuple(table.cells[8][row] for row in np.flatnonzero(keep))
    return JobTrace(
        submit[keep] / 3600,
        run[keep] / 3600,
        cpus[keep],
        table.lines[keep],
        left_out,
        _zero(path, text),
        ids,
        started_hours=np.where(wait >= 0, submit + wait, np.nan)[keep] / 3600,
        limit_hours=np.where((limit > 0) & (limit < LARGEST_VALUES["run_time"]), limit, np.nan)[keep] / 3600,
        user=users if set(users) != {"-1"} else (),
    )


def _zero(path: str | os.PathLike[str], text: str) -> str:
    """Return the moment that submit times count from, as the header tells it; empty where it does not."""
    for number, line in enumerate(text.splitlines(), start=1):
        if line.split() and not line.lstrip().startswith(";"):
            break
        told = _START.match(line.strip())
        if told is None:
            continue
        value = told.group(1).strip()
        if not re.fullmatch(r"-?[0-9]{1,18}", value) or int(value) > LATEST_UNIX_SECONDS:
            words = f"must be whole seconds since 1970, at most {LATEST_UNIX_SECONDS}, or 0 where it is unknown"
            raise InputError(Fault("UnixStartTime", words, shown(value), file=str(path), line=number))
        return format_utc(datetime.fromtimestamp(int(value), UTC)) if int(value) > 0 else ""
    return ""


def _reasons(submit: FloatArray, run: FloatArray, cpus: FloatArray, status: FloatArray) -> list[str]:
    """Return why each job is left out, empty where it is not."""
    cases = {
        "pieces of a job": np.isin(status, PARTIAL),
        "cancelled": status == CANCELLED,
        "without run time": run <= 0,
        "without submit time": submit < 0,
        "without processors": cpus <= 0,
    }
    return [str(reason) for reason in np.select(list(cases.values()), list(cases), default="")]


def _table(path: str | os.PathLike[str], text: str) -> Table:
    """Return the fields that are read as columns of text.

    Raises
    ------
    InputError
        If the file has no job, or a line has not 18 fields.
    """
    used = itemgetter(*(field - 1 for field in USED.values()))
    at = []
    rows = []
    faults = []
    for number, line in enumerate(text.splitlines(), start=1):
        cells = line.split()
        if not cells or cells[0].startswith(";"):
            continue
        if len(cells) == FIELDS:
            at.append(number)
            rows.append(used(cells))
        else:
            words = f"must have {FIELDS} numbers, has {len(cells)}"
            faults.append(Fault("", words, shown(line.strip()), file=str(path), line=number))
    if not rows and not faults:
        faults = [Fault("", f"is empty: must hold one line of {FIELDS} numbers for each job", file=str(path))]
    if faults:
        raise InputError(faults)
    return Table(str(path), tuple(USED), tuple(zip(*rows, strict=True)), frozen_int(at))

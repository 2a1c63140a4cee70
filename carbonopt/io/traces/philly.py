"""Microsoft's Philly of 2017: JSON, a list of jobs with their attempts (``cluster_job_log``).

Fields: https://github.com/msr-fiddle/philly-traces. The trace says nothing of CPUs: GPUs stand in their place.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

import numpy as np

from carbonopt.core.arrays import frozen_int
from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.core.jsonfile import parse_json
from carbonopt.io.csvfile import Table
from carbonopt.io.jobs import LONGEST_HOURS, JobTrace
from carbonopt.io.times import TIME_RULE, utc_times
from carbonopt.io.traces.cells import BLANK, state_reasons, trace_of, trace_text
from carbonopt.io.traces.source import Look, Paths, TraceSource

_TEXTS = ("jobid", "status", "user", "submitted_time")


def _read(paths: Paths, states: Collection[str] | None) -> JobTrace:
    """Read jobs: each runs as long as its attempts together, on as many GPUs as its largest."""
    file = str(paths[0])
    jobs = _jobs(file)
    faults: list[Fault] = []
    parts = [_attempts(job, f"[{row}]", faults, file) for row, job in enumerate(jobs)]
    texts = {name: _texts(jobs, name, faults, file) for name in _TEXTS}
    submit = _seconds(texts["submitted_time"], [f"[{row}].submitted_time" for row in range(len(jobs))], faults, file)
    of_job = np.repeat(np.arange(len(jobs)), [len(part) for part in parts])
    flat = [attempt for part in parts for attempt in part]
    start, end = (_seconds([a[key] for a in flat], [f"{a[3]}.{name}" for a in flat], faults, file)
                  for key, name in ((0, "start_time"), (1, "end_time")))  # fmt: skip
    for at in np.flatnonzero((end < start) | (end - start > 3600 * LONGEST_HOURS)):
        rule = f"must not be before start_time, nor more than {LONGEST_HOURS:g} h after it"
        faults.append(Fault(f"{flat[at][3]}.end_time", rule, shown(flat[at][1]), file=file))
    gpus = np.zeros(len(jobs))
    np.maximum.at(gpus, of_job, np.array([attempt[2] for attempt in flat], dtype=float))
    first = np.full(len(jobs), np.inf)
    np.fmin.at(first, of_job, start)
    unknown = np.bincount(of_job, np.isnan(end - start), len(jobs)) > 0
    reasons = state_reasons(texts["status"], PHILLY.states, states)
    why = [
        reason or ("without attempts" if not parts[row] else "with an attempt without times" if unknown[row] else "")
        for row, reason in enumerate(reasons)
    ]
    return trace_of(
        Table(file, (), (), frozen_int(range(1, len(jobs) + 1))),
        faults,
        why,
        submit,
        np.bincount(of_job, np.nan_to_num(end - start), len(jobs)).astype(float),
        gpus,
        texts["jobid"],
        dated=True,
        gpus=gpus,
        user=texts["user"],
        state=texts["status"],
        started=np.where(np.isfinite(first), first, np.nan),
        cpus_known=False,
    )


def _jobs(file: str) -> list[dict[str, Any]]:
    try:
        content = parse_json(trace_text(file))
    except json.JSONDecodeError as error:
        problem = f"is not JSON: line {error.lineno}, column {error.colno}: {error.msg}"
        raise InputError(Fault("", problem, file=file)) from None
    except InputError as error:
        raise error.in_file(file) from None
    if not isinstance(content, list) or not content:
        raise InputError(Fault("", "must be a list of jobs [{...}, ...], not an empty one", shown(content), file=file))
    faults = [
        Fault(f"[{row}]", "must be an object {...}", shown(job), file=file)
        for row, job in enumerate(content)
        if not isinstance(job, dict)
    ]
    if faults:
        raise InputError(faults)
    return content


def _texts(jobs: list[dict[str, Any]], name: str, faults: list[Fault], file: str) -> list[str]:
    """Return a field of each job, which must be text; a time may be missing."""
    texts = []
    for row, job in enumerate(jobs):
        value = job.get(name)
        if not isinstance(value, str) and not (value is None and name == "submitted_time"):
            faults.append(Fault(f"[{row}].{name}", "must be text", shown(value), file=file))
        elif name == "jobid" and not value:
            faults.append(Fault(f"[{row}].jobid", "must be the job's name", shown(value), file=file))
        texts.append(value if isinstance(value, str) else "")
    return texts


def _attempts(job: dict[str, Any], place: str, faults: list[Fault], file: str) -> list[tuple[Any, Any, int, str]]:
    """Return (start, end, GPUs, place) of each attempt of a job."""
    attempts = job.get("attempts")
    if not isinstance(attempts, list):
        faults.append(Fault(f"{place}.attempts", "must be a list of attempts", shown(attempts), file=file))
        return []
    found = []
    for number, attempt in enumerate(attempts):
        where = f"{place}.attempts[{number}]"
        detail = attempt.get("detail") if isinstance(attempt, dict) else None
        hosts = detail if isinstance(detail, list) else [None]
        lists = [host.get("gpus") if isinstance(host, dict) else None for host in hosts]
        if not isinstance(attempt, dict) or not all(isinstance(gpus, list) for gpus in lists):
            rule = "must be an object whose detail is a list of hosts, each with a list of gpus"
            faults.append(Fault(where, rule, shown(attempt), file=file))
            continue
        found.append(
            (attempt.get("start_time"), attempt.get("end_time"), sum(len(gpus or ()) for gpus in lists), where)
        )
    return found


def _seconds(values: list[Any], places: list[str], faults: list[Fault], file: str) -> Any:
    """Return times in seconds since 1970, NaN where they are missing, with a fault for what is no time."""
    texts = ["" if value is None else value if isinstance(value, str) else repr(value) for value in values]
    times = utc_times(texts)
    missing = np.isnat(times)
    for at in np.flatnonzero(missing):
        if texts[at].strip().lower() not in BLANK:
            faults.append(Fault(places[at], TIME_RULE, shown(values[at]), file=file))
    return np.where(missing, np.nan, times.astype(np.int64) / 1e9)


def _matches(look: Look) -> bool:
    return look.first_line.lstrip().startswith("[")


PHILLY = TraceSource("philly", _matches, _read, ("Pass", "Failed"))

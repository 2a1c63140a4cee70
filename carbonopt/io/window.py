"""Parts of a trace: jobs that arrive in a window, the first so many of them, or a sample drawn by seed."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from carbonopt.core.arrays import IntArray
from carbonopt.core.errors import Fault, InputError, UnsupportedError, shown
from carbonopt.core.time import parse_utc
from carbonopt.io.jobs import LATEST_HOURS, JobTrace
from carbonopt.io.trace import TraceFiles, read_trace, trace_files


@dataclass(frozen=True)
class Window:
    """Which jobs of a trace to take, each limit after the one before.

    Parameters
    ----------
    begin, end
        Jobs that arrive at `begin` or later, and before `end`: hours since the trace's zero, or, where it has dates,
        an ISO 8601 moment. `begin` is the beginning of slot 0.
    first
        The first so many by arrival.
    sample, seed
        So many drawn at random, without replacement, and the seed of the draw.
    """

    begin: str | float | None = None
    end: str | float | None = None
    first: int | None = None
    sample: int | None = None
    seed: int = 1

    def __post_init__(self) -> None:
        """Refuse counts below 1."""
        for option, value in (("first", self.first), ("sample", self.sample)):
            if value is not None and value < 1:
                raise UnsupportedError(f"{option} = {shown(value)}: must be at least 1")
        if self.sample is not None and self.seed < 0:
            raise UnsupportedError(f"seed = {shown(self.seed)}: must be at least 0")


WHOLE = Window()


class Part(NamedTuple):
    """Jobs of a trace: their `rows` among the `whole` number of them, and the hour that slot 0 begins at."""

    trace: JobTrace
    rows: IntArray
    whole: int
    begin_hours: float
    provenance: dict[str, Any]


def read_part(
    jobs: TraceFiles,
    time_unit: str | None = None,
    format: str | None = None,
    states: Collection[str] | None = None,
    window: Window = WHOLE,
) -> Part:
    """Read a part of a trace: see `carbonopt.io.trace.read_trace` and `Window`.

    Raises
    ------
    InputError
        For every fault of the files, and if no job is in the window.
    UnsupportedError
        For options out of range.
    """
    whole = read_trace(jobs, time_unit, format, states)
    begin, end = hours_of("--from", window.begin, whole), hours_of("--until", window.end, whole)
    zero = begin or 0.0
    arrival = whole.arrival_hours
    inside = (arrival >= (-np.inf if begin is None else begin)) & (arrival < (np.inf if end is None else end))
    by_arrival = np.argsort(arrival, kind="stable")
    rows = np.sort(by_arrival[inside[by_arrival]][: window.first])
    file = str(trace_files(jobs)[0])
    if not len(rows):
        words = f"from {zero:g} h on, while jobs arrive from {arrival.min():g} h to {arrival.max():g} h"
        raise InputError(Fault("jobs", f"no job arrives in this part: {words}", file=file))
    if window.sample is not None:
        if window.sample > len(rows):
            words = f"must be at most the {len(rows)} jobs there are"
            raise InputError(Fault("sample", words, shown(window.sample), file=file))
        rows = np.sort(np.random.default_rng(window.seed).choice(rows, window.sample, replace=False))
    told: dict[str, Any] = {"jobs_of_other_parts": len(whole) - len(rows), "from_hours": zero}
    if window.sample is not None:
        told |= {"sample": window.sample, "sample_seed": window.seed}
    return Part(whole.part(rows, zero), rows, len(whole), zero, {} if window == WHOLE else told)


def warn_of_power(part: Part, problem: str) -> None:
    """Warn that a problem without power of single jobs does not use what was measured.

    Warns
    -----
    UserWarning
        If the trace has measured power.
    """
    if part.trace.watts is not None:
        warnings.warn(
            f"the trace's measured power is not used: {problem} has no power of single jobs (mosp and ecas have)",
            stacklevel=3,
        )


def warn_of_deadlines(part: Part, problem: str) -> None:
    """Warn that a problem without deadlines does not use those of the trace.

    Warns
    -----
    UserWarning
        If the trace has deadlines.
    """
    if part.trace.deadline_hours is not None:
        warnings.warn(
            f"the trace's deadlines are not used: {problem} has no deadlines of single jobs (mosp and elastic have)",
            stacklevel=3,
        )


def hours_of(option: str, value: str | float | None, trace: JobTrace) -> float | None:
    """Return a limit of a window in hours since the trace's zero.

    Raises
    ------
    UnsupportedError
        If it is neither hours from 0 on nor a moment, or a moment of a trace without dates.
    """
    if value is None:
        return None
    try:
        hours = float(value)
    except ValueError:
        return _moment_hours(option, str(value), trace)
    if not 0 <= hours <= LATEST_HOURS:
        raise UnsupportedError(f"{option} {value}: must be hours since the trace's zero, from 0 to {LATEST_HOURS:g}")
    return hours


def _moment_hours(option: str, text: str, trace: JobTrace) -> float:
    try:
        moment = parse_utc(text)
    except (ValueError, OverflowError):
        words = "must be hours since the trace's zero, or a moment such as 2024-06-01T00:00Z"
        raise UnsupportedError(f"{option} {shown(text)}: {words}") from None
    if not trace.zero:
        raise UnsupportedError(f"{option} {text}: the trace has no dates: must be hours since its zero")
    return (moment - parse_utc(trace.zero)).total_seconds() / 3600

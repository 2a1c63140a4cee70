"""A purchasing instance from measured carbon intensity and a real job trace."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from carbonopt.core.errors import Fault, InputError, UnsupportedError, shown
from carbonopt.io.convert import content_hashes, read_zone, require_sources, slot_zero, source_of
from carbonopt.io.jobs import JobTrace
from carbonopt.io.reading import AS_THEY_ARE, Reading
from carbonopt.io.trace import read_trace
from carbonopt.io.workload import require_horizon
from carbonopt.problems.purchasing.data.instance import PurchasingInstance, PurchasingJobs
from carbonopt.problems.purchasing.data.terms import Terms


def convert(
    jobs: Path,
    carbon: Sequence[Path] | None,
    time_unit: str | None = None,
    zone: str | None = None,
    start: str | None = None,
    slots: int | None = None,
    slot_hours: float = 1.0,
    wrap: bool = False,
    from_hours: float = 0.0,
    until_hours: float | None = None,
    first: int | None = None,
    name: str | None = None,
    trace_format: str | None = None,
    reading: Reading = AS_THEY_ARE,
    **terms: Any,
) -> PurchasingInstance:
    """Make an instance of the jobs of a trace, as they are: arrivals and lengths are not rounded.

    Parameters
    ----------
    jobs, time_unit, trace_format
        Trace, its unit and its format: see `carbonopt.io.trace.read_trace`.
    carbon, zone, start
        Carbon files; the zone (None for their only one); beginning of slot 0 (None for the first submission of
        a trace with dates and `from_hours`, else the first moment of the files).
    slots, slot_hours
        Horizon; None for as many slots as all windows and what policies look ahead need (see
        `Terms.horizon_slots`). Jobs that might end later are left out, and counted.
    wrap
        Repeat the carbon files where they end: a year of jobs runs on into the next.
    from_hours, until_hours, first
        Part of the trace: jobs that arrive from this hour on, before that hour, and the first so many of
        those. `from_hours` is the beginning of slot 0.
    reading
        What to take where the carbon files leave a choice.
    name
        Of the instance; None to make one of the sources.
    **terms
        Prices, purchase options, queues, model and weights: see `carbonopt.problems.purchasing.data.terms.Terms`.

    Raises
    ------
    InputError
        For every fault of the files, for every price or weight out of range, and if no job is left.
    UnsupportedError
        For other options out of range.
    TooLargeError
        If the slots would not fit into memory.
    """
    told = Terms(**terms)
    require_sources(carbon, slot_hours=slot_hours, until_hours=until_hours, first=first)
    assert carbon is not None
    if not 0 <= from_hours < np.inf:
        raise UnsupportedError(f"from_hours = {shown(from_hours)}: must be at least 0")
    whole = read_trace(jobs, time_unit, trace_format)
    rows = _part(whole, from_hours, until_hours, first)
    if not len(rows):
        raise InputError(Fault("jobs", f"no job arrives in this part: {_in_words(whole, from_hours)}", file=str(jobs)))
    trace = whole.part(rows, from_hours)
    needed = told.horizon_slots(trace.arrival_hours, trace.length_hours, slot_hours)
    horizon = require_horizon(needed if slots is None else slots, slot_hours)
    fits = told.window_ends(trace.arrival_hours, trace.length_hours) <= horizon * slot_hours
    if not fits.any():
        raise InputError(Fault("jobs", f"no job's window ends within {horizon} slots", file=str(jobs)))
    signal = read_zone(carbon, zone, slot_zero(start, whole, from_hours), horizon, slot_hours, wrap, reading)
    kept = trace.part(np.flatnonzero(fits))
    work = float(kept.length_hours @ kept.cpus)
    span = float(np.ptp(kept.arrival_hours)) + 1
    return told.instance(
        name or f"purchasing-{source_of(jobs)}-j{len(kept):04d}-t{horizon:03d}-{signal.zones[0]}-s00",
        {
            "converter": "carbonopt convert purchasing",
            "files": content_hashes([*carbon, jobs]),
            "dropped_jobs": int((~fits).sum()),
            "jobs_of_other_parts": len(whole) - len(trace),
            "from_hours": from_hours,
            **trace.provenance(),
            **signal.provenance(),
        },
        signal,
        PurchasingJobs(whole.names(rows[fits]), kept.arrival_hours, kept.length_hours, kept.cpus),
        mean_cpus=work / span,
    )


def _part(trace: JobTrace, from_hours: float, until_hours: float | None, first: int | None) -> np.ndarray[Any, Any]:
    """Return the positions of the jobs of a part of the trace, in the trace's order."""
    arrival = trace.arrival_hours
    inside = (arrival >= from_hours) & (arrival < (np.inf if until_hours is None else until_hours))
    by_arrival = np.argsort(arrival, kind="stable")
    return np.sort(by_arrival[inside[by_arrival]][:first])


def _in_words(trace: JobTrace, from_hours: float) -> str:
    arrival = trace.arrival_hours
    return f"from {from_hours:g} h on, while jobs arrive from {arrival.min():g} h to {arrival.max():g} h"

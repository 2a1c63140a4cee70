"""A purchasing instance from measured carbon intensity and a real job trace."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from carbonopt.core.errors import Fault, InputError
from carbonopt.io.convert import content_hashes, read_zone, require_sources, slot_zero, source_of
from carbonopt.io.reading import AS_THEY_ARE, Reading
from carbonopt.io.trace import TraceFiles, trace_files
from carbonopt.io.window import WHOLE, Window, read_part, warn_of_deadlines, warn_of_power
from carbonopt.io.workload import require_horizon
from carbonopt.problems.purchasing.data.instance import PurchasingInstance, PurchasingJobs
from carbonopt.problems.purchasing.data.terms import Terms


def convert(
    jobs: TraceFiles,
    carbon: Sequence[Path] | None,
    time_unit: str | None = None,
    zone: str | None = None,
    start: str | None = None,
    slots: int | None = None,
    slot_hours: float = 1.0,
    wrap: bool = False,
    name: str | None = None,
    trace_format: str | None = None,
    reading: Reading = AS_THEY_ARE,
    states: Collection[str] | None = None,
    window: Window = WHOLE,
    **terms: Any,
) -> PurchasingInstance:
    """Make an instance of the jobs of a trace, as they are: arrivals and lengths are not rounded.

    Parameters
    ----------
    jobs, time_unit, trace_format, states
        Trace, its unit and its format, and states of jobs: see `carbonopt.io.trace.read_trace`.
    window
        Part of the trace.
    carbon, zone, start
        Carbon files; the zone (None for their only one); beginning of slot 0 (None for the first submission of
        a trace with dates, or the beginning of `window`, else the first moment of the files).
    slots, slot_hours
        Horizon; None for as many slots as all windows and what policies look ahead need (see
        `Terms.horizon_slots`). Jobs that might end later are left out, and counted.
    wrap
        Repeat the carbon files where they end: a year of jobs runs on into the next.
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
    require_sources(carbon, slot_hours=slot_hours)
    assert carbon is not None
    part = read_part(jobs, time_unit, trace_format, states, window)
    warn_of_power(part, "purchasing")
    warn_of_deadlines(part, "purchasing")
    trace = part.trace
    needed = told.horizon_slots(trace.arrival_hours, trace.length_hours, slot_hours)
    horizon = require_horizon(needed if slots is None else slots, slot_hours)
    fits = told.window_ends(trace.arrival_hours, trace.length_hours) <= horizon * slot_hours
    if not fits.any():
        raise InputError(Fault("jobs", f"no job's window ends within {horizon} slots", file=str(trace_files(jobs)[0])))
    signal = read_zone(carbon, zone, slot_zero(start, trace, part.begin_hours), horizon, slot_hours, wrap, reading)
    kept = trace.part(np.flatnonzero(fits))
    work = float(kept.length_hours @ kept.cpus)
    span = float(np.ptp(kept.arrival_hours)) + 1
    return told.instance(
        name or f"purchasing-{source_of(jobs)}-j{len(kept):04d}-t{horizon:03d}-{signal.zones[0]}-s00",
        {
            "converter": "carbonopt convert purchasing",
            "files": content_hashes([*carbon, *trace_files(jobs)]),
            "dropped_jobs": int((~fits).sum()),
            **part.provenance,
            **trace.provenance(),
            **signal.provenance(),
        },
        signal,
        PurchasingJobs(trace.names(np.flatnonzero(fits)), kept.arrival_hours, kept.length_hours, kept.cpus),
        mean_cpus=work / span,
    )

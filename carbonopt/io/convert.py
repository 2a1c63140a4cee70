"""What the converters of all problems do with a job trace and carbon files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray
from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.errors import Fault, UnsupportedError, shown
from carbonopt.core.files import read_bytes
from carbonopt.core.time import parse_utc
from carbonopt.io.carbon import read_carbon
from carbonopt.io.jobs import JobTrace
from carbonopt.io.reading import AS_THEY_ARE, Reading
from carbonopt.io.trace import TraceFiles, trace_files
from carbonopt.io.workload import only_zone, require_above_zero

SLOT_HOURS = (1e-6, 1e6)
"""Shortest and longest slot: more of them than a whole number counts, and a century."""
ROUNDING_SLOTS = 1e-9
"""A time this close above a slot's edge is at the edge: 3600 s is one hour, not two slots."""


def require_sources(carbon: Sequence[Path] | None, **positive: float | None) -> None:
    """Refuse a call without carbon files, and numbers that are not above 0; None is no number.

    Raises
    ------
    UnsupportedError
        For the first that is wrong.
    """
    if not carbon:
        raise UnsupportedError("--carbon is missing: name at least one carbon-intensity file")
    require_above_zero(**positive)
    slot_hours = positive.get("slot_hours")
    if slot_hours is not None and not SLOT_HOURS[0] <= slot_hours <= SLOT_HOURS[1]:
        words = f"must be from {SLOT_HOURS[0]:g} to {SLOT_HOURS[1]:g} hours"
        raise UnsupportedError(f"slot_hours = {shown(slot_hours)}: {words}")


def read_zone(
    carbon: Sequence[Path],
    zone: str | None,
    start: datetime | None,
    slots: int,
    slot_hours: float = 1.0,
    wrap: bool = False,
    reading: Reading = AS_THEY_ARE,
) -> CarbonSignal:
    """Read the signal of the one zone of an instance.

    Parameters
    ----------
    carbon, wrap
        Files, and whether they repeat where they end.
    zone
        None for their only one.
    start
        Beginning of slot 0; None for the first moment of the files.
    slots, slot_hours
        Horizon.
    reading
        What to take where the files leave a choice.

    Raises
    ------
    InputError
        For every fault of the files, a zone that is not in them, and one that must be named and is not.
    """
    found = read_carbon(
        *carbon,
        zones=None if zone is None else [zone],
        start=start,
        slots=slots,
        slot_hours=slot_hours,
        wrap=wrap,
        **reading.choices(),
    )
    return only_zone(found, zone)


def slot_zero(start: str | None, trace: JobTrace, from_hours: float = 0.0) -> datetime | None:
    """Return the beginning of slot 0: as asked, else the moment that the trace's arrivals count from.

    Parameters
    ----------
    start
        As asked; None where nothing was.
    trace
        Of jobs with dates, or without.
    from_hours
        Of the trace that come before slot 0.

    Returns
    -------
    datetime or None
        None where neither tells: the first moment of the carbon files is then taken.
    """
    if start is not None:
        return parse_utc(start)
    return parse_utc(trace.zero) + timedelta(hours=from_hours) if trace.zero else None


def arrival_slots(trace: JobTrace, slot_hours: float) -> FloatArray:
    """Return the first whole slot of each job: its arrival rounded up, shape (N,)."""
    return np.maximum(0.0, np.ceil(trace.arrival_hours / slot_hours - ROUNDING_SLOTS))


def slots_to_wait(trace: JobTrace, slot_hours: float, earliest_end: FloatArray, otherwise: FloatArray) -> FloatArray:
    """Return how many slots each job may end after its earliest end, shape (N,).

    Parameters
    ----------
    trace, slot_hours
        Of N jobs, and the length of a slot [h].
    earliest_end
        Slot by which each job has ended if it runs at once, shape (N,).
    otherwise
        Of jobs without a deadline, shape (N,).

    Returns
    -------
    FloatArray
        Up to the deadline, rounded down to slots; below 0 where the deadline cannot be met in whole slots.
    """
    if trace.deadline_hours is None:
        return otherwise
    last = np.floor(trace.deadline_hours / slot_hours + ROUNDING_SLOTS)
    return np.where(np.isnan(last), otherwise, last - earliest_end)


def early_deadlines(
    trace: JobTrace, file: Path, slot_hours: float, earliest_end: FloatArray, bad: BoolArray
) -> list[Fault]:
    """Return a fault for each job whose deadline cannot be met in whole slots: those that are `bad`, shape (N,)."""
    assert trace.deadline_hours is not None
    problem = (
        f"cannot be met in slots of {slot_hours:g} h, as arrivals and lengths are rounded up: must be at least "
        "the earliest end, or --slot-hours smaller"
    )
    return [
        Fault(
            "deadline",
            problem,
            f"{trace.deadline_hours[row]:g} h from slot 0 (earliest end {earliest_end[row] * slot_hours:g} h)",
            file=str(file),
            line=int(trace.rows[row]),
        )
        for row in np.flatnonzero(bad)
    ]


def source_of(path: TraceFiles) -> str:
    """Return what a trace is called in the name of an instance.

    Examples
    --------
    >>> source_of("jobs/azure-100k.csv.gz")
    'azure_100k'
    """
    return trace_files(path)[0].name.split(".")[0].replace("-", "_")


def content_hashes(files: Iterable[str | os.PathLike[str]]) -> dict[str, str]:
    """Return the SHA-256 of each file's uncompressed content, by the file's name."""
    return {Path(path).name: hashlib.sha256(read_bytes(path)).hexdigest() for path in files}

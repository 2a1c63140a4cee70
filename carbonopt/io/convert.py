"""What the converters of all problems do with a job trace and carbon files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.jsonfile import read_bytes
from carbonopt.io.jobs import JobTrace
from carbonopt.io.workload import require_above_zero

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


def arrival_slots(trace: JobTrace, slot_hours: float) -> FloatArray:
    """Return the first whole slot of each job: its arrival rounded up, shape (N,)."""
    return np.maximum(0.0, np.ceil(trace.arrival_hours / slot_hours - ROUNDING_SLOTS))


def source_of(path: str | os.PathLike[str]) -> str:
    """Return what a trace is called in the name of an instance.

    Examples
    --------
    >>> source_of("jobs/azure-100k.csv.gz")
    'azure_100k'
    """
    return Path(path).name.split(".")[0].replace("-", "_")


def content_hashes(files: Iterable[str | os.PathLike[str]]) -> dict[str, str]:
    """Return the SHA-256 of each file's uncompressed content, by the file's name."""
    return {Path(path).name: hashlib.sha256(read_bytes(path)).hexdigest() for path in files}

"""`read_trace`: a job trace in any format that there is a reader for."""

from __future__ import annotations

import os

from carbonopt.core.errors import UnsupportedError, one_of
from carbonopt.core.jsonfile import read_text
from carbonopt.io.csvfile import words
from carbonopt.io.jobs import JobTrace, read_jobs
from carbonopt.io.sacct import read_sacct
from carbonopt.io.swf import read_swf

TIMED = {"swf": read_swf, "sacct": read_sacct}
"""Readers of formats that say themselves what unit their times are in."""
FORMATS = ("gaia", *TIMED)


def read_trace(path: str | os.PathLike[str], time_unit: str | None = None, format: str | None = None) -> JobTrace:
    """Read a job trace.

    Parameters
    ----------
    path
        The file, plain or gzip.
    time_unit
        ``seconds``, ``minutes`` or ``hours``: needed for ``gaia``, whose files do not say; the others are
        in seconds.
    format
        ``gaia`` (CSV with arrival_time, length, cpus), ``swf`` (Standard Workload Format) or ``sacct``
        (Slurm's ``sacct --parsable2``). None: by the suffix ``.swf``, or by the first line.

    Raises
    ------
    InputError
        With every fault of the file.
    UnsupportedError
        For an unknown format, and for a time unit that is missing or is not that of the format.
    """
    if format is not None and format not in FORMATS:
        raise UnsupportedError(f"unknown trace format {format!r}: must be {one_of(FORMATS)}")
    chosen = format or guess_format(path)
    if chosen == "gaia":
        return read_jobs(path, _require_time_unit(time_unit))
    if time_unit not in (None, "seconds"):
        raise UnsupportedError(f"--time-unit {time_unit}: {path} is in seconds, as every {chosen} file is")
    return TIMED[chosen](path)


def guess_format(path: str | os.PathLike[str]) -> str:
    """Return the format that the name or the first line of a file tells."""
    name = str(path).lower().removesuffix(".gz")
    if name.endswith(".swf"):
        return "swf"
    first = read_text(path).lstrip().partition("\n")[0]
    if first.startswith(";"):
        return "swf"
    return "sacct" if "jobid" in [words(cell) for cell in first.split("|")] else "gaia"


def _require_time_unit(time_unit: str | None) -> str:
    if time_unit is None:
        raise UnsupportedError(
            "--time-unit is missing: must be seconds, minutes or hours (traces do not say, and a guess could be wrong)"
        )
    return time_unit

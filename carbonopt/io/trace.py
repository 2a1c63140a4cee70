"""`read_trace`: a job trace in any format that there is a reader for."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path

from carbonopt.core.errors import UnsupportedError, one_of
from carbonopt.core.files import read_bytes
from carbonopt.io.csvfile import words
from carbonopt.io.jobs import JobTrace, read_jobs
from carbonopt.io.sacct import read_sacct
from carbonopt.io.swf import read_swf
from carbonopt.io.traces import SOURCES
from carbonopt.io.traces.cells import LARGEST_TRACE
from carbonopt.io.traces.parquet import MAGIC, column_names
from carbonopt.io.traces.source import Look

TIMED = {"swf": read_swf, "sacct": read_sacct}
"""Readers of formats that say themselves what unit their times are in."""
FORMATS = ("gaia", *TIMED, *SOURCES)

TraceFiles = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def read_trace(
    path: TraceFiles,
    time_unit: str | None = None,
    format: str | None = None,
    states: Collection[str] | None = None,
) -> JobTrace:
    """Read a job trace.

    Parameters
    ----------
    path
        The file, plain or gzip; both files of ``pai``.
    time_unit
        ``seconds``, ``minutes`` or ``hours``: needed for ``gaia``, whose files do not say; the others know theirs.
    format
        ``gaia`` (CSV with arrival_time, length, cpus), ``swf`` (Standard Workload Format), ``sacct`` (Slurm's
        ``sacct --parsable2``), or a public trace of `carbonopt.io.traces`. None: told by its content.
    states
        Of a public trace: the states of jobs to read, as the source spells them; None for those that ran to an end.

    Raises
    ------
    InputError
        With every fault of the file.
    UnsupportedError
        For an unknown format, too many files, and for a time unit that is missing or is not that of the format.
    """
    if format is not None and format not in FORMATS:
        raise UnsupportedError(f"unknown trace format {format!r}: must be {one_of(FORMATS, len(FORMATS))}")
    paths = trace_files(path)
    chosen = format or guess_format(paths[0])
    most = SOURCES[chosen].files if chosen in SOURCES else 1
    if len(paths) > most:
        taken = "one file" if most == 1 else f"{most} files"
        raise UnsupportedError(f"--trace: {chosen} takes {taken}, not {len(paths)}")
    if chosen == "gaia" and states is None:
        return read_jobs(paths[0], _require_time_unit(time_unit))
    if time_unit not in (None, "seconds"):
        raise UnsupportedError(f"--time-unit {time_unit}: {paths[0]} is in seconds, as every {chosen} file is")
    if chosen in SOURCES:
        return SOURCES[chosen].read(paths, states)
    if states is not None:
        raise UnsupportedError(f"--states is for public traces: {paths[0]} is read as {chosen}")
    return TIMED[chosen](paths[0])


def trace_files(path: TraceFiles) -> list[Path]:
    """Return the files of a trace.

    Raises
    ------
    UnsupportedError
        If there is none.
    """
    paths = [Path(path)] if isinstance(path, str | os.PathLike) else [Path(each) for each in path]
    if not paths:
        raise UnsupportedError("--trace is missing: name a job trace")
    return paths


def guess_format(path: str | os.PathLike[str]) -> str:
    """Return the format that the name or the beginning of a file tells."""
    name = Path(path).name.lower().removesuffix(".gz")
    if name.endswith(".swf"):
        return "swf"
    content = read_bytes(path, LARGEST_TRACE)
    if content.startswith(MAGIC):
        look = Look(name, columns=column_names(path))
    else:
        first = content.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")[0].decode("utf-8", errors="replace")
        look = Look(name, first)
    if look.first_line.startswith(";"):
        return "swf"
    if "jobid" in [words(cell) for cell in look.first_line.split("|")]:
        return "sacct"
    found = next((source.name for source in SOURCES.values() if source.matches(look)), None)
    if found is None and look.columns:
        listed = one_of(list(look.columns))
        raise UnsupportedError(f"{path}: is Parquet of no known source: must be PM100 or F-DATA; its columns: {listed}")
    return found or "gaia"


def _require_time_unit(time_unit: str | None) -> str:
    if time_unit is None:
        raise UnsupportedError(
            "--time-unit is missing: must be seconds, minutes or hours (traces do not say, and a guess could be wrong)"
        )
    return time_unit

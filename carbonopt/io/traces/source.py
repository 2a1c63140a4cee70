"""What the reader of a public trace is."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from carbonopt.io.jobs import JobTrace

Paths = Sequence[str | os.PathLike[str]]


class Look(NamedTuple):
    """What tells a source: the file's name, its first line of text, and for Parquet its columns."""

    name: str
    first_line: str = ""
    columns: Collection[str] = ()


@dataclass(frozen=True)
class TraceSource:
    """How one public trace is read.

    Parameters
    ----------
    name
        As ``--trace-format`` takes it.
    matches
        Whether a file is of this source.
    read
        Takes the files and the states to read (None for `states`).
    states
        Of the jobs that are read unless others are asked for.
    files
        How many files it takes at most.
    """

    name: str
    matches: Callable[[Look], bool]
    read: Callable[[Paths, Collection[str] | None], JobTrace]
    states: tuple[str, ...]
    files: int = 1

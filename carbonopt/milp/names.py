"""What the members of blocks are called, in tables and in files of other solvers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from carbonopt.core.time import TimeGrid
from carbonopt.milp.block import Block

NAME_LENGTH = 60
"""Of a job's or a cluster's name in exported files: LP readers take 255 characters for the whole label."""


class AxisNames:
    """Names of the members of index sets: of jobs, clusters, slots."""

    def __init__(self) -> None:
        self._names: dict[str, tuple[str, ...]] = {}
        self._time: TimeGrid | None = None

    def give(self, axis: str, names: Iterable[str]) -> None:
        """Name the members of an index set, e.g. the jobs."""
        self._names[axis] = tuple(names)

    def give_slots(self, time: TimeGrid) -> None:
        """Name the slots by their beginning in UTC, e.g. ``20230101T0500``; the end of the last is one more."""
        self._time = time

    def labels(self, block: Block) -> list[str]:
        """Return the members of a block in letters that every reader of LP and MPS files takes."""
        names = {axis: _safe_names(self._names[axis]) for axis in block.axes if axis in self._names}
        if self._time is not None and "slot" in block.axes:
            names["slot"] = _slot_names(self._time)
        return replace(block, name=_safe_name(block.name)).labels(names)

    def members(self, block: Block) -> dict[str, Any]:
        """Return what each member of a block is of, by axis: names where there are any, slots and others as numbers."""
        found: dict[str, Any] = {}
        for axis, part in block.members().items():
            known = self._names.get(axis)
            found[axis] = part if known is None else np.array(known, dtype=object)[part]
        return found


def _safe_name(name: str) -> str:
    """Return the name of a block in letters, digits, dots and underscores; a digit or a dot does not begin it.

    Examples
    --------
    >>> _safe_name("at most ten"), _safe_name("2nd")
    ('at_most_ten', '_2nd')
    """
    safe = re.sub(r"[^A-Za-z0-9_.]", "_", name)[:NAME_LENGTH]
    return safe if safe[:1].isalpha() else f"_{safe}"


def _safe_names(names: Iterable[str]) -> list[str]:
    """Return names in letters, digits, dots and underscores; numbered where two would be alike.

    Examples
    --------
    >>> _safe_names(["a b", "c"]), _safe_names(["a b", "a:b"])
    (['a_b', 'c'], ['a_b_0', 'a_b_1'])
    """
    safe = [re.sub(r"[^A-Za-z0-9_.]", "_", name)[:NAME_LENGTH] for name in names]
    if len(set(safe)) < len(safe) or "" in safe:
        return [f"{name}_{position}" for position, name in enumerate(safe)]
    return safe


def _slot_names(time: TimeGrid) -> list[str]:
    """Return the beginning of each slot and the end of the last, in UTC."""
    try:
        return [time.slot_start(slot).strftime("%Y%m%dT%H%M") for slot in range(time.slots + 1)]
    except OverflowError:  # the horizon ends with the last year that dates can tell
        return [str(slot) for slot in range(time.slots + 1)]

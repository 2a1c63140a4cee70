"""Blocks of variables and rows, and what their members are called in files of other solvers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from carbonopt.core.arrays import IntArray
from carbonopt.core.time import TimeGrid

NAME_LENGTH = 60
"""Of a job's or a cluster's name in exported files: LP readers take 255 characters for the whole label."""


@dataclass(frozen=True)
class Block:
    """A named run of variables or rows with the shape of its index sets.

    `at` names the members of a sparse block: one array of indices for each index set. `axes` are what the index sets
    are: ``("job", "cluster", "slot")``.
    """

    name: str
    start: int
    shape: tuple[int, ...]
    at: tuple[IntArray, ...] | None = None
    axes: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Number of variables or rows."""
        return int(np.prod(self.shape))

    @property
    def index(self) -> IntArray:
        """Positions in the program, in the block's shape."""
        return np.arange(self.start, self.start + self.size, dtype=np.int64).reshape(self.shape)

    @property
    def slice(self) -> slice:
        """Positions in the program as a slice."""
        return slice(self.start, self.start + self.size)

    def members(self) -> dict[str, IntArray]:
        """Return the indices of the members by axis, each of shape (size,)."""
        parts = np.indices(self.shape).reshape(len(self.shape), -1) if self.at is None else self.at
        axes = self.axes or tuple(f"index{number}" for number in range(len(parts)))
        return {axis: np.asarray(part) for axis, part in zip(axes, parts, strict=True)}

    def labels(self, names: Mapping[str, Sequence[str]] | None = None) -> list[str]:
        """Return the members as LP and MPS files show them, e.g. ``x(0,3)``, or ``x(train,east,3)`` with `names`."""
        words = []
        for axis, part in self.members().items():
            known = (names or {}).get(axis)
            indices = part.tolist()
            words.append(map(str, indices) if known is None else [known[index] for index in indices])
        return [f"{self.name}({','.join(member)})" for member in zip(*words, strict=True)]


def safe_name(name: str) -> str:
    """Return the name of a block in letters, digits, dots and underscores; a digit or a dot does not begin it.

    Examples
    --------
    >>> safe_name("at most ten"), safe_name("2nd")
    ('at_most_ten', '_2nd')
    """
    safe = re.sub(r"[^A-Za-z0-9_.]", "_", name)[:NAME_LENGTH]
    return safe if safe[:1].isalpha() else f"_{safe}"


def safe_names(names: Iterable[str]) -> list[str]:
    """Return names in letters, digits, dots and underscores; numbered where two would be alike.

    Examples
    --------
    >>> safe_names(["a b", "c"]), safe_names(["a b", "a:b"])
    (['a_b', 'c'], ['a_b_0', 'a_b_1'])
    """
    safe = [re.sub(r"[^A-Za-z0-9_.]", "_", name)[:NAME_LENGTH] for name in names]
    if len(set(safe)) < len(safe) or "" in safe:
        return [f"{name}_{position}" for position, name in enumerate(safe)]
    return safe


def slot_names(time: TimeGrid | None) -> list[str]:
    """Return the beginning of each slot and the end of the last, in UTC."""
    assert time is not None
    try:
        return [time.slot_start(slot).strftime("%Y%m%dT%H%M") for slot in range(time.slots + 1)]
    except OverflowError:  # the horizon ends with the last year that dates can tell
        return [str(slot) for slot in range(time.slots + 1)]

"""Blocks of variables and rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from carbonopt.core.arrays import IntArray


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

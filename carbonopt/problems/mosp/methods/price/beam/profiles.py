"""Profiles: the units that running jobs hold in the slots to come, which is all that a cluster remembers of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations_with_replacement
from math import comb

import numpy as np

from carbonopt.core.arrays import IntArray

MOST_UNITS = 127
"""Jobs that start together are counted in one byte."""
LONGEST = 62
"""Bits of the number that stands for a profile. Longer runs of one unit or more have no number."""
MOST_KNOWN = 1_000_000
"""Entries (profiles x starts, 8 bytes each) that are kept of a table: parts of a schedule ask for the same again."""


def are_few(capacity: int, longest: int, most: int) -> bool:
    """Return whether there are at most `most` profiles of so many units and slots, and a number stands for each."""
    if capacity > MOST_UNITS or (capacity > 0 and longest >= LONGEST):
        return False
    return (capacity + 1) ** longest < 1 << LONGEST and comb(capacity + longest, longest) <= most


@dataclass(frozen=True, eq=False)
class Profiles:
    """All profiles of a capacity, in lexicographic order, so that a start of a job leads to a later one.

    Parameters
    ----------
    units
        Units held now and in the slots after it, shape (S, L).
    later
        The profile one slot later, shape (S,).
    """

    units: IntArray
    later: IntArray
    _known: dict[tuple[int, int], IntArray] = field(default_factory=dict, init=False, repr=False)

    def after_start(self, length: int, units: int) -> IntArray:
        """Return the profile after the start of a job of so many slots and units, -1 beyond capacity; shape (S,)."""
        if (length, units) in self._known:
            return self._known[length, units]
        held = self.units.copy()
        held[:, :length] += units
        after = _find(self.units, held)
        after.flags.writeable = False
        if (len(self._known) + 1) * len(after) <= MOST_KNOWN:
            self._known[length, units] = after
        return after


def _find(profiles: IntArray, wanted: IntArray) -> IntArray:
    """Return the row of each wanted profile, -1 if it is none."""
    most = int(profiles[-1, 0])
    weight = (most + 1) ** np.arange(profiles.shape[1] - 1, -1, -1, dtype=np.int64)
    row = np.searchsorted(profiles @ weight, np.minimum(wanted, most) @ weight)
    return np.where((wanted <= most).all(axis=1), row, -1)


@lru_cache(maxsize=16)
def make_profiles(capacity: int, longest: int) -> Profiles:
    """Return the profiles of at most `capacity` units over `longest` slots."""
    rising = np.array(list(combinations_with_replacement(range(capacity + 1), longest)), dtype=np.int64)
    units = rising[:, ::-1]
    units = np.ascontiguousarray(units[np.lexsort(units.T[::-1])])
    later = np.zeros_like(units)
    later[:, :-1] = units[:, 1:]
    return Profiles(units, _find(units, later))

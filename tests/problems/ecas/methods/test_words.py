"""Units in words: what goes in comes out, and one subtraction tells whether there is room."""

from __future__ import annotations

import numpy as np
from loop_support import for_each

from carbonopt.problems.ecas.methods.price.words import WORD_BITS, fields_for, packed, unpacked


def test_two_resources_by_hand() -> None:
    """Of 5 units (3 bits and a guard) and 1 unit (1 bit and a guard)."""
    fields = fields_for(np.array([5, 1]))
    assert fields.unit.tolist() == [1, 16]
    assert fields.guard.tolist() == [8, 32]
    free = packed(fields, np.array([5, 1])) + fields.guards
    assert free.tolist() == [5 + 8 + 16 + 32]
    assert unpacked(fields, free - packed(fields, np.array([6, 0]))).tolist() == [-1, 1]


@for_each(seed=range(30))
def test_random_units(seed: int) -> None:
    rng = np.random.default_rng(seed)
    most = rng.choice([0, 1, 7, 8, 1000, 10**9, 2**53], size=rng.integers(1, 8))
    fields = fields_for(most)
    free = rng.integers(0, most + 1, size=(20, len(most)))
    need = rng.integers(0, most + 1, size=(20, len(most)))
    words = packed(fields, free) + fields.guards
    assert words.max(initial=0) < 2**WORD_BITS
    after = words - packed(fields, need)
    assert (unpacked(fields, after) == free - need).all()
    has_room = ((after & fields.guards) == fields.guards).all(axis=1)
    assert (has_room == (need <= free).all(axis=1)).all()

"""Units of several resources side by side in 64-bit words, so that one subtraction tells whether a job has room.

Each resource has a field of bits, and above it a bit that is set while its units are at least 0. Units may be
subtracted until they are as far below 0 as the largest number a field holds: no field then takes from the next.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.core.arrays import IntArray

WORD_BITS = 62
"""Bits of a word that are used: its sign is not."""


class Fields(NamedTuple):
    """Where the units of each resource stand.

    Parameters
    ----------
    word
        Word of each resource, shape (R,).
    unit
        What one unit counts in it, shape (R,).
    guard
        The bit above the field, set while units are at least 0, shape (R,).
    guards
        All of them by word, shape (W,).
    """

    word: IntArray
    unit: IntArray
    guard: IntArray
    guards: IntArray


def fields_for(most: IntArray) -> Fields:
    """Return fields for so many units of each resource, shape (R,), above and below 0."""
    word = np.zeros(len(most), dtype=np.int64)
    unit = np.ones(len(most), dtype=np.int64)
    guard = np.zeros(len(most), dtype=np.int64)
    used = 0
    for r, units in enumerate(map(int, most)):
        bits = units.bit_length()
        if used + bits + 1 > WORD_BITS:
            word[r:] += 1
            used = 0
        unit[r] = 1 << used
        guard[r] = 1 << (used + bits)
        used += bits + 1
    guards = np.zeros(word.max(initial=-1) + 1, dtype=np.int64)
    np.add.at(guards, word, guard)
    return Fields(word, unit, guard, guards)


def packed(fields: Fields, units: IntArray) -> IntArray:
    """Return units, shape (..., R), as words, shape (..., W)."""
    words = np.zeros((*units.shape[:-1], len(fields.guards)), dtype=np.int64)
    for r, word in enumerate(fields.word):
        words[..., word] += units[..., r] * fields.unit[r]
    return words


def unpacked(fields: Fields, words: IntArray) -> IntArray:
    """Return free units, shape (..., R), of words with guards, shape (..., W)."""
    units = np.zeros((*words.shape[:-1], len(fields.word)), dtype=np.int64)
    for r, word in enumerate(fields.word):
        below = fields.guard[r] // fields.unit[r]
        units[..., r] = words[..., word] // fields.unit[r] % (2 * below) - below
    return units

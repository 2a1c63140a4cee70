"""Long life: many solves in one process take no more memory than few."""

from __future__ import annotations

import gc
import random
from pathlib import Path

import psutil

import carbonopt as co
from hostile.found import Found

TINY = Path(__file__).parents[2] / "instances" / "tiny"
SOLVES = 500
WARM_UP = 100
"""Solves after which imports, caches and pools are there."""
MOST_GROWTH = 40 * 2**20
"""Bytes that the other solves may add."""


def attempt(rng: random.Random) -> None:
    """Solve shipped instances in this process again and again.

    Raises
    ------
    Found
        If memory keeps growing.
    """
    instances = [co.read(path) for path in sorted(TINY.glob("*.json"))]
    process, before = psutil.Process(), 0
    for number in range(SOLVES):
        co.solve(
            rng.choice(instances), rng.choice(["milp", "lp"]) if number % 5 else "auto", time_limit=60
        ) if number else None
        if number == WARM_UP:
            gc.collect()
            before = process.memory_info().rss
    gc.collect()
    growth = process.memory_info().rss - before
    if growth > MOST_GROWTH:
        raise Found(f"{SOLVES - WARM_UP} solves add {growth / 2**20:.0f} MiB")

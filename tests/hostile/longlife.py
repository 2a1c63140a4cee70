"""Long life: many solves in one process take no more memory than few; threads and other processes answer alike."""

from __future__ import annotations

import gc
import random
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import psutil

import carbonopt as co
from carbonopt.core.registry import problem_of
from hostile.found import Found

TINY = Path(__file__).parents[2] / "instances" / "tiny"
SOLVES = 500
WARM_UP = 150
"""Solves after which imports, caches and pools are there."""
MOST_GROWTH = 40 * 2**20
"""Bytes that the other solves may add."""
WORKERS = 4
BESIDE = 12
"""Solves that are made again in threads and in other processes."""


def attempt(rng: random.Random) -> None:
    """Solve shipped instances in this process again and again, then in threads and other processes.

    Raises
    ------
    Found
        If memory keeps growing, or an answer differs.
    """
    instances = {path: co.read(path) for path in sorted(TINY.glob("*.json"))}
    cases = [(path, method) for path, instance in instances.items() for method in _methods(instance)]
    process = psutil.Process()
    before = 0
    for number in range(SOLVES):
        path, method = rng.choice(cases)
        co.solve(instances[path], method, time_limit=None)
        if number == WARM_UP:
            gc.collect()
            before = process.memory_info().rss
    gc.collect()
    growth = process.memory_info().rss - before
    if growth > MOST_GROWTH:
        raise Found(f"{SOLVES - WARM_UP} solves add {growth / 2**20:.0f} MiB")
    _require_equal(rng.sample(cases, BESIDE))


def _methods(instance: co.Instance) -> list[str]:
    """Return the methods that take an instance."""
    methods = problem_of(instance.problem).methods
    return [name for name, entry in methods.items() if entry.is_for(instance) and not entry.needs]


def answer(case: tuple[Path, str]) -> tuple[str, float | None, float | None]:
    """Return status, objective and bound of a solve."""
    path, method = case
    found = co.solve(co.read(path), method, time_limit=None)
    return str(found.status), found.objective, found.bound


def _require_equal(cases: list[tuple[Path, str]]) -> None:
    here = [answer(case) for case in cases]
    pools: dict[str, Executor] = {
        "threads": ThreadPoolExecutor(WORKERS),
        "forked processes": ProcessPoolExecutor(2, get_context("fork")),
        "spawned processes": ProcessPoolExecutor(2, get_context("spawn")),
    }
    for name, pool in pools.items():
        with pool:
            there = list(pool.map(answer, cases))
        for case, mine, other in zip(cases, here, there, strict=True):
            if mine != other:
                raise Found(f"{case[0].name} {case[1]}: {name} answer {other} instead of {mine}")

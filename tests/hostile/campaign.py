"""Attempts of all kinds by seed: how many to make, and what becomes of one that finds something."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

from hostile import answers, faults, files, forgeries, longlife, names
from hostile.found import Found, as_text, stream

KINDS: dict[str, Callable[[Random], None]] = {
    "answers": answers.attempt,
    "forgeries": forgeries.attempt,
    "files": files.attempt,
    "names": names.attempt,
    "faults": faults.attempt,
    "longlife": longlife.attempt,
}
EVERY = {"answers": 1, "forgeries": 1, "files": 1, "names": 5, "faults": 40, "longlife": 400}
"""An attempt of a kind is made for each so many seeds: those that start processes take longer."""


def attempt(kind: str, seed: int) -> Found | None:
    """Make one attempt, and return what it finds."""
    try:
        KINDS[kind](stream(kind, seed))
    except Found as found:
        return found
    return None


def attempts(first_seed: int, kinds: tuple[str, ...] = tuple(KINDS), stride: int = 1) -> Iterator[tuple[str, int]]:
    """Yield kind and seed of one attempt after the other, without an end: every so many seeds, from the first on."""
    seed = first_seed
    while True:
        for kind in kinds:
            if (seed // stride) % EVERY[kind] == 0 or len(kinds) == 1:
                yield kind, seed
        seed += stride


def attempts_until(
    end: float, first_seed: int, stride: int, kinds: tuple[str, ...], output: Path
) -> tuple[Counter[str], Counter[str]]:
    """Make attempts until a moment or a Ctrl-C; return how many were made of each kind, and how many found something.

    What is found is written and printed at once.
    """
    made: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    with suppress(KeyboardInterrupt):
        for kind, seed in attempts(first_seed, kinds, stride):
            if time.time() > end:
                break
            what = attempt(kind, seed)
            made[kind] += 1
            if what is not None:
                failed[kind] += 1
                path = keep(what, kind, seed, output)
                print(f"{kind} {seed}: {what.words} ({path})", flush=True)
    return made, failed


def keep(found: Found, kind: str, seed: int, folder: Path) -> Path:
    """Write what was found to files: one that `replay` reads, and the material beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in found.material.items():
        (folder / f"{kind}-{seed}.{name}.json").write_text(as_text(content))
    path = folder / f"{kind}-{seed}.json"
    path.write_text(json.dumps({"kind": kind, "seed": seed, "words": found.words}) + "\n")
    return path


def replay(path: Path) -> Found | None:
    """Make the attempt again that a file tells of."""
    told = json.loads(path.read_text())
    return attempt(told["kind"], told["seed"])


def table(made: Counter[str], failed: Counter[str]) -> str:
    """Return the counts as lines."""
    return "\n".join(f"{kind:10} {made[kind]:7d} attempts {failed[kind]:5d} found" for kind in KINDS)

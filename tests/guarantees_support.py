"""The exact optimum of a job that pauses, and the signals among which the worst one is."""

from collections.abc import Iterator
from functools import cache
from itertools import combinations

import numpy as np

JUST_PAST = 1e-9
"""Part of a threshold by which a value is past it."""


@cache
def _choices(slots: int, work: int) -> tuple[np.ndarray, np.ndarray]:
    """Every way to run, and how often each starts and stops."""
    runs = np.array([[slot in chosen for slot in range(slots)] for chosen in combinations(range(slots), work)])
    changes = np.abs(np.diff(np.pad(runs.astype(int), ((0, 0), (1, 1))), axis=1)).sum(axis=1)
    return runs.astype(float), changes


def values_of(signal: np.ndarray, work: int, switch: float) -> np.ndarray:
    """What every way to run costs; with a negative `switch`, what it earns."""
    runs, changes = _choices(len(signal), work)
    return runs @ signal + switch * changes


def value_of(signal: np.ndarray, runs: np.ndarray, switch: float) -> float:
    """What the chosen slots cost; with a negative `switch`, what they earn."""
    changes = int(runs[0]) + np.count_nonzero(runs[1:] != runs[:-1]) + int(runs[-1])
    return float(signal[runs].sum() + switch * changes)


def corner_signals(
    thresholds: np.ndarray, ease: float, bounds: tuple[float, float], slots: int, work: int, sign: int = 1
) -> Iterator[np.ndarray]:
    """All signals whose values are at ends of the intervals that the rule tells apart: the worst is among them.

    Where the rule's decisions and the optimum's slots are fixed, cost less ratio times optimum is linear in each
    value, and each value has an interval: from one bound to the rule's limit, or from just past it to the other.
    """
    low, high = bounds

    def extend(signal: list[float], done: int, went: bool) -> Iterator[np.ndarray]:
        if len(signal) == slots:
            yield np.array(signal)
            return
        limit = high
        if done < work:
            limit = thresholds[done] + (sign * ease if went else 0.0)
        past = limit * (1 + sign * JUST_PAST)
        for value in {low, high, min(max(limit, low), high), min(max(past, low), high)}:
            forced = len(signal) - done >= slots - work
            runs = done < work and (forced or sign * value <= sign * limit)
            yield from extend([*signal, value], done + runs, runs)

    yield from extend([], 0, False)


def random_signal(rng: np.random.Generator, thresholds: np.ndarray, bounds: tuple[float, float], slots: int):
    """Half of the values anywhere, half at bounds, thresholds and just past them."""
    low, high = bounds
    marks = np.concatenate(([low, high], thresholds, thresholds * (1 + JUST_PAST), thresholds * (1 - JUST_PAST)))
    marked = rng.choice(np.clip(marks, low, high), size=slots)
    return np.where(rng.random(slots) < 0.5, rng.uniform(low, high, size=slots), marked)

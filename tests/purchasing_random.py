"""Small purchasing instances in continuous time, and random schedules of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.time import TimeGrid
from carbonopt.problems.purchasing.data.instance import (
    Limits,
    Prices,
    PurchasingInstance,
    PurchasingJobs,
    Queue,
    Spot,
    Weights,
)

Rows = list[tuple[str, float, float, str]]


def by_hand(
    kg: list[float], jobs: list[tuple[float, float, float]], wait: float = 10.0, hours: float = 1.0, **other: Any
) -> PurchasingInstance:
    """Return jobs (arrival, length, CPUs) where a CPU emits `kg` an hour and costs 1 $ on demand."""
    arrival, length, cpus = zip(*jobs, strict=True) if jobs else ((), (), ())
    time = TimeGrid(len(kg), hours)
    return PurchasingInstance(
        name="by hand",
        carbon=CarbonSignal(("A",), [[1000 * value for value in kg]], time),
        jobs=PurchasingJobs(tuple(f"j{i}" for i in range(len(jobs))), arrival, length, cpus),
        **({"prices": Prices(1.0, 0.4, 0.2), "queues": (Queue("all", np.inf, wait),), "watts_per_cpu": 1000.0} | other),
    )


def continuous(
    seed: int, model: str = "splitting", hazard: float | None = 0.3, decided: bool = False, limited: bool = False
) -> PurchasingInstance:
    """Draw jobs at any moments; `hazard` None for no spot CPUs, `limited` for limits that a schedule keeps."""
    rng = np.random.default_rng(seed)
    count, slots, hours = int(rng.integers(1, 6)), 40, float(rng.choice([0.5, 1.0]))
    length, arrival = rng.uniform(0.1, 4, count) * hours, rng.uniform(0, 8, count) * hours
    cpus = rng.integers(1, 5, count) * rng.choice([1.0, 0.7])
    weights = Weights(*rng.choice([0.0, 0.5, 1.0, 2.0], 2), rng.choice([0.0, 0.05, 0.5]))
    limits = Limits(*(float(rng.uniform(5, 60)) for _ in range(3))) if limited else Limits()
    return PurchasingInstance(
        name=f"random {seed}",
        carbon=CarbonSignal(
            ("A",), rng.uniform(10, 900, (1, slots)) * (rng.random((1, slots)) < 0.9), TimeGrid(slots, hours)
        ),
        jobs=PurchasingJobs(tuple(f"j{i}" for i in range(count)), arrival, length, cpus),
        reserved_cpus=None if decided else int(rng.integers(0, 7)),
        spot=None if hazard is None else Spot(3.0 * hours, hazard),
        queues=(Queue("short", 2 * hours, 3.3 * hours), Queue("long", np.inf, 6.1 * hours)),
        prices=Prices(float(rng.choice([0.3, 1.0])), float(rng.choice([0.05, 0.4])), 0.2),
        watts_per_cpu=1000.0,
        weights=weights,
        limits=limits,
        model=model,
    )


def columns(rows: Rows) -> dict[str, list[Any]]:
    """Return rows (job, start, end, option) as a schedule."""
    return {key: [row[i] for row in rows] for i, key in enumerate(("job", "start_hours", "end_hours", "option"))}


def random_schedule(
    instance: PurchasingInstance, rng: np.random.Generator
) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """Draw a schedule that keeps everything but perhaps the limits, and the info that goes with it."""
    rows: Rows = []
    reserved = instance.reserved_cpus
    info: dict[str, Any] = {}
    if reserved is None:
        reserved = info["reserved_cpus"] = int(rng.integers(0, 8))
    moments = np.concatenate([instance.jobs.arrival_hours, instance.latest_end_hours])
    taken: list[tuple[float, float, float]] = []
    for j in rng.permutation(len(instance.jobs)):
        name, cpus = instance.jobs.name[j], float(instance.jobs.cpus[j])
        arrival, length = float(instance.jobs.arrival_hours[j]), float(instance.jobs.length_hours[j])
        latest = arrival + float(instance.max_wait_hours[j])
        near = np.concatenate([moments, moments - length, np.arange(40) * instance.time.slot_hours])
        start = (
            rng.uniform(arrival, latest) if rng.random() < 0.5 else float(np.clip(rng.choice(near), arrival, latest))
        )
        if instance.spot_allowed[j] and rng.random() < 0.4:
            rows.append((name, start, start + length, "spot"))
        elif instance.model == "suspend-resume" and rng.random() < 0.7:
            rows += [(name, one, two, "shared") for one, two in _pieces(rng, arrival, latest + length, length)]
        elif instance.model == "no-split":
            free = all(
                sum(n for a, b, n in taken if a < t < b or a == t) + cpus <= reserved
                for t in [start, *(a for a, _, _ in taken if start <= a < start + length)]
            )
            if free:
                taken.append((start, start + length, cpus))
            rows.append((name, start, start + length, "reserved" if free else "on-demand"))
        else:
            rows.append((name, start, start + length, str(rng.choice(["shared", "on-demand"], p=[0.8, 0.2]))))
    return columns(rows), info


def _pieces(rng: np.random.Generator, begin: float, end: float, length: float) -> list[tuple[float, float]]:
    """Cut `length` into pieces between two moments."""
    count = int(rng.integers(2, 4))
    work = np.diff(np.concatenate([[0.0], np.sort(rng.uniform(0, length, count - 1)), [length]]))
    idle = np.diff(np.concatenate([[0.0], np.sort(rng.uniform(0, end - begin - length, count))]))
    starts = begin + np.cumsum(idle) + np.concatenate([[0.0], np.cumsum(work)[:-1]])
    return [(float(s), float(s + w)) for s, w in zip(starts, work, strict=True) if w > 0]

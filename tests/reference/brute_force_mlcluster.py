"""Brute force for tiny ML clusters: every schedule of whole slots, by the text of the problem alone.

A job has a number of GPUs at the beginning of each slot and keeps it until the slot or its work ends. Where times are
whole slots, throughput is concave, power convex in the GPUs, restarts are free and completion times cost nothing,
nothing between is better for one scale; in general the result is the value of a schedule, so at least the optimum.
"""

from __future__ import annotations

import random
from itertools import product
from typing import Any

KINDS = ("unit", "scaling", "restart", "late")


def random_instance(seed: int, kind: str, jobs: int = 3, slots: int = 4) -> dict[str, Any]:
    """Return a small instance in which all jobs can end.

    ``unit``: one GPU a job, whole slots. ``scaling``: up to 2 GPUs. ``restart``: restarts cost. ``late``: completion
    times cost.
    """
    rng = random.Random(1000 * seed + KINDS.index(kind))
    most = 1 if kind == "unit" else 2
    gpus, speed = 2, rng.choice([1.5, 1.75, 1.9])
    power = rng.choice([300.0, 400.0])
    arrival = [60.0 * rng.randrange(2) for _ in range(jobs)]
    work = [60.0 * rng.choice([1, 2]) for _ in range(jobs)]
    if kind != "unit":
        work = [60.0 * rng.choice([1, 1.5, 2]) for _ in range(jobs)]
    return {
        "schema_version": 1,
        "problem": "mlcluster",
        "name": f"random-{kind}-{seed}",
        "provenance": {},
        "time": {"slots": slots, "slot_hours": 1.0, "start": "2022-08-01T00:00:00Z"},
        "carbon": {"zones": ["A"], "g_per_kwh": [[rng.randrange(50, 500) for _ in range(slots)]]},
        "cluster": {"gpus": gpus, "zone": "A", "gpus_per_host": 2, "idle_watts_per_gpu": 50.0, "host_watts": 100.0},
        "profiles": {
            "p": {
                "throughput": [1.0, speed][:most],
                "watts": [power, 2 * power][:most],
                "restart_minutes": 10.0 if kind == "restart" else 0.0,
            }
        },
        "jobs": {
            "name": [f"j{j}" for j in range(jobs)],
            "arrival_minutes": arrival,
            "work_gpu_minutes": work,
            "profile": ["p"] * jobs,
            "min_gpus": [1] * jobs,
            "max_gpus": [most] * jobs,
        },
        "objective": {
            "weights": {"carbon_kg": 1.0, "jct_hours": 0.02 if kind == "late" else 0.0},
            "limits": {"mean_jct_hours": None},
        },
    }


def brute_force(raw: dict[str, Any]) -> tuple[float | None, dict[str, list[Any]] | None]:
    """Return the least objective over all schedules of whole slots, and one that has it."""
    slots, jobs = raw["time"]["slots"], raw["jobs"]
    capacity = raw["cluster"]["gpus"]
    plans = [_plans(raw, j) for j in range(len(jobs["name"]))]
    best: list[Any] = [None, None]

    def search(j: int, load: tuple[int, ...], value: float, chosen: list[Any]) -> None:
        if best[0] is not None and value >= best[0]:
            return
        if j == len(plans):
            best[:] = [value, list(chosen)]
            return
        for cost, used, rows in plans[j]:
            total = tuple(a + b for a, b in zip(load, used, strict=True))
            if max(total) <= capacity:
                search(j + 1, total, value + cost, [*chosen, *rows])

    search(0, (0,) * slots, 0.0, [])
    if best[0] is None:
        return None, None
    names = ("job", "start_minutes", "end_minutes", "gpus")
    return best[0], {name: [row[k] for row in best[1]] for k, name in enumerate(names)}


def _plans(raw: dict[str, Any], j: int) -> list[tuple[float, tuple[int, ...], list[Any]]]:
    """Return (cost, GPUs by slot, rows) of every way to do a job, cheapest first."""
    jobs, slots = raw["jobs"], raw["time"]["slots"]
    scales = range(jobs["min_gpus"][j], jobs["max_gpus"][j] + 1)
    free = [t for t in range(slots) if 60 * t >= jobs["arrival_minutes"][j]]
    plans = []
    for choice in product((0, *scales), repeat=len(free)):
        used = [0] * slots
        for t, gpus in zip(free, choice, strict=True):
            used[t] = gpus
        found = _run(raw, j, used)
        if found is not None:
            plans.append(found)
    return sorted(plans, key=lambda plan: plan[0])


def _run(raw: dict[str, Any], j: int, used: list[int]) -> tuple[float, tuple[int, ...], list[Any]] | None:
    """Follow one job through its slots; None where it does not end, or holds GPUs after it has."""
    jobs, profile = raw["jobs"], raw["profiles"][raw["jobs"]["profile"][j]]
    left, before, idle, rows, carbon, end = jobs["work_gpu_minutes"][j], None, 0.0, [], 0.0, 0.0
    for t, gpus in enumerate(used):
        if not gpus:
            before = 0 if before is not None else None
            continue
        if left <= 0:
            return None
        if before is not None and before != gpus:
            idle = profile["restart_minutes"]
        before = gpus
        speed = profile["throughput"][gpus - 1]
        minutes = min(60.0, idle + left / speed)
        lost = min(idle, minutes)
        left -= (minutes - lost) * speed
        left = 0.0 if left < 1e-9 else left
        idle -= lost
        watts = profile["watts"][gpus - 1] - gpus * raw["cluster"]["idle_watts_per_gpu"]
        carbon += raw["carbon"]["g_per_kwh"][0][t] * watts / 1000 * minutes / 60 / 1000
        end = 60.0 * t + minutes
        rows.append((jobs["name"][j], 60.0 * t, end, gpus))
    if left > 0:
        return None
    weights = raw["objective"]["weights"]
    late = (end - jobs["arrival_minutes"][j]) / 60
    return weights["carbon_kg"] * carbon + weights["jct_hours"] * late, tuple(used), rows

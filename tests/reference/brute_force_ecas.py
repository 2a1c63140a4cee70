"""Brute force for tiny ecas instances: every placement and every on/off pattern, by the text of the problem alone."""

from __future__ import annotations

import random
from functools import cache
from itertools import product
from typing import Any

KINDS = ("price", "negative", "carbon", "tight", "given")


def random_instance(seed: int, kind: str, jobs: int = 3, slots: int = 5) -> dict[str, Any]:
    """Return a small instance.

    ``price``: positive prices alone. ``negative``: some are negative. ``carbon``: carbon and money, and a job that uses
    nothing. ``tight``: jobs so large that some instances have no schedule.
    ``given``: machines that are not always available, and a job that must run on one of them.
    """
    rng = random.Random(1000 * seed + KINDS.index(kind))
    least = -0.4 if kind == "negative" else 0.05
    duration = [rng.choice([1, 1, 2, 3]) for _ in range(jobs)]
    arrival = [rng.randrange(slots - length + 1) for length in duration]
    deadline = [rng.randint(a + d, slots) for a, d in zip(arrival, duration, strict=True)]
    largest = 4 if kind == "tight" else 2
    use = {r: [rng.randint(1, largest) for _ in range(jobs)] for r in ("cpu", "memory")}
    if kind == "carbon":
        use["cpu"][0] = use["memory"][0] = 0
    zones = ["A"] if kind == "carbon" else []
    given: dict[str, Any] = {}
    if kind == "given":
        given["machines"] = {"available": [[int(rng.random() < 0.8) for _ in range(slots)] for _ in range(2)]}
        given["jobs"] = {"machine": [rng.choice(["m0", "m1"]), *[None] * (jobs - 1)]}
    return {
        "schema_version": 1,
        "problem": "ecas",
        "name": f"random-{kind}-{seed}",
        "provenance": {},
        "time": {"slots": slots, "slot_hours": 0.5, "start": "2022-08-01T00:00:00Z"},
        "carbon": {"zones": zones, "g_per_kwh": [[rng.randrange(50, 500) for _ in range(slots)] for _ in zones]},
        "price_per_kwh": [round(rng.uniform(least, 0.6), 2) for _ in range(slots)],
        "machines": {
            "name": ["m0", "m1"],
            "capacity": {r: [rng.randint(3, 5) for _ in range(2)] for r in use},
            "idle_kw": [rng.choice([0.5, 1.0, 2.0]) for _ in range(2)],
            "up_cost": [rng.choice([0.0, 0.1, 0.3]) for _ in range(2)],
            "down_cost": [rng.choice([0.0, 0.1]) for _ in range(2)],
            **given.get("machines", {}),
        },
        "jobs": {
            "name": [f"j{j}" for j in range(jobs)],
            "arrival": arrival,
            "duration": duration,
            "deadline": deadline,
            "power_kw": [round(rng.uniform(0.5, 2), 1) for _ in range(jobs)],
            "use": use,
            **given.get("jobs", {}),
        },
        "objective": {"weights": {"cost": 1.0, "carbon_kg": 0.7 if zones else 0.0}},
    }


def brute_force(raw: dict[str, Any]) -> tuple[float | None, Any]:
    """Return the optimum and a best placement; None where there is no schedule."""
    jobs, machines, slots, hours = raw["jobs"], raw["machines"], raw["time"]["slots"], raw["time"]["slot_hours"]
    weights = raw["objective"]["weights"]
    worth = [weights["cost"] * price for price in raw["price_per_kwh"]]
    for grams in raw["carbon"]["g_per_kwh"]:
        worth = [a + weights["carbon_kg"] * g / 1000 for a, g in zip(worth, grams, strict=True)]
    names = range(len(jobs["name"]))
    available = machines.get("available") or [[1] * slots] * 2
    fixed = jobs.get("machine") or [None] * len(names)

    @cache
    def pattern(m: int, busy: frozenset[int]) -> float:
        best = float("inf")
        for on in product((0, 1), repeat=slots):
            if all(on[t] for t in busy) and all(available[m][t] for t in range(slots) if on[t]):
                ups = sum(b > a for a, b in zip((0, *on), (*on, 0), strict=True))
                idle = sum(machines["idle_kw"][m] * hours * worth[t] for t in range(slots) if on[t])
                best = min(best, idle + ups * (machines["up_cost"][m] + machines["down_cost"][m]))
        return best

    def runs(j: int) -> list[tuple[int, int]]:
        starts = range(jobs["arrival"][j], jobs["deadline"][j] - jobs["duration"][j] + 1)
        own = [m for m, name in enumerate(machines["name"]) if fixed[j] in (None, name)]
        return [(m, s) for m in own for s in starts]

    best: float | None = None
    where = None
    for places in product(*map(runs, names)):
        slots_of = [range(s, s + jobs["duration"][j]) for j, (_, s) in enumerate(places)]
        here = [[[j for j in names if places[j][0] == m and t in slots_of[j]] for t in range(slots)] for m in (0, 1)]
        if any(
            sum(jobs["use"][r][j] for j in here[m][t]) > machines["capacity"][r][m]
            for m in (0, 1)
            for t in range(slots)
            for r in jobs["use"]
        ):
            continue
        value = sum(jobs["power_kw"][j] * hours * worth[t] for j in names for t in slots_of[j])
        value += sum(pattern(m, frozenset(t for t in range(slots) if here[m][t])) for m in (0, 1))
        if value < float("inf") and (best is None or value < best):
            best, where = value, places
    return best, where

"""Instances of ecas that are written by hand, each with its optimum and how to see it.

A slot is an hour. A machine has room for 3 units and takes 1 kW while it is on unless `idle_kw` tells. A start costs 1
and a stop 0.5. A job takes 1 kW for one slot.
"""

from __future__ import annotations

from typing import Any

Job = tuple[int, int, int]
"""First slot, slot by whose beginning it ends, units."""


def tiny(
    name: str, why: str, price: list[float], jobs: dict[str, Job], machines: int = 1, idle_kw: float = 1.0
) -> dict[str, Any]:
    """Return a hand-written instance; `why` states its optimum and how to see it."""
    arrival, deadline, units = zip(*jobs.values(), strict=True)
    return {
        "schema_version": 1,
        "problem": "ecas",
        "name": f"ecas-tiny_{name}-j{len(jobs):04d}-t{len(price):03d}-none-s00",
        "provenance": {"source": "written by hand", "answer": why},
        "time": {"slots": len(price), "slot_hours": 1, "start": "2022-08-01T00:00:00Z"},
        "carbon": {"zones": [], "g_per_kwh": []},
        "price_per_kwh": price,
        "machines": {
            "name": [f"m{m}" for m in range(machines)],
            "capacity": {"cpu": [3] * machines},
            "idle_kw": [idle_kw] * machines,
            "up_cost": [1] * machines,
            "down_cost": [0.5] * machines,
        },
        "jobs": {
            "name": list(jobs),
            "arrival": list(arrival),
            "duration": [1] * len(jobs),
            "deadline": list(deadline),
            "power_kw": [1] * len(jobs),
            "use": {"cpu": list(units)},
        },
        "objective": {"weights": {"cost": 1, "carbon_kg": 0}},
    }


def tiny_instances() -> list[dict[str, Any]]:
    """Return all of them."""
    first: Job = (0, 1, 1)
    return [
        tiny(
            "stayson",
            "6.5: on in all three slots, 3, with one start and one stop, 1.5, and 2 for the jobs; to be off in slot 1 "
            "saves 1 and costs 1.5",
            [1, 1, 1],
            {"a": first, "b": (2, 3, 1)},
        ),
        tiny(
            "switchesoff",
            "7: a gap one slot longer; to be off in slots 1 and 2 saves 2 and costs 1.5",
            [1, 1, 1, 1],
            {"a": first, "b": (3, 4, 1)},
        ),
        tiny(
            "negativeprice",
            "2.5: the job costs 1, the machine 2 in slot 0 and 1.5 for start and stop; on in slot 1 it earns 2",
            [1, -1, 1],
            {"a": first},
            idle_kw=2,
        ),
        tiny(
            "onemachine",
            "4.5: two jobs of 2 units do not fit together; one after the other on one machine they cost 3, start and "
            "stop 1.5; on two machines in the cheaper slot 2, and start and stop 3",
            [1, 0.5],
            {"a": (0, 2, 2), "b": (0, 2, 2)},
            machines=2,
        ),
        tiny(
            "fullslot",
            "none: two jobs of 2 units must run in slot 0, the machine has 3",
            [1, 1],
            {"a": (0, 1, 2), "b": (0, 1, 2)},
        ),
    ]

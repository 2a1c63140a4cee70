"""Instances of mosp that are written by hand, each with its optimum and how to see it."""

from __future__ import annotations

from typing import Any


def tiny(name: str, why: str, objective: dict[str, Any] | None = None, **parts: Any) -> dict[str, Any]:
    """Return a hand-written instance; `why` states its optimum and how to see it."""
    slots = len(parts["g_per_kwh"][0])
    carbon = {"kind": "carbon", "weights": {"carbon_kg": 1, "tardiness_slots": 0, "completion_slots": 0}}
    return {
        "schema_version": 1,
        "problem": "mosp",
        "name": name,
        "provenance": {"source": "written by hand", "answer": why},
        "time": {"slots": slots, "slot_hours": 1.0, "start": "2023-11-14T00:00:00Z"},
        "carbon": {"zones": parts["zones"], "g_per_kwh": parts["g_per_kwh"]},
        "clusters": parts["clusters"],
        "jobs": {"eligible": None} | parts["jobs"],
        "objective": objective or carbon | {"rejection_price": None},
    }


def tiny_instances() -> list[dict[str, Any]]:
    """Return instances whose optimum can be seen by hand; 1 unit draws 1 kW, so g/kWh is g per unit and slot."""
    return [
        tiny(
            "mosp-tiny_shift-j0001-t003-DE-s00",
            "the job waits for the cleanest slot: 100 g = 0.1 kg",
            zones=["DE"],
            g_per_kwh=[[400, 100, 200]],
            clusters={"name": ["a"], "zone": ["DE"], "capacity": {"gpu": [1]}, "watts_per_unit": {"gpu": [1000]}},
            jobs={"name": ["x"], "arrival": [0], "duration": [1], "deadline": [3], "demand": {"gpu": [1]}},
        ),
        tiny(
            "mosp-tiny_crowd-j0003-t002-z2-s00",
            "three unit jobs, one unit in each of two clusters and slots: the dirtiest of the four places,"
            " 500 g, stays empty: 100 + 200 + 400 = 700 g = 0.7 kg",
            zones=["CA-ON", "DE"],
            g_per_kwh=[[100, 200], [500, 400]],
            clusters={
                "name": ["clean", "dirty"],
                "zone": ["CA-ON", "DE"],
                "capacity": {"gpu": [1, 1]},
                "watts_per_unit": {"gpu": [1000, 1000]},
            },
            jobs={
                "name": ["x", "y", "z"],
                "arrival": [0, 0, 0],
                "duration": [1, 1, 1],
                "deadline": [2, 2, 2],
                "demand": {"gpu": [1, 1, 1]},
            },
        ),
        tiny(
            "mosp-tiny_tradeoff-j0001-t004-DE-s00",
            "weights 1 kg, 0.1 per late slot, 0: on time costs .5, one slot late .35 + .1 = .45, two slots"
            " late .3 + .2 = .5: start in slot 2, objective 0.45",
            objective={
                "kind": "carbon",
                "weights": {"carbon_kg": 1, "tardiness_slots": 0.1, "completion_slots": 0},
                "rejection_price": None,
            },
            zones=["DE"],
            g_per_kwh=[[600, 500, 350, 300]],
            clusters={"name": ["a"], "zone": ["DE"], "capacity": {"gpu": [1]}, "watts_per_unit": {"gpu": [1000]}},
            jobs={"name": ["x"], "arrival": [0], "duration": [1], "deadline": [2], "demand": {"gpu": [1]}},
        ),
        tiny(
            "mosp-tiny_reject-j0002-t001-DE-s00",
            "one unit for two jobs: the job of 1 unit runs (0.3 kg), the other is rejected at 0.5: 0.8",
            objective={
                "kind": "carbon",
                "weights": {"carbon_kg": 1, "tardiness_slots": 0, "completion_slots": 0},
                "rejection_price": 0.5,
            },
            zones=["DE"],
            g_per_kwh=[[300]],
            clusters={"name": ["a"], "zone": ["DE"], "capacity": {"gpu": [1]}, "watts_per_unit": {"gpu": [1000]}},
            jobs={
                "name": ["x", "y"],
                "arrival": [0, 0],
                "duration": [1, 1],
                "deadline": [1, 1],
                "demand": {"gpu": [1, 1]},
            },
        ),
        tiny(
            "mosp-tiny_resources-j0002-t002-z1-s00",
            "y needs gpus, so only b may run it, and b is too small for both at once: y in slot 0 (100 g a unit:"
            " 1 gpu + 1 cpu = 0.2 kg) and x, cpu only, on a in slot 0 (0.1 kg): 0.3",
            zones=["DE"],
            g_per_kwh=[[100, 300]],
            clusters={
                "name": ["a", "b"],
                "zone": ["DE", "DE"],
                "capacity": {"cpu": [1, 1], "gpu": [0, 1]},
                "watts_per_unit": {"cpu": [1000, 1000], "gpu": [1000, 1000]},
            },
            jobs={
                "name": ["x", "y"],
                "arrival": [0, 0],
                "duration": [1, 1],
                "deadline": [2, 2],
                "demand": {"cpu": [1, 1], "gpu": [0, 1]},
                "eligible": [["a", "b"], ["b"]],
            },
        ),
        tiny(
            "mosp-tiny_caspian-j0001-t002-DE-s00",
            "Z1 prefers slot 1 (1/(1 x 50 x 1000) against 1/(1 x 100 x 1000)), Z3 slot 0 (1/2 against 1/3); with"
            " Zbar = (2e-5, 1, 1/2) and omega = (1/2, 1, 1) slot 0 gives 1/4 + 1 + 1, slot 1 gives 1/2 + 1 + 2/3: 2.25",
            objective={"kind": "caspian", "weights": {"z1": 0.5, "z2": 1, "z3": 1}, "normalizers": None},
            zones=["DE"],
            g_per_kwh=[[100, 50]],
            clusters={"name": ["a"], "zone": ["DE"], "capacity": {"gpu": [1]}, "watts_per_unit": {"gpu": [1000]}},
            jobs={"name": ["x"], "arrival": [0], "duration": [1], "deadline": [2], "demand": {"gpu": [1]}},
        ),
        tiny(
            "mosp-tiny_infeasible-j0003-t007-CA-ON-s00",
            "three jobs of 32 gpus must all run in slots 4-6, where 32 gpus are: no schedule",
            zones=["CA-ON"],
            g_per_kwh=[[30, 30, 30, 30, 30, 30, 30]],
            clusters={
                "name": ["CA-ON"],
                "zone": ["CA-ON"],
                "capacity": {"gpu": [32]},
                "watts_per_unit": {"gpu": [200]},
            },
            jobs={
                "name": ["a", "b", "c"],
                "arrival": [4, 4, 4],
                "duration": [3, 3, 3],
                "deadline": [7, 7, 7],
                "demand": {"gpu": [32, 32, 32]},
            },
        ),
    ]

"""The models of `elastic` in Pyomo and CVXPY, their reference, and instances by hand; skips where a tool is absent."""

import copy
from typing import Any

import pytest
from conftest import ROOT, load_module

PYOMO, CVXPY = ROOT / "models" / "elastic_pyomo.py", ROOT / "models" / "elastic_cvxpy.py"
KINDS = ["unit", "decreasing", "general", "switching"]
FLUID_KINDS = ["unit", "decreasing", "general"]  # switching has no fluid model

pytest.importorskip("pyomo")
pytest.importorskip("cvxpy")


integer = load_module(PYOMO)
linear = load_module(CVXPY)
reference = load_module(ROOT / "tests" / "reference" / "brute_force_elastic.py")


def exactly(value: float | None) -> Any:
    """Equal to 1e-6, relative or absolute; None is only equal to None."""
    return None if value is None else pytest.approx(value, rel=1e-6, abs=1e-6)


def fluid(data: dict[str, Any]) -> dict[str, Any]:
    return {**copy.deepcopy(data), "name": f"{data['name']}-fluid", "model": "fluid"}


def by_hand(capacity: int | list[int], carbon: list[float], *jobs: tuple[int, float, int, list[float]]) -> dict:
    """Jobs (arrival, length, slack, gains) whose servers take 1000 W each, in slots of one hour."""
    names = [f"job{i}" for i in range(len(jobs))]
    return {
        "schema_version": 1,
        "problem": "elastic",
        "name": f"elastic-hand-j{len(jobs)}-t{len(carbon)}",
        "provenance": {"source": "worked by hand"},
        "time": {"slots": len(carbon), "slot_hours": 1.0, "start": "2022-01-01T00:00:00Z"},
        "carbon": {"zones": ["X"], "g_per_kwh": [carbon]},
        "cluster": {"capacity": capacity, "zone": "X", "network_watts_per_gbps": 0.0},
        "profiles": {
            name: {
                "k_min": 1,
                "marginal_throughput": gains,
                "marginal_watts": [1000.0] * len(gains),
                "marginal_gbps": None,
            }
            for name, (_, _, _, gains) in zip(names, jobs, strict=True)
        },
        "jobs": {
            "name": names,
            "arrival": [arrival for arrival, _, _, _ in jobs],
            "length": [length for _, length, _, _ in jobs],
            "slack": [slack for _, _, slack, _ in jobs],
            "profile": names,
        },
        "objective": {"switching_g_per_server": 0.0},
        "model": "integer",
    }


def recomputed(data: dict[str, Any], schedule: dict[str, list]) -> float:
    """Grams of a schedule, from its rows alone, after a look at windows, capacity and work."""
    jobs, slots = data["jobs"], range(data["time"]["slots"])
    grams = data["carbon"]["g_per_kwh"][data["carbon"]["zones"].index(data["cluster"]["zone"])]
    share = schedule.get("share", [1.0] * len(schedule["job"]))
    done, load, running = dict.fromkeys(jobs["name"], 0.0), [0.0] * len(slots), {}
    total, used = 0.0, {}
    for job, t, servers, part in zip(schedule["job"], schedule["slot"], schedule["servers"], share, strict=True):
        i = jobs["name"].index(job)
        assert jobs["arrival"][i] <= t < jobs["arrival"][i] + -(-jobs["length"][i] // 1) + jobs["slack"][i]
        level = reference._levels(data, data["profiles"][jobs["profile"][i]])
        on = level[0].index(servers)
        done[job] += part * level[1][on]
        load[t] += part * servers
        total += part * level[2][on] * grams[t]
        used[job, t] = used.get((job, t), 0.0) + part
        running[job, t] = servers
    assert all(done[name] >= length - 1e-6 for name, length in zip(jobs["name"], jobs["length"], strict=True))
    assert all(units <= most + 1e-6 for units, most in zip(load, reference._capacity(data), strict=True))
    assert max(used.values()) <= 1 + 1e-6
    edges = [(job, t) for job in jobs["name"] for t in range(len(slots) + 1)]
    changes = sum(abs(running.get((job, t), 0) - running.get((job, t - 1), 0)) for job, t in edges)
    return total + data["objective"]["switching_g_per_server"] * changes

"""Small instances as files hold them, to be bent out of shape."""

from __future__ import annotations

from typing import Any

import carbonopt as co
from carbonopt.core.registry import problem_of

START = "2022-06-01T00:00:00Z"
COMMON = {"schema_version": 1, "name": "small", "provenance": {}}


def instance_of(raw: dict[str, Any]) -> co.Instance:
    """Return the instance that a file's content stands for."""
    made: co.Instance = problem_of(raw["problem"]).role("read")(raw)
    return made


def _signal(g_per_kwh: list[float], slot_hours: float = 1.0) -> dict[str, Any]:
    return {
        **COMMON,
        "time": {"slots": len(g_per_kwh), "slot_hours": slot_hours, "start": START},
        "carbon": {"zones": ["A"], "g_per_kwh": [g_per_kwh]},
    }


def mlcluster(
    g_per_kwh: list[float],
    throughput: list[float],
    watts: list[float],
    work: list[float],
    jct_weight: float = 0.0,
    carbon_weight: float = 1.0,
    idle_watts: float = 50.0,
) -> dict[str, Any]:
    """Return two GPUs, and jobs that all scale alike and arrive at once."""
    jobs = range(len(work))
    return {
        **_signal(g_per_kwh),
        "problem": "mlcluster",
        "cluster": {"gpus": 2, "zone": "A", "idle_watts_per_gpu": idle_watts},
        "profiles": {"p": {"throughput": throughput, "watts": watts, "restart_minutes": 0}},
        "jobs": {
            "name": [f"j{job}" for job in jobs],
            "arrival_minutes": [0 for _ in jobs],
            "work_gpu_minutes": work,
            "profile": ["p" for _ in jobs],
            "min_gpus": [1 for _ in jobs],
            "max_gpus": [len(throughput) for _ in jobs],
        },
        "objective": {
            "weights": {"carbon_kg": carbon_weight, "jct_hours": jct_weight},
            "limits": {"mean_jct_hours": None},
        },
    }


def elastic(
    g_per_kwh: list[float],
    capacity: list[float],
    arrival: list[int],
    length: list[float],
    slack: list[int],
    throughput: list[float],
    switching: float = 0.0,
    slot_hours: float = 1.0,
) -> dict[str, Any]:
    """Return a cluster whose capacity changes, and jobs that all scale alike."""
    units = len(throughput)
    profile = {
        "k_min": 1,
        "marginal_throughput": throughput,
        "marginal_watts": [1000] * units,
        "marginal_gbps": None,
    }
    return {
        **_signal(g_per_kwh, slot_hours),
        "problem": "elastic",
        "cluster": {"capacity": capacity, "zone": "A", "network_watts_per_gbps": 0},
        "profiles": {"p": profile},
        "jobs": {
            "name": [f"j{job}" for job in range(len(length))],
            "arrival": arrival,
            "length": length,
            "slack": slack,
            "profile": ["p"] * len(length),
        },
        "objective": {"switching_g_per_server": switching},
        "model": "integer",
    }


def purchasing(
    g_per_kwh: list[float], arrival: list[float], length: list[float], cpus: list[float], **changes: Any
) -> dict[str, Any]:
    """Return one zone with reserved CPUs to be decided, and spot CPUs that are free and never evicted."""
    return {
        **_signal(g_per_kwh),
        "problem": "purchasing",
        "zone": "A",
        "prices": {"on_demand_usd_per_cpu_hour": 1, "reserved_fraction": 1, "spot_fraction": 0},
        "reserved_cpus": None,
        "watts_per_cpu": 10,
        "spot": {"max_length_hours": 1, "evictions_per_hour": 0},
        "queues": {"all": {"max_length_hours": None, "max_wait_hours": 1}},
        "jobs": {
            "name": [f"j{job}" for job in range(len(length))],
            "arrival_hours": arrival,
            "length_hours": length,
            "cpus": cpus,
        },
        "objective": {
            "weights": {"carbon_kg": 0.75, "cost_usd": 1, "wait_hours": 0.58},
            "limits": {"carbon_kg": 5, "cost_usd": None, "mean_wait_hours": None},
        },
        "model": "no-split",
    } | changes

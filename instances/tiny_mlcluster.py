"""Instances of mlcluster that are written by hand, each with its optimum and how to see it.

A slot is an hour. A GPU in use takes 1000 W more than an idle one unless the profile says otherwise, so an hour on
one GPU costs a thousandth of the carbon intensity, in kilograms.
"""

from __future__ import annotations

from typing import Any

Job = tuple[float, float, str, int, int]
"""Arrival and work [min], profile, fewest and most GPUs."""


def profile(*throughput: float, watts: list[float] | None = None, restart_minutes: float = 0.0) -> dict[str, Any]:
    """Return a profile whose GPUs take 1000 W each unless `watts` tells."""
    power = [1000.0 * n for n in range(1, len(throughput) + 1)] if watts is None else watts
    return {"throughput": list(throughput), "watts": power, "restart_minutes": restart_minutes}


ONE = {"one": profile(1)}


def tiny(
    name: str,
    why: str,
    gpus: int,
    g_per_kwh: list[float],
    jobs: dict[str, Job],
    profiles: dict[str, Any] = ONE,
    idle_watts: float = 0.0,
    host_watts: float = 0.0,
    jct_weight: float = 0.0,
    mean_jct_hours: float | None = None,
) -> dict[str, Any]:
    """Return a hand-written instance; `why` states its optimum and how to see it."""
    arrival, work, names, least, most = zip(*jobs.values(), strict=True)
    return {
        "schema_version": 1,
        "problem": "mlcluster",
        "name": f"mlcluster-tiny_{name}-j{len(jobs):04d}-t{len(g_per_kwh):03d}-A-s00",
        "provenance": {"source": "written by hand", "answer": why},
        "time": {"slots": len(g_per_kwh), "slot_hours": 1.0, "start": "2022-08-01T00:00:00Z"},
        "carbon": {"zones": ["A"], "g_per_kwh": [g_per_kwh]},
        "cluster": {
            "gpus": gpus,
            "zone": "A",
            "gpus_per_host": 2,
            "idle_watts_per_gpu": idle_watts,
            "host_watts": host_watts,
        },
        "profiles": profiles,
        "jobs": {
            "name": list(jobs),
            "arrival_minutes": list(arrival),
            "work_gpu_minutes": list(work),
            "profile": list(names),
            "min_gpus": list(least),
            "max_gpus": list(most),
        },
        "objective": {
            "weights": {"carbon_kg": 1.0, "jct_hours": jct_weight},
            "limits": {"mean_jct_hours": mean_jct_hours},
        },
    }


def tiny_instances() -> list[dict[str, Any]]:
    """Return all of them."""
    one: Job = (0.0, 60.0, "one", 1, 1)
    return [
        tiny("gpushift", "0.1: an hour in slot 1, at 100 g/kWh", 1, [300, 100], {"a": one}),
        tiny("gpuqueue", "0.3: one after the other in the two cleaner hours", 1, [100, 200, 300], {"a": one, "b": one}),
        tiny(
            "twogpus",
            "0.2: two GPUs in slot 0 do 90 minutes of work in an hour; one GPU would need half of slot 1, 0.1 + 0.2",
            2,
            [100, 400],
            {"a": (0.0, 90.0, "two", 1, 2)},
            {"two": profile(1, 1.5)},
        ),
        tiny(
            "jctbudget",
            "0.4: to end within an hour the job must run at once; the bound lets it wait for half of its work",
            1,
            [400, 100],
            {"a": one},
            mean_jct_hours=1.0,
        ),
        tiny(
            "gpurestart",
            "0.2: an hour in slot 0, then 30 min of restart and 30 min of work in slot 2; without a break it were 0.3, "
            "and the bound, which knows no restarts, is 0.15",
            1,
            [100, 400, 100],
            {"a": (0.0, 90.0, "slow", 1, 1)},
            {"slow": profile(1, restart_minutes=30.0)},
        ),
        tiny(
            "idlegpus",
            "0.06: 1000 W on a GPU that draws 400 W anyway add 600 W; two idle GPUs and a host of 100 W emit 0.09 "
            "beside it, 900 W for an hour at 100 g/kWh",
            2,
            [100],
            {"a": one},
            idle_watts=400.0,
            host_watts=100.0,
        ),
        tiny(
            "jctweight",
            "0.5: to run at once costs 0.4 and an hour at 0.1; to wait for slot 1 costs 0.3 and two hours, 0.5 as well",
            1,
            [400, 300],
            {"a": one},
            jct_weight=0.1,
        ),
    ]

"""Instances of purchasing that are written by hand, each with its optimum and how to see it.

A CPU takes 1000 W, a slot is an hour, and an on-demand CPU-hour costs 1 $: a CPU emits as many kilograms in an hour as
the instance's `kg` says, reserved CPUs cost 0.4 $ an hour in advance and spot CPUs 0.2 $. All data are whole hours, so
that the program over slots is exact.
"""

from __future__ import annotations

from typing import Any

Job = tuple[float, float, float]
"""Arrival, length, CPUs."""
CARBON = (1.0, 0.0, 0.0)
COST = (0.0, 1.0, 0.0)


def tiny(
    name: str,
    why: str,
    kg: list[float],
    jobs: dict[str, Job],
    *,
    wait: float = 0.0,
    reserved: int | None = 0,
    weights: tuple[float, float, float] = CARBON,
    limits: dict[str, float] | None = None,
    spot: tuple[float, float] | None = None,
    model: str = "splitting",
) -> dict[str, Any]:
    """Return a hand-written instance; `why` states its optimum and how to see it.

    Parameters
    ----------
    name, why
        Short name, and what is to be learnt from the instance.
    kg
        Carbon of a CPU in each hour.
    jobs
        By name.
    wait
        Longest wait of all jobs [h].
    reserved, limits, model
        As in the file.
    weights
        Of carbon, cost and wait.
    spot
        Longest job and evictions an hour.
    """
    arrival, length, cpus = zip(*jobs.values(), strict=True)
    return {
        "schema_version": 1,
        "problem": "purchasing",
        "name": f"purchasing-tiny_{name}-j{len(jobs):04d}-t{len(kg):03d}-A-s00",
        "provenance": {"source": "written by hand", "answer": why},
        "time": {"slots": len(kg), "slot_hours": 1.0, "start": "2022-06-01T00:00:00Z"},
        "carbon": {"zones": ["A"], "g_per_kwh": [[1000 * value for value in kg]]},
        "zone": "A",
        "prices": {"on_demand_usd_per_cpu_hour": 1.0, "reserved_fraction": 0.4, "spot_fraction": 0.2},
        "reserved_cpus": reserved,
        "watts_per_cpu": 1000,
        "spot": None if spot is None else {"max_length_hours": spot[0], "evictions_per_hour": spot[1]},
        "queues": {"all": {"max_length_hours": None, "max_wait_hours": wait}},
        "jobs": {
            "name": list(jobs),
            "arrival_hours": list(arrival),
            "length_hours": list(length),
            "cpus": list(cpus),
        },
        "objective": {
            "weights": dict(zip(("carbon_kg", "cost_usd", "wait_hours"), weights, strict=True)),
            "limits": {"carbon_kg": None, "cost_usd": None, "mean_wait_hours": None, **(limits or {})},
        },
        "model": model,
    }


def tiny_instances() -> list[dict[str, Any]]:
    """Return all of them."""
    return [*starts(), *sharing(), *spot_runs(), *decisions()]


def starts() -> list[dict[str, Any]]:
    """Return those that are about when to start."""
    return [
        tiny(
            "cleanhour_2",
            "optimum 2: at hour 2, 1 kg and 2 h of wait at 0.5. At hour 1 it would be 2 + 0.5, at once 3",
            [3, 2, 1],
            {"A": (0, 1, 1)},
            wait=2,
            weights=(1, 0, 0.5),
        ),
        tiny(
            "reservedpulls_3",
            "optimum 3: one job in each hour on the reserved CPU, 1 + 2 kg. Both in the clean hour emit 2 kg, and one"
            " CPU-hour on demand costs 2 at a weight of 2",
            [1, 2],
            {"A": (0, 1, 1), "B": (0, 1, 1)},
            wait=1,
            reserved=1,
            weights=(1, 2, 0),
        ),
        tiny(
            "nobreak_10",
            "optimum 10: two hours without a break, wherever they are, have one of 9 kg",
            [1, 9, 1, 9],
            {"A": (0, 2, 1)},
            wait=2,
            weights=(1, 0, 1),
        ),
        tiny(
            "suspendresume_3",
            "optimum 3: hours 0 and 2, 2 kg, completed at hour 3: 1 h of wait. Without a break it is 10",
            [1, 9, 1, 9],
            {"A": (0, 2, 1)},
            wait=2,
            weights=(1, 0, 1),
            model="suspend-resume",
        ),
    ]


def sharing() -> list[dict[str, Any]]:
    """Return those that are about who has the reserved CPUs."""
    two: dict[str, Job] = {"A": (0, 1, 2), "B": (0, 1, 2)}
    return [
        tiny("split_1", "optimum 1: of 4 CPUs 3 are reserved, one is on demand", [1], two, reserved=3, weights=COST),
        tiny(
            "nosplit_2",
            "optimum 2: one job is on reserved CPUs, the other, which may not split, on demand with both of its CPUs",
            [1],
            two,
            reserved=3,
            weights=COST,
            model="no-split",
        ),
        tiny(
            "largerfirst_1",
            "optimum 1: the larger job is on the reserved CPUs. First come, first served would give one to the smaller"
            " job, and pay 2 for the larger one",
            [1],
            {"A": (0, 1, 1), "B": (0, 1, 2)},
            reserved=2,
            weights=COST,
            model="no-split",
        ),
        tiny(
            "largejob_4",
            "optimum 4: of 5 CPUs 3 are on demand wherever it runs; in the clean hour, 5 x 0.2 kg",
            [1, 0.2],
            {"A": (0, 1, 5)},
            wait=1,
            reserved=2,
            weights=(1, 1, 0),
        ),
    ]


def spot_runs() -> list[dict[str, Any]]:
    """Return those that are about spot CPUs: break-even is at 2.66 evictions a run, for the cost alone."""
    return [
        tiny(
            "spotpays_0p7585",
            "optimum 0.758545: with one eviction an hour, (1 - 1/e) (0.2 + 1), below 1 on demand",
            [1, 1],
            {"A": (0, 1, 1)},
            spot=(1, 1),
            weights=COST,
        ),
        tiny(
            "spotdoesnotpay_1",
            "optimum 1, on demand: with three evictions an hour, spot would cost (1 - e^-3) (0.2 / 3 + 1) = 1.01356",
            [1, 1],
            {"A": (0, 1, 1)},
            spot=(1, 3),
            weights=COST,
        ),
        tiny(
            "spotemits_2",
            "optimum 2, on demand: 1 kg and 1 $. Spot is cheaper, 0.758545, but what is lost is emitted all the same:"
            " 1 + (1 - 1/e) - 1/e = 1.264241 kg, 2.022786 in all",
            [1, 1],
            {"A": (0, 1, 1)},
            spot=(1, 1),
            weights=(1, 1, 0),
        ),
        tiny(
            "spotshort_2p2",
            "optimum 2.2: only the job of 1 h may be on spot CPUs, at 0.2 without evictions",
            [1, 1],
            {"A": (0, 1, 1), "B": (0, 2, 1)},
            spot=(1, 0),
            weights=COST,
        ),
    ]


def decisions() -> list[dict[str, Any]]:
    """Return those that are about how many CPUs to reserve, and about limits."""
    two: dict[str, Job] = {"A": (0, 2, 1), "B": (0, 2, 1)}
    return [
        tiny(
            "reserveone_1p6",
            "optimum 1.6 with one reserved CPU for 4 h: the jobs run one after the other. Two would cost 3.2, none 4",
            [1] * 4,
            two,
            wait=2,
            reserved=None,
            weights=COST,
        ),
        tiny(
            "reservenone_4",
            "optimum 4 on demand: over 12 h a reserved CPU costs 4.8",
            [1] * 12,
            two,
            wait=2,
            reserved=None,
            weights=COST,
        ),
        tiny(
            "limitwaits_1",
            "optimum 1: no more than 1 kg lets the job wait for hour 1, though only waiting is paid for",
            [2, 1],
            {"A": (0, 1, 1)},
            wait=1,
            weights=(0, 0, 1),
            limits={"carbon_kg": 1},
        ),
        tiny(
            "limitspot_1p7585",
            "optimum 1.758545: within 2.3 kg one of two jobs may be on spot CPUs, where it costs 0.758545 and emits"
            " 1.264241 kg, not both",
            [1, 1],
            {"A": (0, 1, 1), "B": (0, 1, 1)},
            spot=(1, 1),
            weights=COST,
            limits={"carbon_kg": 2.3},
        ),
        tiny(
            "limitnone",
            "no schedule: 1 kg is the least, the limit is 0.5",
            [2, 1],
            {"A": (0, 1, 1)},
            wait=1,
            limits={"carbon_kg": 0.5},
        ),
    ]

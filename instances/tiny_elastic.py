"""Instances of elastic that are written by hand, each with its optimum and how to see it.

A server takes 1000 W and a slot is an hour, so a server in a slot costs the carbon intensity, in grams.
The counterexamples to Theorem 4.1 of the CarbonFlex paper bear in their names what Algorithm 1 ends
with and the optimum: `window_5p9_3` is 5.9 against 3.
"""

from __future__ import annotations

from typing import Any

Job = tuple[int, float, int, str]
"""Arrival, length, slack, profile."""


def profile(*gains: float, k_min: int = 1, gbps: list[float] | None = None) -> dict[str, Any]:
    """Return a profile whose servers take 1000 W each."""
    watts = [1000.0 * k_min, *[1000.0] * (len(gains) - 1)]
    return {"k_min": k_min, "marginal_throughput": list(gains), "marginal_watts": watts, "marginal_gbps": gbps}


ONE = {"one": profile(1)}


def tiny(
    name: str,
    why: str,
    capacity: float | list[float],
    g_per_kwh: list[float],
    jobs: dict[str, Job],
    profiles: dict[str, Any] = ONE,
    model: str = "integer",
    watts_per_gbps: float = 0.0,
    switching_g: float = 0.0,
) -> dict[str, Any]:
    """Return a hand-written instance; `why` states its optimum and how to see it."""
    arrival, length, slack, names = zip(*jobs.values(), strict=True)
    return {
        "schema_version": 1,
        "problem": "elastic",
        "name": f"elastic-tiny_{name}-j{len(jobs):04d}-t{len(g_per_kwh):03d}-A-s00",
        "provenance": {"source": "written by hand", "answer": why},
        "time": {"slots": len(g_per_kwh), "slot_hours": 1.0, "start": "2022-06-01T00:00:00Z"},
        "carbon": {"zones": ["A"], "g_per_kwh": [g_per_kwh]},
        "cluster": {"capacity": capacity, "zone": "A", "network_watts_per_gbps": watts_per_gbps},
        "profiles": profiles,
        "jobs": {
            "name": list(jobs),
            "arrival": list(arrival),
            "length": list(length),
            "slack": list(slack),
            "profile": list(names),
        },
        "objective": {"switching_g_per_server": switching_g},
        "model": model,
    }


def tiny_instances() -> list[dict[str, Any]]:
    """Return all of them."""
    return [*counterexamples(), *features()]


def counterexamples() -> list[dict[str, Any]]:
    """Return those on which Algorithm 1 falls short, each for another reason."""
    last_unit = {"p": profile(1, 0.6)}
    window = {"a": profile(1, 0.25), "b": profile(1, 0.5)}
    window_jobs: dict[str, Job] = {"A": (0, 1.25, 0, "a"), "B": (0, 1, 1, "b")}
    return [
        tiny(
            "rerouting_5_3",
            "optimum 3: A in slot 0 (2), B in slot 1 (1). Algorithm 1 gives the cheapest slot, 1, to A, the first in"
            " line, and never takes it back: B is left with slot 2, 1 + 4 = 5",
            1,
            [2, 1, 4],
            {"A": (0, 1, 1, "one"), "B": (1, 1, 1, "one")},
        ),
        tiny(
            "falseinfeasible_none_4",
            "optimum 4: A in slot 0 (2), B in slots 1 and 2 (1 + 1). Algorithm 1 gives slot 1 to A, and B, which needs"
            " both of its slots, does not complete",
            1,
            [2, 1, 1],
            {"A": (0, 1, 1, "one"), "B": (1, 2, 0, "one")},
        ),
        tiny(
            "lastunit_5_4",
            "optimum 4: both servers in slot 0 do 1 + 0.6 of 1.5. Algorithm 1 takes units by throughput per carbon,"
            " 1/2 and 1/3 before 0.6/2: one server in each slot, 2 + 3 = 5, though half of the last one is not needed",
            2,
            [2, 3],
            {"A": (0, 1.5, 0, "p")},
            last_unit,
        ),
        tiny(
            "lastunit_fluid_3p5_3p5",
            "fluid optimum 3.5: slot 0 on one server (2), then half of slot 1 (1.5). Algorithm 1 in its fluid variant"
            " finds it: one job, and capacity does not bind",
            2,
            [2, 3],
            {"A": (0, 1.5, 0, "p")},
            last_unit,
            "fluid",
        ),
        tiny(
            "window_5p9_3",
            "optimum 3: A on two servers (1 + 0.25 = 1.25) and B on one, all in slot 0. Algorithm 1 ranks a first"
            " server in slot 1, 1/3.9, before A's second one in slot 0, 0.25/1, though A lacks only 0.25 of work by"
            " then: 1 + 1 + 3.9 = 5.9",
            3,
            [1, 3.9],
            window_jobs,
            window,
        ),
        tiny(
            "window_fluid_2p975_2p975",
            "fluid optimum 2.975: A and B on one server in slot 0, A for a quarter of slot 1 (3.9 / 4 = 0.975), less"
            " than the whole slot of a second server (1). Algorithm 1 in its fluid variant finds it",
            3,
            [1, 3.9],
            window_jobs,
            window,
            "fluid",
        ),
        tiny(
            "gains_10p2_9p24",
            "fluid optimum 9.24: in slot 0 A and B have a server each and share the third, A for 0.8 of the slot, B for"
            " 0.2 (3); in slot 1 A has a server (4), B one for 0.56 (2.24). Algorithm 1 gives the third server of slot"
            " 0 to B, whose gain is larger, 0.7 against 0.5. B is done; A lacks 1.4 and needs its second server in slot"
            " 1 for 0.8 of it: 3 + 4 + 3.2 = 10.2. It costs A 4/0.5 = 8 a slot of work there, and B 4 on a first"
            " server",
            3,
            [1, 4, 100],
            {"A": (0, 2.4, 0, "a"), "B": (0, 1.7, 1, "b")},
            {"a": profile(1, 0.5), "b": profile(1, 0.7)},
            "fluid",
        ),
        tiny(
            "printed_none_1",
            "optimum 1. Algorithm 1 as printed skips a server where the sum of servers, its own included, reaches M:"
            " the last server of the cluster is never used, and nothing runs",
            1,
            [1],
            {"A": (0, 1, 0, "one")},
        ),
        tiny(
            "closedwindow_late_2",
            "optimum 2: A in slot 0, the only one of its window [0, 1). Algorithm 1 as printed counts slot 1 as well,"
            " which is cheaper: A runs there and is late. (Two servers, since it never uses the last one)",
            2,
            [2, 1],
            {"A": (0, 1, 0, "one")},
        ),
    ]


def features() -> list[dict[str, Any]]:
    """Return one for each part of the model."""
    return [
        tiny(
            "scaling",
            "3 slots of work: three servers in slot 0 do 1 + 0.9 + 0.5 = 2.4 (3 g), one in slot 2 the rest (2 g): 5."
            " Slot 0 alone is too little, and 2 servers in both do enough (3.8) for 6",
            4,
            [1, 10, 2],
            {"A": (0, 3, 0, "p")},
            {"p": profile(1, 0.9, 0.5)},
        ),
        tiny(
            "rigid_7_5",
            "R runs on two servers or not at all: R in slot 0 (2 x 1) and E in slot 1 (3): 5. Algorithm 1 gives slot 0"
            " to E, whose throughput per carbon is twice R's: 1 + 2 x 3 = 7",
            2,
            [1, 3],
            {"R": (0, 1, 1, "two"), "E": (0, 1, 1, "one")},
            {"two": profile(1, k_min=2), **ONE},
        ),
        tiny(
            "network",
            "the second server moves 1 Gbit/s, which takes 500 W: one server in slots 0 and 2, 2 + 2.5 = 4.5. Two"
            " servers in slot 0 cost 2 + 1.5 x 2 = 5 (and 4 if the network were free)",
            2,
            [2, 4, 2.5],
            {"A": (0, 2, 1, "p")},
            {"p": profile(1, 1, gbps=[0.0, 1.0])},
            watts_per_gbps=500.0,
        ),
        tiny(
            "switching",
            "each server started or stopped costs 2 g: slots 0 and 1 cost 1 + 3 and two switches, 4 + 4 = 8. The two"
            " cleanest slots, 0 and 2, cost 1 + 1 and four switches, 2 + 8 = 10",
            1,
            [1, 3, 1],
            {"A": (0, 2, 1, "one")},
            switching_g=2.0,
        ),
        tiny(
            "slotcapacity",
            "slot 2 is cleanest and has no servers, slot 1 has two: two jobs there, one in slot 0: 2 + 2 + 5 = 9",
            [1, 2, 0],
            [5, 2, 1],
            {"A": (0, 1, 2, "one"), "B": (0, 1, 2, "one"), "C": (0, 1, 2, "one")},
        ),
        tiny(
            "overload",
            "three slots of work, two server-slots: no schedule, not even of parts of slots",
            1,
            [1, 1],
            {"A": (0, 1, 1, "one"), "B": (0, 1, 1, "one"), "C": (0, 1, 1, "one")},
        ),
        tiny(
            "halves",
            "two jobs of half a slot, one server, one slot: they could share it (the fluid model has a schedule), but"
            " each needs a whole one: no schedule",
            1,
            [1],
            {"A": (0, 0.5, 0, "one"), "B": (0, 0.5, 0, "one")},
        ),
    ]

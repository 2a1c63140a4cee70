"""Tiny elastic instances: a generator, and every integer schedule tried in turn.

Plain Python on the instance file's own dictionary, with slots counted from 0. Nothing here knows of a solver.
"""

import random
from itertools import product
from math import ceil
from typing import Any

Schedule = dict[str, list]
Plan = tuple[float, tuple[int, ...]]  # grams, servers by slot of the horizon

ALLOWANCE = 1e-9  # relative: work of length * (1 - ALLOWANCE) is done


def brute_force(data: dict[str, Any]) -> tuple[float | None, Schedule]:
    """Find the least grams and a schedule that has them; None and an empty schedule if there is none.

    A plan of a job is the number of units it runs in each slot of its window: all that do the work are listed, then
    combined depth-first over the jobs, cheapest plan first. A branch is cut only where the remaining jobs, each on
    its best plan as if alone, could not beat the best schedule so far.

    Parameters
    ----------
    data : dict
        An elastic instance of model "integer", as read from its file.

    Returns
    -------
    grams : float or None
        Carbon, and the price of the servers that start or stop.
    schedule : dict
        Columns "job" (names), "slot" and "servers".

    Raises
    ------
    ValueError
        If the model is another one.
    """
    if data["model"] != "integer":
        raise ValueError(f"brute force lists the schedules of the model 'integer', not {data['model']!r}")
    count = range(len(data["jobs"]["name"]))
    # A unit that the work does not need takes room and emits: plans without one decide whether there is a schedule,
    # and are enough where switching is free. Where it has a price, every plan is tried.
    best = _combine(data, [_plans(data, i, minimal=True) for i in count], None)
    if best is not None and _switching_price(data) > 0:
        best = _combine(data, [_plans(data, i, minimal=False) for i in count], best)
    rows = [(i, t, k) for i in count for t, k in enumerate(best[1][i]) if k > 0] if best is not None else []
    schedule: Schedule = {
        "job": [data["jobs"]["name"][i] for i, _, _ in rows],
        "slot": [t for _, t, _ in rows],
        "servers": [k for _, _, k in rows],
    }
    return (None if best is None else best[0]), schedule


def every_cost(data: dict[str, Any], signals: list[list[list[float]]]) -> list[list[float]]:
    """Grams under each signal of every schedule, or of those without a unit to spare if that is enough."""
    minimal = _switching_price(data) == 0
    tables = []  # by job: grams under each signal, by its servers
    for i in range(len(data["jobs"]["name"])):
        seen = [{**data, "carbon": {**data["carbon"], "g_per_kwh": signal}} for signal in signals]
        by_signal = [{servers: grams for grams, servers in _plans(under, i, minimal=minimal)} for under in seen]
        tables.append([(servers, [own[servers] for own in by_signal]) for servers in by_signal[0]])
    found = []
    for chosen in product(*tables):
        load = [sum(servers) for servers in zip(*(servers for servers, _ in chosen), strict=True)]
        if all(used <= units for used, units in zip(load, _capacity(data), strict=False)):
            found.append([sum(part) for part in zip(*(costs for _, costs in chosen), strict=True)])
    return found


def _combine(
    data: dict[str, Any], plans: list[list[Plan]], best: tuple[float, list[tuple[int, ...]]] | None
) -> tuple[float, list[tuple[int, ...]]] | None:
    """Find grams and one plan a job, within capacity, that are below those of `best`, or return `best`."""
    count = len(plans)
    if not all(plans):
        return best
    order = sorted(range(count), key=lambda i: len(plans[i]))
    at_best = [0.0] * (count + 1)  # grams of the jobs in order[depth:] if each had the cluster to itself
    for depth in reversed(range(count)):
        at_best[depth] = at_best[depth + 1] + plans[order[depth]][0][0]
    chosen: list[tuple[int, ...]] = [()] * count

    def descend(depth: int, grams: float, free: list[float]) -> None:
        nonlocal best
        if depth == count:
            best = (grams, list(chosen))
            return
        for plan_grams, servers in plans[order[depth]]:
            if best is not None and grams + plan_grams + at_best[depth + 1] >= best[0]:
                return
            left = [units - k for units, k in zip(free, servers, strict=True)]
            if min(left) >= 0:
                chosen[order[depth]] = servers
                descend(depth + 1, grams + plan_grams, left)

    if best is None or at_best[0] < best[0]:
        descend(0, 0.0, _capacity(data))
    return best


def _plans(data: dict[str, Any], i: int, *, minimal: bool) -> list[Plan]:
    """Plans of job i that do its work and fit the empty cluster, by grams; if minimal, without a unit to spare."""
    jobs, slots = data["jobs"], data["time"]["slots"]
    start, length = jobs["arrival"][i], jobs["length"][i]
    window = range(start, start + ceil(length * (1 - ALLOWANCE)) + jobs["slack"][i])
    servers, work, kwh = _levels(data, data["profiles"][jobs["profile"][i]])
    grams = dict(zip(data["carbon"]["zones"], data["carbon"]["g_per_kwh"], strict=True))[data["cluster"]["zone"]]
    capacity, required, price = _capacity(data), length * (1 - ALLOWANCE), _switching_price(data)
    plans = []
    for levels in product(range(len(servers)), repeat=len(window)):
        done = sum(work[level] for level in levels)
        spare = any(done - work[level] + work[level - 1] >= required for level in levels if level > 0)
        if done < required or (minimal and spare):
            continue
        by_slot = [0] * slots
        for t, level in zip(window, levels, strict=True):
            by_slot[t] = servers[level]
        if any(k > units for k, units in zip(by_slot, capacity, strict=True)):
            continue
        carbon = sum(grams[t] * kwh[level] for t, level in zip(window, levels, strict=True))
        changes = sum(abs(b - a) for a, b in zip([0, *by_slot], [*by_slot, 0], strict=True))
        plans.append((carbon + price * changes, tuple(by_slot)))
    return sorted(plans)


def _levels(data: dict[str, Any], profile: dict[str, Any]) -> tuple[list[int], list[float], list[float]]:
    """(servers, slots of work, kWh) of a slot by number of units that are on, from none to all."""
    cluster, count = data["cluster"], len(profile["marginal_throughput"])
    moved = profile["marginal_gbps"] or [0.0] * count
    watts = [w + cluster["network_watts_per_gbps"] * g for w, g in zip(profile["marginal_watts"], moved, strict=True)]
    servers = [0] + [profile["k_min"] + u for u in range(count)]
    work = [sum(profile["marginal_throughput"][:on]) for on in range(count + 1)]
    return servers, work, [sum(watts[:on]) / 1000 * data["time"]["slot_hours"] for on in range(count + 1)]


def _capacity(data: dict[str, Any]) -> list[float]:
    """Servers by slot."""
    units = data["cluster"]["capacity"]
    return list(units) if isinstance(units, list) else [units] * data["time"]["slots"]


def _switching_price(data: dict[str, Any]) -> float:
    """Grams for each server that starts or stops."""
    return data["objective"]["switching_g_per_server"]


def random_instance(
    seed: int, kind: str, *, jobs: int | None = None, slots: int | None = None, capacity: int | None = None
) -> dict[str, Any]:
    """Draw a tiny instance of model "integer"; about one in five has no schedule.

    Parameters
    ----------
    seed : int
    kind : {"unit", "decreasing", "general", "switching"}
        unit: whole lengths, k_min = 1, equal gain and energy for each server. decreasing: k_min = 1, real lengths,
        gains that decrease strictly and energies that do not decrease. general: also blocks of k_min > 1 servers,
        jobs that do not scale, energies in any order, network energy, capacity by slot. switching: decreasing,
        with a price of switching.
    jobs, slots, capacity : int, optional
        By default 2 to 4 jobs, 3 to 5 slots and 1 to 4 servers.

    Returns
    -------
    dict
        The instance as its file would hold it.
    """
    rng = random.Random(f"{kind}-{seed}")
    jobs = jobs or rng.randint(2, 4)
    slots = slots or rng.randint(3, 5)
    capacity = capacity or rng.choice([1, 2, 2, 3, 3, 4])
    names = [f"profile{k}" for k in range(rng.randint(1, 3))]
    profiles = {name: _random_profile(rng, kind, capacity) for name in names}
    profile = [rng.choice(names) for _ in range(jobs)]
    load = {"unit": 1.4, "general": 0.6}.get(kind, 1.2)  # about one instance in five has no schedule
    most = max(1.0, load * capacity * slots / jobs)
    arrival, length, slack = [], [], []
    for name in profile:
        arrival.append(rng.choice([0, rng.randint(0, slots // 2)]))
        span, k_min = slots - arrival[-1], profiles[name]["k_min"]
        longest = min(span, most / k_min)
        if kind == "unit":
            length.append(rng.randint(1, max(1, int(longest))))
        else:
            length.append(round(rng.uniform(0.4, max(1.0, longest)), rng.choice([1, 2])))
        slack.append(rng.randint(0, span - ceil(length[-1])) if rng.random() < 0.7 else 0)
    by_slot = kind == "general" and rng.random() < 0.5
    return {
        "schema_version": 1,
        "problem": "elastic",
        "name": f"elastic-random-j{jobs}-t{slots}-{kind}-s{seed}",
        "provenance": {"source": "random tiny instance", "seed": seed},
        "time": {"slots": slots, "slot_hours": rng.choice([0.5, 1.0]), "start": "2022-01-01T00:00:00Z"},
        "carbon": {
            "zones": ["zone0", "zone1"],
            "g_per_kwh": [[round(rng.uniform(20, 600), 1) for _ in range(slots)] for _ in range(2)],
        },
        "cluster": {
            "capacity": [rng.randint(max(0, capacity - 1), capacity + 1) for _ in range(slots)]
            if by_slot
            else capacity,
            "zone": rng.choice(["zone0", "zone1"]),
            "network_watts_per_gbps": rng.choice([0.0, 0.5, 2.0]) if kind == "general" else 0.0,
        },
        "profiles": profiles,
        "jobs": {
            "name": [f"job{i}" for i in range(jobs)],
            "arrival": arrival,
            "length": length,
            "slack": slack,
            "profile": profile,
        },
        "objective": {"switching_g_per_server": rng.choice([0.5, 2.0, 8.0]) if kind == "switching" else 0.0},
        "model": "integer",
    }


def _random_profile(rng: random.Random, kind: str, capacity: int) -> dict[str, Any]:
    """One to three units of the given kind, the first of `capacity` servers at most."""
    count, watts = rng.randint(1, 3), round(rng.uniform(40, 80), 1)
    if kind == "unit":
        return {
            "k_min": 1,
            "marginal_throughput": [1.0] * count,
            "marginal_watts": [watts] * count,
            "marginal_gbps": None,
        }
    cents = [100, *sorted(rng.sample(range(20, 100, 5), count - 1), reverse=True)]
    if kind != "general":
        more = sorted(round(rng.choice([0.0, rng.uniform(0, 20)]), 1) for _ in range(count - 1))
        return {
            "k_min": 1,
            "marginal_throughput": [cent / 100 for cent in cents],
            "marginal_watts": [watts, *[round(watts + extra, 1) for extra in more]],
            "marginal_gbps": None,
        }
    k_min = rng.choice([1, rng.randint(1, min(3, capacity))])
    gains = [cent / 100 for cent in cents] if rng.random() < 0.7 else [1.0, *[0.8] * (count - 1)]
    return {
        "k_min": k_min,
        "marginal_throughput": gains,
        "marginal_watts": [round(k_min * watts, 1), *[round(rng.uniform(20, 90), 1) for _ in range(count - 1)]],
        "marginal_gbps": [round(rng.uniform(0, 10), 1) for _ in range(count)] if rng.random() < 0.6 else None,
    }

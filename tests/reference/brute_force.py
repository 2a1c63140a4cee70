"""Tiny mosp instances: a generator, and every schedule tried in turn.

Plain Python on the instance file's own dictionary, with slots counted from 0. Nothing here knows of a solver.
"""

import random
from collections.abc import Callable
from typing import Any

Schedule = dict[str, list]
Option = tuple[float, int, int]  # value in objective units, cluster, start slot
Value = Callable[[dict[str, Any], int, int, int], float]  # of (data, job, cluster, start slot), in objective units


def brute_force(
    data: dict[str, Any], normalizers: tuple[float, float, float] | None = None
) -> tuple[float | None, Schedule]:
    """Find the best objective and a schedule that has it; None and an empty schedule if there is none.

    Depth-first over the jobs, largest job and best placement first. A branch is cut only where the remaining jobs,
    each at its best placement as if alone, could not beat the best schedule so far.

    Parameters
    ----------
    data : dict
        A mosp instance as read from its file.
    normalizers : tuple of float, optional
        (Zbar1, Zbar2, Zbar3) of the caspian objective, Zbar1 in 1/(g/kWh W per unit); by default those in the
        instance. A zero drops its term.

    Returns
    -------
    objective : float or None
        Cost for kind "carbon" (smallest), gain for kind "caspian" (largest).
    schedule : dict
        Columns "job" and "cluster" (names) and "start" (slot).

    Raises
    ------
    ValueError
        If the objective is caspian's and no normalizers are known.
    """
    count = len(data["jobs"]["name"])
    sign = 1 if data["objective"]["kind"] == "carbon" else -1  # everything below minimises
    options = [sorted((sign * value, j, t) for value, j, t in _placements(data, i, normalizers)) for i in range(count)]
    fixed = _fixed(data)
    options = [[o for o in options[i] if o[1:] == fixed.get(i, o[1:])] for i in range(count)]
    price = _price_of_leaving_out(data)
    order = sorted(range(count), key=lambda i: -_unit_slots(data, i))

    at_best = [0.0] * (count + 1)  # cost of the jobs in order[depth:] if each had the clusters to itself
    for depth in reversed(range(count)):
        left_out = [] if price is None or order[depth] in fixed else [price]
        alone = [value for value, _, _ in options[order[depth]]] + left_out
        if not alone:
            return None, {"job": [], "cluster": [], "start": []}
        at_best[depth] = at_best[depth + 1] + min(alone)

    free = _capacity(data)
    limits = _start_limits(data)
    chosen: list[tuple[int, int, int]] = []
    best: tuple[float | None, list[tuple[int, int, int]]] = (None, [])

    def descend(depth: int, cost: float) -> None:
        nonlocal best
        if best[0] is not None and cost + at_best[depth] >= best[0]:
            return
        if depth == count:
            best = (cost, sorted(chosen))
            return
        i = order[depth]
        for value, j, t in options[i]:
            begun = sum(place == [j, t] for other, *place in chosen if other not in fixed)
            if (i in fixed or begun < limits[j]) and _fits(data, free, i, j, t):
                _take(data, free, i, j, t, +1)
                chosen.append((i, j, t))
                descend(depth + 1, cost + value)
                chosen.pop()
                _take(data, free, i, j, t, -1)
        if price is not None and i not in fixed:
            descend(depth + 1, cost + price)

    descend(0, 0.0)
    cost, rows = best
    schedule = {
        "job": [data["jobs"]["name"][i] for i, _, _ in rows],
        "cluster": [data["clusters"]["name"][j] for _, j, _ in rows],
        "start": [t for _, _, t in rows],
    }
    return (None if cost is None else sign * cost + 0.0), schedule


def _fixed(data: dict[str, Any]) -> dict[int, tuple[int, int]]:
    """Cluster and start of each job that runs already, by job."""
    runs, names, clusters = data.get("fixed"), data["jobs"]["name"], data["clusters"]["name"]
    if runs is None:
        return {}
    rows = zip(runs["job"], runs["cluster"], runs["start"], strict=True)
    return {names.index(job): (clusters.index(cluster), start) for job, cluster, start in rows}


def _price_of_leaving_out(data: dict[str, Any]) -> float | None:
    """Objective units for a job that never runs; None where every job must run."""
    return 0.0 if data["objective"]["kind"] == "caspian" else data["objective"]["rejection_price"]


def _start_limits(data: dict[str, Any]) -> list[float]:
    """Jobs that may start in one slot, by cluster."""
    limit = data["clusters"].get("max_starts_per_slot")
    if isinstance(limit, list):
        return limit
    return [float("inf") if limit is None else limit] * len(data["clusters"]["name"])


def _unit_slots(data: dict[str, Any], i: int) -> float:
    """Size of job i [units x slots], all resources together."""
    return data["jobs"]["duration"][i] * sum(units[i] for units in data["jobs"]["demand"].values())


def _capacity(data: dict[str, Any]) -> dict[str, list[list[float]]]:
    """Units by resource, cluster and slot."""
    slots = data["time"]["slots"]
    return {
        resource: [list(units) if isinstance(units, list) else [units] * slots for units in by_cluster]
        for resource, by_cluster in data["clusters"]["capacity"].items()
    }


def _placements(data: dict[str, Any], i: int, normalizers: tuple[float, float, float] | None) -> list[Option]:
    """Where and when job i may run by its arrival, eligibility and the horizon, with the objective it would add."""
    jobs, names = data["jobs"], data["clusters"]["name"]
    allowed = names if jobs["eligible"] is None else jobs["eligible"][i]
    last = data["time"]["slots"] - jobs["duration"][i]
    value = _cost if data["objective"]["kind"] == "carbon" else _gain(data, normalizers)
    return [
        (value(data, i, j, t), j, t)
        for j, name in enumerate(names)
        if name in allowed
        for t in range(jobs["arrival"][i], last + 1)
    ]


def _grams_per_kwh(data: dict[str, Any], j: int) -> list[float]:
    """Carbon intensity by slot in the zone of cluster j."""
    return dict(zip(data["carbon"]["zones"], data["carbon"]["g_per_kwh"], strict=True))[data["clusters"]["zone"][j]]


def _cost(data: dict[str, Any], i: int, j: int, t: int) -> float:
    """Weighted sum of carbon [kg], tardiness [slots] and completion [slots] of job i on cluster j from slot t."""
    jobs, weights = data["jobs"], data["objective"]["weights"]
    end = t + jobs["duration"][i]
    watts = sum(units[i] * data["clusters"]["watts_per_unit"][r][j] for r, units in jobs["demand"].items())
    kwh_per_slot = watts * data["time"]["slot_hours"] / 1000
    carbon_kg = kwh_per_slot * sum(_grams_per_kwh(data, j)[t:end]) / 1000
    tardiness = max(0.0, end - jobs["deadline"][i])
    cost = weights["carbon_kg"] * carbon_kg + weights["tardiness_slots"] * tardiness + weights["completion_slots"] * end
    if weights.get("energy_cost"):
        tariff = data["energy_price"]
        price = dict(zip(tariff["zones"], tariff["per_kwh"], strict=True))[data["clusters"]["zone"][j]]
        cost += weights["energy_cost"] * kwh_per_slot * sum(price[t:end])
    return cost


def _gain(data: dict[str, Any], normalizers: tuple[float, float, float] | None) -> Value:
    """Return the function (data, i, j, t) -> sum of omega_k z_k / Zbar_k for job i on cluster j from slot t."""
    if normalizers is None:
        given = data["objective"].get("normalizers")
        if given is None:
            raise ValueError("brute_force needs the normalizers of a caspian objective: pass them or set them")
        normalizers = (given["z1"], given["z2"], given["z3"])
    omega, units_of = data["objective"]["weights"], _capacity(data)
    factor = [omega[f"z{k}"] / zbar if zbar > 0 else 0.0 for k, zbar in enumerate(normalizers, start=1)]

    def gain(data: dict[str, Any], i: int, j: int, t: int) -> float:
        end = t + data["jobs"]["duration"][i]
        z1 = 0.0
        for r, demand in data["jobs"]["demand"].items():
            for slot in range(t, end):
                if demand[i] > 0 and units_of[r][j][slot] > 0:
                    grams, watts = _grams_per_kwh(data, j)[slot], data["clusters"]["watts_per_unit"][r][j]
                    z1 += demand[i] / (units_of[r][j][slot] * grams * watts)
        gamma = max(1.0, 1 + end - data["jobs"]["deadline"][i])
        return factor[0] * z1 + factor[1] / gamma + factor[2] / (1 + end)

    return gain


def _fits(data: dict[str, Any], free: dict[str, list[list[float]]], i: int, j: int, t: int) -> bool:
    """Whether cluster j has room for job i in each slot it would run."""
    slots = range(t, t + data["jobs"]["duration"][i])
    return all(units[i] <= free[r][j][slot] + 1e-9 for r, units in data["jobs"]["demand"].items() for slot in slots)


def _take(data: dict[str, Any], free: dict[str, list[list[float]]], i: int, j: int, t: int, times: int) -> None:
    """Take job i's units from cluster j from slot t on (times = 1), or give them back (-1)."""
    for r, units in data["jobs"]["demand"].items():
        for slot in range(t, t + data["jobs"]["duration"][i]):
            free[r][j][slot] -= times * units[i]


def random_instance(
    seed: int, objective_kind: str, *, jobs: int | None = None, clusters: int | None = None, slots: int | None = None
) -> dict[str, Any]:
    """Draw a tiny instance, tight on two resources; a seed gives the same jobs and clusters for both objectives.

    Parameters
    ----------
    seed : int
    objective_kind : {"carbon", "caspian"}
    jobs, clusters, slots : int, optional
        By default 3 to 6 jobs, 2 or 3 clusters and 5 to 8 slots.

    Returns
    -------
    dict
        The instance as its file would hold it. Under "carbon" some are infeasible and some have a rejection price;
        under "caspian" the normalizers are null.
    """
    rng = random.Random(seed)
    jobs = jobs or rng.randint(3, 6)
    clusters = clusters or rng.randint(2, 3)
    slots = slots or rng.randint(5, max(5, min(8, 12 - jobs)))  # fewer for more jobs, to stay quick by brute force
    names = [f"cluster{j}" for j in range(clusters)]
    zones = [f"zone{z}" for z in range(rng.randint(1, clusters))]
    duration = [rng.randint(1, min(4, slots - 1)) for _ in range(jobs)]
    arrival = [rng.randint(0, (slots - length) // 2) for length in duration]
    deadline = [
        round(start + length * rng.uniform(0.8, 2.5), 2) for start, length in zip(arrival, duration, strict=True)
    ]
    some = [sorted(rng.sample(names, rng.randint(1, clusters))) for _ in range(jobs)]
    return {
        "schema_version": 1,
        "problem": "mosp",
        "name": f"mosp-random-j{jobs}-t{slots}-{objective_kind}-s{seed}",
        "provenance": {"source": "random tiny instance", "seed": seed},
        "time": {"slots": slots, "slot_hours": rng.choice([0.5, 1.0]), "start": "2023-11-14T00:00:00Z"},
        "carbon": {
            "zones": zones,
            "g_per_kwh": [[round(rng.uniform(20, 600), 1) for _ in range(slots)] for _ in zones],
        },
        "clusters": {
            "name": names,
            "zone": [rng.choice(zones) for _ in names],
            "capacity": {
                "gpu": [_random_capacity(rng, 3, 6, slots) for _ in names],
                "cpu": [_random_capacity(rng, 8, 16, slots) for _ in names],
            },
            "watts_per_unit": {
                "gpu": [rng.choice([100.0, 200.0, 300.0]) for _ in names],
                "cpu": [rng.choice([5.0, 10.0]) for _ in names],
            },
        },
        "jobs": {
            "name": [f"job{i}" for i in range(jobs)],
            "arrival": arrival,
            "duration": duration,
            "deadline": deadline,
            "demand": {
                "gpu": [rng.randint(0, 4) for _ in range(jobs)],
                "cpu": [rng.randint(1, 16) / 2 for _ in range(jobs)],
            },
            "eligible": some if rng.random() < 0.4 else None,
        },
        "objective": _random_objective(rng, objective_kind),
    }


def _random_capacity(rng: random.Random, low: int, high: int, slots: int) -> int | list[int]:
    """Units in every slot, or a list by slot, one time in six with a slot that is shut."""
    if rng.random() < 0.5:
        return rng.randint(low, high)
    units = [rng.randint(low, high) for _ in range(slots)]
    if rng.random() < 0.33:
        units[rng.randrange(slots)] = 0
    return units


def _random_objective(rng: random.Random, kind: str) -> dict[str, Any]:
    """Weights of the objective, and by kind a rejection price (half the time) or null normalizers."""
    if kind == "carbon":
        weights = {
            "carbon_kg": 1.0,
            "tardiness_slots": rng.choice([0.0, 0.1, 0.3]),
            "completion_slots": rng.choice([0.0, 0.005, 0.05]),
        }
        return {
            "kind": kind,
            "weights": weights,
            "rejection_price": rng.choice([None, round(rng.uniform(0.1, 1.5), 2)]),
        }
    weights = {"z1": rng.choice([0.25, 0.5, 1.0, 2.0]), "z2": 1.0, "z3": rng.choice([0.0, 0.5, 1.0])}
    return {"kind": kind, "weights": weights, "normalizers": None}

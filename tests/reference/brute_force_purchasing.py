"""Tiny purchasing instances in whole slots: a generator, and every schedule of whole slots tried in turn.

Plain Python on the instance file's own dictionary. Nothing here knows of a solver or of start times that are no slots:
where data are whole slots (and, for `suspend-resume`, all jobs have as many CPUs, of which the reserved ones are a
multiple) no start between can be better, unless limits couple the jobs. The exception are runs on spot CPUs that may
be evicted: their best start is searched finely.
"""

import random
from itertools import combinations, product
from math import exp, expm1
from typing import Any

KINDS = ("splitting", "no-split", "suspend-resume", "spot", "spot-no-split", "spot-suspend", "decided",
         "decided-no-split", "decided-suspend", "limits")  # fmt: skip
"""Of random instances."""

Plan = tuple[float, float, float, tuple[int, ...], str, list[float]]
"""Carbon [kg], use [$] and wait [h] of one job, the slots that it runs in, its option, and its starts."""


def brute_force(data: dict[str, Any]) -> tuple[float | None, dict[str, list], int | None]:
    """Find the least objective, a schedule that has it, and its reserved CPUs; None if limits leave no schedule.

    Every plan of every job is combined with every plan of the others, and where they are to be decided with every
    number of reserved CPUs that could be of use.
    """
    best: tuple[float, tuple[Plan, ...], int] | None = None
    for plans in product(*(_plans(data, j) for j in range(len(data["jobs"]["name"])))):
        for reserved in _numbers(data):
            value = _value(data, plans, reserved)
            if value is not None and (best is None or value < best[0] - 1e-12):
                best = (value, plans, reserved)
    if best is None:
        return None, {"job": [], "start_hours": [], "end_hours": [], "option": []}, None
    return best[0], _schedule(data, best[1]), best[2]


def _numbers(data: dict[str, Any]) -> list[int]:
    reserved = data["reserved_cpus"]
    return [reserved] if reserved is not None else list(range(sum(data["jobs"]["cpus"]) + 1))


def _kg(data: dict[str, Any], j: int, one: float, two: float) -> float:
    """Carbon of job j from one moment to another."""
    grams, hours = _grams(data), data["time"]["slot_hours"]
    total = 0.0
    for t, intensity in enumerate(grams):
        total += intensity * max(0.0, min(two, (t + 1) * hours) - max(one, t * hours))
    return data["jobs"]["cpus"][j] * data["watts_per_cpu"] / 1e6 * total


def _grams(data: dict[str, Any]) -> list[float]:
    zones = data["carbon"]["zones"]
    return data["carbon"]["g_per_kwh"][zones.index(data["zone"]) if data.get("zone") else 0]


def _wait_limit(data: dict[str, Any], j: int) -> float:
    length = data["jobs"]["length_hours"][j]
    for queue in sorted(data["queues"].values(), key=lambda q: q["max_length_hours"] or float("inf")):
        if length <= (queue["max_length_hours"] or float("inf")):
            return queue["max_wait_hours"]
    raise AssertionError


def _plans(data: dict[str, Any], j: int) -> list[Plan]:
    """Everything that job j may do."""
    step, jobs = data["time"]["slot_hours"], data["jobs"]
    arrival, length, cpus = (jobs[key][j] for key in ("arrival_hours", "length_hours", "cpus"))
    first, slots = round(arrival / step), round(length / step)
    last = round((arrival + _wait_limit(data, j)) / step)
    price = data["prices"]["on_demand_usd_per_cpu_hour"]
    runs = [tuple(range(s, s + slots)) for s in range(first, last + 1)]
    if data["model"] == "suspend-resume":
        runs = list(combinations(range(first, last + slots), slots))
    plans = []
    for run in runs:
        kg = sum(_kg(data, j, t * step, (t + 1) * step) for t in run)
        wait = (run[-1] + 1) * step - arrival - length
        if data["model"] == "no-split":
            plans.append((kg, 0.0, wait, run, "reserved", [t * step for t in run]))
            plans.append((kg, price * cpus * length, wait, run, "on-demand", [t * step for t in run]))
        else:
            plans.append((kg, 0.0, wait, run, "shared", [t * step for t in run]))
    return plans + _spot_plans(data, j)


def _spot_plans(data: dict[str, Any], j: int) -> list[Plan]:
    spot, jobs, prices = data["spot"], data["jobs"], data["prices"]
    length, cpus, arrival = jobs["length_hours"][j], jobs["cpus"][j], jobs["arrival_hours"][j]
    if spot is None or length > spot["max_length_hours"]:
        return []
    hazard, price = spot["evictions_per_hour"], prices["on_demand_usd_per_cpu_hour"]
    chance = -expm1(-hazard * length)
    run = chance / hazard if hazard else length
    lost = run - length * exp(-hazard * length)
    usd = cpus * price * (prices["spot_fraction"] * run + length * chance)
    weights = data["objective"]["weights"]

    def cost(start: float) -> float:
        return weights["carbon_kg"] * _spot_kg(data, j, start) + weights["wait_hours"] * start

    step = data["time"]["slot_hours"]
    starts = [arrival + i * step for i in range(round(_wait_limit(data, j) / step) + 1)]
    if hazard and len(starts) > 1:
        fine = [one + i * step / 50 for one in starts[:-1] for i in range(51)]
        near = min(fine, key=cost)
        starts = [_least_near(cost, max(starts[0], near - step / 50), min(starts[-1], near + step / 50)), near]
    return [(_spot_kg(data, j, s), usd, s - arrival + lost, (), "spot", [s]) for s in starts]


def _least_near(cost: Any, one: float, two: float) -> float:
    for _ in range(100):
        left, right = one + (two - one) / 3, two - (two - one) / 3
        one, two = (one, right) if cost(left) < cost(right) else (left, two)
    return (one + two) / 2


def _spot_kg(data: dict[str, Any], j: int, start: float) -> float:
    """Expected carbon: the run itself, and what an eviction adds after the end that it would have had."""
    length, hazard, hours = (
        data["jobs"]["length_hours"][j],
        data["spot"]["evictions_per_hour"],
        data["time"]["slot_hours"],
    )
    kg, end = _kg(data, j, start, start + length), start + length
    rate = data["jobs"]["cpus"][j] * data["watts_per_cpu"] / 1e6
    for t, intensity in enumerate(_grams(data) if hazard else []):
        one, two = (min(max(edge * hours - end, 0.0), length) for edge in (t, t + 1))
        kg += (
            rate
            * intensity
            * ((exp(-hazard * one) - exp(-hazard * two)) / hazard - exp(-hazard * length) * (two - one))
        )
    return kg


def _value(data: dict[str, Any], plans: tuple[Plan, ...], reserved: int) -> float | None:
    """Objective of one plan a job with so many reserved CPUs; None if that is not allowed."""
    step, prices, objective = data["time"]["slot_hours"], data["prices"], data["objective"]
    firm, shared = [0.0] * data["time"]["slots"], [0.0] * data["time"]["slots"]
    for j, (_, _, _, run, option, _) in enumerate(plans):
        for t in run:
            if option in ("reserved", "shared"):
                (firm if option == "reserved" else shared)[t] += data["jobs"]["cpus"][j]
    if any(load > reserved for load in firm):
        return None
    price = prices["on_demand_usd_per_cpu_hour"]
    over = sum(max(0.0, one + two - reserved) for one, two in zip(firm, shared, strict=True)) * step
    carbon, use, wait = (sum(plan[part] for plan in plans) for part in range(3))
    use += price * over
    prepaid = reserved * prices["reserved_fraction"] * price * data["time"]["slots"] * step
    sums = {"carbon_kg": carbon, "cost_usd": use + prepaid, "mean_wait_hours": wait / max(1, len(plans))}
    if any(sums[key] > limit + 1e-9 for key, limit in objective["limits"].items() if limit is not None):
        return None
    weights, decided = objective["weights"], prepaid if data["reserved_cpus"] is None else 0.0
    return weights["carbon_kg"] * carbon + weights["cost_usd"] * (use + decided) + weights["wait_hours"] * wait


def _schedule(data: dict[str, Any], plans: tuple[Plan, ...]) -> dict[str, list]:
    step, rows = data["time"]["slot_hours"], []
    for j, (_, _, _, run, option, starts) in enumerate(plans):
        name, length = data["jobs"]["name"][j], data["jobs"]["length_hours"][j]
        if option == "spot":
            rows.append((name, starts[0], starts[0] + length, option))
            continue
        pieces: list[list[int]] = []
        for t in run:
            if pieces and pieces[-1][1] == t:
                pieces[-1][1] = t + 1
            else:
                pieces.append([t, t + 1])
        rows += [(name, one * step, two * step, option) for one, two in pieces]
    return {key: [row[i] for row in rows] for i, key in enumerate(("job", "start_hours", "end_hours", "option"))}


def random_instance(seed: int, kind: str, *, jobs: int | None = None, slots: int = 14) -> dict[str, Any]:
    """Draw a tiny instance in whole slots.

    Parameters
    ----------
    seed : int
    kind : one of `KINDS`
        limits: jobs do not wait, and a limit on carbon or cost chooses their options, or leaves none.
    jobs, slots : int, optional
        By default 2 or 3 jobs.

    Returns
    -------
    dict
        The instance as its file would hold it.
    """
    rng = random.Random(f"{kind}-{seed}")
    count = jobs or rng.randint(2, 3)
    model = "no-split" if kind == "limits" else next((m for m in ("no-split", "suspend") if m in kind), "splitting")
    model = {"suspend": "suspend-resume"}.get(model, model)
    step = rng.choice([0.5, 1.0])
    each = (1 if "decided" in kind else rng.choice([1, 2])) if model == "suspend-resume" else 0
    cpus = [each or rng.randint(1, 4) for _ in range(count)]
    reserved = (each or 1) * rng.randint(0, 2 if each else 5)
    waits = (0, 0) if kind == "limits" else (rng.randint(1, 2) * step, rng.randint(1, 3) * step)
    data = {
        "schema_version": 1,
        "problem": "purchasing",
        "name": f"purchasing-random-j{count}-t{slots}-{kind}-s{seed}",
        "provenance": {"source": "random tiny instance", "seed": seed},
        "time": {"slots": slots, "slot_hours": step, "start": "2022-01-01T00:00:00Z"},
        "carbon": {"zones": ["A"], "g_per_kwh": [[round(rng.uniform(20, 600), 1) for _ in range(slots)]]},
        "zone": "A",
        "prices": {
            "on_demand_usd_per_cpu_hour": rng.choice([0.0624, 0.2, 1.0]),
            "reserved_fraction": 0.1 if "decided" in kind else 0.4,
            "spot_fraction": rng.choice([0.2, 0.5]),
        },
        "reserved_cpus": None if "decided" in kind else reserved,
        "watts_per_cpu": rng.choice([100, 1000]),
        "spot": None,
        "queues": {
            "short": {"max_length_hours": step, "max_wait_hours": waits[0]},
            "long": {"max_length_hours": None, "max_wait_hours": waits[1]},
        },
        "jobs": {
            "name": [f"job{i}" for i in range(count)],
            "arrival_hours": [rng.randint(0, 4) * step for _ in range(count)],
            "length_hours": [rng.randint(1, 3) * step for _ in range(count)],
            "cpus": cpus,
        },
        "objective": {
            "weights": {"carbon_kg": 1, "cost_usd": rng.choice([0.5, 1, 2]), "wait_hours": rng.choice([0, 0.01, 0.1])},
            "limits": {"carbon_kg": None, "cost_usd": None, "mean_wait_hours": None},
        },
        "model": model,
    }
    if "spot" in kind or kind == "limits":
        data["spot"] = {"max_length_hours": 2 * step, "evictions_per_hour": rng.choice([0, 0.1, 0.5, 2.0])}
    if kind == "limits":
        data["objective"]["weights"] = {"carbon_kg": 0, "cost_usd": 0, "wait_hours": 0} | {
            rng.choice(["carbon_kg", "cost_usd"]): 1
        }
        limited = "cost_usd" if data["objective"]["weights"]["carbon_kg"] else "carbon_kg"
        data["objective"]["limits"][limited] = _some_limit(data, limited, rng)
    return data


def _some_limit(data: dict[str, Any], limited: str, rng: random.Random) -> float:
    """A limit between the least and the most that jobs alone may take, or a little less than the least."""
    part = {"carbon_kg": 0, "cost_usd": 1}[limited]
    amounts = [[plan[part] for plan in _plans(data, j)] for j in range(len(data["jobs"]["name"]))]
    least, most = sum(map(min, amounts)), sum(map(max, amounts))
    prices, hours = data["prices"], data["time"]["slots"] * data["time"]["slot_hours"]
    paid = data["reserved_cpus"] * prices["reserved_fraction"] * prices["on_demand_usd_per_cpu_hour"] * hours
    share = rng.choice([-0.05, 0.1, 0.3, 0.5, 0.8])
    return max(0.0, round(least + share * (most - least) + (paid if limited == "cost_usd" else 0.0), 6))

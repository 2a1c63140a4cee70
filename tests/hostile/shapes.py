"""Shapes of instances that the random ones of `tests/reference` do not have, with optima by trying every schedule."""

from __future__ import annotations

import itertools
import random
from typing import Any

import carbonopt as co
from hostile.small import instance_of


def priced(rng: random.Random, raw: dict[str, Any]) -> None:
    """Give mosp prices of energy, a third of them negative, or all equal, or of any size."""
    zones = [*raw["carbon"]["zones"][::-1], "elsewhere"]
    scale = rng.choice([1.0, 1.0, 0.0, 1e-9, 1e6])
    rows = [[scale * round(rng.uniform(-0.4, 0.8), 3) for _ in range(raw["time"]["slots"])] for _ in zones]
    raw["energy_price"] = {"zones": zones, "per_kwh": rows, "currency": "EUR"}
    raw["objective"]["weights"]["energy_cost"] = rng.choice([0.0, 0.3, 1.0, 5.0, 1e6])


def few_starts(rng: random.Random, raw: dict[str, Any]) -> None:
    """Let few jobs begin in a slot, or none on one cluster."""
    clusters = len(raw["clusters"]["name"])
    raw["clusters"]["max_starts_per_slot"] = rng.choice([1, 2, [rng.randrange(1, 3) for _ in range(clusters)]])


def running(rng: random.Random, raw: dict[str, Any]) -> None:
    """Let one job run already, wherever it may."""
    jobs, clusters = raw["jobs"], raw["clusters"]["name"]
    if jobs["name"]:
        job = rng.randrange(len(jobs["name"]))
        last = max(jobs["arrival"][job], raw["time"]["slots"] - jobs["duration"][job])
        cluster = rng.choice(clusters if jobs["eligible"] is None else jobs["eligible"][job])
        start = rng.randint(jobs["arrival"][job], last)
        raw["fixed"] = {"job": [jobs["name"][job]], "cluster": [cluster], "start": [start]}


def limited(rng: random.Random, raw: dict[str, Any]) -> None:
    """Limit carbon, tardiness or the cost of energy of mosp to that of one of its schedules, or a little less."""
    costs = [report.metrics for _, report in schedules({**raw, "name": "free"})]
    names = ["carbon_kg", "tardiness_slots"] + ["energy_cost"] * ("energy_price" in raw)
    name = rng.choice(names)
    if costs:
        value = rng.choice(costs)[name]
        raw["objective"]["limits"] = {name: max(0.0, value * rng.choice([1.0, 1.0, 0.999, 1.2]))}


def unlike_resources(rng: random.Random, raw: dict[str, Any]) -> None:
    """Add memory in units that are a billion times as large, or as small."""
    unit = rng.choice([1e-6, 1.0, 1e9])
    jobs, clusters = raw["jobs"]["name"], raw["clusters"]["name"]
    raw["clusters"]["capacity"]["memory_gb"] = [unit * rng.choice([2, 3, 8]) for _ in clusters]
    raw["clusters"]["watts_per_unit"]["memory_gb"] = [0.0 for _ in clusters]
    raw["jobs"]["demand"]["memory_gb"] = [unit * rng.choice([0, 1, 2]) for _ in jobs]


def heavy(rng: random.Random, raw: dict[str, Any]) -> None:
    """Let one job be as a supercomputer's largest: all of a cluster, for as long as the horizon allows."""
    jobs = raw["jobs"]
    if jobs["name"]:
        jobs["duration"][0] = raw["time"]["slots"] - jobs["arrival"][0]
        for resource, demand in jobs["demand"].items():
            units = raw["clusters"]["capacity"][resource][0]
            demand[0] = min(units) if isinstance(units, list) else units
        jobs["demand"] = {name: [max(0, value) for value in column] for name, column in jobs["demand"].items()}


MOSP_SHAPES = (priced, priced, few_starts, running, unlike_resources, heavy)


def schedules(raw: dict[str, Any]) -> list[tuple[dict[str, Any], Any]]:
    """Return every schedule of a mosp instance of few jobs that the checker accepts, with its report."""
    try:
        instance: Any = instance_of(raw)
    except co.InputError:
        return []
    names, clusters, slots = raw["jobs"]["name"], raw["clusters"]["name"], range(raw["time"]["slots"])
    places = [None, *itertools.product(clusters, slots)]
    found = []
    for chosen in itertools.product(places, repeat=len(names)):
        rows = [(name, *place) for name, place in zip(names, chosen, strict=True) if place is not None]
        columns: dict[str, Any] = dict(
            zip(("job", "cluster", "start"), map(list, zip(*rows, strict=True)), strict=False)
        )
        columns = columns or {"job": [], "cluster": [], "start": []}
        report = co.check(instance, columns)
        if not report.violations:
            found.append((columns, report))
    return found


def best_of_all(raw: dict[str, Any]) -> float | None:
    """Return the best objective of every schedule of a mosp instance."""
    values = [report.objective for _, report in schedules(raw)]
    better = min if raw["objective"]["kind"] == "carbon" else max
    return better(values) if values else None

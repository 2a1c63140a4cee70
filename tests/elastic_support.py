"""Elastic instances by hand and at random, as files hold them, and the exhaustive solver of tiny ones."""

from __future__ import annotations

from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import load_module
from instance_support import REMOVED, Place, Raw, tamper

from carbonopt.core.errors import InputError
from carbonopt.problems.elastic.data.file import from_dict
from carbonopt.problems.elastic.data.instance import ElasticInstance

reference = load_module(Path(__file__).parent / "reference/brute_force_elastic.py")

Job = tuple[int, float, int, list[float]]
"""Arrival, length, slack, and the gain of each unit."""

RAW: Raw = {
    "schema_version": 1,
    "problem": "elastic",
    "name": "two",
    "provenance": {},
    "time": {"slots": 4, "slot_hours": 1.0, "start": "2022-01-01T00:00:00Z"},
    "carbon": {"zones": ["A", "B"], "g_per_kwh": [[400, 100, 300, 200], [5, 6, 7, 8]]},
    "cluster": {"capacity": [3, 3, 3, 3], "zone": "A", "network_watts_per_gbps": 0.5},
    "profiles": {
        "nbody": {
            "k_min": 1,
            "marginal_throughput": [1, 0.9, 0.5],
            "marginal_watts": [100, 110, 120],
            "marginal_gbps": [0, 1, 2],
        },
        "resnet": {"k_min": 2, "marginal_throughput": [1], "marginal_watts": [250], "marginal_gbps": None},
    },
    "jobs": {
        "name": ["x", "y"],
        "arrival": [0, 1],
        "length": [1.5, 2],
        "slack": [2, 1],
        "profile": ["nbody", "resnet"],
    },
    "objective": {"switching_g_per_server": 0},
    "model": "integer",
}
FLUID_KINDS = ("unit", "decreasing", "general", "tight", "free", "scaled")


def change(changes: dict[Place, Any]) -> Raw:
    """Return the instance with other values at some paths."""
    return tamper(RAW, changes)


def lines(raw: Raw) -> list[str]:
    """Return the faults of a content, one line each."""
    with pytest.raises(InputError) as caught:
        from_dict(raw)
    return [str(fault) for fault in caught.value.faults]


def changed(instance: ElasticInstance, changes: dict[Place, Any]) -> ElasticInstance:
    """Return an instance with other values at some paths of its file."""
    return from_dict(tamper(instance.to_dict(), changes))


def raw_by_hand(capacity: Any, carbon: list[float], *jobs: Job, **fields: Any) -> Raw:
    """Return jobs a, b, .. whose servers take 1000 W each, in slots of one hour: a server-slot costs CI_t g."""
    names = [chr(ord("a") + i) for i in range(len(jobs))]
    profiles = {
        name: {"k_min": 1, "marginal_throughput": job[3], "marginal_watts": [1000.0] * len(job[3])}
        for name, job in zip(names, jobs, strict=True)
    }
    return {
        "schema_version": 1,
        "problem": "elastic",
        "name": "by-hand",
        "time": {"slots": len(carbon), "slot_hours": 1.0, "start": "2022-01-01T00:00:00Z"},
        "carbon": {"zones": ["Z"], "g_per_kwh": [carbon]},
        "cluster": {"capacity": capacity, "zone": "Z"},
        "profiles": profiles or {"a": {"marginal_throughput": [1.0], "marginal_watts": [1000.0]}},
        "jobs": {
            "name": names,
            "arrival": [job[0] for job in jobs],
            "length": [job[1] for job in jobs],
            "slack": [job[2] for job in jobs],
            "profile": names,
        },
        "model": "integer",
    } | fields


def by_hand(capacity: Any, carbon: list[float], *jobs: Job, **fields: Any) -> ElasticInstance:
    """Return the instance of `raw_by_hand`."""
    return from_dict(raw_by_hand(capacity, carbon, *jobs, **fields))


def random_raw(seed: int, kind: str, jobs: int = 8, slots: int = 10, **fields: Any) -> Raw:
    """Return a random instance of model ``fluid`` unless `fields` say otherwise.

    Kinds: ``unit`` (equal gains and energies, whole lengths), ``decreasing`` (k_min = 1, gains fall),
    ``general`` (blocks of k_min servers, rigid jobs, energies in any order, network, capacity by slot
    with slots of none), ``tight`` (what fills every slot exactly), ``free`` (some or all carbon and
    energy is 0), ``scaled`` (intensities and lengths over many orders of magnitude).
    """
    rng = np.random.default_rng([seed, FLUID_KINDS.index(kind)])
    if kind == "tight":
        return _full(rng, jobs, slots) | fields
    like = str(rng.choice(["decreasing", "general"])) if kind in ("free", "scaled") else kind
    capacity = int(rng.integers(1, 3 + jobs // 2))
    profiles = {f"p{k}": _profile(rng, like, capacity) for k in range(int(rng.integers(1, 4)))}
    used = [f"p{k}" for k in rng.integers(0, len(profiles), jobs)]
    arrival, length, slack = [], [], []
    for name in used:
        start = int(rng.integers(0, max(1, slots // 2)))
        span = slots - start
        load = 0.6 if like == "general" else 1.2  # some of either kind have no schedule
        most = min(span, load * capacity * slots / jobs / profiles[name]["k_min"] + 0.4)
        wanted = float(rng.integers(1, max(1, int(most)) + 1)) if like == "unit" else float(rng.uniform(0.2, most))
        if kind == "scaled" and rng.random() < 0.5:
            wanted = float(10 ** rng.uniform(-2, np.log10(span)))
        arrival.append(start)
        length.append(wanted)
        slack.append(int(rng.integers(0, span - ceil(wanted) + 1)) if rng.random() < 0.8 else 0)
    carbon = np.round(rng.uniform(20, 600, slots), 1)
    if kind == "scaled":
        carbon = 10 ** rng.uniform(-6, 6, slots)
    if kind == "free":
        carbon[rng.random(slots) < rng.choice([0.3, 1.0])] = 0
        for profile in profiles.values():
            if rng.random() < 0.4:
                profile["marginal_watts"] = [0.0] * len(profile["marginal_watts"])
    by_slot = like == "general" and rng.random() < 0.6
    capacities = (rng.integers(capacity - 1, capacity + 3, slots) * (rng.random(slots) < 0.9)).tolist()
    return {
        "schema_version": 1,
        "problem": "elastic",
        "name": f"random-{kind}-{seed}",
        "time": {"slots": slots, "slot_hours": float(rng.choice([0.5, 1.0])), "start": "2022-01-01T00:00:00Z"},
        "carbon": {"zones": ["Z"], "g_per_kwh": [carbon.tolist()]},
        "cluster": {
            "capacity": capacities if by_slot else capacity,
            "zone": "Z",
            "network_watts_per_gbps": float(rng.choice([0.0, 1.5])) if like == "general" else 0.0,
        },
        "profiles": profiles,
        "jobs": {
            "name": [f"j{i}" for i in range(jobs)],
            "arrival": arrival,
            "length": length,
            "slack": slack,
            "profile": used,
        },
        "model": "fluid",
    } | fields


def _profile(rng: np.random.Generator, like: str, capacity: int) -> Raw:
    units, watts = int(rng.integers(1, 5)), float(rng.uniform(40, 80))
    if like == "unit":
        return {"k_min": 1, "marginal_throughput": [1.0] * units, "marginal_watts": [60.0] * units}
    gain = [1.0, *np.sort(rng.uniform(0.1, 1, units - 1))[::-1].tolist()]
    if like == "decreasing":
        more = np.sort(rng.uniform(0, 30, units - 1)) * rng.integers(0, 2)
        return {"k_min": 1, "marginal_throughput": gain, "marginal_watts": [watts, *(watts + more).tolist()]}
    k_min = int(rng.integers(1, max(2, min(4, capacity + 1))))
    return {
        "k_min": k_min,
        "marginal_throughput": gain,
        "marginal_watts": [k_min * watts, *rng.uniform(10, 120, units - 1).tolist()],
        "marginal_gbps": rng.uniform(0, 10, units).tolist() if rng.random() < 0.5 else None,
    }


def _full(rng: np.random.Generator, jobs: int, slots: int) -> Raw:
    """Return rigid jobs that fill a cluster: each slot is dealt out among some jobs, their lengths add up."""
    capacity = int(rng.integers(1, max(2, jobs // 2)))
    share = np.zeros((jobs, slots))
    for t in range(slots):
        chosen = rng.permutation(jobs)[: capacity + int(rng.integers(0, jobs - capacity + 1))]
        share[chosen, t] = capacity / len(chosen)
    share = share[share.sum(axis=1) > 0]
    busy = share > 0
    first, last = busy.argmax(axis=1), slots - busy[:, ::-1].argmax(axis=1)
    length = share.sum(axis=1)
    slack = last - first - np.ceil(length - 1e-9).astype(int)
    rows = [(int(a), float(work), int(d), [1.0]) for a, work, d in zip(first, length, slack, strict=True)]
    carbon = np.round(rng.uniform(20, 600, slots), 1).tolist()
    raw = raw_by_hand(capacity, carbon, *rows, model="fluid")
    names = [f"j{i}" for i in range(len(rows))]
    raw["profiles"] = {"p": {"marginal_throughput": [1.0], "marginal_watts": [1000.0]}}
    raw["jobs"] |= {"name": names, "profile": ["p"] * len(rows)}
    return raw


def random_instance(seed: int, kind: str, jobs: int = 8, slots: int = 10, **fields: Any) -> ElasticInstance:
    """Return the instance of `random_raw`."""
    return from_dict(random_raw(seed, kind, jobs, slots, **fields))


__all__ = [
    "FLUID_KINDS",
    "RAW",
    "REMOVED",
    "by_hand",
    "change",
    "changed",
    "lines",
    "random_instance",
    "random_raw",
    "raw_by_hand",
    "reference",
]

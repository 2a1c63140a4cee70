"""Any prices prove a bound on ML clusters, and the checker rounds it to the safe side."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, load_module
from loop_support import for_each

from carbonopt.problems.mlcluster.data.file import from_dict
from carbonopt.problems.mlcluster.data.instance import MlClusterInstance
from carbonopt.problems.mlcluster.verify.certificate import proven_bound

reference = load_module(ROOT / "tests/reference/brute_force_mlcluster.py")


def random_instance(seed: int) -> MlClusterInstance:
    """Return an instance with three scales, odd times, a weight of completion times and often a budget."""
    rng = np.random.default_rng(seed)
    raw = reference.random_instance(seed, "scaling")
    raw["profiles"]["p"] |= {
        "throughput": [1.0, *np.sort(rng.uniform(1.2, 2.5, 2))],
        "watts": np.sort(rng.uniform(120, 900, 3)).tolist(),
    }
    raw["jobs"]["arrival_minutes"] = rng.uniform(0, 70, 3).tolist()
    raw["jobs"]["work_gpu_minutes"] = rng.uniform(30, 90, 3).tolist()
    raw["jobs"]["max_gpus"] = [1, 2, 3]
    raw["cluster"]["gpus"] = 3
    raw["time"]["slot_hours"] = 1.0 + seed % 3 / 7
    raw["objective"]["weights"] = {"carbon_kg": rng.uniform(0, 2), "jct_hours": rng.uniform(0, 0.1) * (seed % 2)}
    raw["objective"]["limits"]["mean_jct_hours"] = rng.uniform(2, 3) if seed % 4 else None
    return from_dict(raw)


def certificate_of(instance: MlClusterInstance, seed: int) -> dict[str, Any]:
    """Return prices of which some are 0 and some so large that the rounding of one term is larger than all others."""
    rng = np.random.default_rng(seed)
    cells = 1 + seed % 3
    of_cells, of_work, of_budget = rng.choice([0.0, 1.0, 1e6], 3)
    return {
        "kind": "lagrangian",
        "cells": cells,
        "prices": (of_cells * rng.uniform(0, 3e-3, cells * instance.time.slots)).tolist(),
        "work_prices": (of_work * rng.uniform(0, 4e-3, len(instance.jobs))).tolist(),
        "budget_price": 0.0 if instance.limits.mean_jct_hours is None else of_budget * rng.uniform(0, 0.05),
    }


def exact_bound(instance: MlClusterInstance, certificate: dict[str, Any]) -> Fraction:
    """The formula at the head of the certificate's module in exact arithmetic, cell by cell."""
    jobs = instance.jobs
    cells = certificate["cells"]
    minutes = Fraction(instance.time.slot_hours) * 60 / cells
    nu = Fraction(certificate["budget_price"])
    weight = (Fraction(instance.weights.jct_hours) + nu) / 60
    total = -sum(map(Fraction, certificate["prices"])) * instance.cluster.gpus * minutes
    if instance.limits.mean_jct_hours is not None:
        total -= nu * len(jobs) * Fraction(instance.limits.mean_jct_hours)
    for j, mu in enumerate(map(Fraction, certificate["work_prices"])):
        profile = instance.profiles[instance.profile_of_job[j]]
        scales = range(int(jobs.min_gpus[j]), int(instance.most_gpus[j]) + 1)
        speed = {n: Fraction(float(profile.throughput[n - 1])) for n in scales}
        work = Fraction(float(jobs.required[j]))
        arrival = Fraction(float(jobs.arrival_minutes[j]))
        total += mu * work + weight * (work / max(speed.values()) / 2 - arrival)
        for t, price in enumerate(map(Fraction, certificate["prices"])):
            begin = max(arrival, t * minutes)
            length = (t + 1) * minutes - begin
            kg = Fraction(float(instance.intensity[t // cells])) / 60_000_000  # a W for a minute
            gain = Fraction(0)
            for n in scales:
                added = max(
                    0, Fraction(float(profile.watts[n - 1])) - n * Fraction(instance.cluster.idle_watts_per_gpu)
                )
                cost = Fraction(instance.weights.carbon_kg) * kg * added + price * n
                gain = max(gain, mu * speed[n] - cost - weight * speed[n] * begin / work)
            total -= max(0, length) * gain
    return total


@for_each(seed=range(150))
def test_any_prices_are_a_safe_bound(seed: int) -> None:
    instance = random_instance(seed)
    certificate = certificate_of(instance, seed)
    bound, assumes = proven_bound(instance, certificate, {})
    exact = exact_bound(instance, certificate)
    assert assumes == ()
    assert bound is not None
    assert Fraction(bound) <= exact
    size = 1.0 + np.sum(certificate["prices"]) + np.sum(certificate["work_prices"]) + certificate["budget_price"]
    assert bound == pytest.approx(float(exact), abs=1e-11 * size)

"""Any prices prove a bound below the optimum, and the checker computes it to the safe side."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, load_module
from loop_support import for_each

from carbonopt.core.errors import InputError
from carbonopt.problems.ecas.data.file import from_dict
from carbonopt.problems.ecas.verify.certificate import proven_bound

reference = load_module(ROOT / "tests/reference/brute_force_ecas.py")


NEVER = Fraction(10**12)
"""Cost of a machine in a slot in which it is not available: more than all others together."""


def exact_bound(raw: dict[str, Any], prices: Any) -> Fraction:
    """Return the bound at prices of each machine in exact arithmetic, from the formula alone."""
    jobs, machines, slots = raw["jobs"], raw["machines"], range(raw["time"]["slots"])
    hours, weights = Fraction(raw["time"]["slot_hours"]), raw["objective"]["weights"]
    worth = [Fraction(weights["cost"]) * Fraction(price) for price in raw["price_per_kwh"]]
    for grams in raw["carbon"]["g_per_kwh"]:
        worth = [a + Fraction(weights["carbon_kg"]) * g / 1000 for a, g in zip(worth, grams, strict=True)]
    lam = [[[Fraction(float(p)) for p in row] for row in machine] for machine in prices]
    total = Fraction(0)
    fixed = jobs.get("machine") or [None] * len(jobs["name"])
    available = machines.get("available") or [[1] * len(slots)] * len(machines["name"])
    for j in range(len(jobs["name"])):
        costs = []
        for m in range(len(machines["name"])):
            if fixed[j] not in (None, machines["name"][m]):
                continue
            if any(use[j] > machines["capacity"][r][m] for r, use in jobs["use"].items()):
                continue
            for s in range(jobs["arrival"][j], jobs["deadline"][j] - jobs["duration"][j] + 1):
                run = range(s, s + jobs["duration"][j])
                units = sum(lam[m][k][t] * use[j] for k, use in enumerate(jobs["use"].values()) for t in run)
                costs.append(Fraction(jobs["power_kw"][j]) * hours * sum(worth[t] for t in run) + units)
        total += min(costs)
    for m in range(len(machines["name"])):
        gain = [
            Fraction(machines["idle_kw"][m]) * hours * worth[t]
            - sum(lam[m][k][t] * capacity[m] for k, capacity in enumerate(machines["capacity"].values()))
            for t in slots
        ]
        gain = [cost if available[m][t] else NEVER for t, cost in enumerate(gain)]
        change = Fraction(machines["up_cost"][m]) + Fraction(machines["down_cost"][m])
        best = on = Fraction(0)
        on = change + gain[0]
        for t in slots:  # least cost of what ends in slot t, every stretch with its start and stop
            on = min(on, best + change) + gain[t] if t else on
            best = min(best, on)
        total += best
    return total


@pytest.mark.parametrize("kind", reference.KINDS)
@for_each(seed=range(20))
def test_any_prices_are_a_safe_bound(kind: str, seed: int) -> None:
    raw = reference.random_instance(seed, kind)
    optimum, _ = reference.brute_force(raw)
    rng = np.random.default_rng(seed)
    own = rng.uniform(0, 0.4, (2, 2, 5)) * rng.integers(0, 2, (2, 2, 5))
    for prices in (own, own[0]):
        bound, assumes = proven_bound(from_dict(raw), {"kind": "lagrangian", "prices": prices.tolist()}, {})
        assert assumes == ()
        assert bound is not None
        if optimum is not None:
            assert bound <= optimum + 1e-12
        if np.isfinite(bound):
            exact = exact_bound(raw, prices if prices.ndim == 3 else [prices, prices])
            assert Fraction(bound) <= exact
            assert bound == pytest.approx(float(exact), abs=1e-12)


@pytest.mark.parametrize("prices", [None, [], [[1.0] * 5], [[-1.0] * 5] * 2, [["1"] * 5] * 2, [[float("nan")] * 5] * 2])
def test_other_prices_are_refused(prices: Any) -> None:
    instance = from_dict(reference.random_instance(1, "price"))
    with pytest.raises(InputError, match=r"certificate\.prices"):
        proven_bound(instance, {"kind": "lagrangian", "prices": prices}, {})
    with pytest.raises(InputError, match=r"certificate\.kind"):
        proven_bound(instance, {"kind": "volume", "prices": prices}, {})


def test_a_job_that_fits_no_machine_proves_that_there_is_no_schedule() -> None:
    raw = reference.random_instance(1, "price")
    raw["jobs"]["use"]["cpu"][0] = 9
    bound, _ = proven_bound(from_dict(raw), {"kind": "lagrangian", "prices": [[0.0] * 5] * 2}, {})
    assert bound == float("inf")

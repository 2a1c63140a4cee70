"""Any prices prove a bound below the optimum, and the checker computes it to the safe side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from copy import deepcopy
from fractions import Fraction
from math import ceil
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


Cut = tuple[int, int, list[int], float]
"""Slot, resource, jobs and price."""


def exact_bound(raw: dict[str, Any], prices: Any, cuts: Sequence[Cut] = ()) -> Fraction:
    """Return the bound at prices of each machine and of cuts in exact arithmetic, from the formula alone."""
    jobs, machines, slots = raw["jobs"], raw["machines"], range(raw["time"]["slots"])
    hours, weights = Fraction(raw["time"]["slot_hours"]), raw["objective"]["weights"]
    worth = [Fraction(weights["cost"]) * Fraction(price) for price in raw["price_per_kwh"]]
    for grams in raw["carbon"]["g_per_kwh"]:
        worth = [a + Fraction(weights["carbon_kg"]) * g / 1000 for a, g in zip(worth, grams, strict=True)]
    lam = [[[Fraction(float(p)) for p in row] for row in machine] for machine in prices]
    total = Fraction(0)
    charge: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
    paid = [Fraction(0) for _ in slots]
    for t, r, members, amount in cuts:
        price = Fraction(amount)
        use = [list(jobs["use"].values())[r][j] for j in members]
        largest = max(list(machines["capacity"].values())[r])
        whole = ceil(Fraction(sum(use), largest))
        slopes = [min(Fraction(1), Fraction(u, sum(use) - (whole - 1) * largest)) for u in use]
        total += price * (whole - sum(slopes))
        paid[t] += price
        for j, slope in zip(members, slopes, strict=True):
            charge[j, t] += price * slope
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
                energy = Fraction(jobs["power_kw"][j]) * hours * sum(worth[t] for t in run)
                costs.append(energy + units + sum(charge[j, t] for t in run))
        total += min(costs)
    for m in range(len(machines["name"])):
        gain = [
            Fraction(machines["idle_kw"][m]) * hours * worth[t]
            - sum(lam[m][k][t] * capacity[m] for k, capacity in enumerate(machines["capacity"].values()))
            - paid[t]
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


def random_cuts(rng: np.random.Generator, raw: dict[str, Any]) -> list[Cut]:
    """Return cuts whose jobs use something."""
    cuts: list[Cut] = []
    use = list(raw["jobs"]["use"].values())
    for _ in range(6):
        t, r = int(rng.integers(raw["time"]["slots"])), int(rng.integers(len(use)))
        jobs = np.flatnonzero(rng.integers(0, 2, len(use[r]))).tolist()
        if sum(use[r][j] for j in jobs):
            cuts.append((t, r, jobs, float(rng.uniform(0, 3))))
    return cuts


def written(cuts: Sequence[Cut]) -> dict[str, Any]:
    """Return the cuts as a certificate holds them."""
    columns = [list(column) for column in zip(*cuts, strict=True)] or [[], [], [], []]
    return dict(zip(("slot", "resource", "jobs", "prices"), columns, strict=True))


@pytest.mark.parametrize("kind", reference.KINDS)
@for_each(seed=range(30))
def test_any_prices_of_cuts_are_a_safe_bound(kind: str, seed: int) -> None:
    raw = reference.random_instance(seed, kind)
    optimum, _ = reference.brute_force(raw)
    rng = np.random.default_rng(seed)
    prices = rng.uniform(0, 0.4, (2, 5))
    cuts = random_cuts(rng, raw)
    certificate = {"kind": "lagrangian", "prices": prices.tolist(), "cuts": written(cuts)}
    bound, _ = proven_bound(from_dict(raw), certificate, {})
    assert bound is not None
    if optimum is not None:
        assert bound <= optimum + 1e-12
    if np.isfinite(bound):
        exact = exact_bound(raw, [prices, prices], cuts)
        assert Fraction(bound) <= exact
        assert bound == pytest.approx(float(exact), abs=1e-12)


def two_jobs_of_three_units() -> dict[str, Any]:
    """Return two jobs that use 3 units in slot 0, and two machines of 5 units that cost 1 in each slot."""
    return {
        "schema_version": 1,
        "problem": "ecas",
        "name": "hand",
        "provenance": {},
        "time": {"slots": 2, "slot_hours": 1.0, "start": "2022-08-01T00:00:00Z"},
        "carbon": {"zones": [], "g_per_kwh": []},
        "price_per_kwh": [1.0, 1.0],
        "machines": {
            "name": ["a", "b"],
            "capacity": {"cpu": [5, 5]},
            "idle_kw": [1.0, 1.0],
            "up_cost": [0.0, 0.0],
            "down_cost": [0.0, 0.0],
        },
        "jobs": {
            "name": ["p", "q"],
            "arrival": [0, 0],
            "duration": [1, 1],
            "deadline": [1, 1],
            "power_kw": [0.0, 0.0],
            "use": {"cpu": [3, 3]},
        },
        "objective": {"weights": {"cost": 1.0, "carbon_kg": 0.0}},
    }


def test_a_cut_counts_whole_machines() -> None:
    """By volume the jobs need 6/5 machines. They need two: rest = 6 - 5 = 1, so each of them has slope 1."""
    instance = from_dict(two_jobs_of_three_units())
    volume = {"kind": "lagrangian", "prices": [[0.2, 0.0]]}
    assert proven_bound(instance, volume, {})[0] == pytest.approx(1.2)
    cut = {"slot": [0], "resource": [0], "jobs": [[0, 1]], "prices": [1.0]}
    assert proven_bound(instance, {**volume, "prices": [[0.0, 0.0]], "cuts": cut}, {})[0] == pytest.approx(2.0)


def test_a_job_that_may_leave_saves_what_it_uses() -> None:
    """Where q may run in slot 1 instead, one machine is enough in each: the cut is worth 2 - 1."""
    raw = two_jobs_of_three_units()
    raw["jobs"]["deadline"] = [1, 2]
    raw["price_per_kwh"] = [1.0, 0.0]
    cut = {"slot": [0], "resource": [0], "jobs": [[0, 1]], "prices": [1.0]}
    certificate = {"kind": "lagrangian", "prices": [[0.0, 0.0]], "cuts": cut}
    assert proven_bound(from_dict(raw), certificate, {})[0] == pytest.approx(1.0)


@for_each(
    case=(
        ("cuts", [1]),
        ("cuts", {"slot": [0]}),
        ("cuts.slot", {"slot": [5]}),
        ("cuts.slot", {"slot": [0, 1]}),
        ("cuts.slot", {"slot": [True]}),
        ("cuts.slot", {"slot": 0}),
        ("cuts.resource", {"resource": [2]}),
        ("cuts.resource", {"resource": [-1]}),
        (r"cuts.jobs\[0\]", {"jobs": [[0, 0]]}),
        (r"cuts.jobs\[0\]", {"jobs": [[99]]}),
        (r"cuts.jobs\[0\]", {"jobs": [["0"]]}),
        ("cuts.prices", {"prices": [-1.0]}),
        ("cuts.prices", {"prices": [1.0, 2.0]}),
        ("cuts.prices", {"prices": [float("nan")]}),
    )
)
def test_other_cuts_are_refused(case: tuple[str, Any]) -> None:
    field, change = case
    right = {"slot": [0], "resource": [1], "jobs": [[0, 1]], "prices": [0.5]}
    instance = from_dict(reference.random_instance(1, "price"))
    certificate = {"kind": "lagrangian", "prices": [[0.0] * 5] * 2, "cuts": deepcopy(right)}
    proven_bound(instance, certificate, {})
    broken = change if field == "cuts" else {**right, **change}
    with pytest.raises(InputError, match=rf"certificate\.{field}"):
        proven_bound(instance, {**certificate, "cuts": broken}, {})


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

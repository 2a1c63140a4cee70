"""A Lagrangian bound is rechecked from the instance and the prices alone."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import carbonopt as co
from carbonopt.problems.mosp.data.file import from_dict
from carbonopt.problems.mosp.data.fixed import fixed_rows
from carbonopt.problems.mosp.verify.certificate import proven_bound


@pytest.mark.parametrize("kind", ["carbon", "caspian"])
def test_every_lp_bound_carries_a_certificate_that_holds(random_instance, brute_force, kind):
    for seed in range(20):
        instance = random_instance(seed, kind)
        solution = co.solve(instance, "lp")
        if solution.bound is None:
            continue
        report = co.check(instance, solution)
        assert report.feasible
        assert report.assumes == (("normalizers",) if kind == "caspian" else ())
        assert report.proven_bound == pytest.approx(solution.bound, rel=1e-9, abs=1e-9)
        bars = solution.info.get("normalizers")
        optimum, _ = brute_force(instance.to_dict(), tuple(bars.values()) if bars else None)
        sign = 1 if instance.sense == "min" else -1
        if optimum is not None:
            assert sign * (optimum - report.proven_bound) >= -1e-9


def test_safe_rounding_stays_below_exact_rationals():
    """The same bound in exact arithmetic is never below what the certificate proves."""
    rng = np.random.default_rng(2)
    instance = co.generate("mosp", preset="bench", jobs=12, clusters=2, slots=12, seed=5)
    prices = rng.random(instance.clusters.capacity.shape) * 0.05
    lower, assumes = proven_bound(instance, {"kind": "lagrangian", "prices": prices.tolist()}, {})
    assert assumes == ()
    assert Fraction(lower) <= exact_bound(instance, prices)
    assert lower == pytest.approx(float(exact_bound(instance, prices)), rel=1e-12)


def test_what_fixed_runs_leave_is_rounded_to_the_safe_side():
    """Large prices: what the load of fixed runs may exceed for rounding counts for more than all costs of jobs."""
    free = co.generate("mosp", preset="bench", jobs=12, clusters=2, slots=12, seed=5)
    found = co.solve(free, "greedy-clean").columns
    assert found is not None
    raw = free.to_dict()
    raw["fixed"] = {name: list(found[name])[:4] for name in ("job", "cluster", "start")}
    instance = from_dict(raw)
    rng = np.random.default_rng(3)
    for size in (0.05, 50.0):
        prices = rng.random(instance.clusters.capacity.shape) * size
        lower, _ = proven_bound(instance, {"kind": "lagrangian", "prices": prices.tolist()}, {})
        exact = exact_bound(instance, prices)
        assert Fraction(lower) <= exact
        assert lower == pytest.approx(float(exact), rel=1e-7)


def exact_bound(instance, prices):
    """Return what prices of capacity prove; fixed runs cost no price, and leave the rest of the capacity."""
    jobs, clusters, objective = instance.jobs, instance.clusters, instance.objective
    limit = [[Fraction(units) for units in clusters.limit[j, 0]] for j in range(len(clusters))]
    fixed = {}
    if instance.fixed is not None:
        for i, j, t in zip(*map(list, fixed_rows(instance)), strict=True):
            fixed[i] = (j, t)
            for s in range(t, t + int(jobs.duration[i])):
                limit[j][s] -= Fraction(jobs.demand[i, 0])
    total = Fraction(0)
    for i in range(len(jobs)):
        best = None
        for j in range(len(clusters)):
            g = instance.carbon.g_per_kwh[instance.carbon.index(clusters.zone[j])]
            for t in range(jobs.arrival[i], instance.time.slots - jobs.duration[i] + 1):
                run = range(t, t + int(jobs.duration[i]))
                if fixed.get(i, (j, t)) != (j, t):
                    continue
                if i not in fixed and any(limit[j][s] < jobs.demand[i, 0] for s in run):
                    continue
                demand, watts = Fraction(jobs.demand[i, 0]), Fraction(clusters.watts_per_unit[j, 0])
                carbon = sum(Fraction(g[s]) for s in run) * demand * watts / 10**6
                paid = 0 if i in fixed else sum(Fraction(prices[j, 0, s]) for s in run) * demand
                end = t + int(jobs.duration[i])
                late = max(Fraction(0), end - Fraction(jobs.deadline[i]))
                cost = carbon * Fraction(objective.carbon_kg) + paid
                cost += Fraction(objective.tardiness_slots) * late + Fraction(objective.completion_slots) * end
                best = cost if best is None else min(best, cost)
        total += best
    return total - sum(Fraction(prices[j, 0, s]) * c for j, row in enumerate(limit) for s, c in enumerate(row))


def test_tampering_is_caught(small_bench):
    solution = co.solve(small_bench, "lp-rounding")
    assert co.check(small_bench, solution).feasible
    higher = replace(solution, bound=solution.bound * (1 + 1e-6))
    prices = np.array(solution.certificate["prices"])
    for change in (
        higher.certificate | {"prices": (prices * 1.5).tolist()},
        higher.certificate | {"prices": (-prices).tolist()},
        higher.certificate | {"prices": prices[:1].tolist()},
        higher.certificate | {"prices": "none"},
        higher.certificate | {"kind": "trust me"},
        higher.certificate,
    ):
        report = co.check(small_bench, replace(higher, certificate=change))
        assert [violation.constraint for violation in report.violations] == ["certificate"]

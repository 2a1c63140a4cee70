"""Expected values of spot runs: closed forms against Monte Carlo, quadrature and the checker's own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from purchasing_random import by_hand, columns, continuous

from carbonopt.problems.purchasing.data.instance import PurchasingInstance, Spot, Weights
from carbonopt.problems.purchasing.formulation.spot import SpotRuns
from carbonopt.problems.purchasing.verify.check import check

DRAWS = 20_000


def realised(instance: PurchasingInstance, job: int, start: float, until_eviction: float) -> dict[str, float]:
    """The checker's metrics of one job, evicted after so many hours if that is before its end."""
    name, length = instance.jobs.name[job], float(instance.jobs.length_hours[job])
    rows = [(name, start, start + min(length, until_eviction), "spot")]
    if until_eviction < length:
        rows.append((name, start + until_eviction, start + until_eviction + length, "on-demand"))
    report = check(instance, columns(rows), {"evictions": "realised"})
    assert report.violations == ()
    return report.metrics


@pytest.mark.parametrize("hazard", [0.1, 0.7, 3.0])
def test_expectations_are_means_of_what_happens(hazard: float) -> None:
    rng = np.random.default_rng(3)
    kg = rng.uniform(0.1, 1, 12).tolist()
    instance = by_hand(kg, [(0.3, 1.7, 2.0)], wait=2.0, spot=Spot(2.0, hazard))
    runs, start = SpotRuns(instance), 1.1
    drawn = rng.exponential(1 / hazard, DRAWS // 20)
    found = [realised(instance, 0, start, float(hours)) for hours in drawn]
    expected = {
        "carbon_kg": float(runs.carbon_kg(np.array([0]), np.array([start]))[0]),
        "usage_usd": runs.usage_usd[0],
        "wait_hours": start - 0.3 + runs.lost_hours[0],
        "evictions": runs.chance[0],
        "spot_cpu_hours": 2 * runs.run_hours[0],
    }
    for key, value in expected.items():
        sample = np.array([one[key] for one in found])
        assert abs(sample.mean() - value) <= 4 * sample.std() / np.sqrt(len(sample)) + 1e-12
    report = check(instance, columns([("j0", start, start + 1.7, "spot")]))
    assert {key: report.metrics[key] for key in expected} == pytest.approx(expected, rel=1e-12)


def test_expectations_by_drawing_many() -> None:
    """Twenty thousand draws at once, with the carbon by interpolation."""
    rng = np.random.default_rng(4)
    kg = rng.uniform(0, 1, 20)
    instance = by_hand(kg.tolist(), [(0.0, 2.5, 1.0)], wait=3.0, spot=Spot(9.0, 0.4))
    until = np.concatenate([[0.0], np.cumsum(kg)])
    for start in (0.0, 0.77, 3.0):
        ends = np.minimum(2.5, rng.exponential(1 / 0.4, DRAWS))
        carbon = np.interp(start + ends, range(21), until) - np.interp(start, range(21), until)
        again = np.interp(start + ends + 2.5, range(21), until) - np.interp(start + ends, range(21), until)
        total = carbon + np.where(ends < 2.5, again, 0.0)
        value = SpotRuns(instance).carbon_kg(np.array([0]), np.array([start]))[0]
        assert abs(total.mean() - value) <= 4 * total.std() / np.sqrt(DRAWS)


def test_cost_breaks_even_at_2p66_evictions_a_run() -> None:
    def usd(evictions: float) -> float:
        return SpotRuns(by_hand([1.0] * 4, [(0.0, 1.0, 1.0)], wait=0.0, spot=Spot(1.0, evictions))).usage_usd[0]

    assert usd(0.0) == pytest.approx(0.2)
    assert usd(2.65) < 1 < usd(2.67)


@pytest.mark.parametrize("hazard", [0.0, 1e-9, 1e-4, 0.3, 5.0])
def test_the_checker_agrees(hazard: float) -> None:
    rng = np.random.default_rng(5)
    for seed in range(6):
        instance = continuous(seed, hazard=hazard)
        runs = SpotRuns(instance)
        for j in np.flatnonzero(instance.spot_allowed):
            arrival, length = instance.jobs.arrival_hours[j], instance.jobs.length_hours[j]
            start = float(rng.uniform(arrival, arrival + instance.max_wait_hours[j]))
            found = check(instance, columns([(instance.jobs.name[j], start, start + length, "spot")])).metrics
            assert runs.carbon_kg(np.array([j]), np.array([start]))[0] == pytest.approx(found["carbon_kg"], rel=1e-9)
            assert runs.usage_usd[j] == pytest.approx(found["usage_usd"], rel=1e-12)


@pytest.mark.parametrize("hazard", [0.0, 1e-6, 0.3, 3.0])
def test_the_best_start_is_the_best(hazard: float) -> None:
    for seed in range(8):
        instance = continuous(seed, hazard=hazard)
        instance = replace(instance, weights=Weights(1, 1, 0.02))
        runs = SpotRuns(instance)
        start, value = runs.best(1.0, 0.02)
        for j in range(len(instance.jobs)):
            window = instance.jobs.arrival_hours[j] + np.linspace(0, instance.max_wait_hours[j], 4001)
            values = runs.carbon_kg(np.array([j]), window) + 0.02 * (window - window[0] + runs.lost_hours[j])
            assert value[j] <= values.min() + 1e-12
            assert value[j] >= values.min() - 0.02
            there = runs.carbon_kg(np.array([j]), start[[j]])[0] + 0.02 * (start[j] - window[0] + runs.lost_hours[j])
            assert value[j] == pytest.approx(there, rel=1e-12)
            assert window[0] <= start[j] <= window[-1]


@pytest.mark.parametrize("hazard", [0.0, 0.3, 3.0])
def test_the_hull_is_never_above_the_truth(hazard: float) -> None:
    for seed in range(10):
        instance = continuous(seed, hazard=hazard)
        runs = SpotRuns(instance)
        for j in range(len(instance.jobs)):
            starts, carbon = runs.hull(j)
            assert (np.diff(starts) > 0).all()
            window = np.linspace(starts[0], starts[-1], 2001)
            true = runs.carbon_kg(np.array([j]), window)
            below = true - np.interp(window, starts, carbon)
            assert below.min() >= -1e-9 * true.max()
            assert below.max() <= (0.25 * true.max() if hazard else 1e-9 * true.max() + 1e-12)

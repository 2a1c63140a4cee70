"""Prices that maximise a concave dual function."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from carbonopt.algorithms.prices import Ascent


class Sharing:
    """Jobs that each take one unit of one slot: min sum cost, capacities priced."""

    def __init__(self, seed: int, jobs: int = 40, slots: int = 6) -> None:
        rng = np.random.default_rng(seed)
        self.cost = rng.uniform(1, 10, (jobs, slots)) + 2 * np.arange(slots)
        self.capacity = np.full(slots, np.ceil(1.2 * jobs / slots))

    def hard(self, prices):
        total = self.cost + prices
        taken = np.bincount(total.argmin(axis=1), minlength=len(prices))
        return total.min(axis=1).sum() - prices @ self.capacity, taken - self.capacity

    def soft(self, prices, temperature):
        total = self.cost + prices
        least = total.min(axis=1, keepdims=True)
        weight = np.exp((least - total) / temperature)
        soft = least[:, 0] - temperature * np.log(weight.sum(axis=1))
        share = (weight / weight.sum(axis=1, keepdims=True)).sum(axis=0)
        return soft.sum() - prices @ self.capacity, share - self.capacity

    def optimum(self):
        jobs, slots = self.cost.shape
        whole, capacity = np.kron(np.eye(jobs), np.ones(slots)), np.kron(np.ones(jobs), np.eye(slots))
        return linprog(self.cost.ravel(), capacity, self.capacity, whole, np.ones(jobs)).fun


@pytest.mark.parametrize("seed", range(5))
def test_reaches_the_lp_optimum_and_never_passes_it(seed):
    problem = Sharing(seed)
    ascent = Ascent(problem.hard, problem.soft, np.zeros(6))
    ascent.smooth([1.0, 0.1, 0.01, 0.001])
    ascent.step(300)
    assert ascent.value == pytest.approx(problem.optimum(), rel=1e-5)
    assert ascent.value <= problem.optimum() + 1e-9
    assert ascent.value == problem.hard(ascent.prices)[0]
    assert (ascent.prices >= 0).all()


@pytest.mark.parametrize("phase", ["smooth", "step"])
def test_each_phase_climbs_alone(phase):
    problem = Sharing(7)
    ascent = Ascent(problem.hard, problem.soft, np.zeros(6))
    first = ascent.value
    ascent.smooth([1.0, 0.03]) if phase == "smooth" else ascent.step(400, gap=0.1)
    assert first < ascent.value <= problem.optimum() + 1e-9
    assert problem.optimum() - ascent.value < 2e-3 * (problem.optimum() - first)


def test_a_stage_ends_where_it_hardly_rises():
    evaluations = {}
    for least_rise in (0.0, 1e-5):
        problem = Sharing(7, jobs=400, slots=60)
        ascent = Ascent(problem.hard, problem.soft, np.zeros(60))
        ascent.smooth([1.0, 0.1, 0.01], 100, least_rise)
        evaluations[least_rise] = ascent.evaluations
        assert problem.optimum() - ascent.value < 1e-3 * problem.optimum()
    assert evaluations[1e-5] < evaluations[0.0]


def test_keeps_within_bounds():
    problem = Sharing(1)
    free = Ascent(problem.hard, problem.soft, np.zeros(6))
    free.smooth([1.0, 0.01])
    upper = 0.5 * free.prices + 0.01
    boxed = Ascent(problem.hard, problem.soft, np.full(6, 9.0), lower=0.005, upper=upper)
    boxed.smooth([1.0, 0.01])
    boxed.step(50)
    assert ((boxed.prices >= 0.005) & (boxed.prices <= upper)).all()
    assert boxed.value <= free.value


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units_of_prices_and_values_do_not_matter(unit):
    problem = Sharing(2)

    def hard(prices):
        value, slope = problem.hard(prices / unit)
        return value * unit, slope

    def soft(prices, temperature):
        value, slope = problem.soft(prices / unit, temperature / unit)
        return value * unit, slope

    ascent = Ascent(hard, soft, np.zeros(6), scale=unit)
    ascent.smooth([unit, 0.1 * unit, 0.01 * unit, 0.001 * unit])
    ascent.step(300)
    assert ascent.value == pytest.approx(problem.optimum() * unit, rel=1e-5)


def test_ends_at_the_deadline_with_the_best_so_far():
    problem, left = Sharing(3), [12]

    def remaining():
        left[0] -= 1
        return float(left[0])

    ascent = Ascent(problem.hard, problem.soft, np.zeros(6), remaining=remaining)
    ascent.smooth([1.0, 0.1, 0.01], iterations=1000)
    assert ascent.done
    assert ascent.evaluations < 80
    assert ascent.value == problem.hard(ascent.prices)[0] > problem.hard(np.zeros(6))[0]
    before = ascent.evaluations
    ascent.smooth([0.001])
    ascent.step(10)
    assert ascent.evaluations == before


def test_ends_at_the_goal_and_reports():
    problem, seen = Sharing(4), []
    goal = problem.optimum() * 0.99
    ascent = Ascent(problem.hard, problem.soft, np.zeros(6), report=seen.append, goal=goal)
    ascent.smooth([1.0, 0.1, 0.01], iterations=1000)
    assert ascent.done
    assert ascent.value >= goal
    assert seen == sorted(seen)
    assert seen[-1] == ascent.value


def test_an_interrupt_reaches_the_caller():
    problem = Sharing(5)

    def report(value):
        if value > problem.optimum() * 0.98:
            raise KeyboardInterrupt

    ascent = Ascent(problem.hard, problem.soft, np.zeros(6), report=report)
    with pytest.raises(KeyboardInterrupt):
        ascent.smooth([1.0, 0.1])
    assert ascent.value == problem.hard(ascent.prices)[0]

"""Annealing by the risk itself: by hand, against enumeration, and by counts of work."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, load_module
from risk_support import random_case

import carbonopt as co
from carbonopt.core.options import Options, Schedule
from carbonopt.lessons.instances import small
from carbonopt.problems.mosp.data.file import from_dict
from carbonopt.problems.mosp.data.objectives import CarbonObjective
from carbonopt.problems.mosp.methods.price import hedge
from carbonopt.problems.mosp.methods.price.hedge import RiskSignals
from carbonopt.problems.mosp.methods.price.hedge_kernels import anneal_risk, worst
from carbonopt.problems.mosp.methods.price.state import schedule_of
from carbonopt.uncertainty import ordinary, signals
from carbonopt.uncertainty.costs import measured
from carbonopt.uncertainty.hedging import hedged
from carbonopt.uncertainty.measures import Budget, CVaR, largest_sum, tail_mean
from carbonopt.uncertainty.scenarios import Scenarios
from carbonopt.uncertainty.solve import solve_under_risk


def worst_of(added: np.ndarray, most: np.ndarray, total: float) -> float:
    empty = np.zeros((1, 1, 2, 1))
    parts = RiskSignals(np.zeros((1, 1)), np.zeros((1, 1)), most, total).parts(small("x", [0], 1, {"a": (0, 1, 1)}))
    assert parts.rise.shape == empty.shape
    return float(worst.function(added, parts, np.zeros(len(added) + 1, dtype=np.int64)))


@pytest.mark.parametrize("seed", range(5))
def test_the_worst_mix_is_the_tail_mean_and_the_largest_sum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 9, 12).astype(float)  # with ties
    probability = rng.dirichlet(np.ones(12))
    for level in (0.0, 0.4, 0.9, 0.99):
        expected = tail_mean(values, probability, level)
        assert worst_of(values, probability / (1 - level), 1.0) == pytest.approx(expected, rel=1e-12)
    for pairs in (0.0, 0.5, 3.0, 4.7, 99.0):
        assert worst_of(values, np.ones(12), pairs) == pytest.approx(largest_sum(values, pairs), rel=1e-12)


def test_a_plan_that_one_signal_cannot_tell_apart_is_spread() -> None:
    """Two jobs, two hours, 100 and 300 g/kWh or the reverse: any plan costs .4 kg on average, one each .4 at worst."""
    instance = small("night", [200, 200], 2, {"a": (0, 1, 1), "b": (0, 1, 1)})
    scenarios = Scenarios(("DE",), np.array([[[100.0, 300.0]], [[300.0, 100.0]]]))
    together = co.evaluate(instance, {"job": ["a", "b"], "cluster": [instance.clusters.name[0]] * 2, "start": [0, 0]})
    proven = co.solve(instance, "price", time_limit=None)
    assert measured(instance, scenarios, together.schedule, CVaR(0.5)) == pytest.approx(0.6)
    begin = replace(together, bound=proven.bound, certificate=proven.certificate)
    found = hedged(instance, scenarios, CVaR(0.5), begin, begin, instance, Options(None))
    assert found is not None
    assert measured(instance, scenarios, found.schedule, CVaR(0.5)) == pytest.approx(0.4)
    found = hedged(instance, scenarios, Budget(1), begin, begin, instance, Options(None))
    assert found is not None
    assert measured(instance, scenarios, found.schedule, Budget(1)) == pytest.approx(0.5)  # .4 and .1 more


@pytest.mark.parametrize("risk", [CVaR(0.5), Budget(2)])
def test_it_never_raises_the_risk_and_keeps_the_bound(risk: CVaR | Budget) -> None:
    reference = load_module(ROOT / "tests" / "reference" / "brute_force_risk.py")
    tried = 0
    for seed in range(300, 306):
        raw, signals = random_case(seed)
        instance = from_dict(raw)
        scenarios = Scenarios(instance.carbon.zones, signals)
        begin = co.solve(scenarios.instance(instance), "price", time_limit=None)
        if not begin.has_solution:
            continue
        options = Options(None, mip_rel_gap=0.0, work_limit=0.01)
        found = hedged(instance, scenarios, risk, begin, begin, scenarios.instance(instance), options)
        if found is None:
            continue
        tried += 1
        if isinstance(risk, CVaR):
            least = reference.least_tail(raw, signals, risk.level)
        else:
            least = reference.least_budget(raw, signals, risk.pairs)
        value = measured(instance, scenarios, found.schedule, risk)
        assert least * (1 - 1e-12) <= value <= measured(instance, scenarios, begin.schedule, risk) * (1 + 1e-12)
    assert tried > 2


@pytest.mark.parametrize("risk", [CVaR(0.5), Budget(2)])
def test_the_risk_that_is_counted_is_that_of_the_schedule(risk: CVaR | Budget, monkeypatch: pytest.MonkeyPatch) -> None:
    """Carbon, completion, tardiness and rejections are counted move by move, not anew from the schedule."""
    made = co.generate("mosp", preset="bench", jobs=12, clusters=2, slots=24, seed=2)
    instance = made.with_objective(CarbonObjective(1.0, 0.02, 0.005, rejection_price=2.0))
    signal = instance.carbon.g_per_kwh
    factors = np.random.default_rng(1).uniform(0.1, 3.0, (4, *signal.shape))
    scenarios = Scenarios(instance.carbon.zones, signal * factors)
    counted: list[tuple[float, Schedule]] = []

    def anneal(*arguments: Any) -> None:
        anneal_risk(*arguments)
        parts, totals, added, state = arguments[-4:]
        counted.append((float(totals[1]), schedule_of(instance, state.jobs.best)))
        now = totals[0] + worst(added, parts, np.zeros(len(added) + 1, dtype=np.int64))
        counted.append((float(now), schedule_of(instance, state.jobs.place)))

    monkeypatch.setattr(hedge, "anneal_risk", anneal)
    begin = co.solve(scenarios.instance(instance), "price", work_limit=0.01, mip_rel_gap=0.0)
    options = Options(None, mip_rel_gap=0.0, work_limit=0.02)
    hedged(instance, scenarios, risk, begin, begin, scenarios.instance(instance), options)
    assert min(value for value, _ in counted) < measured(instance, scenarios, begin.schedule, risk)
    for value, schedule in counted:
        assert value == pytest.approx(measured(instance, scenarios, schedule, risk), rel=1e-9)


def test_a_limit_of_work_gives_the_same_answer_twice() -> None:
    instance = co.generate("mosp", preset="bench", jobs=5, clusters=2, slots=12, seed=2)
    signal = instance.carbon.g_per_kwh
    factors = np.random.default_rng(1).uniform(0.5, 1.5, (4, *signal.shape))
    scenarios = Scenarios(instance.carbon.zones, signal * factors)
    first, again = (
        solve_under_risk(instance, scenarios, Budget(2), method="signals", work_limit=0.3, mip_rel_gap=0.0)
        for _ in range(2)
    )
    assert (first.value, first.bound, first.work) == (again.value, again.bound, again.work)
    assert first.schedule.equals(again.schedule)
    assert first.proof is not None
    assert co.check(scenarios.under(instance, first.signal), first.proof).violations == ()


@pytest.mark.parametrize("risk", [CVaR(0.0), CVaR(0.8), Budget(2.5)], ids=str)
def test_the_optimum_of_the_whole_program_is_between_bound_and_plan(
    risk: CVaR | Budget, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slot prices prove the bounds here, and not HiGHS as for small instances, so plans are sought by the risk."""
    monkeypatch.setattr(ordinary, "solve", partial(co.solve, method="price"))
    made: list[co.Solution | None] = []
    monkeypatch.setattr(signals, "hedged", lambda *given: made.append(hedged(*given)) or made[-1])
    for seed in range(4):
        rng = np.random.default_rng(seed)
        jobs, slots = rng.integers(8, 13), rng.integers(12, 18)
        instance = co.generate("mosp", preset="bench", jobs=int(jobs), clusters=2, slots=int(slots), seed=seed)
        signal = instance.carbon.g_per_kwh
        errors = np.exp(rng.normal(0, 0.1, (int(rng.integers(2, 7)), *signal.shape)).cumsum(axis=2))
        scenarios = Scenarios(instance.carbon.zones, signal * errors, rng.dirichlet(np.ones(len(errors))))
        whole = solve_under_risk(instance, scenarios, risk, method="whole", time_limit=None, mip_rel_gap=0.0)
        found = solve_under_risk(instance, scenarios, risk, method="signals", work_limit=0.05, mip_rel_gap=0.0)
        assert found.bound is not None
        assert whole.value is not None
        assert found.bound <= whole.value * (1 + 1e-9), seed
        assert found.value >= whole.bound * (1 - 1e-9), seed
    assert sum(plan is not None for plan in made) > 2

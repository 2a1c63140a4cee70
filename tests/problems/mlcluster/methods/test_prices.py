"""Bounds and certificates: below brute force, equal to the LP, and proven again by other code."""

from __future__ import annotations

from functools import cache
from math import inf
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, load_module
from hypothesis import given, settings
from hypothesis import strategies as st

import carbonopt as co
from carbonopt.algorithms.kernel import Kernel
from carbonopt.core.errors import InputError
from carbonopt.core.options import Options, Progress
from carbonopt.core.status import Status
from carbonopt.milp import highs
from carbonopt.problems.mlcluster import PROBLEM
from carbonopt.problems.mlcluster.data.file import from_dict
from carbonopt.problems.mlcluster.data.generate import generate
from carbonopt.problems.mlcluster.data.instance import MlClusterInstance
from carbonopt.problems.mlcluster.data.settings import Limits, Weights
from carbonopt.problems.mlcluster.formulation.objective import CellCoefficients
from carbonopt.problems.mlcluster.formulation.program import build
from carbonopt.problems.mlcluster.methods.milp import lp
from carbonopt.problems.mlcluster.methods.price import method
from carbonopt.problems.mlcluster.methods.price.bound import ascend
from carbonopt.problems.mlcluster.methods.price.dual import Dual
from carbonopt.problems.mlcluster.methods.price.follow import follow_prices
from carbonopt.problems.mlcluster.methods.price.method import price
from carbonopt.problems.mlcluster.methods.price.parameters import PriceParameters, RepairParameters
from carbonopt.problems.mlcluster.online.base import FirstCome
from carbonopt.problems.mlcluster.online.run import schedule_in_time, simulate
from carbonopt.problems.mlcluster.verify.certificate import proven_bound
from carbonopt.problems.mlcluster.verify.check import check
from carbonopt.simulation import ForecastModel, State, make_policy
from carbonopt.simulation.options import SimulationOptions

reference = load_module(ROOT / "tests/reference/brute_force_mlcluster.py")
tiny = {
    raw["name"].split("-")[1].removeprefix("tiny_"): raw
    for raw in load_module(ROOT / "instances/tiny_mlcluster.py").tiny_instances()
}
OPTIMA = {
    "gpushift": 0.1, "gpuqueue": 0.3, "twogpus": 0.2, "jctbudget": 0.4, "gpurestart": 0.2, "idlegpus": 0.06,
    "jctweight": 0.5,
}  # fmt: skip


def solved(instance: MlClusterInstance) -> tuple[float, float]:
    outcome = price(instance, Options())
    assert outcome.schedule is not None
    assert outcome.bound is not None
    report = check(instance, outcome.schedule)
    assert report.violations == ()
    assert report.objective is not None
    return outcome.bound, report.objective


@pytest.mark.parametrize("name", OPTIMA)
def test_by_hand(name: str) -> None:
    bound, objective = solved(from_dict(tiny[name]))
    assert objective == pytest.approx(OPTIMA[name], rel=1e-6)
    assert bound <= OPTIMA[name] * (1 + 1e-9)
    if name not in ("jctbudget", "jctweight"):
        assert bound == pytest.approx(OPTIMA[name], rel=1e-4)


def test_idle_power_is_beside_the_objective() -> None:
    instance = from_dict(tiny["idlegpus"])
    outcome = price(instance, Options())
    assert outcome.schedule is not None
    metrics = check(instance, outcome.schedule).metrics
    assert metrics["idle_carbon_kg"] == pytest.approx(0.09)
    assert metrics["carbon_kg"] == pytest.approx(0.15)


@pytest.mark.parametrize("kind", reference.KINDS)
@pytest.mark.parametrize("seed", range(8))
def test_no_schedule_beats_the_bound(kind: str, seed: int) -> None:
    raw = reference.random_instance(seed, kind)
    instance = from_dict(raw)
    value, schedule = reference.brute_force(raw)
    assert schedule is not None
    report = check(instance, schedule)
    assert report.violations == ()
    assert report.objective == pytest.approx(value, rel=1e-9)
    bound, _ = solved(instance)
    assert bound <= value * (1 + 1e-9)
    if kind == "unit":  # whole slots on one GPU: a transportation problem, whose LP is integral
        assert bound == pytest.approx(value, rel=1e-4)


@pytest.mark.parametrize("cells", [1, 3])
@pytest.mark.parametrize(
    ("weights", "limits"),
    [(Weights(), Limits()), (Weights(1, 0.02), Limits()), (Weights(), Limits(5.0)), (Weights(0, 1), Limits())],
)
def test_the_dual_is_the_lp(cells: int, weights: Weights, limits: Limits) -> None:
    instance = generate(jobs=12, gpus=4, arrival_hours=4, max_gpus=4, drain_hours=30, load=1.2, seed=5)
    instance = instance.with_objective(weights, limits)
    form = build(instance, cells)
    result = highs.solve(form.program, Options())
    assert result.objective is not None
    assert result.row_dual is not None
    optimum = result.objective + form.constant
    dual = Dual(CellCoefficients(instance, cells))
    prices = np.maximum(0.0, -result.row_dual[form.capacity.slice]) / dual.coefficients.minutes
    budget = 0.0 if form.budget is None else max(0.0, -result.row_dual[form.budget.slice][0])
    assert dual.hard(dual.joined(prices, budget))[0] == pytest.approx(optimum, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_cells_in_the_order_of_their_cost_give_the_dual_of_those_in_the_order_of_time(seed: int) -> None:
    """Where completion times count next to nothing, cells come in time; where they do not, by what they cost."""
    instance = generate(jobs=30, gpus=6, arrival_hours=10, max_gpus=4, drain_hours=30, load=1.2, seed=seed)
    prices = np.random.default_rng(seed).uniform(0, 2, CellCoefficients(instance, 2).count)
    found = []
    for weight in (0.0, 1e-12):
        dual = Dual(CellCoefficients(instance.with_objective(Weights(1, weight)), 2))
        at = prices * dual.typical
        hard, slope = dual.hard(at)
        soft, gradient = dual.soft(at, 0.1)
        found.append(([hard, soft], [slope, gradient], dual.steps))
    (values, slopes, steps), (values_in_time, slopes_in_time, steps_in_time) = found
    assert values == pytest.approx(values_in_time, rel=1e-8)
    assert slopes[1] == pytest.approx(slopes_in_time[1], abs=1e-3)
    assert steps < steps_in_time


@pytest.mark.parametrize("limit", [None, 4.0])
def test_ascent_comes_close_to_the_lp(limit: float | None) -> None:
    instance = generate(jobs=20, gpus=6, arrival_hours=4, max_gpus=4, drain_hours=30, load=1.2, seed=2)
    instance = instance.with_objective(limits=Limits(limit))
    assert ascend(instance, Options()).bound == pytest.approx(lp(instance, Options()).bound, rel=2e-4)


@pytest.mark.parametrize("limit", [None, 6.0])
def test_certificates_prove_their_bound(limit: float | None) -> None:
    instance = generate(jobs=40, gpus=8, arrival_hours=8, seed=4).with_objective(limits=Limits(limit))
    outcome = price(instance, Options())
    assert outcome.certificate is not None
    proven, assumes = proven_bound(instance, outcome.certificate, {})
    assert assumes == ()
    assert proven is not None
    assert proven == pytest.approx(outcome.bound, rel=1e-9)
    tampered = outcome.certificate | {"prices": np.asarray(outcome.certificate["prices"]) * 3}
    weaker, _ = proven_bound(instance, tampered, {})
    assert weaker is not None
    assert weaker < proven


WRONG = {
    "kind": ({"kind": "shortage"}, "certificate.kind = 'shortage': must be 'lagrangian'"),
    "cells": ({"cells": 0}, "certificate.cells = 0: must be a whole number of cells a slot, from 1 to 3600"),
    "prices": ({"prices": [1.0]}, "certificate.prices: must be 2 numbers from 0 to 1e+30"),
    "below zero": ({"work_prices": [-1.0]}, "certificate.work_prices: must be 1 numbers from 0 to 1e+30"),
    "budget": ({"budget_price": 1.0}, "certificate.budget_price = 1.0: must be 0: there is no JCT budget"),
    "restarts": ({"restarts": 1}, "certificate.restarts = 1: must be true or false"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_certificate_is_refused(case: str) -> None:
    change, message = WRONG[case]
    sound = {"kind": "lagrangian", "cells": 1, "prices": [0.0, 0.0], "work_prices": [0.0], "budget_price": 0.0}
    with pytest.raises(InputError) as caught:
        proven_bound(from_dict(tiny["gpushift"]), sound | change, {})
    assert [str(fault) for fault in caught.value.faults] == [message]


def test_a_budget_that_nobody_can_keep_is_infeasible() -> None:
    instance = from_dict(tiny["gpuqueue"]).with_objective(limits=Limits(1.2))  # one after the other: 1.5 h at least
    outcome = price(instance, Options())
    assert outcome.status is Status.INFEASIBLE
    assert outcome.certificate is not None
    assert proven_bound(instance, outcome.certificate, {})[0] == inf


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    policy=st.sampled_from(list(PROBLEM.policies)),
    gpus=st.integers(2, 6),
    weight=st.sampled_from([0.0, 0.01, 0.1]),
)
def test_no_policy_beats_the_bound(seed: int, policy: str, gpus: int, weight: float) -> None:
    instance = generate(jobs=8, gpus=gpus, arrival_hours=4, max_gpus=4, load=1.0, jct_weight=weight, seed=seed)
    outcome = simulate(
        instance, make_policy(PROBLEM, policy), SimulationOptions(ForecastModel().of(instance.intensity, 1.0))
    )
    assert outcome.schedule is not None
    report = check(instance, outcome.schedule)
    assert {violation.constraint for violation in report.violations} <= {"horizon"}
    assert report.objective is not None
    if not report.violations:
        assert ascend(instance, Options()).bound <= report.objective * (1 + 1e-9)
        at_its_own = instance.with_objective(Weights(), Limits(report.metrics["mean_jct_hours"]))
        assert ascend(at_its_own, Options()).bound <= report.metrics["added_carbon_kg"] * (1 + 1e-9)


class TestTime:
    @pytest.fixture
    def small(self, monkeypatch: pytest.MonkeyPatch) -> MlClusterInstance:
        monkeypatch.setattr("carbonopt.simulation.engine.REPORT_SECONDS", 0.0)
        return generate(jobs=20, gpus=4, arrival_hours=4, max_gpus=2, seed=2)

    def test_a_schedule_ends_with_the_time(self, small: MlClusterInstance) -> None:
        assert schedule_in_time(small, make_policy(PROBLEM, "fixed-1"), Options(time_limit=None)) is not None
        assert schedule_in_time(small, make_policy(PROBLEM, "fixed-1"), Options(time_limit=0.0)) is None

    def test_ctrl_c_is_not_taken_for_it(self, small: MlClusterInstance) -> None:
        class Impatient(FirstCome):
            def on_arrival(self, state: State, job: int) -> None:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            schedule_in_time(small, Impatient(), Options())

    def test_without_time_there_is_a_bound(self, small: MlClusterInstance) -> None:
        outcome = price(small, Options(time_limit=0.0))
        assert (outcome.status, outcome.schedule) == (Status.TIME_LIMIT, None)
        assert outcome.bound is not None
        assert outcome.bound >= 0


@cache
def in_full(instance: MlClusterInstance, method: str) -> tuple[float, list[float]]:
    """Return the bound that a method ends with, and those that it reports."""
    seen: list[Progress] = []
    found = co.solve(instance, method, time_limit=None, callback=seen.append)
    assert found.bound is not None
    return found.bound, [progress.bound for progress in seen if progress.bound is not None]


@pytest.fixture(scope="module")
def tight() -> MlClusterInstance:
    """With GREEN's own mean completion time as budget: prices are made for smaller ones."""
    plain = generate(jobs=20, gpus=4, arrival_hours=6, max_gpus=4, seed=1)
    schedule = simulate(
        plain, make_policy(PROBLEM, "green"), SimulationOptions(ForecastModel().of(plain.intensity, 1.0))
    ).schedule
    assert schedule is not None
    limit = check(plain, schedule).metrics["mean_jct_hours"]
    return plain.with_objective(limits=Limits(limit))


class TestWhatIsReported:
    @pytest.mark.slow
    @pytest.mark.parametrize("method", ["price", "lp"])
    def test_bounds_of_smaller_budgets_are_none_of_this_one(self, tight: MlClusterInstance, method: str) -> None:
        bound, reported = in_full(tight, method)
        assert max(reported) == pytest.approx(bound, rel=1e-9)

    @pytest.mark.parametrize("method", ["price", "lp"])
    @pytest.mark.parametrize("call", [1, 5])
    def test_what_an_interrupt_leaves_is_proven(
        self, tight: MlClusterInstance, method: str, call: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        proven, _ = in_full(tight, method)
        calls = iter(range(1, 100))

        def impatient(*arguments: Any, **named: Any) -> Any:
            if next(calls) == call:  # the first round, and one with a smaller budget
                raise KeyboardInterrupt
            return follow_prices(*arguments, **named)

        monkeypatch.setattr("carbonopt.problems.mlcluster.methods.price.method.follow_prices", impatient)
        found = co.solve(tight, method, time_limit=None)
        assert found.status is Status.INTERRUPTED
        assert found.bound is not None
        assert 0 < found.bound <= proven * (1 + 1e-9)
        assert next(calls) > call  # it was not over before

    @pytest.mark.parametrize("status", [Status.TIME_LIMIT, Status.INTERRUPTED, Status.INFEASIBLE])
    @pytest.mark.parametrize("start", [None, "fcfs"])
    def test_lp_without_a_solution_has_its_start_or_a_simple_rule(
        self, status: Status, start: str | None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        instance = generate(jobs=20, gpus=4, arrival_hours=4, max_gpus=2, seed=2)
        given = None if start is None else schedule_in_time(instance, make_policy(PROBLEM, start), Options())
        monkeypatch.setattr(highs, "solve", lambda *_: highs.Result(status))
        outcome = lp(instance, Options(start=given))
        assert outcome.schedule == (given or schedule_in_time(instance, make_policy(PROBLEM, "fixed-1"), Options()))
        assert outcome.status is (Status.FEASIBLE if status is Status.INFEASIBLE else status)
        assert outcome.bound is None


def test_coefficients_of_wide_span_are_no_concern_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carbonopt.milp.program.WIDE_RANGE", 100.0)
    instance = generate(jobs=12, gpus=4, arrival_hours=4, max_gpus=4, drain_hours=30, seed=2)
    instance = instance.with_objective(limits=Limits(8.0))
    assert build(instance, 4, whole_work=True).program.range_warnings()
    assert lp(instance, Options()).bound == pytest.approx(price(instance, Options()).bound, rel=1e-3)


@pytest.mark.slow
def test_a_large_lp_has_slots_for_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    target = generate(jobs=10, gpus=3, arrival_hours=4, max_gpus=2, slot_hours=4, mean_jct_hours=6.0, seed=2)
    assert lp(target, Options()).info["cells"] == 4
    monkeypatch.setattr("carbonopt.problems.mlcluster.methods.milp.MOST_COLUMNS", 100)
    assert lp(target, Options()).info["cells"] == 1


@pytest.mark.parametrize(
    ("jobs", "gpus", "arrival_hours", "drain_hours"), [(12, 4, 6, None), (30, 8, 12, 24)], ids=["long", "drain"]
)
def test_where_jobs_that_wait_end_too_late_haste_helps(
    jobs: int, gpus: int, arrival_hours: float, drain_hours: float | None
) -> None:
    target = generate(jobs=jobs, gpus=gpus, arrival_hours=arrival_hours, drain_hours=drain_hours, seed=10)
    options = Options(time_limit=None)
    assert follow_prices(ascend(target, options), options) is None
    bound, objective = solved(target)
    assert objective <= 1.06 * bound  # the rule that gave the first schedule: 1.54 and 3.06 times the bound


class TestParameters:
    instance = generate(jobs=12, gpus=4, arrival_hours=4, max_gpus=4, drain_hours=30, load=1.2, seed=5)

    def test_change_what_is_done(self) -> None:
        usual = co.solve(self.instance, "price", params={"bound": {"restart_steps": 0}})
        fewer = {"temperatures": [0.1], "subgradient_steps": 0, "restart_steps": 0}
        short = co.solve(self.instance, "price", params={"bound": fewer})
        assert short.info["pricings"] < usual.info["pricings"]
        assert short.bound <= usual.bound

    @pytest.mark.parametrize(
        "params", [{"bound": {"temperatures": [0.1, -1]}}, {"follow": {"hastes": [0.5]}}, {"follow": {"haste": 2}}]
    )
    def test_that_are_wrong_are_told_in_one_line(self, params: dict[str, Any]) -> None:
        with pytest.raises(InputError) as told:
            co.solve(self.instance, "price", params=params)
        assert "params." in str(told.value)
        assert "\n" not in str(told.value)


def test_where_there_is_no_time_to_compile_loops_run_as_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first solve of a machine."""

    def refuse(_: Kernel[..., Any]) -> None:
        raise AssertionError("a kernel is compiled")

    params = PriceParameters(repair=RepairParameters(patience=2))
    usual = price(TestParameters.instance, Options(time_limit=None, params=params))
    monkeypatch.setattr(Kernel, "is_ready", False)
    monkeypatch.setattr(Kernel, "machine", property(refuse))
    monkeypatch.setattr(method, "COMPILE_SECONDS", inf)
    monkeypatch.setattr(method, "price_steps", lambda *_: inf)
    found = price(TestParameters.instance, Options(time_limit=1e6, params=params))
    assert found.schedule == usual.schedule
    assert found.bound == pytest.approx(usual.bound)
    assert found.certificate is not None

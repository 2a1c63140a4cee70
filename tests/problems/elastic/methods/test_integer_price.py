"""Method `price` for the integer model: schedules that pass the checker, bounds that hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from elastic_support import by_hand, random_instance, reference

import carbonopt as co
from carbonopt.core.options import Options, Progress
from carbonopt.core.status import Status
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.methods.bounds import certified_bound
from carbonopt.problems.elastic.methods.price.plans.method import integer_price
from carbonopt.problems.elastic.verify.check import check


def solved(instance: ElasticInstance, **options: object):
    return integer_price(instance, Options(**{"time_limit": None, "threads": 1} | options), no_prices(instance))


def no_prices(instance: ElasticInstance) -> np.ndarray:
    return np.zeros(instance.time.slots)


@pytest.mark.parametrize("kind", ["unit", "decreasing", "general", "tight", "free", "scaled"])
@pytest.mark.parametrize("seed", range(4))
def test_schedule_and_bound_against_brute_force(kind: str, seed: int) -> None:
    instance = random_instance(seed, kind, jobs=4, slots=6, model="integer")
    optimum, _ = reference.brute_force(instance.to_dict())
    outcome = solved(instance)
    if optimum is None:
        assert outcome.schedule is None
        assert outcome.status in (Status.UNKNOWN, Status.INFEASIBLE)
        return
    assert outcome.bound is not None
    assert outcome.bound <= optimum * (1 + 1e-9) + 1e-9
    assert outcome.schedule is not None
    report = check(instance, outcome.schedule)
    assert report.feasible, report.violations
    assert report.objective is not None
    assert optimum * (1 - 1e-9) - 1e-9 <= report.objective <= optimum * 1.15 + 1e-9


def test_whole_servers_that_are_too_few_are_proven() -> None:
    """Two jobs of 1.5 slots each on one server for 3 slots: as parts they fit, in whole slots they need 4."""
    instance = by_hand(1, [1.0, 1.0, 1.0], (0, 1.5, 1, [1.0]), (0, 1.5, 1, [1.0]))
    assert co.solve(replace(instance, model="fluid"), "price").status == "optimal"
    assert co.solve(instance, "milp").info["infeasible_by"].startswith("HiGHS, without a certificate")
    solution = co.solve(instance, "price")
    assert solution.status == "infeasible"
    assert solution.certificate["kind"] == "shortage-plans"
    report = co.check(instance, solution)
    assert (report.proven_infeasible, report.violations) == (True, ())
    more = by_hand(1, [1.0, 1.0, 1.0, 1.0], (0, 1.5, 2, [1.0]), (0, 1.5, 2, [1.0]))
    assert co.solve(more, "price").status == "optimal"


def test_last_unit_is_paid_whole() -> None:
    instance = by_hand(1000, [2.0, 3.0], (0, 1.5, 0, [1.0, 0.6]))
    outcome = solved(instance)
    assert outcome.status is Status.OPTIMAL
    assert outcome.schedule == {"job": ["a"], "slot": [0], "servers": [2]}
    assert outcome.bound == pytest.approx(4.0)


def test_bound_is_no_worse_than_the_fluid_one_at_its_prices() -> None:
    instance = random_instance(1, "decreasing", jobs=30, slots=20, model="integer")
    outcome = solved(instance)
    assert outcome.certificate is not None
    assert outcome.certificate["kind"] == "lagrangian-plans"
    prices = np.array(outcome.certificate["prices"])
    assert prices.shape == (20,)
    assert (prices >= 0).all()
    fluid, _ = certified_bound(instance, prices)
    assert outcome.bound is not None
    assert fluid <= outcome.bound * (1 + 1e-9)


def test_same_seed_same_schedule() -> None:
    instance = random_instance(2, "decreasing", jobs=20, slots=20, model="integer")
    assert solved(instance, seed=3).schedule == solved(instance, seed=3).schedule


def test_job_that_does_not_fit_alone_is_infeasible() -> None:
    outcome = solved(by_hand([0, 1], [1.0, 1.0], (0, 2.0, 0, [1.0])))
    assert outcome.status is Status.INFEASIBLE
    assert outcome.info["jobs_that_fit_nowhere"] == ["a"]


def test_no_jobs() -> None:
    outcome = solved(by_hand(1, [1.0]))
    assert outcome.status is Status.OPTIMAL
    assert outcome.bound == 0


def test_starts_from_a_schedule_and_reports() -> None:
    instance = by_hand(1, [2.0, 1.0, 4.0], (0, 1.0, 1, [1.0]), (1, 1.0, 1, [1.0]))
    seen: list[Progress] = []
    start = {"job": ["a", "b"], "slot": [1, 2], "servers": [1, 1]}
    outcome = solved(instance, start=start, callback=seen.append)
    assert outcome.schedule == {"job": ["a", "b"], "slot": [0, 1], "servers": [1, 1]}
    assert outcome.status is Status.OPTIMAL
    first = next(report for report in seen if report.schedule is not None)
    assert first.incumbent == 5.0
    assert first.schedule is not None
    assert first.schedule() == start


def test_without_time_there_is_still_an_insertion_and_a_bound() -> None:
    instance = random_instance(1, "decreasing", jobs=20, slots=20, model="integer")
    outcome = solved(instance, time_limit=0.0)
    assert outcome.status in (Status.TIME_LIMIT, Status.OPTIMAL)
    assert outcome.bound is not None
    assert outcome.schedule is None or check(instance, outcome.schedule).feasible


def test_fractional_capacity_by_slot() -> None:
    instance = by_hand([1.5, 2.5, 0.0], [1.0, 2.0, 0.5], (0, 2.0, 1, [1.0, 0.9]), (0, 1.0, 2, [1.0]))
    outcome = solved(instance)
    assert outcome.schedule is not None
    report = check(instance, outcome.schedule)
    assert report.feasible
    assert report.objective == pytest.approx(5.0)
    assert outcome.bound is not None
    assert outcome.bound <= 5.0


def test_columns_are_generated_until_the_master_overloads_no_slot() -> None:
    """Long jobs of many servers have so many plans that three masters are not enough."""
    instance = co.generate("elastic", jobs=200, workload="supercomputer", seed=1)
    assert isinstance(instance, ElasticInstance)
    found = co.solve(instance, "price", work_limit=6)
    assert found.status is Status.OPTIMAL
    assert co.check(instance, found).feasible
    early = co.solve(instance, "price", work_limit=3, params={"columns": {"far_gap": 10.0}, "balance": {"patience": 1}})
    assert early.bound is not None
    assert found.bound is not None
    assert early.bound < 0.9 * found.bound

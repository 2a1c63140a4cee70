"""Wrong claims and tracebacks of the past, each in a small instance of its own."""

import json

import numpy as np
import pytest
from conftest import TINY

import carbonopt as co
from carbonopt.algorithms.prices import Ascent
from carbonopt.core.errors import InputError
from carbonopt.problems.purchasing.verify import accounts
from hostile.small import elastic, instance_of, mlcluster, purchasing

FALLING = [
    mlcluster([100.0], [1.0, 0.9], [300.0, 300.0], [58.0]),
    mlcluster([120.0, 250.0], [1.0, 0.8, 0.7], [280.0, 280.0, 280.0], [40.0], jct_weight=0.1),
    mlcluster([90.0, 280.0], [1.0, 0.95], [310.0, 310.0], [60.0, 25.0], jct_weight=0.01),
    mlcluster([480.0, 330.0, 281.0, 68.0], [1.0, 0.9], [3e5, 4.5e14], [60.0, 60.0], jct_weight=0.02),
]
"""More GPUs do less here; in the last one at so many watts that sums with them lose the digits of the others."""
FREE = [
    mlcluster([0.0], [1.0, 0.84], [1000.0, 1500.0], [15.0, 15.0], jct_weight=0.01, idle_watts=100.0),
    mlcluster([0.0, 0.0], [1.0, 1.7], [200.0, 300.0], [30.0, 50.0]),
    mlcluster([200.0, 100.0], [1.0, 1.7], [200.0, 300.0], [30.0, 50.0], carbon_weight=0.0, jct_weight=0.5),
    mlcluster([200.0, 100.0], [1.0, 1.7], [200.0, 300.0], [30.0], carbon_weight=0.0),
]
"""Carbon is free here, in the signal or in the weights."""


@pytest.mark.parametrize("raw", FALLING + FREE)
@pytest.mark.parametrize("method", ["price", "lp"])
def test_a_bound_of_mlcluster_is_proven_and_below_a_schedule(raw, method):
    instance = instance_of(raw)
    solution = co.solve(instance, method, time_limit=None)  # a claim that is not proven is a warning, and an error here
    known = co.solve(instance, "fixed-1").objective
    assert solution.status not in (co.Status.INFEASIBLE, co.Status.ERROR)
    assert solution.bound is not None
    assert solution.bound + 1e-9 >= 0
    assert known is None or solution.bound <= known * (1 + 1e-9) + 1e-12
    assert not co.check(instance, solution).violations


@pytest.mark.parametrize("method", ["milp", "lp"])
def test_a_shortage_of_dear_work_is_proven(method):
    raw = elastic(
        [6.1, 3.0, 3.0, 1.0], [1, 3, 0, 0], [1, 0, 1], [1.0, 4.0, 0.55], [1, 0, 0], [1.0, 0.7], 0.9, slot_hours=1.98
    )
    solution = co.solve(instance_of(raw), method, time_limit=None)
    assert solution.status is co.Status.INFEASIBLE
    report = co.check(instance_of(raw), solution)
    assert not report.violations
    assert report.proven_infeasible


def test_spot_cpus_of_large_weights_are_priced():
    signal = [3000, 3000, 3000, 3000, 0, 1350.0, 1000, 1000]
    instance = instance_of(purchasing(signal, [3, 3, 2], [1, 1, 2], [2, 2, 1]))
    solution = co.solve(instance, "price", time_limit=None)
    exact = co.solve(instance, "milp", time_limit=None)
    assert solution.objective == pytest.approx(exact.objective)
    assert not co.check(instance, solution).violations


def test_an_ascent_that_goes_astray_keeps_the_best_prices():
    calls = []

    def soft(prices, _temperature):
        calls.append(prices)
        assert np.isfinite(prices).all()
        return 1.0, np.full(2, np.nan if len(calls) > 1 else 1.0)

    ascent = Ascent(lambda prices: (-float(prices @ prices), -2 * prices), soft, np.ones(2))
    ascent.smooth([1.0])
    assert np.isfinite(ascent.prices).all()


@pytest.mark.parametrize("end", [[], {}, None, "nobody", 10**400, True, float("nan"), [1]])
@pytest.mark.parametrize("name", ["gpuqueue", "crowd", "scaling", "spotpays_0p7585"])
def test_a_schedule_of_other_things_than_numbers_is_violated_and_no_more(tiny, name, end):
    instance = tiny[name]
    method = {"mlcluster": "fixed-1", "mosp": "greedy-clean", "elastic": "milp", "purchasing": "milp"}[instance.problem]
    solution = co.solve(instance, method, time_limit=None)
    assert solution.columns is not None
    for column, values in solution.columns.items():
        solution.columns[column] = [end, *list(values)[1:]]
        assert co.check(instance, solution).violations
        solution.columns[column] = values


@pytest.mark.parametrize("end", [5e7, 3e9, 1e300])
def test_a_run_on_spot_cpus_of_any_length_is_checked_in_little_memory(tiny, end, monkeypatch):
    instance = tiny["spotpays_0p7585"]
    solution = co.solve(instance, "milp", time_limit=None)
    assert solution.columns is not None
    solution.columns["end_hours"] = [end]
    counted = np.repeat
    most = 100

    def repeat(values, pieces):
        assert np.sum(pieces) < most
        return counted(values, pieces)

    monkeypatch.setattr(accounts.np, "repeat", repeat)
    assert co.check(instance, solution).violations


def test_a_divisor_that_overflows_is_refused(tmp_path):
    raw = json.loads(TINY["caspian"].read_text())
    raw["objective"]["normalizers"] = {"z1": 1, "z2": 1, "z3": 5e-324}
    with pytest.raises(InputError, match=r"normalizers.z3 = 5e-324: must be at least"):
        instance_of(raw)


@pytest.mark.parametrize(
    ("name", "place", "metric"),
    [
        ("shift", ("jobs", "deadline"), "completion_ratio"),
        ("shift", ("carbon", "g_per_kwh", 0), "z1"),
        ("shift", ("clusters", "watts_per_unit", "gpu"), "z1"),
    ],
)
@pytest.mark.parametrize("value", [1e-320, 5e-324])
def test_a_metric_that_overflows_is_written_as_one_that_is_not_defined(tmp_path, name, place, metric, value):
    """The quotient of a number that a file may hold is more than a file can hold."""
    raw = json.loads(TINY[name].read_text())
    column = raw
    for key in place:
        column = column[key]
    column[0] = value
    instance = instance_of(raw)
    solution = co.solve(instance, "greedy-clean")
    assert solution.metrics[metric] is None
    solution.write(tmp_path / "s.json")
    assert not co.check(instance, co.read_solution(tmp_path / "s.json")).violations


@pytest.mark.parametrize("work", [1e-320, 5e-324, 1e-300])
def test_work_by_which_no_price_can_be_divided_is_refused(work):
    """The delay of a GPU minute was infinite, then no number, and the search for its price had no end."""
    with pytest.raises(InputError, match=r"jobs\.work_gpu_minutes\[0\] = .*: must be at least 1e-30"):
        instance_of(mlcluster([100.0], [1.0], [200.0], [work], jct_weight=0.5))


@pytest.mark.parametrize("work", [1e-30, 1e-12])
def test_work_of_almost_nothing_is_priced(work):
    instance = instance_of(mlcluster([100.0], [1.0], [200.0], [work], jct_weight=0.5))
    solution = co.solve(instance, "price", time_limit=None)
    assert solution.has_solution
    assert not co.check(instance, solution).violations


@pytest.mark.parametrize("length", [5e-324, 1e-30, 1e-12])
def test_a_job_shorter_than_rounding_is_refused(tiny, length):
    """Its shares of a slot counted as none: there was an IndexError, and schedules that the checker refused."""
    raw = tiny["scaling"].to_dict()
    raw["jobs"]["length"][0] = length
    with pytest.raises(InputError, match=r"jobs\.length\[0\] = .*: must be at least 1e-10 slots"):
        instance_of(raw)


@pytest.mark.filterwarnings("ignore:.*coefficients span:UserWarning")
@pytest.mark.parametrize("method", ["price", "milp", "lp-rounding", "carbonflex-greedy"])
def test_a_job_of_almost_no_length_is_scheduled(tiny, method):
    raw = tiny["scaling"].to_dict()
    raw["jobs"]["length"] = [1e-10] * len(raw["jobs"]["length"])
    instance = instance_of(raw)
    solution = co.solve(instance, method, time_limit=None)
    assert solution.has_solution
    assert not co.check(instance, solution).violations

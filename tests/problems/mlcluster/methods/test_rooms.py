"""The problem as the package offers it: plot, diagnosis, limits, layout."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import ROOT, load_module

import carbonopt as co
from carbonopt.problems.mlcluster.data.file import from_dict
from carbonopt.problems.mlcluster.data.settings import Limits
from carbonopt.problems.mlcluster.formulation.layout import wrapped
from carbonopt.problems.mlcluster.methods.limited import at_equal, limited
from carbonopt.problems.mlcluster.verify.check import check

tiny = load_module(ROOT / "instances/tiny_mlcluster.py")
LINEAR = {"p": tiny.profile(1, 2)}


@pytest.fixture(scope="module")
def small() -> co.Instance:
    return co.generate("mlcluster", jobs=20, gpus=4, arrival_hours=6, seed=1)


def test_plot(small: co.Instance) -> None:
    from matplotlib import pyplot

    axes = co.simulate(small, "fcfs").plot(small)
    assert axes.get_ylabel() == "GPUs"
    assert "mean JCT" in axes.get_title()
    pyplot.close(axes.figure)


def test_diagnosis(small: co.Instance) -> None:
    assert co.diagnose(small).feasible
    hopeless = co.diagnose(small.with_objective(limits=Limits(0.01)))
    assert hopeless.feasible is False
    assert "mean completion time cannot be 0.01 h" in hopeless.findings[0].message


def test_the_least_carbon_at_a_policy_s_own_mean_jct(small: co.Instance) -> None:
    policy = co.simulate(small, "green")
    target, metric = at_equal(small, policy.metrics)
    best = co.solve(target, "price")
    assert best.bound <= policy.metrics[metric]
    assert best.metrics["mean_jct_hours"] <= policy.metrics["mean_jct_hours"] * (1 + 1e-9)
    assert co.check(target, best).feasible


def test_limits_on_completion_times_alone(small: co.Instance) -> None:
    assert limited(small, "mean_jct_hours", {}).weights.carbon_kg == 0
    with pytest.raises(co.UnsupportedError, match="'carbon_kg' cannot be limited"):
        limited(small, "added_carbon_kg", {"carbon_kg": 1.0})
    with pytest.raises(co.UnsupportedError, match="quantity 'cost'"):
        limited(small, "cost", {})


def test_wrap_around() -> None:
    jobs = dict.fromkeys("abc", (0.0, 80.0, "p", 1, 2))
    instance = from_dict(tiny.tiny("wrap", "", 4, [100], jobs, LINEAR))
    schedule = wrapped(instance, np.arange(3), np.zeros(3, dtype=np.int64), np.full(3, 80.0), cells=1)
    rows = sorted(zip(*schedule.values(), strict=True))
    assert rows == [
        ("a", 0, 20, 2), ("a", 20, 60, 1), ("b", 0, 20, 1), ("b", 20, 40, 2), ("b", 40, 60, 1), ("c", 0, 40, 1),
        ("c", 40, 60, 2),
    ]  # fmt: skip
    assert check(instance, schedule).violations == ()


def test_online_methods_that_do_not_keep_the_budget_say_so(small: co.Instance) -> None:
    solution = co.solve(small.with_objective(limits=Limits(0.5)), "fcfs")
    assert (solution.status, solution.has_solution) == ("unknown", False)
    assert solution.info["left_out"][0].startswith("limit: mean_jct_hours is")


def test_an_empty_cluster() -> None:
    raw = tiny.tiny("empty", "", 1, [100, 100], {"a": (0.0, 60.0, "one", 1, 1)})
    instance = from_dict(raw | {"jobs": {name: [] for name in raw["jobs"]}})
    for method in ("price", "lp", "green", "tiresias"):
        solution = co.solve(instance, method)
        assert (solution.objective, solution.schedule.empty) == (0, True)

"""Method `price` where its loops are not compiled and the time is too short for it."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

import carbonopt as co
from carbonopt.algorithms.kernel import Kernel
from carbonopt.problems.purchasing.methods.price import method


@pytest.mark.slow
@pytest.mark.parametrize(
    "terms",
    [
        {},
        {"model": "no-split"},
        {"model": "suspend-resume"},
        {"decide_reserved": True},
        {"spot_max_length_hours": 2.0, "evictions_per_hour": 0.1},
    ],
)
def test_there_is_a_schedule_at_least_as_good_as_that_without_waiting(
    terms: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Kernel, "is_ready", False)
    monkeypatch.setattr(method, "COMPILE_SECONDS", inf)
    instance = co.generate("purchasing", jobs=12, arrival_hours=24, seed=3, **terms)
    found = co.solve(instance, "price", time_limit=1e6, mip_rel_gap=0.05)
    baseline = co.solve(instance, "no-wait")
    assert found.status in ("optimal", "feasible")
    assert found.objective is not None
    assert baseline.objective is not None
    assert found.objective <= baseline.objective
    assert found.bound is not None
    assert 0 < found.bound <= found.objective
    assert "compile" in found.info["without_loops"]


@pytest.mark.filterwarnings("ignore:.*coefficients span:UserWarning")
def test_limits_that_no_schedule_without_waiting_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Kernel, "is_ready", False)
    instance = co.generate("purchasing", jobs=40, arrival_hours=24, reserved=5, seed=3)
    carbon = float(co.solve(instance, "no-wait").metrics["carbon_kg"])
    limited = instance.with_objective(instance.weights, type(instance.limits)(carbon_kg=0.97 * carbon))
    found = co.solve(limited, "price", time_limit=3.0)
    assert found.bound is not None
    assert np.isfinite(found.bound)
    assert co.check(limited, found).violations == ()


def test_a_program_beyond_the_memory_leaves_best_responses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Kernel, "is_ready", False)
    monkeypatch.setattr("carbonopt.milp.program.INDEX_LIMIT", 1)
    instance = co.generate("purchasing", jobs=40, arrival_hours=24, reserved=5, seed=3)
    found = co.solve(instance, "price", time_limit=3.0)
    assert found.objective is not None
    assert found.bound is not None
    assert found.objective < co.solve(instance, "no-wait").objective

"""A claim that no schedule exists has a proof that the checker recomputes, or says that it has none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from purchasing_random import by_hand, continuous

import carbonopt as co
from carbonopt.problems.purchasing.data.instance import Limits, PurchasingInstance, PurchasingJobs, Weights
from carbonopt.problems.purchasing.verify.certificate import ceiling, proven_bound

pytestmark = pytest.mark.filterwarnings("ignore:.*coefficients span:UserWarning")  # of random moments
MODELS = ("splitting", "no-split", "suspend-resume")
METHODS = ("price", "lp", "lp-rounding", "milp")


def too_tight(seed: int, model: str) -> PurchasingInstance:
    """Return jobs that may emit a fifth of what they emit at once: the carbon varies by less."""
    instance = continuous(seed, model, [None, 0.0, 0.3][seed % 3], seed % 2 == 0)
    metrics = co.solve(instance, "no-wait").metrics
    limits = Limits(0.2 * metrics["carbon_kg"], metrics["cost_usd"], 0.5 if seed % 2 else None)
    return instance.with_objective(instance.weights, limits)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("model", MODELS)
def test_check_recomputes_the_proof(model: str, method: str) -> None:
    for seed in range(3):
        instance = too_tight(seed, model)
        found = co.solve(instance, method, time_limit=None)
        assert found.status == "infeasible"
        assert found.certificate is not None
        assert "infeasible_by" not in found.info
        report = co.check(instance, found)
        assert report.violations == ()
        assert report.proven_infeasible


@pytest.mark.parametrize("method", METHODS)
def test_what_is_prepaid_exceeds_a_limit_even_without_jobs(method: str) -> None:
    instance = co.generate("purchasing", jobs=1, reserved=2, seed=1)
    assert isinstance(instance, PurchasingInstance)
    nothing = np.zeros(0)
    empty = replace(instance, jobs=PurchasingJobs((), nothing, nothing, nothing), limits=Limits(cost_usd=1e-6))
    found = co.solve(empty, method)
    assert found.status == "infeasible"
    assert co.check(empty, found).proven_infeasible


def test_prices_that_prove_less_are_refused() -> None:
    instance = too_tight(0, "splitting")
    found = co.solve(instance, "lp")
    assert found.certificate is not None
    less = {**found.certificate, "prices": found.certificate["prices"] * 0, "multipliers": None}
    proven, _ = proven_bound(instance, less, {})
    assert proven is not None
    assert proven <= ceiling(instance)
    told = "; ".join(map(str, co.check(instance, replace(found, certificate=less)).violations))
    assert "does not prove that there is no schedule" in told


def test_no_schedule_costs_more_than_the_ceiling() -> None:
    for seed in range(30):
        instance = continuous(seed, MODELS[seed % 3], [None, 0.0, 0.3][seed % 3], seed % 2 == 0)
        objective = co.solve(instance, "no-wait").objective
        assert objective is not None
        assert objective < ceiling(instance)


def test_a_claim_by_the_search_tree_says_so() -> None:
    """Two starts mixed emit 2 kg after a mean wait of 1 h; any one emits 3 kg, or waits for more."""
    limits = Limits(carbon_kg=2.0, mean_wait_hours=1.0)
    instance = by_hand([3, 3, 1, 3], [(0, 1, 1)], wait=2.0, weights=Weights(1, 0, 0), limits=limits)
    assert co.solve(instance, "lp").status == "optimal"
    found = co.solve(instance, "milp")
    assert (found.status, found.certificate) == ("infeasible", None)
    assert "HiGHS, without a certificate" in found.info["infeasible_by"]

"""Branches on the number of rejected jobs: better bounds, with a certificate."""

from __future__ import annotations

import copy
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

import carbonopt as co
from carbonopt.core.certificate import LARGEST_PRICE
from carbonopt.core.options import Options
from carbonopt.core.status import Status
from carbonopt.io import schema
from carbonopt.problems.mosp.data.file import from_dict
from carbonopt.problems.mosp.formulation.objective import placement_value
from carbonopt.problems.mosp.methods.bounds import lagrangian_bound
from carbonopt.problems.mosp.methods.price.bound import Proof
from carbonopt.problems.mosp.methods.price.dual import Dual
from carbonopt.problems.mosp.methods.price.parameters import PriceParameters
from carbonopt.problems.mosp.verify.certificate import proven_bound


def one_slot(capacity, demand, price):
    """Return an instance with one slot, in which a unit costs 1 kg."""
    return from_dict(
        {
            "schema_version": 1,
            "problem": "mosp",
            "name": "one-slot",
            "time": {"slots": 1, "slot_hours": 1.0, "start": "2022-01-01T00:00:00Z"},
            "carbon": {"zones": ["Z"], "g_per_kwh": [[1000.0]]},
            "clusters": {
                "name": ["c0"],
                "zone": ["Z"],
                "capacity": {"gpu": [float(capacity)]},
                "watts_per_unit": {"gpu": [1000.0]},
            },
            "jobs": {
                "name": [f"j{i}" for i in range(len(demand))],
                "arrival": [0] * len(demand),
                "duration": [1] * len(demand),
                "deadline": [1.0] * len(demand),
                "demand": {"gpu": [float(d) for d in demand]},
            },
            "objective": {
                "kind": "carbon",
                "weights": {"carbon_kg": 1.0, "tardiness_slots": 0.0, "completion_slots": 0.0},
                "rejection_price": price,
            },
        }
    )


def raised(instance, goal=np.inf, splits=10):
    """Return the bound of an instance, and what proves it; ended by a number of splits, so that machines agree."""
    value = placement_value(instance, None)
    proof = Proof(instance, Dual(instance, value), PriceParameters())
    options = Options(time_limit=None)
    for _ in proof.raise_prices(options):
        pass
    found = [proof.certified, *islice(proof.count_rejections(goal, options), splits)]
    assert (np.diff(found) >= 0).all()
    return proof


def test_by_hand():
    """Two of three units each, room for five: 3 + 10 for every schedule; the relaxation rejects a third of a job."""
    proof = raised(one_slot(5, [3, 3], 10.0), goal=13.0)
    assert proof.price_bound == pytest.approx(5 + 10 / 3, abs=1e-3)
    assert proof.certified == pytest.approx(13.0, abs=1e-3)


def test_smaller_jobs_are_rejected_whole_as_well():
    """Jobs of 2, 2 and 1 units, room for 4: 3 + 10 at least; the relaxation rejects half a job of 2 units."""
    proof = raised(one_slot(4, [2, 2, 1], 10.0), goal=13.0)
    assert proof.price_bound == pytest.approx(4 + 5, abs=1e-3)
    assert proof.certified == pytest.approx(13.0, abs=1e-3)


def crowded(seed, jobs=14):
    return co.generate("mosp", preset="bench", jobs=jobs, clusters=2, slots=12, seed=seed, load=1.5)


@pytest.mark.slow
def test_no_bound_is_past_the_optimum_and_certificates_hold():
    better = 0
    for seed in (0, 2, 4, 6, 7):
        instance = crowded(seed)
        optimum = co.solve(instance, "milp", mip_rel_gap=0, time_limit=None).objective
        proof = raised(instance, goal=optimum, splits=3)
        assert proof.certified <= optimum * (1 + 1e-9)
        certificate = proof.certificate(1.0)
        proven, _ = proven_bound(instance, certificate, {})
        assert proven == pytest.approx(proof.certified, rel=1e-9)
        assert proven <= optimum * (1 + 1e-9)
        better += certificate["kind"] == "rejections" and proof.certified > proof.price_bound + 1e-3 * optimum
    assert better >= 4


@pytest.fixture(scope="module")
def solved():
    """Return an instance and a solution that is good enough only by its tree."""
    instance = crowded(1, jobs=90)
    return instance, co.solve(instance, "price", time_limit=None, mip_rel_gap=0.002)


def test_a_solution_carries_the_tree(solved):
    instance, solution = solved
    assert solution.certificate["kind"] == "rejections"
    assert solution.bound > solution.info["lagrangian_bound"]
    report = co.check(instance, solution)
    assert report.violations == ()
    assert report.proven_bound == pytest.approx(solution.bound, rel=1e-9)


def leaves(node):
    if "charges" in node:
        return [node]
    return leaves(node["at_most"]) + leaves(node["more"])


@pytest.mark.slow
def test_whatever_is_changed_in_a_tree_proves_a_bound_that_holds():
    """Any prices, charges and splits give a true bound: numbers in the tree can only make it worse."""
    instance, rng = crowded(2), np.random.default_rng(0)
    optimum = co.solve(instance, "milp", mip_rel_gap=0, time_limit=None).objective
    certificate = raised(instance, goal=optimum).certificate(1.0)
    assert certificate["kind"] == "rejections"
    for _ in range(60):
        wrong = copy.deepcopy(certificate)
        for leaf in leaves(wrong["tree"]):
            leaf["charges"] = (np.array(leaf["charges"]) + rng.normal(0, 3, len(leaf["charges"]))).tolist()
            leaf["prices"] = (np.array(leaf["prices"]) * rng.uniform(0, 2)).tolist()
        node = wrong["tree"]
        while "charges" not in node:
            node["most"] += int(rng.integers(-2, 3))
            if rng.random() < 0.3:
                node["at_most"], node["more"] = node["more"], node["at_most"]
            node = node["more"]
        wrong["sets"] = [sorted(rng.permutation(len(instance.jobs))[: len(s)].tolist()) for s in wrong["sets"]]
        proven, _ = proven_bound(instance, wrong, {})
        assert proven <= optimum * (1 + 1e-9)


def test_a_tree_that_proves_less_is_a_violation(solved):
    instance, solution = solved
    certificate = copy.deepcopy(solution.certificate)
    leaves(certificate["tree"])[0]["prices"][0][0][0] += 1.0
    report = co.check(instance, replace(solution, certificate=certificate))
    assert [violation.constraint for violation in report.violations] == ["certificate"]


def test_without_branches_it_is_the_bound_of_prices():
    instance = crowded(3)
    proof = raised(instance)
    tree = {"prices": proof.prices.reshape(proof.dual.shape).tolist(), "charges": []}
    proven, _ = proven_bound(instance, {"kind": "rejections", "sets": [], "tree": tree}, {})
    assert proven == pytest.approx(
        lagrangian_bound(instance, placement_value(instance), proof.prices.reshape(proof.dual.shape)), rel=1e-9
    )


@pytest.mark.parametrize(
    ("part", "field"),
    [
        ({"kind": "other"}, "certificate.kind"),
        ({"sets": None}, "certificate.sets"),
        ({"sets": [[]]}, "certificate.sets"),
        ({"sets": [[0, 0]]}, "certificate.sets"),
        ({"sets": [[0, True]]}, "certificate.sets"),
        ({"sets": [[0, 14]]}, "certificate.sets"),
        ({"tree": None}, "certificate.tree"),
        ({"tree": {"set": 1, "most": 0}}, "certificate.tree"),
        ({"tree": {"set": 0, "most": 0.5}}, "certificate.tree"),
        ({"tree": {"set": 0, "most": 0}}, "certificate.tree"),
        ({"tree": {"prices": [], "charges": [0.0]}}, "certificate.prices"),
        ({"tree": {"prices": [], "charges": []}}, "certificate.tree.charges"),
        ({"tree": {"prices": [], "charges": [float("nan")]}}, "certificate.tree.charges"),
    ],
)
def test_what_is_no_tree_is_told(part, field):
    certificate = {"kind": "rejections", "sets": [[0, 1]], "tree": {"prices": [], "charges": [0.0]}} | part
    with pytest.raises(co.InputError) as caught:
        proven_bound(crowded(0), certificate, {})
    assert caught.value.faults[0].field == field


@pytest.mark.parametrize("demand", [[30, 30], [3, 30]])
def test_a_job_that_can_run_nowhere_proves_that_there_is_no_schedule(demand):
    instance = one_slot(5, demand, None)
    prices = [[[0.0]]]
    for certificate in (
        {"kind": "lagrangian", "prices": prices},
        {"kind": "rejections", "sets": [[0, 1]], "tree": {"prices": prices, "charges": [0.0]}},
    ):
        assert proven_bound(instance, certificate, {}) == (np.inf, ())


def test_a_bound_that_says_nothing_is_no_proof_that_there_is_no_schedule():
    instance = one_slot(5, [3, 3], 10.0)
    endless = np.full_like(instance.clusters.capacity, 1e300)
    instance = replace(instance, clusters=replace(instance.clusters, capacity=endless))
    claim = replace(
        co.solve(instance, "greedy-clean"),
        certificate={"kind": "lagrangian", "prices": [[[1e30]]]},
        status=Status.INFEASIBLE,
        objective=None,
        bound=None,
        columns=None,
        metrics={},
    )
    report = co.check(instance, claim)
    assert not report.proven_infeasible
    assert "certificate" in [violation.constraint for violation in report.violations]


def test_jobs_without_work_are_rejected_like_others():
    raw = one_slot(5, [0.0] * 6, 5.0).to_dict()
    raw["time"]["slots"], raw["carbon"]["g_per_kwh"] = 4, [[1000.0, 900.0, 800.0, 1000.0]]
    raw["jobs"]["duration"], raw["jobs"]["deadline"] = [1, 2] * 3, [4.0] * 6
    raw["objective"]["weights"] |= {"completion_slots": 3.3, "tardiness_slots": 0.7}
    instance = from_dict(raw)
    solution = co.solve(instance, "price", time_limit=None)
    assert co.check(instance, solution).violations == ()
    assert solution.objective == pytest.approx(co.solve(instance, "milp").objective)


@pytest.mark.slow
def test_trees_are_no_deeper_than_files_may_be():
    proof = raised(crowded(0, jobs=30), splits=100)

    def depth(node):
        return 0 if "charges" in node else 1 + max(depth(node["at_most"]), depth(node["more"]))

    assert 1 <= depth(proof.certificate(1.0)["tree"]) <= PriceParameters().rejections.deepest < schema.DEEPEST - 10


def test_prices_stay_within_what_a_certificate_may_hold_where_there_is_no_schedule():
    """Two jobs of three units must run in five units: the bound rises without end."""
    instance = one_slot(5, [3, 3], None)
    proof = Proof(instance, Dual(instance, placement_value(instance, None)), PriceParameters())
    proof.prices = np.array([0.99 * LARGEST_PRICE])
    *_, bound = proof.raise_prices(Options(time_limit=None))
    assert bound > 0
    assert 0.99 * LARGEST_PRICE < proof.prices.max() <= LARGEST_PRICE

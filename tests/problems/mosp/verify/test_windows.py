"""Certificates by windows are rechecked from the instance alone, and what is no tree is refused."""

from __future__ import annotations

import copy
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import carbonopt as co
from carbonopt.core.errors import InputError
from carbonopt.problems.mosp.data.file import from_dict
from carbonopt.problems.mosp.verify.certificate import proven_bound


@pytest.fixture(scope="module")
def instance():
    return co.generate("mosp", preset="supercomputer", seed=3, jobs=12, clusters=2, slots=12, max_demand=8, load=0.5)


def leaf(instance, size=0.0, seed=0):
    prices = np.random.default_rng(seed).random(instance.clusters.capacity.shape) * size
    return {"prices": prices.tolist()}


@pytest.fixture
def proof(instance):
    """Return a tree over two jobs: on a cluster or not, and by a slot or later."""
    nodes = [
        {"job": 3, "cluster": 1, "parts": [1, 2]},
        {"job": 5, "last": 6, "parts": [3, 4]},
        leaf(instance, 0.01, 1),
        leaf(instance, 0.02, 2),
        leaf(instance, 0.03, 3),
    ]
    return {"kind": "windows", "jobs": [5, 3], "nodes": nodes}


def test_a_tree_of_one_leaf_proves_what_its_prices_do(instance):
    for size in (0.0, 0.01, 10.0):
        alone = leaf(instance, size)
        whole, _ = proven_bound(instance, {"kind": "windows", "jobs": [], "nodes": [alone]}, {})
        plain, _ = proven_bound(instance, {"kind": "lagrangian"} | alone, {})
        assert whole == pytest.approx(plain, rel=1e-12)


def test_each_leaf_counts_the_places_of_its_windows_alone(instance, proof):
    """Each leaf by hand, in fractions: the least bound of the three is what the tree proves."""
    windows = [
        ({3: (0, None)}, proof["nodes"][2]),
        ({3: (1, None), 5: (None, range(7))}, proof["nodes"][3]),
        ({3: (1, None), 5: (None, range(7, 12))}, proof["nodes"][4]),
    ]
    least = min(by_fractions(instance, held, node["prices"]) for held, node in windows)
    proven, _ = proven_bound(instance, proof, {})
    assert Fraction(proven) <= least
    assert proven == pytest.approx(float(least), rel=1e-12)


def test_each_leaf_has_its_own_prices_of_cliques(instance, proof):
    """By hand as above: a start in a clique costs its price more, and the clique takes it off once."""
    proof["cliques"] = in_a_slot(instance)
    for number, node in enumerate(proof["nodes"][2:]):
        node["clique_prices"] = (np.random.default_rng(number).random(len(proof["cliques"])) * 3.0).tolist()
    windows = [{3: (0, None)}, {3: (1, None), 5: (None, range(7))}, {3: (1, None), 5: (None, range(7, 12))}]
    leaves = zip(windows, proof["nodes"][2:], strict=True)
    least = min(by_fractions(instance, held, node["prices"], proof["cliques"], node) for held, node in leaves)
    proven, _ = proven_bound(instance, proof, {})
    assert Fraction(proven) <= least
    assert proven == pytest.approx(float(least), rel=1e-12)
    for node in proof["nodes"][2:]:
        node["clique_prices"] = [0.0] * len(proof["cliques"])
    free, _ = proven_bound(instance, proof, {})
    del proof["cliques"]
    for node in proof["nodes"][2:]:
        del node["clique_prices"]
    assert free == pytest.approx(proven_bound(instance, proof, {})[0], rel=1e-12)


def in_a_slot(instance):
    """Return cliques of two jobs in a slot: job 6 fills a cluster, so that no other one runs beside it."""
    jobs = instance.jobs
    cliques = []
    for j, t in np.ndindex(len(instance.clusters), instance.time.slots):
        rows = np.array([6, [3, 5, 8, 11][t % 4]])
        assert jobs.demand[rows, 0].sum() > instance.clusters.limit[j, 0, t]
        first = np.maximum(jobs.arrival[rows], t - jobs.duration[rows] + 1)
        last = np.minimum(t, instance.time.slots - jobs.duration[rows])
        there = (first <= last) & instance.eligible[rows, j]
        if there.sum() >= 2:
            columns = {"jobs": rows, "first": first, "last": last}
            cliques.append({"cluster": j} | {name: column[there].tolist() for name, column in columns.items()})
    assert len(cliques) >= 5
    return cliques


def by_fractions(instance, held, prices, cliques=(), node=None):
    """Return the bound of a leaf in which no load is certain, over the places that fit an empty cluster."""
    charge = {}
    clique_prices = [Fraction(price) for price in (node or {}).get("clique_prices", [])]
    for clique, price in zip(cliques, clique_prices, strict=True):
        for i, first, last in zip(clique["jobs"], clique["first"], clique["last"], strict=True):
            for t in range(first, last + 1):
                charge[i, clique["cluster"], t] = charge.get((i, clique["cluster"], t), 0) + price
    jobs = instance.jobs
    intensity = [instance.carbon.g_per_kwh[instance.carbon.index(zone)] for zone in instance.clusters.zone]
    weights = instance.objective
    total = Fraction(0)
    for i in range(len(jobs)):
        best = None
        cluster, starts = held.get(i, (None, None))
        for j in range(len(instance.clusters)):
            for t in range(jobs.arrival[i], instance.time.slots - jobs.duration[i] + 1):
                if cluster not in (None, j) or (starts is not None and t not in starts) or not instance.eligible[i, j]:
                    continue
                run = range(t, t + int(jobs.duration[i]))
                units = float(jobs.demand[i, 0])
                if any(units > instance.clusters.limit[j, 0, s] for s in run):
                    continue
                watts = Fraction(float(instance.clusters.watts_per_unit[j, 0]))
                cost = Fraction(charge.get((i, j, t), 0))
                for s in run:
                    kg = watts / 1000 * Fraction(instance.time.slot_hours) * Fraction(float(intensity[j][s])) / 1000
                    cost += Fraction(units) * (Fraction(weights.carbon_kg) * kg + Fraction(prices[j][0][s]))
                end = t + int(jobs.duration[i])
                late = max(Fraction(0), end - Fraction(float(jobs.deadline[i])))
                cost += Fraction(weights.tardiness_slots) * late + Fraction(weights.completion_slots) * end
                best = cost if best is None else min(best, cost)
        total += best
    limit = instance.clusters.limit
    paid = sum(Fraction(prices[j][0][t]) * Fraction(float(limit[j, 0, t])) for j, t in np.ndindex(*limit.shape[::2]))
    return total - paid - sum(clique_prices)


ALONE = {"cluster": 0, "jobs": [3], "first": [5], "last": [5]}
"""One start: at most one of it is in a schedule."""


def with_clique(certificate, prices):
    """Give a certificate this clique, at some prices in its first leaf."""
    certificate["cliques"] = [ALONE]
    for node in certificate["nodes"][2:]:
        node["clique_prices"] = [0.5]
    certificate["nodes"][2]["clique_prices"] = prices


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda c: c.pop("jobs"), "certificate.jobs"),
        (lambda c: c["jobs"].append(3), "certificate.jobs"),
        (lambda c: c["jobs"].append(99), "certificate.jobs"),
        (lambda c: c["jobs"].append(True), "certificate.jobs"),
        (lambda c: c.update(nodes=[]), "certificate.nodes"),
        (lambda c: c.update(nodes=7), "certificate.nodes"),
        (lambda c: c["nodes"].append("leaf"), "certificate.nodes"),
        (lambda c: c["nodes"][0].update(job=4), "certificate.nodes[0].job"),
        (lambda c: c["nodes"][0].update(job=3.0), "certificate.nodes[0].job"),
        (lambda c: c["nodes"][0].update(cluster=3), "certificate.nodes[0].cluster"),
        (lambda c: c["nodes"][0].update(cluster=-1), "certificate.nodes[0].cluster"),
        (lambda c: c["nodes"][1].update(last=12), "certificate.nodes[1].last"),
        (lambda c: c["nodes"][1].pop("last"), "certificate.nodes[1].last"),
        (lambda c: c["nodes"][1].update(last="6"), "certificate.nodes[1].last"),
        (lambda c: c["nodes"][0].update(parts=[1]), "certificate.nodes[0].parts"),
        (lambda c: c["nodes"][0].update(parts=[0, 1]), "certificate.nodes[0].parts"),
        (lambda c: c["nodes"][0].update(parts=[2, 2]), "certificate.nodes[0].parts"),
        (lambda c: c["nodes"][0].update(parts=[1, 9]), "certificate.nodes[0].parts"),
        (lambda c: c["nodes"][0].update(parts=[[1], 2]), "certificate.nodes[0].parts"),
        (lambda c: c["nodes"][1].update(parts=[2, 3]), "certificate.nodes"),
        (lambda c: c["nodes"][2].update(prices=[1.0]), "certificate.nodes[2].prices"),
        (lambda c: c["nodes"][2]["prices"][0][0].__setitem__(0, -1.0), "certificate.nodes[2].prices"),
        (lambda c: c["nodes"][2]["prices"][0][0].__setitem__(0, float("nan")), "certificate.nodes[2].prices"),
        (lambda c: c["nodes"][2]["prices"][0].__setitem__(0, [1.0]), "certificate.nodes[2].prices"),
        (lambda c: c["nodes"][2]["prices"][0][0].__setitem__(0, "1"), "certificate.nodes[2].prices"),
        (lambda c: c["nodes"][2]["prices"][0][0].__setitem__(0, True), "certificate.nodes[2].prices"),
        (lambda c: c["nodes"][2]["prices"][0][0].__setitem__(0, 10**400), "certificate.nodes[2].prices"),
        (lambda c: c["nodes"][2].update(prices=None, parts=0), "certificate.nodes[2].prices"),
        (lambda c: c["nodes"][2].update(clique_prices=[1.0]), "certificate.nodes[2].clique_prices"),
        (lambda c: c.update(cliques=7), "certificate.cliques"),
        (lambda c: c.update(cliques=[{"cluster": 0}]), "certificate.cliques[0]"),
        (lambda c: c.update(cliques=[ALONE]), "certificate.nodes[2].clique_prices"),
        (lambda c: with_clique(c, []), "certificate.nodes[2].clique_prices"),
        (lambda c: with_clique(c, [1.0, 2.0]), "certificate.nodes[2].clique_prices"),
        (lambda c: with_clique(c, [-1.0]), "certificate.nodes[2].clique_prices"),
        (lambda c: with_clique(c, [True]), "certificate.nodes[2].clique_prices"),
        (lambda c: with_clique(c, {"0": 1.0}), "certificate.nodes[2].clique_prices"),
        (lambda c: with_clique(c, ["1"]), "certificate.nodes[2].clique_prices"),
    ],
)
def test_what_is_no_tree_is_refused_with_its_field(instance, proof, change, field):
    broken = copy.deepcopy(proof)
    change(broken)
    with pytest.raises(InputError) as caught:
        proven_bound(instance, broken, {})
    assert caught.value.faults[0].field.startswith(field)


def test_prices_too_large_to_add_up_prove_nothing(instance, proof):
    for node in proof["nodes"][2:]:
        node["prices"] = np.full(instance.clusters.capacity.shape, 1e30).tolist()
    proven, _ = proven_bound(instance, proof, {})
    assert proven is None or proven < 0


def test_a_job_longer_than_the_horizon_costs_neither_memory_nor_time(instance):
    raw = instance.to_dict()
    raw["objective"]["rejection_price"] = 5.0
    raw["jobs"]["duration"][2] = 2**53 - 1
    changed = from_dict(raw)
    proven, _ = proven_bound(changed, {"kind": "windows", "jobs": [2], "nodes": [leaf(changed, 0.01)]}, {})
    plain, _ = proven_bound(changed, {"kind": "lagrangian"} | leaf(changed, 0.01), {})
    assert proven == pytest.approx(plain, rel=1e-12)


def test_without_jobs_nothing_is_proven_but_what_capacity_costs(instance):
    raw = instance.to_dict()
    for name, column in raw["jobs"].items():
        if name == "demand":
            raw["jobs"]["demand"] = {resource: [] for resource in column}
        elif column is not None:
            raw["jobs"][name] = []
    empty = from_dict(raw)
    proven, _ = proven_bound(empty, {"kind": "windows", "jobs": [], "nodes": [leaf(empty)]}, {})
    assert -1e-9 <= proven <= 0


def test_costs_that_overflow_are_no_proof_that_there_is_no_schedule(instance):
    jobs = replace(instance.jobs, demand=instance.jobs.demand * 1e284)
    clusters = replace(instance.clusters, capacity=instance.clusters.capacity * 1e284)
    huge = replace(instance, jobs=jobs, clusters=clusters)
    prices = np.full(instance.clusters.capacity.shape, 1e30).tolist()
    assert proven_bound(huge, {"kind": "windows", "jobs": [1], "nodes": [{"prices": prices}]}, {}) == (None, ())

"""Trees of blocks of slots prove what whole jobs there add to the bound, and the checker agrees."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from mosp_blocks_support import OPTIONS, by_hand, optimal, priced, three_of_two_units

import carbonopt as co
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.problems.mosp.data.file import from_dict
from carbonopt.problems.mosp.methods.normalizers import value_of
from carbonopt.problems.mosp.methods.price.block_trees import BlockTrees, Proven
from carbonopt.problems.mosp.methods.price.blocks import Blocks
from carbonopt.problems.mosp.methods.price.bound_parameters import BlockParameters, CliqueParameters
from carbonopt.problems.mosp.methods.price.choices import choices_of
from carbonopt.problems.mosp.methods.price.cliques import CliqueBound
from carbonopt.problems.mosp.methods.price.state import places_of
from carbonopt.problems.mosp.methods.price.units import in_like_units, in_units, unit_sizes
from carbonopt.problems.mosp.verify.certificate import proven_bound


def trees_of(instance, cliques, best, goal, **params):
    """Return the trees of an instance's blocks, fully grown."""
    params = BlockParameters(**{"least_rise": 0.0} | params)
    blocks = Blocks(cliques, best, goal, params)
    for _ in blocks.raise_bound(OPTIONS):
        pass
    trees = BlockTrees(blocks, params)
    for _ in trees.grow(OPTIONS):
        pass
    return trees


def rechecked(instance, trees):
    """Return the bound that the checker finds in the certificate, once written to a file and read again."""
    sign = 1.0 if instance.sense == "min" else -1.0
    proof = json.loads(json.dumps(trees.certificate(sign)))
    bound, _ = proven_bound(instance, proof, value_of(instance, OPTIONS)[1])
    return sign * bound


def test_three_jobs_by_hand():
    """Half of a job runs beside another one: 1.5 jobs each in two slots, at 4.5; whole ones cost 1 + 2 + 3."""
    instance = three_of_two_units()
    value, _ = value_of(instance, OPTIONS)
    cliques = CliqueBound(choices_of(instance, value), np.zeros((1, 1, 3)), CliqueParameters())
    cliques.prove(np.array([[[0.5, 0.0, 0.0]]]), np.zeros(0))
    trees = trees_of(instance, cliques, np.array([0, 1, 2]), 6.0)
    assert trees.blocks.bound == pytest.approx(6.0, abs=0.02)
    assert trees.bound == pytest.approx(trees.blocks.bound, abs=1e-6)
    assert rechecked(instance, trees) == pytest.approx(trees.bound, abs=1e-6)


def test_a_maximisation_is_better_than_a_greater_objective():
    """The certificate is in the sense of the objective."""
    instance = co.generate("mosp", preset="bench", jobs=12, clusters=1, slots=12, seed=3, load=0.9, objective="caspian")
    best, optimum = optimal(instance)
    cliques = priced(instance, 1)
    trees = trees_of(instance, cliques, best, optimum, first_slots=6)
    proven = rechecked(instance, trees)
    assert cliques.proof.bound + 0.1 * (optimum - cliques.proof.bound) < proven <= optimum + 1e-9
    proof = trees.certificate(-1.0) | {"better_than": 1.0 - cliques.proof.bound}  # more than any schedule is worth
    assert proven_bound(instance, proof, value_of(instance, OPTIONS)[1])[0] == proof["better_than"]


@pytest.mark.slow
@pytest.mark.parametrize(("load", "objective"), [(0.7, "carbon"), (1.3, "carbon"), (0.9, "caspian")])
@pytest.mark.parametrize("rounds", [1, 4])
def test_trees_prove_what_the_programs_do_and_never_more_than_the_optimum(load, objective, rounds):
    looked_at = 0
    for seed in range(4):
        instance = co.generate(
            "mosp", preset="bench", jobs=16, clusters=2, slots=14, seed=seed, load=load, objective=objective
        )
        best, optimum = optimal(instance)
        if best is None:
            continue
        cliques = priced(instance, rounds)
        for goal in (optimum, optimum + 0.5 * (optimum - cliques.proof.bound)):
            trees = trees_of(instance, cliques, best, goal, first_slots=4, more_slots=3, most_programs=3)
            gap = goal - cliques.proof.bound
            assert trees.bound >= trees.blocks.bound - 0.05 * gap - 1e-6 * abs(optimum)  # a longer block must add 5 %
            assert trees.bound <= optimum + 1e-6 * abs(optimum) or goal > optimum
            proven = rechecked(instance, trees)
            assert trees.bound - 1e-9 * abs(optimum) <= proven <= optimum + 1e-9 * abs(optimum)
        looked_at += 1
    assert looked_at >= 3


@pytest.mark.slow
def test_blocks_at_both_ends_are_proven_together():
    both = 0
    for seed in range(8):
        instance = co.generate("mosp", preset="bench", jobs=26, clusters=1, slots=32, seed=seed, load=0.8)
        best, optimum = optimal(instance)
        if best is None:
            continue
        trees = trees_of(instance, priced(instance, 1), best, optimum, first_slots=6, most_programs=2)
        proven = [block for block in trees.proven if block is not None and block.rise > 1e-6]
        both += len(proven) == 2
        assert trees.bound == pytest.approx(trees.blocks.proof.bound + sum(block.rise for block in proven), rel=1e-6)
        assert trees.bound - 1e-9 * optimum <= rechecked(instance, trees) <= optimum + 1e-9 * optimum
    assert both >= 2


def test_a_tree_that_is_cut_off_proves_a_part():
    instance = co.generate("mosp", preset="bench", jobs=26, clusters=1, slots=32, seed=1, load=0.8)
    greedy = co.solve(instance, "greedy-clean")
    params = BlockParameters(first_slots=10, least_rise=0.0, most_programs=2)
    blocks = Blocks(priced(instance, 1), places_of(instance, greedy.columns), greedy.objective, params)
    for _ in blocks.raise_bound(OPTIONS):
        pass
    trees = BlockTrees(blocks, params)
    bounds = [blocks.proof.bound]
    for bound in islice(trees.grow(OPTIONS), 20):
        assert rechecked(instance, trees) >= bound - 1e-9 * greedy.objective
        bounds.append(bound)
    assert bounds == sorted(bounds)
    assert len(set(np.round(bounds, 9))) >= 3
    assert bounds[-1] <= greedy.objective


def test_a_tree_that_proves_nothing_is_not_kept(monkeypatch):
    """Prices of few digits may prove less than those of the whole."""
    instance = co.generate("mosp", preset="bench", jobs=26, clusters=1, slots=32, seed=1, load=0.8)
    greedy = co.solve(instance, "greedy-clean")
    params = BlockParameters(least_rise=0.0, most_programs=1)
    blocks = Blocks(priced(instance, 1), places_of(instance, greedy.columns), greedy.objective, params)
    for _ in blocks.raise_bound(OPTIONS):
        pass
    trees = BlockTrees(blocks, params)
    monkeypatch.setattr(BlockTrees, "_proofs", lambda *_: iter([Proven(blocks.blocks[0], None, 0.0, None)]))
    assert list(trees.grow(OPTIONS)) == [blocks.proof.bound]
    assert trees.proven == [None]


def test_a_solution_that_splits_no_job_ends_the_tree():
    """One job of one unit: nothing is lost in its block, so there is nothing to branch on."""
    instance = by_hand(4, [1], [(0, 1, [1], 1)])
    value, _ = value_of(instance, OPTIONS)
    cliques = CliqueBound(choices_of(instance, value), np.zeros((1, 1, 4)), CliqueParameters())
    blocks = Blocks(cliques, np.array([1]), 2.0, BlockParameters())
    block = replace(blocks._at(0, 2), rise=0.5)  # more than there is
    trees = BlockTrees(blocks, BlockParameters())
    *_, last = trees._proofs(block, OPTIONS)
    assert last.rise == pytest.approx(0.0, abs=1e-9)
    assert len(last.tree.branches) == 1


def test_a_certificate_is_in_the_units_of_the_instance():
    """Memory is counted 64 times as fine as nodes; the method sees both in units of like size."""
    raw = by_hand(3, [3, 192], [(0, 1, [2, 100], 3)]).to_dict()
    instance = from_dict(raw)
    size = unit_sizes(instance)
    assert size.tolist() == [1.0, 64.0]
    inner = in_units(instance, size)
    cliques = priced(inner, 1)
    trees = trees_of(inner, cliques, np.array([0, 1, 2]), 6.0)
    assert trees.bound > cliques.proof.bound + 0.3
    outcome = Outcome(Status.FEASIBLE, None, certificate=trees.certificate(1.0))
    proof = in_like_units(lambda *_: outcome)(instance, OPTIONS).certificate
    assert proven_bound(instance, proof, {})[0] == pytest.approx(trees.bound, rel=1e-6)


@pytest.mark.slow
def test_price_certifies_blocks():
    instance = co.generate("mosp", preset="bench", jobs=80, clusters=2, slots=24, seed=4)
    params = {
        "beam": {"parts_per_job": 1},
        "search": {"moves_per_job": 200},
        "blocks": {"most_programs": 2},
    }
    solution = co.solve(instance, "price", work_limit=1e6, seed=1, params=params)
    assert solution.certificate["kind"] == "blocks"
    report = co.check(instance, solution)
    assert report.violations == ()
    said = solution.certificate["bound"]
    assert report.proven_bound >= said * (1 - 1e-9)
    assert min(report.proven_bound, solution.bound) == pytest.approx(said, rel=1e-9)  # no tree counts beyond HiGHS
    assert report.proven_bound <= solution.objective

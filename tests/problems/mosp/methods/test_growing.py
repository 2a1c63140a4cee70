"""The program over places that grows and shrinks: by hand, and against one that never does."""

from __future__ import annotations

import numpy as np
import pytest

import carbonopt as co
from carbonopt.core.options import Options
from carbonopt.problems.mosp.data.file import from_dict
from carbonopt.problems.mosp.formulation.objective import placement_value
from carbonopt.problems.mosp.methods.price import clique_rounds, growing
from carbonopt.problems.mosp.methods.price.bound_parameters import CliqueParameters, DiveParameters
from carbonopt.problems.mosp.methods.price.choices import choices_of
from carbonopt.problems.mosp.methods.price.clique_cuts import ends_of
from carbonopt.problems.mosp.methods.price.clique_rounds import raise_by_cliques
from carbonopt.problems.mosp.methods.price.cliques import CliqueBound
from carbonopt.problems.mosp.methods.price.dives import Dives
from carbonopt.problems.mosp.methods.price.growing import GrowingProgram

OPTIONS = Options(time_limit=None)


def heavy(seed, **more):
    given = {"jobs": 40, "clusters": 2, "slots": 24, "max_demand": 64, "load": 0.5} | more
    return co.generate("mosp", preset="supercomputer", seed=seed, **given)


def program_of(instance, rounds=8, **params):
    """Return the program of an instance after some rounds, from prices 0."""
    prices = np.zeros(instance.clusters.limit.shape)
    params = CliqueParameters(rounds=rounds, **params)
    program = GrowingProgram(
        CliqueBound(choices_of(instance, placement_value(instance)), prices, params), np.inf, OPTIONS
    )
    for _ in raise_by_cliques(program, np.inf, params, OPTIONS):
        pass
    return program


def everywhere(program):
    return np.ones(len(program.columns.row))


def by_hand(rejection_price=None):
    """Return two jobs of 6 nodes for a slot on 10 nodes, in slots of 1 and 10 g/kWh: they cost 66 g."""
    return from_dict(
        {
            "schema_version": 1,
            "problem": "mosp",
            "name": "by-hand",
            "time": {"slots": 2, "slot_hours": 1.0, "start": "2024-01-01T00:00:00Z"},
            "carbon": {"zones": ["Z"], "g_per_kwh": [[1.0, 10.0]]},
            "clusters": {
                "name": ["c"],
                "zone": ["Z"],
                "capacity": {"node": [10.0]},
                "watts_per_unit": {"node": [1000.0]},
            },
            "jobs": {
                "name": ["p", "q"],
                "arrival": [0, 0],
                "duration": [1, 1],
                "deadline": [2.0, 2.5],  # so that they are not alike
                "demand": {"node": [6.0, 6.0]},
                "eligible": None,
            },
            "objective": {
                "kind": "carbon",
                "weights": {"carbon_kg": 1.0, "tardiness_slots": 0.0, "completion_slots": 0.0},
                "rejection_price": rejection_price,
            },
        }
    )


def test_two_jobs_that_do_not_fit_together():
    """Capacity alone lets 10 of 12 nodes run at 1 g: 10 + 20 g. With the clique one of the jobs waits: 6 + 60 g."""
    assert program_of(by_hand(), rounds=1).cliques.proof.bound == pytest.approx(0.030)
    assert program_of(by_hand()).cliques.proof.bound == pytest.approx(0.066)


def test_a_job_that_must_run_costs_more_left_out_than_in_its_places():
    program = program_of(by_hand())
    # 60 g is the most expensive place of both: ten times that, and ten times the mean
    assert program.left_out == pytest.approx([1.2, 1.2])
    point = program.solve(np.where(program.columns.job == 0, 1.0, program.columns.row < 0), np.inf, OPTIONS)
    assert program.has_unplaced(point)
    assert program.insist(point)
    assert program.left_out == pytest.approx([1.2, 12.0])
    upper = np.where(program.columns.job == 0, 1.0, program.columns.row < 0)
    assert program.solve(upper, np.inf, OPTIONS).objective == pytest.approx(0.006 + 12.0)
    assert point.objective == pytest.approx(0.006 + 1.2)
    may_be_rejected = program_of(by_hand(0.02))
    assert may_be_rejected.left_out == pytest.approx([0.02, 0.02])
    open_places = may_be_rejected.counts
    open_places[may_be_rejected.columns.row >= 0] = 0
    for required, cost in ((None, 0.04), (np.array([True, False]), 1.22), (None, 0.04)):  # the first job must run
        point = may_be_rejected.solve(open_places, np.inf, OPTIONS, required)
        assert point.objective == pytest.approx(cost)


def test_a_job_longer_than_the_horizon_never_ends():
    raw = by_hand(0.02).to_dict()
    raw["jobs"]["duration"] = [1, 6]
    starts = np.zeros((2, 1, 5))  # in five slots
    starts[0, 0, 0] = 0.5
    ends = ends_of(from_dict(raw), starts)
    assert ends[0, 0, 1] == 0.5
    assert ends.sum() == 0.5


@pytest.mark.parametrize("seed", range(4))
def test_a_program_that_lost_rows_has_the_same_optimum_from_any_basis(seed, monkeypatch):
    monkeypatch.setattr(growing, "LEAST_GONE", 1)
    monkeypatch.setattr(growing, "MOST_IDLE", 0)
    instance = heavy(seed)
    program = program_of(instance, rounds=30, halves=False)
    root = program.solve(everywhere(program), np.inf, OPTIONS)
    basis = program.basis()
    rng = np.random.default_rng(seed)
    lost = 0
    for _ in range(6):
        upper = np.where(program.columns.row < 0, 1.0, rng.random(len(program.columns.row)) < 0.7)
        program.settled(upper, np.inf, OPTIONS)
        rows = program._warm.rows
        program.begin_at(basis, OPTIONS)
        lost += rows - program._warm.rows
        numbers = np.flatnonzero(program.row_of >= 0)
        assert sorted(program.row_of[numbers]) == list(range(program.other_rows, program._warm.rows))
        again = program.settled(everywhere(program), np.inf, OPTIONS)
        assert again.objective == pytest.approx(root.objective, rel=1e-6)
        prices = program.prices(again)
        program.cliques.prove(prices.capacity, prices.cliques)
        assert program.cliques.proof.bound == pytest.approx(root.objective, rel=1e-5)
    assert lost > 0


def test_a_clique_that_is_known_is_not_added_again():
    program = program_of(heavy(3), rounds=2)
    cliques = program.cliques
    point = program.solve(everywhere(program), np.inf, OPTIONS)
    starts = program.starts(point)
    assert cliques.add_violated(starts, 0.001, OPTIONS) > 0
    count = len(cliques.cliques)
    assert cliques.add_violated(starts, 0.001, OPTIONS) == 0
    assert len(cliques.cliques) == count
    assert len({clique.key() for clique in cliques.cliques}) == count


def test_a_small_job_that_has_no_other_place_moves_the_largest_one():
    """L of 40 nodes costs 0.4 on a and 40 on b, s of 30 nodes may only run on a, all the time; 68 tiny jobs besides."""
    tiny = 68
    raw = by_hand().to_dict()
    raw["carbon"] = {"zones": ["A", "B"], "g_per_kwh": [[10.0, 10.0], [1000.0, 1000.0]]}
    raw["clusters"] |= {
        "name": ["a", "b"],
        "zone": ["A", "B"],
        "capacity": {"node": [64.0, 64.0]},
        "watts_per_unit": {"node": [1000.0, 1000.0]},
    }
    raw["jobs"] = {
        "name": ["L", "s", *(f"t{k}" for k in range(tiny))],
        "arrival": [0] * (tiny + 2),
        "duration": [1, 2] + [1] * tiny,
        "deadline": [2.0 + k for k in range(tiny + 2)],  # so that none are alike
        "demand": {"node": [40.0, 30.0] + [0.01] * tiny},
        "eligible": [["a", "b"], ["a"]] + [["a", "b"]] * tiny,
    }
    program = program_of(from_dict(raw), rounds=60)
    assert program.cliques.proof.bound == pytest.approx(40.6068, rel=1e-5)
    place = Dives(program, DiveParameters(), OPTIONS).dive(np.full(tiny + 2, -1), np.inf, OPTIONS)
    assert place[0] in (2, 3)
    assert place[1] == 0
    assert program.left_out[1] > program.penalty[1]
    assert (program.left_out[2:] == program.penalty[2:]).all()


def test_rows_that_have_long_had_no_price_go_out_between_rounds(monkeypatch):
    instance = heavy(5, jobs=60)
    stay = program_of(instance, rounds=25)
    monkeypatch.setattr(growing, "LEAST_GONE", 1)
    monkeypatch.setattr(growing, "LEAST_SHARE_GONE", 0.0)
    monkeypatch.setattr(growing, "MOST_IDLE", 0)
    go = program_of(instance, rounds=25)
    go.tidy(OPTIONS)
    assert (go.row_of >= 0).sum() < (stay.row_of >= 0).sum()
    point = go.solve(everywhere(go), np.inf, OPTIONS)
    assert point.objective == pytest.approx(stay.cliques.proof.bound, rel=2e-3)


def test_a_solution_that_costs_more_than_a_schedule_gets_places_but_no_cliques():
    instance = heavy(3)
    goal = co.solve(instance, method="greedy-clean").objective
    params = CliqueParameters(rounds=1, places_per_job=1)
    prices = np.zeros(instance.clusters.limit.shape)
    cliques = CliqueBound(choices_of(instance, placement_value(instance)), prices, params)
    program = GrowingProgram(cliques, np.inf, OPTIONS)
    assert program.solve(everywhere(program), np.inf, OPTIONS).objective > goal
    places = program.is_column.sum()
    rounds = raise_by_cliques(program, goal, params, OPTIONS)
    next(rounds)
    next(rounds)  # the first round is over
    assert not cliques.cliques
    assert program.is_column.sum() > places
    for _ in rounds:
        pass
    assert cliques.cliques  # rounds that only add places do not count
    assert cliques.proof.bound <= goal


def test_rounds_prove_the_same_bound_in_the_end_wherever_they_seek_cliques(monkeypatch):
    bounds = []
    for share in (0.3, 1.0):
        monkeypatch.setattr(clique_rounds, "NEW_SHARE", share)
        program = program_of(heavy(5, jobs=20), rounds=60, few_of_slots=0, places_per_job=1000)
        bounds.append(program.cliques.proof.bound)
    assert bounds[0] == pytest.approx(bounds[1], rel=1e-5)


def test_each_job_gets_its_best_place_before_any_gets_its_second():
    """The places of a job of 60 nodes cost so much less than it pays that all would come before those of small jobs."""
    program = program_of(heavy(3), rounds=0, places_per_job=1)
    point = program.solve(everywhere(program), np.inf, OPTIONS)
    prices = program.prices(point)
    cost = program.cliques.priced(prices.capacity, prices.cliques)
    missing = program.missing(cost, prices)
    rows = program.one_of_each(missing)
    job = program.cliques.places.job[rows]
    reduced = cost[rows] - prices.jobs[job]
    rank = np.array([np.count_nonzero(job[:k] == job[k]) for k in range(len(job))])
    assert sorted(rows) == sorted(missing)
    assert rank.max() > 2
    assert list(zip(rank, reduced, strict=True)) == sorted(zip(rank, reduced, strict=True))
    assert not np.array_equal(rows, missing)


def test_a_job_of_large_excess_begins_with_places_of_its_own():
    cliques = program_of(heavy(3, jobs=80), rounds=0, places_per_job=10).cliques
    excess = cliques.proof.excess
    possible = np.bincount(cliques.places.job, minlength=80)
    by_excess = excess <= np.sort(excess)[800]
    assert (np.bincount(cliques.places.job[by_excess], minlength=80) < np.minimum(possible, 8)).any()
    chosen = cliques.likely(np.inf)
    assert chosen[by_excess].all()
    assert (np.bincount(cliques.places.job[chosen], minlength=80) >= np.minimum(possible, 8)).all()
    most = np.median(excess[chosen & ~by_excess])
    assert np.array_equal(cliques.likely(cliques.proof.bound + most), chosen & (excess <= most))
    none = np.zeros(len(excess), dtype=bool)
    assert np.bincount(cliques.places.job[cliques.likely(np.inf, none)]).tolist() == np.minimum(possible, 8).tolist()

"""Dives in stages: the largest jobs first, then the others as an instance of their own."""

from __future__ import annotations

import numpy as np
import pytest
from mosp_cliques_support import heavy
from mosp_dives_support import OPTIONS, cliques_of, dives_of, nowhere, objective_of

import carbonopt as co
from carbonopt.core.options import Options
from carbonopt.problems.mosp.data.file import from_dict
from carbonopt.problems.mosp.formulation.objective import placement_value
from carbonopt.problems.mosp.methods.price import large_jobs, method, stages
from carbonopt.problems.mosp.methods.price.bound_parameters import CliqueParameters
from carbonopt.problems.mosp.methods.price.choices import choices_of
from carbonopt.problems.mosp.methods.price.cliques import CliqueBound
from carbonopt.problems.mosp.methods.price.growing import GrowingProgram
from carbonopt.problems.mosp.methods.price.parts import cost_of, part_of, program_of_part
from carbonopt.problems.mosp.methods.price.stages import dive_in_stages

ROUNDS = 20


@pytest.fixture
def parts(monkeypatch):
    """What was asked of each part: the places of the others, and its jobs."""
    found = []

    def program(others, jobs, *given):
        found.append((others.copy(), jobs))
        return program_of_part(others, jobs, *given)

    monkeypatch.setattr(stages, "program_of_part", program)
    return found


def by_hand(slots=2):
    """A job of 6 of 10 nodes, and two of 3; the first of two slots has 1 g/kWh, the second 2."""
    return from_dict(
        {
            "schema_version": 1,
            "problem": "mosp",
            "name": "by-hand",
            "time": {"slots": slots, "slot_hours": 1.0, "start": "2024-01-01T00:00:00Z"},
            "carbon": {"zones": ["Z"], "g_per_kwh": [[1.0, 2.0][:slots]]},
            "clusters": {
                "name": ["c"],
                "zone": ["Z"],
                "capacity": {"node": [10.0]},
                "watts_per_unit": {"node": [1000.0]},
            },
            "jobs": {
                "name": ["large", "one", "other"],
                "arrival": [0, 0, 0],
                "duration": [1, 1, 1],
                "deadline": [2.0, 2.0, 2.0],
                "demand": {"node": [6.0, 3.0, 3.0]},
                "eligible": None,
            },
            "objective": {
                "kind": "carbon",
                "weights": {"carbon_kg": 1.0, "tardiness_slots": 0.0, "completion_slots": 0.0},
                "rejection_price": None,
            },
        }
    )


def test_small_jobs_exclude_each_other_in_the_room_that_a_large_one_leaves():
    """Beside the large job 4 nodes are left in the first slot: for 4/3 of a job of 3 by capacity, for one by a clique.

    One runs then, for 3 g, and the other later, for 6 g. Capacity alone lets a third of that one run in the first slot,
    too: 3 + 1 + 4 = 8 g. On the empty cluster both have room beside each other.
    """
    instance = by_hand()
    cliques = cliques_of(instance)
    others = np.array([0, -1, -1])
    jobs = np.array([1, 2])
    assert part_of(others, jobs, cliques).clusters.capacity.ravel().tolist() == [4.0, 10.0]
    assert co.solve(part_of(others, jobs, cliques), "lp").bound == pytest.approx(8e-3)
    program = program_of_part(others, jobs, np.inf, cliques, ROUNDS, OPTIONS)
    assert program.cliques.proof.bound == pytest.approx(9e-3)
    assert program_of_part(others, jobs, 8.9e-3, cliques, ROUNDS, OPTIONS) is None
    assert cost_of(np.array([0, 1]), jobs, cliques) == pytest.approx(9e-3)


def test_each_stage_places_the_largest_jobs_that_are_left(parts):
    instance = heavy(3)
    dives = dives_of(instance, stages=(5, 10))
    place = dive_in_stages(dives, np.inf, OPTIONS)
    (first, first_jobs), (second, second_jobs) = parts
    assert np.array_equal(np.flatnonzero(first < 0), first_jobs)
    assert np.array_equal(np.sort(dives.rank[first_jobs]), np.arange(5, 40))
    assert (len(second), len(second_jobs)) == (35, 25)
    assert np.array_equal(place[dives.rank < 5], first[dives.rank < 5])
    best = co.solve(instance, "milp", work_limit=20).objective
    assert best * (1 - 1e-6) <= objective_of(instance, place) <= 1.02 * best


def test_a_stage_of_nearly_all_jobs_is_none(parts):
    """It would leave a part of a few jobs; without stages a dive places all."""
    instance = heavy(3)
    whole = dives_of(instance).dive(nowhere(instance), np.inf, OPTIONS)
    for given in ((), (33,)):
        assert np.array_equal(dive_in_stages(dives_of(instance, stages=given), np.inf, OPTIONS), whole)
    assert not parts
    dive_in_stages(dives_of(instance, stages=(32,)), np.inf, OPTIONS)
    assert len(parts) == 1


def test_a_stage_after_which_all_costs_too_much_is_the_last(parts):
    """The best schedule is the goal: what the others cost at least is known before they have places."""
    instance = heavy(3)
    best = co.solve(instance, "milp", work_limit=20).objective
    assert dive_in_stages(dives_of(instance, stages=(5, 10)), 0.999 * best, OPTIONS) is None
    assert len(parts) <= 1
    assert dive_in_stages(dives_of(instance, stages=(5, 10)), 1.03 * best, OPTIONS) is not None


def test_where_work_is_out_the_others_go_where_most_of_them_is(monkeypatch):
    instance = heavy(3)
    options = Options(time_limit=None, work_limit=100.0)

    def program(*given):
        found = program_of_part(*given)
        options.spend(options.steps_left)
        return found

    monkeypatch.setattr(stages, "program_of_part", program)
    dives = dives_of(instance, stages=(5,))
    whole = dives_of(instance).dive(nowhere(instance), np.inf, OPTIONS, most=5)
    place = dive_in_stages(dives, np.inf, options)
    assert options.remaining == 0
    assert np.array_equal(place, whole)
    assert (place >= 0).sum() > 30


def test_a_stage_that_takes_all_its_time_for_nothing_is_none(monkeypatch):
    """The program of all jobs was not solved in that time: one dive has what is left."""
    instance = heavy(3)
    options = Options(time_limit=None, work_limit=100.0)
    dives = dives_of(instance, stages=(5,))
    whole = dives.dive
    asked = []

    def dive(known, goal, given, start=None, most=None):
        asked.append(most)
        if most is not None:
            given.spend(given.steps_left)
            return None
        return whole(known, goal, given, start)

    monkeypatch.setattr(dives, "dive", dive)
    assert (dive_in_stages(dives, np.inf, options) >= 0).all()
    assert asked == [5, None]


@pytest.mark.parametrize("goal", [1e9, np.inf])
def test_there_is_no_program_where_a_job_that_must_run_has_no_room(goal):
    for slots, has_room in ((2, True), (1, False)):
        instance = by_hand(slots)
        cliques = CliqueBound(
            choices_of(instance, placement_value(instance)), np.zeros((1, 1, slots)), CliqueParameters()
        )
        others, jobs = np.array([-1, 0, 0]), np.array([0])
        assert (program_of_part(others, jobs, goal, cliques, ROUNDS, OPTIONS) is not None) == has_room


@pytest.mark.parametrize("goal", [1e9, np.inf])
def test_a_stage_that_leaves_jobs_without_room_is_taken_if_there_is_no_schedule(monkeypatch, goal):
    """The search may find room for them."""
    monkeypatch.setattr(stages, "program_of_part", lambda *given: None)
    place = dive_in_stages(dives_of(heavy(3), stages=(5,)), goal, OPTIONS)
    assert (place is None) == (goal < np.inf)


def test_the_same_places_of_large_jobs_are_followed_by_others_of_small_ones(monkeypatch):
    instance = heavy(5, jobs=80, load=0.7)
    dives = dives_of(instance, stages=(5,), noise=10.0)
    given, is_first = [], []
    whole = dives.of_part

    def of_part(*of):
        given.append(whole(*of))
        is_first.append(given[-1].is_first)
        return given[-1]

    monkeypatch.setattr(dives, "of_part", of_part)
    first = dive_in_stages(dives, np.inf, OPTIONS)
    dives.is_first = True
    second = dive_in_stages(dives, np.inf, OPTIONS)
    assert is_first == [True, False]
    assert given[0].rng is given[1].rng is dives.rng
    large = dives.rank < 5
    assert np.array_equal(first[large], second[large])
    assert not np.array_equal(first, second)


def test_jobs_may_be_left_out():
    raw = heavy(3).to_dict()
    raw["objective"]["rejection_price"] = 0.3
    rejecting = from_dict(raw)
    place = dive_in_stages(dives_of(rejecting, stages=(5, 10)), np.inf, OPTIONS)
    assert 0 < np.count_nonzero(place < 0) < len(place)
    best = co.solve(rejecting, "milp", work_limit=20).objective
    assert best * (1 - 1e-6) <= objective_of(rejecting, place) <= best * 1.03


def test_a_tree_that_would_have_few_branches_or_closes_little_ends_early(monkeypatch):
    """Dives make better use of the time."""
    trees = []
    whole = large_jobs.WindowTree

    def tree(*given):
        trees.append(whole(*given))
        return trees[-1]

    monkeypatch.setattr(large_jobs, "WindowTree", tree)
    monkeypatch.setattr(large_jobs, "dive", lambda solver: None)
    for few, least_rise in ((0, 0.0), (10**6, 0.0), (0, 1.0)):
        monkeypatch.setattr(large_jobs, "FEW_BRANCHES", few)
        params = {"windows": {"least_rise": least_rise}}
        co.solve(heavy(5, jobs=80, load=0.7), "price", work_limit=4, params=params)
    with_all_its_time, few_branches, little_closed = (len(tree.branches) for tree in trees)
    assert 1 < few_branches < 0.6 * with_all_its_time
    assert 1 < little_closed < 0.6 * with_all_its_time


def test_there_are_no_branches_where_ten_roots_would_take_longer_than_there_is_time(monkeypatch):
    """The root has taken more than a tenth of the work that is left to the tree."""
    shares = iter((0.0, 0.15))
    trees = []

    class Tree(large_jobs.WindowTree):
        def __init__(self, *given):
            super().__init__(*given)
            given[-1].spend(next(shares) * given[-1].steps_left)
            trees.append(self)

    monkeypatch.setattr(large_jobs, "WindowTree", Tree)
    monkeypatch.setattr(large_jobs, "dive", lambda solver: None)
    for _ in range(2):
        co.solve(heavy(5, jobs=80, load=0.7), "price", work_limit=4)
    with_time, without = (len(tree.branches) for tree in trees)
    assert with_time > 1
    assert without == 1


def test_the_program_of_a_part_begins_where_that_of_the_whole_instance_ended():
    """Its columns are those of the whole program that still have room, and some of each job."""
    instance = heavy(5, jobs=80, load=0.7)
    dives = dives_of(instance, rounds=20, places_per_job=5)
    whole = dives.program
    place = np.where(dives.rank < 5, dives.dive(nowhere(instance), np.inf, OPTIONS), -1)
    jobs = np.flatnonzero(place < 0)
    options = Options(time_limit=None)
    program = program_of_part(place, jobs, np.inf, whole.cliques, 0, options, whole)
    at = program.cliques.places
    known = whole.is_column[whole.cliques.row[jobs[at.job], at.cluster, at.start]]
    assert program.is_column[known].all()
    assert not program.cliques.likely(np.inf)[known].all()
    from_nothing = GrowingProgram(program.cliques, np.inf, options, known)
    iterations = []
    for begun in (program, from_nothing):
        begun.solve(np.ones(len(begun.columns.row)), np.inf, options)
        iterations.append(begun._warm._highs.getInfo().simplex_iteration_count)
    assert iterations[0] < 0.5 * iterations[1]


def test_a_stage_after_which_no_other_job_has_a_place_leaves_them_out():
    """Four jobs fill a cluster of four slots; three others could only have run beside them, or not at all."""
    raw = by_hand().to_dict()
    raw["time"]["slots"] = 4
    raw["carbon"]["g_per_kwh"] = [[1.0, 2.0, 3.0, 4.0]]
    raw["jobs"] = {
        "name": [f"j{i}" for i in range(7)],
        "arrival": [0] * 4 + [1] * 3,
        "duration": [1] * 7,
        "deadline": [4.0] * 4 + [1.0] * 3,
        "demand": {"node": [10.0] * 4 + [9.0] * 3},
        "eligible": None,
    }
    raw["objective"] = {
        "kind": "carbon",
        "weights": {"carbon_kg": 1.0, "tardiness_slots": 1.0, "completion_slots": 0.0},
        "rejection_price": 100.0,
    }
    place = dive_in_stages(dives_of(from_dict(raw), stages=(4,)), np.inf, OPTIONS)
    assert sorted(place.tolist()) == [-1, -1, -1, 0, 1, 2, 3]


@pytest.mark.parametrize(("preset", "share"), [("bench", 0.3), ("supercomputer", 0.2)])
def test_cliques_may_take_longer_where_no_branches_follow(monkeypatch, preset, share):
    shares = []

    def add_cliques(solver):
        before = solver.options.remaining

        def rounds(program, goal, params, options):
            shares.append(options.remaining / before)
            return iter(())

        monkeypatch.setattr(large_jobs, "raise_by_cliques", rounds)
        large_jobs.add_cliques(solver)

    monkeypatch.setattr(method, "add_cliques", add_cliques)
    instance = co.generate("mosp", preset=preset, jobs=80, clusters=2, slots=24, seed=5)
    co.solve(instance, "price", work_limit=3)
    assert shares == pytest.approx([share], rel=0.05)

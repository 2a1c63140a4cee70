"""Schedules by linear programs: by hand, and what holds for each of them."""

from __future__ import annotations

import numpy as np
import pytest
from mosp_cliques_support import heavy
from mosp_dives_support import OPTIONS, dives_of, nowhere, objective_of

import carbonopt as co
from carbonopt.algorithms.kernel import loops
from carbonopt.core.options import Options
from carbonopt.milp.warm import Point
from carbonopt.problems.mosp.data.file import from_dict
from carbonopt.problems.mosp.methods.price import dive_tries
from carbonopt.problems.mosp.methods.price import dives as dives_module
from carbonopt.problems.mosp.methods.price.dive_loops import put_next, settle, take
from carbonopt.problems.mosp.methods.price.dive_tries import Relaxed, Tries
from carbonopt.problems.mosp.methods.price.dives import (
    FEW_TRIED,
    MORE_SHARE,
    NEARLY_WHOLE,
    ONE_BY_ONE,
    WHOLE,
    Leading,
    Step,
)


@pytest.fixture(scope="module")
def instance():
    return heavy(3)


def by_hand():
    """Jobs of 6, 5 and 4 nodes for 2, 2 and 1 slots; 10 nodes and four slots of 1, 1, 3 and 3 g/kWh."""
    return from_dict(
        {
            "schema_version": 1,
            "problem": "mosp",
            "name": "by-hand",
            "time": {"slots": 4, "slot_hours": 1.0, "start": "2024-01-01T00:00:00Z"},
            "carbon": {"zones": ["Z"], "g_per_kwh": [[1.0, 1.0, 3.0, 3.0]]},
            "clusters": {
                "name": ["c"],
                "zone": ["Z"],
                "capacity": {"node": [10.0]},
                "watts_per_unit": {"node": [1000.0]},
            },
            "jobs": {
                "name": ["p", "q", "r"],
                "arrival": [0, 0, 0],
                "duration": [2, 2, 1],
                "deadline": [4.0, 4.0, 4.0],
                "demand": {"node": [6.0, 5.0, 4.0]},
                "eligible": None,
            },
            "objective": {
                "kind": "carbon",
                "weights": {"carbon_kg": 1.0, "tardiness_slots": 0.0, "completion_slots": 0.0},
                "rejection_price": None,
            },
        }
    )


def test_the_largest_of_three_jobs_gets_the_cheap_slots():
    """P and q do not fit together: p costs 12 g in slots 0 and 1, q then 30 g in 2 and 3; r costs 4 g beside p."""
    instance = by_hand()
    place = dives_of(instance).dive(nowhere(instance), np.inf, OPTIONS)
    assert objective_of(instance, place) == pytest.approx(0.046)
    assert objective_of(instance, place) == pytest.approx(co.solve(instance, "milp").objective)
    assert place[:2].tolist() == [0, 2]


@pytest.mark.parametrize("seed", range(5))
def test_dives_place_all_jobs_and_cost_no_less_than_the_bound(seed):
    instance = heavy(seed)
    dives = dives_of(instance)
    for _ in range(3):
        place = dives.dive(nowhere(instance), np.inf, OPTIONS)
        if (place < 0).any():
            continue
        assert dives.cliques.proof.bound <= objective_of(instance, place)  # the checker finds it feasible
    assert (place >= 0).sum() >= 38


def test_dives_are_near_the_optimum_and_better_than_rounding(instance):
    best = min(
        objective_of(instance, place)
        for place in (dives.dive(nowhere(instance), np.inf, OPTIONS) for dives in [dives_of(instance)] * 4)
        if (place >= 0).all()
    )
    assert best < co.solve(instance, "lp-rounding").objective
    assert best <= 1.03 * dives_of(instance).cliques.proof.bound


def test_jobs_that_have_a_place_keep_it(instance):
    dives = dives_of(instance)
    first = dives.dive(nowhere(instance), np.inf, OPTIONS)
    known = first.copy()
    known[::2] = -1
    again = dives.dive(known, np.inf, OPTIONS)
    assert (again[1::2] == first[1::2]).all()
    if (first >= 0).all() and (again >= 0).all():
        assert objective_of(instance, again) <= objective_of(instance, first) * 1.01


def test_a_goal_that_no_schedule_reaches_ends_a_dive(instance):
    dives = dives_of(instance)
    assert dives.dive(nowhere(instance), dives.cliques.proof.bound * 0.999, OPTIONS) is None
    assert dives.dive(nowhere(instance), 2 * dives.cliques.proof.bound, OPTIONS) is not None


def test_places_that_are_missing_come_as_jobs_need_them(instance):
    few = dives_of(instance, rounds=0, places_per_job=1)
    begun = len(few.program.columns.row)
    none = nowhere(instance)
    found = [few.dive(none, 1e3, OPTIONS) for _ in range(8)]  # some end where a job has no place
    assert (none == -1).all()
    assert len(few.program.columns.row) > begun
    place = next(place for place in found if place is not None)
    assert (place >= 0).all()
    known = place.copy()
    known[5:] = -1
    assert (few.dive(known, np.inf, OPTIONS)[:5] == place[:5]).all()


def test_jobs_may_be_left_out(instance):
    raw = instance.to_dict()
    raw["objective"]["rejection_price"] = 0.01
    rejecting = from_dict(raw)
    place = dives_of(rejecting).dive(nowhere(rejecting), np.inf, OPTIONS)
    assert (place < 0).any()
    assert objective_of(rejecting, place) <= 1.02 * co.solve(rejecting, "milp", time_limit=None, work_limit=2).objective


def test_several_resources_and_clusters_that_not_all_may_use():
    instance = heavy(2, memory=True, restricted_share=0.3, day_capacity=0.7)
    place = dives_of(instance).dive(nowhere(instance), np.inf, OPTIONS)
    assert (place >= 0).all()
    assert objective_of(instance, place) >= dives_of(instance).cliques.proof.bound


def test_places_that_come_have_room_beside_those_that_are_taken(instance):
    few = dives_of(instance, rounds=0, places_per_job=1)
    place = nowhere(instance)
    now = few._first(place, np.inf, None, OPTIONS)
    now.place[few.jobs.order[0]] = few.cliques.places.start[0]
    begun = len(few.program.columns.row)
    assert few._price(now, OPTIONS)
    assert (few._room(now.place, few.program.columns)[begun:] == 1.0).all()


def test_loops_as_python_and_compiled_make_the_same_schedule():
    instance = heavy(1, jobs=15)
    compiled = dives_of(instance).dive(nowhere(instance), np.inf, OPTIONS)
    with loops(0):
        plain = dives_of(instance).dive(nowhere(instance), np.inf, OPTIONS)
    assert (plain == compiled).all()


def test_the_same_seed_dives_alike_and_work_ends_it(instance):
    one = dives_of(instance)
    other = dives_of(instance)
    for _ in range(3):
        assert (one.dive(nowhere(instance), 1e9, OPTIONS) == other.dive(nowhere(instance), 1e9, OPTIONS)).all()
    assert one.dive(nowhere(instance), 1e9, Options(time_limit=None, work_limit=1e-9)) is None


def test_a_dive_of_half_the_work_begins_alike_and_places_nearly_all_jobs():
    instance = heavy(5, jobs=80, load=0.7)
    options = Options(time_limit=None)
    whole = dives_of(instance).dive(nowhere(instance), np.inf, options)
    dives = dives_of(instance)
    short = Options(time_limit=None, work_limit=options.work.units / 2)
    cut = dives.dive(nowhere(instance), np.inf, short)
    assert short.work.units < 0.8 * options.work.units
    assert (cut == whole)[dives.jobs.order[:2]].all()
    assert (cut != whole).any()
    assert (cut >= 0).sum() > 70
    left = np.empty_like(dives.jobs.limit)
    take(cut, left, dives.jobs)
    assert left.min() >= 0


def test_price_dives_on_heavy_tails_and_check_confirms(instance):
    params = {"search": {"moves_per_job": 200}, "neighbourhoods": {"most_in_vain": 3}, "beam": {"parts_per_job": 0}}
    instance = heavy(5, jobs=80, load=0.7)
    solution = co.solve(instance, "price", time_limit=None, params=params | {"windows": {"most_branches": 5}})
    assert co.check(instance, solution).feasible
    assert solution.bound <= solution.objective


def test_small_jobs_are_placed_several_at_a_time_where_time_is_short(instance):
    dives = dives_of(instance)
    none = nowhere(instance)
    large, small = dives.jobs.order[[0, -1]]
    dives.rank[small] = 100  # beyond those that are placed one at a time
    short = Options(time_limit=None, work_limit=1.0)
    share = np.full((40, 6), 0.5)
    share[35:] = 0.0  # no part of these runs

    def more(job, pace, total, options):
        return dives._step(job, dives._need(none, Leading(none, share), pace, options), pace, total, options).more

    assert more(large, 2.5, 1.0, short) == 0
    assert more(large, 2.5, 3.0, short) == 6  # the second half has begun
    assert more(small, 0.0, 1.0, short) == 0
    assert more(small, 0.5, np.inf, Options(time_limit=None)) == 0
    assert more(small, 2.5, 1.0, short) == 6  # 35 jobs, some 17 steps, and time for two or three of 0.15 of the pace
    assert more(small, 0.3, 1.0, short) == 0
    dives.rank += ONE_BY_ONE
    assert more(small, 2.5, 1.0, short) == 10  # these get faster no more by that much: a quarter of the pace
    short.spend(4e8)
    assert more(small, 0.5, 1.0, short) == 40


def test_only_jobs_of_which_most_is_in_one_place_are_placed_untried():
    """Of 10 nodes: half of p, which takes 6, and three quarters of q, which takes 5, begin in slot 0."""
    instance = by_hand()
    dives = dives_of(instance)
    columns = dives.program.columns
    first = [int(np.flatnonzero((columns.job == job) & (columns.start == 0))[0]) for job in (0, 1)]
    column = np.array([[first[0]], [first[1]], [-1]])
    share = np.array([[0.5], [0.75], [0.0]])
    left = np.empty_like(dives.jobs.limit)
    for least, placed in ((0.6, [False, True, False]), (0.5, [True, dives.jobs.demand[:2].sum() <= 10, False])):
        place = nowhere(instance)
        put_next(3, least, column, share, place, left, columns, dives.jobs)
        assert (place >= 0).tolist() == placed


def test_how_much_of_the_time_a_dive_needs(instance):
    """By a pace of .8 s, 20 steps of .15 times that are three tenths of 8 s."""
    dives = dives_of(instance)
    leading = Leading(np.zeros((40, 1), dtype=np.int64), np.full((40, 1), 0.95))
    need = dives._need(nowhere(instance), leading, 0.8, Options(time_limit=None, work_limit=8.0))
    assert need == pytest.approx(0.3)


def test_a_dive_that_is_short_of_time_takes_nearly_whole_jobs_as_whole_and_places_some_untried(monkeypatch):
    instance = heavy(3, jobs=80, load=0.7)
    options = Options(time_limit=None)
    wholes, shares = [], []
    monkeypatch.setattr(dives_module, "settle", lambda whole, *rest: wholes.append(whole) or settle(whole, *rest))
    monkeypatch.setattr(
        dives_module, "put_next", lambda n, least, *rest: shares.append(least) or put_next(n, least, *rest)
    )
    dives_of(instance).dive(nowhere(instance), np.inf, options)
    assert set(wholes) == {WHOLE}
    assert not shares
    short = Options(time_limit=None, work_limit=options.work.units / 2)
    wholes.clear()
    dives_of(instance).dive(nowhere(instance), np.inf, short)
    assert wholes[0] == WHOLE
    assert wholes[-1] == NEARLY_WHOLE
    assert shares[-1] == 0.0  # the work is out
    assert set(shares[:-1]) == {MORE_SHARE}


def test_a_job_whose_room_is_taken_by_one_that_is_nearly_whole_gets_another_place():
    """Of 10 nodes p and q, of 6 and 5, both have 90 % of slot 0: q is placed once the program is solved again."""
    instance = by_hand()
    dives = dives_of(instance)
    columns = dives.program.columns
    now = dives._first(nowhere(instance), np.inf, None, OPTIONS)
    first = [int(np.flatnonzero((columns.job == job) & (columns.start == 0))[0]) for job in (0, 1)]
    leading = Leading(np.array([[first[0]], [first[1]], [-1]]), np.array([[0.9], [0.9], [0.0]]))
    left = np.empty_like(dives.jobs.limit)
    assert settle(0.9, *leading, now.place, left, columns, dives.jobs) < 0
    assert now.place.tolist() == [0, -1, -1]
    again = dives._after_all(now, leading, np.inf, OPTIONS)
    assert again.room[first[1]] == 0
    now.place[1] = 2
    assert dives._after_all(now, leading, np.inf, OPTIONS) is None


def test_jobs_are_tried_in_few_places_where_steps_are_slow(instance):
    dives = dives_of(instance)

    def tried(pace, total):
        return dives._step(dives.jobs.order[0], 0.0, pace, total, OPTIONS).tried

    assert tried(0.0, 10.0) == tried(0.5, 10.0) == 6
    assert tried(0.51, 10.0) == FEW_TRIED  # 20 steps of the 40 largest jobs take longer


def test_a_dive_tells_after_each_step_that_it_goes_on(instance):
    told = []
    dives = dives_of(instance, rounds=2)  # more would leave few jobs split
    dives.tell = lambda: told.append(int((dives.program.columns.row >= 0).sum()))
    dives.dive(nowhere(instance), np.inf, OPTIONS)
    assert len(told) > 3


def test_a_job_whose_places_others_have_just_taken_gets_another_one():
    """Of 10 nodes p takes 6 in slots 0 and 1: q, of 5, was to begin in one of these, and has room from slot 2 on."""
    instance = by_hand()
    dives = dives_of(instance)
    now = dives._first(nowhere(instance), np.inf, None, OPTIONS)
    now.place[:] = [0, -1, 2]
    leading = np.full((3, 6), -1)
    share = np.zeros((3, 6))
    columns = dives.program.columns
    at = {int(t): c for c, (i, t) in enumerate(zip(columns.job, columns.start, strict=True)) if i == 1 and t >= 0}
    leading[1, :2] = at[0], at[1]
    share[1, :2] = 0.9, 0.1
    best = dives._best(now, Step(1, 6, 0), Leading(leading, share), np.inf, 0.0, OPTIONS)
    assert best is not None
    assert (best.place == now.place).all()
    assert best.point.values[at[2]] == pytest.approx(1.0)  # beside the 4 nodes of r


def test_the_best_try_is_kept_and_the_next_must_cost_less():
    rng = np.random.default_rng(0)
    tries = Tries(begun=100.0, goal=110.0, noise=0.0)
    assert tries.best is None
    assert tries.rise == np.inf
    assert tries.costs_much
    tries.take(None, rng)  # above the goal
    assert tries.most == 110.0
    for objective, most in ((108.0, 108.0), (109.0, 108.0), (104.0, 104.0)):
        tries.take(Relaxed(np.zeros(1), np.zeros(1), Point(objective, np.zeros(1), np.zeros(1))), rng)
        assert tries.most == most
    assert tries.rise == 4.0
    assert tries.costs_much
    assert not tries.is_free


def test_a_job_costs_at_least_as_much_more_in_a_further_place_as_is_said_of_it(instance):
    """What is said is the reduced cost of the place: by so much the program rises at least."""
    dives = dives_of(instance)
    now = dives._first(nowhere(instance), np.inf, None, OPTIONS)
    looked_at = 0
    for job in dives.jobs.order[:6].tolist():
        further = dives._further(job, np.array([-1]), now, OPTIONS)
        assert len({column for column, _ in further}) == len(further)
        assert [least for _, least in further] == sorted(least for _, least in further)
        for column, least in further:
            assert dives.program.columns.job[column] == job
            upper = now.room.copy()
            upper[(dives.program.columns.job[: len(upper)] == job) & (np.arange(len(upper)) != column)] = 0.0
            point = dives.program.solve(upper, np.inf, OPTIONS)
            assert point is None or point.objective >= now.point.objective + least - 1e-6
            looked_at += 1
    assert looked_at > 10
    assert dives._further(job, np.array([column for column, _ in further]), now, OPTIONS) == [] or len(further) == 6


def test_a_job_runs_in_a_place_that_its_program_gives_nothing_where_that_costs_less(instance, monkeypatch):
    """With all its leading places but the last taken away, a job is still placed where the program rises least."""
    monkeypatch.setattr(dive_tries, "HIGH_RISE", -1.0)
    dives = dives_of(instance)
    now = dives._first(nowhere(instance), np.inf, None, OPTIONS)
    leading = column, share = dives._leading(now)
    job = next(i for i in dives.jobs.order.tolist() if share[i, 1] > 0.1 and share[i, 0] < 0.9)
    whole = dives._best(now, Step(job, 6, 0), leading, np.inf, 0.0, OPTIONS)
    last = np.full_like(column, -1)
    last[job, 0] = column[job, np.flatnonzero(share[job] >= 0.1)[-1]]
    some = dives._best(now, Step(job, 1, 0), Leading(last, share), np.inf, 0.0, OPTIONS)
    assert some.point.objective == pytest.approx(whole.point.objective, rel=1e-9)

"""Bits that say where a demand is free, and moves of the search that leave no trace when they are undone."""

from __future__ import annotations

import numpy as np
import pytest

import carbonopt as co
from carbonopt.algorithms.kernel import loops
from carbonopt.problems.mosp.formulation.objective import placement_value
from carbonopt.problems.mosp.methods.price.dual import Dual
from carbonopt.problems.mosp.methods.price.insertion import insert_all
from carbonopt.problems.mosp.methods.price.packing import LEVELS, add, fits, has_room, is_open, put, take
from carbonopt.problems.mosp.methods.price.places import make_places
from carbonopt.problems.mosp.methods.price.search import Goal, anneal, move, rules_of, undo
from carbonopt.problems.mosp.methods.price.search_parameters import MoveParameters, PlaceParameters
from carbonopt.problems.mosp.methods.price.state import (
    at_places,
    bits_of,
    charge_rejections,
    copy_of,
    levels_of,
    new_state,
)

BARS = (1e-3, 3.0, 2.0)

RULES = rules_of(MoveParameters())


@pytest.fixture(autouse=True)
def plain():
    """Run kernels as Python: these cases are small."""
    with loops(steps=0):
        yield


@pytest.mark.parametrize("different", [1, 5, LEVELS, LEVELS + 1, 90])
def test_levels_are_demands_or_less(different):
    rng = np.random.default_rng(different)
    demand = rng.permutation(different)[rng.integers(0, different, 200)][:, None] + rng.random((1, 2))
    levels, level = levels_of(demand)
    assert len(levels) <= LEVELS
    assert (levels[level] <= demand).all()
    if different <= LEVELS:
        assert (levels[level] == demand).all()


@pytest.mark.parametrize("resources", [1, 2])
def test_bits_by_hand_and_slot_by_slot(resources):
    rng = np.random.default_rng(resources)
    free = rng.integers(2, 9, (resources, 150)).astype(float)
    levels = np.arange(1.0, 6.0)[:, None] * np.ones(resources)
    free[:, 20:110] = np.maximum(free[:, 20:110], 3.0)  # a run over four words
    room = bits_of(free, levels)
    assert is_open(room, 2, 20, 90)
    for _ in range(2000):
        length = int(rng.choice([1, 2, 5, 31, 32, 33, 64, 90]))
        place, level = int(rng.integers(0, 150 - length)), int(rng.integers(0, 5))
        expected = has_room(free, levels[level], place, length)
        assert is_open(room, level, place, length) == expected


def test_what_is_added_and_taken_away_keeps_the_bits():
    rng = np.random.default_rng(1)
    free, levels = np.full((2, 70), 8.0), np.array([[1.0, 2.0], [2.0, 1.0], [4.0, 4.0]])
    room, taken = bits_of(free, levels), []
    for _ in range(300):
        if taken and rng.random() < 0.5:
            demand, place, length = taken.pop(int(rng.integers(0, len(taken))))
            add(1.0, demand, place, length, free, levels, room)
        else:
            demand, length = rng.integers(0, 5, 2).astype(float), int(rng.integers(1, 40))
            place = int(rng.integers(0, 70 - length))
            taken.append((demand, place, length))
            add(-1.0, demand, place, length, free, levels, room)
        assert (room == bits_of(free, levels)).all()


@pytest.fixture
def crowded():
    """Return the pieces of a search on a full instance, with its jobs inserted."""
    instance = co.generate("mosp", preset="bench", jobs=60, clusters=3, slots=24, seed=2)
    dual = Dual(instance, placement_value(instance))
    prices = np.full(dual.limit.size, 0.01)
    places = make_places(dual, prices, PlaceParameters())
    state = new_state(instance, dual, places, 1e-3, 1e-3, RULES.most_moved)
    insert_all(np.arange(60), np.random.default_rng(1), places, state)
    return dual, places, state


def test_a_job_taken_out_and_put_back_leaves_no_trace(crowded):
    _, _, state = crowded
    before = copy_of(state)
    for i in np.flatnonzero(state.place >= 0)[::7]:
        job = state.jobs[i].copy()
        take(i, state)
        assert fits(i, job.place, state)
        put(i, job.place, job.cost, job.excess, state)
    assert (state.place == before.place).all()
    assert (state.capacity_left == before.capacity_left).all()
    assert (state.room == before.room).all()


def test_an_undone_move_leaves_no_trace(crowded):
    dual, places, state = crowded
    before, rng, moved = copy_of(state), np.random.default_rng(5), 0
    for _ in range(60):
        count, _ = move(0.01, rng, dual.table, places, RULES, state)
        assert 1 <= count <= RULES.most_moved
        assert len(set(state.moved.job[:count])) == count
        moved += int((state.place != before.place).sum())
        known = state.rejected[: state.now.rejected_count[0]]
        assert sorted(known) == np.flatnonzero(state.place < 0).tolist()
        assert (state.rejected[state.jobs.rejected_at[known]] == known).all()
        undo(count, state)
        for field in ("place", "cost", "excess"):
            assert (state.jobs[field] == before.jobs[field]).all()
        assert (state.capacity_left == before.capacity_left).all()
        assert (state.room == before.room).all()
    assert moved > 0


@pytest.mark.slow
def test_the_search_keeps_count_of_costs_and_of_the_best_schedule():
    instance = co.generate("mosp", preset="bench", jobs=40, clusters=2, slots=12, seed=3, load=1.0)
    dual = Dual(instance, placement_value(instance))
    prices = np.full(dual.limit.size, 0.02)
    places = make_places(dual, prices, PlaceParameters())
    rng = np.random.default_rng(1)
    empty = new_state(instance, dual, places, 1e-3, 1e-3, RULES.most_moved)
    inserted = copy_of(empty)
    insert_all(np.arange(40), rng, places, inserted)
    state = at_places(empty, inserted.place, dual, prices)
    first = state.best_total
    anneal(0, 2_000, rng, 0.1, 0.999, Goal(-np.inf, 0.0, 0.0), dual.table, places, RULES, state)
    assert state.now.total[0] == pytest.approx(state.jobs.cost.sum())
    assert state.best_total == pytest.approx(at_places(empty, state.best, dual, prices).best_total)
    assert state.best_total < first


def test_absent_jobs_count_what_they_are_charged():
    instance = co.generate("mosp", preset="bench", jobs=40, clusters=1, slots=12, seed=3, load=1.4)
    dual = Dual(instance, placement_value(instance))
    prices = np.full(dual.limit.size, 0.3)
    places = make_places(dual, prices, PlaceParameters())
    state = new_state(instance, dual, places, 1e-3, 1e-3, RULES.most_moved)
    insert_all(np.arange(40), np.random.default_rng(1), places, state)
    state.now.total = state.jobs.cost.sum()
    rejected, full = np.flatnonzero(state.place < 0), state.jobs.copy()
    assert len(rejected) > 2
    for most in (0.01, 0.5, np.inf):
        charge_rejections(most, state)
        away = np.minimum(full.rejection_regret, most * full.work)
        assert state.jobs.excess[rejected] == pytest.approx(away[rejected])
        assert state.jobs.cost[rejected] == pytest.approx((full.lowest + away)[rejected])
        assert state.now.total[0] == pytest.approx(state.jobs.cost.sum())
        assert state.best_total == state.now.total[0]
        high_regret = state.high_regret[: state.now.high_regret_count[0]]
        assert sorted(high_regret) == np.flatnonzero(state.jobs.excess > state.now.high_regret_excess[0]).tolist()
    assert (state.jobs.cost == full.cost).all()


@pytest.mark.parametrize("kind", ["carbon", "caspian"])
def test_a_schedule_placed_at_once_is_the_one_of_jobs_placed_one_by_one(random_instance, kind):
    for seed in range(20):
        instance = random_instance(seed, kind)
        dual = Dual(instance, placement_value(instance, BARS))
        prices = np.random.default_rng(seed).random(dual.limit.size) * 0.01
        places = make_places(dual, prices, PlaceParameters())
        empty = new_state(instance, dual, places, 1e-3, 1e-3, RULES.most_moved)
        one_by_one = copy_of(empty)
        insert_all(np.arange(len(instance.jobs)), np.random.default_rng(1), places, one_by_one)
        again = copy_of(empty)  # in the order of jobs
        for i in np.flatnonzero(one_by_one.place >= 0):
            job = one_by_one.jobs[i]
            put(i, job.place, job.cost, job.excess, again)
        at_once = at_places(empty, one_by_one.place, dual, prices)
        for name in ("place", "after", "before"):
            assert (at_once.jobs[name] == again.jobs[name]).all()
        for name in ("cost", "excess"):
            assert at_once.jobs[name] == pytest.approx(again.jobs[name], rel=1e-5, abs=1e-6)  # lists are in single
        assert at_once.capacity_left == pytest.approx(again.capacity_left)
        assert (at_once.room == again.room).all()
        assert (at_once.head == again.head).all()
        for listed, count, at in (
            ("high_regret", "high_regret_count", "high_regret_at"),
            ("rejected", "rejected_count", "rejected_at"),
        ):
            number = at_once.now[count][0]
            members = getattr(at_once, listed)[:number]
            assert set(members) == set(getattr(again, listed)[: again.now[count][0]])
            assert (at_once.jobs[at][members] == np.arange(number)).all()


def test_an_ejection_takes_its_target_and_an_undone_one_leaves_no_trace(crowded):
    dual, places, state = crowded
    before, rng, done = copy_of(state), np.random.default_rng(5), 0
    rules = rules_of(MoveParameters(eject_share=1.0, most_ejected=RULES.most_moved), ejects=True)
    for _ in range(60):
        count, change = move(1.0, rng, dual.table, places, rules, state)
        assert 1 <= count <= rules.most_ejected
        assert len(set(state.moved.job[:count])) == count
        if change < np.inf:
            done += 1
            first = state.moved.job[0]
            assert state.place[first] != before.place[first]
            assert (state.capacity_left >= 0).all()
        undo(count, state)
        assert (state.place == before.place).all()
        assert (state.capacity_left == before.capacity_left).all()
        assert (state.room == before.room).all()
    assert done > 0


def test_jobs_eject_others_only_where_they_are_told_to():
    assert rules_of(MoveParameters()).eject_share == 0
    assert rules_of(MoveParameters(), ejects=True).eject_share == MoveParameters().eject_share

"""HiGHS over places of low excess: large jobs first, neighbourhoods of a schedule, and the tree that gives a bound."""

import numpy as np
import pytest

import carbonopt as co
from carbonopt.core.options import Options
from carbonopt.core.status import Status
from carbonopt.problems.mosp.formulation.objective import placement_value
from carbonopt.problems.mosp.methods.price.bound_parameters import CliqueParameters
from carbonopt.problems.mosp.methods.price.clique_tree import CliqueTree
from carbonopt.problems.mosp.methods.price.cliques import CliqueBound
from carbonopt.problems.mosp.methods.price.state import schedule_of

OPTIONS = Options(time_limit=None)


@pytest.fixture(scope="module")
def instance():
    return co.generate("mosp", preset="supercomputer", seed=3, jobs=40, clusters=2, slots=24, max_demand=64, load=0.5)


@pytest.fixture
def tree(instance):
    params = CliqueParameters(large_columns=50, neighbourhood_columns=60)
    bound = CliqueBound(instance, placement_value(instance), np.zeros((2, 1, 24)), params)
    for _ in bound.rounds(OPTIONS):
        pass
    return CliqueTree(bound, OPTIONS)


def cost_of(tree, place):
    job = np.arange(len(place))
    return float(tree.bound.cost[tree.bound.row[job, place // 24, place % 24]].sum())


def large_first(tree, instance):
    work = instance.jobs.demand[:, 0] * instance.jobs.duration
    return tree.large_first(np.argsort(-work, kind="stable")[:10], OPTIONS)


def test_large_jobs_come_first_and_the_others_find_places_though_fifty_are_too_few(tree, instance):
    closed = large_first(tree, instance)
    assert closed.bound is None  # over some places: it says nothing of all schedules
    assert co.evaluate(instance, schedule_of(instance, closed.place)).objective == pytest.approx(
        cost_of(tree, closed.place)
    )


def test_neighbourhoods_never_cost_more_and_leave_most_jobs_where_they_are(tree, instance):
    place = large_first(tree, instance).place
    first = total = cost_of(tree, place)
    for _ in range(8):
        closed = tree.neighbourhood((place, total), OPTIONS)
        assert closed.bound is None
        assert np.count_nonzero(closed.place != place) <= 0.4 * len(place)
        place = closed.place
        assert cost_of(tree, place) <= total + 1e-9
        total = cost_of(tree, place)
    assert total < first
    assert co.evaluate(instance, schedule_of(instance, place)).objective == pytest.approx(total)


def test_the_last_tree_proves_what_the_whole_program_does(tree, instance):
    place = large_first(tree, instance).place
    closed = tree.close((place, cost_of(tree, place)), OPTIONS)
    whole = co.solve(instance, "milp", time_limit=None)
    assert closed.status is Status.OPTIMAL
    assert whole.status == "optimal"
    assert closed.bound <= whole.objective + 1e-6
    assert closed.bound == pytest.approx(whole.objective, rel=2e-4)
    assert cost_of(tree, closed.place) == pytest.approx(whole.objective, rel=2e-4)


def test_neighbourhoods_end_with_the_work(tree, instance):
    options = Options(time_limit=None, work_limit=1.0)
    order = np.argsort(-instance.jobs.demand[:, 0], kind="stable")
    found = list(tree.search(lambda: None, order, 20.0, options))
    assert 1 <= len(found) <= 2  # no schedule is known, so there are no neighbourhoods
    assert options.work.units <= 1.5

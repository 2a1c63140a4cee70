"""HiGHS over places of low excess: neighbourhoods of a schedule."""

from __future__ import annotations

import numpy as np
import pytest

import carbonopt as co
from carbonopt.core.options import Options
from carbonopt.problems.mosp.data.file import from_dict
from carbonopt.problems.mosp.formulation.objective import placement_value
from carbonopt.problems.mosp.methods.price import neighbourhoods
from carbonopt.problems.mosp.methods.price.bound_parameters import (
    CliqueParameters,
    DiveParameters,
    NeighbourhoodParameters,
)
from carbonopt.problems.mosp.methods.price.clique_rounds import raise_by_cliques
from carbonopt.problems.mosp.methods.price.cliques import CliqueBound
from carbonopt.problems.mosp.methods.price.growing import GrowingProgram
from carbonopt.problems.mosp.methods.price.neighbourhoods import Known, Neighbourhoods
from carbonopt.problems.mosp.methods.price.state import places_of, schedule_of

OPTIONS = Options(time_limit=None)


@pytest.fixture(scope="module")
def instance():
    return co.generate("mosp", preset="supercomputer", seed=3, jobs=40, clusters=2, slots=24, max_demand=64, load=0.5)


def around(instance, prices=None, rounds=0):
    prices = np.zeros(instance.clusters.capacity.shape) if prices is None else prices
    params = CliqueParameters(rounds=rounds)
    cliques = CliqueBound(instance, placement_value(instance), prices, params)
    for _ in raise_by_cliques(GrowingProgram(cliques, np.inf, OPTIONS), np.inf, params, OPTIONS):
        pass
    return Neighbourhoods(cliques, NeighbourhoodParameters(columns=60), seed=0)


def known_of(instance, method="lp-rounding"):
    solution = co.solve(instance, method)
    return Known(places_of(instance, solution.columns), solution.objective)


@pytest.mark.parametrize("rounds", [0, 30])
def test_neighbourhoods_never_cost_more_and_leave_most_jobs_where_they_are(instance, rounds):
    search = around(instance, np.array(co.solve(instance, "lp").certificate["prices"]), rounds)
    assert (len(search.cliques.proof.cliques) > 0) == (rounds > 0)
    known = first = known_of(instance, "greedy-clean")
    for _ in range(8):
        closed = search.search(known, OPTIONS)
        assert closed.bound is None  # over some places: it says nothing of all schedules
        assert np.count_nonzero(closed.place != known.place) <= 0.4 * len(known.place)
        found = co.evaluate(instance, schedule_of(instance, closed.place))
        assert found.objective <= known.cost * (1 + 1e-9)
        known = Known(closed.place, found.objective)
    assert known.cost < first.cost


def test_jobs_that_are_left_out_may_come_in(instance):
    raw = instance.to_dict()
    raw["objective"]["rejection_price"] = 1e3
    rejecting = from_dict(raw)
    place = known_of(instance).place.copy()
    place[:10] = -1
    cost = co.evaluate(rejecting, schedule_of(rejecting, place)).objective
    closed = around(rejecting).search(Known(place, cost), OPTIONS)
    assert co.evaluate(rejecting, schedule_of(rejecting, closed.place)).objective < cost
    assert (closed.place >= 0).sum() > (place >= 0).sum()


def test_some_jobs_are_placed_again_and_the_others_stay(instance, monkeypatch):
    monkeypatch.setattr(neighbourhoods, "FREED", (8, 15))
    search = around(instance, np.array(co.solve(instance, "lp").certificate["prices"]), 30)
    known = first = known_of(instance, "greedy-clean")
    for _ in range(30):
        place = search.dive(known, DiveParameters(), OPTIONS)
        if place is None:
            continue
        assert np.count_nonzero(place != known.place) <= 15
        found = co.evaluate(instance, schedule_of(instance, place))
        assert found.objective < known.cost
        known = Known(place, found.objective)
    assert known.cost < first.cost - 0.5 * (first.cost - co.solve(instance, "milp", work_limit=20).objective)


def test_a_part_of_all_jobs_is_the_whole_instance(instance, monkeypatch):
    """Its capacity is all there is, so a dive gets near to the optimum whatever the schedule was."""
    monkeypatch.setattr(neighbourhoods, "FREED", (len(instance.jobs),))
    monkeypatch.setattr(neighbourhoods, "MOST_FREED", 1.0)
    search = around(instance, np.array(co.solve(instance, "lp").certificate["prices"]), 30)
    jobs = np.arange(len(instance.jobs))
    part = search._part(np.full(len(jobs), -1), jobs)
    assert np.array_equal(part.clusters.limit, instance.clusters.limit)
    assert part.jobs.name == instance.jobs.name
    known = known_of(instance, "greedy-clean")
    place = search.dive(known, DiveParameters(), OPTIONS)
    best = co.solve(instance, "milp", work_limit=20).objective
    assert best * (1 - 1e-6) <= co.evaluate(instance, schedule_of(instance, place)).objective <= best * 1.02


def test_the_optimum_is_not_placed_again(monkeypatch):
    """What a part proves of itself ends its search where nothing can be gained."""
    monkeypatch.setattr(neighbourhoods, "FREED", (5,))
    small = co.generate("mosp", preset="supercomputer", seed=1, jobs=10, clusters=2, slots=12, max_demand=64, load=0.4)
    search = around(small, np.array(co.solve(small, "lp").certificate["prices"]), 30)
    best = known_of(small, "milp")
    for _ in range(5):
        assert search.dive(best, DiveParameters(), OPTIONS) is None


def test_a_dive_places_a_part_of_the_jobs_and_tells_that_it_goes_on(instance):
    """Of 40 jobs at most 24: with all of them, each dive would be the same."""
    search = around(instance, np.array(co.solve(instance, "lp").certificate["prices"]), 30)
    known = known_of(instance, "greedy-clean")
    told = []
    parts = []
    whole = search._part
    search._part = lambda others, jobs: parts.append(len(jobs)) or whole(others, jobs)
    for _ in range(6):
        search.dive(known, DiveParameters(), OPTIONS, lambda: told.append(1))
    assert set(parts) == {24}
    assert told

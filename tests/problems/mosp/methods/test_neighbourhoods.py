"""Dives that place some jobs of a schedule again: its neighbourhoods."""

from __future__ import annotations

import numpy as np
import pytest

import carbonopt as co
from carbonopt.core.options import Options
from carbonopt.problems.mosp.data.file import from_dict
from carbonopt.problems.mosp.formulation.objective import placement_value
from carbonopt.problems.mosp.methods.price import method, neighbourhoods
from carbonopt.problems.mosp.methods.price.bound_parameters import (
    CliqueParameters,
    DiveParameters,
)
from carbonopt.problems.mosp.methods.price.choices import choices_of
from carbonopt.problems.mosp.methods.price.clique_rounds import raise_by_cliques
from carbonopt.problems.mosp.methods.price.cliques import CliqueBound
from carbonopt.problems.mosp.methods.price.growing import GrowingProgram
from carbonopt.problems.mosp.methods.price.neighbourhoods import Neighbourhoods
from carbonopt.problems.mosp.methods.price.parts import part_of, program_of_part
from carbonopt.problems.mosp.methods.price.state import places_of, schedule_of

OPTIONS = Options(time_limit=None)


@pytest.fixture(scope="module")
def instance():
    return co.generate("mosp", preset="supercomputer", seed=3, jobs=40, clusters=2, slots=24, max_demand=64, load=0.5)


def around(instance):
    prices = np.array(co.solve(instance, "lp").certificate["prices"])
    params = CliqueParameters(rounds=30)
    cliques = CliqueBound(choices_of(instance, placement_value(instance)), prices, params)
    for _ in raise_by_cliques(GrowingProgram(cliques, np.inf, OPTIONS), np.inf, params, OPTIONS):
        pass
    return Neighbourhoods(cliques, DiveParameters(), seed=0)


def known_of(instance, method):
    return places_of(instance, co.solve(instance, method).columns)


def cost_of(instance, place):
    return co.evaluate(instance, schedule_of(instance, place)).objective


def test_some_jobs_are_placed_again_and_the_others_stay(instance, monkeypatch):
    monkeypatch.setattr(neighbourhoods, "FREED", (8, 15))
    search = around(instance)
    known = known_of(instance, "greedy-clean")
    first = cost = cost_of(instance, known)
    for _ in range(30):
        place = search.dive(known, OPTIONS)
        if place is None:
            continue
        assert np.count_nonzero(place != known) <= 15
        found = cost_of(instance, place)
        assert found < cost
        known, cost = place, found
    assert cost < first - 0.5 * (first - co.solve(instance, "milp", work_limit=20).objective)


def test_a_part_of_all_jobs_is_the_whole_instance(instance, monkeypatch):
    """Its capacity is all there is, so a dive gets near to the optimum whatever the schedule was."""
    monkeypatch.setattr(neighbourhoods, "FREED", (len(instance.jobs),))
    monkeypatch.setattr(neighbourhoods, "MOST_FREED", 1.0)
    search = around(instance)
    jobs = np.arange(len(instance.jobs))
    part = part_of(np.full(len(jobs), -1), jobs, search.cliques)
    assert np.array_equal(part.clusters.limit, instance.clusters.limit)
    assert part.jobs.name == instance.jobs.name
    known = known_of(instance, "greedy-clean")
    place = search.dive(known, OPTIONS)
    best = co.solve(instance, "milp", work_limit=20).objective
    assert best * (1 - 1e-6) <= cost_of(instance, place) <= best * 1.02


def test_the_optimum_is_not_placed_again(monkeypatch):
    """What a part proves of itself ends its search where nothing can be gained."""
    monkeypatch.setattr(neighbourhoods, "FREED", (5,))
    small = co.generate("mosp", preset="supercomputer", seed=1, jobs=10, clusters=2, slots=12, max_demand=64, load=0.4)
    search = around(small)
    best = known_of(small, "milp")
    for _ in range(5):
        assert search.dive(best, OPTIONS) is None


def test_a_dive_places_a_part_of_the_jobs_and_tells_that_it_goes_on(instance, monkeypatch):
    """Of 40 jobs at most 24: with all of them, each dive would be the same."""
    search = around(instance)
    known = known_of(instance, "greedy-clean")
    told = []
    parts = []
    whole = program_of_part

    def program(others, jobs, *given):
        parts.append(len(jobs))
        return whole(others, jobs, *given)

    monkeypatch.setattr(neighbourhoods, "program_of_part", program)
    for _ in range(6):
        search.dive(known, OPTIONS, lambda: told.append(1))
    assert set(parts) == {24}
    assert told


def test_jobs_that_are_left_out_may_come_in(instance, monkeypatch):
    monkeypatch.setattr(neighbourhoods, "FREED", (24,))
    raw = instance.to_dict()
    raw["objective"]["rejection_price"] = 1e3
    rejecting = from_dict(raw)
    known = known_of(instance, "lp-rounding")
    known[:10] = -1
    search = around(rejecting)
    found = next(place for _ in range(20) if (place := search.dive(known, OPTIONS)) is not None)
    assert cost_of(rejecting, found) < cost_of(rejecting, known)
    assert (found >= 0).sum() > (known >= 0).sum()


@pytest.mark.parametrize("most", [0, 6])
def test_the_search_ends_where_so_many_neighbourhoods_have_nothing_better(monkeypatch, most):
    heavy = co.generate("mosp", preset="supercomputer", seed=5, jobs=80, clusters=2, slots=24, max_demand=64, load=0.7)
    whole = Neighbourhoods.dive
    found = []

    def dive(*given):
        place = whole(*given)
        found.append(place is not None)
        return place

    monkeypatch.setattr(Neighbourhoods, "dive", dive)
    monkeypatch.setattr(method, "dive", lambda solver: None)  # over all jobs: it leaves little to be found
    params = {"neighbourhoods": {"most_in_vain": most}, "windows": {"most_branches": 5}, "beam": {"parts_per_job": 0}}
    params |= {"search": {"moves_per_job": 50}, "cliques": {"few_of_slots": 0}}  # else the bound is reached
    co.solve(heavy, "price", work_limit=1e6, params=params)  # rounds of cliques end by their time else
    assert len(found) >= most
    assert not any(found[len(found) - most :])
    assert any(found) == (most > 0)  # each of which begins the count again
    in_vain = "".join("x" if ok else "-" for ok in found).split("x")
    assert all(len(part) < most for part in in_vain[:-1])

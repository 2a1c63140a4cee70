"""Rounding of the restricted linear program that `price` starts from."""

from __future__ import annotations

import numpy as np
import pytest

import carbonopt as co
from carbonopt.algorithms.prices import Ascent
from carbonopt.core.options import Options
from carbonopt.problems.mosp.formulation.objective import placement_value
from carbonopt.problems.mosp.methods.price.dual import Dual
from carbonopt.problems.mosp.methods.price.places import make_places
from carbonopt.problems.mosp.methods.price.restricted import Bins, solve_restricted, whole_starts
from carbonopt.problems.mosp.methods.price.search_parameters import PlaceParameters, StartParameters


def test_largest_remainders_go_up_and_each_bin_adds_up():
    """Of bin 0 one of 2.4 + 0.6 jobs is left over, bin 1 has no column, and bin 2 leaves 0.7 of 2 jobs absent."""
    bins = Bins(np.arange(7), np.array([0, 3, 5, 7]), np.zeros(3, dtype=np.int64), np.zeros(3))
    column_of, jobs = np.array([0, 0, 2, 2, 2]), np.array([2.4, 0.6, 0.2, 0.5, 0.6])
    assert whole_starts(bins, column_of, jobs).tolist() == [2, 1, 0, 0, 1]
    assert whole_starts(bins, column_of, np.floor(jobs)).tolist() == [2, 0, 0, 0, 0]


def test_every_job_has_a_slot_unless_the_program_rejects_it():
    for load in (0.7, 1.3):
        instance = co.generate("mosp", preset="bench", jobs=300, clusters=3, slots=24, seed=3, load=load)
        dual = Dual(instance, placement_value(instance))
        ascent = Ascent(dual.hard, dual.soft, np.zeros(dual.limit.size), scale=0.05)
        ascent.smooth([0.01, 0.001, 1e-4], 100)
        places = make_places(dual, ascent.prices, PlaceParameters())
        targets = solve_restricted(dual, places, ascent.prices, 0.1, StartParameters(), Options(time_limit=None))
        assert targets is not None
        assert load > 1 or targets.units.sum() == pytest.approx(instance.jobs.demand.sum(), rel=1e-6)
        absent = int((targets.start < 0).sum())
        assert (absent > 0) == (load > 1)
        placed = targets.start >= 0
        assert (targets.start[placed] >= instance.jobs.arrival[placed]).all()
        assert (targets.start[placed] + instance.jobs.duration[placed] <= instance.time.slots).all()

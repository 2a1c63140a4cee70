"""Long horizons block by block: as good as the whole, complete, and with a bound of its own."""

from __future__ import annotations

import numpy as np
import pytest

import carbonopt as co
from carbonopt.core.options import Options
from carbonopt.problems.elastic.check import check
from carbonopt.problems.elastic.fluid import rolling
from carbonopt.problems.elastic.fluid.band import Allocation, FluidProgram


@pytest.fixture
def month(monkeypatch) -> co.Instance:
    monkeypatch.setattr(rolling, "STEP", 48)
    monkeypatch.setattr(rolling, "LEAST_UNITS", 0)
    return co.generate("elastic", jobs=120, arrival_hours=500, utilisation=0.6, model="fluid", seed=3)


def test_blocks_close_the_gap_of_the_whole(month):
    program = FluidProgram.of(month)
    assert rolling.is_long(program)
    found = rolling.roll(program, Options(time_limit=None))
    whole = co.solve(month, "lp")
    assert found is not None
    assert found.bound <= whole.objective * (1 + 1e-9)
    assert found.gap <= 1e-3
    report = check(month, found.allocation.schedule(month))
    assert report.violations == ()
    assert report.objective == pytest.approx(found.carbon, rel=1e-9)
    assert report.objective >= whole.objective * (1 - 1e-7)


def test_price_rolls(month):
    solution = co.solve(month, "price")
    assert solution.status in ("optimal", "feasible")
    assert "blocks" in solution.info
    assert co.check(month, solution).violations == ()


def test_what_rounding_left_is_mended(month):
    program = FluidProgram.of(month)
    found = rolling.roll(program, Options(time_limit=None))
    less = found.allocation.share.copy()
    last = np.flatnonzero(found.allocation.job == 7)[-1]
    less[last] *= 1 - 1e-6
    short = Allocation(*found.allocation[:3], less)
    assert check(month, short.schedule(month)).violations != ()
    assert check(month, rolling.mended(program, short).schedule(month)).violations == ()


def test_a_schedule_that_rounding_spoilt_does_not_replace_the_incumbent(monkeypatch):
    from carbonopt.problems.elastic.fluid import method

    week = co.generate("elastic", jobs=40, utilisation=0.3, model="fluid", seed=1)
    whole = method.optimum

    def spoilt(*args, **options):
        found = whole(*args, **options)
        found.allocation = found.allocation._replace(share=found.allocation.share * (1 - 1e-6))
        return found

    best = co.solve(week, "price")
    monkeypatch.setattr(method, "optimum", spoilt)
    solution = co.solve(week, "price")
    assert (solution.status, solution.has_solution) == ("feasible", True)
    assert solution.bound == best.bound
    assert solution.objective == co.solve(week, "carbonflex-greedy-fluid").objective

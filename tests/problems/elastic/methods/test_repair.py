"""What rounding leaves of a fluid schedule."""

from __future__ import annotations

import numpy as np
import pytest
from elastic_support import by_hand

import carbonopt as co
from carbonopt.core.options import Options
from carbonopt.problems.elastic.methods.price.fluid import method
from carbonopt.problems.elastic.methods.price.fluid.band import Allocation, FluidProgram
from carbonopt.problems.elastic.methods.price.fluid.optimum import optimum
from carbonopt.problems.elastic.methods.price.fluid.repair import repaired
from carbonopt.problems.elastic.verify.check import check


def rows(*rows: tuple[int, int, int, float]) -> Allocation:
    job, slot, level, share = (np.array(column) for column in zip(*rows, strict=True))
    return Allocation(job, slot, level, share)


class TestByHand:
    """Two servers at 3, 1 and 2 g; two jobs of 1.5 slots that may run from 0 to 2."""

    program = FluidProgram.of(by_hand(2, [3, 1, 2], *[(0, 1.5, 1, [1])] * 2, model="fluid"))

    def test_what_is_sound_stays(self) -> None:
        sound = rows((0, 1, 0, 1.0), (0, 2, 0, 0.5), (1, 1, 0, 1.0), (1, 2, 0, 0.5))
        assert repaired(self.program, sound) is sound

    def test_the_rest_goes_to_the_cleanest_slot_with_room(self) -> None:
        short = rows((0, 1, 0, 1.0), (0, 2, 0, 0.5), (1, 1, 0, 1.0), (1, 2, 0, 0.5 - 1e-6))
        whole = repaired(self.program, short)
        assert whole is not None
        assert (whole.job[-1], whole.slot[-1], whole.level[-1]) == (1, 2, 0)
        assert whole.share[-1] == pytest.approx(1e-6)

    def test_too_much_load_cannot_be_mended(self) -> None:
        narrow = FluidProgram.of(by_hand(1, [3, 1, 2], *[(0, 1.5, 1, [1])] * 2, model="fluid"))
        assert repaired(narrow, rows((0, 1, 0, 1.0), (0, 2, 0, 0.5), (1, 1, 0, 1.0), (1, 2, 0, 0.5))) is None

    def test_no_room_is_no_schedule(self) -> None:
        full = FluidProgram.of(by_hand([1, 1, 0.9], [3, 1, 2], *[(0, 1.5, 1, [1])] * 2, model="fluid"))
        assert repaired(full, rows((0, 0, 0, 1.0), (0, 1, 0, 0.5), (1, 1, 0, 0.5), (1, 2, 0, 0.9))) is None


def test_what_rounding_left_is_mended() -> None:
    week = co.generate("elastic", jobs=40, utilisation=0.3, model="fluid", seed=1)
    program = FluidProgram.of(week)
    found = optimum(program, Options(time_limit=None)).allocation
    assert found is not None
    less = found.share.copy()
    less[np.flatnonzero(found.job == 7)[-1]] *= 1 - 1e-6
    short = found._replace(share=less)
    assert check(week, short.schedule(week)).violations != ()
    whole = repaired(program, short)
    assert whole is not None
    assert check(week, whole.schedule(week)).violations == ()


def test_a_schedule_that_rounding_spoilt_does_not_replace_the_incumbent(monkeypatch: pytest.MonkeyPatch) -> None:
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

"""Small programs of rows of ones: by hand, and with rows that come later."""

from __future__ import annotations

import numpy as np
import pytest

from carbonopt.milp.packing import PackingProgram


def test_three_columns_of_which_two_exclude_each_other():
    program = PackingProgram(np.array([3.0, 2.0, 1.0]), [np.array([0, 1])])
    assert program.solve().tolist() == [1.0, 0.0, 1.0]
    assert program.priced().tolist() == [0]
    program.add(np.array([0, 2]))
    assert program.entries == 4
    x = program.solve()
    assert np.array([3.0, 2.0, 1.0]) @ x == pytest.approx(3.0)
    program.add(np.array([1, 2]))
    assert program.solve() == pytest.approx(np.full(3, 0.5))


def test_a_program_without_rows_takes_all():
    assert PackingProgram(np.array([1.0, 2.0]), []).solve().tolist() == [1.0, 1.0]

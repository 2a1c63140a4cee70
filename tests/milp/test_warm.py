"""A linear program that grows: by hand, and against HiGHS that begins anew."""

from __future__ import annotations

import highspy
import numpy as np
import pytest

from carbonopt.core.options import Options
from carbonopt.milp import highs
from carbonopt.milp.program import Program
from carbonopt.milp.warm import Basis, WarmProgram

OPTIONS = Options(time_limit=None)


def two_of_three():
    """Two of three columns of costs 3, 2 and 5."""
    program = Program("two")
    x = program.add_variables("x", 3, upper=1.0, cost=[3.0, 2.0, 5.0])
    row = program.add_rows("two", 1, lower=2.0)
    program.add_entries(np.repeat(row.index, 3), x.index, 1.0)
    return program


def test_columns_rows_and_bounds_count_from_the_next_solve_on():
    warm = WarmProgram(two_of_three(), OPTIONS)
    point = warm.solve(OPTIONS)
    assert point.objective == pytest.approx(5.0)
    assert point.values == pytest.approx([1.0, 1.0, 0.0])
    assert point.row_dual == pytest.approx([3.0]) or point.row_dual == pytest.approx([5.0])
    warm.set_bounds(np.array([1.0, 0.0, 1.0]))
    assert warm.solve(OPTIONS).objective == pytest.approx(8.0)
    warm.set_bounds(np.array([1.0, 0.0, 1.0]))  # again
    assert warm.solve(OPTIONS).objective == pytest.approx(8.0)
    warm.set_bounds(np.array([1.0, 0.5, 1.0]))
    assert warm.solve(OPTIONS).objective == pytest.approx(6.5)
    warm.set_bounds(np.array([1.0, 0.0, 1.0]))
    warm.add_columns(np.array([1.0]), np.ones(1), np.array([0, 1]), np.array([0]), np.array([1.0]), OPTIONS)
    assert warm.solve(OPTIONS).objective == pytest.approx(4.0)
    warm.add_rows(np.array([1.0]), np.array([0, 2]), np.array([0, 3]), np.ones(2), OPTIONS)
    point = warm.solve(OPTIONS)
    assert point.objective == pytest.approx(6.0)
    assert point.values == pytest.approx([0.0, 0.0, 1.0, 1.0])
    assert (warm.columns, warm.rows, warm.entries) == (4, 2, 6)


def test_rows_that_are_deleted_do_not_count_and_later_ones_move_up():
    warm = WarmProgram(two_of_three(), OPTIONS)
    begin = np.array([0, 1, 2])
    warm.add_rows(np.array([0.5, 0.5]), begin, np.array([1, 0]), np.ones(2), OPTIONS)  # half of the second and first
    assert warm.solve(OPTIONS).objective == pytest.approx(0.5 * 2 + 0.5 * 3 + 5)
    columns, rows = warm.basis()
    warm.delete_rows(np.array([1]))
    assert (warm.rows, warm.entries) == (2, 4)
    warm.begin_at(Basis(columns, rows[[0, 2]]), OPTIONS)
    point = warm.solve(OPTIONS)
    assert point.objective == pytest.approx(0.5 * 3 + 2 + 0.5 * 5)
    assert point.values == pytest.approx([0.5, 1.0, 0.5])


def test_no_point_above_the_limit_or_where_there_is_none():
    warm = WarmProgram(two_of_three(), OPTIONS)
    assert warm.solve(OPTIONS, most=4.0) is None
    assert warm.solve(OPTIONS, most=6.0).objective == pytest.approx(5.0)
    warm.set_bounds(np.array([1.0, 0.0, 0.0]))
    assert warm.solve(OPTIONS) is None


def test_random_programs_that_change_are_solved_as_if_they_were_new():
    rng = np.random.default_rng(0)
    for _ in range(20):
        columns, rows = 12, 5
        program = Program("random")
        x = program.add_variables("x", columns, upper=1.0, cost=rng.normal(size=columns))
        limit = program.add_rows("limit", rows, upper=rng.uniform(0.5, 2.0, rows))
        matrix = rng.uniform(0.1, 3000.0 if _ % 2 else 1.0, (rows, columns))
        at = np.divmod(np.arange(rows * columns), columns)
        program.add_entries(limit.index[at[0]], x.index[at[1]], matrix.ravel())
        warm = WarmProgram(program, OPTIONS)
        for _ in range(6):
            upper = (rng.random(columns) < 0.7).astype(float)
            warm.set_bounds(upper)
            point = warm.solve(OPTIONS)
            fresh = Program("fresh")
            y = fresh.add_variables("x", columns, upper=upper, cost=program.arrays().cost)
            again = fresh.add_rows("limit", rows, upper=program.arrays().row_upper)
            fresh.add_entries(again.index[at[0]], y.index[at[1]], matrix.ravel())
            result = highs.solve(fresh, OPTIONS)
            assert point.objective == pytest.approx(result.objective, abs=1e-6)
            dual_value = point.row_dual @ program.arrays().row_upper
            reduced = program.arrays().cost - matrix.T @ point.row_dual
            assert dual_value + np.minimum(0.0, reduced) @ upper == pytest.approx(point.objective, abs=1e-5)


def test_it_begins_where_it_ended_before_and_takes_no_more_work():
    warm = WarmProgram(two_of_three(), OPTIONS)
    warm.solve(OPTIONS)
    basis = warm.basis()
    warm.set_bounds(np.array([0.0, 1.0, 1.0]))
    warm.solve(OPTIONS)
    warm.add_columns(np.array([9.0]), np.ones(1), np.array([0, 1]), np.array([0]), np.array([1.0]), OPTIONS)
    warm.add_rows(np.array([5.0]), np.array([0, 1]), np.array([0]), np.array([1.0]), OPTIONS)
    warm.set_bounds(np.ones(4))
    warm.begin_at(basis, OPTIONS)
    options = Options(time_limit=None)
    assert warm.solve(options).objective == pytest.approx(5.0)
    assert options.work.units < 1e-4


def test_work_that_is_out_gives_no_point():
    options = Options(time_limit=None, work_limit=1e-9)
    assert WarmProgram(two_of_three(), OPTIONS).solve(options) is None


def test_a_solve_of_more_threads_before_does_not_matter():
    highspy.Highs.resetGlobalScheduler(True)
    other = highspy.Highs()
    for name, value in (("output_flag", False), ("threads", 4)):
        other.setOptionValue(name, value)
    other.addVar(0, 1)
    other.run()
    assert WarmProgram(two_of_three(), OPTIONS).solve(OPTIONS).objective == pytest.approx(5.0)

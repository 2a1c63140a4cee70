import numpy as np
import pytest

from carbonopt import TooLargeError, UnsupportedError
from carbonopt.core.options import Options
from carbonopt.milp.elastic import add_shortage
from carbonopt.milp.highs import solve
from carbonopt.milp.program import Program, require_memory


def knapsack() -> Program:
    program = Program("knapsack", sense="max")
    x = program.add_variables("x", 3, upper=1, cost=[5, 4, 3], integer=True)
    weight = program.add_rows("weight", 1, upper=5)
    program.add_entries(weight.index, x.index, [2, 3, 4])
    return program


def test_blocks_know_their_place():
    program = Program("p")
    program.add_variables("x", (2, 3))
    y = program.add_variables("y", 2)
    assert y.index.tolist() == [6, 7]
    assert program.block("x").labels()[4] == "x(1,1)"
    assert program.columns == 8


def test_entries_of_one_place_add_up():
    program = Program("p")
    x = program.add_variables("x", 1)
    row = program.add_rows("r", 1)
    program.add_entries([0, 0], [0, 0], [1.0, 2.0])
    assert program.arrays().values.tolist() == [3.0]
    assert (x.size, row.size) == (1, 1)


def test_duplicate_and_unknown_blocks_are_errors():
    program = knapsack()
    with pytest.raises(UnsupportedError, match="has a block 'x' already"):
        program.add_rows("x", 1)
    with pytest.raises(UnsupportedError, match="must be 'x' or 'weight'"):
        program.block("y")


def test_rows_of_ones_own_can_be_added():
    program = knapsack()
    row = program.add_rows("at_most_one", 1, upper=1)
    program.add_entries(row.index, program.block("x").index, 1.0)
    result = solve(program, Options())
    assert result.objective == 5


def test_wide_coefficients_are_reported():
    program = Program("p")
    x = program.add_variables("x", 2, cost=[1e-5, 1e5])
    program.add_entries([0], x.index[:1], 1.0)
    program.add_rows("r", 1, lower=0)
    [line] = program.range_warnings()
    assert "cost coefficients span 1e-05 to 1e+05" in line
    with pytest.warns(UserWarning, match="six orders of magnitude"):
        solve(program, Options())


def test_exported_files_read_back_to_the_same_optimum(tmp_path):
    import highspy

    for suffix in ("lp", "mps"):
        path = tmp_path / f"knapsack.{suffix}"
        getattr(knapsack(), f"to_{suffix}")(path)
        assert "weight" in path.read_text()
        highs = highspy.Highs()
        highs.setOptionValue("output_flag", False)
        highs.readModel(str(path))
        highs.run()
        assert highs.getObjectiveValue() == pytest.approx(9)
    with pytest.raises(UnsupportedError, match=r"must end in \.lp"):
        knapsack().to_lp(tmp_path / "knapsack.txt")


def test_what_would_not_fit_is_refused_with_the_estimate():
    with pytest.raises(TooLargeError, match=r"about .* GiB.*HiGHS takes at most"):
        require_memory("the program", 10**10, 10**11)
    with pytest.raises(TooLargeError, match="GiB are free"):
        require_memory("the program", 2 * 10**9, 2 * 10**9)
    require_memory("the program", 1000, 1000)


def test_shortage_is_what_is_missing():
    program = Program("p")
    x = program.add_variables("x", 2, lower=1, upper=1)
    row = program.add_rows("room", 1, upper=1.5)
    program.add_entries(row.index, x.index, 1.0)
    assert solve(program, Options()).status == "infeasible"
    add_shortage(program, row)
    assert solve(program, Options()).objective == pytest.approx(0.5)


def test_empty_programs_are_solved():
    result = solve(Program("nothing"), Options())
    assert result.status == "optimal"
    assert np.size(result.values) == 0


def test_additions_are_seen_after_a_first_use():
    program = knapsack()
    assert program.arrays() is program.arrays()
    program.add_entries([0], [0], [10.0])
    assert program.arrays().values.tolist() == [12, 3, 4]
    program.add_variables("y", 1)
    assert program.arrays().cost.size == 4

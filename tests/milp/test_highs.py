import os
import re
import signal

import numpy as np
import pytest
from tests_support import hard_knapsack

import carbonopt as co
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.options import Options
from carbonopt.core.status import Status
from carbonopt.milp import first, highs
from carbonopt.milp.highs import solve
from carbonopt.milp.program import Program


def assignment(sense: str) -> Program:
    program = Program("assignment", sense=sense)
    x = program.add_variables("x", (2, 2), upper=1, cost=[[1, 4], [3, 2]], integer=True)
    row = program.add_rows("row", 2, lower=1, upper=1)
    program.add_entries(np.repeat(row.index, 2), x.index.reshape(-1), 1.0)
    column = program.add_rows("column", 2, upper=1)
    program.add_entries(np.tile(column.index, 2), x.index.reshape(-1), 1.0)
    return program


@pytest.mark.parametrize(("sense", "optimum"), [("min", 3), ("max", 7)])
def test_optimum_and_bound_in_the_programs_own_sense(sense, optimum):
    result = solve(assignment(sense), Options())
    assert result.status is Status.OPTIMAL
    assert result.objective == optimum
    assert result.bound == pytest.approx(optimum)


def test_infeasible_is_said_without_values():
    program = Program("p")
    x = program.add_variables("x", 1, upper=1, integer=True)
    row = program.add_rows("r", 1, lower=2)
    program.add_entries(row.index, x.index, 1.0)
    result = solve(program, Options())
    assert result.status is Status.INFEASIBLE
    assert result.values is None
    assert result.bound is None


def test_lp_duals_are_the_change_of_the_objective():
    program = Program("lp", sense="max")
    x = program.add_variables("x", 1, cost=3)
    row = program.add_rows("r", 1, upper=4)
    program.add_entries(row.index, x.index, 2.0)
    result = solve(program, Options())
    assert result.objective == pytest.approx(6)
    assert result.row_dual is not None
    assert result.row_dual.tolist() == pytest.approx([1.5])


def test_time_limit_without_incumbent_has_no_values():
    result = solve(hard_knapsack(), Options(time_limit=0.0))
    assert result.status is Status.TIME_LIMIT
    assert result.values is None
    assert result.objective is None


def test_an_interior_point_on_the_way_has_good_duals():
    program = Program("lp")
    x = program.add_variables("x", 2, cost=[1.0, 3.0])
    row = program.add_rows("row", 1, lower=2.0)
    program.add_entries(row.index, x.index, [1.0, 1.0])
    result = solve(program, Options(), lp_solver="ipm", interior_tolerance=1e-6)
    assert result.objective == pytest.approx(2.0, rel=1e-4)
    assert result.row_dual == pytest.approx([1.0], rel=1e-4)


def test_a_start_is_an_incumbent_at_once():
    program = hard_knapsack()
    start = np.zeros(program.columns)
    result = solve(program, Options(time_limit=0.0), start=start)
    assert result.values is not None


def test_ctrl_c_keeps_the_incumbent():
    program, pressed = hard_knapsack(), []

    def press_once(progress):
        if progress.bound is not None and not pressed:
            pressed.append(progress)
            os.kill(os.getpid(), signal.SIGINT)

    result = solve(program, Options(time_limit=None, callback=press_once), start=np.zeros(program.columns))
    assert result.status is Status.INTERRUPTED
    assert result.values is not None
    assert result.bound is not None


def test_progress_reaches_the_caller():
    seen = []

    def stop_at_the_first_incumbent(progress):
        if progress.schedule is not None and not seen:
            seen.append(progress)
            raise KeyboardInterrupt

    options = Options(time_limit=None, callback=stop_at_the_first_incumbent)
    result = solve(hard_knapsack(), options, schedule_of=lambda values: {"x": values.tolist()})
    assert result.status is Status.INTERRUPTED
    assert seen[0].incumbent is not None
    assert seen[0].schedule()["x"]


def test_same_seed_same_answer():
    first, second = (solve(assignment("min"), Options(seed=7)).values for _ in range(2))
    assert first is not None
    assert first.tolist() == second.tolist()


@pytest.mark.parametrize("unit", [1.0, 2.0**-30, 1e-9])
def test_tiny_costs_are_solved_as_well_as_large_ones(unit):
    """Tolerances are absolute, so costs of 1e-9 would all look equal without scaling."""
    program = Program("tiny", sense="max")
    x = program.add_variables("x", 2, cost=[unit, 3 * unit])
    row = program.add_rows("r", 1, upper=1)
    program.add_entries(row.index, x.index, 1.0)
    result = solve(program, Options())
    assert result.objective == pytest.approx(3 * unit, rel=1e-12)
    assert result.bound == pytest.approx(3 * unit, rel=1e-12)
    assert result.row_dual == pytest.approx([3 * unit], rel=1e-12)


def test_what_the_first_solver_prints_stays_away_from_stdout(monkeypatch, capfd):
    monkeypatch.setattr(first, "_is_first", True)
    monkeypatch.setattr(first.highspy, "Highs", lambda: os.write(1, b"banner"))
    assert first.new_highs() == len(b"banner")
    os.write(1, b"result")
    assert capfd.readouterr().out == "result"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"presolv": "off"}, "HiGHS has no option 'presolv': did you mean 'presolve'"),
        ({"presolve": "banana"}, "presolve = 'banana': HiGHS refuses it"),
        ({"mip_max_nodes": 2.5}, "mip_max_nodes = 2.5: HiGHS refuses it; must be a whole number"),
        ({"mip_heuristic_effort": float("nan")}, "HiGHS refuses it; must be a number"),
        ({"time_limit": 3.0}, "'time_limit' cannot be set here: an option of solve"),
        ({"objective_target": 3.0}, "'objective_target' cannot be set here: HiGHS sees costs times a factor"),
        ({3: 3}, "HiGHS has no option 3"),
    ],
)
def test_options_of_highs_are_refused_in_a_line(tiny, given, words):
    with pytest.raises(UnsupportedError, match=re.escape(words)) as told:
        co.solve(tiny["crowd"], "milp", solver_options=given)
    assert "\n" not in str(told.value)


def test_options_of_highs_reach_it_and_are_kept(tiny):
    solution = co.solve(tiny["crowd"], "lp", solver_options={"simplex_iteration_limit": 0, "presolve": "off"})
    assert solution.info["highs_status"] == "Iteration limit reached"
    assert solution.options["solver_options"] == {"simplex_iteration_limit": 0, "presolve": "off"}


@pytest.mark.parametrize(("given", "restarts"), [({}, False), ({"mip_allow_restart": True}, True)])
def test_trees_restart_only_where_that_is_asked_for(monkeypatch, given, restarts):
    """At tight tolerances, restarts have ended with "optimal" values that were too high."""
    made = []
    monkeypatch.setattr(highs, "new_highs", lambda: made.append(first.new_highs()) or made[-1])
    solve(assignment("min"), Options(solver_options=given))
    assert [each.getOptionValue("mip_allow_restart")[1] for each in made] == [restarts]


def test_the_log_tells_by_what_costs_were_multiplied(tmp_path, capfd):
    small = Program("small")
    small.add_variables("x", 1, lower=1, cost=1 / 64)
    solve(small, Options(verbose=True, log_file=tmp_path / "x.log"))
    line = "carbonopt: this log shows 64 times the objective and the bound"
    assert line in (tmp_path / "x.log").read_text()
    assert line in capfd.readouterr().out

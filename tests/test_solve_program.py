"""A program with rows of one's own is solved, and its schedule checked."""

import highspy
import numpy as np
import pytest

import carbonopt as co

INSTANCES = {
    "mosp": {"preset": "bench", "jobs": 12, "clusters": 2, "slots": 16},
    "elastic": {"jobs": 2},
    "purchasing": {"jobs": 10, "arrival_hours": 12.0},
    "ecas": {"jobs": 3, "machines": 2, "load": 0.3},
    "mlcluster": {"jobs": 2},
}


@pytest.mark.parametrize("problem", INSTANCES)
def test_what_nothing_is_added_to_is_the_instance(problem):
    instance = co.generate(problem, seed=1, **INSTANCES[problem])
    solution = co.solve_program(co.formulate(instance), instance, mip_rel_gap=0.05)
    assert solution.program_status == "optimal"
    assert co.check(instance, solution).feasible
    if solution.bound is not None:
        assert solution.bound == pytest.approx(solution.program_bound)


def test_a_row_of_ones_own_is_kept_and_its_bound_is_not_the_instances(tiny):
    instance = tiny["crowd"]
    free = co.solve(instance, "milp", mip_rel_gap=0.0)
    first = free.schedule.iloc[0]
    program = co.formulate(instance)
    x = program.block("x")
    job, cluster, start = x.at
    taken = (job == list(instance.jobs.name).index(first["job"])) & (start == first["start"])
    taken &= cluster == list(instance.clusters.name).index(first["cluster"])
    row = program.add_rows("not_there", 1, upper=0)
    program.add_entries(row.index, x.index[taken], 1.0)
    solution = co.solve_program(program, instance, mip_rel_gap=0.0)
    again = solution.schedule.set_index("job").loc[first["job"]]
    assert (again["cluster"], again["start"]) != (first["cluster"], first["start"])
    assert solution.objective >= free.objective
    assert solution.bound is None
    assert solution.status == "feasible"
    assert solution.program_status == "optimal"
    assert solution.block("not_there")["slack"].tolist() == [0.0]


def test_own_rows_that_nothing_keeps_say_nothing_of_the_instance(tiny):
    program = co.formulate(tiny["crowd"])
    row = program.add_rows("never", 1, lower=1e3)
    program.add_entries(row.index, program.block("x").index, 1.0)
    solution = co.solve_program(program, tiny["crowd"])
    assert solution.program_status == "infeasible"
    with pytest.raises(ValueError, match="with all that was added to it, ended infeasible"):
        _ = solution.schedule
    assert solution.status == "unknown"
    with pytest.raises(co.UnsupportedError, match="no values"):
        solution.block("never")


def test_a_schedule_that_breaks_the_instance_is_an_error(tiny):
    instance = tiny["crowd"]
    program = co.formulate(instance)
    capacity = program.block("capacity")
    relief = program.add_variables("relief", capacity.shape)
    program.add_entries(capacity.index, relief.index, -1.0)
    with pytest.raises(co.InputError, match=r"the program's schedule: .*capacity"):
        co.solve_program(program, instance)


def test_duals_are_prices_by_name(tiny):
    instance = tiny["crowd"]
    solution = co.solve_program(co.formulate(instance, "lp"), instance)
    frame = solution.block("capacity")
    assert list(frame.columns) == ["cluster", "resource", "slot", "activity", "lower", "upper", "slack", "dual"]
    assert set(frame["cluster"]) == set(instance.clusters.name)
    placed = solution.block("placement")
    proven = (placed["dual"] + 0.0).sum() + (frame["dual"] * frame["upper"]).sum()
    assert proven == pytest.approx(solution.program_objective)  # strong duality: no column is at its upper bound alone
    assert (frame["slack"] >= -1e-9).all()


def test_entries_that_are_no_numbers_or_nowhere_are_refused(tiny):
    program = co.formulate(tiny["crowd"])
    row = program.add_rows("mine", 1, upper=1)
    for value in (np.nan, np.inf):
        with pytest.raises(co.UnsupportedError, match="each value must be a finite number"):
            program.add_entries(row.index, [0], [value])
    with pytest.raises(co.UnsupportedError, match="block 'other': a bound or cost is not a number"):
        program.add_rows("other", 1, upper=np.nan)
    with pytest.raises(co.UnsupportedError, match=r"in row mine\(0\): each column must be from 0 to 11, not 999"):
        program.add_entries(row.index, [0, 999], [1.0, 1.0])
    with pytest.raises(co.UnsupportedError, match="each column must be from 0 to 11, not -1"):
        program.add_entries(row.index, [-1], 1.0)
    with pytest.raises(co.UnsupportedError, match="3 columns and 2 values do not fit: must be as many, or one"):
        program.add_entries(row.index[0], [0, 1, 2], [1.0, 2.0])
    program.add_entries(row.index + 7, [0], [1.0])
    with pytest.raises(co.UnsupportedError, match="each row must be from 0 to"):
        co.solve_program(program, tiny["crowd"])


def test_a_program_of_another_instance_is_refused(tiny):
    with pytest.raises(co.UnsupportedError, match="made of another instance"):
        co.solve_program(co.formulate(tiny["crowd"]), tiny["caspian"])


@pytest.mark.parametrize("problem", INSTANCES)
def test_names_of_files_read_back_and_the_sol_file_gives_the_objective(problem, tmp_path):
    instance = co.generate(problem, seed=2, **INSTANCES[problem])
    program = co.formulate(instance)
    solution = co.solve_program(program, instance, mip_rel_gap=0.2)
    solution.to_sol(tmp_path / "s.sol")
    first, *lines = (tmp_path / "s.sol").read_text().splitlines()
    values = {name: float(value) for name, value in map(str.split, lines)}
    for write, name in ((program.to_mps, "p.mps"), (program.to_lp, "p.lp")):
        write(tmp_path / name)
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.readModel(str(tmp_path / name))
        names = [solver.getColName(column)[1] for column in range(solver.getNumCol())]
        assert set(values) <= set(names)
        costs = np.array(solver.getLp().col_cost_)
        cost = sum(costs[place] * values.get(label, 0.0) for place, label in enumerate(names))
        assert cost == pytest.approx(float(first.split()[1]), rel=1e-6, abs=1e-9)


def test_names_that_readers_would_trip_over_are_told_apart():
    program = co.formulate(co.generate("mosp", seed=1, preset="bench", jobs=2, clusters=1, slots=10))
    program.names.give("job", ["a b", "a:b"])
    labels = program.names.labels(program.block("x"))
    assert labels[0].startswith("x(a_b_0,")
    assert len(set(labels)) == len(labels)


def test_rows_added_to_elastic_cannot_upset_the_order_of_units():
    instance = co.generate("elastic", seed=1, jobs=5)
    program = co.formulate(instance)
    y = program.block("y")
    late = y.at[2] > 0
    row = program.add_rows("a_later_unit", 1, lower=1)
    program.add_entries(row.index, y.index[late], 1.0)
    solution = co.solve_program(program, instance, mip_rel_gap=0.05)
    assert solution.has_solution
    on = solution.block("y").set_index(["job", "slot", "unit"])["value"]
    assert all(on[job, slot, unit - 1] for job, slot, unit in on[on > 0.5].index if unit)
    again = co.solve_program(program, instance, mip_rel_gap=0.05)
    assert again.objective == solution.objective

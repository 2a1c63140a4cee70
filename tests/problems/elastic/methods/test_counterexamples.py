"""The page's counterexamples to Algorithm 1, every number of its table, by every method that gives one."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from elastic_support import Job, by_hand, reference

import carbonopt as co
from carbonopt.problems.elastic.data.instance import ElasticInstance


@dataclass(frozen=True)
class Row:
    """An instance, what each variant of Algorithm 1 makes of it (None: no schedule), and the optima."""

    capacity: int
    carbon: list[float]
    jobs: list[Job]
    greedy: float | None
    greedy_fluid: float | None
    integer: float
    fluid: float

    def instance(self, model: str) -> ElasticInstance:
        return by_hand(self.capacity, self.carbon, *self.jobs, model=model)


ROWS = {
    "no rerouting": Row(1, [2, 1, 4], [(0, 1, 1, [1]), (1, 1, 1, [1])], 5, 5, 3, 3),
    "false infeasibility": Row(1, [2, 1, 1], [(0, 1, 1, [1]), (1, 2, 0, [1])], None, None, 4, 4),
    "last unit, one job": Row(2, [2, 3], [(0, 1.5, 0, [1, 0.6])], 5, 3.5, 4, 3.5),
    "last unit, common window": Row(3, [1, 3.9], [(0, 1.25, 0, [1, 0.25]), (0, 1, 1, [1, 0.5])], 5.9, 2.975, 3, 2.975),
    "gains, fluid": Row(3, [1, 4, 100], [(0, 2.4, 0, [1, 0.5]), (0, 1.7, 1, [1, 0.7])], 11, 10.2, 11, 9.24),
    "full cluster": Row(1, [1], [(0, 1, 0, [1])], 1, 1, 1, 1),
    "closed window": Row(2, [2, 1], [(0, 1, 0, [1])], 2, 2, 2, 2),
}
each_row = pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)


@each_row
class TestOptima:
    @pytest.mark.parametrize("method", ["milp", "auto"])
    def test_integer(self, row: Row, method: str) -> None:
        solution = co.solve(row.instance("integer"), method, mip_rel_gap=0)
        assert (solution.status, solution.objective) == ("optimal", pytest.approx(row.integer, rel=1e-9))

    def test_integer_by_trying_all(self, row: Row) -> None:
        instance = row.instance("integer")
        assert reference.brute_force(instance.to_dict())[0] == pytest.approx(row.integer, rel=1e-9)

    @pytest.mark.parametrize("method", ["lp", "price", "milp", "auto"])
    def test_fluid(self, row: Row, method: str) -> None:
        instance = row.instance("fluid")
        solution = co.solve(instance, method)
        assert (solution.status, solution.objective) == ("optimal", pytest.approx(row.fluid, rel=1e-7))
        assert solution.bound == pytest.approx(row.fluid, rel=1e-7)
        assert co.check(instance, solution).proven_bound == pytest.approx(row.fluid, rel=1e-7)

    def test_the_fluid_optimum_bounds_the_integer_one(self, row: Row) -> None:
        solution = co.solve(row.instance("integer"), "lp")
        assert not solution.has_solution
        assert (solution.status, solution.bound) == ("optimal", pytest.approx(row.fluid, rel=1e-8))

    def test_price_on_whole_servers(self, row: Row) -> None:
        instance = row.instance("integer")
        solution = co.solve(instance, "price")
        assert solution.objective >= row.integer - 1e-9
        assert solution.bound <= row.integer + 1e-9
        assert co.check(instance, solution).feasible


@each_row
class TestGreedy:
    def test_corrected(self, row: Row) -> None:
        expect(row.instance("integer"), "carbonflex-greedy", row.greedy)

    def test_fluid(self, row: Row) -> None:
        expect(row.instance("fluid"), "carbonflex-greedy-fluid", row.greedy_fluid)

    def test_fluid_needs_the_fluid_model(self, row: Row) -> None:
        with pytest.raises(co.UnsupportedError, match="needs an instance of model 'fluid'"):
            co.solve(row.instance("integer"), "carbonflex-greedy-fluid")


def expect(instance: ElasticInstance, method: str, objective: float | None) -> None:
    solution = co.solve(instance, method)
    assert (solution.bound, solution.certificate) == (None, None)
    if objective is None:
        assert (solution.status, solution.has_solution) == ("unknown", False)
        return
    assert (solution.status, solution.objective) == ("feasible", pytest.approx(objective, rel=1e-9))
    assert co.check(instance, solution).violations == ()


class TestAsPrinted:
    """`sum + k >= M` leaves a server idle: with one server more, the schedules are those of the table."""

    def test_no_rerouting(self) -> None:
        solution = printed("no rerouting", capacity=2)
        assert (solution.status, solution.objective) == ("feasible", 5)

    def test_false_infeasibility(self) -> None:
        solution = printed("false infeasibility", capacity=2)
        assert solution.status == "unknown"
        assert solution.info["unfinished_jobs"] == ["b"]
        assert solution.info["unfinished_slots"] == pytest.approx(1)
        assert co.diagnose(ROWS["false infeasibility"].instance("integer")).feasible is True

    def test_one_server_for_one_job_is_never_given_away(self) -> None:
        solution = printed("full cluster", capacity=1)
        assert (solution.status, solution.has_solution) == ("unknown", False)
        assert (solution.info["unfinished_jobs"], solution.info["late_jobs"]) == (["a"], [])
        assert solution.info["schedule_as_printed"] == {"job": [], "slot": [], "servers": []}
        assert printed("full cluster", capacity=2).objective == 1

    def test_the_closed_window_runs_a_slot_late(self) -> None:
        solution = printed("closed window", capacity=2)
        assert (solution.status, solution.has_solution) == ("unknown", False)
        assert (solution.info["unfinished_jobs"], solution.info["late_jobs"]) == ([], ["a"])
        assert solution.info["objective_as_printed"] == pytest.approx(1)
        assert solution.info["schedule_as_printed"] == {"job": ["a"], "slot": [1], "servers": [1]}

    def test_it_pays_for_the_last_unit_in_full(self) -> None:
        """One more server, and a slot of horizon too dear for the closed window to use."""
        row = ROWS["last unit, one job"]
        instance = by_hand(3, [*row.carbon, 1e6], *row.jobs)
        assert co.solve(instance, "carbonflex-greedy-printed").objective == pytest.approx(5)

    def test_a_higher_scale_overwrites_the_one_before(self) -> None:
        """Two servers for a slot do 1.6; the table's k = 2 replaces k = 1 and is charged as both."""
        instance = by_hand(3, [1, 100], (0, 1.6, 0, [1, 0.6]))  # the sum leaves out the job's own server: 0 + 2 < 3
        solution = co.solve(instance, "carbonflex-greedy-printed")
        assert solution.columns == {"job": ["a"], "slot": [0], "servers": [2]}
        assert solution.objective == pytest.approx(2)


def printed(name: str, capacity: int) -> co.Solution:
    row = ROWS[name]
    return co.solve(by_hand(capacity, row.carbon, *row.jobs), "carbonflex-greedy-printed")


def test_what_the_corrected_variant_tells_when_it_fails() -> None:
    instance = ROWS["false infeasibility"].instance("integer")
    solution = co.solve(instance, "carbonflex-greedy")
    assert solution.info["unfinished_jobs"] == ["b"]
    assert solution.info["late_jobs"] == []
    assert solution.info["unfinished_slots"] == pytest.approx(1)
    assert solution.info["objective_as_printed"] == pytest.approx(2)
    assert solution.info["schedule_as_printed"] == {"job": ["a", "b"], "slot": [1, 2], "servers": [1, 1]}
    assert "violations" not in solution.info
    assert co.solve(instance, "polymatroid-greedy").objective == pytest.approx(4)


@pytest.mark.parametrize("length", [0.3, 1.5, 2.7])
def test_fluid_algorithm_1_is_optimal_where_capacity_never_binds(length: float) -> None:
    """At 2.7 rounding leaves 4e-16 slots of work, which do not make a job unfinished."""
    instance = by_hand(100, [5, 3, 4, 1], *[(0, length, 2 - int(length), [1, 0.7, 0.4])] * 3, model="fluid")
    greedy = co.solve(instance, "carbonflex-greedy-fluid")
    assert greedy.objective == pytest.approx(co.solve(instance, "lp").objective, rel=1e-8)

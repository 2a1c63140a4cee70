import pytest

from carbonopt.core.solution import Solution, relative_gap
from carbonopt.core.status import Status


def make(**changes):
    base = {
        "problem": "mosp",
        "instance": "i",
        "instance_sha256": "0" * 64,
        "method": "m",
        "status": Status.FEASIBLE,
        "sense": "min",
    }
    return Solution(**(base | changes))


def test_a_heuristic_without_a_bound_has_no_gap():
    solution = make(objective=4.0, columns={"job": []})
    assert solution.bound is None
    assert solution.gap is None


def test_gap_is_relative_to_the_objective():
    assert make(objective=4.0, bound=3.0, columns={}).gap == 0.25
    assert make(objective=4.0, bound=5.0, sense="max", columns={}).gap == 0.25
    assert relative_gap(0.0, 0.0) == 0.0
    assert relative_gap(0.0, -1.0) is None


def test_a_missing_schedule_is_an_error_that_says_why():
    solution = make(status=Status.TIME_LIMIT)
    assert not solution.has_solution
    with pytest.raises(ValueError, match="m on i ended time_limit without a schedule"):
        _ = solution.schedule

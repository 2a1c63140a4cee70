"""A run that ends by work ends at the same place, whatever the clock does."""

from __future__ import annotations

import time
from typing import Any

import pytest

import carbonopt as co

SIZES: dict[str, dict[str, Any]] = {
    "mosp": {"jobs": 12, "slots": 24, "seed": 3},
    "purchasing": {"jobs": 12, "arrival_hours": 12, "reserved": 2},
    "ecas": {"jobs": 4, "machines": 2, "slots": 12, "load": 0.3, "seed": 1},
    "elastic": {"jobs": 8, "model": "integer", "seed": 1},
    "mlcluster": {"jobs": 6, "seed": 1},
}
LARGER: dict[str, dict[str, Any]] = {
    "mosp": {"preset": "bench", "jobs": 150, "seed": 3},
    "purchasing": {"jobs": 100, "arrival_hours": 48, "reserved": 6},
    "ecas": {"jobs": 40, "seed": 1},
    "elastic": {"jobs": 40, "model": "integer", "seed": 1},
    "mlcluster": {"jobs": 10, "seed": 1},
}
METHODS = {
    "mosp": ("price", "milp", "lp", "lp-rounding", "greedy-clean"),
    "purchasing": ("price", "milp", "lp", "lp-rounding"),
    "ecas": ("price", "milp", "lp-rounding", "greedy"),
    "elastic": ("price", "milp", "lp-rounding"),
    "mlcluster": ("price", "milp", "lp"),
}
CASES = [(problem, method) for problem, methods in METHODS.items() for method in methods]


class RacingClock:
    """A clock that runs 50 times as fast as the true one, as if the machine were busy with something else."""

    def __init__(self) -> None:
        self.true = time.perf_counter
        self.begun = self.true()

    def __call__(self) -> float:
        return 50 * (self.true() - self.begun)


def answer(problem: str, method: str, size: dict[str, Any], limit: float) -> tuple[Any, ...]:
    """Return all that a run answers; each run has an instance of its own."""
    solution = co.solve(co.generate(problem, **size), method, work_limit=limit, mip_rel_gap=0.0)
    return solution.status, solution.objective, solution.bound, solution.columns, solution.certificate, solution.work


def require_same_answer(
    problem: str, method: str, size: dict[str, Any], limits: tuple[float, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit in limits:
        quiet = answer(problem, method, size, limit)
        with monkeypatch.context() as patch:
            patch.setattr(time, "perf_counter", RacingClock())
            busy = answer(problem, method, size, limit)
        assert str(busy) == str(quiet)


@pytest.mark.parametrize(("problem", "method"), CASES)
def test_much_more_work_is_no_worse(problem: str, method: str) -> None:
    instance = co.generate(problem, **SIZES[problem])
    little, much = (co.solve(instance, method, work_limit=limit, mip_rel_gap=0.0) for limit in (0.002, 0.1))
    assert little.work < much.work or little.work == pytest.approx(much.work)
    assert little.objective is None or much.objective <= little.objective
    assert little.bound is None or much.bound >= little.bound * (1 - 1e-9)


def test_cached_normalizers_count_as_if_found_anew() -> None:
    instance = co.generate("mosp", jobs=12, slots=24, seed=3, objective="caspian")
    first, again = (co.solve(instance, "greedy-clean", work_limit=1.0) for _ in range(2))
    assert first.info["normalizers"] == again.info["normalizers"]
    assert first.work == again.work > 0


def test_the_clock_ends_a_run_that_has_both_limits() -> None:
    instance = co.generate("mosp", **LARGER["mosp"])
    solution = co.solve(instance, "milp", work_limit=1e6, time_limit=0.0)
    assert solution.status == "time_limit"
    assert solution.work < 1e6


@pytest.mark.parametrize("limit", [-1.0, float("nan"), "much"])
def test_wrong_limits_are_refused(limit: Any) -> None:
    with pytest.raises(co.UnsupportedError, match="work_limit"):
        co.solve(co.generate("mosp", jobs=3), work_limit=limit)


def test_a_program_of_ones_own_ends_by_work() -> None:
    instance = co.generate("mosp", preset="bench", jobs=40, seed=1)
    first, again = (co.solve_program(co.formulate(instance), instance, work_limit=0.02) for _ in range(2))
    assert first.status == "time_limit"
    assert (first.work, first.program_bound) == (again.work, again.program_bound)


def test_several_threads_are_refused() -> None:
    with pytest.raises(co.UnsupportedError, match="threads"):
        co.solve(co.generate("mosp", jobs=3), work_limit=1.0, threads=2)


@pytest.mark.parametrize(("problem", "method"), CASES)
def test_the_clock_changes_nothing(problem: str, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    require_same_answer(problem, method, SIZES[problem], (0.002, 0.02), monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize(("problem", "method"), CASES)
def test_the_clock_changes_nothing_of_larger_instances(
    problem: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_same_answer(problem, method, LARGER[problem], (0.2, 0.5), monkeypatch)  # stages are shares of the limit

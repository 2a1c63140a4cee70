"""Method `milp` of mlcluster against brute force over whole slots, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from conftest import ROOT, load_module
from loop_support import for_each

import carbonopt as co
from carbonopt.milp import highs
from carbonopt.milp.highs import Result
from carbonopt.problems.mlcluster.data.file import from_dict
from carbonopt.problems.mlcluster.data.instance import MlClusterInstance
from carbonopt.problems.mlcluster.formulation.grid import build_grid, estimate_grid
from carbonopt.problems.mlcluster.verify.check import check

reference = load_module(ROOT / "tests/reference/brute_force_mlcluster.py")


def solved(instance: MlClusterInstance, monkeypatch: pytest.MonkeyPatch, cells: int = 1) -> tuple[Result, co.Solution]:
    """Return what HiGHS found on the grid, and the answer of `milp` that was made of it."""
    found: list[Result] = []

    def solve(*args: Any, **kwargs: Any) -> Result:
        found.append(true_solve(*args, **kwargs))
        return found[-1]

    true_solve = highs.solve
    with monkeypatch.context() as patch:
        patch.setattr(highs, "solve", solve)
        solution = co.solve(instance, "milp", params={"cells": cells}, mip_rel_gap=0.0)
    (result,) = found
    return result, solution


@pytest.mark.parametrize("kind", reference.KINDS)
@for_each(seed=range(6))
def test_the_optimum_on_the_grid_is_that_of_brute_force(kind: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = reference.random_instance(seed, kind)
    instance, optimum = from_dict(raw), reference.brute_force(raw)[0]
    result, solution = solved(instance, monkeypatch)
    assert result.objective is not None
    assert result.objective + build_grid(instance).constant == pytest.approx(optimum, rel=1e-7)
    report = co.check(instance, solution)
    assert report.violations == ()
    assert report.objective is not None
    assert report.objective <= optimum * (1 + 1e-7)


@pytest.mark.slow
@for_each(seed=range(3))
def test_the_checker_takes_the_schedule_at_the_objective_of_the_program(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = reference.random_instance(seed, "restart", slots=5)
    raw["jobs"]["arrival_minutes"][1] = 47.25
    zone = raw["carbon"]["g_per_kwh"][0]
    zone[::2] = [grams / 5 for grams in zone[::2]]  # to pause pays
    raw["objective"]["weights"]["jct_hours"] = 0.01
    raw["objective"]["limits"]["mean_jct_hours"] = 4.5
    instance = from_dict(raw)
    form = build_grid(instance, 2)
    result, solution = solved(instance, monkeypatch, cells=2)
    assert result.values is not None
    assert result.objective is not None
    schedule = form.schedule(result.values, instance)
    report = check(instance, schedule)
    assert not report.violations
    assert len(schedule["job"]) > len(instance.jobs) or seed == 2  # a job runs in two pieces
    assert report.objective == pytest.approx(result.objective + form.constant, rel=1e-7)
    assert solution.objective is not None
    assert solution.objective <= report.objective + 1e-9
    assert solution.bound is not None
    assert solution.bound <= solution.objective


def test_sizes_are_estimated_and_too_large_ones_refused() -> None:
    instance = from_dict(reference.random_instance(0, "restart"))
    program = build_grid(instance).program
    columns, nonzeros = estimate_grid(instance)
    assert program.columns <= columns
    assert program.nonzeros <= nonzeros
    with pytest.raises(co.TooLargeError, match=r"milp takes at most 10 columns \(parameter most_columns\)"):
        co.solve(instance, "milp", params={"most_columns": 10})


def test_restarts_longer_than_a_cell_are_refused() -> None:
    raw = reference.random_instance(0, "restart")
    raw["profiles"]["p"]["restart_minutes"] = 61.0
    with pytest.raises(co.UnsupportedError, match="restart_minutes = 61: must be at most 60, the length of a cell"):
        co.formulate(from_dict(raw), "milp")


def test_what_no_schedule_on_the_grid_keeps_is_left_to_the_prices() -> None:
    raw = reference.random_instance(0, "unit")
    instance = from_dict(raw)
    least = co.solve(instance, "fcfs").metrics["mean_jct_hours"]
    tight = instance.with_objective(limits=replace(instance.limits, mean_jct_hours=0.1 * least))
    assert co.solve(tight, "milp").status in ("infeasible", "unknown")

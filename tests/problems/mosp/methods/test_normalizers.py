"""The normalizers of the caspian objective: the LPs' optima, or bounds on these where the LPs take the time."""

from __future__ import annotations

from typing import Any

import pytest

import carbonopt as co
from carbonopt.core.options import Options
from carbonopt.core.status import Status
from carbonopt.milp import highs
from carbonopt.problems.mosp.methods.normalizers import normalizers

METHODS = ["price", "milp", "lp-rounding", "greedy-clean"]


def caspian(seed: int) -> co.Instance:
    return co.generate("mosp", preset="bench", jobs=30, clusters=2, slots=24, seed=seed, objective="caspian")


@pytest.mark.parametrize("method", METHODS)
def test_without_time_for_the_linear_programs_there_is_a_schedule(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    solve = highs.solve

    def late(program: Any, options: Options, *given: Any, **named: Any) -> highs.Result:
        is_normalizer = named.get("lp_solver") == "ipm"
        return highs.Result(Status.TIME_LIMIT) if is_normalizer else solve(program, options, *given, **named)

    monkeypatch.setattr(highs, "solve", late)
    params = {"search": {"moves_per_job": 10}, "cuts": {"most_jobs_of_tree": 0}} if method == "price" else None
    found = co.solve(caspian(1), method, time_limit=1e6, mip_rel_gap=0.2, params=params)
    assert found.has_solution
    assert "did not end" in found.info["normalizers_without_capacity"]
    assert co.check(caspian(1), found).feasible


def test_bounds_are_above_the_optima_and_are_replaced_by_these() -> None:
    instance = caspian(2)
    bounds = normalizers(instance, Options(time_limit=0.0))
    assert bounds.tried == 0.0
    assert normalizers(instance, Options(time_limit=0.0)) is bounds
    optima = normalizers(instance, Options(time_limit=None))
    assert optima.tried == float("inf")
    assert all(optimum <= bound for optimum, bound in zip(optima.bars, bounds.bars, strict=True))
    assert normalizers(instance, Options(time_limit=0.0)) is optima


def test_a_solve_with_all_the_time_says_nothing_of_bounds() -> None:
    assert "normalizers_without_capacity" not in co.solve(caspian(3), "greedy-clean", time_limit=None).info

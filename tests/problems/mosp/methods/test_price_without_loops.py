"""Method `price` where its loops are not compiled and the time is too short for it."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest

import carbonopt as co
from carbonopt.algorithms.kernel import Kernel
from carbonopt.core.errors import Fault, TooLargeError
from carbonopt.core.options import Options
from carbonopt.core.status import Status
from carbonopt.milp import highs
from carbonopt.milp.program import Program
from carbonopt.problems.mosp.methods import rounding
from carbonopt.problems.mosp.methods.greedy import greedy
from carbonopt.problems.mosp.methods.price import method


@pytest.fixture(autouse=True)
def nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no kernel be ready, and let none be compiled."""

    def refuse(_: Kernel) -> None:
        raise AssertionError("a kernel is compiled")

    monkeypatch.setattr(Kernel, "is_ready", False)
    monkeypatch.setattr(method, "COMPILE_SECONDS", inf)
    monkeypatch.setattr(Kernel, "machine", property(refuse))


@pytest.fixture
def instance() -> co.Instance:
    return co.generate("mosp", preset="bench", jobs=40, clusters=3, slots=24, seed=1)


def test_highs_goes_on_from_the_rounded_linear_program(instance: co.Instance) -> None:
    found = co.solve(instance, "price", time_limit=1e6, mip_rel_gap=0.1)
    rounded = co.solve(instance, "lp-rounding", time_limit=None)
    assert found.status == "optimal"
    assert found.gap is not None
    assert rounded.gap is not None
    assert found.gap <= 0.1 < rounded.gap
    assert found.objective <= rounded.objective
    assert found.bound >= rounded.bound


def test_where_highs_adds_nothing_the_certificate_of_the_linear_program_stays(
    instance: co.Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    solve = highs.solve

    def relaxations_only(program: Program, *given: Any, **named: Any) -> highs.Result:
        is_tree = bool(program.arrays().integer.any())
        return highs.Result(Status.TIME_LIMIT) if is_tree else solve(program, *given, **named)

    monkeypatch.setattr(highs, "solve", relaxations_only)
    found = co.solve(instance, "price", time_limit=1e6)
    rounded = co.solve(instance, "lp-rounding", time_limit=None)
    assert (found.columns, found.bound, found.certificate) == (rounded.columns, rounded.bound, rounded.certificate)
    assert co.check(instance, found).proven_bound == pytest.approx(found.bound)


def test_where_the_program_exceeds_the_memory_jobs_start_early(
    instance: co.Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_large(_: co.Instance) -> None:
        raise TooLargeError([Fault("", "the program needs more memory than there is")])

    monkeypatch.setattr(rounding, "refuse_if_too_large", too_large)
    options = Options(time_limit=1e6)
    assert method.price(instance, options).schedule == greedy(instance, options, clean_ties=True).schedule

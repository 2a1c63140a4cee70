"""Method `price` where its loops are not compiled and there is no time for that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from elastic_support import random_instance

import carbonopt as co
from carbonopt.core.options import Options
from carbonopt.problems.elastic.methods.price import method


@contextmanager
def not_compiled(_steps: float, _kernels: Iterable[Any] = (), _seconds: float = 0.0) -> Iterator[bool]:
    """Stand in for `loops` on a machine that has no machine code yet."""
    yield False


@pytest.mark.parametrize("model", ["fluid", "integer"])
def test_without_compiled_loops_a_short_limit_still_gives_a_schedule(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(method, "loops", not_compiled)
    monkeypatch.setattr(method, "fluid_optimum", None)  # would need loops
    monkeypatch.setattr(method, "fluid_price", None)
    instance = random_instance(8, "decreasing", 6, 9, model=model)
    solution = co.solve(instance, "price", time_limit=5)
    assert solution.has_solution
    assert co.check(instance, solution).violations == ()
    assert model == "fluid" or solution.status == "optimal"  # a small program: HiGHS


def test_a_large_one_gets_the_start_it_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = random_instance(8, "decreasing", 6, 9, model="integer")
    first = co.solve(instance, "carbonflex-greedy")
    monkeypatch.setattr(method, "loops", not_compiled)
    monkeypatch.setattr(method, "SMALL_COLUMNS", 0)
    outcome = method.price(instance, Options(time_limit=5, start=first.columns))
    assert outcome.schedule == first.columns

"""Method `price` where its loops are not compiled and the time is too short for it."""

from __future__ import annotations

import pytest

import carbonopt as co
from carbonopt.algorithms.kernel import Kernel


def test_there_is_a_greedy_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = co.generate("ecas", jobs=60, machines=5, slots=96, load=0.3, seed=1)
    monkeypatch.setattr(Kernel, "is_ready", False)
    solution = co.solve(instance, "price", time_limit=6)
    assert solution.status == "time_limit"
    assert solution.has_solution
    assert solution.objective == co.solve(instance, "greedy").objective
    again = co.solve(instance, "price", time_limit=6, initial_solution=solution)
    assert again.objective == solution.objective

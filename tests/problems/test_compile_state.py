"""Same seed, same answer: whether loops are compiled already, and how long that takes, changes no share of the time.

The clock stands still but for kernels: each call of one takes the same time, and its first call that of compiling, too.
"""

from __future__ import annotations

from functools import cache, partial
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest

import carbonopt as co
from carbonopt.algorithms.kernel import Kernel
from carbonopt.core import options

CALL_SECONDS, COMPILE_SECONDS = 1 / 64, 128.0  # both are sums of powers of 2: no rounding
CASES = {
    "elastic": {"jobs": 8, "capacity": 3, "seed": 2},
    "mlcluster": {"jobs": 12, "gpus": 4, "arrival_hours": 4, "max_gpus": 4, "drain_hours": 30, "seed": 5},
}
QUICK: dict[str, Any] = {
    "elastic": {"balance": {"sweeps": 100.0, "patience": 2}},
    "mlcluster": {"repair": {"patience": 0.0}},
}


class Clock:
    """Replaces the clock of the options, and counts the calls of kernels from Python."""

    def __init__(self, compile_seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.compiling, self.known, self.depth = 0.0, 0.0, set[Kernel[..., Any]](), 0
        self.compile_seconds = compile_seconds
        call = Kernel.__call__

        def timed(kernel: Kernel[..., Any], *args: Any, **kwargs: Any) -> Any:
            if self.depth == 0:
                self.tick(kernel)
            self.depth += 1
            try:
                return call(kernel, *args, **kwargs)
            finally:
                self.depth -= 1

        monkeypatch.setattr(Kernel, "__call__", timed)
        solve = import_module("carbonopt.solve")
        monkeypatch.setattr(solve, "Options", partial(options.Options, started=0.0))
        monkeypatch.setattr(options, "time", SimpleNamespace(perf_counter=lambda: self.now))

    def tick(self, kernel: Kernel[..., Any]) -> None:
        """Let the time pass that a call takes."""
        self.now += CALL_SECONDS
        if kernel not in self.known:
            self.known.add(kernel)
            self.now += self.compile_seconds
            self.compiling += self.compile_seconds


@cache
def solved(problem: str, limit: float | None, compile_seconds: float = 0.0) -> tuple[co.Solution, Clock]:
    """Solve a case under a clock of its own."""
    instance = co.generate(problem, **CASES[problem])
    with pytest.MonkeyPatch.context() as patched:
        clock = Clock(compile_seconds, patched)
        found = co.solve(instance, "price", time_limit=limit, mip_rel_gap=1e-6, params=QUICK[problem])
    return found, clock


@pytest.mark.parametrize("problem", CASES)
class TestTheStateOfTheCache:
    @pytest.mark.slow
    def test_changes_nothing_without_a_limit(self, problem: str) -> None:
        warm, _ = solved(problem, None)
        cold, _ = solved(problem, None, COMPILE_SECONDS)
        assert (cold.status, cold.bound, cold.columns) == (warm.status, warm.bound, warm.columns)

    @pytest.mark.slow
    @pytest.mark.parametrize("share", [0.4, 0.7])
    def test_costs_the_time_of_compiling_and_no_more(self, problem: str, share: float) -> None:
        whole, clock = solved(problem, None)
        limit = round(share * clock.now * 64) / 64
        warm, _ = solved(problem, limit)
        _, clock = solved(problem, None, COMPILE_SECONDS)
        cold, _ = solved(problem, limit + clock.compiling, COMPILE_SECONDS)
        assert (cold.status, cold.bound, cold.columns) == (warm.status, warm.bound, warm.columns)
        assert warm.info != whole.info  # the limit is one

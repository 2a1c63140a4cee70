"""Method `price` where its loops are not compiled and the time is too short for it."""

from __future__ import annotations

import pytest

import carbonopt as co
from carbonopt.algorithms.kernel import Kernel
from carbonopt.core.errors import Fault, TooLargeError
from carbonopt.core.options import Options
from carbonopt.problems.mosp.methods import rounding
from carbonopt.problems.mosp.methods.greedy import greedy
from carbonopt.problems.mosp.methods.price import method


@pytest.fixture(autouse=True)
def nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no kernel be ready, and let none be compiled."""

    def refuse(_: Kernel) -> None:
        raise AssertionError("a kernel is compiled")

    monkeypatch.setattr(Kernel, "is_ready", False)
    monkeypatch.setattr(Kernel, "machine", property(refuse))


@pytest.fixture
def instance() -> co.Instance:
    return co.generate("mosp", preset="bench", jobs=40, clusters=3, slots=24, seed=1)


def test_the_linear_program_is_rounded(instance: co.Instance) -> None:
    found = co.solve(instance, "price", time_limit=20.0)
    assert found.objective is not None
    assert found.bound is not None
    assert found.bound <= found.objective


def test_where_the_program_exceeds_the_memory_jobs_start_early(
    instance: co.Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_large(_: co.Instance) -> None:
        raise TooLargeError([Fault("", "the program needs more memory than there is")])

    monkeypatch.setattr(rounding, "refuse_if_too_large", too_large)
    options = Options(time_limit=20.0)
    assert method.price(instance, options).schedule == greedy(instance, options, clean_ties=True).schedule

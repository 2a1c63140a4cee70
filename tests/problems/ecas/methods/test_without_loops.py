"""Method `price` where its loops are not compiled and there is no time for that."""

from __future__ import annotations

from math import inf

import pytest

import carbonopt as co
from carbonopt.algorithms import kernel
from carbonopt.algorithms.kernel import Kernel
from carbonopt.core.errors import Fault, TooLargeError
from carbonopt.core.options import Options, Progress
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.problems.ecas.methods.price import method

LIMIT = 1e6
"""Of the time [s]; to compile takes longer, and what runs ends by itself."""


@pytest.fixture
def instance() -> co.Instance:
    return co.generate("ecas", jobs=6, machines=2, slots=12, seed=1)


@pytest.fixture(autouse=True)
def nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Kernel, "is_ready", False)
    monkeypatch.setattr(method, "COMPILE_SECONDS", inf)


def too_large(*_: object) -> None:
    raise TooLargeError([Fault("", "the program needs more memory than there is")])


def test_highs_solves_what_it_can(instance: co.Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "PLAIN_STEPS", 0)
    solution = co.solve(instance, "price", time_limit=LIMIT)
    best = co.solve(instance, "milp", mip_rel_gap=0)
    assert co.check(instance, solution).violations == ()
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(best.objective, rel=1e-4)
    assert solution.bound <= best.objective * (1 + 1e-9)


@pytest.mark.parametrize("columns", [0, 300_000])
@pytest.mark.parametrize("with_start", [False, True])
def test_what_is_too_large_gets_the_start_or_the_greedy(
    instance: co.Instance, columns: int, with_start: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(method, "milp", too_large)
    monkeypatch.setattr(method, "MOST_COLUMNS", columns)
    greedy = co.solve(instance, "greedy").columns
    start = co.solve(instance, "milp").columns if with_start else None
    outcome = method.without_loops(instance, Options(time_limit=LIMIT, start=start))
    assert (outcome.status, outcome.schedule) == (Status.TIME_LIMIT, start or greedy)


def test_the_greedy_schedule_waits_for_its_own_loops_alone(
    instance: co.Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    greedy = co.solve(instance, "greedy").columns
    monkeypatch.setattr(method, "milp", too_large)
    monkeypatch.setattr(kernel, "PLAIN_STEPS", 0)
    assert method.price(instance, Options(time_limit=method.GREEDY_COMPILE_SECONDS / 2)).schedule is None
    monkeypatch.setattr(method, "GREEDY_COMPILE_SECONDS", 0.0)
    assert method.price(instance, Options(time_limit=LIMIT)).schedule == greedy


def test_the_better_schedule_is_kept(instance: co.Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    best = co.solve(instance, "milp", mip_rel_gap=0).columns
    greedy = co.solve(instance, "greedy").columns
    assert co.evaluate(instance, best).objective < co.evaluate(instance, greedy).objective
    monkeypatch.setattr(method, "milp", lambda *_: Outcome(Status.TIME_LIMIT, greedy, 1.0))
    assert method.without_loops(instance, Options(time_limit=LIMIT, start=best)).schedule == best
    monkeypatch.setattr(method, "milp", lambda *_: Outcome(Status.TIME_LIMIT, best, 1.0))
    found = method.without_loops(instance, Options(time_limit=LIMIT, start=greedy))
    assert (found.schedule, found.bound) == (best, 1.0)


def test_an_interrupt_is_told(instance: co.Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(method, "milp", lambda *_: Outcome(Status.INTERRUPTED))
    told: list[Progress] = []
    found = method.without_loops(instance, Options(time_limit=LIMIT, callback=told.append))
    assert found.status is Status.INTERRUPTED
    assert found.schedule is not None
    assert [progress.incumbent for progress in told] == [co.evaluate(instance, found.schedule).objective]
    assert told[0].schedule is not None
    assert told[0].schedule() == found.schedule


def test_no_schedule_is_proven_by_highs(instance: co.Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(method, "milp", lambda *_: Outcome(Status.INFEASIBLE))
    assert method.without_loops(instance, Options(time_limit=LIMIT)).status is Status.INFEASIBLE

"""Every method of every problem keeps the same contract."""

from __future__ import annotations

import json

import pytest

import carbonopt as co
from carbonopt.core.registry import PROBLEMS, problem_of

ALL = [(problem, method) for problem in PROBLEMS for method in problem_of(problem).methods]
FAMILIES = {"mosp": ["carbon", "caspian"]}


@pytest.fixture(params=ALL, ids=lambda pair: "-".join(pair))
def method(request):
    problem, name = request.param
    return name, problem_of(problem).methods[name]


@pytest.fixture(params=[(kind, seed) for kind in ("carbon", "caspian") for seed in range(6)], ids=str)
def instance_and_optimum(request, random_raw, brute_force):
    from carbonopt.problems.mosp.file import from_dict

    kind, seed = request.param
    raw = random_raw(seed, kind)
    instance = from_dict(raw)
    bars = None
    if kind == "caspian":
        bars = tuple(co.solve(instance, "lp").info["normalizers"].values())
    return instance, brute_force(raw, bars)[0]


def test_contract(method, instance_and_optimum):
    name, properties = method
    instance, optimum = instance_and_optimum
    solution = co.solve(instance, name, time_limit=20)
    sign = 1 if instance.sense == "min" else -1
    assert solution.status in ("optimal", "feasible", "infeasible", "unknown")
    if solution.has_solution:
        report = co.check(instance, solution)
        assert report.violations == ()
        assert report.objective == pytest.approx(solution.objective, rel=1e-9)
        assert optimum is not None
        assert sign * (solution.objective - optimum) >= -1e-6
    if solution.bound is not None and optimum is not None:
        assert sign * (optimum - solution.bound) >= -1e-6
    if solution.status == "infeasible":
        assert optimum is None
    if solution.status == "optimal" and solution.has_solution:
        assert solution.objective == pytest.approx(optimum, rel=2e-4)
    if properties.exact:
        assert (solution.status == "infeasible") == (optimum is None)
    if not properties.exact and not properties.bound_only and solution.bound is None:
        assert solution.gap is None


def test_same_seed_same_answer(method, small_bench):
    name, properties = method
    if properties.exact:
        pytest.skip("an exact method is stopped by the clock here, so its answer depends on the machine")
    first, second = (co.solve(small_bench, name, seed=4) for _ in range(2))
    assert first.columns == second.columns
    assert first.bound == second.bound


def test_a_time_limit_is_kept_and_leaves_what_was_found(method):
    name, _ = method
    instance = co.generate("mosp", preset="bench", jobs=200, clusters=3, slots=48, seed=1)
    solution = co.solve(instance, name, time_limit=1.0)
    assert solution.wall_seconds < 4
    assert solution.status != "error"
    if solution.has_solution:
        assert co.check(instance, solution).feasible


def test_files_round_trip(method, small_bench, tmp_path):
    name, _ = method
    solution = co.solve(small_bench, name, time_limit=2)
    path = tmp_path / "solution.json.gz"
    solution.write(path)
    again = co.read_solution(path)
    assert again.to_dict() == solution.to_dict()
    assert json.loads(json.dumps(again.summary())) == again.summary()


def test_an_initial_solution_is_never_made_worse(small_bench):
    start = co.solve(small_bench, "lp-rounding")
    solution = co.solve(small_bench, "milp", time_limit=1, initial_solution=start)
    assert solution.objective <= start.objective + 1e-9
    other = co.generate("mosp", preset="bench", jobs=30, clusters=3, slots=24, seed=4)
    with pytest.raises(co.UnsupportedError, match="initial solution"):
        co.solve(other, "milp", initial_solution=start)


def test_unknown_methods_and_options_are_refused(small_bench):
    with pytest.raises(co.UnsupportedError, match="must be 'auto'"):
        co.solve(small_bench, "simplex")
    with pytest.raises(co.UnsupportedError, match="time_limit = -1: must be a number, at least 0"):
        co.solve(small_bench, time_limit=-1)


def test_a_method_that_lies_is_caught(small_bench, monkeypatch):
    from carbonopt.core.solution import Outcome
    from carbonopt.core.status import Status
    from carbonopt.problems.mosp import methods

    def liar(instance, options):
        schedule = {"job": [], "cluster": [], "start": []}
        return Outcome(Status.OPTIMAL, schedule, bound=0.0)

    def too_high(instance, options):
        return Outcome(Status.OPTIMAL, co.solve(small_bench, "greedy-clean").columns, bound=1e9)

    monkeypatch.setattr(methods, "greedy_random", liar)
    solution = co.solve(small_bench, "greedy-random")
    assert (solution.status, solution.has_solution) == ("error", False)
    assert "does not run" in solution.info["violations"][0]
    monkeypatch.setattr(methods, "greedy_random", too_high)
    solution = co.solve(small_bench, "greedy-random")
    assert (solution.status, solution.bound) == ("error", None)

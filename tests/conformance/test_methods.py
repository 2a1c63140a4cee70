"""Every method of every problem keeps the same contract."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, load_module
from work_support import LookedAtClock

import carbonopt as co
from carbonopt.core.options import Options
from carbonopt.core.registry import Method, problem_names, problem_of
from carbonopt.milp import highs
from carbonopt.problems.ecas.data.file import from_dict as ecas_from_dict
from carbonopt.problems.elastic.data.file import from_dict as elastic_from_dict
from carbonopt.problems.mlcluster.data.file import from_dict as mlcluster_from_dict
from carbonopt.problems.mosp.data.file import from_dict as mosp_from_dict
from carbonopt.problems.purchasing.data.file import from_dict as purchasing_from_dict

mosp_reference = load_module(ROOT / "tests/reference/brute_force.py")
elastic_reference = load_module(ROOT / "tests/reference/brute_force_elastic.py")
purchasing_reference = load_module(ROOT / "tests/reference/brute_force_purchasing.py")
mlcluster_reference = load_module(ROOT / "tests/reference/brute_force_mlcluster.py")
ecas_reference = load_module(ROOT / "tests/reference/brute_force_ecas.py")

ALL = [(problem, method) for problem in problem_names() for method in problem_of(problem).methods]
HEURISTICS = [(problem, method) for problem, method in ALL if not problem_of(problem).methods[method].exact]
KINDS = {
    "mosp": ("carbon", "caspian"),
    "elastic": ("unit", "decreasing", "general", "switching", "fluid"),
    "purchasing": purchasing_reference.KINDS,
    "mlcluster": ("unit", "scaling"),
    "ecas": ecas_reference.KINDS,
}
SEEDS = {"mosp": 6, "elastic": 4, "purchasing": 2, "mlcluster": 6, "ecas": 5}
"""Instances of each kind."""
HARD = {
    "mosp": {"preset": "bench", "jobs": 200, "clusters": 3, "slots": 48, "seed": 1},
    "elastic": {"jobs": 60, "capacity": 8, "seed": 1},
    "purchasing": {"jobs": 200, "arrival_hours": 72, "seed": 1},
    "mlcluster": {"jobs": 200, "gpus": 16, "arrival_hours": 24, "seed": 1},
    "ecas": {"jobs": 100, "machines": 5, "slots": 96, "seed": 1},
}

SMALL: dict[str, dict[str, Any]] = {
    "mosp": {"preset": "bench", "jobs": 20, "clusters": 3, "slots": 16, "load": 0.5, "seed": 3},
    "elastic": {"jobs": 8, "capacity": 6, "arrival_hours": 12, "seed": 3},
    "purchasing": {"jobs": 15, "arrival_hours": 12, "seed": 3},
    "mlcluster": {"jobs": 30, "gpus": 6, "arrival_hours": 6, "seed": 3},
    "ecas": {"jobs": 15, "machines": 2, "slots": 24, "load": 0.4, "seed": 3},
}


def mosp(kind: str, seed: int) -> tuple[co.Instance, float | None]:
    raw = mosp_reference.random_instance(seed, kind)
    instance = mosp_from_dict(raw)
    bars = tuple(co.solve(instance, "lp").info["normalizers"].values()) if kind == "caspian" else None
    return instance, mosp_reference.brute_force(raw, bars)[0]


def elastic(kind: str, seed: int) -> tuple[co.Instance, float | None]:
    raw = elastic_reference.random_instance(seed, "decreasing" if kind == "fluid" else kind)
    if kind == "unit":
        for profile in raw["profiles"].values():  # what polymatroid-greedy takes
            profile["marginal_watts"] = [60.0] * len(profile["marginal_watts"])
    if kind == "fluid":
        instance = elastic_from_dict(raw | {"model": "fluid"})
        program = highs.solve(co.formulate(instance, "lp"), Options())
        return instance, program.objective if program.status == "optimal" else None
    return elastic_from_dict(raw), elastic_reference.brute_force(raw)[0]


def purchasing(kind: str, seed: int) -> tuple[co.Instance, float | None]:
    raw = purchasing_reference.random_instance(seed, kind)
    return purchasing_from_dict(raw), purchasing_reference.brute_force(raw)[0]


def mlcluster(kind: str, seed: int) -> tuple[co.Instance, float | None]:
    instance = mlcluster_from_dict(mlcluster_reference.random_instance(seed, kind))
    program = highs.solve(co.formulate(instance, "lp"), Options())  # without restarts and late jobs it is exact
    return instance, program.objective


def ecas(kind: str, seed: int) -> tuple[co.Instance, float | None]:
    raw = ecas_reference.random_instance(seed, kind)
    return ecas_from_dict(raw), ecas_reference.brute_force(raw)[0]


MAKERS = {"mosp": mosp, "elastic": elastic, "purchasing": purchasing, "mlcluster": mlcluster, "ecas": ecas}


def may_refuse(problem: str, name: str, instance: co.Instance) -> bool:
    """Return whether a method is declared not to take every instance, or not to respect one of its constraints."""
    method = problem_of(problem).methods[name]
    return bool(method.needs) or not method.is_for(instance)


def named(pair: tuple[str, str]) -> str:
    return "-".join(pair)


@cache
def cases(problem: str) -> list[tuple[co.Instance, float | None]]:
    """Return small instances of a problem with their optima."""
    return [MAKERS[problem](kind, seed) for kind in KINDS[problem] for seed in range(SEEDS[problem])]


@cache
def small(problem: str) -> co.Instance:
    """Return an instance that solves in a second or two."""
    if problem != "unit":
        return co.generate(problem, **SMALL[problem])
    unit = elastic_reference.random_instance(3, "unit", jobs=4, slots=5)
    for profile in unit["profiles"].values():
        profile["marginal_watts"] = [60.0] * len(profile["marginal_watts"])
    return elastic_from_dict(unit)


def fitting(problem: str, name: str, instance: co.Instance | None = None) -> co.Instance:
    """Return an instance that a method takes: a small one unless another is given."""
    if name == "polymatroid-greedy":
        return small("unit")
    instance = instance or small(problem)
    return instance.with_model("fluid") if name == "carbonflex-greedy-fluid" else instance


@cache
def solved(problem: str, name: str) -> co.Solution:
    """Return what a method finds; a whole program would need minutes for more than a tiny instance."""
    tiny = problem_of(problem).methods[name].exact or name == "milp"
    instance = cases(problem)[0][0] if tiny else small(problem)
    return co.solve(fitting(problem, name, instance), name, seed=4, time_limit=None)


@cache
def hard(problem: str) -> co.Instance:
    """Return an instance that takes more than a second."""
    return co.generate(problem, **HARD[problem])


@cache
def start_of(instance: co.Instance) -> co.Solution:
    """Return a schedule to begin with."""
    return co.solve(instance, "price", seed=4, time_limit=None, mip_rel_gap=0.05)


@pytest.mark.parametrize("pair", ALL, ids=named)
def test_contract(pair: tuple[str, str]) -> None:
    problem, name = pair
    taken = 0
    for instance, optimum in cases(problem):
        try:
            solution = co.solve(instance, name, time_limit=None)
        except co.UnsupportedError as error:
            assert name in str(error)  # noqa: PT017
            assert may_refuse(problem, name, instance)
            continue
        taken += 1
        keeps_the_contract(problem_of(problem).methods[name], instance, optimum, solution)
    assert taken >= SEEDS[problem]


def keeps_the_contract(method: Method, instance: co.Instance, optimum: float | None, solution: co.Solution) -> None:
    sign = 1 if instance.sense == "min" else -1
    report = co.check(instance, solution)
    assert report.violations == ()
    assert solution.status in ("optimal", "feasible", "infeasible", "unknown")
    assert solution.has_solution or solution.status in ("infeasible", "unknown") or method.bound_only
    if solution.has_solution:
        assert report.objective == pytest.approx(solution.objective, rel=1e-9)
        assert optimum is not None
        assert solution.objective is not None
        assert sign * (solution.objective - optimum) >= -1e-6 * max(1.0, abs(optimum))
    if solution.bound is not None and optimum is not None:
        assert sign * (optimum - solution.bound) >= -1e-6 * max(1.0, abs(optimum))
    if solution.status == "infeasible":
        assert optimum is None
    if solution.status == "optimal" and solution.has_solution:
        assert solution.objective == pytest.approx(optimum, rel=2e-4)
    if method.exact:
        assert (solution.status == "infeasible") == (optimum is None)
        assert solution.has_solution == (optimum is not None)


@pytest.mark.parametrize("pair", HEURISTICS, ids=named)
def test_same_seed_same_answer(pair: tuple[str, str]) -> None:
    problem, name = pair
    first = solved(problem, name)
    instance = cases(problem)[0][0] if name == "milp" else fitting(problem, name)
    second = co.solve(instance, name, seed=4, time_limit=None)
    assert first.columns == second.columns
    assert first.bound == second.bound


@pytest.mark.parametrize("pair", ALL, ids=named)
def test_a_time_limit_is_kept_and_leaves_what_was_found(pair: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Measured by looks at a clock that only they move: the wall's tells what else the machine does."""
    problem, name = pair
    instance = fitting(problem, name, hard(problem))
    clock = LookedAtClock(monkeypatch)
    try:
        solution = co.solve(instance, name, time_limit=1.0)
    except co.TooLargeError:
        assert pair == ("mlcluster", "milp")  # refused by its number of columns, at once
        instance = cases(problem)[0][0]
        clock.looks = 0
        solution = co.solve(instance, name, time_limit=1.0)
    clock.require_kept(1.0)
    assert solution.status != "error"
    assert co.check(instance, solution).violations == ()


@pytest.mark.parametrize("pair", ALL, ids=named)
def test_files_round_trip(pair: tuple[str, str], tmp_path: Path) -> None:
    problem, name = pair
    solution = solved(problem, name)
    assert solution.has_solution or solution.bound is not None or name == "carbonflex-greedy-printed"
    path = tmp_path / "solution.json.gz"
    solution.write(path)
    again = co.read_solution(path)
    assert again.to_dict() == solution.to_dict()
    assert json.loads(json.dumps(again.summary())) == again.summary()


@pytest.mark.parametrize("pair", ALL, ids=named)
def test_a_start_is_used_or_refused(pair: tuple[str, str]) -> None:
    """Without any time, a method has nothing but what it starts from."""
    problem, name = pair
    instance = cases(problem)[0][0] if name == "milp" else fitting(problem, name)
    start = start_of(instance)
    if not problem_of(problem).methods[name].takes_start:
        with pytest.raises(co.UnsupportedError, match=f"{name} .* takes no initial solution: must be .*'price'"):
            co.solve(instance, name, initial_solution=start)
        return
    solution = co.solve(instance, name, time_limit=0.0, initial_solution=start)
    assert solution.objective is not None
    assert start.objective is not None
    sign = 1 if instance.sense == "min" else -1
    assert sign * (solution.objective - start.objective) <= 1e-9 * abs(start.objective)


def test_an_initial_solution_is_never_made_worse(small_bench):
    start = co.solve(small_bench, "lp-rounding")
    solution = co.solve(small_bench, "milp", time_limit=0.0, initial_solution=start)
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
    from carbonopt.problems.mosp.methods import rounding

    def liar(instance, options):
        schedule = {"job": [], "cluster": [], "start": []}
        return Outcome(Status.OPTIMAL, schedule, bound=0.0)

    def too_high(instance, options):
        return Outcome(Status.OPTIMAL, co.solve(small_bench, "greedy-clean").columns, bound=1e9)

    monkeypatch.setattr(rounding, "lp_rounding", liar)
    solution = co.solve(small_bench, "lp-rounding")
    assert (solution.status, solution.has_solution) == ("error", False)
    assert "does not run" in solution.info["violations"][0]
    monkeypatch.setattr(rounding, "lp_rounding", too_high)
    solution = co.solve(small_bench, "lp-rounding")
    assert (solution.status, solution.bound) == ("error", None)

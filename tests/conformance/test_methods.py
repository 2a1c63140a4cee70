"""Every method of every problem keeps the same contract."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import ROOT, load_module

import carbonopt as co
from carbonopt.core.options import Options
from carbonopt.core.registry import Method, problem_names, problem_of
from carbonopt.milp import highs
from carbonopt.problems.elastic.data.file import from_dict as elastic_from_dict
from carbonopt.problems.mlcluster.data.file import from_dict as mlcluster_from_dict
from carbonopt.problems.mosp.data.file import from_dict as mosp_from_dict
from carbonopt.problems.purchasing.data.file import from_dict as purchasing_from_dict

mosp_reference = load_module(ROOT / "tests/reference/brute_force.py")
elastic_reference = load_module(ROOT / "tests/reference/brute_force_elastic.py")
purchasing_reference = load_module(ROOT / "tests/reference/brute_force_purchasing.py")
mlcluster_reference = load_module(ROOT / "tests/reference/brute_force_mlcluster.py")

ALL = [(problem, method) for problem in problem_names() for method in problem_of(problem).methods]
KINDS = {
    "mosp": ("carbon", "caspian"),
    "elastic": ("unit", "decreasing", "general", "switching", "fluid"),
    "purchasing": purchasing_reference.KINDS,
    "mlcluster": ("unit", "scaling"),
}
SEEDS = 6
HARD = {
    "mosp": {"preset": "bench", "jobs": 200, "clusters": 3, "slots": 48, "seed": 1},
    "elastic": {"jobs": 60, "capacity": 8, "seed": 1},
    "purchasing": {"jobs": 200, "arrival_hours": 72, "seed": 1},
    "mlcluster": {"jobs": 200, "gpus": 16, "arrival_hours": 24, "seed": 1},
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


MAKERS = {"mosp": mosp, "elastic": elastic, "purchasing": purchasing, "mlcluster": mlcluster}


def solved(instance: co.Instance, name: str, **options: Any) -> co.Solution:
    """Solve, or skip where the method says that it is not for such an instance."""
    try:
        return co.solve(instance, name, **options)
    except co.UnsupportedError as error:
        pytest.skip(str(error))


@pytest.fixture(params=ALL, ids=lambda pair: "-".join(pair))
def method(request: pytest.FixtureRequest) -> tuple[str, str, Method]:
    problem, name = request.param
    return problem, name, problem_of(problem).methods[name]


@pytest.fixture(scope="module", params=problem_names())
def cases(request: pytest.FixtureRequest) -> tuple[str, list[tuple[co.Instance, float | None]]]:
    """Return a problem and small instances of it with their optima."""
    problem = request.param
    return problem, [MAKERS[problem](kind, seed) for kind in KINDS[problem] for seed in range(SEEDS)]


@pytest.fixture(scope="module")
def small() -> dict[str, co.Instance]:
    """Return an instance of each problem that solves in a second or two."""
    unit = elastic_reference.random_instance(3, "unit", jobs=4, slots=5)
    for profile in unit["profiles"].values():
        profile["marginal_watts"] = [60.0] * len(profile["marginal_watts"])
    return {
        "mosp": co.generate("mosp", preset="bench", jobs=30, clusters=3, slots=24, seed=3),
        "elastic": co.generate("elastic", jobs=15, capacity=6, seed=3),
        "purchasing": co.generate("purchasing", jobs=15, arrival_hours=12, seed=3),
        "mlcluster": co.generate("mlcluster", jobs=30, gpus=6, arrival_hours=6, seed=3),
        "unit": elastic_from_dict(unit),
    }


def of_method(small: dict[str, co.Instance], problem: str, name: str) -> co.Instance:
    instance = small["unit" if name == "polymatroid-greedy" else problem]
    return instance.with_model("fluid") if name == "carbonflex-greedy-fluid" else instance


@pytest.mark.parametrize("name", sorted({name for _, name in ALL}))
def test_contract(name, cases):
    problem, instances = cases
    if name not in problem_of(problem).methods:
        pytest.skip(f"{problem} has no {name}")
    taken = 0
    for instance, optimum in instances:
        try:
            solution = co.solve(instance, name, time_limit=20)
        except co.UnsupportedError as error:
            assert name in str(error)  # noqa: PT017
            assert problem_of(problem).methods[name].needs or "switching" in str(error)  # noqa: PT017
            continue
        taken += 1
        keeps_the_contract(problem_of(problem).methods[name], instance, optimum, solution)
    assert taken >= SEEDS


def keeps_the_contract(properties, instance, optimum, solution):
    sign = 1 if instance.sense == "min" else -1
    report = co.check(instance, solution)
    assert report.violations == ()
    assert solution.status in ("optimal", "feasible", "infeasible", "unknown")
    if solution.has_solution:
        assert report.objective == pytest.approx(solution.objective, rel=1e-9)
        assert optimum is not None
        assert sign * (solution.objective - optimum) >= -1e-6 * max(1.0, abs(optimum))
    if solution.bound is not None and optimum is not None:
        assert sign * (optimum - solution.bound) >= -1e-6 * max(1.0, abs(optimum))
    if solution.status == "infeasible":
        assert optimum is None
    if solution.status == "optimal" and solution.has_solution:
        assert solution.objective == pytest.approx(optimum, rel=2e-4)
    if properties.exact:
        assert (solution.status == "infeasible") == (optimum is None)
    if not properties.exact and not properties.bound_only and solution.bound is None:
        assert solution.gap is None


def test_same_seed_same_answer(method, small):
    problem, name, properties = method
    if properties.exact:
        pytest.skip("an exact method is stopped by the clock here, so its answer depends on the machine")
    first, second = (solved(of_method(small, problem, name), name, seed=4, time_limit=None) for _ in range(2))
    assert first.columns == second.columns
    assert first.bound == second.bound


def test_a_time_limit_is_kept_and_leaves_what_was_found(method):
    problem, name, _ = method
    instance = co.generate(problem, **HARD[problem])
    if name == "carbonflex-greedy-fluid":
        instance = instance.with_model("fluid")
    solution = solved(instance, name, time_limit=1.0)
    assert solution.wall_seconds < 4
    assert solution.status != "error"
    if solution.has_solution:
        assert co.check(instance, solution).feasible


def test_files_round_trip(method, small, tmp_path):
    problem, name, _ = method
    solution = solved(of_method(small, problem, name), name, time_limit=2)
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

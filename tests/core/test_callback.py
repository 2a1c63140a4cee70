"""A callback that returns True stops the method, and the incumbent is kept."""

from dataclasses import replace
from importlib import import_module
from math import inf

import pytest

import carbonopt as co
from carbonopt.core.registry import problem_of
from carbonopt.problems.mosp.data.file import from_dict

INSTANCES = {
    "mosp": {"preset": "bench", "jobs": 40, "clusters": 2, "slots": 24},
    "elastic": {"jobs": 20},
    "purchasing": {"jobs": 40, "arrival_hours": 24.0},
    "ecas": {"jobs": 12, "machines": 2, "slots": 24, "load": 0.3},
}
PROVEN = {**INSTANCES, "mlcluster": {"jobs": 20, "gpus": 4}}
SHORT = {"ecas": {"search": {"moves_per_job": 10}}}


@pytest.mark.parametrize("problem", INSTANCES)
@pytest.mark.parametrize("method", ["milp", "price"])
def test_true_stops_and_keeps_the_incumbent(problem, method):
    instance = co.generate(problem, seed=1, **INSTANCES[problem])
    seen = []

    def stop(progress):
        seen.append(progress.incumbent)
        return progress.incumbent is not None

    solution = co.solve(instance, method, time_limit=30, mip_rel_gap=0, callback=stop)
    if not any(objective is not None for objective in seen):
        pytest.skip("it ended before it reported an incumbent")
    assert solution.status == "interrupted"
    assert solution.has_solution
    assert co.check(instance, solution).feasible


@pytest.mark.parametrize("answer", [None, False, 0, 1.5, "yes"])
def test_all_but_true_lets_it_run(tiny, answer):
    solution = co.solve(tiny["crowd"], "milp", callback=lambda progress: answer)
    assert solution.status == "optimal"


@pytest.mark.parametrize("report", [1, 4])
@pytest.mark.parametrize("problem", PROVEN)
def test_the_bound_of_an_interrupted_solve_by_prices_is_proven(problem, report):
    instance = co.generate(problem, seed=2, **PROVEN[problem])
    seen = []

    def stop(progress):
        seen.append(progress)
        return len(seen) == report

    solution = co.solve(instance, "price", time_limit=None, params=SHORT.get(problem), callback=stop)
    if len(seen) < report:
        pytest.skip("it ended before")
    assert solution.status == "interrupted"
    bounds = [progress.bound for progress in seen if progress.bound is not None]
    assert (solution.bound is None) == (not bounds)
    if bounds:
        checked = co.check(instance, solution)
        assert not checked.violations
        assert checked.proven_bound == pytest.approx(solution.bound, rel=1e-6)


def settled(instance):
    """Return an instance with the first three jobs fixed where they run as early as possible."""
    columns = co.solve(instance, "greedy-clean").columns
    return from_dict({**instance.to_dict(), "fixed": {name: column[:3] for name, column in columns.items()}})


@pytest.mark.parametrize("report", [1, 3, 6])
def test_the_bound_of_an_interrupted_solve_holds_of_fixed_runs_too(report):
    instance = settled(co.generate("mosp", seed=2, **INSTANCES["mosp"]))
    seen = []

    def stop(progress):
        seen.append(progress)
        return len(seen) == report

    solution = co.solve(instance, "price", time_limit=None, callback=stop)
    assert solution.status == "interrupted"
    assert "tree_bound" not in solution.info
    assert co.check(instance, solution).proven_bound == pytest.approx(solution.bound, rel=1e-12)


@pytest.mark.parametrize("method", ["price", "milp", "lp-rounding"])
def test_an_interrupt_keeps_the_normalizers_that_the_objective_is_divided_by(method):
    instance = co.generate("mosp", objective="caspian", jobs=40, slots=24, seed=1)
    solution = co.solve(instance, method, time_limit=None, callback=lambda progress: progress.schedule is not None)
    assert solution.status == "interrupted"
    assert solution.has_solution
    assert co.check(instance, solution).feasible


def test_a_checkpoint_has_them_too():
    instance = co.generate("mosp", objective="caspian", jobs=40, slots=24, seed=1)
    saved = []
    co.solve(instance, "lp-rounding", checkpoint=saved.append)
    assert saved[0].has_solution
    assert co.check(instance, saved[0]).feasible


@pytest.mark.parametrize("after", [0.0, inf])
def test_a_checkpoint_of_a_long_run_has_the_bound_too(monkeypatch, after):
    """To recheck it may take seconds, which a short run lacks."""
    module = import_module("carbonopt.solve")  # the package has the function under this name
    monkeypatch.setattr(module, "CERTIFIED_AFTER", after)
    monkeypatch.setattr(module, "CHECKPOINT_REST", 0.0)
    monkeypatch.setattr(module, "CHECKPOINT_SECONDS", 0.0)
    instance = co.generate("mosp", preset="bench", jobs=40, clusters=2, slots=24, seed=1)
    saved = []
    co.solve(instance, "price", work_limit=0.2, checkpoint=saved.append)
    assert all(solution.has_solution for solution in saved)
    assert any(solution.bound is not None for solution in saved) == (after == 0)
    assert (saved[-1].bound is None) == (after > 0)
    assert co.check(instance, saved[-1]).feasible


def test_a_worse_schedule_takes_the_place_of_no_better_one(tiny, monkeypatch):
    """A search that begins anew tells worse schedules than there were: what is kept and told is the best."""
    instance = tiny["crowd"]
    good = co.solve(instance, "milp")
    bad = co.solve(instance, "greedy-random")
    assert bad.objective > good.objective

    def begins_anew(self, name, instance, options):
        for solution in (bad, good, bad):
            columns = solution.columns
            options.report(incumbent=solution.objective, schedule=lambda columns=columns: columns)
        raise KeyboardInterrupt

    monkeypatch.setattr(type(problem_of("mosp")), "run", begins_anew)
    seen = []
    left = co.solve(instance, "milp", callback=lambda progress: seen.append(progress.incumbent))
    assert seen == [bad.objective, good.objective, good.objective]
    assert left.objective == pytest.approx(good.objective, rel=1e-12)


@pytest.mark.parametrize("model", ["no-split", "splitting", "suspend-resume"])
@pytest.mark.parametrize("decided", [False, True])
def test_what_milp_tells_of_purchasing_is_what_its_schedules_cost(model, decided):
    """The program knows means of slots alone: what it calls .75 cost .82."""
    instance = co.generate("purchasing", seed=1, jobs=25, arrival_hours=24.0, model=model)
    instance = replace(instance, reserved_cpus=None) if decided else instance
    seen = []

    def told(progress):
        if progress.incumbent is not None:
            seen.append(progress.incumbent)
            solution = co.evaluate(instance, progress.schedule(), info=progress.info)
            assert solution.objective == pytest.approx(progress.incumbent, rel=1e-9)

    solution = co.solve(instance, "milp", work_limit=0.1, callback=told)
    assert solution.has_solution
    assert seen == sorted(seen, reverse=True)
    assert solution.objective <= seen[-1] * (1 + 1e-12)

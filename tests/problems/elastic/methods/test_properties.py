"""What holds of optima, bounds and answers whatever the numbers are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from elastic_support import changed, random_instance, random_raw, reference
from work_support import LookedAtClock

import carbonopt as co
from carbonopt.algorithms import kernel
from carbonopt.core.options import Progress
from carbonopt.core.registry import problem_of
from carbonopt.problems.elastic.data.file import from_dict
from carbonopt.problems.elastic.data.instance import ElasticInstance

KINDS = ("unit", "decreasing", "general")
METHODS = [name for name in problem_of("elastic").methods if name != "carbonflex-greedy-fluid"]
SLACK = 1 + 1e-6


@pytest.fixture(autouse=True)
def machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of small cases end sooner so."""
    monkeypatch.setattr(kernel, "PLAIN_STEPS", 0)


def optimum(instance: ElasticInstance) -> float:
    """Return the optimum of the instance's model by HiGHS; infinite where there is no schedule."""
    solution = co.solve(instance, "milp", mip_rel_gap=0)
    assert solution.status in ("optimal", "infeasible")
    return solution.objective if solution.has_solution else np.inf


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
class TestOptima:
    def test_bound_fluid_integer(self, seed: int, kind: str) -> None:
        raw = reference.random_instance(seed, kind)
        least, _ = reference.brute_force(raw)
        least = np.inf if least is None else least
        instance = from_dict(raw)
        fluid = instance.with_model("fluid")
        assert optimum(fluid) <= least * SLACK
        assert optimum(instance) == pytest.approx(least, rel=1e-7)
        for method in ("lp", "price", "lp-rounding", "milp"):
            solution = co.solve(instance, method)
            assert solution.bound is None or solution.bound <= least * SLACK
            assert not solution.has_solution or solution.objective >= least / SLACK

    @pytest.mark.parametrize("model", ["integer", "fluid"])
    def test_more_room_never_costs_more(self, seed: int, kind: str, model: str) -> None:
        instance = random_instance(seed, kind, 4, 6, model=model)
        before = optimum(instance)
        wider = changed(instance, {("cluster", "capacity"): (instance.cluster.capacity + 1).tolist()})
        assert optimum(wider) <= before * SLACK
        room = instance.time.slots - instance.jobs.window_end
        later = instance.with_slack(instance.jobs.slack + np.minimum(room, 1))
        assert optimum(later) <= before * SLACK
        assert optimum(instance.with_model("fluid")) <= before * SLACK

    @pytest.mark.parametrize("model", ["integer", "fluid"])
    def test_order_and_names_do_not_matter(self, seed: int, kind: str, model: str) -> None:
        raw = random_raw(seed, kind, 4, 6, model=model)
        instance = from_dict(raw)
        order = np.random.default_rng(seed).permutation(4)
        raw["jobs"] = {column: [values[i] for i in order] for column, values in raw["jobs"].items()}
        raw["jobs"]["name"] = [f"job {name}" for name in raw["jobs"]["name"]]
        raw["profiles"] = dict(reversed(raw["profiles"].items()))
        other = from_dict(raw)
        assert optimum(other) == pytest.approx(optimum(instance), rel=1e-7)
        if model == "fluid":
            first, second = (co.solve(one, "price") for one in (instance, other))
            assert first.status == second.status
            assert not first.has_solution or first.objective == pytest.approx(second.objective, rel=1e-7)

    @pytest.mark.parametrize("model", ["integer", "fluid"])
    def test_carbon_scales_the_objective(self, seed: int, kind: str, model: str) -> None:
        instance = random_instance(seed, kind, 4, 6, model=model)
        rows = (instance.carbon.g_per_kwh * 8).tolist()
        other = changed(instance, {("carbon", "g_per_kwh"): rows})
        assert optimum(other) == pytest.approx(8 * optimum(instance), rel=1e-7)
        for method in ("carbonflex-greedy", "carbonflex-greedy-printed"):
            first, second = co.solve(instance, method), co.solve(other, method)
            assert first.columns == second.columns

    def test_a_copy_of_a_job_costs_at_least_what_it_costs_alone(self, seed: int, kind: str) -> None:
        raw = random_raw(seed, kind, 3, 6, model="fluid")
        twice = {column: [*values, values[0]] for column, values in raw["jobs"].items()}
        twice["name"][-1] = "copy"
        alone = {column: values[:1] for column, values in raw["jobs"].items()}
        once, more = optimum(from_dict(raw)), optimum(from_dict(raw | {"jobs": twice}))
        assert more >= (once + optimum(from_dict(raw | {"jobs": alone}))) / SLACK or more == once == np.inf


@pytest.fixture(scope="module")
def week() -> ElasticInstance:
    instance = co.generate("elastic", jobs=50, capacity=8, seed=3)
    assert isinstance(instance, ElasticInstance)
    return instance


@pytest.mark.parametrize("method", METHODS)
def test_same_seed_same_answer(method: str) -> None:
    kind = "unit" if method == "polymatroid-greedy" else "decreasing"
    instance = random_instance(11, kind, 8, 12, model="integer")
    first, second = (co.solve(instance, method, seed=4) for _ in range(2))
    assert first.status == second.status
    assert first.columns == second.columns
    assert first.bound == second.bound


@pytest.mark.parametrize("limit", [0, 0.05])
@pytest.mark.parametrize("model", ["integer", "fluid"])
@pytest.mark.parametrize("method", METHODS)
def test_hardly_any_time_is_kept_and_told(
    method: str, model: str, limit: float, week: ElasticInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = week.with_model(model)
    if method == "polymatroid-greedy":
        instance = random_instance(2, "unit", 30, 20, model=model)
    clock = LookedAtClock(monkeypatch)
    solution = co.solve(instance, method, time_limit=limit)
    clock.require_kept(limit)
    assert solution.status in ("time_limit", "feasible", "optimal", "unknown")
    assert co.check(instance, solution).violations == ()
    if solution.status == "optimal" and solution.has_solution:
        assert solution.gap <= 1e-4
    if solution.status == "optimal" and not solution.has_solution:
        assert (method, model) == ("lp", "integer")


class Stop:
    """Ctrl-C once, after so many reports."""

    def __init__(self, after: int) -> None:
        self.after, self.incumbents, self.best = after, 0, np.inf

    def __call__(self, progress: Progress) -> None:
        if progress.schedule is not None:
            assert progress.incumbent is not None
            self.incumbents += 1
            self.best = min(self.best, progress.incumbent)
        self.after -= 1
        if self.after == 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("after", [1, 2, 3])
@pytest.mark.parametrize("model", ["integer", "fluid"])
@pytest.mark.parametrize("method", ["price", "milp", "lp-rounding"])
def test_ctrl_c_leaves_what_was_found(method: str, model: str, after: int, week: ElasticInstance) -> None:
    instance = week.with_model(model)
    stop = Stop(after)
    solution = co.solve(instance, method, time_limit=None, callback=stop)
    assert co.check(instance, solution).violations == ()
    assert (solution.status == "interrupted") == (stop.after <= 0)
    if stop.after > 0:  # it has fewer reports, and was done
        assert solution.status in ("optimal", "feasible")
        assert solution.has_solution
    elif (method, model) == ("milp", "fluid"):  # an LP that ends as the signal comes is kept: its optimum, or nothing
        best = co.solve(instance, "price", time_limit=None).objective
        assert not solution.has_solution or solution.objective == pytest.approx(best, rel=1e-5)
    else:
        assert solution.has_solution == (stop.incumbents > 0)
        assert not solution.has_solution or solution.objective <= stop.best * (1 + 1e-9)


@pytest.mark.parametrize(("method", "model"), [("price", "fluid"), ("milp", "integer")])
def test_the_first_incumbent_comes_before_the_work(method: str, model: str, week: ElasticInstance) -> None:
    wide = changed(week.with_model(model), {("cluster", "capacity"): 40})
    stop = Stop(1)
    solution = co.solve(wide, method, callback=stop)
    assert solution.status == "interrupted"
    assert solution.has_solution
    assert co.check(wide, solution).violations == ()


def test_a_start_is_never_made_worse(week: ElasticInstance) -> None:
    small = changed(random_instance(5, "decreasing", 8, 12, model="integer"), {("cluster", "capacity"): 7})
    start = co.solve(small, "carbonflex-greedy")
    assert start.has_solution
    for limit in (0, 5):
        solution = co.solve(small, "milp", initial_solution=start, time_limit=limit)
        assert solution.objective <= start.objective * (1 + 1e-9)
    with pytest.raises(co.UnsupportedError, match="initial solution"):
        co.solve(week, "milp", initial_solution=start)


def test_a_method_that_lies_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    from carbonopt.core.solution import Outcome
    from carbonopt.core.status import Status
    from carbonopt.problems.elastic.methods import greedy

    instance = random_instance(4, "decreasing", 4, 8, model="integer")
    sound: dict[str, Any] = co.solve(instance, "carbonflex-greedy").columns
    short = {name: values[1:] for name, values in sound.items()}
    for outcome, words in (
        (Outcome(Status.OPTIMAL, short, bound=0.0), "slots of work, its length is"),
        (Outcome(Status.OPTIMAL, sound, bound=1e9), None),
    ):
        monkeypatch.setattr(greedy, "carbonflex_greedy", lambda *_, told=outcome, **__: told)
        solution = co.solve(instance, "carbonflex-greedy")
        assert (solution.status, solution.bound) == ("error", 0.0 if words else None)
        assert words is None or words in solution.info["violations"][0]

"""HiGHS's cuts over the places that prices leave: bounds that hold, and what their files claim."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import carbonopt as co
from carbonopt.check import report_on
from carbonopt.cli.main import app
from carbonopt.core.options import Options
from carbonopt.core.status import Status
from carbonopt.problems.mosp.methods.normalizers import value_of
from carbonopt.problems.mosp.methods.price.dual import Dual
from carbonopt.problems.mosp.methods.price.exact import close_gap
from carbonopt.problems.mosp.methods.price.solver import Solver
from carbonopt.problems.mosp.methods.price.state import places_of


def solver_of(instance):
    """Return a solver with its bound and a first schedule."""
    options = Options(time_limit=None)
    value, _ = value_of(instance, options)
    solver = Solver(instance, value, Dual(instance, value), options)
    solver.raise_prices()
    solver.start()
    return solver


@pytest.mark.slow
@pytest.mark.parametrize(("load", "seeds"), [(0.7, (0, 3, 5)), (0.9, (0, 4, 6)), (1.3, (0, 2, 4))])
def test_no_bound_of_cuts_is_past_the_optimum(load, seeds):
    for seed in seeds:
        instance = co.generate("mosp", preset="bench", jobs=12, clusters=2, slots=12, seed=seed, load=load)
        best = co.solve(instance, "milp", mip_rel_gap=0, time_limit=None)
        solver = solver_of(instance)
        rounding = float(solver.value.rounding().sum())
        at_optimum = places_of(instance, best.columns), best.objective
        for known in (None, (solver.state.best, solver.state.best_total), at_optimum):
            if known is not None and (known[0] < 0).any() and solver.must_run:
                continue
            bound = solver.proof.price_bound
            closed = close_gap(
                solver.dual, solver.places, known, bound, solver.mean_cost, rounding, solver.options, cuts_only=True
            )
            assert closed.bound <= best.objective * (1 + 1e-9)
            assert closed.bound > bound + 1e-4 * best.objective


def test_programs_of_many_columns_are_left_alone():
    solver = solver_of(co.generate("mosp", preset="bench", jobs=60, clusters=3, slots=24, seed=1))
    arguments = solver.dual, solver.places, None, solver.proof.price_bound, solver.mean_cost, 0.0, solver.options
    assert close_gap(*arguments, cuts_only=True, most_columns=10) is None


def test_after_the_search_jobs_are_at_their_best_places():
    """Not where the last moves left them: sums in another order once made the two look alike."""
    for seed in range(2):
        solver = solver_of(co.generate("mosp", preset="bench", jobs=100, clusters=3, slots=24, seed=seed))
        solver.search(solver.options, 300)
        assert (solver.state.place == solver.state.best).all()
        assert solver.state.best_total == pytest.approx(solver.state.jobs.cost.sum(), rel=1e-9)


@pytest.fixture(scope="module")
def cut():
    """Return an instance and a solution whose bound is one of cuts, with the certificate of its prices."""
    instance = co.generate("mosp", preset="bench", jobs=100, clusters=3, slots=24, seed=3)
    solver = solver_of(instance)
    solver.search(solver.options, 300)
    assert solver.proof.tree == -np.inf
    solver._close_gap(solver.options, cuts_only=True, most_columns=solver.params.cuts.most_columns)
    out = solver.outcome({})
    given = co.solve(instance, "greedy-clean")
    report = report_on(instance, out.schedule)
    solution = replace(
        given,
        columns=out.schedule,
        objective=solver.state.best_total,
        metrics=report.metrics,
        bound=out.bound,
        certificate=out.certificate,
        info=out.info,
        status=Status.FEASIBLE,
    )
    return instance, solution


@pytest.mark.slow
def test_the_certificate_proves_what_it_states_and_the_tree_the_rest(cut, tmp_path):
    instance, solution = cut
    assert solution.bound == solution.info["tree_bound"] > solution.certificate["bound"]
    report = co.check(instance, solution)
    assert report.violations == ()
    assert report.proven_bound == pytest.approx(solution.certificate["bound"], rel=1e-9)
    instance.write(tmp_path / "i.json")
    solution.write(tmp_path / "s.json")
    done = CliRunner().invoke(app, ["check", str(tmp_path / "i.json"), str(tmp_path / "s.json")])
    assert done.exit_code == 0
    assert "claimed from a search tree; " in done.stdout


@pytest.mark.slow
def test_no_tree_is_believed_without_a_schedule(cut):
    instance, solution = cut
    empty = replace(solution, columns=None, objective=None, metrics={}, status=Status.UNKNOWN)
    assert "certificate" in [violation.constraint for violation in co.check(instance, empty).violations]


@pytest.mark.parametrize("told", [True, float("nan"), "60", 10**400, None])
def test_a_tree_bound_that_is_no_number_says_nothing(cut, told):
    instance, solution = cut
    solution = replace(solution, info=solution.info | {"tree_bound": told})
    assert "certificate" in [violation.constraint for violation in co.check(instance, solution).violations]


@pytest.mark.parametrize("tampered", ["bound", "tree_bound", "prices"])
def test_what_is_changed_is_caught(cut, tampered):
    instance, solution = cut
    if tampered == "bound":
        solution = replace(solution, bound=solution.bound * (1 + 1e-4))
    elif tampered == "tree_bound":
        solution = replace(solution, info={key: x for key, x in solution.info.items() if key != "tree_bound"})
    else:
        prices = (np.array(solution.certificate["prices"]) * 0.9).tolist()
        solution = replace(solution, certificate=solution.certificate | {"prices": prices})
    assert "certificate" in [violation.constraint for violation in co.check(instance, solution).violations]

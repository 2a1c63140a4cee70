"""Certifying: cliques and branches raise the certificate where a search tree proves the bound of few jobs."""

from __future__ import annotations

import pytest

import carbonopt as co
from carbonopt.problems.mosp.methods.price.solver import Solver
from carbonopt.problems.mosp.methods.price.window_tree import WindowTree

FEW = {"preset": "bench", "jobs": 16, "clusters": 2, "slots": 12, "seed": 3}
"""Few jobs, of which beams prove that a schedule is the best one; prices of capacity prove 4 % less."""


def certified_gap(solution):
    """Return what the certificate leaves of the objective, as a share."""
    return (solution.objective - solution.certificate["bound"]) / solution.objective


def test_certifying_closes_the_gap_of_few_jobs_by_certificate():
    instance = co.generate("mosp", **FEW)
    without = co.solve(instance, "price", work_limit=20)
    assert without.status == "optimal"
    assert certified_gap(without) > 0.01
    assert without.bound > without.certificate["bound"]
    for halves, kind in ((False, "windows"), (True, "lagrangian")):
        params = {"windows": {"certify_pace": 1}, "cliques": {"halves": halves}}
        solution = co.solve(instance, "price", work_limit=20, params=params)
        assert solution.status == "optimal"
        assert solution.objective == without.objective
        assert certified_gap(solution) <= 1e-4
        assert solution.certificate["kind"] == kind
        assert co.check(instance, solution).proven_bound == pytest.approx(solution.certificate["bound"], rel=1e-9)


def test_certifying_takes_about_as_much_work_as_all_before_it():
    instance = co.generate("mosp", **FEW | {"jobs": 40, "clusters": 3, "slots": 24, "seed": 72})
    work = {pace: work_of(instance, pace) for pace in (0.0, 0.5, 1.0)}
    for pace in (0.5, 1.0):
        assert work[0.0] < work[pace] < (1 + pace) * work[0.0] + 1.2


def work_of(instance, pace):
    """Return the work of a solve, with several threads and no limit of work: certifying has one of its own."""
    params = {"windows": {"certify_pace": pace}}
    return co.solve(instance, "price", time_limit=None, threads=2, params=params).work


def test_certifying_leaves_the_answer_as_it_was():
    """Of the second one, HiGHS finds a better schedule; the certificate closes the gap asked for without it."""
    tight = {"preset": "supercomputer", "jobs": 15, "slots": 13, "seed": 5783, "clusters": 1, "load": 1.1}
    tight |= {"max_demand": 128, "memory": True, "restricted_share": 0.6}
    for given in (FEW | {"jobs": 24, "seed": 5}, tight):
        instance = co.generate("mosp", **given)
        answers = [co.solve(instance, "price", work_limit=10, params={"windows": {"certify_pace": k}}) for k in (0, 1)]
        assert answers[0].objective == answers[1].objective
        assert answers[0].certificate["bound"] <= answers[1].certificate["bound"] <= answers[1].bound


def test_certifying_is_done_once(monkeypatch):
    """Where HiGHS has too many places, time is left after certifying; a second tree would begin anew and prove less."""
    begun = []
    grow = WindowTree.grow
    monkeypatch.setattr(WindowTree, "grow", lambda tree, options: begun.append(tree) or grow(tree, options))
    monkeypatch.setattr(Solver, "branch", lambda solver, options: None)
    instance = co.generate("mosp", **FEW | {"jobs": 40, "clusters": 3, "slots": 24, "seed": 73})
    params = {"windows": {"certify_pace": 0.01}, "beam": {"most_jobs": 0}}
    solution = co.solve(instance, "price", work_limit=8, params=params)
    assert solution.work < 7
    assert len(begun) == 1
    assert solution.certificate["kind"] == "windows"
    assert co.check(instance, solution).violations == ()

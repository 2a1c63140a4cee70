"""What a method claims and its certificate does not prove never reaches a solution."""

from dataclasses import replace

import numpy as np
import pytest
from cli_support import run as run_command
from conftest import ROOT

import carbonopt as co
from carbonopt.core.options import Options
from carbonopt.core.registry import problem_of
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.judge import Run, judged

RUN = Run("lp", {}, 0.0, mip_rel_gap=1e-4)


@pytest.mark.parametrize(
    ("name", "method"),
    [("crowd", "lp"), ("window_fluid_2p975_2p975", "lp"), ("gpuqueue", "lp"), ("reservedpulls_3", "lp")],
)
def test_a_bound_beyond_what_is_proven_is_cut_to_it(tiny, name, method):
    instance = tiny[name]
    found = problem_of(instance.problem).run(method, instance, Options())
    assert found.certificate is not None
    assert found.bound is not None
    proven, _ = problem_of(instance.problem).role("proven_bound")(instance, found.certificate, found.info)
    wrong = found.bound + (0.1 if instance.sense == "min" else -0.1)
    claim = replace(found, bound=wrong, schedule=None, certificate={**found.certificate, "bound": wrong})
    with pytest.warns(UserWarning, match="does not hold"):
        solution = judged(instance, claim, RUN)
    assert solution.bound == proven
    assert solution.certificate is not None
    assert "claim_not_proven" in solution.info
    assert not co.check(instance, solution).violations


def test_an_infeasibility_that_is_not_proven_is_unknown(tiny):
    instance = next(found for found in tiny.values() if found.problem == "elastic")
    slots, jobs = instance.time.slots, len(instance.jobs)
    nothing = {"kind": "shortage", "prices": [0] * slots, "work_prices": [0] * jobs}
    with pytest.warns(UserWarning, match="does not prove that there is no schedule"):
        solution = judged(instance, Outcome(Status.INFEASIBLE, certificate=nothing), RUN)
    assert (solution.status, solution.certificate, solution.bound) == (Status.UNKNOWN, None, None)


def test_a_certificate_that_is_none_takes_the_bound_with_it(tiny):
    outcome = Outcome(Status.OPTIMAL, bound=0.1, certificate={"kind": "wishes", "bound": 0.1})
    with pytest.warns(UserWarning, match="must be 'lagrangian'"):
        solution = judged(tiny["crowd"], outcome, RUN)
    assert (solution.status, solution.certificate, solution.bound) == (Status.UNKNOWN, None, None)


def test_a_method_that_only_bounds_refuses_a_start(tiny):
    start = co.solve(tiny["crowd"], "greedy-clean")
    with pytest.raises(co.UnsupportedError, match="takes no initial solution"):
        co.solve(tiny["crowd"], "lp", initial_solution=start)


@pytest.mark.parametrize("method", ["milp", "lp"])
@pytest.mark.parametrize("name", ["infeasible", "limitnone", "overload"])
def test_no_schedule_is_proven_by_prices_where_the_relaxation_has_none(tiny, name, method):
    solution = co.solve(tiny[name], method)
    report = co.check(tiny[name], solution)
    assert solution.status == "infeasible"
    assert report.proven_infeasible
    assert report.violations == ()
    assert solution.certificate is not None
    none = {**solution.certificate, "prices": np.zeros_like(solution.certificate["prices"])}
    none |= {"work_prices": [0] * len(tiny[name].jobs)} if name == "overload" else {}
    none |= {"multipliers": None} if name == "limitnone" else {}
    weaker = co.check(tiny[name], replace(solution, certificate=none))
    assert not weaker.proven_infeasible
    assert [violation.constraint for violation in weaker.violations] == ["certificate"]


def test_no_schedule_on_the_word_of_the_tree_is_told_as_such(tmp_path):
    """Two jobs fit by halves of a slot, and not whole."""
    file = next((ROOT / "instances/tiny").glob("elastic-tiny_halves*"))
    done = run_command("solve", file, "-m", "milp", "-o", tmp_path / "s.json")
    assert (
        done.exit_code,
        "no schedule exists (the word of HiGHS, without a certificate: not rechecked)" in done.stderr,
    ) == (
        1,
        True,
    )
    solution = co.read_solution(tmp_path / "s.json")
    assert (solution.status, solution.certificate) == ("infeasible", None)
    assert solution.info["infeasible_by"] == "HiGHS, without a certificate: not rechecked"
    assert run_command("check", file, tmp_path / "s.json").exit_code == 1


def test_multipliers_that_rounding_breaks_leave_the_word_of_the_solver(tiny):
    """HiGHS's tolerances may call infeasible what the prices do not prove."""
    shape = tiny["infeasible"].clusters.capacity.shape
    nothing = {"kind": "farkas", "prices": np.zeros(shape)}
    outcome = Outcome(Status.INFEASIBLE, certificate=nothing, info={"highs_status": "Infeasible"})
    solution = judged(tiny["infeasible"], outcome, RUN)
    assert (solution.status, solution.certificate) == (Status.INFEASIBLE, None)
    assert solution.info["infeasible_by"] == "HiGHS, without a certificate: not rechecked"

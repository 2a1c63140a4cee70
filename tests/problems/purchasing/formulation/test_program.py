"""The programs over slots, and what milp, lp and no-wait make of them."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import ROOT, load_module
from purchasing_random import by_hand, continuous

import carbonopt as co
from carbonopt.problems.purchasing.data.file import from_dict
from carbonopt.problems.purchasing.data.instance import Limits, Spot, Weights
from carbonopt.problems.purchasing.formulation.program import estimate_size
from carbonopt.problems.purchasing.verify.check import check

reference = load_module(ROOT / "tests/reference/brute_force_purchasing.py")
tiny_purchasing = load_module(ROOT / "instances/tiny_purchasing.py")
pytestmark = pytest.mark.filterwarnings("ignore:.*coefficients span:UserWarning")  # of random moments
MODELS = ("splitting", "no-split", "suspend-resume")
TINY = {raw["name"].split("-")[1].removeprefix("tiny_"): raw for raw in tiny_purchasing.tiny_instances()}
OPTIMA = {
    "cleanhour_2": 2, "reservedpulls_3": 3, "nobreak_10": 10, "suspendresume_3": 3, "split_1": 1, "nosplit_2": 2,
    "largerfirst_1": 1, "largejob_4": 4, "spotpays_0p7585": 0.7585446706, "spotdoesnotpay_1": 1, "spotemits_2": 2,
    "spotshort_2p2": 2.2, "reserveone_1p6": 1.6, "reservenone_4": 4, "limitwaits_1": 1,
    "limitspot_1p7585": 1.7585446706, "limitnone": None,
}  # fmt: skip


@pytest.mark.parametrize("name", OPTIMA)
def test_hand_written_instances(name: str) -> None:
    assert set(TINY) == set(OPTIMA)
    instance, optimum = from_dict(TINY[name]), OPTIMA[name]
    solution, bound = co.solve(instance, "milp", mip_rel_gap=0), co.solve(instance, "lp")
    if optimum is None:
        assert (solution.status, bound.status) == ("infeasible", "infeasible")
        return
    assert (solution.status, solution.objective) == ("optimal", pytest.approx(optimum, abs=1e-9))
    assert co.check(instance, solution).violations == co.check(instance, bound).violations == ()
    assert bound.bound <= optimum + 1e-9


def test_the_number_of_reserved_cpus_is_told() -> None:
    assert co.solve(from_dict(TINY["reserveone_1p6"]), "milp").info["reserved_cpus"] == 1
    assert co.solve(from_dict(TINY["reservenone_4"]), "no-wait").info["reserved_cpus"] == 0


def test_blocks() -> None:
    """Two jobs of an hour that may wait for one: three starts each at whole hours, no other is of use."""
    instance = from_dict(TINY["reservedpulls_3"])
    program = co.formulate(instance)
    assert {name: block.size for name, block in program.variables.items()} == {"x": 4, "overflow": 2}
    assert {name: block.size for name, block in program.constraints.items()} == {"assign": 2, "load": 2}
    within = by_hand([1] * 6, [(0.25, 1, 1)], wait=1.0, reserved_cpus=1)
    program = co.formulate(within)
    assert program.variables["x"].size == 3  # 0.25, 1 and 1.25; an edge less the length is an edge
    assert program.variables["y"].size == program.constraints["move"].size == 2
    assert "y" not in co.formulate(within, "lp").variables
    with pytest.raises(co.UnsupportedError, match="must be 'milp' or 'lp'"):
        co.formulate(within, "qp")


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("limited", [False, True])
def test_the_estimate_is_never_too_small(model: str, limited: bool) -> None:
    for seed in range(10):
        instance = continuous(seed, model, [None, 0.0, 0.3][seed % 3], seed % 2 == 0, limited)
        program = co.formulate(instance)
        columns, nonzeros = estimate_size(instance)
        free = instance.time.slots + 1 + len(instance.jobs)
        assert program.columns <= columns + free
        assert program.nonzeros <= 2 * nonzeros + 4 * free


@pytest.mark.parametrize("kind", reference.KINDS)
def test_optima_of_whole_slots(kind: str) -> None:
    for seed in range(4):
        raw = reference.random_instance(seed, kind)
        optimum, schedule, reserved = reference.brute_force(raw)
        instance = from_dict(raw)
        solution = co.solve(instance, "milp", mip_rel_gap=0, time_limit=None)
        if optimum is None:
            assert solution.status == "infeasible"
            continue
        assert solution.objective == pytest.approx(optimum, rel=1e-6, abs=1e-9)
        assert solution.status == "optimal"
        report = check(instance, schedule, {"reserved_cpus": reserved})
        assert (report.violations, report.objective) == ((), pytest.approx(optimum, rel=1e-9))


@pytest.mark.parametrize("model", MODELS)
def test_limits_are_kept_and_their_multipliers_certify(model: str) -> None:
    solved = 0
    for seed in range(12):
        instance = continuous(seed, model, [None, 0.0, 0.3][seed % 3], seed % 4 == 0)
        free = co.solve(instance, "no-wait").metrics
        limits = Limits(free["carbon_kg"] * 0.9, free["cost_usd"] * 1.05, 2.0)
        instance = instance.with_objective(Weights(0, 1, 0) if seed % 2 else Weights(1, 0, 0.01), limits)
        solution, bound = co.solve(instance, "milp", time_limit=None, mip_rel_gap=0.05), co.solve(instance, "lp")
        assert co.check(instance, solution).violations == co.check(instance, bound).violations == ()
        if solution.has_solution:
            solved += 1
            assert bound.bound <= solution.objective + 1e-9
            assert solution.metrics["mean_wait_hours"] <= 2 + 1e-9
    assert solved >= 4


class TestNoWait:
    def test_first_come_first_served(self) -> None:
        instance = by_hand([1] * 12, [(0, 2, 1), (1, 2, 2), (2, 1, 1)], wait=2.0, reserved_cpus=2, model="no-split")
        solution = co.solve(instance, "no-wait")
        assert solution.columns["option"] == ["reserved", "on-demand", "reserved"]
        assert solution.metrics["usage_usd"] == 4

    def test_shares_where_it_may(self) -> None:
        instance = by_hand([1] * 12, [(0, 2, 1), (1, 2, 2), (2, 1, 1)], wait=2.0, reserved_cpus=2)
        solution = co.solve(instance, "no-wait")
        assert set(solution.columns["option"]) == {"shared"}
        assert solution.metrics["usage_usd"] == pytest.approx(1 + 1)

    def test_reserves_what_is_used_for_long_enough(self) -> None:
        """Over 10 h a reserved CPU costs as much as 4 h on demand: of the loads 3, 2, 1 those of 5 h and more pay."""
        jobs = [(0, 9, 1), (0, 5, 1), (0, 3, 1)]
        solution = co.solve(by_hand([1] * 10, jobs, wait=0.0, reserved_cpus=None), "no-wait")
        assert solution.info["reserved_cpus"] == 2
        assert solution.metrics["cost_usd"] == pytest.approx(2 * 4 + 3)

    def test_says_so_where_a_limit_is_exceeded(self) -> None:
        solution = co.solve(from_dict(TINY["limitwaits_1"]), "no-wait")
        assert (solution.status, solution.has_solution) == ("unknown", False)


def test_a_schedule_to_start_from_is_never_made_worse() -> None:
    instance = co.generate("purchasing", jobs=40, arrival_hours=12, seed=2, reserved_share=0.5)
    start = co.solve(instance, "milp", time_limit=None, mip_rel_gap=0.05)
    again = co.solve(instance, "milp", time_limit=0.0, initial_solution=start)
    assert again.objective <= start.objective + 1e-9


def test_no_jobs() -> None:
    for model in MODELS:
        for reserved in (0, 2, None):
            instance = by_hand([1.0, 2.0], [], model=model, reserved_cpus=reserved)
            for method in ("milp", "lp", "no-wait"):
                solution = co.solve(instance, method)
                assert co.check(instance, solution).violations == ()
                assert solution.objective in (0, None)


def test_spot_is_used_at_its_best_start() -> None:
    instance = by_hand([9, 1, 1, 1, 9, 9], [(0.0, 1.0, 1.0)], wait=3.0, spot=Spot(1.0, 1.0), weights=Weights(1, 2, 0))
    solution = co.solve(instance, "milp", mip_rel_gap=0)
    assert solution.columns["option"] == ["spot"]
    fine = [
        check(instance, {"job": ["j0"], "start_hours": [s], "end_hours": [s + 1], "option": ["spot"]}).objective
        for s in np.linspace(0, 3, 3001)
    ]
    assert min(fine) - 1e-3 <= solution.objective <= min(fine) + 1e-12
    assert solution.status == "optimal"

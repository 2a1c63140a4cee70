"""Method `lp-rounding`: whole servers from the fluid optimum, with its bound."""

from __future__ import annotations

import pytest
from elastic_support import by_hand, random_instance, reference

import carbonopt as co
from carbonopt.core.errors import RefusedError
from carbonopt.problems.elastic.data.file import from_dict

METHOD = "lp-rounding"


@pytest.mark.parametrize("kind", ["unit", "decreasing", "general"])
def test_between_its_bound_and_nothing_better_than_the_optimum(kind: str) -> None:
    found = 0
    for seed in range(25):
        raw = reference.random_instance(seed, kind)
        optimum, _ = reference.brute_force(raw)
        instance = from_dict(raw)
        solution = co.solve(instance, METHOD)
        report = co.check(instance, solution)
        assert report.violations == ()
        if solution.status == "infeasible":
            assert report.proven_infeasible
            assert optimum is None
            continue
        assert solution.status in ("optimal", "feasible", "unknown")
        assert report.proven_bound == pytest.approx(solution.bound, rel=1e-9, abs=1e-12)
        if optimum is not None:
            assert solution.bound <= optimum * (1 + 1e-9)
        if solution.has_solution:
            found += 1
            assert optimum is not None
            assert optimum * (1 - 1e-9) <= solution.objective
            if solution.status == "optimal":
                assert solution.objective <= optimum * (1 + 1.1e-4)
    assert found >= 8


def test_whole_servers_are_kept() -> None:
    """The fluid optimum of rigid jobs with whole lengths is whole."""
    instance = by_hand(1, [2, 1, 4], (0, 1, 1, [1]), (1, 1, 1, [1]))
    solution = co.solve(instance, METHOD)
    assert (solution.status, solution.objective) == ("optimal", pytest.approx(3))


def test_parts_are_completed_by_the_cheapest_servers_that_fit() -> None:
    """Fluid: one server in slot 0 and half of one in slot 1, or parts of a second; whole: 4 g is best."""
    solution = co.solve(by_hand(2, [2, 3], (0, 1.5, 0, [1, 0.6])), METHOD)
    assert (solution.bound, solution.objective) == (pytest.approx(3.5), pytest.approx(4))
    assert solution.gap == pytest.approx(0.125)


def test_no_jobs() -> None:
    solution = co.solve(by_hand(3, [1, 2]), METHOD)
    assert (solution.status, solution.objective, solution.bound) == ("optimal", 0, 0)


def test_of_the_fluid_model_it_is_the_fluid_optimum() -> None:
    instance = by_hand(3, [1, 4, 100], (0, 2.4, 0, [1, 0.5]), (0, 1.7, 1, [1, 0.7]), model="fluid")
    solution = co.solve(instance, METHOD)
    assert (solution.status, solution.objective) == ("optimal", pytest.approx(9.24, rel=1e-7))


def test_where_whole_servers_do_not_fit_it_says_unknown() -> None:
    """Two halves of a slot fit into a server; two whole servers do not."""
    instance = by_hand(1, [5], *[(0, 0.5, 0, [1])] * 2)
    solution = co.solve(instance, METHOD)
    assert (solution.status, solution.has_solution) == ("unknown", False)
    assert solution.bound == pytest.approx(5, rel=1e-6)
    assert co.solve(instance, "milp").status == "infeasible"
    half = by_hand(1.5, [5], *[(0, 0.5, 0, [1])] * 3)  # no more than one whole server: the LP knows as well
    assert co.solve(half, METHOD).status == "infeasible"


def test_slots_without_capacity_and_a_block_that_fits_nowhere() -> None:
    instance = by_hand([0, 2, 0, 1], [1, 9, 1, 5], (0, 1.2, 2, [1, 0.5]))
    solution = co.solve(instance, METHOD)
    assert solution.has_solution
    assert set(solution.columns["slot"]) <= {1, 3}


def test_the_seed_decides_the_answer() -> None:
    instance = random_instance(2, "decreasing", 12, 14, model="integer")
    first, second = (co.solve(instance, METHOD, seed=7) for _ in range(2))
    assert first.columns == second.columns
    assert first.bound == second.bound


@pytest.mark.parametrize("method", ["price", "lp-rounding", "polymatroid-greedy"])
def test_a_price_on_switching_is_refused(method: str) -> None:
    instance = by_hand(3, [1, 3, 1], (0, 2, 1, [1]), objective={"switching_g_per_server": 10})
    with pytest.raises(RefusedError, match=f"method '{method}' does not respect switching price.*must be 'milp'"):
        co.solve(instance, method)
    auto = co.solve(instance, mip_rel_gap=0)
    assert auto.method == "milp"
    assert auto.objective == pytest.approx(4 + 2 * 10)

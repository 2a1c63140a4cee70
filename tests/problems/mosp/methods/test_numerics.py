"""Instances on which absolute tolerances, scales and rounding once led to a wrong answer."""

from __future__ import annotations

import numpy as np
import pytest

import carbonopt as co
from carbonopt.problems.mosp.data.instance import Clusters, MospInstance, MospJobs
from carbonopt.problems.mosp.data.objectives import CarbonObjective, CaspianObjective

pytestmark = pytest.mark.filterwarnings("ignore:.*six orders of magnitude")


def base(capacity, jobs, objective, g_per_kwh=None, slots=2):
    """Return an instance of one resource; `jobs` are (arrival, duration, deadline, demand), capacity one a cluster."""
    g_per_kwh = np.full((1, slots), 100.0) if g_per_kwh is None else np.atleast_2d(g_per_kwh)
    arrival, duration, deadline, demand = (np.array(column, dtype=float) for column in zip(*jobs, strict=True))
    names = tuple(f"c{j}" for j in range(len(capacity)))
    return MospInstance(
        name="numerics",
        carbon=co.CarbonSignal(("Z",), g_per_kwh, co.TimeGrid(slots)),
        resources=("u",),
        clusters=Clusters(
            names, ("Z",) * len(names), np.array(capacity, dtype=float)[:, None], np.full((len(names), 1), 1000.0)
        ),
        jobs=MospJobs(tuple(f"j{i}" for i in range(len(jobs))), arrival, duration, deadline, demand[:, None]),
        objective=objective,
    )


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("level", [1e-4, 1e-6, 1e-8])
def test_a_large_rejection_price_does_not_blur_small_costs(random_raw, brute_force, level, seed):
    """HiGHS's tolerances are absolute: scaled by the price alone, bounds came out 17 % too high."""
    from carbonopt.problems.mosp.data.file import from_dict

    raw = random_raw(seed, "carbon")
    raw["objective"] = {
        "kind": "carbon",
        "weights": {"carbon_kg": level, "tardiness_slots": 0.0, "completion_slots": 0.0},
        "rejection_price": 1.0,
    }
    optimum, _ = brute_force(raw)
    for method in ("milp", "lp", "lp-rounding"):
        solution = co.solve(from_dict(raw), method, mip_rel_gap=0)
        assert solution.bound <= optimum * (1 + 1e-9)
        if solution.status == "optimal" and solution.has_solution:
            assert solution.objective == pytest.approx(optimum, rel=1e-6)
        if method == "milp":
            assert solution.objective == pytest.approx(optimum, rel=1e-6)


def test_no_column_at_all_is_infeasible():
    instance = base([1], [(0, 3, 1, 1)], CarbonObjective())
    for method in ("milp", "lp", "lp-rounding", "lp-rounding-caspian"):
        assert co.solve(instance, method).status == "infeasible"


@pytest.mark.parametrize(("capacity", "demands"), [(1 - 0.9, [0.1, 0.05]), (0.3, [0.1 * 3]), (0.1 + 0.2, [0.1, 0.2])])
def test_demands_that_add_up_but_for_rounding_fit(capacity, demands):
    instance = base([capacity], [(0, 1, 2, demand) for demand in demands], CarbonObjective())
    for method in ("milp", "lp-rounding", "greedy-clean"):
        solution = co.solve(instance, method)
        assert solution.has_solution
        assert solution.status in ("optimal", "feasible")
        assert co.check(instance, solution).feasible
    assert co.diagnose(instance).feasible is True


def test_large_demands_are_not_rounded_away():
    """Two and two fit by 6e5 and 4e5 only if half a unit is overlooked."""
    jobs = [(0, 1, 2, demand) for demand in (600000, 400000.5, 500000, 499999.4)]
    required = base([1e6], jobs, CarbonObjective(1e-6, 0, 0), [100, 200])
    assert co.diagnose(required).feasible is False
    assert co.solve(required, "milp").status == "infeasible"
    priced = base([1e6], jobs, CarbonObjective(1e-6, 0, 0, 1000.0), [100, 200])
    solution = co.solve(priced, "milp")
    assert solution.has_solution
    assert solution.metrics["jobs_rejected"] == 1


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e7])
def test_units_of_the_resource_do_not_matter(unit):
    instance = base([unit], [(0, 1, 1, unit)] * 2, CarbonObjective(), slots=1)
    assert co.solve(instance, "milp").status == "infeasible"
    assert co.diagnose(instance).feasible is False
    report = co.check(instance, co.solve(base([2 * unit], [(0, 1, 1, unit)] * 2, CarbonObjective(), slots=1), "milp"))
    assert {violation.constraint for violation in report.violations} >= {"capacity", "instance"}


def test_one_forbidden_slot_of_huge_intensity():
    rng = np.random.default_rng(0)
    for huge in (1e10, 1e12, 1e14):
        g_per_kwh = rng.uniform(50, 500, 8)
        g_per_kwh[1] = huge
        jobs = [(0, 2, 8, 1.0)] * 3
        instance = base([1, 1], jobs, CarbonObjective(1.0, 0.1, 0.005), g_per_kwh, slots=8)
        for method in ("milp", "lp", "lp-rounding"):
            solution = co.solve(instance, method)
            assert solution.status != "error"
            assert co.check(instance, solution).violations == ()


def test_normalizers_of_the_instance_may_be_any_numbers():
    objective = CaspianObjective(0.5, 1.0, 1.0, normalizers=(1.0, 1.0, 1.0))
    instance = base([1, 1], [(0, 1, 2, 1.0)] * 3, objective)
    for method in ("milp", "lp-rounding", "lp-rounding-caspian", "greedy-clean"):
        solution = co.solve(instance, method)
        assert solution.has_solution
        assert solution.metrics["z2"] == 3


def test_no_jobs():
    empty = base([1], [(0, 1, 2, 1.0)], CarbonObjective())
    raw = empty.to_dict()
    raw["jobs"] = {"name": [], "arrival": [], "duration": [], "deadline": [], "demand": {"u": []}, "eligible": None}
    from carbonopt.problems.mosp.data.file import from_dict

    instance = from_dict(raw)
    for method in ("milp", "lp-rounding", "greedy-clean"):
        solution = co.solve(instance, method)
        assert (solution.objective, len(solution.schedule)) == (0, 0)
        assert solution.status in ("optimal", "feasible")

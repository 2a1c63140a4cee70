"""models/elastic_pyomo.py and models/elastic_cvxpy.py against brute force and the package, on random instances."""

from itertools import pairwise

import pytest
from elastic_models_support import FLUID_KINDS, KINDS, exactly, fluid, integer, linear, recomputed, reference
from loop_support import for_each


@pytest.mark.parametrize("kind", KINDS)
@for_each(seed=range(12))
def test_equals_brute_force(seed: int, kind: str) -> None:
    data = reference.random_instance(seed, kind)
    best, schedule = reference.brute_force(data)
    result = integer.solve(data)
    assert result["objective"] == exactly(best)
    assert result["status"] == ("infeasible" if best is None else "optimal")
    if best is not None:
        assert recomputed(data, schedule) == exactly(best)
        assert recomputed(data, result["schedule"]) == exactly(best)


@pytest.mark.parametrize("kind", FLUID_KINDS)
@for_each(seed=range(12))
def test_fluid_models_agree(seed: int, kind: str) -> None:
    data = fluid(reference.random_instance(seed, kind))
    one, other = linear.solve(data), integer.solve(data)
    assert one["objective"] == exactly(other["objective"])
    assert one["status"] == other["status"]
    whole = reference.brute_force({**data, "model": "integer"})[0]
    if whole is None:
        return
    assert one["objective"] <= whole + 1e-6
    assert recomputed(data, one["schedule"]) == recomputed(data, other["schedule"]) == exactly(one["objective"])
    if kind == "unit":  # its matrix is totally unimodular
        assert one["objective"] == exactly(whole)


def test_random_instances_are_of_their_kind() -> None:
    for kind in KINDS:
        drawn = [reference.random_instance(seed, kind) for seed in range(60)]
        assert len({data["name"] for data in drawn}) == 60
        assert 5 <= sum(reference.brute_force(data)[0] is None for data in drawn) <= 20
        profiles = [profile for data in drawn for profile in data["profiles"].values()]
        watts, gains = ([profile[f"marginal_{name}"] for profile in profiles] for name in ("watts", "throughput"))
        if kind == "general":
            assert {profile["k_min"] for profile in profiles} == {1, 2, 3}
            assert any(row != sorted(row) for row in watts)
        else:
            assert all(profile["k_min"] == 1 for profile in profiles)
            assert all(row == sorted(row) for row in watts)
        if kind in ("decreasing", "switching"):
            assert all(p > q for row in gains for p, q in pairwise(row))


@pytest.mark.slow
@for_each(seed=range(40))
@pytest.mark.parametrize("kind", KINDS)
def test_package_equals_model_and_brute_force(seed: int, kind: str) -> None:
    import carbonopt
    from carbonopt.problems.elastic.data.file import from_dict

    data = reference.random_instance(seed, kind)
    best, _ = reference.brute_force(data)
    assert integer.solve(data)["objective"] == exactly(best)
    solution = carbonopt.solve(from_dict(data), method="milp", mip_rel_gap=0, time_limit=None)
    if best is None:
        assert solution.status == "infeasible"
    else:
        assert solution.objective == exactly(best)


@pytest.mark.slow
@pytest.mark.parametrize("kind", FLUID_KINDS)
@for_each(seed=range(40))
def test_package_equals_models_where_levels_are_shared(seed: int, kind: str) -> None:
    import carbonopt
    from carbonopt.problems.elastic.data.file import from_dict

    data = fluid(reference.random_instance(seed, kind))
    best = linear.solve(data)["objective"]
    assert integer.solve(data)["objective"] == exactly(best)
    solution = carbonopt.solve(from_dict(data), method="lp", time_limit=None)
    if best is None:
        assert solution.status == "infeasible"
    else:
        assert solution.objective == exactly(best)

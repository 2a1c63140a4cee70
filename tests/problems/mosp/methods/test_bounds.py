import numpy as np
import pytest

import carbonopt as co
from carbonopt.problems.mosp.formulation.objective import placement_value
from carbonopt.problems.mosp.methods.bounds import free_bound, lagrangian_bound


def test_by_hand(tiny):
    """Free: every job in the cleanest place, 3 x 0.1. At 0.1 kg on (clean, 0): 3 x 0.2 - 0.1."""
    value = placement_value(tiny["crowd"])
    assert free_bound(tiny["crowd"], value) == pytest.approx(0.3)
    prices = np.zeros((2, 1, 2))
    prices[0, 0, 0] = 0.1
    assert lagrangian_bound(tiny["crowd"], value, prices) == pytest.approx(0.5)
    prices[0, 0] = [0.3, 0.2]
    assert lagrangian_bound(tiny["crowd"], value, prices) == pytest.approx(3 * 0.4 - 0.5)


@pytest.mark.parametrize("kind", ["carbon", "caspian"])
def test_any_prices_bound_the_optimum(random_instance, kind):
    rng = np.random.default_rng(5)
    for seed in range(25):
        instance = random_instance(seed, kind)
        solution = co.solve(instance, "milp", mip_rel_gap=0, time_limit=None)
        if not solution.has_solution:
            continue
        bars = solution.info.get("normalizers")
        value = placement_value(instance, tuple(bars.values()) if bars else None)
        for scale in (0.0, 0.01, 0.1, 1.0):
            bound = lagrangian_bound(instance, value, scale * rng.random(instance.clusters.capacity.shape))
            assert bound is not None
            if instance.sense == "min":
                assert bound <= solution.objective + 1e-9
            else:
                assert bound >= solution.objective - 1e-9


def test_lp_duals_give_back_the_lp_optimum(small_bench):
    solution = co.solve(small_bench, "lp")
    assert solution.bound == pytest.approx(solution.info["lp_objective"], rel=1e-8)
    value = placement_value(small_bench)
    prices = np.array(solution.certificate["prices"])
    assert lagrangian_bound(small_bench, value, prices) == solution.bound


def test_a_job_that_can_run_nowhere_has_no_bound(tiny):
    raw = tiny["shift"].to_dict()
    raw["jobs"]["demand"]["gpu"] = [5]
    from carbonopt.problems.mosp.data.file import from_dict

    instance = from_dict(raw)
    assert free_bound(instance, placement_value(instance)) is None

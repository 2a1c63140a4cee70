"""`polymatroid-greedy`: optimal where every unit does one slot of work for the same energy."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from elastic_support import by_hand, changed, random_instance, reference

import carbonopt as co
from carbonopt.core.options import Options
from carbonopt.milp import highs
from carbonopt.problems.elastic.data.file import from_dict
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.verify.certificate import proven_bound

METHOD = "polymatroid-greedy"


def compared(instance: ElasticInstance, optimum: float | None) -> str:
    """Compare with the optimum (None: there is no schedule) and return the status."""
    solution = co.solve(instance, METHOD)
    report = co.check(instance, solution)
    assert report.violations == ()
    if optimum is None:
        assert solution.status == "infeasible"
        assert report.proven_infeasible
        assert proven_bound(instance, solution.certificate, {}) == (np.inf, ())
    else:
        assert solution.status == "optimal"
        assert solution.objective == pytest.approx(optimum, rel=1e-7)
        assert solution.bound == pytest.approx(solution.objective, rel=1e-12)
    return str(solution.status)


def lp_optimum(instance: ElasticInstance) -> float | None:
    result = highs.solve(co.formulate(instance, "lp"), Options(time_limit=None))
    assert result.status in ("optimal", "infeasible")
    return result.objective if result.status == "optimal" else None


def agree(seeds: range, model: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for seed in seeds:
        jobs, slots = 2 + seed % 39, 4 + seed % 17
        instance = random_instance(seed, "unit", jobs, slots, model=model)
        found[compared(instance, lp_optimum(instance))] += 1
    return found


@pytest.mark.parametrize("model", ["integer", "fluid"])
def test_its_optimum_is_that_of_the_linear_program(model: str) -> None:
    found = agree(range(30), model)
    assert min(found["optimal"], found["infeasible"]) >= 3


@pytest.mark.slow
def test_its_optimum_is_that_of_the_linear_program_on_600_instances() -> None:
    found = agree(range(100, 700), "integer")
    assert min(found["optimal"], found["infeasible"]) >= 60


@pytest.mark.parametrize("seed", range(60))
def test_its_optimum_is_that_of_trying_all(seed: int) -> None:
    raw = reference.random_instance(seed, "unit")
    for profile in raw["profiles"].values():
        profile["marginal_watts"] = [60.0] * len(profile["marginal_watts"])
    compared(from_dict(raw), reference.brute_force(raw)[0])


def test_rerouting_and_two_sizes_of_job() -> None:
    """What Algorithm 1 cannot undo: b takes the cheap slot from a."""
    solution = co.solve(by_hand(1, [2, 1, 4], (0, 1, 1, [1]), (1, 1, 1, [1])), METHOD)
    assert solution.columns == {"job": ["a", "b"], "slot": [0, 1], "servers": [1, 1]}
    wide = co.solve(by_hand(3, [1, 2, 9], (0, 3, 0, [1, 1]), (0, 1, 2, [1])), METHOD)
    assert wide.objective == pytest.approx(3 * 1 + 1 * 2)


def test_capacity_by_slot_and_slots_of_none() -> None:
    solution = co.solve(by_hand([0, 1, 0, 2], [1, 5, 1, 3], *[(0, 1, 3, [1])] * 3), METHOD)
    assert solution.objective == pytest.approx(5 + 3 + 3)
    none = co.solve(by_hand([0, 0], [1, 1], (0, 1, 1, [1])), METHOD)
    assert none.status == "infeasible"


def test_a_capacity_of_half_a_server_is_none_for_whole_servers() -> None:
    instance = by_hand(1.5, [3, 1], (0, 1, 1, [1]), (0, 1, 1, [1]))
    assert co.solve(instance, METHOD).objective == pytest.approx(4)
    assert co.solve(by_hand(0.5, [3, 1], (0, 1, 1, [1])), METHOD).status == "infeasible"


@pytest.mark.parametrize("model", ["integer", "fluid"])
def test_no_jobs(model: str) -> None:
    solution = co.solve(by_hand(3, [1, 2], model=model), METHOD)
    assert (solution.status, solution.objective, solution.bound) == ("optimal", 0, 0)


def test_free_carbon() -> None:
    instance = by_hand(1, [0, 0, 0], (0, 1, 1, [1]), (0, 2, 1, [1]), model="fluid")
    assert co.solve(instance, METHOD).objective == 0


class TestWhatItRefuses:
    base = by_hand(2, [1, 2], (0, 1, 1, [1, 1]))

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({("profiles", "a", "k_min"): 2}, "every k_min must be 1"),
            (
                {("profiles", "a", "marginal_throughput"): [1, 0.5]},
                "every marginal throughput must be 1, one is 0.5",
            ),
            (
                {("profiles", "a", "marginal_watts"): [1000, 1100]},
                "every unit must take the same energy, they take 1-1.1 kWh",
            ),
            ({("jobs", "length"): [0.5]}, "every length must be a whole number of slots"),
            (
                {("cluster", "capacity"): 1.5, ("model",): "fluid"},
                "in the fluid model every capacity must be a whole number",
            ),
        ],
    )
    def test_it_says_why(self, changes: dict[tuple[str, ...], Any], words: str) -> None:
        with pytest.raises(co.UnsupportedError, match=f"polymatroid-greedy needs unit gain: {words}"):
            co.solve(changed(self.base, changes), METHOD)

    def test_profiles_that_no_job_has_do_not_matter(self) -> None:
        other = {"k_min": 2, "marginal_throughput": [1, 0.5], "marginal_watts": [5, 6]}
        instance = changed(self.base, {("profiles", "other"): other})
        assert co.solve(instance, METHOD).objective == pytest.approx(1)

"""Cases at the edges: rounding, odd slots, luck, and policies that share."""

from __future__ import annotations

import numpy as np
import pytest

import carbonopt as co
from carbonopt.excess import excess_table, least
from carbonopt.problems.purchasing.data.instance import (
    Limits,
    PurchasingInstance,
    PurchasingJobs,
    Queue,
    Spot,
    Weights,
)
from carbonopt.problems.purchasing.verify.check import check
from carbonopt.simulation import Policy, State


def made(
    arrival: list[float], length: list[float], cpus: list[float], slots: int = 12, hours: float = 1.0, **terms: object
) -> PurchasingInstance:
    names = tuple(f"j{number}" for number in range(len(arrival)))
    signal = 100 + 50 * np.sin(np.arange(slots))
    defaults = {"queues": (Queue("all", float("inf"), 2.0),), "weights": Weights(1.0, 1.0, 0.01)}
    return PurchasingInstance(
        name="edge",
        carbon=co.CarbonSignal(("A",), signal[None], co.TimeGrid(slots, hours)),
        jobs=PurchasingJobs(names, np.array(arrival), np.array(length), np.array(cpus)),
        **{**defaults, **terms},  # type: ignore[arg-type]
    )


def test_sums_of_cpus_that_do_not_cancel_are_no_load() -> None:
    instance = made([0, 0, 0], [1, 1.5, 1], [0.1, 0.2, 0.3], reserved_cpus=0)
    names = list(instance.jobs.name)
    rows = {"job": names, "start_hours": [0.0] * 3, "end_hours": [1.0, 1.5, 1.0], "option": ["reserved"] * 3}
    found = check(instance, rows)
    assert [violation.constraint for violation in found.violations] == ["reserved"]


@pytest.mark.parametrize("hours", [0.3, 2.6, 3.3])
def test_slots_of_any_length_can_be_parted(hours: float) -> None:
    instance = made([0, 1], [1.5, 2.5], [1, 2], hours=hours, slots=40, reserved_cpus=1)
    found = co.solve(instance, "price", time_limit=None)
    assert found.gap is not None
    assert not co.check(instance, found).violations


def test_a_job_that_fits_by_rounding_fits_for_the_bound() -> None:
    instance = made([0], [1], [1 + 5e-10], reserved_cpus=1, model="no-split", weights=Weights(0.0, 1.0, 0.0))
    rows = {"job": ["j0"], "start_hours": [0.0], "end_hours": [1.0], "option": ["reserved"]}
    objective = check(instance, rows).objective
    assert objective is not None
    for method in ("lp", "milp", "price"):
        bound = co.solve(instance, method, time_limit=None).bound
        assert bound is None or bound <= objective + 1e-12


@pytest.mark.filterwarnings("ignore:.*coefficients span")
def test_very_many_reserved_cpus_are_not_exact() -> None:
    """Of 2e9 CPUs the checker's allowance is 2."""
    free = Weights(0.0, 1.0, 0.0)
    queues = (Queue("all", float("inf"), 0.0),)
    instance = made(
        [0, 3], [4, 4], [1e9, 1e9 + 1], reserved_cpus=2 * 10**9, model="no-split", weights=free, queues=queues
    )
    rows = {"job": ["j0", "j1"], "start_hours": [0.0, 3.0], "end_hours": [4.0, 7.0], "option": ["reserved"] * 2}
    objective = check(instance, rows).objective
    assert objective is not None
    assert (co.solve(instance, "lp").bound or 0.0) <= objective + 1e-9


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("model", ["splitting", "no-split", "suspend-resume"])
def test_what_is_claimed_is_what_check_confirms(seed: int, model: str) -> None:
    rng = np.random.default_rng(seed)
    arrival, length = rng.uniform(0, 4, 5), rng.uniform(0.1, 3, 5)
    limits = Limits(cost_usd=float(rng.uniform(0.2, 2))) if seed % 3 == 0 else Limits()
    instance = made(
        arrival.tolist(),
        length.tolist(),
        rng.uniform(0.2, 3, 5).tolist(),
        reserved_cpus=int(rng.integers(0, 4)),
        model=model,
        limits=limits,
        weights=Weights(float(rng.integers(0, 2)), float(rng.integers(0, 2)), float(rng.integers(0, 2))),
    )
    for method in ("lp", "price"):
        found = co.solve(instance, method, time_limit=None)
        if found.certificate is not None and str(found.status) != "infeasible":
            told = [str(violation) for violation in co.check(instance, found).violations]
            assert not [line for line in told if line.startswith("certificate")]


class TestExcess:
    def test_means_are_no_quantity(self) -> None:
        instance = made([0, 1], [1, 1], [1, 1])
        with pytest.raises(co.UnsupportedError, match="must be a sum over jobs"):
            least(instance, co.simulate(instance, "no-wait").metrics, "mean_wait_hours")

    @pytest.mark.parametrize("seed", range(4))
    def test_luck_with_evictions_is_no_skill(self, seed: int) -> None:
        """Whatever happened to the job, its policy decided the same."""
        queues = (Queue("all", float("inf"), 0.0),)
        instance = made([0], [2], [1], spot=Spot(3.0, 0.5), queues=queues, reserved_cpus=0)
        row = excess_table(instance, ["spot-first-no-wait"], seed=seed, time_limit=None).loc[0]
        assert row["excess_cost_usd"] > -1e-6
        assert row["excess_carbon_kg"] == pytest.approx(0, abs=1e-6)

    def test_a_policy_that_shares_is_held_to_no_other_model(self, tmp_path: object) -> None:
        class Shares(Policy):
            def on_arrival(self, state: State, job: int) -> None:
                state.start(job, "shared")

        instance = made([0, 0.5], [2, 2], [2, 2], reserved_cpus=3)
        row = excess_table(instance, [Shares()], split=True, time_limit=None).loc[0]  # type: ignore[list-item]
        assert row["due_to_heuristic"] >= -1e-9
        assert "due_to_splitting" not in row

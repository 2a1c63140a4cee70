"""Whether limits leave a schedule, and what about an instance looks like a mistake."""

from __future__ import annotations

import pytest
from purchasing_random import by_hand

import carbonopt as co
from carbonopt.problems.purchasing.data.instance import Limits, PurchasingInstance, Spot, Weights
from carbonopt.problems.purchasing.methods.diagnose import inspect


def limited(limits: Limits, reserved: int | None = 0) -> PurchasingInstance:
    return by_hand([3, 2, 1, 1], [(0, 1, 1), (0, 1, 1)], wait=2.0, reserved_cpus=reserved, limits=limits)


def test_without_limits_there_is_always_a_schedule() -> None:
    assert co.diagnose(limited(Limits())).feasible
    assert co.diagnose(by_hand([1.0], [])).feasible


@pytest.mark.parametrize(
    ("limits", "proof"),
    [
        (Limits(carbon_kg=6), "a schedule without waiting is within the limits"),
        (Limits(carbon_kg=2), "a schedule within the limits"),
        (Limits(carbon_kg=4, mean_wait_hours=1), "a schedule within the limits"),
        (Limits(mean_wait_hours=0), "a schedule without waiting is within the limits"),
    ],
)
def test_limits_that_can_be_kept(limits: Limits, proof: str) -> None:
    found = co.diagnose(limited(limits))
    assert (found.feasible, found.proof) == (True, proof)


@pytest.mark.parametrize(
    ("limits", "reserved", "message"),
    [
        (Limits(carbon_kg=1.9), 0, "the limit of 1.9 kg CO2eq cannot be kept: any schedule has at least 2"),
        (Limits(cost_usd=1.5), 0, "the limit of 1.5 $ cannot be kept: any schedule has at least 2"),
        (Limits(cost_usd=1.5), 1, "the limit of 1.5 $ cannot be kept: any schedule has at least 1.6"),
        (Limits(cost_usd=1.5), None, "the limit of 1.5 $ cannot be kept"),
        (
            Limits(carbon_kg=3, mean_wait_hours=1),
            0,
            "the limits of 3 kg CO2eq and 1 h of mean wait cannot be kept together",
        ),
    ],
)
def test_limits_that_cannot_be_kept(limits: Limits, reserved: int | None, message: str) -> None:
    found = co.diagnose(limited(limits, reserved))
    assert not found.feasible
    assert [finding.message for finding in found.findings] == [message]
    assert co.solve(limited(limits, reserved), "milp").status == "infeasible"


def test_inspection_warns_of_what_looks_like_a_mistake() -> None:
    def warnings(**other: object) -> str:
        return "\n".join(inspect(by_hand([1] * 30, [(0, 1, 2)], **{"wait": 2.0, **other}))["warnings"])

    assert warnings() == ""
    assert "5 CPUs are reserved, the jobs can never use more than 2 of them together" in warnings(reserved_cpus=5)
    assert "the smallest job needs 2 and may not split" in warnings(reserved_cpus=1, model="no-split")
    assert "all weights of the objective are 0" in warnings(weights=Weights(0, 0, 0))
    assert "no job may wait" in warnings(wait=0.0)
    assert "spot CPUs take jobs of up to 0.5 h: all jobs are longer" in warnings(spot=Spot(0.5))
    assert "the last job has ended after 3 h; reserved CPUs are paid for 30 h" in warnings(reserved_cpus=1)
    assert "the objective's carbon_kg (2e-09 at the most) cannot matter" in warnings(watts_per_cpu=1e-6)


def test_inspection_tells_the_size() -> None:
    found = inspect(by_hand([1] * 5, [(0, 1, 1)], wait=2.0))
    assert found["program_columns"] > 0
    assert found["program_nonzeros"] > found["program_columns"]

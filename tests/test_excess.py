"""Policies against the certified optimum at their own amounts."""

from __future__ import annotations

from dataclasses import replace

import pytest

import carbonopt as co
from carbonopt.excess import excess_table, least
from carbonopt.problems.purchasing.data.instance import PurchasingInstance, Spot
from carbonopt.problems.purchasing.methods.epsilon_constraints import at_equal
from carbonopt.simulate import policies_of
from carbonopt.simulation import ForecastModel

PARTS = ("forecast_errors", "forecast_window", "lengths", "heuristic", "splitting", "preemption")
SHORT = {
    "bound": {"iterations": 20, "subgradient_steps": 10},
    "rounds": {"rounds": 1, "most_sweeps": 50},
    "limits": {"trials": 4},
}
QUICK = {"time_limit": None, "mip_rel_gap": 1e-3, "params": SHORT}


def days(seed: int = 1, **options: object) -> PurchasingInstance:
    instance = co.generate("purchasing", jobs=20, arrival_hours=20, reserved=3, seed=seed, **options)
    assert isinstance(instance, PurchasingInstance)
    return instance


@pytest.mark.slow
def test_nobody_is_below_what_is_proven() -> None:
    table = excess_table(days(), **QUICK)
    assert set(table["policy"]) == set(policies_of(days()))
    assert (table["excess_carbon_kg"] > -1e-9).all()
    assert (table["excess_cost_usd"] > -1e-9).all()
    assert (table["reached_carbon_kg"] >= table["least_carbon_kg"] * (1 - 1e-9)).all()
    assert (table["reached_carbon_kg"] <= table["carbon_kg"] * (1 + 1e-9)).all()  # at worst, the policy's own schedule


def test_savings_are_over_the_first_policy() -> None:
    table = excess_table(days(), ["no-wait", "carbon-time"], quantities=(), **QUICK).set_index("policy")
    assert table.loc["no-wait", "saving_vs_no_wait"] == 0
    carbon = table["carbon_kg"]
    assert table.loc["carbon-time", "saving_vs_no_wait"] == 1 - carbon["carbon-time"] / carbon["no-wait"]


def test_wait_awhile_alone_is_optimal() -> None:
    """Without reserved CPUs jobs are independent, and each run of cleanest hours emits least."""
    table = excess_table(replace(days(), reserved_cpus=0), ["wait-awhile"], quantities=("carbon_kg",), **QUICK)
    assert table.loc[0, "model"] == "suspend-resume"
    assert table.loc[0, "excess_carbon_kg"] == pytest.approx(0, abs=2e-3)


@pytest.mark.slow
def test_the_parts_add_up() -> None:
    forecast = ForecastModel(error=0.3, window_hours=24)
    table = excess_table(
        days(2),
        ["res-first-carbon-time", "ecovisor"],
        quantities=("carbon_kg",),
        split=True,
        forecast=forecast,
        **QUICK,
    )
    for _, row in table.iterrows():
        parts = [row[f"due_to_{part}"] for part in PARTS if row[f"due_to_{part}"] == row[f"due_to_{part}"]]
        assert sum(parts) == pytest.approx(row["excess_over_loosest"])
        assert row["excess_carbon_kg"] <= row["excess_over_loosest"]
        assert row["due_to_heuristic"] > -1e-9
    first = table.loc[0]
    assert first["due_to_splitting"] > -1e-9
    assert first["due_to_preemption"] > -1e-9


def test_the_least_cost_counts_what_is_prepaid() -> None:
    instance = days()
    metrics = co.simulate(instance, "carbon-time").metrics
    found = least(instance, metrics, "cost_usd", **QUICK)
    assert found.bound is not None
    assert found.bound >= metrics["prepaid_usd"] * (1 - 1e-9)
    assert found.bound <= metrics["cost_usd"] * (1 + 1e-9)


def test_a_spot_policy_is_measured_by_its_mean() -> None:
    """The bound is linear in the limits: it bounds means over seeds, not each single run."""
    instance = days(3, spot_max_length_hours=2.0, evictions_per_hour=0.2)
    runs = [co.simulate(instance, "spot-first-carbon-time", seed=seed).metrics for seed in range(40)]
    mean = {name: sum(run[name] for run in runs) / len(runs) for name in ("carbon_kg", "cost_usd", "mean_wait_hours")}
    found = least(instance, {**runs[0], **mean, "usage_usd": mean["cost_usd"] - runs[0]["prepaid_usd"]}, **QUICK)
    assert found.bound is not None
    assert found.bound <= mean["carbon_kg"] * 1.02  # within the standard error of 40 runs


def test_policies_need_what_they_buy() -> None:
    assert not any(name.startswith("spot") for name in policies_of(days()))
    assert "spot-first-carbon-time" in policies_of(replace(days(), spot=Spot(2.0)))


def test_an_unknown_quantity_is_told() -> None:
    metrics = co.simulate(days(), "no-wait").metrics
    with pytest.raises(co.UnsupportedError, match="quantity 'energy': must be 'carbon_kg', 'cost_usd'"):
        at_equal(days(), metrics, "energy")

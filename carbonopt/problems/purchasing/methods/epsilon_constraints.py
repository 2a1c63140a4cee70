"""One quantity minimised under limits on the others: epsilon-constraints, and optima at a policy's own amounts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from carbonopt.core.errors import UnsupportedError, one_of
from carbonopt.core.options import Schedule
from carbonopt.core.solution import Solution
from carbonopt.problems.purchasing.data.instance import Limits, PurchasingInstance, Weights
from carbonopt.problems.purchasing.verify.check import COLUMNS

OBJECTIVE_METRICS = {"carbon_kg": "carbon_kg", "cost_usd": "usage_usd", "mean_wait_hours": "wait_hours"}
"""Quantities that may be minimised or limited, and the metric that the objective is when one is minimised."""
COMMITMENTS = (("heuristic", "no-split"), ("splitting", "splitting"), ("preemption", "suspend-resume"))
"""Models from the tightest to the loosest, and what is due to what each allows beyond the one before."""


def limited(
    instance: PurchasingInstance, quantity: str, limits: Mapping[str, float], **changes: Any
) -> PurchasingInstance:
    """Return the instance that minimises one quantity under limits on others.

    Parameters
    ----------
    instance
        The instance; its own weights and limits are dropped.
    quantity
        One of `OBJECTIVE_METRICS`.
    limits
        Upper limit of each other quantity that has one.
    **changes
        Other fields of the instance, such as ``model`` or ``reserved_cpus``.

    Raises
    ------
    UnsupportedError
        For a quantity that is none.
    """
    for name in (quantity, *limits):
        if name not in OBJECTIVE_METRICS:
            raise UnsupportedError(f"quantity {name!r}: must be {one_of(tuple(OBJECTIVE_METRICS))}")
    weights = Weights(*(float(name == quantity) for name in OBJECTIVE_METRICS))
    return replace(instance, weights=weights, limits=Limits(**limits), **changes)


def quantities(instance: PurchasingInstance) -> Mapping[str, str]:  # noqa: ARG001
    """Return what may be minimised or limited, each with the metric that the objective is when it is minimised."""
    return OBJECTIVE_METRICS


def at_equal(
    instance: PurchasingInstance, metrics: Mapping[str, Any], quantity: str, model: str | None = None
) -> tuple[PurchasingInstance, str]:
    """Return the instance whose optimum is the least of one quantity at given amounts of the others.

    The reserved CPUs are those of the metrics too. Metrics may be means over several runs: a bound from
    prices is linear in the limits, and so it bounds means as well.

    Parameters
    ----------
    instance
        That a policy ran on.
    metrics
        Of the policy's schedule.
    quantity
        One of `OBJECTIVE_METRICS`.
    model
        Under which to optimise; None for the instance's own.

    Returns
    -------
    PurchasingInstance
        See `limited`.
    str
        The metric that its objective is.

    Raises
    ------
    UnsupportedError
        For a quantity that is none.
    """
    limits = {name: float(metrics[name]) for name in OBJECTIVE_METRICS if name != quantity}
    reserved = int(metrics["reserved_cpus"])
    found = limited(instance, quantity, limits, model=model or instance.model, reserved_cpus=reserved)
    return found, OBJECTIVE_METRICS[quantity]


def expected(instance: PurchasingInstance, solution: Solution) -> tuple[Schedule, dict[str, Any]]:
    """Return what a simulated policy decided, with evictions as an expectation, and the info to check it by.

    Jobs on spot CPUs are those of the policy whether they were evicted or not; an evicted one restarts on demand and
    takes nothing from others, so that the policy's other decisions do not depend on it.
    """
    assert solution.columns is not None
    info = {key: value for key, value in solution.info.items() if key != "evictions"}
    hours = dict(zip(instance.jobs.name, instance.jobs.length_hours.tolist(), strict=True))
    rows = list(zip(*(solution.columns[name] for name in COLUMNS), strict=True))
    on_spot = {job for job, _, _, option in rows if option == "spot"}
    decided = [
        (job, start, start + hours[job] if option == "spot" else end, option)
        for job, start, end, option in rows
        if option == "spot" or job not in on_spot
    ]
    return {name: [row[at] for row in decided] for at, name in enumerate(COLUMNS)}, info


def commitments(solution: Solution) -> tuple[tuple[str, str], ...]:
    """Return the models from a policy's own commitment to the loosest one, each with what it stands for."""
    assert solution.columns is not None
    if solution.info.get("model") == "suspend-resume":
        return (("heuristic", "suspend-resume"),)
    if "shared" in solution.columns["option"]:
        return (("heuristic", "splitting"), ("preemption", "suspend-resume"))
    return COMMITMENTS

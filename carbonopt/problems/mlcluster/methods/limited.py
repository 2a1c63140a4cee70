"""Carbon under a JCT budget: epsilon-constraints, and optima at a policy's own mean completion time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from carbonopt.core.errors import UnsupportedError, one_of
from carbonopt.problems.mlcluster.data.instance import MlClusterInstance
from carbonopt.problems.mlcluster.data.settings import Limits, Weights

OBJECTIVE_METRICS = {"added_carbon_kg": "added_carbon_kg", "mean_jct_hours": "jct_hours"}
"""Quantities that may be minimised, and the metric that the objective is when one is; the second may be limited."""


def limited(instance: MlClusterInstance, quantity: str, limits: Mapping[str, float]) -> MlClusterInstance:
    """Return the instance that minimises one quantity under limits on others.

    Parameters
    ----------
    instance
        The instance; its own weights and limits are dropped.
    quantity
        One of `OBJECTIVE_METRICS`.
    limits
        Upper limit of ``mean_jct_hours``, where there is one.

    Raises
    ------
    UnsupportedError
        For a quantity that is none, and for a limit on carbon.
    """
    if quantity not in OBJECTIVE_METRICS:
        raise UnsupportedError(f"quantity {quantity!r}: must be {one_of(tuple(OBJECTIVE_METRICS))}")
    unknown = [name for name in limits if name != "mean_jct_hours"]
    if unknown:
        raise UnsupportedError(f"{unknown[0]!r} cannot be limited: mean_jct_hours can")
    weights = Weights(float(quantity == "added_carbon_kg"), float(quantity == "mean_jct_hours"))
    return instance.with_objective(weights, Limits(**limits))


def quantities(instance: MlClusterInstance) -> Mapping[str, str]:  # noqa: ARG001
    """Return what may be minimised, each with the metric that the objective is when it is."""
    return OBJECTIVE_METRICS


def at_equal(
    instance: MlClusterInstance,
    metrics: Mapping[str, Any],
    quantity: str = "added_carbon_kg",
    model: str | None = None,  # noqa: ARG001
) -> tuple[MlClusterInstance, str]:
    """Return the instance whose optimum is the least carbon at a policy's own mean completion time.

    Parameters
    ----------
    instance
        That the policy ran on.
    metrics
        Of the policy's schedule.
    quantity
        ``added_carbon_kg``.
    model
        Not used: there is one.

    Returns
    -------
    MlClusterInstance
        See `limited`.
    str
        The metric that its objective is.
    """
    target = limited(instance, quantity, {"mean_jct_hours": float(metrics["mean_jct_hours"])})
    return target, OBJECTIVE_METRICS[quantity]

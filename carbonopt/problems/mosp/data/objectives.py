"""What a schedule of mosp is judged by: a sum of weighted costs with limits, or the objective of Caspian."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from carbonopt.core.errors import UnsupportedError, shown

LIMIT_ROUNDING = 1e-6
"""Excess of a quantity over its limit that counts as rounding, relative to the limit: it is a sum over all jobs."""


@dataclass(frozen=True)
class Limits:
    """Most of each quantity that a schedule may take (epsilon-constraints); None for no limit.

    Parameters
    ----------
    carbon_kg, energy_cost, tardiness_slots
        Of the metrics with these names.
    """

    carbon_kg: float | None = None
    energy_cost: float | None = None
    tardiness_slots: float | None = None

    def told(self) -> dict[str, float]:
        """Return the limits that are there, by quantity."""
        return {name: limit for name, limit in vars(self).items() if limit is not None}

    def allowed(self) -> dict[str, float]:
        """Return by quantity what still counts as within its limit."""
        return {name: limit + LIMIT_ROUNDING * max(abs(limit), LIMIT_ROUNDING) for name, limit in self.told().items()}


@dataclass(frozen=True)
class CarbonObjective:
    """Minimise carbon, tardiness, completion time and the cost of energy; every job runs or is paid for.

    Parameters
    ----------
    carbon_kg, tardiness_slots, completion_slots
        Weights omega_1..omega_3 of the sums over jobs.
    rejection_price
        Cost of a job that does not run; None: every job must run.
    energy_cost
        Weight of what the energy costs [1/currency]; above 0 the instance needs an `energy_price`.
    limits
        Most carbon, energy cost and tardiness.
    """

    carbon_kg: float = 1.0
    tardiness_slots: float = 0.1
    completion_slots: float = 0.005
    rejection_price: float | None = None
    energy_cost: float = 0.0
    limits: Limits = Limits()

    kind: ClassVar[str] = "carbon"
    sense: ClassVar[str] = "min"

    @property
    def rejection_cost(self) -> float:
        """Cost of a rejected job: `rejection_price`, or infinite where every job must run."""
        if self.rejection_price is None:
            return float("inf")
        return self.rejection_price

    def to_dict(self) -> dict[str, Any]:
        """Return the objective as the file holds it."""
        weights = {name: getattr(self, name) for name in ("carbon_kg", "tardiness_slots", "completion_slots")}
        if self.energy_cost:  # absent, the hash is as ever
            weights["energy_cost"] = self.energy_cost
        limits = {"limits": self.limits.told()} if self.limits.told() else {}
        return {"kind": self.kind, "weights": weights, "rejection_price": self.rejection_price, **limits}


@dataclass(frozen=True)
class CaspianObjective:
    """Maximise the paper's Z = sum_k omega_k Z_k / Zbar_k (section III).

    Parameters
    ----------
    z1, z2, z3
        Weights omega_k: of clean load, of meeting deadlines, of early completion.
    normalizers
        Zbar_k, the largest value of each Z_k alone; None: the LP optimum of each, computed once
        and recorded in the solution.
    """

    z1: float = 0.5
    z2: float = 1.0
    z3: float = 1.0
    normalizers: tuple[float, float, float] | None = None

    kind: ClassVar[str] = "caspian"
    sense: ClassVar[str] = "max"
    rejection_cost: ClassVar[float] = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the objective as the file holds it."""
        weights = {"z1": self.z1, "z2": self.z2, "z3": self.z3}
        if self.normalizers is None:
            bars = None
        else:
            bars = dict(zip(weights, self.normalizers, strict=True))
        return {"kind": self.kind, "weights": weights, "normalizers": bars}


Objective = CarbonObjective | CaspianObjective


def make_objective(
    kind: str, weights: Sequence[float] | None = None, rejection_price: float | None = None
) -> Objective:
    """Return an objective by name.

    Parameters
    ----------
    kind
        ``carbon`` or ``caspian``.
    weights
        The three weights in the order of the class; None for its defaults.
    rejection_price
        For the carbon objective only.

    Raises
    ------
    UnsupportedError
        If there is no such kind, or there are not three weights.
    """
    if kind not in ("carbon", "caspian"):
        raise UnsupportedError(f"unknown objective {kind!r}: must be 'carbon' or 'caspian'")
    if weights is not None and len(weights) != 3:
        raise UnsupportedError(f"weights {shown(tuple(weights))}: must be three numbers")
    if kind == "caspian":
        if weights is None:
            return CaspianObjective()
        return CaspianObjective(weights[0], weights[1], weights[2])
    if weights is None:
        return CarbonObjective(rejection_price=rejection_price)
    return CarbonObjective(weights[0], weights[1], weights[2], rejection_price)

"""The value of placing a job: both objectives in the one form that every method uses.

Placing job i on cluster j in slot t is worth

    sum_r r_ir (H_jr[t + l_i] - H_jr[t]) + f_i(t + l_i)

with prefix sums H of a price per used unit and slot, and a term f of the completion time alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray, prefix_sums
from carbonopt.core.errors import UnsupportedError
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.data.objectives import CarbonObjective, CaspianObjective, Limits


@dataclass(frozen=True, eq=False)
class PlacementValue:
    """Coefficients of the objective.

    Parameters
    ----------
    sense
        ``min`` or ``max``.
    unit_prefix
        H: sums over slots of the value of one used unit, shape (M, R, T + 1).
    demand, duration, deadline
        Of the jobs, shapes (N, R), (N,), (N,).
    tardiness, completion
        Weights of the two terms of time.
    inverse
        False: ``tardiness * max(0, C - d) + completion * C`` (carbon);
        True: ``tardiness / (1 + max(0, C - d)) + completion / (1 + C)`` (caspian, Z2 and Z3).
    """

    sense: str
    unit_prefix: FloatArray
    demand: FloatArray
    duration: IntArray
    deadline: FloatArray
    tardiness: float
    completion: float
    inverse: bool

    @property
    def sign(self) -> float:
        """1 where the objective is minimised, -1 where it is maximised: what makes costs of values."""
        return 1.0 if self.sense == "min" else -1.0

    def part(self, rows: IntArray) -> PlacementValue:
        """Return the coefficients of some jobs."""
        return replace(self, demand=self.demand[rows], duration=self.duration[rows], deadline=self.deadline[rows])

    def of(self, job: IntArray, cluster: IntArray, start: IntArray) -> FloatArray:
        """Return the value of each (job, cluster, start), elementwise."""
        value = self.of_time(job, start)
        end = start + self.duration[job]
        for r in range(self.demand.shape[1]):
            prefix = self.unit_prefix[:, r]
            value += self.demand[job, r] * (prefix[cluster, end] - prefix[cluster, start])
        return value

    def of_time(self, job: IntArray, start: IntArray) -> FloatArray:
        """Return f_i, the part that does not depend on the cluster, elementwise."""
        completion = (start + self.duration[job]).astype(np.float64)
        late = np.maximum(0.0, completion - self.deadline[job])
        if self.inverse:
            return self.tardiness / (1 + late) + self.completion / (1 + completion)
        return self.tardiness * late + self.completion * completion

    def rounding(self) -> FloatArray:
        """Return by how much rounding may falsify any placement's value, shape (N,).

        A difference of prefix sums is as wrong as the sums are large, not as it is itself.
        """
        return self.demand @ prefix_rounding(self.unit_prefix)

    def table(self, job: int, starts: IntArray) -> FloatArray:
        """Return the value of one job at every cluster and each of `starts`, shape (M, len(starts))."""
        end = starts + self.duration[job]
        used = np.tensordot(self.unit_prefix[:, :, end] - self.unit_prefix[:, :, starts], self.demand[job], axes=(1, 0))
        return np.asarray(used + self.of_time(np.full(len(starts), job), starts))


def prefix_rounding(prefix: FloatArray) -> FloatArray:
    """Return a bound on the rounding error of differences of `prefix` (M, R, T + 1), for each resource."""
    steps = 4.0 * prefix.shape[2] * np.finfo(np.float64).eps
    return np.asarray(steps * np.abs(prefix).max(axis=(0, 2)))


def carbon_kg_per_unit(instance: MospInstance) -> FloatArray:
    """Return what one used unit emits in each slot [kgCO2eq], shape (M, R, T)."""
    g_per_kwh = instance.carbon.g_per_kwh[instance.zone_of_cluster]
    kwh_per_unit = instance.clusters.watts_per_unit / 1000 * instance.time.slot_hours
    return np.asarray(kwh_per_unit[:, :, None] * g_per_kwh[:, None, :] / 1000)


def energy_cost_per_unit(instance: MospInstance) -> FloatArray:
    """Return what the energy of one used unit costs in each slot [currency], shape (M, R, T); 0 without a price."""
    kwh_per_unit = (instance.clusters.watts_per_unit / 1000 * instance.time.slot_hours)[:, :, None]
    if instance.energy_price is None:
        return np.zeros((*kwh_per_unit.shape[:2], instance.time.slots))
    return np.asarray(kwh_per_unit * instance.energy_price.of(instance.clusters.zone)[:, None, :])


def cost_per_unit(instance: MospInstance, objective: CarbonObjective) -> FloatArray:
    """Return the weighted carbon and energy cost of one used unit in each slot, shape (M, R, T).

    Two signals are one: every method sees this sum, which is negative where the price is low enough.
    """
    carbon = objective.carbon_kg * carbon_kg_per_unit(instance)
    if not objective.energy_cost:
        return carbon
    return carbon + objective.energy_cost * energy_cost_per_unit(instance)


def quantity_value(instance: MospInstance, quantity: str) -> PlacementValue:
    """Return the coefficients of one quantity that may be limited, in its own unit."""
    weight = {name: float(name == quantity) for name in ("carbon_kg", "tardiness_slots", "energy_cost")}
    alone = CarbonObjective(weight["carbon_kg"], weight["tardiness_slots"], 0.0, energy_cost=weight["energy_cost"])
    return placement_value(instance.with_objective(alone))


def with_priced_limits(instance: MospInstance, prices: Mapping[str, float]) -> tuple[MospInstance, float]:
    """Return the instance whose limits are priced instead, and what that takes off its objective.

    A price of a limit, at least 0 and in objective units for one of the quantity, is more weight on the quantity.
    """
    objective = instance.objective
    assert isinstance(objective, CarbonObjective)
    weights = {name: getattr(objective, name) + price for name, price in prices.items()}
    allowed = objective.limits.allowed()
    paid = sum(price * allowed[name] for name, price in prices.items())
    return instance.with_objective(replace(objective, limits=Limits(), **weights)), paid


def refuse_energy_price(instance: MospInstance, what: str) -> None:
    """Refuse what knows carbon alone where the objective has a weight of energy cost.

    Raises
    ------
    UnsupportedError
        It names `what`.
    """
    if getattr(instance.objective, "energy_cost", 0.0):
        raise UnsupportedError(f"{what} knows carbon alone: objective.weights.energy_cost must be 0 or absent")


def clean_load_per_unit(instance: MospInstance) -> FloatArray:
    """Return what one used unit adds to Z1 in each slot: 1 / (C I rho), shape (M, R, T).

    Where there is no capacity nothing can run, and the value is 0.
    """
    clusters = instance.clusters
    g_per_kwh = instance.carbon.g_per_kwh[instance.zone_of_cluster][:, None, :]
    product = clusters.capacity * g_per_kwh * clusters.watts_per_unit[:, :, None]
    return np.divide(1.0, product, out=np.zeros_like(product), where=product > 0)


def placement_value(instance: MospInstance, normalizers: tuple[float, float, float] | None = None) -> PlacementValue:
    """Return the coefficients of the instance's objective.

    Parameters
    ----------
    instance
        With either objective.
    normalizers
        Zbar_k, for the caspian objective only.
    """
    objective = instance.objective
    if isinstance(objective, CarbonObjective):
        per_unit = cost_per_unit(instance, objective)
        return _value(instance, per_unit, objective.tardiness_slots, objective.completion_slots)
    bars = normalizers or objective.normalizers
    if bars is None:
        raise ValueError("the caspian objective needs its normalizers")
    w1, w2, w3 = scaled_weights(objective, bars)
    return _value(instance, w1 * clean_load_per_unit(instance), w2, w3)


def scaled_weights(objective: CaspianObjective, normalizers: tuple[float, float, float]) -> tuple[float, float, float]:
    """Return omega_k / Zbar_k; 0 where Zbar_k = 0, since then Z_k is 0 for every schedule."""
    weights = (objective.z1, objective.z2, objective.z3)
    w1, w2, w3 = (w / bar if bar > 0 else 0.0 for w, bar in zip(weights, normalizers, strict=True))
    return w1, w2, w3


def single_term(instance: MospInstance, k: int) -> PlacementValue:
    """Return the coefficients of Z_k alone (k = 1, 2, 3), whose LP optimum is Zbar_k."""
    per_unit = clean_load_per_unit(instance) * float(k == 1)
    return _value(instance, per_unit, float(k == 2), float(k == 3))


def _value(instance: MospInstance, per_unit: FloatArray, tardiness: float, completion: float) -> PlacementValue:
    jobs = instance.jobs
    return PlacementValue(
        sense=instance.sense,
        unit_prefix=prefix_sums(per_unit),
        demand=jobs.demand,
        duration=jobs.duration,
        deadline=jobs.deadline,
        tardiness=tardiness,
        completion=completion,
        inverse=instance.objective.kind == "caspian",
    )

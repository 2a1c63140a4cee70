"""The bound: the best prices and multipliers that time allows, on coarse cells first, then on fine ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from carbonopt.algorithms.prices import Ascent
from carbonopt.core.arrays import FloatArray
from carbonopt.core.options import Options
from carbonopt.problems.purchasing.data.instance import PurchasingInstance
from carbonopt.problems.purchasing.methods.price.dual import Dual
from carbonopt.problems.purchasing.methods.price.grid import Grid
from carbonopt.problems.purchasing.methods.price.parameters import BoundParameters


@dataclass(frozen=True, eq=False)
class Bound:
    """A bound with its proof, and what the prices say of each job.

    Parameters
    ----------
    value, certificate
        See `Dual.certificate`.
    dual
        On the finest grid, evaluated at `point`.
    point
        Flat arguments of the best bound.
    """

    value: float
    certificate: dict[str, Any]
    dual: Dual
    point: FloatArray

    @property
    def weights(self) -> FloatArray:
        """Weights with the multipliers of the limits added, shape (3,)."""
        return self.dual.weights_at(self.dual.split(self.point)[1])


def maximise(
    instance: PurchasingInstance, remaining: Callable[[], float], options: Options, parameters: BoundParameters
) -> Bound:
    """Return the best bound that is found in the time; Ctrl-C keeps the last that was reported.

    Parameters
    ----------
    instance
        The instance, with at least one job.
    remaining
        Seconds that are left for it.
    options
        Told each stage's bound.
    parameters
        Of the search.
    """
    found: Bound | None = None
    for stage, hours in enumerate(parameters.cell_hours):
        grid = Grid.near(instance, hours, 1 if found is None else found.dual.grid.per_slot)
        if found is not None and (grid.cells == found.dual.grid.cells or remaining() <= 0):
            continue
        dual = Dual(instance, grid, parameters.held_multiplier)
        large = dual.breakpoints > parameters.large_breakpoints * parameters.cell_hours[0] / hours
        if large and found is not None and stage == len(parameters.cell_hours) - 1:
            break
        if found is None:
            first = _beginning(dual, remaining, parameters)
            temperatures = parameters.first_temperatures
        else:
            first = np.concatenate([grid.spread(found.point[: found.dual.grid.cells]), _multipliers(found)])
            temperatures = parameters.later_temperatures
        ascent = Ascent(dual.hard, dual.soft, first, 0.0, dual.upper, remaining=remaining)
        ascent.smooth(temperatures, parameters.large_iterations if large else parameters.iterations)
        if not large:
            ascent.step(parameters.subgradient_steps)
        value, certificate = dual.certificate(ascent.prices)
        if found is None or value > found.value:
            found = Bound(value, certificate, dual, ascent.prices)
        options.report(bound=found.value)
    assert found is not None
    found.dual.hard(found.point)
    return found


def _beginning(dual: Dual, remaining: Callable[[], float], parameters: BoundParameters) -> FloatArray:
    """Return flat arguments to begin with: where some are held at first, those that are good beside them."""
    if not dual.held.any():
        return dual.first
    ascent = Ascent(dual.hard, dual.soft, dual.first, dual.held, dual.upper, remaining=remaining)
    ascent.smooth(parameters.first_temperatures[: parameters.held_temperatures], parameters.large_iterations)
    return ascent.prices


def _multipliers(bound: Bound) -> FloatArray:
    return bound.point[bound.dual.grid.cells :]


def worst(instance: PurchasingInstance) -> float:
    """Return more than any schedule's objective: a bound above it proves that the limits cannot be kept."""
    jobs, weights, prices = instance.jobs, instance.weights, instance.prices
    work = float(jobs.cpus @ jobs.length_hours)
    usd = work * (prices.on_demand_usd_per_cpu_hour + prices.spot_usd_per_cpu_hour)
    if instance.reserved_cpus is None:
        usd += instance.prepaid_usd(float(jobs.cpus.sum()) + 1)
    carbon = 2 * work * float(instance.kg_per_cpu_hour.max(initial=0.0))
    wait = float((instance.max_wait_hours + jobs.length_hours).sum())
    return 1.001 * (weights.carbon_kg * carbon + weights.cost_usd * usd + weights.wait_hours * wait) + 1e-9

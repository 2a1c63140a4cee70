"""The best prices and multipliers that time allows: coarse cells first, then fine ones."""

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
from carbonopt.problems.purchasing.methods.price.table import Grid

STAGES = ((1.0, (0.1, 0.03, 0.01, 0.003, 0.001)), (0.25, (0.001, 0.0003)), (1 / 12, (0.001, 0.0003)))
"""Length of the cells [h], and temperatures; the last for small instances only. Cells of 5 minutes win 0.006 to 0.011 %
over those of 15 (pai_1k), cells of a minute 0.004 % more for four times the time."""
ITERATIONS = (25, 70)
"""Of the quasi-Newton method at each temperature: in large instances and in small ones."""
LARGE = 5e5
"""Breakpoints of a large instance on cells of an hour: 70 iterations won a year less than the finer cells do."""
STEPS = 60
"""Subgradient steps at the end of each stage, in small instances."""


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


def maximise(instance: PurchasingInstance, remaining: Callable[[], float], options: Options) -> Bound:
    """Return the best bound that is found in the time; Ctrl-C keeps the last that was reported.

    Parameters
    ----------
    instance
        The instance, with at least one job.
    remaining
        Seconds that are left for it.
    options
        Told each stage's bound.
    """
    found: Bound | None = None
    for hours, temperatures in STAGES:
        grid = Grid.near(instance, hours, 1 if found is None else found.dual.grid.per_slot)
        if found is not None and (grid.cells == found.dual.grid.cells or remaining() <= 0):
            continue
        dual = Dual(instance, grid)
        large = dual.breakpoints > LARGE * STAGES[0][0] / hours
        if large and hours == STAGES[-1][0]:
            break
        if found is None:
            first = _beginning(dual, remaining)
        else:
            first = np.concatenate([grid.spread(found.point[: found.dual.grid.cells]), _multipliers(found)])
        ascent = Ascent(dual.hard, dual.soft, first, 0.0, dual.upper, remaining=remaining)
        ascent.smooth(temperatures, ITERATIONS[0] if large else ITERATIONS[1])
        if not large:
            ascent.step(STEPS)
        value, certificate = dual.certificate(ascent.prices)
        if found is None or value > found.value:
            found = Bound(value, certificate, dual, ascent.prices)
        options.report(bound=found.value)
    assert found is not None
    found.dual.hard(found.point)
    return found


def _beginning(dual: Dual, remaining: Callable[[], float]) -> FloatArray:
    """Return flat arguments to begin with: where some are held at first, those that are good beside them."""
    if not dual.held.any():
        return dual.first
    ascent = Ascent(dual.hard, dual.soft, dual.first, dual.held, dual.upper, remaining=remaining)
    ascent.smooth(STAGES[0][1][:3], ITERATIONS[0])
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

"""The best prices of GPU time, by ascent of the dual function: the bound and its certificate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from carbonopt.algorithms.prices import Ascent
from carbonopt.core.arrays import FloatArray
from carbonopt.core.options import Options
from carbonopt.problems.mlcluster.data.instance import MlClusterInstance
from carbonopt.problems.mlcluster.formulation.objective import CellCoefficients
from carbonopt.problems.mlcluster.methods.price.dual import Dual
from carbonopt.problems.mlcluster.methods.price.parameters import BoundParameters, PriceParameters

LOW_TEMPERATURE = 0.05
"""Below it, a stage that hardly raises the hard bound is the last; above it, the next stage may still raise it."""


@dataclass(frozen=True, eq=False)
class Proof:
    """The bound of an instance, and the prices that prove it.

    Parameters
    ----------
    coefficients
        Coefficients of the program whose capacity and work the prices are of.
    prices
        Of GPU time in each cell [objective a GPU min], shape (T,).
    budget_price
        Of the JCT budget [objective an hour of a job's completion time]; 0 without one.
    work_prices
        Of the jobs' work [objective a 1-GPU min], shape (N,).
    bound
        On the objective of every schedule.
    info
        How they were found.
    restarts
        Whether the bound counts restarts.
    """

    coefficients: CellCoefficients
    prices: FloatArray
    budget_price: float
    work_prices: FloatArray
    bound: float
    info: dict[str, Any]
    restarts: bool = False

    @property
    def delay_price(self) -> float:
        """w: of completion times, by weight and budget [objective an hour]."""
        return self.coefficients.instance.weights.jct_hours + self.budget_price

    def certificate(self) -> dict[str, Any]:
        """Return what proves the bound without a solver."""
        prices = (self.prices, self.work_prices, self.budget_price)
        counted = {"restarts": True} if self.restarts else {}
        return certificate(self.coefficients.cells, *prices, self.bound) | counted


def certificate(
    cells: int, prices: FloatArray, work_prices: FloatArray, budget_price: float, bound: float
) -> dict[str, Any]:
    """Return a certificate as a solution file holds it."""
    return {
        "kind": "lagrangian",
        "cells": cells,
        "prices": prices,
        "work_prices": work_prices,
        "budget_price": budget_price,
        "bound": bound,
    }


def ceiling(instance: MlClusterInstance) -> float:
    """Return more than any schedule within the limits costs: a bound above it proves that there is none."""
    gpus = np.arange(1, instance.scales.watts.shape[1] + 1)
    watts = instance.cluster.gpus * float((instance.scales.watts / gpus).max())
    carbon = watts * float(instance.kg_per_watt_minute.sum()) * instance.slot_minutes
    limit = instance.limits.mean_jct_hours
    hours = instance.time.hours
    late = len(instance.jobs) * (hours if limit is None else min(limit, hours))
    return (instance.weights.carbon_kg * carbon + instance.weights.jct_hours * late) * (1 + 1e-5) + 1e-8


def cells_of(instance: MlClusterInstance, params: BoundParameters) -> int:
    """Return into how many cells slots are cut: completion times are told by the beginning of a cell."""
    counts = instance.weights.jct_hours > 0 or instance.limits.mean_jct_hours is not None
    small = params.fine_cells * len(instance.jobs) * instance.time.slots <= params.fine_size
    return params.fine_cells if counts and small else 1


def pricing_steps(instance: MlClusterInstance, cells: int) -> float:
    """Return about how many loop steps it takes at most to price all jobs once."""
    kinds, scales = instance.scales.throughput.shape
    return instance.time.slots * cells * (2.0 * len(instance.jobs) + float(kinds * scales**2))


def ascend(instance: MlClusterInstance, options: Options, start: Proof | None = None) -> Proof:
    """Return prices with a good bound.

    Parameters
    ----------
    instance
        N jobs, at least one.
    options
        Hold the parameters; it takes a share of the time that is left, and ends with what it has.
    start
        Prices of an instance that differs in its objective alone.
    """
    params = options.parameters(PriceParameters).bound
    cells = cells_of(instance, params) if start is None else start.coefficients.cells
    coefficients = CellCoefficients(instance, cells)
    dual = Dual(coefficients)
    part = options.part(params.time_share)
    first = dual.start() if start is None else dual.joined(start.prices, start.budget_price)

    def proof(dual: Dual) -> Proof:
        bound, _ = dual.hard(ascent.prices)
        prices, budget_price = dual.split(ascent.prices)
        info = {"pricings": dual.evaluations, "cells": coefficients.cells}
        return Proof(coefficients, np.array(prices), budget_price, dual.mu.copy(), max(0.0, bound), info)

    ascent = Ascent(
        dual.hard,
        dual.soft,
        first,
        scale=dual.typical,
        remaining=lambda: part.remaining,
        spend=lambda: part.spend(dual.steps),
        report=lambda value: options.report(bound=value, certificate=lambda: proof(Dual(coefficients)).certificate()),
        goal=ceiling(instance),
    )
    large = len(instance.jobs) * coefficients.count > params.large_size
    iterations = params.large_iterations if large else params.iterations
    for temperature in params.large_temperatures if large else params.temperatures:
        before = ascent.value
        ascent.smooth([temperature], iterations, params.least_rise)
        if temperature < LOW_TEMPERATURE and ascent.value - before <= params.least_rise * abs(ascent.value):
            break
    ascent.step(params.subgradient_steps, params.subgradient_gap)
    return proof(dual)

"""Shared prices of capacity that maximise the Lagrangian dual function: the bound and its certificate.

The function is written at `carbonopt.problems.ecas.verify.certificate`. Jobs take their cheapest start, machines their
cheapest on/off pattern.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from carbonopt.algorithms.prices import Ascent
from carbonopt.core.arrays import FloatArray
from carbonopt.core.options import Options
from carbonopt.problems.ecas.data.instance import EcasInstance
from carbonopt.problems.ecas.methods.price.kernels import least_starts
from carbonopt.problems.ecas.methods.price.parameters import BoundParameters
from carbonopt.problems.ecas.methods.price.patterns import least_patterns
from carbonopt.problems.ecas.methods.price.tables import Tables

EVALUATION_STEPS = 5.0
"""Loop steps of an evaluation for each start of a job and each slot of a machine."""


class Dual:
    """The dual function of prices as one flat array, shape (R T,)."""

    def __init__(self, instance: EcasInstance, tables: Tables) -> None:
        self.instance, self.tables = instance, tables
        self.shape = (len(instance.resources), instance.time.slots)
        machines = len(instance.machines)
        slots = instance.time.slots
        self._none, self._came = np.zeros(slots, dtype=np.int64), np.zeros((slots, 2), dtype=np.int64)
        self._on, self._start = (
            np.zeros((machines, slots), dtype=np.int64),
            np.zeros(len(instance.jobs), dtype=np.int64),
        )
        self._used = np.zeros((self.shape[0], slots + 1))
        self._capacity = instance.machines.capacity.astype(np.float64)

    def hard(self, flat: FloatArray) -> tuple[float, FloatArray]:
        """Return value and subgradient."""
        tables = self.tables
        prices = flat.reshape(self.shape)
        jobs = least_starts(tables, prefix(prices), self._start, self._used)
        cost = tables.idle - self._capacity @ prices
        machines = least_patterns(cost, tables.up, tables.down, self._none, self._came, self._on)
        used = np.cumsum(self._used[:, :-1], axis=1)
        return jobs + machines, (used - self._capacity.T @ self._on).ravel()

    def first(self) -> FloatArray:
        """Return prices at which the idle energy of all machines is what their capacity is sold for."""
        idle = np.maximum(self.instance.idle_cost.sum(axis=0), 0.0)
        capacity = np.maximum(self._capacity.sum(axis=0), 1.0)
        return np.asarray(np.outer(1 / capacity / max(1, self.shape[0]), idle)).ravel()


def prefix(prices: FloatArray) -> FloatArray:
    """Return sums over the first t slots, shape (R, T + 1)."""
    sums = np.zeros((prices.shape[0], prices.shape[1] + 1))
    np.cumsum(prices, axis=1, out=sums[:, 1:])
    return sums


def best_prices(instance: EcasInstance, tables: Tables, options: Options, params: BoundParameters) -> FloatArray:
    """Return prices of a high bound, shape (R, T)."""
    dual = Dual(instance, tables)
    jobs = instance.jobs
    machines = float(len(instance.machines) * instance.time.slots)
    steps = EVALUATION_STEPS * (float((jobs.deadline - jobs.arrival).sum()) + machines)
    ascent = Ascent(
        dual.hard,
        None,
        dual.first(),
        remaining=lambda: options.remaining,
        spend=lambda: options.spend(steps),
        report=None,
    )
    ascent.step(params.steps, params.first_gap)
    return ascent.prices.reshape(dual.shape)


def certificate(prices: FloatArray, bound: float) -> dict[str, Any]:
    """Return what proves the bound without a solver."""
    return {"kind": "lagrangian", "prices": prices.tolist(), "bound": bound}

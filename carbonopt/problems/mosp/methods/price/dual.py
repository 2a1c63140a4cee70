"""The dual function of the capacity prices, hard and soft.

With prices mu >= 0 per unit and slot, the jobs fall apart (the formula is written out in `verify/certificate.py`):

    bound(mu) = sum_i min( rejection_cost, min_jt cost_ijt + sum_r r_ir sum_run mu_jr ) - sum mu C

Jobs of one group share the minimum over clusters and those of one shape and class the minimum over starts, so an
evaluation costs O(G M T + H T + classes x slack + members) for G groups instead of O(N M T).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.core.arrays import FloatArray, prefix_sums
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.formulation.objective import PlacementValue, prefix_rounding
from carbonopt.problems.mosp.methods.price import kernels
from carbonopt.problems.mosp.methods.price.bound_parameters import BoundParameters
from carbonopt.problems.mosp.methods.price.table import make_table

FLOAT_ERROR = 1e-12
"""Relative allowance for the rounding of sums in double precision."""


class Relaxed(NamedTuple):
    """The relaxation at some prices.

    Attributes
    ----------
    value, slope
        Its value, infinite if a job that must run can run nowhere, and a subgradient, shape (M R T,).
    rejected
        Jobs of each shape that do not run, shape (H,).
    member_cost
        Least priced cost of a job of each member, shape (members,).
    """

    value: float
    slope: FloatArray
    rejected: FloatArray
    member_cost: FloatArray


class Softened(NamedTuple):
    """The relaxation with soft minima: value, gradient, and jobs of each shape that do not run, as in `Relaxed`."""

    value: float
    slope: FloatArray
    rejected: FloatArray


class Dual:
    """The dual function of one instance.

    Parameters
    ----------
    instance, value
        The problem.
    cluster_temperature
        Of the soft minimum over clusters, as a share of that over starts.

    Attributes
    ----------
    table, jobs
        The jobs in classes.
    base
        Cost of a used unit by slot, in the sense of a minimisation, shape (M, R, T).
    rejection_cost
        What a job of each shape costs that does not run, shape (H,).
    """

    def __init__(
        self,
        instance: MospInstance,
        value: PlacementValue,
        cluster_temperature: float = BoundParameters().cluster_temperature,
    ) -> None:
        self.cluster_temperature = cluster_temperature
        self.table, self.jobs = make_table(instance, value)
        self.base: FloatArray = value.sign * np.diff(value.unit_prefix, axis=2)
        self.limit: FloatArray = instance.clusters.limit
        self.shape = self.limit.shape
        self._demand = instance.jobs.demand
        groups = len(self.table.length)
        slots = self.shape[2]
        self._units = np.zeros((groups, slots))
        self._least = np.zeros((groups, slots))
        self._soft = np.zeros((groups, slots))
        self._best = np.zeros((groups, slots), dtype=np.int64)
        self.rejection_cost: FloatArray = np.full(len(self.table.group), self.table.rejection_cost)

    def hard(self, prices: FloatArray) -> tuple[float, FloatArray]:
        """Return value and a subgradient at flat `prices`."""
        return self.relaxed(prices)[:2]

    def soft(self, prices: FloatArray, temperature: float) -> tuple[float, FloatArray]:
        """Return value and gradient at flat `prices` with soft minima."""
        return self.softened(prices, temperature)[:2]

    def relaxed(self, prices: FloatArray, rejection_cost: FloatArray | None = None) -> Relaxed:
        """Return the relaxation at flat `prices`.

        `rejection_cost` takes the place of what a rejected job of each shape costs, shape (H,).
        """
        rejection_cost = self.rejection_cost if rejection_cost is None else rejection_cost
        mu = prices.reshape(self.shape)
        kernels.least_over_clusters(prefix_sums(self.base + mu), self.table, self._least, self._best)
        self._units[:] = 0.0
        rejected = np.zeros(len(self.table.group))
        cost = np.zeros(len(self.table.jobs))
        kernels.hard_classes(self._least, rejection_cost, self.table, self._units, rejected, cost)
        load = np.zeros((*self.shape[:2], self.shape[2] + 1))
        kernels.hard_loads(self._units, self._best, self.table, load)
        value = float(self.table.jobs @ cost) - float((mu * self.limit).sum())
        return Relaxed(value, (np.cumsum(load, axis=2)[:, :, :-1] - self.limit).ravel(), rejected, cost)

    def softened(self, prices: FloatArray, temperature: float, rejection_cost: FloatArray | None = None) -> Softened:
        """Return the relaxation with soft minima at flat `prices`; see `relaxed`."""
        rejection_cost = self.rejection_cost if rejection_cost is None else rejection_cost
        mu = prices.reshape(self.shape)
        inner = temperature * self.cluster_temperature
        prefix = prefix_sums(self.base + mu)
        kernels.least_over_clusters(prefix, self.table, self._least, self._best)
        kernels.soft_over_clusters(prefix, inner, self.table, self._least, self._soft)
        self._units[:] = 0.0
        rejected = np.zeros(len(self.table.group))
        total = kernels.soft_classes(self._soft, rejection_cost, temperature, self.table, self._units, rejected)
        load = np.zeros((*self.shape[:2], self.shape[2] + 1))
        kernels.soft_loads(self._units, prefix, inner, self._soft, self.table, load)
        value = total - float((mu * self.limit).sum())
        return Softened(value, (np.cumsum(load, axis=2)[:, :, :-1] - self.limit).ravel(), rejected)

    @property
    def steps(self) -> float:
        """Loop steps of an evaluation, about."""
        table = self.table
        clusters = len(table.length) * self.limit.size
        return float(clusters + 20 * len(table.jobs) + len(table.group) * self.shape[2])

    def safe(self, prices: FloatArray, rejection_cost: FloatArray | None = None) -> float | None:
        """Return the hard value less an allowance for rounding; None if a job that must run can run nowhere."""
        relaxed = self.relaxed(prices, rejection_cost)
        if not np.isfinite(relaxed.value):
            return None
        size = float(self.table.jobs @ np.abs(relaxed.member_cost)) + float((prices * self.limit.ravel()).sum())
        slots = self.shape[2]
        times = self.table.late * len(self._demand) * (slots + float(self.table.deadline.max(initial=0.0)))
        if not self.table.inverse:
            size += times
        return relaxed.value - self.rounding(prices) - FLOAT_ERROR * size

    def mean_least_cost(self, prices: FloatArray) -> float:
        """Return the mean least priced cost of a job, in size, at flat `prices`."""
        return float(np.abs(self.relaxed(prices).member_cost[self.jobs.member]).mean())

    def jobs_that_count(self, prices: FloatArray) -> tuple[float, float]:
        """Return the cost of a job that counts, and how many there are, at flat `prices`.

        So many jobs of that cost would have the same sum of costs and of squares: where few jobs make up most of the
        costs, it is they that count.
        """
        cost = np.abs(self.relaxed(prices).member_cost[self.jobs.member])
        squares = float(cost @ cost)
        if squares == 0:
            return 1.0, float(len(cost))
        return squares / float(cost.sum()), float(cost.sum()) ** 2 / squares

    def rounding(self, prices: FloatArray) -> float:
        """Return how far the costs of all jobs at most are from those of real numbers, by rounding in prefix sums."""
        prefix = prefix_sums(np.abs(self.base) + prices.reshape(self.shape))
        return float((self._demand @ prefix_rounding(prefix)).sum())

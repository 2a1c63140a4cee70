"""The dual function of the capacity prices, hard and soft.

With prices mu >= 0 per unit and slot, the jobs fall apart (see `methods/bounds.py`):

    bound(mu) = sum_i min( absence, min_jt cost_ijt + sum_r r_ir sum_run mu_jr ) - sum mu C

Jobs of one group share the minimum over clusters and those of one shape and class the minimum over starts, so an
evaluation costs O(G M T + H T + classes x slack + members) for G groups instead of O(N M T).
"""

from __future__ import annotations

import numpy as np

from carbonopt.core.arrays import FloatArray, prefix_sums
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.formulation.objective import PlacementValue, prefix_rounding
from carbonopt.problems.mosp.methods.price import kernels
from carbonopt.problems.mosp.methods.price.parameters import BoundParameters
from carbonopt.problems.mosp.methods.price.table import make_table

SAFETY = 1e-12
"""Relative allowance for the rounding of sums in double precision."""


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
    member_cost, absent
        Of the last evaluation: least cost of each member, shape (members,), and jobs of each shape that do not run,
        shape (H,).
    """

    def __init__(
        self,
        instance: MospInstance,
        value: PlacementValue,
        cluster_temperature: float = BoundParameters().cluster_temperature,
    ) -> None:
        self.cluster_temperature = cluster_temperature
        sign = 1.0 if value.sense == "min" else -1.0
        self.table, self.jobs = make_table(instance, value)
        self.base: FloatArray = sign * np.diff(value.unit_prefix, axis=2)
        self.limit: FloatArray = instance.clusters.limit
        self.shape = self.limit.shape
        self._prefix_size = np.abs(value.unit_prefix)
        self._demand = instance.jobs.demand
        groups, slots = len(self.table.length), self.shape[2]
        self._units = np.zeros((groups, slots))
        self._least = np.zeros((groups, slots))
        self._soft = np.zeros((groups, slots))
        self._best = np.zeros((groups, slots), dtype=np.int64)
        self.member_cost = np.zeros(len(self.table.jobs))
        self.absence: FloatArray = np.full(len(self.table.group), self.table.absence)
        self.absent: FloatArray = np.zeros(len(self.table.group))

    def hard(self, prices: FloatArray, absence: FloatArray | None = None) -> tuple[float, FloatArray]:
        """Return value and a subgradient at flat `prices`; the value is infinite if a job can run nowhere.

        `absence` is what a job of each shape that does not run counts, shape (H,), if not what it costs.
        """
        absence = self.absence if absence is None else absence
        mu = prices.reshape(self.shape)
        kernels.least_over_clusters(prefix_sums(self.base + mu), self.table, self._least, self._best)
        self._units[:] = 0.0
        kernels.hard_classes(self._least, absence, self.table, self._units, self.absent, self.member_cost)
        load = np.zeros((*self.shape[:2], self.shape[2] + 1))
        kernels.hard_loads(self._units, self._best, self.table, load)
        value = float(self.table.jobs @ self.member_cost) - float((mu * self.limit).sum())
        return value, (np.cumsum(load, axis=2)[:, :, :-1] - self.limit).ravel()

    def soft(
        self, prices: FloatArray, temperature: float, absence: FloatArray | None = None
    ) -> tuple[float, FloatArray]:
        """Return value and gradient at flat `prices` with soft minima; see `hard`."""
        absence = self.absence if absence is None else absence
        mu, inner = prices.reshape(self.shape), temperature * self.cluster_temperature
        prefix = prefix_sums(self.base + mu)
        kernels.least_over_clusters(prefix, self.table, self._least, self._best)
        kernels.soft_over_clusters(prefix, inner, self.table, self._least, self._soft)
        self._units[:] = 0.0
        total = kernels.soft_classes(self._soft, absence, temperature, self.table, self._units, self.absent)
        load = np.zeros((*self.shape[:2], self.shape[2] + 1))
        kernels.soft_loads(self._units, prefix, inner, self._soft, self.table, load)
        value = total - float((mu * self.limit).sum())
        return value, (np.cumsum(load, axis=2)[:, :, :-1] - self.limit).ravel()

    @property
    def steps(self) -> float:
        """Loop steps of an evaluation, about."""
        table = self.table
        clusters = len(table.length) * self.limit.size
        return float(clusters + 20 * len(table.jobs) + len(table.group) * self.shape[2])

    def safe(self, prices: FloatArray, absence: FloatArray | None = None) -> float | None:
        """Return the hard value less an allowance for rounding; None if a job that must run can run nowhere."""
        value, _ = self.hard(prices, absence)
        if not np.isfinite(value):
            return None
        wrong = self.rounding(prices)
        size = float(self.table.jobs @ np.abs(self.member_cost)) + float((prices * self.limit.ravel()).sum())
        slots = self.shape[2]
        times = self.table.late * len(self._demand) * (slots + float(self.table.deadline.max(initial=0.0)))
        return value - wrong - SAFETY * (size + (0.0 if self.table.inverse else times))

    def rounding(self, prices: FloatArray) -> float:
        """Return how far the costs of all jobs at most are from those of real numbers, by rounding in prefix sums."""
        prefix = prefix_sums(np.abs(self.base) + prices.reshape(self.shape))
        return float((self._demand @ prefix_rounding(prefix)).sum())

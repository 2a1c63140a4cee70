"""A bound for schedules whose jobs may be interrupted: what no policy can beat, however much it knows.

The bounds of the problem's methods are those of jobs that run without interruption, and a schedule in pieces may
be better. With prices mu >= 0 on the capacity rows, the jobs fall apart here too. Job i pays in slot t at least

    D_i[t] = min_j sum_r r_ir (kappa_jrt + mu_jrt)      over the clusters that may run it and have room for it,

and completes at some C after l_i slots between arrival and C, so that

    bound(mu) = sum_i min( rejection, min_C f_i(C) + the l_i least D_i[t] with arrival <= t < C ) - sum mu C

holds for every schedule in pieces (Lagrangian relaxation, as in `methods/bounds.py`). Where jobs may not migrate, each
cluster is a choice of its own. Of the carbon objective alone.
"""

from __future__ import annotations

import math

import numpy as np

from carbonopt.algorithms.prices import Ascent
from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.core.errors import UnsupportedError
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.data.objectives import CarbonObjective
from carbonopt.problems.mosp.formulation.objective import carbon_kg_per_unit, refuse_energy_price

STEPS = 300
"""Subgradient steps."""


def pieces_bound(
    instance: MospInstance, migrate: bool = True, prices: FloatArray | None = None, steps: int = STEPS
) -> tuple[float | None, FloatArray]:
    """Return a lower bound on the objective of every schedule in pieces.

    Parameters
    ----------
    instance
        N jobs, M clusters, R resources, T slots; with the carbon objective.
    migrate
        Whether jobs that have begun may go on on another cluster.
    prices
        To start from [units of the objective per unit and slot], shape (M, R, T): those of the certificate of
        `price` or `lp` are good ones. None for 0.
    steps
        Subgradient steps from there.

    Returns
    -------
    bound : float or None
        Less an allowance for rounding; None if a job that must run can run nowhere.
    prices : FloatArray
        That prove it, shape (M, R, T).

    Raises
    ------
    UnsupportedError
        For the caspian objective.
    """
    refuse_energy_price(instance, "the bound on schedules in pieces")
    if not isinstance(instance.objective, CarbonObjective):
        raise UnsupportedError("a bound on schedules in pieces is there for objective 'carbon' alone")
    dual = _Dual(instance, migrate)
    if prices is None:
        start = np.zeros(dual.limit.size)
    else:
        start = np.asarray(prices, dtype=np.float64).ravel()
    if not len(instance.jobs):
        return 0.0, np.zeros(dual.limit.shape)
    if not np.isfinite(dual.hard(start)[0]):
        return None, start.reshape(dual.limit.shape)
    ascent = Ascent(dual.hard, lambda at, _: dual.hard(at), start)  # steps alone: there is no smooth form
    ascent.step(steps)
    return dual.safe(ascent.prices), ascent.prices.reshape(dual.limit.shape)


class _Dual:
    """The dual function of one instance; a row is a job, or where jobs stay, a job on one cluster."""

    def __init__(self, instance: MospInstance, migrate: bool) -> None:
        self.instance = instance
        self.migrate = migrate
        objective = instance.objective
        jobs = instance.jobs
        assert isinstance(objective, CarbonObjective)
        self.limit: FloatArray = instance.clusters.limit
        self.base = objective.carbon_kg * carbon_kg_per_unit(instance)
        slots = np.arange(instance.time.slots)
        fits = np.asarray((jobs.demand[:, None, :, None] <= self.limit).all(axis=2))
        room = fits & instance.eligible[:, :, None] & (slots >= jobs.arrival[:, None])[:, None, :]
        self.barred: BoolArray = ~room  # (N, M, T)
        late = np.maximum(0.0, slots + 1 - jobs.deadline[:, None])
        self.time = objective.tardiness_slots * late + objective.completion_slots * (slots + 1)  # (N, T), by last slot
        self.rejection_cost = objective.rejection_cost
        self.longest = int(jobs.duration.max(initial=1))

    def _costs(self, prices: FloatArray) -> FloatArray:
        """Return what each job pays on each cluster in each slot, shape (N, M, T)."""
        unit = self.base + prices.reshape(self.limit.shape)
        cost = np.einsum("nr,mrt->nmt", self.instance.jobs.demand, unit)
        return np.where(self.barred, np.inf, cost)

    def _runs(self, cost: FloatArray, duration: IntArray) -> FloatArray:
        """Return the sum of each row's `duration` least costs up to each slot, shape as `cost`."""
        least = np.full((*cost.shape[:-1], self.longest + 1), np.inf)
        sums = np.empty_like(cost)
        pick = np.broadcast_to((duration - 1)[:, None, None], (*cost.shape[:-1], 1))
        for slot in range(cost.shape[-1]):
            least[..., -1] = cost[..., slot]
            least.sort(axis=-1)
            sums[..., slot] = np.take_along_axis(np.cumsum(least, axis=-1), pick, axis=-1)[..., 0]
        return sums

    def _parts(self, prices: FloatArray) -> tuple[FloatArray, FloatArray, IntArray, IntArray]:
        """Return costs (N, M, T), and of each job the least total, its cluster (0 where any) and last slot."""
        cost = self._costs(prices)
        jobs = self.instance.jobs
        rows = cost.min(axis=1, keepdims=True) if self.migrate else cost
        total = self._runs(rows, jobs.duration) + self.time[:, None, :]
        flat = total.reshape(len(jobs), -1)
        best = flat.argmin(axis=1)
        slots = cost.shape[-1]
        return cost, flat[np.arange(len(jobs)), best], best // slots, best % slots

    def hard(self, prices: FloatArray) -> tuple[float, FloatArray]:
        """Return value and a subgradient at flat `prices`."""
        cost, least, cluster, last = self._parts(prices)
        jobs = self.instance.jobs
        slots = cost.shape[-1]
        everyone = np.arange(len(self.instance.jobs))
        rows = cost.min(axis=1) if self.migrate else cost[everyone, cluster]
        rows = np.where(np.arange(slots) <= last[:, None], rows, np.inf)
        order = np.argsort(rows, axis=1, kind="stable")
        chosen = np.arange(slots) < jobs.duration[:, None]
        job, at = np.nonzero(chosen & (least < self.rejection_cost)[:, None])
        slot = order[job, at]
        place = cost[job, :, slot].argmin(axis=1) if self.migrate else cluster[job]
        load = np.zeros((len(self.limit), slots, jobs.demand.shape[1]))
        np.add.at(load, (place, slot), jobs.demand[job])
        paid = float((prices * self.limit.ravel()).sum())
        value = float(np.minimum(least, self.rejection_cost).sum()) - paid
        return value, (load.transpose(0, 2, 1) - self.limit).ravel()

    def safe(self, prices: FloatArray) -> float:
        """Return the value less what rounding may have added: all sums are of numbers that are not negative."""
        least = np.minimum(self._parts(prices)[1], self.rejection_cost)
        jobs = math.fsum(least)
        paid = math.fsum(prices * self.limit.ravel())
        steps = 8.0 * (self.limit.shape[2] + self.limit.shape[1] + 10)
        return float(jobs - paid - steps * np.finfo(np.float64).eps * (jobs + paid))

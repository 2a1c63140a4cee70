"""What a job may do beside runs on the pool, whatever the prices: a run on spot CPUs, or one wholly on demand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray
from carbonopt.problems.purchasing.data.instance import PurchasingInstance
from carbonopt.problems.purchasing.data.purchase_options import ON_DEMAND, SPOT
from carbonopt.problems.purchasing.methods.price.grid import Grid
from carbonopt.problems.purchasing.methods.price.kernels.spot_runs import SpotJobs, Tail, best_spot_starts, emissions


@dataclass(frozen=True, eq=False)
class Other:
    """The best of each job beside the pool, at given weights; arrays of shape (N,).

    Parameters
    ----------
    value
        Objective, infinite where there is nothing.
    kind, start
        What it is, and when it begins [h].
    carbon_kg, usd, wait_hours
        What it adds up to, expected.
    """

    value: FloatArray
    kind: FloatArray
    start: FloatArray
    carbon_kg: FloatArray
    usd: FloatArray
    wait_hours: FloatArray


class Others:
    """Makes the jobs' best choices beside the pool, for any weights."""

    def __init__(self, instance: PurchasingInstance) -> None:
        self.instance = instance
        grid = Grid.of(instance, 1)
        kg = grid.rates(instance.kg_per_cpu_hour)
        hazard = 0.0 if instance.spot is None else instance.spot.evictions_per_hour
        self.calm = Tail(grid.hours, kg, 0.0, np.zeros(grid.cells + 1))
        self.signal = Tail(grid.hours, kg, hazard, _tails(grid, instance.kg_per_cpu_hour, hazard))

    def at(self, carbon: float, cost: float, wait: float) -> Other:
        """Return the best at these weights of a kg, a $ and an hour."""
        count = len(self.instance.jobs)
        best = Other(np.full(count, np.inf), *(np.zeros(count) for _ in range(5)))
        if self.instance.model == "no-split":
            everyone = np.ones(count, dtype=np.bool_)
            best = self._better(best, everyone, ON_DEMAND, self.calm, carbon, cost, wait)
        if self.instance.spot_allowed.any():
            best = self._better(best, self.instance.spot_allowed, SPOT, self.signal, carbon, cost, wait)
        return best

    def _better(
        self, best: Other, among: BoolArray, kind: int, signal: Tail, carbon: float, cost: float, wait: float
    ) -> Other:
        """Return the better of `best` and runs of one kind."""
        jobs = self.instance.jobs
        some = np.flatnonzero(among)
        a, length, cpus = (column[some] for column in (jobs.arrival_hours, jobs.length_hours, jobs.cpus))
        usd, lost = self._paid(kind, length, cpus)
        start = np.empty(len(some))
        value = np.empty(len(some))
        latest = a + self.instance.max_wait_hours[some]
        best_spot_starts(SpotJobs(carbon * cpus, a, latest, length), wait, signal, start, value)
        value += cost * usd + wait * lost
        kg = cpus * emissions(start, length, signal)
        found = Other(*(np.array(column) for column in vars(best).values()))
        better = value < best.value[some]
        columns = (value, np.full(len(some), float(kind)), start, kg, usd, start - a + lost)
        for column, new in zip(vars(found).values(), columns, strict=True):
            column[some[better]] = new[better]
        return found

    def _paid(self, kind: int, length: FloatArray, cpus: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the expected cost [$] and the expected time lost [h]."""
        prices = self.instance.prices
        h = self.signal.hazard
        if kind == ON_DEMAND:
            return prices.on_demand_usd_per_cpu_hour * cpus * length, np.zeros(len(length))
        if h == 0:
            return prices.spot_usd_per_cpu_hour * cpus * length, np.zeros(len(length))
        chance = -np.expm1(-h * length)
        run = chance / h
        usd = cpus * (prices.spot_usd_per_cpu_hour * run + prices.on_demand_usd_per_cpu_hour * length * chance)
        return usd, np.maximum(0.0, run - length * np.exp(-h * length))


def _tails(grid: Grid, kg: FloatArray, hazard: float) -> FloatArray:
    """Return E at each edge."""
    tails = np.zeros(grid.cells + 1)
    if hazard == 0:
        return tails
    kept = np.exp(-hazard * grid.hours)
    weight = -np.expm1(-hazard * grid.hours) / hazard
    for i in range(grid.cells - 1, -1, -1):
        tails[i] = kg[i] * weight + kept * tails[i + 1]
    return tails

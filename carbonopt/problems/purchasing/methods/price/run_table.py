"""A schedule as arrays, its exact value, and its columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray, prefix_sums
from carbonopt.core.options import Schedule
from carbonopt.problems.purchasing.data.instance import ROUNDING, ROUNDING_HOURS, PurchasingInstance
from carbonopt.problems.purchasing.data.purchase_options import OPTIONS, RESERVED, SHARED
from carbonopt.problems.purchasing.methods.price.others import Other


@dataclass(frozen=True, eq=False)
class RunTable:
    """Rows of a schedule: job, begin and end [h], and option, each of shape (rows,), and the reserved CPUs."""

    job: IntArray
    start: FloatArray
    end: FloatArray
    option: IntArray
    reserved: float

    def columns(self, instance: PurchasingInstance) -> Schedule:
        """Return the columns of the schedule."""
        names = instance.jobs.name
        return {
            "job": [names[j] for j in self.job.tolist()],
            "start_hours": self.start.tolist(),
            "end_hours": self.end.tolist(),
            "option": [OPTIONS[option] for option in self.option.tolist()],
        }


@dataclass(frozen=True)
class Amounts:
    """What a schedule adds up to, expected: carbon [kg], cost of use and in advance [$], waiting of all jobs [h]."""

    carbon_kg: float
    usage_usd: float
    prepaid_usd: float
    wait_hours: float

    def objective(self, instance: PurchasingInstance) -> float:
        """Return the objective: what is paid in advance counts only where it is decided."""
        weights = instance.weights
        usd = self.usage_usd + (self.prepaid_usd if instance.reserved_cpus is None else 0.0)
        return weights.carbon_kg * self.carbon_kg + weights.cost_usd * usd + weights.wait_hours * self.wait_hours

    def excess(self, instance: PurchasingInstance) -> FloatArray:
        """Return by how much each limit is exceeded, relative, below 0 where it is kept: carbon, cost, mean wait, (3,).

        0 where there is no limit.
        """
        limits = instance.limits
        count = max(1, len(instance.jobs))
        found = (self.carbon_kg, self.usage_usd + self.prepaid_usd, self.wait_hours / count)
        pairs = zip(found, (limits.carbon_kg, limits.cost_usd, limits.mean_wait_hours), strict=True)
        return np.array(
            [0.0 if most is None else (value - most * (1 + ROUNDING / 2)) / max(most, 1e-9) for value, most in pairs]
        )


def pool_load(runs: RunTable, instance: PurchasingInstance) -> tuple[FloatArray, FloatArray]:
    """Return the lengths [h] between the moments at which the load of the pool changes, and the load in each."""
    pool = runs.option <= SHARED
    cpus = instance.jobs.cpus[runs.job[pool]]
    moment = np.concatenate([runs.start[pool], runs.end[pool]])
    order = np.argsort(moment, kind="stable")
    return np.diff(moment[order]), np.cumsum(np.concatenate([cpus, -cpus])[order])[:-1]


def amounts(runs: RunTable, instance: PurchasingInstance, other: Other) -> Amounts:
    """Return what runs add up to; `other` knows what jobs off the pool do."""
    jobs = instance.jobs
    pool = runs.option <= SHARED
    job = runs.job[pool]
    start = runs.start[pool]
    end = runs.end[pool]
    edges = np.arange(instance.time.slots + 1) * instance.time.slot_hours
    until = prefix_sums(instance.kg_per_cpu_hour) * instance.time.slot_hours
    kg = float(jobs.cpus[job] @ (np.interp(end, edges, until) - np.interp(start, edges, until)))
    hours, load = pool_load(runs, instance)
    usd = float(np.maximum(load - runs.reserved, 0.0) @ hours) * instance.prices.on_demand_usd_per_cpu_hour
    completion = np.full(len(jobs), -np.inf)
    np.maximum.at(completion, job, end)
    on_pool = np.isfinite(completion)
    wait = np.maximum(0.0, completion - jobs.arrival_hours - jobs.length_hours)[on_pool]
    off = runs.job[~pool]
    return Amounts(
        kg + float(other.carbon_kg[off].sum()),
        usd + float(other.usd[off].sum()),
        instance.prepaid_usd(runs.reserved),
        float(wait.sum()) + float(other.wait_hours[off].sum()),
    )


def best_reserved(runs: RunTable, instance: PurchasingInstance, cost: float) -> float:
    """Return the whole number of reserved CPUs that is best for the load of runs; `cost` is the weight of a $."""
    hours, load = pool_load(runs, instance)
    if not len(load):
        return 0.0
    if (runs.option[runs.option <= SHARED] == RESERVED).any():
        return float(np.ceil(load[hours > ROUNDING_HOURS / 2].max(initial=0.0) * (1 - ROUNDING)))
    order = np.argsort(load)
    level = load[order]
    above = np.cumsum(hours[order][::-1])[::-1]
    saved = instance.prices.on_demand_usd_per_cpu_hour * above  # by one CPU more, below each level
    worth = level[saved * cost > instance.prepaid_usd(1.0) * cost]
    peak = float(worth.max(initial=0.0))
    candidates = np.unique([np.floor(peak), np.ceil(peak)])
    usd = [
        float(np.maximum(load - r, 0.0) @ hours) * instance.prices.on_demand_usd_per_cpu_hour + instance.prepaid_usd(r)
        for r in candidates
    ]
    return float(candidates[int(np.argmin(usd))])


def fits(runs: RunTable, instance: PurchasingInstance) -> bool:
    """Return whether runs that need reserved CPUs for all of themselves have them."""
    reserved = runs.option == RESERVED
    if not reserved.any():
        return True
    hours, load = pool_load(runs, instance)
    return bool((load[hours > ROUNDING_HOURS / 2] <= runs.reserved * (1 + ROUNDING)).all())


def mixed(runs: RunTable, second: RunTable, of_second: BoolArray) -> RunTable:
    """Return what some jobs (N,) do in a second table and all others in the first."""
    one = ~of_second[runs.job]
    two = of_second[second.job]
    return RunTable(
        np.concatenate([runs.job[one], second.job[two]]),
        np.concatenate([runs.start[one], second.start[two]]),
        np.concatenate([runs.end[one], second.end[two]]),
        np.concatenate([runs.option[one], second.option[two]]),
        runs.reserved,
    )

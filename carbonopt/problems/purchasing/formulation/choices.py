"""What a job may do as a whole: an option and a start, as columns of the program.

Between two neighbouring starts of a job and option carbon, wait and the hours in each slot are linear (or bounded from
below by what is): a start between is the first plus a part of the way to the next.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray, prefix_sums
from carbonopt.problems.purchasing.data.instance import ROUNDING, PurchasingInstance
from carbonopt.problems.purchasing.data.purchase_options import ON_DEMAND, RESERVED, SHARED, SPOT
from carbonopt.problems.purchasing.formulation.breakpoints import breakpoints, distinct
from carbonopt.problems.purchasing.formulation.spot import SpotRuns

NOTHING = 1e-13
"""Difference of two sums that comes from rounding, relative."""


@dataclass(frozen=True, eq=False)
class Choices:
    """One entry a choice, sorted by option, job and start.

    Parameters
    ----------
    job, option
        Of each choice; options are numbered as in `accounts`.
    start, until
        Start of the run [h], and the next one of the same job and option; the same if there is none.
    kg, kg_until
        Carbon at both.
    usage_usd
        Cost but for what overflows the reserved CPUs.
    wait, wait_until
        Hours of waiting at both.
    """

    job: IntArray
    option: IntArray
    start: FloatArray
    until: FloatArray
    kg: FloatArray
    kg_until: FloatArray
    usage_usd: FloatArray
    wait: FloatArray
    wait_until: FloatArray

    def __len__(self) -> int:
        return len(self.job)

    def joined(self, other: Choices) -> Choices:
        """Return both, one after the other."""
        columns = ((getattr(self, field.name), getattr(other, field.name)) for field in fields(self))
        return Choices(*(np.concatenate(pair) for pair in columns))

    def cheapest(self, instance: PurchasingInstance) -> Choices:
        """Return the cheapest choice of each job alone."""
        cost = self.cost(instance)
        order = np.lexsort((self.start, cost, self.job))
        best = order[np.diff(self.job[order], prepend=-1) != 0]
        kept = {field.name: getattr(self, field.name)[best] for field in fields(self)}
        alone = {"until": kept["start"], "kg_until": kept["kg"], "wait_until": kept["wait"]}
        return Choices(**(kept | alone))

    def cost(self, instance: PurchasingInstance) -> FloatArray:
        """Return the objective of each choice."""
        weights = instance.weights
        return np.asarray(
            weights.carbon_kg * self.kg + weights.cost_usd * self.usage_usd + weights.wait_hours * self.wait
        )

    def cost_of_moving(self, instance: PurchasingInstance) -> FloatArray:
        """Return by how much the objective is larger at the next start."""
        moves = self.moves()
        weights = instance.weights
        return np.asarray(weights.carbon_kg * moves["carbon_kg"] + weights.wait_hours * moves["mean_wait_hours"])

    def sums(self) -> dict[str, FloatArray]:
        """Return what each choice adds to the sums that may be limited."""
        return {"carbon_kg": self.kg, "cost_usd": self.usage_usd, "mean_wait_hours": self.wait}

    def moves(self) -> dict[str, FloatArray]:
        """Return what going all the way to the next start adds to them."""
        kg = self.kg_until - self.kg
        wait = self.wait_until - self.wait
        kg = np.where(np.abs(kg) > NOTHING * self.kg, kg, 0.0)
        return {"carbon_kg": kg, "cost_usd": np.zeros(len(kg)), "mean_wait_hours": wait}


def choices_of(instance: PurchasingInstance, whole_runs: bool = True) -> Choices:
    """Return all choices that an optimum may need.

    Options that do not use the reserved CPUs need one start only, the best one, unless limits couple the jobs.

    Parameters
    ----------
    instance
        The instance.
    whole_runs
        Also those on reserved and on-demand CPUs; False for those on spot CPUs alone.
    """
    jobs, prices = instance.jobs, instance.prices
    found = _spot(instance)
    if not whole_runs:
        return found
    everyone = np.arange(len(jobs))
    on_demand = prices.on_demand_usd_per_cpu_hour * jobs.length_hours
    reserved = np.inf if instance.reserved_cpus is None else float(instance.reserved_cpus)
    if instance.model == "splitting":
        return _runs(instance, everyone, SHARED, on_demand * np.maximum(0.0, jobs.cpus - reserved)).joined(found)
    fits = np.flatnonzero(jobs.cpus <= reserved * (1 + ROUNDING))
    whole = _runs(instance, everyone, ON_DEMAND, on_demand * jobs.cpus)
    whole = whole if instance.limits else whole.cheapest(instance)
    return _runs(instance, fits, RESERVED, np.zeros(len(jobs))).joined(whole).joined(found)


def _runs(instance: PurchasingInstance, among: IntArray, option: int, usage: FloatArray) -> Choices:
    row, start = distinct(instance, breakpoints(instance, among))
    job = among[row]
    hours = instance.time.slot_hours
    edges = np.arange(instance.time.slots + 1) * hours
    until = prefix_sums(instance.kg_per_cpu_hour) * hours
    end = start + instance.jobs.length_hours[job]
    kg = instance.jobs.cpus[job] * (np.interp(end, edges, until) - np.interp(start, edges, until))
    return _chained(job, option, start, kg, usage[job], start - instance.jobs.arrival_hours[job])


def _spot(instance: PurchasingInstance) -> Choices:
    allowed = np.flatnonzero(instance.spot_allowed)
    if not len(allowed):
        return _chained(allowed, SPOT, *(np.zeros(0) for _ in range(4)))
    runs = SpotRuns(instance)
    if instance.limits:
        points = [runs.hull(int(job)) for job in allowed]
        job = np.repeat(allowed, [len(start) for start, _ in points])
        start, kg = (np.concatenate(part) for part in zip(*points, strict=True))
    else:
        job = allowed
        start = runs.best(instance.weights.carbon_kg, instance.weights.wait_hours)[0][allowed]
        kg = runs.carbon_kg(job, start)
    wait = start - instance.jobs.arrival_hours[job] + runs.lost_hours[job]
    return _chained(job, SPOT, start, kg, runs.usage_usd[job], wait)


def _chained(
    job: IntArray, option: int, start: FloatArray, kg: FloatArray, usage: FloatArray, wait: FloatArray
) -> Choices:
    """Return choices of one option, sorted by job and start, with the next of each."""
    following = np.arange(len(job)) + (np.diff(job, append=-1) == 0)
    code = np.full(len(job), option, dtype=np.int64)
    return Choices(job, code, start, start[following], kg, kg[following], usage, wait, wait[following])

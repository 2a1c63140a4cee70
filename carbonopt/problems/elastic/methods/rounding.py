"""Method `lp-rounding`: the fluid optimum, rounded down to whole units and completed job by job."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.options import Options, Schedule
from carbonopt.core.parameters import Parameters, number
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.data.schedule import integer_schedule
from carbonopt.problems.elastic.formulation.objective import unit_carbon
from carbonopt.problems.elastic.methods.price.fluid.method import fluid_optimum

WHOLE = 1 - 1e-6
"""A unit that is on for more of a slot than this is on."""


@dataclass(frozen=True)
class RoundingParameters(Parameters):
    """What a user may set of method `lp-rounding`.

    Parameters
    ----------
    orders
        Orders of the jobs that are tried until all jobs complete: by tightness first, then at random. More of them
        find a schedule of a tight instance more often, and take longer.
    """

    orders: int = number(8, least=1)


def lp_rounding(instance: ElasticInstance, options: Options) -> Outcome:
    """Keep the whole units of the fluid optimum; complete each job by its cheapest units that fit."""
    found = fluid_optimum(instance, options)
    if found.status is Status.INFEASIBLE:
        return Outcome(Status.INFEASIBLE, certificate=found.certificate(), info=found.info)
    certificate = found.certificate()
    if instance.model == "fluid" or found.schedule is None:
        return Outcome(found.status, found.schedule, found.bound, certificate, found.info)
    rounder = _Rounder(instance, found.schedule, found.prices)
    rng = np.random.default_rng(options.seed)
    for attempt in range(options.parameters(RoundingParameters).orders):
        schedule = rounder.run(rng.permutation(len(instance.jobs)) if attempt else None)
        if schedule is not None:
            return Outcome(Status.FEASIBLE, schedule, found.bound, certificate, found.info)
        if options.remaining <= 0:
            break
    status = Status.UNKNOWN if options.remaining > 0 else Status.TIME_LIMIT
    return Outcome(status, None, found.bound, certificate, found.info)


class _Rounder:
    """Whole units of a fluid schedule, and what it takes to complete them."""

    def __init__(self, instance: ElasticInstance, fluid: Schedule, prices: FloatArray) -> None:
        self.instance, units = instance, instance.units
        index = {name: j for j, name in enumerate(instance.jobs.name)}
        job = np.array([index[name] for name in fluid["job"]], dtype=np.int64)
        slot = np.array(fluid["slot"], dtype=np.int64)
        share = np.array(fluid["share"])
        level = np.array(fluid["servers"], dtype=np.int64) - units.servers[instance.profile_of_job[job], 0].astype(int)
        self.first = np.zeros(len(index) + 1, dtype=np.int64)
        np.cumsum(instance.jobs.window_end - instance.jobs.arrival, out=self.first[1:])
        on = np.zeros((int(self.first[-1]), units.gain.shape[1]))  # share for which each unit is on
        np.add.at(on, (self.first[job] + slot - instance.jobs.arrival[job], level), share)
        on = np.cumsum(on[:, ::-1], axis=1)[:, ::-1]
        self.wanted = on
        self.whole = np.cumprod(on > WHOLE, axis=1).sum(axis=1)
        self.cost = unit_carbon(instance) + prices[None, :, None] * units.servers[:, None, :]

    def run(self, order: IntArray | None) -> Schedule | None:
        """Complete the jobs in an order, by default those with the least spare first; None if one does not fit."""
        jobs = self.instance.jobs
        units = self.instance.units
        profile = self.instance.profile_of_job
        count = self.whole.copy()
        owner = np.repeat(np.arange(len(jobs)), np.diff(self.first))
        slot = np.arange(len(owner)) - self.first[owner] + jobs.arrival[owner]
        zero = np.zeros((len(units.count), 1))
        servers = np.hstack([zero, np.cumsum(units.servers, axis=1)])
        gains = np.hstack([zero, np.cumsum(units.gain, axis=1)])
        free = self.instance.servers_to_give - np.bincount(
            slot, servers[profile[owner], count], self.instance.time.slots
        )
        left = jobs.required - np.bincount(owner, gains[profile[owner], count], len(jobs))
        if order is None:
            order = np.argsort((jobs.window_end - jobs.arrival) - jobs.length, kind="stable")
        for j in order:
            if left[j] > 0 and not self._complete(int(j), float(left[j]), count, free):
                return None
        kept = np.flatnonzero(count)
        scale = servers[profile[owner[kept]], count[kept]].astype(np.int64)
        return integer_schedule(self.instance, owner[kept], slot[kept], scale)

    def _complete(self, j: int, left: float, count: IntArray, free: FloatArray) -> bool:
        """Add the units that do the rest of job j's work at least cost per work that still counts."""
        p = self.instance.profile_of_job[j]
        a = self.instance.jobs.arrival[j]
        window = np.arange(self.first[j], self.first[j + 1])
        slots = window - self.first[j] + a
        gain = self.instance.units.gain[p]
        servers = self.instance.units.servers[p]
        last = int(self.instance.units.count[p])
        while left > 0:
            unit = np.minimum(count[window], last - 1)
            fits = (count[window] < last) & (servers[unit] <= free[slots])
            if not fits.any():
                return False
            ratio = np.where(fits, self.cost[p, slots, unit] / np.minimum(gain[unit], left), np.inf)
            best = int(np.argmin(ratio))
            left -= gain[unit[best]]
            free[slots[best]] -= servers[unit[best]]
            count[window[best]] += 1
        self._trim(-left, p, window, slots, count, free)
        return True

    def _trim(self, spare: float, p: int, window: IntArray, slots: IntArray, count: IntArray, free: FloatArray) -> None:
        """Give up the dearest top units that the job can spare."""
        gain = self.instance.units.gain[p]
        servers = self.instance.units.servers[p]
        while True:
            top = count[window] - 1
            usable = (top >= 0) & (gain[top] <= spare)
            if not usable.any():
                return
            best = int(np.argmax(np.where(usable, self.cost[p, slots, top], -np.inf)))
            spare -= gain[top[best]]
            free[slots[best]] += servers[top[best]]
            count[window[best]] -= 1

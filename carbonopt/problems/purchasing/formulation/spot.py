"""Runs on spot CPUs, valued by expectation, for the methods.

A run of L hours is evicted with hazard h an hour, loses what it has done, and starts again at once, on demand:

    E[cost]   = n (p_sp (1 - e^-hL) / h + p_od L (1 - e^-hL))
    E[carbon] = n (A(s + L) - A(s) + int_0^L (e^-hu - e^-hL) c(s + L + u) du)
    E[lost]   = (1 - e^-hL) / h - L e^-hL

with A the integral of the carbon c of a CPU. Between breakpoints, starts at which s, s + L or s + 2L is an edge of a
slot, the carbon is linear in s plus a multiple of e^hs: convex or concave.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray, prefix_sums
from carbonopt.problems.purchasing.data.instance import PurchasingInstance
from carbonopt.problems.purchasing.formulation.breakpoints import breakpoints, distinct

CHUNK = 500_000
"""Starts that are looked at together."""


@dataclass(frozen=True, eq=False)
class SpotRuns:
    """Expected values of runs on spot CPUs; jobs that are too long for them are valued all the same.

    Parameters
    ----------
    instance
        An instance with spot CPUs.
    """

    instance: PurchasingInstance

    @property
    def hazard(self) -> float:
        """Evictions of a running job per hour, h."""
        assert self.instance.spot is not None
        return self.instance.spot.evictions_per_hour

    @cached_property
    def chance(self) -> FloatArray:
        """Chance of an eviction, shape (N,)."""
        return np.asarray(-np.expm1(-self.hazard * self.instance.jobs.length_hours))

    @cached_property
    def run_hours(self) -> FloatArray:
        """Mean hours on spot CPUs, evicted or not, shape (N,)."""
        return self.chance / self.hazard if self.hazard > 0 else self.instance.jobs.length_hours

    @cached_property
    def lost_hours(self) -> FloatArray:
        """Mean hours that an eviction costs, shape (N,)."""
        length = self.instance.jobs.length_hours
        return np.maximum(0.0, self.run_hours - length * np.exp(-self.hazard * length))

    @cached_property
    def usage_usd(self) -> FloatArray:
        """Mean cost, shape (N,)."""
        jobs = self.instance.jobs
        prices = self.instance.prices
        again = prices.on_demand_usd_per_cpu_hour * jobs.length_hours * self.chance
        return np.asarray(jobs.cpus * (prices.spot_usd_per_cpu_hour * self.run_hours + again))

    @cached_property
    def _edges(self) -> FloatArray:
        return np.asarray(np.arange(self.instance.time.slots + 1) * self.instance.time.slot_hours)

    @cached_property
    def _until(self) -> FloatArray:
        return prefix_sums(self.instance.kg_per_cpu_hour) * self.instance.time.slot_hours

    @cached_property
    def _discounted(self) -> FloatArray:
        """int_t^T e^-h(v - t) c(v) dv at each edge t [kg a CPU], shape (T + 1,)."""
        kept = np.exp(-self.hazard * self.instance.time.slot_hours)
        weight = -np.expm1(-self.hazard * self.instance.time.slot_hours) / self.hazard
        sums = np.zeros(self.instance.time.slots + 1)
        for slot in range(self.instance.time.slots - 1, -1, -1):
            sums[slot] = self.instance.kg_per_cpu_hour[slot] * weight + kept * sums[slot + 1]
        return sums

    def _carbon_until(self, moment: FloatArray) -> FloatArray:
        return np.asarray(np.interp(moment, self._edges, self._until))

    def _slot(self, moment: FloatArray) -> IntArray:
        last = self.instance.time.slots - 1
        return np.clip(np.floor(moment / self.instance.time.slot_hours), 0, last).astype(np.int64)

    def _carbon_from(self, moment: FloatArray) -> FloatArray:
        """Discounted carbon after each moment."""
        slot = self._slot(moment)
        rest = np.maximum(0.0, self._edges[slot + 1] - moment)
        here = self.instance.kg_per_cpu_hour[slot] * -np.expm1(-self.hazard * rest) / self.hazard
        return np.asarray(here + np.exp(-self.hazard * rest) * self._discounted[slot + 1])

    def carbon_kg(self, job: IntArray, start: FloatArray) -> FloatArray:
        """Return the expected carbon of jobs at starts [kg]; `job` and `start` broadcast."""
        length = self.instance.jobs.length_hours[job]
        cpus = self.instance.jobs.cpus[job]
        end = start + length
        done = self._carbon_until(end)
        kg = done - self._carbon_until(start)
        if self.hazard > 0:
            again = self._restart(end, length)
            kg = kg + again - np.exp(-self.hazard * length) * (self._carbon_until(end + length) - done)
        return np.asarray(cpus * kg)

    def _restart(self, end: FloatArray, length: FloatArray) -> FloatArray:
        """int_0^L e^-hu c(end + u) du."""
        return self._carbon_from(end) - np.exp(-self.hazard * length) * self._carbon_from(end + length)

    def breakpoints(self, job: IntArray) -> FloatArray:
        """Return the ends of the windows and all breakpoints between, sorted, equal ones repeated, shape (J, B)."""
        return breakpoints(self.instance, job, (0, 1, 2) if self.hazard > 0 else (0, 1))

    def slopes(self, job: IntArray, points: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return d carbon / d start at the left and at the right end of each segment, and what grows as e^hs there.

        Arrays have shape (J, B - 1); the last one is the exponential part of the slope at the left end.
        """
        length = self.instance.jobs.length_hours[job, None]
        cpus = self.instance.jobs.cpus[job, None]
        kg = self.instance.kg_per_cpu_hour
        middle = (points[:, :-1] + points[:, 1:]) / 2
        survives = np.exp(-self.hazard * length)
        now = kg[self._slot(middle)]
        end = kg[self._slot(middle + length)]
        if self.hazard == 0:
            slope = cpus * (end - now)
            return slope, slope, np.zeros_like(slope)
        twice = kg[self._slot(middle + 2 * length)]
        inner = self.hazard * self._restart(points + length, length)
        flat = survives * end - now
        grows = inner[:, :-1] - (end - survives * twice)
        return cpus * (flat + inner[:, :-1]), cpus * (flat + inner[:, 1:]), cpus * grows

    def best(self, carbon: float, wait: float) -> tuple[FloatArray, FloatArray]:
        """Return the start of the least ``carbon`` times carbon plus ``wait`` times wait, and that, shape (N,).

        The wait counts what an eviction is expected to cost. Exact over all starts of the window.
        """
        jobs = self.instance.jobs
        start = np.array(jobs.arrival_hours)
        value = np.empty(len(jobs))
        width = int(np.ceil(self.instance.max_wait_hours.max(initial=0.0) / self.instance.time.slot_hours))
        size = max(1, CHUNK // (8 * width + 8))
        for first in range(0, len(jobs), size):
            some = np.arange(first, min(first + size, len(jobs)))
            points = self._with_stationary(some, self.breakpoints(some), carbon, wait)
            costs = carbon * self.carbon_kg(some[:, None], points) + wait * (points - jobs.arrival_hours[some, None])
            least = costs.argmin(axis=1)
            start[some] = points[some - first, least]
            value[some] = costs[some - first, least]
        return start, value + wait * self.lost_hours

    def _with_stationary(self, job: IntArray, points: FloatArray, carbon: float, wait: float) -> FloatArray:
        """Return the points, and in each segment that at which the slope is 0, if there is one."""
        if self.hazard == 0 or carbon == 0:
            return points
        left, _, grows = self.slopes(job, points)
        width = np.diff(points, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            ahead = np.log1p(-(left + wait / carbon) / grows) / self.hazard
        inside = np.isfinite(ahead) & (ahead > 0) & (ahead < width)
        return np.concatenate([points, points[:, :-1] + np.where(inside, ahead, 0.0)], axis=1)

    def hull(self, job: int) -> tuple[FloatArray, FloatArray]:
        """Return starts of one job, all different, and carbon: linear between them, it is never above the truth.

        Where the carbon is concave the ends of a segment do; where it is convex their tangents meet below it.
        """
        some = np.array([job])
        points = distinct(self.instance, self.breakpoints(some))[1][None, :]
        kg = self.carbon_kg(some[:, None], points)[0]
        left, right, _ = (part[0] for part in self.slopes(some, points))
        start = points[0]
        width = np.diff(points[0])
        convex = right - left > 1e-9 * (np.abs(left) + np.abs(right))
        with np.errstate(divide="ignore", invalid="ignore"):
            ahead = np.where(convex, (np.diff(kg) - right * width) / (left - right), 0.0)
        use = convex & (ahead > 0) & (ahead < width)
        starts = np.concatenate([start, start[:-1][use] + ahead[use]])
        carbon = np.concatenate([kg, kg[:-1][use] + (left * ahead)[use]])
        order = np.argsort(starts)
        return starts[order], carbon[order]

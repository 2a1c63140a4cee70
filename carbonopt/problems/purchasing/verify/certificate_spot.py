"""The least that a job can be expected to cost on spot CPUs: a part of `certificate`.

With hazard h, a run from s of length L emits in expectation, with c the carbon and A its integral,

    A(s + L) - A(s) + I(s) - e^-hL (A(s + 2L) - A(s + L)),   I(s) = int_0^L e^-hu c(s + L + u) du

Between breakpoints, where s, s + L or s + 2L passes an edge, I is a constant plus a multiple of e^hs, so the cost is
convex or concave there: its least is at a breakpoint, or inside at a point in closed form. There the tangent bounds it.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, localcontext

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray, frozen_float
from carbonopt.problems.purchasing.data.instance import PurchasingInstance
from carbonopt.problems.purchasing.verify.certificate_runs import (
    DIGITS,
    EPSILON,
    Priced,
    least_of_runs,
    starts_of_chunks,
)


def least_on_spot(instance: PurchasingInstance, priced: Priced) -> FloatArray:
    """Return a lower bound on each job's expected cost on spot CPUs, infinite where it may not run there, (N,)."""
    least = np.full(len(instance.jobs), np.inf)
    allowed = np.flatnonzero(instance.spot_allowed)
    if instance.spot is None or not len(allowed):
        return least
    jobs = instance.jobs
    hazard = instance.spot.evictions_per_hour
    spot, on_demand = (
        priced.cost * jobs.cpus * usd * (1 - 8 * EPSILON)
        for usd in (instance.prices.spot_usd_per_cpu_hour, instance.prices.on_demand_usd_per_cpu_hour)
    )
    if hazard == 0:
        runs = least_of_runs(instance, priced, np.zeros(len(jobs)))[allowed]
        least[allowed] = runs + (spot * jobs.length_hours)[allowed]
        return least
    length = jobs.length_hours[allowed]
    chance = -np.expm1(-hazard * length)
    run = chance / hazard
    lost = np.maximum(0.0, run - length * np.exp(-hazard * length))
    fixed = spot[allowed] * run + on_demand[allowed] * length * chance + priced.wait * lost
    discounted = _discounted(priced, hazard)
    starts = np.empty(len(jobs))
    for some, start in starts_of_chunks(instance, priced, (0, 1, 2), allowed):
        starts[some] = _least_start(_Emission(instance, priced, hazard, discounted, some), np.sort(start, axis=1))
    zero = np.zeros(len(jobs))
    rounding = 2 * priced.rounding(jobs.cpus, zero)
    rounding += 32 * EPSILON * priced.carbon * jobs.cpus * discounted.max(initial=0.0)
    least[allowed] = starts[allowed] + fixed * (1 - 16 * EPSILON) - rounding[allowed]
    return least


def _discounted(priced: Priced, hazard: float) -> FloatArray:
    """Return J(t) = int_t^T e^-h(v - t) c(v) dv at each edge [kg a CPU], each rounded once, shape (G + 1,)."""
    with localcontext() as context:
        context.prec = DIGITS
        h = Decimal(hazard)
        step = Decimal(priced.cell_hours)
        kept = (-h * step).exp()
        weight = (1 - kept) / h
        sums = [Decimal(0)]
        for kg in reversed(priced.kg.tolist()):
            sums.append(Decimal(kg) * weight + kept * sums[-1])
        return frozen_float([float(total) for total in reversed(sums)])


@dataclass(frozen=True, eq=False)
class _Emission:
    """Weighted carbon and wait of some jobs on spot CPUs as functions of their starts."""

    instance: PurchasingInstance
    priced: Priced
    hazard: float
    discounted: FloatArray
    some: IntArray

    @property
    def length(self) -> FloatArray:
        return self.instance.jobs.length_hours[self.some, None]

    @property
    def weight(self) -> FloatArray:
        return self.priced.carbon * self.instance.jobs.cpus[self.some, None]

    @property
    def survives(self) -> FloatArray:
        return np.asarray(np.exp(-self.hazard * self.length))

    def until(self, moment: FloatArray) -> FloatArray:
        return np.asarray(np.interp(moment, self.priced.edges, self.priced.kg_until))

    def value(self, start: FloatArray) -> FloatArray:
        end = start + self.length
        done = self.until(end)
        once = done - self.until(start)
        again = self.inner(start) - self.survives * (self.until(end + self.length) - done)
        waited = self.priced.wait * (start - self.instance.jobs.arrival_hours[self.some, None])
        return np.asarray(self.weight * (once + again) + waited)

    def inner(self, start: FloatArray) -> FloatArray:
        """I(s)."""
        end = start + self.length
        return np.asarray(self._from(end) - self.survives * self._from(end + self.length))

    def _from(self, moment: FloatArray) -> FloatArray:
        """J(t), from that at the next edge."""
        cell = self.priced.cell(moment)
        rest = np.maximum(0.0, self.priced.edges[cell + 1] - moment)
        kept = np.exp(-self.hazard * rest)
        return np.asarray(
            self.priced.kg[cell] * -np.expm1(-self.hazard * rest) / self.hazard + kept * self.discounted[cell + 1]
        )

    def levels(self, middle: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return c at s, s + L and s + 2L."""
        kg = self.priced.kg
        cell = self.priced.cell
        return kg[cell(middle)], kg[cell(middle + self.length)], kg[cell(middle + 2 * self.length)]


def _least_start(emission: _Emission, start: FloatArray) -> FloatArray:
    """Return a lower bound over all starts between the first and the last column of `start`, shape (J,)."""
    least = emission.value(start).min(axis=1)
    one = start[:, :-1]
    two = start[:, 1:]
    now, end, twice = emission.levels((one + two) / 2)
    inner = emission.inner(start)
    flat = emission.weight * (emission.survives * end - now) + emission.priced.wait  # slope but for w n h I
    rate = emission.weight * emission.hazard
    falls = flat + rate * inner[:, :-1] < 0
    rises = flat + rate * inner[:, 1:] > 0
    inside = falls & rises
    if not inside.any():
        return np.asarray(least)
    rest = (end - emission.survives * twice) / emission.hazard  # I = rest + (I(one) - rest) e^h(s - one)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (-flat / rate - rest) / (inner[:, :-1] - rest)
        ahead = np.log(ratio) / emission.hazard
    width = two - one
    ahead = np.where(np.isfinite(ahead), np.clip(ahead, 0.0, width), width / 2)
    bottom = one + np.where(inside, ahead, 0.0)
    slope = flat + rate * emission.inner(bottom)
    tangent = np.where(inside, emission.value(bottom) - np.abs(slope) * width, np.inf)
    return np.asarray(np.minimum(least, tangent.min(axis=1)))

"""The part of the fluid program that can matter at given prices, over whole levels.

A level k of a job in a slot is its first k units together. Shares z_jtk of a slot at each level, with
sum_k z_jtk <= 1, say the same as nested units (share = y_u - y_{u+1}), and need no precedence:

    min  sum CI_t E_k z_jtk   s.t.  sum P_k z_jtk >= l_j,  sum W_k z_jtk <= M_t,  sum_k z_jtk <= 1

A *band* holds the levels whose reduced cost at the prices is within delta of the best of their job
and slot. Its optimum is the whole program's if no level outside has a negative reduced cost, which
the Lagrangian bound at its duals shows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.core.memory import require_bytes
from carbonopt.core.options import Schedule
from carbonopt.problems.elastic.data.instance import ROUNDING, ElasticInstance, Units
from carbonopt.problems.elastic.formulation.objective import unit_carbon

BYTES_PER_COLUMN, BYTES_PER_PAIR = 150, 200
"""Of the interior point method and of what comes after it, rounded up."""
LEAST_SHARE = 1e-12
"""A share of a slot below this is left out of a schedule."""


class Levels(NamedTuple):
    """Cumulative carbon [g], work [slots at k_min] and servers of each level: (P, T, U), (P, U), (P, U)."""

    carbon: FloatArray
    work: FloatArray
    servers: FloatArray


class Allocation(NamedTuple):
    """Shares of slots: job, slot, level (from 0) and share of each row, four arrays of one length."""

    job: IntArray
    slot: IntArray
    level: IntArray
    share: FloatArray

    def schedule(self, instance: ElasticInstance) -> Schedule:
        """Return it as a schedule of the fluid model."""
        k_min = instance.units.servers[instance.profile_of_job[self.job], 0].astype(np.int64)
        names = np.array(instance.jobs.name, dtype=object)
        return {
            "job": names[self.job].tolist(),
            "slot": self.slot.tolist(),
            "servers": (self.level + k_min).tolist(),
            "share": self.share.tolist(),
        }


class Band(NamedTuple):
    """Columns z_jtk, sorted by job, slot, level, in compressed form.

    `first_pair` (N + 1) points from jobs into the pairs (job, slot), `slot` (Q) is the slot of each
    pair, `first_column` (Q + 1) points from pairs into `level` (C), which counts from 0.
    """

    first_pair: IntArray
    slot: IntArray
    first_column: IntArray
    level: IntArray


@dataclass(frozen=True, eq=False)
class FluidProgram:
    """The fluid program of an instance, or of some of its jobs and slots, as arrays.

    Parameters
    ----------
    name
        For messages.
    arrival, end
        Windows [arrival, end) of the N jobs, shape (N,).
    length
        Work to be done [slots at k_min], shape (N,).
    profile
        Row of each job in the tables of units, shape (N,).
    units
        Of all P profiles.
    carbon
        Of each unit in each slot [g], shape (P, T, U).
    capacity
        M_t [servers], shape (T,).
    allowance
        By how much load and shares may exceed capacity and 1, relative: of the fluid model's checker.
    """

    name: str
    arrival: IntArray
    end: IntArray
    length: FloatArray
    profile: IntArray
    units: Units
    carbon: FloatArray
    capacity: FloatArray
    allowance: float = ROUNDING

    @classmethod
    def of(cls, instance: ElasticInstance) -> FluidProgram:
        """Return the program of an instance."""
        jobs = instance.jobs
        cost = unit_carbon(instance)
        windows = (jobs.arrival, jobs.window_end)
        capacity = np.asarray(instance.servers_to_give)
        allowance = ROUNDING if instance.model == "fluid" else 0.0  # whole servers cannot exceed by a little
        profile, units = instance.profile_of_job, instance.units
        return cls(instance.name, *windows, jobs.length, profile, units, cost, capacity, allowance)

    def without_carbon(self) -> FluidProgram:
        """Return the program in which units cost nothing."""
        return replace(self, carbon=np.zeros_like(self.carbon))

    @property
    def required(self) -> FloatArray:
        """Work that counts as all of it [slots at k_min], shape (N,)."""
        return self.length * (1 - ROUNDING)

    @property
    def limit(self) -> FloatArray:
        """Load that counts as within capacity [servers], shape (T,)."""
        return self.capacity * (1 + self.allowance)

    @property
    def width(self) -> IntArray:
        """Slots in each job's window, shape (N,)."""
        return self.end - self.arrival

    @property
    def size(self) -> float:
        """How many units there are in all windows."""
        return float(self.width @ self.units.count[self.profile])

    @cached_property
    def levels(self) -> Levels:
        """The levels of all profiles."""
        units = self.units
        return Levels(np.cumsum(self.carbon, axis=2), np.cumsum(units.gain, axis=1), np.cumsum(units.servers, axis=1))

    def band_size(self, prices: FloatArray, mu: FloatArray, delta: float) -> tuple[int, int]:
        """Return how many pairs and levels `band` would have."""
        return self._select(prices, mu, delta, *np.zeros((4, 0), dtype=np.int64))

    def band(self, prices: FloatArray, mu: FloatArray, delta: float) -> Band:
        """Return the levels within `delta` [g] of the best at slot prices (T,) and break prices (N,)."""
        pairs, columns = self.band_size(prices, mu, delta)
        size = f"the band of {self.name} would have {columns:.3g} levels"
        require_bytes(size, BYTES_PER_COLUMN * columns + BYTES_PER_PAIR * pairs)
        sizes = (len(self.arrival) + 1, pairs, pairs + 1, columns)
        band = Band(*(np.zeros(size, dtype=np.int64) for size in sizes))
        self._select(prices, mu, delta, *band)
        return band

    def _select(self, *where: Any) -> tuple[int, int]:
        data = (self.arrival, self.end, self.profile, self.units.count, self.capacity > 0)
        return _select(*data, *self.levels, *where)

    def job_of_pair(self, band: Band) -> IntArray:
        """Return the job of each pair, shape (Q,)."""
        return np.repeat(np.arange(len(band.first_pair) - 1), np.diff(band.first_pair))

    def allocation(self, band: Band, share: FloatArray) -> Allocation:
        """Return the shares of the band's levels that are any, by job, slot and level."""
        pair = np.repeat(np.arange(len(band.slot)), np.diff(band.first_column))
        kept = np.flatnonzero(share > LEAST_SHARE)
        job = self.job_of_pair(band)[pair[kept]]
        slot = band.slot[pair[kept]]
        return Allocation(job, slot, band.level[kept], np.minimum(share[kept], 1.0))

    def carbon_of(self, allocation: Allocation) -> float:
        """Return the carbon of an allocation [g]."""
        profile = self.profile[allocation.job]
        return float(self.levels.carbon[profile, allocation.slot, allocation.level] @ allocation.share)


@kernel
def _select(
    arrival: IntArray,
    end: IntArray,
    profile: IntArray,
    count: IntArray,
    is_open: BoolArray,
    carbon: FloatArray,
    work: FloatArray,
    servers: FloatArray,
    prices: FloatArray,
    mu: FloatArray,
    delta: float,
    first_pair: IntArray,
    slot: IntArray,
    first_column: IntArray,
    level: IntArray,
) -> tuple[int, int]:
    """Count the band's pairs and columns, and fill its arrays where they are not empty."""
    fill = len(first_pair) > 0
    pairs, columns = 0, 0
    for j in range(len(arrival)):
        p = profile[j]
        if fill:
            first_pair[j] = pairs
        for t in range(arrival[j], end[j]):
            if not is_open[t]:
                continue
            best = 0.0
            for k in range(count[p]):
                best = min(best, carbon[p, t, k] + prices[t] * servers[p, k] - mu[j] * work[p, k])
            before = columns
            for k in range(count[p]):
                if carbon[p, t, k] + prices[t] * servers[p, k] - mu[j] * work[p, k] <= best + delta:
                    if fill:
                        level[columns] = k
                    columns += 1
            if columns > before:
                if fill:
                    slot[pairs], first_column[pairs] = t, before
                pairs += 1
    if fill:
        first_pair[len(arrival)] = pairs
        first_column[pairs] = columns
    return pairs, columns

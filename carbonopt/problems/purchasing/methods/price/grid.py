"""An instance as flat arrays on a grid of equal cells: what the compiled kernels read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray, prefix_sums
from carbonopt.problems.purchasing.data.instance import ROUNDING, PurchasingInstance


class Rates(NamedTuple):
    """Something a CPU pays per hour in each cell, and its integral from the beginning to each edge; both (..., G + 1).

    The last rate is that beyond the horizon, 0.
    """

    rate: FloatArray
    until: FloatArray


class Tariff(NamedTuple):
    """What CPUs pay: length of a cell [h], carbon of each, price of each for jobs of each size, and that of waiting.

    Prices have shape (sizes, G + 1).
    """

    hours: float
    carbon: Rates
    price: Rates
    wait: float


class Terms(NamedTuple):
    """What each job meets, (N,): what it pays in all wherever it runs on the pool, what something else costs, heat."""

    extra: FloatArray
    other: FloatArray
    heat: FloatArray


class Jobs(NamedTuple):
    """The jobs' columns, shape (N,): hours, CPUs, CPUs that may be on reserved ones, and the row of their price."""

    arrival: FloatArray
    wait: FloatArray
    length: FloatArray
    cpus: FloatArray
    shared: FloatArray
    size: IntArray


MOST_CELLS = 5_000_000
"""Cells of a grid, at most: where parts of slots would be more, slots are not parted."""


@dataclass(frozen=True)
class Grid:
    """Equal cells, `per_slot` a slot.

    Parameters
    ----------
    slots
        Slots of the instance.
    per_slot
        Cells a slot.
    hours
        Of a cell [h].
    """

    slots: int
    per_slot: int
    hours: float

    @staticmethod
    def of(instance: PurchasingInstance, per_slot: int) -> Grid:
        """Return the grid of `per_slot` cells a slot."""
        return Grid(instance.time.slots, per_slot, instance.time.slot_hours / per_slot)

    @staticmethod
    def near(instance: PurchasingInstance, hours: float, coarser: int = 1) -> Grid:
        """Return the grid whose cells are of about so many hours, and at most a slot.

        The number of cells of a slot is a multiple of `coarser`, so that each lies in a cell of the grid of `coarser`.
        """
        cells = coarser * max(1, round(instance.time.slot_hours / hours / coarser))
        return Grid.of(instance, cells if cells * instance.time.slots <= MOST_CELLS else coarser)

    @property
    def cells(self) -> int:
        """Number of cells G."""
        return self.slots * self.per_slot

    def spread(self, per_slot: FloatArray) -> FloatArray:
        """Return values of slots, or of a coarser grid's cells, as values of the cells, shape (..., G)."""
        return np.repeat(per_slot, self.cells // per_slot.shape[-1], axis=-1)

    def rates(self, per_cell: FloatArray) -> Rates:
        """Return rates of cells, shape (..., G), with their integrals."""
        beyond = np.zeros((*per_cell.shape[:-1], 1))
        return Rates(np.concatenate([per_cell, beyond], axis=-1), prefix_sums(per_cell) * self.hours)


def jobs_of(instance: PurchasingInstance, most: float) -> Jobs:
    """Return the jobs' columns where `most` CPUs at most may be reserved, all at the same price."""
    jobs = instance.jobs
    cpus = np.array(jobs.cpus)
    if instance.model == "no-split":
        shared = np.where(cpus <= most * (1 + ROUNDING), cpus, 0.0)
    else:
        shared = np.minimum(cpus, most)
    arrival = jobs.arrival_hours
    wait = instance.max_wait_hours
    length = jobs.length_hours
    size = np.zeros(len(cpus), dtype=np.int64)
    return Jobs(np.array(arrival), np.array(wait), np.array(length), cpus, shared, size)


def largest_load(instance: PurchasingInstance) -> float:
    """Return the CPUs that all jobs together can need at most at any time, rounded up: more are of no use."""
    jobs = instance.jobs
    moment = np.concatenate([jobs.arrival_hours, instance.latest_end_hours])
    change = np.concatenate([jobs.cpus, -jobs.cpus])[np.argsort(moment, kind="stable")]
    return float(np.ceil(np.cumsum(change).max(initial=0.0) * (1 + 1e-9)))

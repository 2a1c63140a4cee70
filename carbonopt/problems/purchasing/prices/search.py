"""Annealed best responses of uninterrupted jobs: on cells while it is hot, to the exact load at last."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.problems.purchasing.instance import ROUNDING, PurchasingInstance
from carbonopt.problems.purchasing.prices.cells import Choice, Pool, Room, add_loads, sweep
from carbonopt.problems.purchasing.prices.cooling import Cooling
from carbonopt.problems.purchasing.prices.events import Events, Path, Terms, put_all, respond
from carbonopt.problems.purchasing.prices.plan import RESERVED, SHARED, Plan
from carbonopt.problems.purchasing.prices.spot import Other
from carbonopt.problems.purchasing.prices.table import Grid, jobs_of, way

BLOCK = 2_000
"""Jobs near each other in time that a sweep shuffles: a whole shuffle of a year leaves the cache (half as fast)."""
BUCKET_EVENTS = 8.0
"""Changes of the load in a bucket of the exact pool, on average."""


@dataclass(eq=False)
class Search:
    """Best responses at given weights and reserved CPUs.

    Parameters
    ----------
    instance
        The instance; not of the model ``suspend-resume``.
    weights
        Of a kg, a $ and an hour, with multipliers of limits added, shape (3,).
    reserved
        R.
    other
        What jobs may do beside the pool, at these weights.
    start
        To begin with [h], shape (N,).
    on_pool
        Whether each job begins on the pool, shape (N,).
    random
        Source of everything drawn.
    """

    instance: PurchasingInstance
    weights: FloatArray
    reserved: float
    other: Other
    start: FloatArray
    on_pool: BoolArray
    random: np.random.Generator

    def __post_init__(self) -> None:
        self.hard = self.instance.model == "no-split"
        self.jobs = jobs_of(self.instance, self.reserved)
        self.by_arrival = np.argsort(self.jobs.arrival, kind="stable")
        fits = np.asarray(self.jobs.cpus <= self.reserved * (1 + ROUNDING)) | (not self.hard)
        self.movable = self.by_arrival[fits[self.by_arrival]]
        on_pool = np.asarray(self.on_pool, dtype=np.bool_) & fits
        self.choice = Choice(np.array(self.start), on_pool, np.array(self.other.value))
        self.price = float(self.weights[1]) * self.instance.prices.on_demand_usd_per_cpu_hour
        size = 4.0 * float((self.jobs.wait + self.jobs.length).sum()) / self.instance.time.slot_hours
        self.steps = 1e4 * size

    def order(self) -> IntArray:
        """Return the jobs in an order that is random among jobs that are near each other in time."""
        count = len(self.movable)
        block = (np.arange(count) + self.random.integers(BLOCK)) // BLOCK
        return self.movable[np.argsort(block + 0.999 * self.random.random(count))]

    def anneal(self, hours: float, cooling: Cooling, reach: float = np.inf) -> None:
        """Sweep on cells of about so many hours; jobs move by `reach` hours at most."""
        grid = Grid.near(self.instance, hours)
        carbon = grid.spread(self.instance.kg_per_cpu_hour * self.weights[0])
        load, wait = np.zeros(grid.cells), float(self.weights[2])
        pool = Pool(grid.hours, carbon, load, self.reserved, self.price, wait)
        way(add_loads, self.steps)(self.jobs, self.choice, pool)
        widest, longest = float(self.jobs.wait.max(initial=0.0)), float(self.jobs.length.max(initial=0.0))
        room = Room(np.empty(int(widest / grid.hours) + 8), np.empty(int((2 * widest + 1 + longest) / grid.hours) + 16))
        run = way(sweep, self.steps)
        for temperature, factor in cooling:
            order = self.order()
            luck = self.random.random(len(order))
            steep = pool._replace(price=self.price * (factor if self.hard else 1.0))
            run(order, luck, temperature, reach, self.jobs, steep, self.choice, room)

    def settle(self, cooling: Cooling, reach: float = np.inf) -> None:
        """Respond to the exact load; jobs move by `reach` hours at most."""
        events, size = self._events(16), 1024
        path = _path(size)
        run = way(respond, self.steps)
        for temperature, factor in cooling:
            above = self.price * (factor if self.hard else 1.0)
            terms = Terms(self.reserved * (1 + 0.1 * ROUNDING), above, float(self.weights[2]))
            order, begin = self.order(), 0
            luck = self.random.random(len(order))
            while begin < len(order):
                begin = run(order, begin, luck, temperature, reach, self.jobs, self.choice, events, terms, path)
                if begin < len(order):
                    size *= 2
                    path, events = _path(size), self._events(2 * events.moment.shape[1])

    def _events(self, capacity: int) -> Events:
        """Return the exact pool."""
        instance = self.instance
        per_slot = 2.0 * len(self.jobs.cpus) / instance.time.slots / BUCKET_EVENTS
        grid = Grid.of(instance, int(min(64, max(1, round(per_slot)))))
        carbon = grid.spread(instance.kg_per_cpu_hour * self.weights[0])
        while True:
            shape = (grid.cells, capacity | 1)  # rows a power of two apart would share few places of the cache
            count = np.zeros(grid.cells, dtype=np.int64)
            events = Events(grid.hours, np.empty(shape), np.empty(shape), count, np.zeros(grid.cells), carbon)
            if way(put_all, self.steps)(self.jobs, self.choice, events):
                return events
            capacity *= 2

    def plan(self) -> Plan:
        """Return what the jobs do."""
        on_pool, count = self.choice.on_pool, len(self.jobs.cpus)
        option = np.where(on_pool, RESERVED if self.hard else SHARED, self.other.kind.astype(np.int64))
        start = np.where(on_pool, self.choice.start, self.other.start)
        return Plan(np.arange(count), start, start + self.jobs.length, option, self.reserved)


def _path(size: int) -> Path:
    return Path(np.empty(size), np.empty(size), np.empty(size), np.empty(2 * size + 8), np.empty(2 * size + 8))

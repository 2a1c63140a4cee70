"""Annealed best responses of uninterrupted jobs: on cells while it is hot, to the exact load at last.

The cost of a schedule is the bound, and what each job pays at the bound's prices lambda beyond its least (its regret),
and what the load costs beyond the prices: p (load - R)^+ - lambda (load - R) >= 0. Jobs that see only the load settle
early in places of large regret, which later ones fill up around them. So the load counts little at first: at a
firmness theta,

    regret + theta (cost of load beyond the prices),

which is what jobs pay at the toll (1 - theta) lambda and the price theta p of load above R. A theta of 0 is the
relaxation, one of 1 the schedule's true cost. Of a job of n > R CPUs the bound's load is R; at the prices it pays
(n - R) p L for the rest wherever it runs. Where jobs may not split, p is in the end too dear to be paid.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.problems.purchasing.data.instance import ROUNDING, PurchasingInstance
from carbonopt.problems.purchasing.data.purchase_options import RESERVED, SHARED
from carbonopt.problems.purchasing.methods.price.cooling import Cooling, Step
from carbonopt.problems.purchasing.methods.price.grid import Grid, jobs_of
from carbonopt.problems.purchasing.methods.price.kernels.cell_responses import (
    Choice,
    Pool,
    Room,
    Turns,
    add_loads,
    sweep,
)
from carbonopt.problems.purchasing.methods.price.kernels.exact_responses import (
    Events,
    LoadPrices,
    Path,
    put_all,
    respond,
)
from carbonopt.problems.purchasing.methods.price.others import Other
from carbonopt.problems.purchasing.methods.price.parameters import PriceParameters
from carbonopt.problems.purchasing.methods.price.run_table import RunTable


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
    size
        Row of the prices for each job, shape (N,).
    prices
        Of reserved CPU-hours for jobs of each size, from the bound: of cells that part the slots, shape (sizes, G).
    random
        Source of everything drawn.
    parameters
        Of the method.
    placed
        Jobs that stay where they begin, shape (N,); None for none.
    """

    instance: PurchasingInstance
    weights: FloatArray
    reserved: float
    other: Other
    start: FloatArray
    on_pool: BoolArray
    size: IntArray
    prices: FloatArray
    random: np.random.Generator
    parameters: PriceParameters = field(default_factory=PriceParameters)
    placed: BoolArray | None = None

    def __post_init__(self) -> None:
        self.hard = self.instance.model == "no-split"
        self.jobs = jobs_of(self.instance, self.reserved)._replace(size=self.size)
        self.by_arrival = np.argsort(self.jobs.arrival, kind="stable")
        self.price = float(self.weights[1]) * self.instance.prices.on_demand_usd_per_cpu_hour
        small = np.asarray(self.jobs.cpus <= self.reserved * (1 + ROUNDING))
        fits = small & (self.price > 0) | (not self.hard)  # where on demand is free, nobody needs the pool
        moves = fits if self.placed is None else fits & ~self.placed
        self.movable = self.by_arrival[moves[self.by_arrival]]
        on_pool = np.asarray(self.on_pool, dtype=np.bool_) & fits
        self.choice = Choice(np.array(self.start), on_pool, np.array(self.other.value))

    def order(self) -> IntArray:
        """Return the jobs in an order that is random among jobs that are near each other in time."""
        count = len(self.movable)
        size = self.parameters.rounds.shuffled_jobs
        block = (np.arange(count) + self.random.integers(size)) // size
        return self.movable[np.argsort(block + 0.999 * self.random.random(count))]

    def at(self, step: Step) -> tuple[float, Choice]:
        """Return the price of load above R in a sweep, and the choices with what others cost beside it."""
        price = self.price * step.firm * (step.steep if self.hard else 1.0)
        if self.hard or step.firm >= 1.0:
            return price, self.choice
        surely = self.price * (self.jobs.cpus - self.jobs.shared) * self.jobs.length  # on demand wherever a job runs
        return price, self.choice._replace(other=self.choice.other - (1.0 - step.firm) * surely)

    def anneal(self, hours: float, cooling: Cooling, reach: float = np.inf) -> None:
        """Sweep on cells of about so many hours; jobs move by `reach` hours at most."""
        grid = Grid.near(self.instance, hours, self.prices.shape[1] // self.instance.time.slots)
        carbon = grid.spread(self.instance.kg_per_cpu_hour * self.weights[0])
        load = np.zeros(grid.cells)
        prices = grid.spread(self.prices)
        toll = np.zeros_like(prices)
        pool = Pool(grid.hours, carbon, toll, load, self.reserved, self.price, float(self.weights[2]))
        add_loads(self.jobs, self.choice, pool)
        widest = float(self.jobs.wait.max(initial=0.0))
        longest = float(self.jobs.length.max(initial=0.0))
        room = Room(np.empty(int(widest / grid.hours) + 8), np.empty(int((2 * widest + 1 + longest) / grid.hours) + 16))
        for step in cooling:
            order = self.order()
            turns = Turns(order, self.random.random(len(order)), step.temperature, reach)
            above, choice = self.at(step)
            np.multiply(prices, 1.0 - step.firm, out=toll)
            sweep(turns, self.jobs, pool._replace(price=above), choice, room)

    def settle(self, cooling: Cooling, reach: float = np.inf) -> None:
        """Respond to the exact load; jobs move by `reach` hours at most."""
        buckets = self.buckets()
        size = 1024
        events = self.events(buckets, 16)
        prices = buckets.spread(self.prices)
        path = path_of(size)
        for step in cooling:
            above, choice = self.at(step)
            terms = LoadPrices(self.reserved * (1 + 0.1 * ROUNDING), above, float(self.weights[2]))
            order = self.order()
            begin = 0
            turns = Turns(order, self.random.random(len(order)), step.temperature, reach)
            while begin < len(order):
                np.multiply(prices, 1.0 - step.firm, out=events.toll)
                begin = respond(turns, begin, self.jobs, choice, events, terms, path)
                if begin < len(order):
                    size *= 2
                    path = path_of(size)
                    events = self.events(buckets, 2 * events.moment.shape[1])

    def buckets(self) -> Grid:
        """Return the buckets of the exact pool: parts of the cells that the prices are of."""
        slots = self.instance.time.slots
        rounds = self.parameters.rounds
        per_slot = 2.0 * len(self.jobs.cpus) / slots / rounds.bucket_changes
        hours = self.instance.time.slot_hours / min(rounds.most_buckets, max(1.0, per_slot))
        return Grid.near(self.instance, hours, self.prices.shape[1] // slots)

    def events(self, grid: Grid, capacity: int) -> Events:
        """Return the exact pool in buckets of a grid."""
        carbon = grid.spread(self.instance.kg_per_cpu_hour * self.weights[0])
        while True:
            shape = (grid.cells, capacity | 1)  # rows a power of two apart would share few places of the cache
            count = np.zeros(grid.cells, dtype=np.int64)
            before = np.zeros(grid.cells)
            toll = np.zeros((len(self.prices), grid.cells))
            events = Events(grid.hours, np.empty(shape), np.empty(shape), count, before, carbon, toll)
            if put_all(self.jobs, self.choice, events):
                return events
            capacity *= 2

    def runs(self) -> RunTable:
        """Return what the jobs do."""
        on_pool = self.choice.on_pool
        count = len(self.jobs.cpus)
        option = np.where(on_pool, RESERVED if self.hard else SHARED, self.other.kind.astype(np.int64))
        start = np.where(on_pool, self.choice.start, self.other.start)
        return RunTable(np.arange(count), start, start + self.jobs.length, option, self.reserved)


def path_of(size: int) -> Path:
    """Return scratch for so many moments of a job's window."""
    return Path(np.empty(size), np.empty(size), np.empty(size), np.empty(2 * size + 8), np.empty(2 * size + 8))

"""Annealed best responses of jobs that may be interrupted: each takes the cheapest hours of its window.

Each cell costs a job n alpha + p clip(load + n - R, 0, n) an hour, made dearer by noise that fades: without it, jobs
that each have nothing better to do alone stay where together they should not.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.problems.purchasing.data.instance import PurchasingInstance
from carbonopt.problems.purchasing.data.purchase_options import SHARED
from carbonopt.problems.purchasing.methods.price.cooling import Cooling
from carbonopt.problems.purchasing.methods.price.grid import Grid, jobs_of
from carbonopt.problems.purchasing.methods.price.kernels.cell_responses import Choice, Pool
from carbonopt.problems.purchasing.methods.price.kernels.piece_pricing import Kept
from carbonopt.problems.purchasing.methods.price.kernels.piece_responses import Taken, respond_pieces
from carbonopt.problems.purchasing.methods.price.others import Other
from carbonopt.problems.purchasing.methods.price.parameters import PriceParameters
from carbonopt.problems.purchasing.methods.price.run_table import RunTable

TINY_HOURS = 1e-9
"""Pieces shorter than this go to the job's longest piece."""


@dataclass(eq=False)
class PieceSearch:
    """Best responses at given weights and reserved CPUs; see `search.Search`."""

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

    def __post_init__(self) -> None:
        self.jobs = jobs_of(self.instance, self.reserved)
        self.grid = Grid.near(self.instance, self.parameters.suspend_resume.cell_hours)
        jobs = self.jobs
        grid = self.grid
        final = self.grid.cells - 1
        self.first = np.minimum((jobs.arrival / grid.hours).astype(np.int64), final)
        end = jobs.arrival + jobs.wait + jobs.length
        self.count = np.clip((end / grid.hours).astype(np.int64), self.first, final) - self.first + 1
        self.offset = np.concatenate([[0], np.cumsum(self.count)])
        self.taken = np.zeros(int(self.offset[-1]))
        self.choice = Choice(np.array(self.start), np.zeros(len(jobs.cpus), np.bool_), np.array(self.other.value))
        price = float(self.weights[1]) * self.instance.prices.on_demand_usd_per_cpu_hour
        carbon = grid.spread(self.instance.kg_per_cpu_hour * self.weights[0])
        toll = np.zeros((1, grid.cells))
        load = np.zeros(grid.cells)
        self.pool = Pool(grid.hours, carbon, toll, load, self.reserved, price, float(self.weights[2]))
        size = int(self.count.max(initial=1)) + 4
        self.kept = Kept(np.empty(size), np.empty(size), np.empty(size, np.int64), *(np.empty(size) for _ in range(3)))

    def anneal(self, hours: float, cooling: Cooling, reach: float = np.inf) -> None:  # noqa: ARG002
        """Sweep at the noise that the temperatures stand for."""
        unit = self.pool.price * float(np.mean(self.jobs.cpus * self.jobs.length))
        noise = self.parameters.suspend_resume.noise
        for step in cooling:
            share = min(1.0, noise * step.temperature / unit) if unit else 0.0
            self._respond(share)

    def settle(self, cooling: Cooling, reach: float = np.inf) -> None:  # noqa: ARG002
        """Sweep without noise."""
        for _ in cooling:
            self._respond(0.0)

    def _respond(self, share: float) -> None:
        order = self.random.permutation(len(self.jobs.cpus))
        noise = share * self.random.random(self.grid.cells)
        respond_pieces(order, noise, self.jobs, self.pool, self.choice, Taken(self.taken, self.offset), self.kept)

    def runs(self) -> RunTable:
        """Return what the jobs do: hours of neighbouring cells as one piece."""
        job, start, end = self._pieces()
        off = np.flatnonzero(~self.choice.on_pool)
        option = np.concatenate([np.full(len(job), SHARED), self.other.kind[off].astype(np.int64)])
        begin = self.other.start[off]
        columns = (
            np.concatenate([job, off]),
            np.concatenate([start, begin]),
            np.concatenate([end, begin + self.jobs.length[off]]),
        )
        return RunTable(*columns, option, self.reserved)

    def _pieces(self) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return job, start and end of the pieces: in a cell that is used in part, next to the neighbouring one."""
        jobs = self.jobs
        hours = self.grid.hours
        job = np.repeat(np.arange(len(self.count)), self.count)
        place = np.arange(len(job)) - self.offset[:-1][job]
        cell = self.first[job] + place
        used = (self.taken > TINY_HOURS) & self.choice.on_pool[job]
        low = np.maximum(cell * hours, jobs.arrival[job])
        high = np.minimum((cell + 1) * hours, (jobs.arrival + jobs.wait + jobs.length)[job])
        same_before = np.concatenate([[False], used[:-1] & (job[1:] == job[:-1])])
        same_after = np.concatenate([used[1:] & (job[1:] == job[:-1]), [False]])
        at_end = same_after & ~same_before
        start = np.where(at_end, np.maximum(low, high - self.taken), low)[used]
        end = np.where(at_end, high, np.minimum(high, low + self.taken))[used]
        job = job[used]
        joined = (job[1:] == job[:-1]) & (np.abs(start[1:] - end[:-1]) < TINY_HOURS)
        first = np.append(True, ~joined)[: len(job)]
        last = np.append(~joined, True)[: len(job)]
        return self._exact(job[first], start[first], end[last])

    def _exact(self, job: IntArray, start: FloatArray, end: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
        """Mend what rounding has left of the length of a job in its longest piece."""
        missing = self.jobs.length - np.bincount(job, end - start, len(self.jobs.length))
        order = np.lexsort((end - start, job))
        longest = order[np.append(job[order][1:] != job[order][:-1], True)[: len(job)]]
        end = end.copy()
        end[longest] += missing[job[longest]]
        return job, start, end

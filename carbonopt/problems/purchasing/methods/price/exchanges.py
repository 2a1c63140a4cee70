"""Annealing by exchanges of whole jobs, where the load is never above R; see `kernels.exchanges`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from carbonopt.core.arrays import prefix_sums
from carbonopt.problems.purchasing.data.instance import ROUNDING
from carbonopt.problems.purchasing.methods.price.cooling import Cooling
from carbonopt.problems.purchasing.methods.price.kernels.exact_responses import Events
from carbonopt.problems.purchasing.methods.price.kernels.exchanges import (
    LUCK,
    MOST_MOVED,
    ExchangeTerms,
    Moved,
    Tries,
    exchange,
)
from carbonopt.problems.purchasing.methods.price.search import Search, path_of

EXCHANGE_STEPS = 4000.0
MOMENT_STEPS = 30.0
"""Loop steps of an exchange, about, and for each change of the load in the window of its first job."""


@dataclass(eq=False)
class ExchangeSearch(Search):
    """Exchanges from a schedule that keeps to R, where jobs may not split; see `search.Search`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        jobs = self.jobs
        weight = np.sqrt(jobs.cpus * jobs.length)[self.movable]
        self.chance = weight / weight.sum()

    @property
    def steps(self) -> float:
        """Loop steps of a sweep, about."""
        jobs = self.jobs
        window = (jobs.wait + jobs.length)[self.movable]
        changes = 2.0 * len(jobs.cpus) / self.instance.time.hours * float(self.chance @ window)
        return len(self.movable) * (EXCHANGE_STEPS + MOMENT_STEPS * changes)

    def exchange(self, cooling: Cooling, eager: float) -> None:
        """Make sweeps, each of as many exchanges as there are jobs; large jobs come first in more of them.

        `eager` is the largest price of load above R that these see, over that on demand.
        """
        buckets = self.buckets()
        size = 1024
        events = self.events(buckets, 16)
        path = path_of(size)
        terms = self._terms(events, eager)
        moved = Moved(np.empty(MOST_MOVED, np.int64), np.empty(MOST_MOVED), np.empty(MOST_MOVED, np.bool_))
        count = len(self.movable)
        for step in cooling:
            first = self.random.choice(self.movable, count, p=self.chance)
            tries = Tries(first, self.random.random((count, LUCK)), step.temperature)
            begin = 0
            while begin < count:
                begin = exchange(tries, begin, self.jobs, self.choice, events, terms, moved, path)
                if begin < count:
                    size *= 2
                    path = path_of(size)
                    events = self.events(buckets, 2 * events.moment.shape[1])

    def _terms(self, events: Events, eager: float) -> ExchangeTerms:
        """Return what exchanges cost."""
        jobs = self.jobs
        return ExchangeTerms(
            prefix_sums(events.carbon) * events.hours,
            self.price,
            eager,
            float(self.weights[2]),
            self.reserved * (1 + 0.1 * ROUNDING),
            self.movable,
            jobs.arrival[self.movable],
            float((jobs.wait + jobs.length).max()),
        )

"""Annealing by ruin and recreate, where jobs may not split and the load is never above R; see `kernels.ruins`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from carbonopt.core.arrays import prefix_sums
from carbonopt.problems.purchasing.data.instance import ROUNDING
from carbonopt.problems.purchasing.methods.price.cooling import Cooling
from carbonopt.problems.purchasing.methods.price.grid import Grid
from carbonopt.problems.purchasing.methods.price.kernels.exact_responses import Events
from carbonopt.problems.purchasing.methods.price.kernels.forced_starts import MOST_FORCED
from carbonopt.problems.purchasing.methods.price.kernels.free_starts import RunCosts
from carbonopt.problems.purchasing.methods.price.kernels.moves import Luck, Moved, Near
from carbonopt.problems.purchasing.methods.price.kernels.ruins import MOST_DRAWS, Rules, lacks_luck, ruin
from carbonopt.problems.purchasing.methods.price.search import Search, path_of

TRIES = 1000
"""Tries of a sweep, at most: so a sweep of many jobs ends soon, too."""
RUIN_STEPS = 1200.0
CHANGE_STEPS = 13.0
LISTED_STEPS = 1.25
"""Loop steps of a try, about; for each change of the load in its job's window, and for each job that may run then."""
LUCK = 2**16
"""Random numbers that are drawn at once; a try takes some thirty."""


@dataclass(eq=False)
class RuinSearch(Search):
    """Ruin and recreate from a schedule that keeps to R, where jobs may not split; see `search.Search`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        jobs = self.jobs
        weight = np.sqrt(jobs.cpus * jobs.length)[self.movable]
        self.chance = weight / weight.sum()

    @property
    def tries(self) -> int:
        """Tries of a sweep."""
        return min(TRIES, len(self.movable))

    @property
    def steps(self) -> float:
        """Loop steps of a sweep, about."""
        jobs = self.jobs
        window = (jobs.wait + jobs.length)[self.movable]
        hours = self.instance.time.hours
        changes = 2.0 * len(jobs.cpus) / hours * float(self.chance @ window)
        listed = len(self.movable) * min(1.0, float(window.max()) / hours)
        return self.tries * (RUIN_STEPS + CHANGE_STEPS * changes + LISTED_STEPS * listed)

    def sweeps(self, cooling: Cooling) -> Iterator[float]:
        """Make sweeps of some tries each; yield after each by how much the cost has changed since the beginning.

        Large jobs come first in more of the tries.
        """
        rules = self._rules()
        buckets = self.buckets()
        events = self.tolled(buckets, 16)
        costs = self.costs(buckets, events)
        near = self.near()
        most = 1 + rules.leaving + rules.called + MOST_FORCED
        moved = Moved(
            np.empty(most, np.int64), np.empty(most), np.empty(most, np.bool_), np.empty(most), np.empty(most, np.int64)
        )
        luck = Luck(np.empty(max(LUCK, 2 * (MOST_DRAWS + (4 + rules.contest) * most))), np.zeros(1, np.int64))
        luck.next[0] = len(luck.number)
        size = 1024
        path = path_of(size)
        change = np.zeros(1)
        for step in cooling:
            tries = self.random.choice(self.movable, self.tries, p=self.chance)
            begin = 0
            while begin < len(tries):
                if lacks_luck(rules, luck, moved):
                    self.random.random(out=luck.number)
                    luck.next[0] = 0
                begin = ruin(
                    tries, begin, step.temperature, rules, luck, self.jobs, self.choice, events, costs, near, moved,
                    path, change,
                )  # fmt: skip
                if begin < len(tries) and not lacks_luck(rules, luck, moved):
                    size *= 2
                    path = path_of(size)
                    events = self.tolled(buckets, 2 * events.moment.shape[1])
            yield float(change[0])

    def tolled(self, grid: Grid, capacity: int) -> Events:
        """Return the exact pool in buckets of a grid, with the prices of the bound."""
        events = self.events(grid, capacity)
        events.toll[:] = grid.spread(self.prices)
        return events

    def _rules(self) -> Rules:
        """Return what tries may do."""
        ruins = self.parameters.ruins
        return Rules(
            ruins.leaving,
            ruins.called,
            ruins.reach_hours,
            ruins.tolled_share,
            ruins.forced_share,
            ruins.eager,
            ruins.contest,
            self.price,
        )

    def costs(self, grid: Grid, events: Events) -> RunCosts:
        """Return what runs cost."""
        slot = self.instance.time.slot_hours
        return RunCosts(
            prefix_sums(events.carbon) * grid.hours,
            prefix_sums(events.toll) * grid.hours,
            slot,
            slot * self.instance.time.slots / self.prices.shape[1],
            float(self.weights[2]),
            self.reserved * (1 + 0.1 * ROUNDING),
        )

    def near(self) -> Near:
        """Return the jobs by arrival, with scratch."""
        jobs = self.jobs
        count = len(self.movable)
        return Near(
            self.movable,
            jobs.arrival[self.movable],
            float((jobs.wait + jobs.length).max()),
            np.empty(count, np.int64),
            np.empty(count, np.int64),
        )

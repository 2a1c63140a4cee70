"""Plans that do not churn: a price on changes, and then ties broken towards the plan of the period before."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.options import Schedule
from carbonopt.problems.mosp.data.schedule import from_schedule
from carbonopt.problems.mosp.formulation.objective import PlacementValue
from carbonopt.problems.mosp.methods.partial_schedule import PartialSchedule
from carbonopt.problems.mosp.online.window import Window

Place = tuple[int, int]
"""Cluster and start, as positions in the window."""
_Kept = tuple[IntArray, IntArray, FloatArray]


class Plan:
    """A period's plan, and what its changes against what runs now cost.

    Parameters
    ----------
    window, value
        The period's instance, and what placements are worth in it.
    schedule
        Of its jobs; those that it rejects wait.
    suspension, migration
        Price of stopping a running job, and of letting one go on on another cluster [units of the objective].
    """

    def __init__(
        self, window: Window, value: PlacementValue, schedule: Schedule, suspension: float, migration: float
    ) -> None:
        self.window = window
        self.suspension = suspension
        self.migration = migration
        self.sign = value.sign
        self.partial = PartialSchedule(window.instance, value)
        for job, cluster, start in zip(*from_schedule(window.instance, schedule), strict=True):
            self.partial.place(job, cluster, start)

    @property
    def typical(self) -> float:
        """What a job in the plan costs, in the mean, or is worth."""
        partial = self.partial
        placed = self.partial.placed
        values = partial.value.of(placed, partial.cluster[placed], partial.start[placed])
        return float(np.abs(values).mean()) if len(values) else 0.0

    def churn(self, job: int) -> FloatArray:
        """Return the price of each place of a job, shape (M, number of starts)."""
        home = int(self.window.home[job])
        clusters = len(self.window.cluster)
        price = np.zeros((clusters, len(self.partial.starts(job))))
        if home >= 0:
            price[np.arange(clusters) != home] += self.migration
        if self.window.running[job]:
            price[:, 1:] += self.suspension
        return price

    def costs(self, job: int) -> FloatArray:
        """Return cost and price of each place of a job, shape (M, number of starts)."""
        return self.sign * self.partial.value.table(job, self.partial.starts(job)) + self.churn(job)

    def cost(self, job: int) -> float:
        """Return cost and price of a job where the plan has it: stopped and at no other cost where it waits."""
        cluster = int(self.partial.cluster[job])
        start = int(self.partial.start[job])
        if cluster >= 0:
            return float(self.costs(job)[cluster, start - int(self.window.instance.jobs.arrival[job])])
        rejection_cost = self.window.instance.objective.rejection_cost
        return rejection_cost + (self.suspension if self.window.running[job] else 0.0)

    def place(self, job: int) -> None:
        """Put a job where it is cheapest with all prices, or let it wait."""
        starts = self.partial.starts(job)
        if not len(starts):
            return
        costs = np.where(self.partial.fits(job), self.costs(job), np.inf)
        cluster, offset = np.unravel_index(int(costs.argmin()), costs.shape)
        if costs[cluster, offset] < self.window.instance.objective.rejection_cost:
            self.partial.place(job, int(cluster), int(starts[offset]))

    def keep(self, job: int) -> bool:
        """Let a job go on where it runs, if that is cheaper: what is in its way is put elsewhere."""
        home = int(self.window.home[job])
        before = self._kept()
        saved = [job]
        moved = self._make_room(job, home)
        if moved is None:
            self._restore(before)
            return False
        saved += moved
        after = (self.partial.cluster.copy(), self.partial.start.copy(), self.partial.capacity_left.copy())
        new = sum(self.cost(each) for each in saved)
        self._restore(before)
        if new >= sum(self.cost(each) for each in saved) - 1e-12:
            return False
        self._restore(after)
        return True

    def _make_room(self, job: int, home: int) -> list[int] | None:
        """Put `job` at its home now; return the jobs that had to move, None where it has no room even so."""
        partial = self.partial
        jobs = self.window.instance.jobs
        if partial.cluster[job] >= 0:
            partial.remove(job)
        now = self.window.now
        end = now + int(jobs.duration[job])
        rivals = np.flatnonzero((partial.cluster == home) & (partial.start < end))
        rivals = rivals[np.lexsort((-jobs.demand[rivals].sum(axis=1), self.window.running[rivals]))]
        moved = []
        for rival in rivals.tolist():
            if partial.fits(job)[home, 0]:
                break
            partial.remove(rival)
            moved.append(rival)
        if not partial.fits(job)[home, 0]:
            return None
        partial.place(job, home, now)
        for rival in moved:
            self.place(rival)
        return moved

    def _kept(self) -> _Kept:
        return self.partial.cluster.copy(), self.partial.start.copy(), self.partial.capacity_left.copy()

    def _restore(self, saved: _Kept) -> None:
        partial = self.partial
        for mine, kept in zip((partial.cluster, partial.start, partial.capacity_left), saved, strict=True):
            mine[...] = kept

    # the two stages

    def spare_changes(self) -> None:
        """Undo changes that cost more, with their price, than they gain: until none is left, in at most A passes."""
        for _ in range(len(self.window.job)):
            changed = [
                job
                for job in np.flatnonzero(self.window.running).tolist()
                if (self.partial.cluster[job], self.partial.start[job]) != (self.window.home[job], self.window.now)
            ]
            kept = [job for job in changed if self.keep(job)]
            if not kept:
                break
        for job in np.flatnonzero((self.window.home >= 0) & ~self.window.running).tolist():
            if self.partial.cluster[job] not in (-1, self.window.home[job]):
                self.partial.remove(job)
                self.place(job)

    def return_to(self, previous: Mapping[int, Place], budget: float) -> None:
        """Put jobs back where the plan before had them, the cheapest first, for no more than `budget` in all.

        Parameters
        ----------
        previous
            Cluster and start that the plan before had for a job, both as positions in the window.
        budget
            What this may cost, prices of changes included [units of the objective].
        """
        losses = []
        now = self.window.now
        for job, (cluster, start) in previous.items():
            here = (int(self.partial.cluster[job]), int(self.partial.start[job]))
            if here[0] >= 0 and here != (cluster, start) and 0 <= start - now < len(self.partial.starts(job)):
                losses.append((float(self.costs(job)[cluster, start - now]) - self.cost(job), job))
        for loss, job in sorted(losses):
            if max(loss, 0.0) > budget:
                break
            cluster, start = previous[job]
            here = (int(self.partial.cluster[job]), int(self.partial.start[job]))
            self.partial.remove(job)
            fits = bool(self.partial.fits(job)[cluster, start - now])
            self.partial.place(job, *((cluster, start) if fits else here))
            budget -= max(loss, 0.0) if fits else 0.0

"""Model-predictive control: all jobs are planned anew each slot at slot prices, and only its first slot is done.

The plan is the fluid program over the jobs that are there, each with the mean of what jobs of its queue have
left that have come as far, and over those that are expected to come. Its prices say what servers
and work are worth; whole servers and steady levels follow from them.
"""

from __future__ import annotations

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.ranges import require_number
from carbonopt.problems.elastic.data.instance import ElasticInstance, Units
from carbonopt.problems.elastic.methods.price.fluid.band import FluidProgram
from carbonopt.problems.elastic.online.clearing import Clearing, clear
from carbonopt.problems.elastic.online.hourly import HourlyPolicy
from carbonopt.problems.elastic.online.levels import kept_levels, whole_levels
from carbonopt.problems.elastic.online.queue_statistics import QueueStatistics
from carbonopt.problems.elastic.online.sharing import forced_first
from carbonopt.problems.elastic.online.view import View
from carbonopt.simulation import State

Coming = tuple[IntArray, IntArray, FloatArray, IntArray, FloatArray]
"""First slot, end, work, profile and number of jobs that have not arrived, slots counted from the present."""


class Replan(HourlyPolicy):
    """Re-planning every slot.

    Parameters
    ----------
    lookahead_hours
        How far ahead arrivals are expected [h]; 0 for none. More of it keeps servers free for jobs that may come, and
        makes plans larger.
    change_share
        Price of a server gained or lost, over the standard deviation of what it emits from slot to slot; at
        least the instance's own price on switching. A higher one rescales jobs less, and emits more.
    budget_share
        What steady levels may cost in a slot beyond that, over the same of all servers in use. A higher one rescales
        jobs less, and emits more.
    window_means
        A plan looks ahead as far as the longest slack, and this many times the mean length of the longest queue. A
        larger number matters to jobs that last longer than others of their queue, and makes plans larger.
    statistics
        What is known of the jobs that come; None for the statistics of the instance's own. Where a simulation lets
        arrivals be known, the jobs that come within the lookahead take the place of those that are expected.
    """

    plans_arrivals = True

    def __init__(
        self,
        lookahead_hours: float = 72.0,
        change_share: float = 0.04,
        budget_share: float = 0.004,
        window_means: float = 3.0,
        statistics: QueueStatistics | None = None,
    ) -> None:
        super().__init__(statistics)
        require_number("lookahead_hours", lookahead_hours, least=0)
        require_number("change_share", change_share, least=0)
        require_number("budget_share", budget_share, least=0)
        require_number("window_means", window_means, above=0)
        self.lookahead_hours = lookahead_hours
        self.change_share = change_share
        self.budget_share = budget_share
        self.window_means = window_means
        self.coming: Coming | None = None
        self.last: tuple[int, FloatArray, dict[int, float]] | None = None
        self.iterations = self.last_arrival = 0

    def prepare(self, instance: ElasticInstance, statistics: QueueStatistics) -> None:
        """Make the tables of units, with a mean profile for the jobs of each queue that are to come."""
        units = instance.units
        hours = instance.time.slot_hours
        self.switching_g = instance.switching_g_per_server
        coming = np.flatnonzero(statistics.arrivals.sum(axis=1) > 0)
        share = statistics.arrivals[coming] / statistics.arrivals[coming].sum(axis=1, keepdims=True)
        tables = [np.vstack([part, share @ part]) for part in (units.servers, units.gain, units.kwh)]
        most = np.array([units.count[row > 0].max(initial=1) for row in share])
        self.units = Units(np.concatenate([units.count, most]).astype(np.int64), *tables)
        slack = float(statistics.slack.max()) + float(instance.jobs.slack.max())
        self.reach = int(np.ceil(slack + self.window_means * statistics.mean.max()))
        self.groups = self._expected(statistics, coming, len(units.count), hours)
        self.reach = max(self.reach, int(self.groups[1].max(initial=0)))

    def _expected(self, statistics: QueueStatistics, coming: IntArray, profiles: int, hours: float) -> Coming:
        """Return start, end, work, profile and number of the jobs that are to come, by slot and queue."""
        starts = np.arange(1, round(self.lookahead_hours / hours) + 1)
        start = np.repeat(starts, len(coming))
        place = np.tile(np.arange(len(coming)), len(starts))
        queue = coming[place]
        need = statistics.mean[queue]
        end = start + np.ceil(need) + np.floor(statistics.slack[queue])
        return start, end.astype(np.int64), need, profiles + place, statistics.arrivals.sum(axis=1)[queue]

    def slots_ahead(self, state: State) -> int:
        """Return the longest window of a plan; no job is expected to come after the forecast's last slot."""
        assert state.forecast is not None
        self.last_arrival = max(0, state.forecast.slots - 1 - round(state.now))
        if state.arrivals_known:
            self.coming = self._known(state)
            return max(self.reach, int(self.coming[1].max(initial=0)))
        return self.reach

    def _known(self, state: State) -> Coming:
        """Return start, end, work, profile and number of the jobs that arrive within the lookahead."""
        instance = state.instance
        jobs = instance.jobs
        ahead = jobs.arrival - round(state.now)
        job = np.flatnonzero((ahead > 0) & (ahead <= round(self.lookahead_hours / instance.time.slot_hours)))
        expected = state.workload.expected_work
        assert expected is not None
        need = expected[job]
        end = ahead[job] + np.ceil(need - 1e-9).astype(np.int64) + jobs.slack[job]
        return ahead[job], end, need, instance.profile_of_job[job], np.ones(len(job))

    def decide(self, view: View) -> IntArray:
        """Plan, and return the levels of the first slot."""
        level = forced_first(view)
        plan = self._plan(view)
        jobs = len(view)
        share = np.minimum.accumulate(plan.share[:jobs], axis=1)
        found = whole_levels(view, share, level)
        spread = float(view.intensity.std() * self.units.kwh[:, 0].mean())
        price = float(plan.prices[0])
        change_g = max(self.change_share * spread, self.switching_g)
        budget = self.budget_share * spread * float(view.servers(found).sum())
        return kept_levels(view, found, level, price, plan.mu[:jobs], change_g, budget)

    def _plan(self, view: View) -> Clearing:
        start, end, need, profile, weight = self.coming or self._due()
        own = np.ceil(view.left - 1e-9) + np.maximum(0.0, np.floor(view.slack + 1e-9))
        own = np.minimum(np.maximum(own, 1), self.reach).astype(np.int64)
        slots = int(max(own.max(), end.max(initial=1)))
        jobs = len(view)
        program = FluidProgram(
            "plan",
            np.concatenate([np.zeros(jobs, dtype=np.int64), start]),
            np.concatenate([own, end]),
            np.concatenate([view.left, need]),
            np.concatenate([view.profile, profile]),
            self.units,
            view.intensity[None, :slots, None] * self.units.kwh[:, None, :],
            np.full(slots, float(view.capacity)),
        )
        prices, mu = self._start(view, program)
        plan = clear(program, np.concatenate([np.ones(jobs), weight]), prices, mu)
        self.last = view.slot, plan.prices, dict(zip(view.job.tolist(), plan.mu[:jobs].tolist(), strict=True))
        self.iterations += plan.iterations
        return plan

    def _due(self) -> Coming:
        """Return the jobs that are expected by the forecast's last slot."""
        soon = self.groups[0] <= self.last_arrival
        start, end, need, profile, weight = self.groups
        return start[soon], end[soon], need[soon], profile[soon], weight[soon]

    def _start(self, view: View, program: FluidProgram) -> tuple[FloatArray | None, FloatArray | None]:
        """Return the prices of the last plan, moved on to the present."""
        if self.last is None:
            return None, None
        slot, before, known = self.last
        prices = np.zeros(len(program.capacity))
        moved = before[view.slot - slot :][: len(prices)]
        prices[: len(moved)] = moved
        usual = float(np.median(list(known.values())))
        mu = np.full(len(program.length), usual)
        mu[: len(view)] = [known.get(job, usual) for job in view.job.tolist()]
        return prices, mu

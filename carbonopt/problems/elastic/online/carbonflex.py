"""CarbonFlex online: provisioning by the nearest known cases (Algorithm 2), scheduling by rho (Algorithm 3).

Algorithm 2 as printed: M servers if the state is farther than delta from its cases and more than epsilon of the
last hour's completions were late; the most of the neighbours' if only the second holds; otherwise their mean.

What differs from Algorithm 3 as printed, unless an option says so:

- jobs whose slack is used up run at k_min, first in line, beyond m_t but never beyond M (``forced``): section 6.2
  says that all approaches run a job to completion once its delay is used up, Algorithm 3 does not;
- units with p >= rho are taken, and equal p go by the slack that is left, d less the time waited (``printed``:
  p > rho, which schedules nothing at rho = 1, and a + d - t, which counts progress as delay).
"""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import takewhile
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.ranges import require_number, require_one_of
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.online.cases import carbon_features
from carbonopt.problems.elastic.online.hourly import HourlyPolicy
from carbonopt.problems.elastic.online.knowledge import KnowledgeBase
from carbonopt.problems.elastic.online.learn import ORACLES, WEEK_HOURS, chosen, replayed
from carbonopt.problems.elastic.online.queue_statistics import QueueStatistics
from carbonopt.problems.elastic.online.sharing import by_gain, forced_first
from carbonopt.problems.elastic.online.view import SAME_TIME, View, slot_of
from carbonopt.simulation import State

MINUTES_PER_HOUR = 60.0
LEAST_DELAY = 1e-9
"""A delay up to this is rounding [slots]."""
SAME_GAIN = 1e-9
"""Marginal throughputs that differ by less are equal; `by_gain` lets them differ by less than that."""


class CarbonFlex(HourlyPolicy):
    """CarbonFlex.

    Parameters
    ----------
    knowledge
        What it has learned before: a base, which is not changed, or a file. None: nothing.
    learning
        Whether it goes on learning, once a day, from the jobs that have completed meanwhile.
    oracle
        What it learns from then: ``greedy`` or ``optimum``.
    epsilon
        Share of late completions in the last hour that is tolerated. A higher one provisions fewer servers, and
        makes more jobs late.
    forced
        Whether jobs that would be late otherwise run first, whatever m_t is.
    printed
        Whether Algorithm 3 takes p > rho alone and orders equal p by a + d - t, as it prints.
    decide_minutes
        Time from one decision to the next [min], at most the slot; it then decides where jobs arrive and end, too
        (section 5: "e.g., 5 minutes"). None: at the beginning of each slot alone.
    window_hours
        Length of the past from which it learns each day [h]. A longer one replays more jobs together, and takes
        longer.
    settling_days
        Days before the present of which nothing is learned yet, since their jobs are not all complete. More days
        learn from fewer jobs that are cut off, and later.
    neighbours, far_percentile, max_age_hours, max_cases
        Of the base: see `KnowledgeBase`. None for those of `knowledge`.
    statistics
        What is known of the jobs that come; None for the statistics of the instance's own.
    """

    def __init__(
        self,
        knowledge: KnowledgeBase | str | os.PathLike[str] | None = None,
        learning: bool = True,
        oracle: str = "greedy",
        epsilon: float = 0.05,
        forced: bool = True,
        printed: bool = False,
        decide_minutes: float | None = None,
        window_hours: float = WEEK_HOURS,
        settling_days: int = 2,
        neighbours: int | None = None,
        far_percentile: float | None = None,
        max_age_hours: float | None = None,
        max_cases: int | None = None,
        statistics: QueueStatistics | None = None,
    ) -> None:
        super().__init__(statistics)
        if isinstance(knowledge, str | os.PathLike):
            knowledge = KnowledgeBase.read(knowledge)
        self._sizes = (neighbours, far_percentile, max_age_hours, max_cases)
        self.know(KnowledgeBase() if knowledge is None else knowledge)
        require_one_of("oracle", oracle, ORACLES)
        require_number("epsilon", epsilon, least=0, most=1)
        require_number("window_hours", window_hours, above=0)
        require_number("settling_days", settling_days, least=0, whole=True)
        if decide_minutes is not None:
            require_number("decide_minutes", decide_minutes, above=0)
        self.learning = learning
        self.oracle = oracle
        self.epsilon = epsilon
        self.forced = forced
        self.printed = printed
        self.decide_minutes = decide_minutes
        self.window_hours = window_hours
        self.settling_days = settling_days
        self.ended: list[tuple[int, float]] = []  # (job, time) of each completion
        self.slot = -1
        self.time = 0.0
        self.changed = False
        self.before = self.now = np.nan  # intensity of the last slot and of this one

    def know(self, base: KnowledgeBase) -> None:
        """Take a copy of a base for what was learned before."""
        self.knowledge = base.copy(*self._sizes)

    def on_begin(self, state: State) -> None:
        """Set the time from one decision to the next."""
        if self.decide_minutes is not None:
            self._set_epoch(state.instance, self.decide_minutes)
        super().on_begin(state)

    def _set_epoch(self, instance: Any, minutes: float) -> None:
        step = minutes / MINUTES_PER_HOUR / instance.time.slot_hours
        if step > 1:
            raise UnsupportedError(f"decide_minutes = {minutes:g}: must be at most a slot")
        if step < 1 and instance.model != "fluid":
            raise UnsupportedError("decide_minutes: the integer model gives servers for whole slots: use model 'fluid'")
        self.epoch = step

    def prepare(self, instance: ElasticInstance, statistics: QueueStatistics) -> None:  # noqa: ARG002
        """Find the queues of the knowledge base."""
        self.instance = instance
        edges = np.array(self.knowledge.queue_hours) / instance.time.slot_hours
        self.queue = np.searchsorted(edges, instance.jobs.length * (1 - 1e-9))

    def slots_ahead(self, state: State) -> int:  # noqa: ARG002
        """Return a day after the present slot."""
        return self.day + 1

    def on_arrival(self, state: State, job: int) -> None:  # noqa: ARG002
        """Ask for a decision."""
        self.changed = True

    def on_completion(self, state: State, job: int) -> None:
        """Remember when it was, and ask for a decision."""
        self.ended.append((job, state.now))
        self.changed = True

    def on_epoch(self, state: State) -> None:
        """Learn once a day, then decide."""
        slot = slot_of(state.now)
        if slot > self.slot:
            assert self._views is not None
            self.slot = slot
            self.before, self.now = self.now, float(self._views.forecast(slot, 1)[0])
            if self.learning and slot and slot % self.day == 0:
                self.learn(slot)
        self._decide_now(state)

    def on_settled(self, state: State) -> None:
        """Decide anew between two epochs where jobs have arrived or ended."""
        if self.changed and self.decide_minutes is not None:
            self._decide_now(state)

    def _decide_now(self, state: State) -> None:
        self.time = state.now
        self.changed = False
        super().on_epoch(state)

    def learn(self, slot: int) -> None:
        """Replay the oracle on the jobs of the last window that have completed."""
        instance = self.instance
        jobs = instance.jobs
        window = max(1, round(self.window_hours / instance.time.slot_hours))
        first = max(0, slot - window)
        settled = slot - self.settling_days * self.day
        now = min(slot, instance.time.slots)
        done = np.array(sorted(job for job, _ in self.ended if first <= jobs.arrival[job]), dtype=np.int64)
        room = now - jobs.arrival[done] - jobs.whole_slots[done]
        done = done[room >= 0]
        room = room[room >= 0]
        if settled <= first or not len(done):
            return
        past = chosen(instance, done, first, now, np.minimum(jobs.slack[done], room))
        cases = replayed(past, self.knowledge.queue_hours, self.oracle, last=settled - first)
        fresh = cases.kept(slice(max(0, settled - self.day - first), None))  # older ones were learned before
        self.knowledge.add(fresh, past.time.start.timestamp() / 3600 + (slot - first) * instance.time.slot_hours)

    def decide(self, view: View) -> IntArray:
        """Provision m_t servers, and give them to the units with p >= rho, the best first (Algorithm 3)."""
        servers, rho = self.provision(view)
        level = forced_first(view) if self.forced else np.zeros(len(view), dtype=np.int64)
        if self.printed:
            delay = self.instance.jobs.arrival[view.job] + self.instance.jobs.slack[view.job] - self.time
            view = replace(view, slack=delay.astype(np.float64))
            rho = rho + SAME_GAIN
        return by_gain(view, level, view.scaling.count[view.profile], min(servers, view.capacity), rho)

    def provision(self, view: View) -> tuple[int, float]:
        """Return m_t and rho by Algorithm 2.

        It says nothing of rho: here 1 where the whole cluster is provisioned, and after violations the least.
        """
        match = self.knowledge.match(self.state(view))
        late = self.violation() > self.epsilon
        if match is None or (late and not match.known):
            return view.capacity, 1.0
        if late:
            return _whole(match.servers.max()), float(match.rho.min())
        return _whole(match.servers.mean()), float(match.rho.mean())

    def violation(self) -> float:
        """Return the share of the last hour's completions whose delay exceeded their slack."""
        hour_ago = self.time - 1 / self.instance.time.slot_hours
        recent = list(takewhile(lambda one: one[1] > hour_ago + SAME_TIME, reversed(self.ended)))
        if not recent:
            return 0.0
        jobs = self.instance.jobs
        delay = [time - float(jobs.arrival[job] + jobs.length[job] + jobs.slack[job]) for job, time in recent]
        return sum(over > LEAST_DELAY for over in delay) / len(delay)

    def state(self, view: View) -> FloatArray:
        """Return the features of the present state, shape (F,)."""
        before = self.now if np.isnan(self.before) else self.before
        carbon = carbon_features(np.array([self.now]), np.array([before]), view.intensity[None, 1 : self.day + 1])
        counts = np.bincount(self.queue[view.job], minlength=len(self.knowledge.queue_hours) + 1)
        elasticity: Any = view.scaling.elasticity[view.profile].mean()
        return np.concatenate([carbon[0], counts, [elasticity]])


def _whole(servers: float) -> int:
    return int(np.ceil(servers - 1e-6))

"""CarbonFlex online: provisioning by the nearest known cases (Algorithm 2), scheduling by rho (Algorithm 3).

The paper leaves several points open. What is decided here, and is an option where it says so:

- a state that is farther from its neighbours than delta is unknown: the cluster is used as if there were no
  carbon, m_t = M and rho = 1;
- after an hour in which more than epsilon of the completed jobs were late, m_t is the largest of the
  neighbours', and rho their least; otherwise both are means;
- units with p >= rho are taken (with a strict sign none would be at rho = 1);
- jobs whose slack is used up run at k_min, first in line, beyond m_t but never beyond M.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.ranges import require_number, require_one_of
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.online.cases import carbon_features
from carbonopt.problems.elastic.online.habits import Habits
from carbonopt.problems.elastic.online.hourly import HourlyPolicy
from carbonopt.problems.elastic.online.knowledge import KnowledgeBase
from carbonopt.problems.elastic.online.learn import ORACLES, WEEK_HOURS, chosen, replayed
from carbonopt.problems.elastic.online.sharing import by_gain, forced_first
from carbonopt.problems.elastic.online.view import View
from carbonopt.simulation import State

EPSILON = 0.05
LEAST_DELAY = 1e-9
UNKNOWN = ("neighbours", "agnostic")
SETTLING_DAYS = 2
"""Days before the present of which nothing is learned yet: their jobs are not all complete."""


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
        Share of late completions in the last hour that is tolerated.
    unknown
        What to do in a state farther than delta from what is known: ``agnostic``, or as the ``neighbours``
        say nevertheless.
    """

    def __init__(
        self,
        knowledge: KnowledgeBase | str | os.PathLike[str] | None = None,
        learning: bool = True,
        oracle: str = "greedy",
        epsilon: float = EPSILON,
        unknown: str = "neighbours",
        habits: Habits | None = None,
    ) -> None:
        super().__init__(habits)
        if isinstance(knowledge, str | os.PathLike):
            knowledge = KnowledgeBase.read(knowledge)
        self.knowledge = KnowledgeBase() if knowledge is None else knowledge.copy()
        require_one_of("oracle", oracle, ORACLES)
        require_one_of("unknown", unknown, UNKNOWN)
        require_number("epsilon", epsilon, least=0, most=1)
        self.learning, self.oracle, self.epsilon, self.unknown = learning, oracle, epsilon, unknown
        self.ended: list[tuple[int, float]] = []  # (job, time) of each completion
        self.recent = 0
        self.before = self.now = np.nan  # intensity of the last slot and of this one

    def prepare(self, instance: ElasticInstance, habits: Habits) -> None:  # noqa: ARG002
        """Find the queues of the knowledge base."""
        self.instance = instance
        edges = np.array(self.knowledge.queue_hours) / instance.time.slot_hours
        self.queue = np.searchsorted(edges, instance.jobs.length * (1 - 1e-9))

    def slots_ahead(self, state: State) -> int:  # noqa: ARG002
        """Return a day after the present slot."""
        return self.day + 1

    def on_completion(self, state: State, job: int) -> None:
        """Remember when it was."""
        self.ended.append((job, state.now))

    def on_epoch(self, state: State) -> None:
        """Learn once a day, then decide."""
        slot = round(state.now)
        assert self._watch is not None
        self.before, self.now = self.now, float(self._watch.forecast(slot, 1)[0])
        if self.learning and slot and slot % self.day == 0:
            self.learn(slot)
        super().on_epoch(state)
        self.recent = len(self.ended)

    def learn(self, slot: int) -> None:
        """Replay the oracle on the jobs of the last week that have completed."""
        instance = self.instance
        jobs = instance.jobs
        week = max(1, round(WEEK_HOURS / instance.time.slot_hours))
        first, settled = max(0, slot - week), slot - SETTLING_DAYS * self.day
        now = min(slot, instance.time.slots)
        done = np.array(sorted(job for job, _ in self.ended if first <= jobs.arrival[job]), dtype=np.int64)
        room = now - jobs.arrival[done] - jobs.whole_slots[done]
        done, room = done[room >= 0], room[room >= 0]
        if settled <= first or not len(done):
            return
        window = chosen(instance, done, first, now, np.minimum(jobs.slack[done], room))
        cases = replayed(window, self.knowledge.queue_hours, self.oracle, last=settled - first)
        fresh = cases.kept(slice(max(0, settled - self.day - first), None))  # older ones were learned before
        self.knowledge.add(fresh, window.time.start.timestamp() / 3600 + (slot - first) * instance.time.slot_hours)

    def decide(self, view: View) -> IntArray:
        """Provision m_t servers, and give them to the units with p >= rho, the best first."""
        servers, rho = self.provision(view)
        level = forced_first(view)
        return by_gain(view, level, view.scaling.count[view.profile], min(servers, view.capacity), rho)

    def provision(self, view: View) -> tuple[int, float]:
        """Return m_t and rho (Algorithm 2)."""
        match = self.knowledge.match(self.state(view))
        if match is None or (self.unknown == "agnostic" and not match.known):
            return view.capacity, 1.0
        if self.violation() > self.epsilon:
            return _whole(match.servers.max()), float(match.rho.min())
        return _whole(match.servers.mean()), float(match.rho.mean())

    def violation(self) -> float:
        """Return the share of the last hour's completions whose delay exceeded their slack."""
        recent = self.ended[self.recent :]
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

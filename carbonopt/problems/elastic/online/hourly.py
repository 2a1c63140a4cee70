"""The base of policies that decide at the beginning of each slot how many servers every job has in it."""

from __future__ import annotations

import numpy as np

from carbonopt.core.arrays import IntArray
from carbonopt.core.errors import UnsupportedError
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.online.queue_statistics import QueueStatistics
from carbonopt.problems.elastic.online.view import View, ViewBuilder
from carbonopt.simulation import Policy, State

DAY_HOURS = 24.0
"""The day that policies look ahead [h]."""


class HourlyPolicy(Policy):
    """Decides slot by slot; a subclass says what each active job gets, and this acts on it.

    Parameters
    ----------
    statistics
        What is known of the jobs that come; None for the statistics of the instance's own.

    Attributes
    ----------
    day
        Slots of a day.
    """

    epoch: float | None = 1.0

    def __init__(self, statistics: QueueStatistics | None = None) -> None:
        self.statistics = statistics
        self.day = 24
        self._views: ViewBuilder | None = None

    def decide(self, view: View) -> IntArray:
        """Return the level of each active job in this slot, 0 for none, shape (A,)."""
        raise NotImplementedError

    def slots_ahead(self, state: State) -> int:  # noqa: ARG002
        """Return how many slots of forecast `decide` wants to see."""
        return self.day

    def prepare(self, instance: ElasticInstance, statistics: QueueStatistics) -> None:
        """Look at the cluster before the first slot."""

    def on_begin(self, state: State) -> None:
        """Learn what is known before the first slot."""
        instance = state.instance
        if not isinstance(instance, ElasticInstance):
            raise TypeError(f"{self.name} needs an elastic instance")
        self.day = max(1, round(DAY_HOURS / instance.time.slot_hours))
        statistics = self.statistics or QueueStatistics.of(instance)
        if statistics.arrivals.shape[1] != len(instance.profiles):
            kinds = statistics.arrivals.shape[1]
            there = len(instance.profiles)
            raise UnsupportedError(
                f"statistics know {kinds} profiles, the instance has {there}: learn them from a like past"
            )
        self._views = ViewBuilder(state, statistics, self.day, self.epoch or 1.0)
        self.prepare(instance, statistics)

    def on_capacity(self, state: State, pool: int) -> None:
        """Suspend what runs where it would not fit; the epoch of the same moment decides anew."""
        for job in sorted(state.running, reverse=True):
            if state.load(pool) <= state.capacity(pool):
                break
            state.suspend(job)

    def on_epoch(self, state: State) -> None:
        """Decide, and act: first what frees servers, then what takes them."""
        assert self._views is not None
        if not state.queued and not state.running:
            return
        view = self._views.view(self.slots_ahead(state))
        if not len(view):
            return
        wanted = view.servers(self.decide(view))
        before = view.servers(view.level)
        for row in np.flatnonzero(wanted < before).tolist():
            job = int(view.job[row])
            if wanted[row]:
                state.scale(job, float(wanted[row]))
            else:
                state.suspend(job)
        for row in np.flatnonzero(wanted > before).tolist():
            job = int(view.job[row])
            if before[row]:
                state.scale(job, float(wanted[row]))
            else:
                state.start(job, 0, float(wanted[row]))

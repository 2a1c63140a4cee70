"""The baselines of CarbonFlex: without carbon, Lowest-Window, Wait Awhile, and CarbonScaler, under a capacity."""

from __future__ import annotations

import numpy as np

from carbonopt.core.arrays import IntArray
from carbonopt.core.ranges import require_number
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.online.hourly import HourlyPolicy
from carbonopt.problems.elastic.online.queue_statistics import QueueStatistics
from carbonopt.problems.elastic.online.sharing import by_gain, cheapest_levels, first_come, forced_first
from carbonopt.problems.elastic.online.view import View
from carbonopt.simulation import State


class CarbonAgnostic(HourlyPolicy):
    """First come, first served, at k_min, without a look at carbon: what runs goes on."""

    def decide(self, view: View) -> IntArray:
        """Start jobs in the order of their arrival as far as servers are free."""
        return first_come(view, np.argsort(~view.begun, kind="stable"))


class LowestWindow(HourlyPolicy):
    """GAIA's Lowest-Window under a capacity: each job starts where a run of its queue's mean length emits least.

    The start is planned at the arrival, within the slack. From then on the job waits for free servers, those
    planned first first; what runs is not suspended.
    """

    def __init__(self, statistics: QueueStatistics | None = None) -> None:
        super().__init__(statistics)
        self.start: dict[int, int] = {}
        self.reach = 0

    def slots_ahead(self, state: State) -> int:
        """Return the longest wait plus a run, where a job has just arrived."""
        return self.reach if any(job not in self.start for job in state.queued) else self.day

    def prepare(self, instance: ElasticInstance, statistics: QueueStatistics) -> None:
        """Find how far ahead plans look."""
        self.reach = _reach(instance, statistics)

    def decide(self, view: View) -> IntArray:
        """Plan what has come, and start what is due."""
        for row, job in enumerate(view.job.tolist()):
            if job not in self.start:
                self.start[job] = view.slot + self._delay(view, row)
        planned = np.array([self.start[job] for job in view.job.tolist()])
        order = np.lexsort((planned, ~view.begun))
        return first_come(view, order[view.begun[order] | (planned[order] <= view.slot)])

    def _delay(self, view: View, row: int) -> int:
        whole = int(view.left[row])
        part = view.left[row] - whole
        choices = int(max(0.0, np.floor(view.slack[row] + 1e-9))) + 1
        seen = np.concatenate([[0.0], np.cumsum(view.intensity)])
        first = np.arange(choices)
        total = seen[first + whole] - seen[first] + part * view.intensity[first + whole]
        return int(np.argmin(total))


class WaitAwhile(HourlyPolicy):
    """Wait Awhile: at k_min while the intensity is within the cleanest 30 % of the next 24 h, and where slack ends.

    Parameters
    ----------
    percentile
        Jobs run in slots whose intensity is at most this percentile of the next day's. A higher one makes jobs wait
        less, and saves less.
    """

    def __init__(self, percentile: float = 30.0, statistics: QueueStatistics | None = None) -> None:
        super().__init__(statistics)
        require_number("percentile", percentile, least=0, most=100)
        self.percentile = percentile

    def decide(self, view: View) -> IntArray:
        """Run all that fits in clean slots, and only what must in others."""
        day = view.intensity[: self.day]
        level = forced_first(view)
        if view.intensity[0] <= np.percentile(day, self.percentile) * (1 + 1e-12):
            level = first_come(view, np.argsort(~(view.level > 0), kind="stable"), level=level)
        return level


class CarbonScaler(HourlyPolicy):
    """CarbonScaler: each job alone is planned at its arrival, on the mean length of its queue.

    Where plans exceed the capacity it is shared by marginal throughput, then by deadline. A job that is not
    complete when its plan ends goes on at k_min.
    """

    def __init__(self, statistics: QueueStatistics | None = None) -> None:
        super().__init__(statistics)
        self.plan: dict[int, tuple[int, IntArray]] = {}
        self.reach = 0

    def slots_ahead(self, state: State) -> int:
        """Return the longest window, where a job has just arrived."""
        return self.reach if any(job not in self.plan for job in state.queued) else self.day

    def prepare(self, instance: ElasticInstance, statistics: QueueStatistics) -> None:
        """Find how far ahead plans look."""
        self.reach = _reach(instance, statistics)

    def decide(self, view: View) -> IntArray:
        """Do what the plans say, as far as there are servers."""
        wanted = np.zeros(len(view), dtype=np.int64)
        for row, job in enumerate(view.job.tolist()):
            if job not in self.plan:
                self.plan[job] = (view.slot, self._planned(view, row))
            start, levels = self.plan[job]
            wanted[row] = levels[view.slot - start] if view.slot - start < len(levels) else 1
        level = forced_first(view)
        return by_gain(view, level, np.maximum(wanted, level), view.capacity)

    def _planned(self, view: View, row: int) -> IntArray:
        profile = view.profile[row]
        units = int(view.scaling.count[profile])
        window = int(np.ceil(view.left[row] - 1e-9)) + int(max(0.0, view.slack[row] + 1e-9))
        gain = np.diff(view.scaling.work[profile])[:units]
        kwh = np.diff(view.scaling.kwh[profile])[:units]
        levels = cheapest_levels(view.intensity[: max(1, window)], gain, kwh, float(view.left[row]))
        return levels[: int(np.flatnonzero(levels)[-1]) + 1]


def _reach(instance: ElasticInstance, statistics: QueueStatistics) -> int:
    """Return the longest window that a plan may have [slots]."""
    longest = max(float(statistics.mean.max()), float(instance.jobs.length.max(initial=0.0)))
    return int(instance.jobs.slack.max(initial=0)) + int(np.ceil(longest)) + 1

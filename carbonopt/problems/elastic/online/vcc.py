"""Virtual capacity curves: a cap on the servers of each hour of a day, made a day ahead."""

from __future__ import annotations

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.ranges import require_number
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.online.hourly import HourlyPolicy
from carbonopt.problems.elastic.online.queue_statistics import QueueStatistics
from carbonopt.problems.elastic.online.sharing import by_gain, first_come, forced_first
from carbonopt.problems.elastic.online.view import View
from carbonopt.simulation import State


class Vcc(HourlyPolicy):
    """Virtual capacity curve (Radovanovic et al.): first come, first served at k_min, under the cap of the hour.

    At the beginning of each day the cap is the whole cluster in the cleanest hours of the day, as many as the
    work needs that arrives in a day on average, and nothing in the others. Jobs whose slack is used up run
    nevertheless. Where a simulation lets arrivals be known, it is the work that does arrive that day.

    Parameters
    ----------
    margin
        Factor on the work of a day.
    """

    plans_arrivals = True

    def __init__(self, margin: float = 1.0, statistics: QueueStatistics | None = None) -> None:
        super().__init__(statistics)
        require_number("margin", margin, above=0)
        self.margin = margin
        self.work = 0.0
        self.work_of_day: FloatArray | None = None
        self.curve: FloatArray = np.zeros(0)
        self.made: int | None = None

    def prepare(self, instance: ElasticInstance, statistics: QueueStatistics) -> None:
        """Find the work of a day [server slots at k_min]."""
        k_min = np.array([profile.k_min for profile in instance.profiles])
        self.work = self.day * float(statistics.mean @ (statistics.arrivals @ k_min))

    def on_begin(self, state: State) -> None:
        """Learn what is known before the first slot: the jobs to come, too, where they may be known."""
        super().on_begin(state)
        if state.arrivals_known:
            jobs = state.workload
            assert jobs.expected_work is not None
            day = (jobs.arrival // self.day).astype(np.int64)
            self.work_of_day = np.bincount(day, jobs.expected_work * jobs.units).astype(np.float64)

    def decide(self, view: View) -> IntArray:
        """Run jobs in the order of their arrival, those that must first."""
        cap = self.cap(view)
        level = forced_first(view)
        return first_come(view, np.argsort(~(view.level > 0), kind="stable"), cap, level)

    def cap(self, view: View) -> int:
        """Return the servers that the curve allows in this slot; it is made anew at the beginning of a day."""
        today = view.slot // self.day
        if today != self.made:
            self.made = today
            left = self.day - view.slot % self.day  # of a day that began before the simulation did
            seen = view.intensity[:left]
            self.curve = np.zeros(self.day)
            needed = self.margin * self._arriving(today, left)
            for slot in np.argsort(seen, kind="stable").tolist():
                self.curve[self.day - left + slot] = min(float(view.capacity), np.ceil(needed))
                needed -= view.capacity
                if needed <= 0:
                    break
        return int(self.curve[view.slot % self.day])

    def _arriving(self, day: int, left: int) -> float:
        """Return the work that arrives in the last slots of a day [server slots at k_min]."""
        if self.work_of_day is None:
            return self.work * left / self.day
        return float(self.work_of_day[day]) if day < self.work_of_day.size else 0.0


class VccScaling(Vcc):
    """Virtual capacity curve with scaling: what k_min leaves of the cap goes to further units, by their p.

    Parameters
    ----------
    margin
        Factor on the work of a day.
    least_gain
        Units with p below this are not used.
    """

    def __init__(self, margin: float = 1.0, least_gain: float = 0.5, statistics: QueueStatistics | None = None) -> None:
        super().__init__(margin, statistics)
        require_number("least_gain", least_gain, least=0, most=1)
        self.least_gain = least_gain

    def decide(self, view: View) -> IntArray:
        """Run jobs in the order of their arrival, then scale what runs."""
        cap = self.cap(view)
        level = super().decide(view)
        most = np.where(level > 0, view.scaling.count[view.profile], 0)
        return by_gain(view, level, most, cap, self.least_gain)

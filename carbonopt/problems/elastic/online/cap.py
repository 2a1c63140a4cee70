"""CAP: as many servers as the present carbon intensity is worth, by the thresholds of k-min search."""

from __future__ import annotations

import numpy as np

from carbonopt.core.arrays import IntArray
from carbonopt.core.ranges import require_number
from carbonopt.guarantees.cap import quota, thresholds
from carbonopt.problems.elastic.online.hourly import HourlyPolicy
from carbonopt.problems.elastic.online.queue_statistics import QueueStatistics
from carbonopt.problems.elastic.online.sharing import first_come, forced_first
from carbonopt.problems.elastic.online.view import View
from carbonopt.simulation import State


class Cap(HourlyPolicy):
    """Carbon-aware provisioning (Lechowicz et al. 2025): first come, first served at k_min, under a quota.

    The quota is `least_share` of the servers at the largest intensity of the hours ahead, and all of them at the
    least. Jobs that run are not stopped for it. Jobs whose slack is used up run nevertheless.

    Parameters
    ----------
    least_share
        Of the servers, which the quota always allows; one server at least.
    ahead_hours
        The bounds on the intensity are those of the forecast for so many hours; the paper has 48 [h].
    """

    def __init__(
        self, least_share: float = 0.2, ahead_hours: float = 48.0, statistics: QueueStatistics | None = None
    ) -> None:
        super().__init__(statistics)
        require_number("least_share", least_share, above=0, most=1)
        require_number("ahead_hours", ahead_hours, above=0)
        self.least_share = least_share
        self.ahead_hours = ahead_hours

    def slots_ahead(self, state: State) -> int:
        """Return the slots from which the bounds come."""
        hours: float = state.instance.time.slot_hours
        return max(1, round(self.ahead_hours / hours))

    def decide(self, view: View) -> IntArray:
        """Keep what runs, run what must, then the others in the order of their arrival under the quota."""
        runs = np.minimum(view.level, 1)
        must = first_come(view, np.flatnonzero(runs), level=forced_first(view))
        return first_come(view, np.arange(len(view)), self.quota(view), must)

    def quota(self, view: View) -> int:
        """Return the servers that may be busy in this slot when a job starts."""
        if not view.capacity:
            return 0
        least = max(1, int(np.ceil(self.least_share * view.capacity)))
        high = float(view.intensity.max())
        low = float(view.intensity.min())
        if low <= 0 or low == high:
            # k-min search has no thresholds: all servers at the least intensity, the least quota elsewhere
            return view.capacity if view.intensity[0] <= low else least
        return int(quota(view.intensity[0], thresholds(low, high, view.capacity, least), least))

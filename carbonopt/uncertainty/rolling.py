"""`RiskRolling`: a policy of mosp that plans anew each period, for the members of the forecast that is known then."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from carbonopt.core.errors import InputError, UnsupportedError
from carbonopt.core.options import Options, Schedule
from carbonopt.core.status import Status
from carbonopt.forecasts.archive import ForecastArchive
from carbonopt.problems.mosp.online.rolling import WINDOW_HOURS, Rolling
from carbonopt.problems.mosp.online.window import Window
from carbonopt.simulation import State
from carbonopt.uncertainty.costs import require_mosp
from carbonopt.uncertainty.measures import CVaR, Risk
from carbonopt.uncertainty.scenarios import Scenarios
from carbonopt.uncertainty.solve import solve_under_risk

WORK = 10.0
"""Most that a decision may take [work units]."""


class RiskRolling(Rolling):
    """Plans the jobs that are there for the least risk, and starts those whose time has come.

    A job that has begun runs to its end where it is. All others are planned again in the next period, with the
    forecast that was issued last. A period knows no later issue.

    Parameters
    ----------
    archives
        What was forecast when: one for each zone, all with as many members. Each issue must reach to the end of the
        period's window.
    risk
        What is minimised over the members; `CVaR` of .9 by default.
    work
        Of each decision [work units].
    window_hours, period_slots
        As in `carbonopt.problems.mosp.online.rolling.Rolling`.

    Examples
    --------
    ``co.simulate(instance, RiskRolling([archive], CVaR(0.8)), forecast=archive)``
    """

    def __init__(
        self,
        archives: Sequence[ForecastArchive],
        risk: Risk | None = None,
        work: float = WORK,
        window_hours: float = WINDOW_HOURS,
        period_slots: int = 1,
    ) -> None:
        super().__init__(
            "auto", suspend=False, window_hours=window_hours, period_slots=period_slots, clock="now", deadlines="exact"
        )
        self.archives = tuple(archives)
        self.risk: Risk = CVaR() if risk is None else risk
        self.work = work
        self._slot = 0

    def on_begin(self, state: State) -> None:
        """Refuse an instance that has no programs of risk, and archives that leave a zone or a decision out."""
        super().on_begin(state)
        instance = require_mosp(state.instance)
        missing = set(instance.carbon.zones) - {archive.zone for archive in self.archives}
        if missing:
            raise UnsupportedError(f"{self.name}: zone {min(missing)} has no archive of forecasts")
        span = max(1, round(self.window_hours / instance.time.slot_hours))
        try:
            for archive in self.archives:
                for slot in range(instance.time.slots):
                    archive.known(slot, min(slot + span, instance.time.slots))
        except InputError as error:  # said before it begins, this is a refusal
            raise UnsupportedError(f"{self.name}: {error}") from None

    def on_epoch(self, state: State) -> None:
        """Note the slot, then plan."""
        self._slot = round(state.now)
        super().on_epoch(state)

    def _optimized(self, window: Window, options: Options) -> Schedule:
        found = solve_under_risk(
            window.instance,
            self.known(window),
            self.risk,
            work_limit=self.work,
            mip_rel_gap=self.mip_rel_gap,
            seed=options.seed,
        )
        if found.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if found.solution is None or found.solution.columns is None:
            return super()._optimized(window, options)
        return found.solution.columns

    def known(self, window: Window) -> Scenarios:
        """Return what the members of the last issue say of a window's slots."""
        zones, slots = window.instance.carbon.zones, window.instance.time.slots
        of_zone = {archive.zone: archive for archive in self.archives}
        values = [of_zone[zone].known(self._slot, self._slot + slots) for zone in zones]
        return Scenarios(zones, np.stack(values, axis=1))

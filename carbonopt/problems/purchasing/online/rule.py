"""The rule of a policy: when a job starts, and which CPUs are bought."""

from __future__ import annotations

from dataclasses import dataclass

from carbonopt.core.errors import UnsupportedError
from carbonopt.core.ranges import require_number, require_one_of
from carbonopt.problems.purchasing.data.instance import PurchasingInstance

START_TIMES = ("no-wait", "all-wait-threshold", "lowest-slot", "lowest-window", "carbon-time")
PAUSING = ("threshold", "opr", "unknown-length")
"""Those of `carbonopt.guarantees`."""
SUSPENDING = ("wait-awhile", "ecovisor", *PAUSING)


@dataclass(frozen=True)
class PurchaseRule:
    """What a policy does.

    Parameters
    ----------
    start
        How it decides when jobs run: one of `START_TIMES` or `SUSPENDING`.
    spot
        Whether jobs that may run on spot CPUs do.
    conserving
        Whether other jobs start before their time wherever reserved CPUs are free for them.
    clean_share
        Of ``ecovisor``: jobs run while the intensity is below that of the cleanest share of the hours ahead. More lets
        them run more, and wait less.
    ahead_hours
        Of ``ecovisor``: how far it looks ahead of an arrival [h].
    switch
        Of `PAUSING`: cost of one start or one stop [g/kWh of one slot]. More makes them pause less often.
    low, high
        Of `PAUSING`: bounds on the intensity that are known [g/kWh]; None for those of the instance's signal.
    startup_minutes
        Time from the purchase of an on-demand or spot CPU until the job begins on it [min]. It is paid for and emits.
        A reserved CPU is up already.
    """

    start: str
    spot: bool = False
    conserving: bool = False
    clean_share: float = 0.3
    ahead_hours: float = 24.0
    switch: float = 0.0
    low: float | None = None
    high: float | None = None
    startup_minutes: float = 0.0

    def __post_init__(self) -> None:
        require_one_of("start", self.start, (*START_TIMES, *SUSPENDING))
        require_number("clean_share", self.clean_share, above=0, most=1)
        require_number("ahead_hours", self.ahead_hours, above=0)
        require_number("switch", self.switch, least=0)
        require_number("low", self.low, above=0, none=True)
        require_number("high", self.high, above=0, none=True)
        if self.low is not None and self.high is not None and self.low > self.high:
            raise UnsupportedError(f"low = {self.low:g}: must be at most high = {self.high:g}")
        if self.conserving and self.start in SUSPENDING:
            raise UnsupportedError(f"conserving = true: {self.start} suspends jobs, and starts none before its time")
        require_number("startup_minutes", self.startup_minutes, least=0)
        if self.startup_minutes and self.start in SUSPENDING:
            words = f"{self.start} plans pieces of exactly each job's length, which leave no time to start"
            raise UnsupportedError(f"startup_minutes = {self.startup_minutes:g}: {words}")

    @property
    def startup_hours(self) -> float:
        """Time from the purchase of a CPU until the job begins on it [h]."""
        return self.startup_minutes / 60


def applicable(instance: PurchasingInstance, rule: PurchaseRule) -> bool:
    """Return whether an instance has what a policy is for: those that buy spot CPUs need some on offer."""
    return instance.spot is not None or not rule.spot

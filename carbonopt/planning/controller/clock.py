"""The time by which a controller goes. Tests have their own, which needs no waiting."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time, and waits."""

    def now(self) -> datetime:
        """Return the moment, in UTC."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait; a signal to end raises KeyboardInterrupt."""
        ...


class WallClock:
    """The clock of this machine."""

    def now(self) -> datetime:
        """Return the moment, in UTC and whole seconds."""
        return datetime.now(UTC).replace(microsecond=0)

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(max(0.0, seconds))


class FixedClock:
    """A clock that stands still: for ``--now``."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def now(self) -> datetime:
        """Return the moment."""
        return self.moment

    def sleep(self, seconds: float) -> None:
        """Wait in real time, as a server may ask for."""
        time.sleep(seconds)

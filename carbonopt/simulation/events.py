"""Kinds of events, in the order in which those of one moment are handled, and the runs whose ends are one."""

from __future__ import annotations

from math import inf
from typing import Any

from carbonopt.simulation.log import COMPLETED

Event = tuple[float, int, int, Any]
"""Time, kind, order among equals, and what it is about."""

END, CAPACITY, ARRIVAL, EPOCH, WAKE, DUE = range(6)


class Run:
    """A job on a pool from one moment on."""

    __slots__ = ("end", "ended", "job", "pool", "rate", "ready", "start", "units", "until")

    def __init__(self, job: int, pool: int, units: float, start: float, until: float) -> None:
        self.job = job
        self.pool = pool
        self.units = units
        self.start = start
        self.until = until
        self.ready = start
        self.rate = 1.0
        self.end = inf
        self.ended = COMPLETED

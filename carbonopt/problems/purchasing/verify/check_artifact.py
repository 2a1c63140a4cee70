"""The terms of the authors' simulator: whole ticks of 5 s, and its own edges of queues."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from carbonopt.core.arrays import FloatArray
from carbonopt.problems.purchasing.data.instance import PurchasingInstance
from carbonopt.problems.purchasing.verify.accounts import CheckTerms, Rows

TICKS_PER_HOUR = 720
ALLOWANCE = 1e-6
"""Added before a time in hours is cut to whole ticks: a third of an hour is 240 ticks."""
OFF_TICK = 1e-4
"""Part of a tick that counts as rounding of a time in hours."""


def artifact_terms(instance: PurchasingInstance, model: str, reserved: int) -> CheckTerms:
    """Return arrival, length and waiting limit of the jobs as the authors' simulator cuts them.

    A job that is exactly as long as its queue's limit goes to the next queue there.
    """
    edges = np.array([queue.max_length_hours for queue in instance.queues[:-1]]) * TICKS_PER_HOUR
    arrival, length = (
        np.floor(hours * TICKS_PER_HOUR + ALLOWANCE)
        for hours in (instance.jobs.arrival_hours, instance.jobs.length_hours)
    )
    waits = np.array([queue.max_wait_hours for queue in instance.queues]) * TICKS_PER_HOUR
    limit = np.floor(waits + ALLOWANCE)[np.searchsorted(edges, length, side="right")]
    arrival, length, limit = (ticks / TICKS_PER_HOUR for ticks in (arrival, length, limit))
    return CheckTerms(arrival, length, limit, model, reserved, artifact=True)


def off_tick(rows: Rows) -> npt.NDArray[np.bool_]:
    """Return which rows do not begin and end at whole ticks."""
    return np.asarray(_off(rows.start) | _off(rows.end))


def on_ticks(rows: Rows) -> Rows:
    """Return the rows with their moments at the nearest whole ticks."""
    start, end = (np.rint(hours * TICKS_PER_HOUR) / TICKS_PER_HOUR for hours in (rows.start, rows.end))
    return Rows(rows.job, start, end, rows.option)


def _off(hours: FloatArray) -> npt.NDArray[np.bool_]:
    ticks = hours * TICKS_PER_HOUR
    return np.asarray(np.abs(ticks - np.rint(ticks)) > OFF_TICK)

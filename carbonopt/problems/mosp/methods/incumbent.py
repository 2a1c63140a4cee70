"""Partial schedules that became whole: reported as incumbents, and returned as outcomes."""

from __future__ import annotations

from typing import Any

import numpy as np

from carbonopt.core.options import Options
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.problems.mosp.methods import heuristics
from carbonopt.problems.mosp.methods.partial_schedule import PartialSchedule


def report_best(partials: list[PartialSchedule], bound: float | None, options: Options) -> PartialSchedule | None:
    """Return the best of the schedules that are whole, and hand it out as the incumbent."""
    whole = [partial for partial in partials if heuristics.is_schedule(partial)]
    best = min(whole, key=heuristics.total_cost) if whole else None
    options.report(bound=bound, schedule=None if best is None else best.schedule)
    return best


def heuristic_outcome(partial: PartialSchedule, bound: float | None, info: dict[str, Any], options: Options) -> Outcome:
    """Return what a heuristic ends with: its schedule, or the jobs for which it found no place."""
    late = options.remaining == 0
    if not heuristics.is_schedule(partial):
        left = [partial.instance.jobs.name[i] for i in np.flatnonzero(partial.cluster < 0)[:20]]
        return Outcome(Status.TIME_LIMIT if late else Status.UNKNOWN, None, bound, info=info | {"unplaced_jobs": left})
    return Outcome(Status.TIME_LIMIT if late else Status.FEASIBLE, partial.schedule(), bound, info=info)

"""The course of one annealing: on which cells, at which temperatures, and with how much of the time.

The temperatures are in units of what a typical job costs on demand: half of all CPU-hours are of larger jobs. Of a
mean job they would differ from trace to trace: in pai-100k one job in a hundred does half of the work.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

COARSE_HOURS, FINE_HOURS = 1 / 12, 1 / 60
FINE_COST = 3.5
"""Of a sweep on fine cells, over one on coarse cells."""
ENOUGH = 500
"""Sweeps on fine cells that are better than more on coarse ones: .31 % in place of .40 % (pai_1k, Germany, R = 18)."""
SHORT, FEW, LONG = 10, 10, 10_000
"""Sweeps of the first round, of the first stage of any other at least, and at most."""
REACH_HOURS = 0.5
"""How far a job moves when it is warm: a third of the time of a sweep over its whole window."""


class Stage(NamedTuple):
    """Some sweeps of one kind.

    Parameters
    ----------
    hours
        Of a cell [h]; 0 for the exact load.
    hot, cold
        First and last temperature.
    sweeps
        Number of sweeps, over that of the first stage.
    share
        Of a round's time that it takes at most.
    reach
        How far a job moves at most in a sweep [h].
    """

    hours: float
    hot: float
    cold: float
    sweeps: float
    share: float
    reach: float = np.inf


LARGE = (
    Stage(COARSE_HOURS, 2.5e-3, 1e-4, 1.0, 0.73),
    Stage(FINE_HOURS, 1e-4, 2e-5, 0.15, 0.11, REACH_HOURS),
    Stage(0.0, 2e-5, 7e-6, 0.1, 0.12, REACH_HOURS),
)
"""Splitting, where time is short."""
SMALL = (Stage(FINE_HOURS, 2.5e-3, 1.4e-4, 1.0, 0.8), Stage(0.0, 1.4e-4, 2.5e-5, 0.1, 0.12))
"""Splitting, where `ENOUGH` sweeps can be made."""
NO_SPLIT = (Stage(COARSE_HOURS, 1.4e-2, 2.8e-3, 1.0, 0.4), Stage(0.0, 2.8e-3, 8e-5, 1 / 3, 0.5))
"""The exact load early: means over cells hide conflicts."""
PIECES = (Stage(COARSE_HOURS, 5e-2, 3e-3, 1.0, 0.4), Stage(FINE_HOURS, 3e-3, 1e-4, 1 / 3, 0.5))
"""Jobs that may be interrupted: temperatures stand for a noise of the prices, in units of a mean job."""
RESPONSES = {
    "splitting": Stage(FINE_HOURS, 8e-4, 2.8e-5, 1.0, 0.55),
    "no-split": NO_SPLIT[-1],
    "suspend-resume": PIECES[-1],
}
"""To new weights."""
STAGES = {"splitting": LARGE, "no-split": NO_SPLIT, "suspend-resume": PIECES}


def course(model: str, jobs: int, seconds: float, per_sweep: float) -> tuple[tuple[Stage, ...], int]:
    """Return the stages of a round, and the number of sweeps of the first.

    Parameters
    ----------
    model
        Of the instance.
    jobs
        Their number.
    seconds
        Time for the round.
    per_sweep
        Seconds of a coarse sweep; 0 if unknown.
    """
    most = min(LONG, 100 + 20 * jobs)
    affordable = seconds / per_sweep if per_sweep > 0 else np.inf
    if model == "splitting":
        fine = affordable * SMALL[0].share / FINE_COST
        if fine >= min(ENOUGH, most):
            return SMALL, int(min(most, fine))
    stages = STAGES[model]
    return stages, int(max(FEW, min(most, affordable * stages[0].share)))

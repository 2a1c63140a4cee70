"""The course of one annealing: on which cells, at which temperatures, and with how much of the time.

The temperatures are in units of what a typical job costs on demand: half of all CPU-hours are of larger jobs. Of a
mean job they would differ from trace to trace: in pai-100k one job in a hundred does half of the work.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

COARSE_HOURS, FINE_HOURS = 1 / 12, 1 / 60
ENOUGH = 400
"""Sweeps of the first stage from which on the exact load has the time that it takes; not tuned."""
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
    firm
        First and last share of the cost of load that jobs see, see `search`.
    """

    hours: float
    hot: float
    cold: float
    sweeps: float
    share: float
    reach: float = np.inf
    firm: tuple[float, float] = (1.0, 1.0)


LARGE = (
    Stage(COARSE_HOURS, 1e-3, 3e-4, 1.0, 0.73, firm=(0.05, 0.5)),
    Stage(FINE_HOURS, 3e-4, 5e-5, 0.15, 0.11, REACH_HOURS, firm=(0.5, 1.0)),
    Stage(0.0, 5e-5, 7e-6, 0.1, 0.12, REACH_HOURS),
)
"""Splitting, where time is short. Firm from the beginning, .91 % in place of .71 % (pai-100k, R = 115, 90 s)."""
SMALL = (
    Stage(COARSE_HOURS, 1e-3, 6e-4, 1.0, 0.2, firm=(0.03, 0.1)),
    Stage(0.0, 6e-4, 2e-5, 0.8, 0.73, firm=(0.1, 1.0)),
)
"""Splitting, where `ENOUGH` sweeps can be made. Firm from the beginning, .30 % in place of .13 % (pai_1k, Germany,
R = 9), and .27 % in ten times the time."""
NO_SPLIT = (
    Stage(COARSE_HOURS, 1e-3, 4e-4, 1.0, 0.4, firm=(0.05, 0.2)),
    Stage(0.0, 4e-4, 8e-5, 1 / 3, 0.5, firm=(0.2, 1.0)),
)
"""The exact load early: means over cells hide conflicts. Firm from the beginning, .77 % in place of .39 % (pai_1k,
R = 9)."""
PIECES = (Stage(COARSE_HOURS, 5e-2, 3e-3, 1.0, 0.4), Stage(FINE_HOURS, 3e-3, 1e-4, 1 / 3, 0.5))
"""Jobs that may be interrupted: temperatures stand for a noise of the prices, in units of a mean job."""
RESPONSES = {
    "splitting": Stage(FINE_HOURS, 8e-4, 2.8e-5, 1.0, 0.55),
    "no-split": Stage(0.0, 2.8e-3, 8e-5, 1 / 3, 0.5),
    "suspend-resume": PIECES[-1],
}
"""To new weights, of which the bound's prices know nothing."""
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
        sweeps = affordable * SMALL[0].share
        if sweeps >= min(ENOUGH, most):
            return SMALL, int(min(most, sweeps))
    stages = STAGES[model]
    return stages, int(max(FEW, min(most, affordable * stages[0].share)))

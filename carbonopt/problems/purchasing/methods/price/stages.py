"""The course of one annealing: its stages, and how many sweeps the first one makes."""

from __future__ import annotations

import numpy as np

from carbonopt.problems.purchasing.methods.price.parameters import PriceParameters
from carbonopt.problems.purchasing.methods.price.stage_parameters import StageParameters


def course(
    model: str, jobs: int, limit: float, per_sweep: float, parameters: PriceParameters
) -> tuple[tuple[StageParameters, ...], int]:
    """Return the stages of a round, and the number of sweeps of the first.

    Parameters
    ----------
    model
        Of the instance.
    jobs
        Their number.
    limit
        Time or work for the round.
    per_sweep
        The same of a coarse sweep; 0 if unknown.
    parameters
        Of the method.
    """
    rounds = parameters.rounds
    most = int(min(rounds.most_sweeps, rounds.sweeps + rounds.sweeps_per_job * jobs))
    affordable = limit / per_sweep if per_sweep > 0 else np.inf
    if model == "splitting":
        stages = parameters.splitting.stages
        sweeps = affordable * stages[0].time_share
        if sweeps >= min(parameters.splitting.enough_sweeps, most):
            return stages, int(min(most, sweeps))
    stages = parameters.stages(model)
    return stages, int(max(rounds.least_sweeps, min(most, affordable * stages[0].time_share)))

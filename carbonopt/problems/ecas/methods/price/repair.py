"""Places for jobs that greedy insertion leaves without one, by guided ejection.

A job without a place takes one by force, and the jobs in its way look for another. Those that have waited often are
taken off last, so that the hard ones find their places first.

References
----------
Nagata, Bräysy (2009), "A powerful route minimization heuristic for the vehicle routing problem with time windows",
Operations Research Letters 37, 333-338.
"""

from __future__ import annotations

import numpy as np

from carbonopt.core.options import Options
from carbonopt.problems.ecas.data.instance import EcasInstance
from carbonopt.problems.ecas.methods.price.eject_kernels import eject
from carbonopt.problems.ecas.methods.price.parameters import RepairParameters
from carbonopt.problems.ecas.methods.price.tables import NOWHERE, Ranking, State, Tables

FORCED_AT_ONCE = 200
"""Forced places for which random numbers are drawn at once: after them the time is asked for."""
WAY_STEPS = 100.0
"""Loop steps to find who is in the way of a job at one place, beside one for each job."""


def repair_steps(instance: EcasInstance, params: RepairParameters) -> float:
    """Return about how many loop steps the repair takes at worst."""
    jobs = instance.jobs
    work = float(jobs.duration.mean()) * (len(instance.resources) + 1) + len(jobs) if len(jobs) else 0.0
    return params.forced(len(jobs)) * (params.tries + params.wanders) * work


def repaired(tables: Tables, state: State, ranking: Ranking, options: Options, params: RepairParameters) -> int:
    """Give jobs without a place one, in the state itself; return how many are left.

    Parameters
    ----------
    tables, state
        An instance, and its incomplete schedule.
    ranking
        Of all starts, by their energy alone: a place is chosen by what it adds to the objective.
    options
        Seed and time.
    params
        See its class.
    """
    missing = np.flatnonzero(state.machine == NOWHERE)
    count = len(missing)
    if not tables.use.shape[1]:  # no job is in the way of another
        return count
    waiting = np.zeros(len(state.machine), dtype=np.int64)
    waiting[:count] = missing
    patience = np.ones(len(state.machine))
    rng = np.random.default_rng(options.seed)
    limit = params.forced(len(state.machine))
    numbers = FORCED_AT_ONCE * (2 * params.tries + 3 * params.wanders)
    turns = 0
    while count and turns < limit and options.remaining > 0:
        random = rng.random(numbers)
        count = eject(tables, state, ranking, patience, waiting, count, params.tries, params.wanders, random)
        turns += FORCED_AT_ONCE
        options.spend(FORCED_AT_ONCE * (params.tries + params.wanders) * (WAY_STEPS + len(waiting)))
    return count

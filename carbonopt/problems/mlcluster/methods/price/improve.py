"""Ruin and recreate: a few jobs are taken out, and each gets its cheapest runs in what the others leave.

What runs cost for this is carbon and lateness, and a share of the prices of GPU time. With all of it a job leaves cheap
hours to those that win more by them; without any it takes what nobody else has. Both happen by turns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from carbonopt.core.options import Options
from carbonopt.problems.mlcluster.methods.price.bound import Proof
from carbonopt.problems.mlcluster.methods.price.incumbent import Incumbent
from carbonopt.problems.mlcluster.methods.price.parameters import PriceParameters, RepairParameters
from carbonopt.problems.mlcluster.methods.price.room import Room
from carbonopt.problems.mlcluster.methods.price.rows import Rows, rows_of, schedule_of
from carbonopt.problems.mlcluster.methods.price.ruin_kernels import DRAWS, Moves, ruin_and_recreate

ROUNDS = 100
"""That are done at once, at most: after them the time is asked for."""
STEPS = 1e6
"""Loop steps that rounds take together, about: half a second where they run as Python."""
NOISES = 2
"""How many times as many factors of prices are drawn at once as there are cells."""
CHECK_STEPS = 2e4
"""Loop steps that stand for the check of a job's runs, in Python: schedules are offered so seldom that it takes less
time than the search."""


def improve(proof: Proof, options: Options, best: Incumbent) -> dict[str, Any]:
    """Offer better schedules until the limit is used up or nothing better is found; return what is told of it."""
    if best.schedule is None:
        return {}
    params = options.parameters(PriceParameters).repair
    names = best.instance.jobs.name
    patience = int(np.ceil(params.patience * len(names)))
    search = Search(proof, params, rows_of(names, best.schedule), options.seed)
    told, unchecked = best.objective, 0.0
    while search.stale < patience and options.remaining > 0 and not best.is_within(proof.bound):
        steps = search.rounds(min(search.usual, patience - search.stale))
        options.spend(steps)
        unchecked += steps
        if search.best < told and unchecked > CHECK_STEPS * len(names):
            best.offer(schedule_of(names, search.rows))
            told, unchecked = search.best, 0.0
    if search.best < told:
        best.offer(schedule_of(names, search.rows))
    return {"rounds": search.done, "converged": search.stale >= patience}


class Search:
    """The present schedule and the best one, changed round by round.

    Parameters
    ----------
    proof
        The prices that lead.
    params
        What a round may do.
    rows
        The schedule to begin with.
    seed
        Of random numbers.

    Attributes
    ----------
    done, stale
        Rounds, and those since the last better schedule.
    usual
        Rounds to do at once, by what the last ones took.
    room
        The schedules.
    """

    def __init__(self, proof: Proof, params: RepairParameters, rows: Rows, seed: int) -> None:
        count = len(proof.coefficients.instance.jobs)
        most_jobs = min(params.most_jobs, count)
        self.done = self.stale = 0
        self.usual = 1
        self.room = Room(proof, rows, most_jobs)
        self._draws = DRAWS + 2 * most_jobs
        self._noise = params.noise
        self._rng = np.random.default_rng(seed)
        self._moves = Moves(
            most_rise=params.temperature * proof.bound / max(count, params.temperature_jobs),
            patience=max(1.0, params.patience * count),
            price_share=params.price_share,
            free_share=params.free_share,
            uniform_share=params.uniform_share,
            reach=params.reach_minutes,
        )

    @property
    def best(self) -> float:
        """The objective of the best schedule."""
        return float(self.room.state.totals[1])

    @property
    def rows(self) -> Rows:
        """Its runs."""
        return self.room.best

    def rounds(self, count: int) -> float:
        """Do so many rounds, or fewer; return the loop steps that they take."""
        room, state, tables = self.room, self.room.state, self.room.tables
        state.totals[0], state.totals[2] = state.cost.sum(), state.hours.sum()  # without the errors of many changes
        random = self._rng.random((count, self._draws))
        noise = np.exp(self._noise * self._rng.normal(size=NOISES * len(tables.carbon)))
        done, self.stale, looked_at, has_room = ruin_and_recreate(
            tables, state, self._moves, random, noise, self.stale, room.work
        )
        self.done += done
        if not has_room:
            room.grow()
        steps = room.steps(looked_at)
        self.usual = max(1, min(ROUNDS, int(STEPS * done / max(steps, 1.0))))
        return steps

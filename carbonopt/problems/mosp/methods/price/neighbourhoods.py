"""Schedules from a schedule: a dive gives some jobs other places, and the others stay where they are.

Those jobs are an instance of their own, on the capacity that the others leave.

References
----------
Shaw (1998), "Using constraint programming and local search methods to solve vehicle routing problems", CP 1998,
417-431.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from carbonopt.core.arrays import IntArray
from carbonopt.core.options import Options
from carbonopt.problems.mosp.methods.price.bound_parameters import DiveParameters
from carbonopt.problems.mosp.methods.price.cliques import CliqueBound
from carbonopt.problems.mosp.methods.price.dives import Dives
from carbonopt.problems.mosp.methods.price.parts import cost_of, program_of_part

NEARNESS = (0.0, 1.0, 4.0)
"""Powers of the distance by which jobs are less likely in a neighbourhood, one drawn for each."""
FREED = (40, 80, 120)
"""Jobs that a dive places again, one drawn for each."""
MOST_FREED = 0.6
"""Of all jobs, those that a dive places again, at most."""
PART_ROUNDS = 5
"""Linear programs after which a part gets cliques, at most."""
LEAST_GAINED = 3e-5
"""Of the mean cost of a job, what a dive must gain for each job that it places again."""


class Neighbourhoods:
    """The neighbourhoods of one instance's schedules.

    Parameters
    ----------
    cliques
        Over all places, with the prices that they have: jobs of high excess at these are likely to be placed again.
    params
        Of the dives.
    seed
        Of the draws.
    """

    def __init__(self, cliques: CliqueBound, params: DiveParameters, seed: int) -> None:
        self.instance = cliques.instance
        self.cliques = cliques
        self.params = params
        self.bound = cliques.proof.bound
        self.row = cliques.row
        self.kind = cliques.kinds.of
        self.excess = cliques.proof.excess
        self.rng = np.random.default_rng(seed)

    def dive(self, known: IntArray, options: Options, tell: Callable[[], None] = lambda: None) -> IntArray | None:
        """Let a dive place some jobs again, as an instance of their own on the capacity that the others leave.

        Parameters
        ----------
        known
            A schedule: place of each job, cluster x T + start, -1 for rejected; shape (N,).
        options
            Count the work.
        tell
            Called after each step of the dive.

        Returns
        -------
        IntArray or None
            Place of each job of the instance; None where none is found that costs so much less that it counts.
        """
        freed = min(int(self.rng.choice(FREED)), max(1, round(MOST_FREED * len(known))))
        jobs = np.sort(self._order(known)[:freed])
        others = known.copy()
        others[jobs] = -1
        least = LEAST_GAINED * abs(self.bound) / len(others) * len(jobs)
        goal = cost_of(known[jobs], jobs, self.cliques) - least
        program = program_of_part(others, jobs, goal, self.cliques, PART_ROUNDS, options)
        if program is None:
            return None
        place = Dives(program, self.params, options, tell).dive(np.full(len(jobs), -1), goal, options)
        if place is None or cost_of(place, jobs, self.cliques) > goal:
            return None
        others[jobs] = place
        return others

    def _order(self, place: IntArray) -> IntArray:
        """Draw an order of the jobs: those of large excess are likely first, and those that run near one of these."""
        excess = np.zeros(len(place))
        excess[place >= 0] = self.excess[self._rows(place)]
        excess[place < 0] = excess.max(initial=0.0)
        weight = excess + 0.05 * excess.mean() + 1e-12
        slots = self.row.shape[2]
        start = np.where(place < 0, self.instance.jobs.arrival, place % slots)
        end = start + self.instance.jobs.duration
        i = self.rng.choice(len(place), p=weight / weight.sum())
        middle = (start[i] + end[i]) // 2
        distance = np.maximum(0, np.maximum(start - middle, middle + 1 - end))
        weight /= (1.0 + distance) ** self.rng.choice(NEARNESS)
        return np.argsort(-np.log(1.0 - self.rng.random(len(place))) / weight, kind="stable")

    def _rows(self, place: IntArray) -> IntArray:
        """Return the row of each job's place among the possible ones, without those that are rejected."""
        job = np.flatnonzero(place >= 0)
        slots = self.row.shape[2]
        return np.asarray(self.row[self.kind[job], place[job] // slots, place[job] % slots])

"""Dives in stages: the largest jobs get their places first, then the others as an instance of their own.

The program of all jobs has the cliques that its own solutions violate. Once large jobs have places, less room is left,
and jobs that had room beside each other exclude each other. So after each stage the jobs without a place become a part
with cliques of its own. Its program is smaller, its cost says more about what the stage is worth, and the dive goes on
there. A job is large by what it takes of the room that is left. One that a stage has left out is tried again.
"""

from __future__ import annotations

import numpy as np

from carbonopt.core.arrays import IntArray
from carbonopt.core.options import Options
from carbonopt.problems.mosp.methods.price.dives import Dives
from carbonopt.problems.mosp.methods.price.growing import Start
from carbonopt.problems.mosp.methods.price.parts import cost_of, program_of_part

MOST_SHARE = 0.8
"""Share of all jobs that a stage places, at most: few others are not worth a program of their own."""
STAGE_TIME = 0.7
"""Share of the remaining time that a stage may take."""
CLIQUE_TIME = 0.4
"""Share of the time after it for the cliques of the others."""


def dive_in_stages(dives: Dives, goal: float, options: Options, start: Start | None = None) -> IntArray | None:
    """Place all jobs: some of the largest in each stage, the others in a dive.

    Parameters
    ----------
    dives
        Of the instance; their parameters say how many jobs each stage places.
    goal
        Cost that a program must not exceed.
    options
        Count the work.
    start
        Where the first stage begins; None for all places.

    Returns
    -------
    IntArray or None
        As of `Dives.dive`. Where time or work is out after a stage, the others go where its program has most of them.
    """
    return _place(dives, dives.params.stages, goal, options, start)


def _place(
    dives: Dives, stages: tuple[int, ...], goal: float, options: Options, start: Start | None
) -> IntArray | None:
    """Place all jobs in the stages that are left."""
    nowhere = np.full(len(dives.rank), -1, dtype=np.int64)
    if not stages or stages[0] > MOST_SHARE * len(nowhere):
        return dives.dive(nowhere, goal, options, start)
    stage = options.part(STAGE_TIME)
    whole = dives.dive(nowhere, goal, stage, start, most=stages[0])
    if whole is None:  # its first program may have taken all its time
        return dives.dive(nowhere, goal, options, start) if stage.remaining == 0 else None
    if options.remaining == 0:
        return whole
    place = np.where(dives.rank < stages[0], whole, -1)
    others = np.flatnonzero(place < 0)
    placed = np.flatnonzero(place >= 0)
    cliques = dives.program.cliques
    rest = goal - cost_of(place[placed], placed, cliques)
    limited = options.part(CLIQUE_TIME)
    program = program_of_part(place, others, rest, cliques, cliques.params.rounds, limited, dives.program)
    if program is None:
        return whole if goal == np.inf else None  # without a schedule so far, one that lacks jobs is worth a search
    found = _place(dives.of_part(place, program, options), stages[1:], rest, options, None)
    if found is None:
        return whole if options.remaining == 0 else None
    place[others] = found
    return place

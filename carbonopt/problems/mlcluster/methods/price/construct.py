"""Schedules from nothing: the largest job first, each gets its cheapest runs at prices of GPU time.

The prices say how much a GPU is worth to the jobs that are still to come. In whole GPUs and with restarts these need
more of it than the relaxation says, so prices begin somewhat higher, and fall to those of the bound. The order is that
of work: a large job needs long runs that others would have cut into pieces, and a small one fits between them.
"""

from __future__ import annotations

import numpy as np

from carbonopt.core.options import Options
from carbonopt.problems.mlcluster.methods.price.bound import Proof
from carbonopt.problems.mlcluster.methods.price.place_kernels import place_all
from carbonopt.problems.mlcluster.methods.price.room import Room
from carbonopt.problems.mlcluster.methods.price.rows import Rows

JOBS = 10
"""That are placed at once, at the same prices: after them the time is asked for."""


def construct(proof: Proof, options: Options, first_share: float, last_share: float = 1.0) -> Rows | None:
    """Return runs of all jobs; None where some find no room, or the time is out.

    Parameters
    ----------
    first_share, last_share
        Of the prices, those at which the first jobs and the last ones are placed. The share changes with the work that
        is left.
    """
    if options.remaining <= 0:
        return None
    room = Room(proof, Rows.space(0), 1)
    work = room.tables.work
    order = np.argsort(-work, kind="stable")
    left = 1 - np.cumsum(work[order]) / work.sum()
    done = 0
    while done < len(order) and options.remaining > 0:
        room.work.price[:] = (last_share + (first_share - last_share) * left[done]) * proof.prices
        placed, looked_at, has_room = place_all(room.tables, room.state, order[done : done + JOBS], room.work)
        options.spend(room.steps(looked_at))
        done += placed
        if not has_room:
            room.grow()
        elif placed == 0:
            return None
    return room.rows if done == len(order) else None

"""Best responses of jobs that may be interrupted: each takes the cheapest hours of its window beside the others."""

from __future__ import annotations

from typing import NamedTuple

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.purchasing.methods.price.grid import Jobs
from carbonopt.problems.purchasing.methods.price.kernels.cell_responses import Choice, Pool
from carbonopt.problems.purchasing.methods.price.kernels.piece_pricing import (
    Kept,
    best_completion,
    choose_hours,
    fill_window,
)


class Taken(NamedTuple):
    """Hours that jobs run in the cells of their windows, job after job, and where those of each job begin."""

    hours: FloatArray
    offset: IntArray


@kernel
def respond_pieces(
    order: IntArray,
    noise: FloatArray,
    jobs: Jobs,
    pool: Pool,
    choice: Choice,
    taken: Taken,
    kept: Kept,
) -> None:
    """Let the jobs choose their hours anew; `noise` of each cell is added to the share that is on demand."""
    cells = len(pool.load)
    for j in order:
        cpus = jobs.cpus[j]
        at = taken.offset[j]
        first, count = fill_window(j, pool.hours, jobs, kept, cells)
        free = pool.reserved - cpus
        for c in range(count):
            if choice.on_pool[j]:
                pool.load[first + c] -= cpus * taken.hours[at + c] / pool.hours
            above = min(max(pool.load[first + c] - free, 0.0), cpus) + cpus * noise[first + c]
            kept.window_rate[c] = cpus * pool.carbon[first + c] + pool.price * above
            kept.chosen[c] = 0.0
        least, cell, inside = best_completion(j, first, count, pool.hours, pool.wait, jobs, kept)
        choice.on_pool[j] = least <= choice.other[j]
        if not choice.on_pool[j]:
            continue
        choose_hours(j, cell, inside, jobs, kept)
        for c in range(count):
            taken.hours[at + c] = kept.chosen[c]
            pool.load[first + c] += cpus * kept.chosen[c] / pool.hours

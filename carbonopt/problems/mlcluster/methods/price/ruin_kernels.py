"""Compiled loops of the search: a few jobs are taken out, and each gets its cheapest runs in what the others leave."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.mlcluster.methods.price.place_kernels import copy_row, put_back, put_in
from carbonopt.problems.mlcluster.methods.price.rows import Rows
from carbonopt.problems.mlcluster.methods.price.tables import State, Tables, Work
from carbonopt.problems.mlcluster.methods.price.timeline import hold

LEAST_GAIN = 1e-9
"""A schedule is better by at least this, relative."""
DRAWS = 6
"""Random numbers of a round, beside two for each job that may be taken out."""


class Moves(NamedTuple):
    """What a round may do: see `RepairParameters`.

    Attributes
    ----------
    most_rise
        Of the objective, on average, where the last round found a better schedule.
    patience
        Rounds without a better schedule after which no rise is allowed.
    """

    most_rise: float
    patience: float
    price_share: float
    free_share: float
    uniform_share: float
    reach: float


@kernel
def drawn_job(state: State, uniform_share: float, random: FloatArray) -> int:
    """Return any job, or one in proportion to what it costs."""
    jobs = len(state.cost)
    last = jobs - 1
    if random[0] < uniform_share or state.totals[0] <= 0.0:
        return min(int(random[1] * jobs), last)
    left = random[1] * state.totals[0]
    for j in range(last):
        left -= state.cost[j]
        if left < 0.0:
            return j
    return last


@kernel
def drawn_run(state: State, j: int, random: float) -> int:
    """Return the row of any run of a job."""
    runs = 0
    for r in range(state.counts[0]):
        runs += state.rows.job[r] == j
    left = min(int(random * runs), runs - 1)
    for r in range(state.counts[0]):
        if state.rows.job[r] == j:
            if left == 0:
                return r
            left -= 1
    return -1


@kernel
def drawn_near(state: State, low: float, high: float, taken: IntArray, count: int, random: float) -> int:
    """Return a job that runs between two moments and is not taken; -1 for none.

    Each of its runs there counts by what the job costs, and half of what one costs on average.
    """
    rows = state.rows
    floor = 0.5 * state.totals[0] / len(state.cost)
    total = 0.0
    found = -1
    for turn in range(2):
        left = random * total
        for r in range(state.counts[0]):
            if rows.start[r] >= high or rows.end[r] <= low:
                continue
            j = int(rows.job[r])
            is_taken = False
            for k in range(count):
                is_taken = is_taken or taken[k] == j
            if is_taken:
                continue
            if turn == 0:
                total += state.cost[j] + floor
            else:
                found = j
                left -= state.cost[j] + floor
                if left < 0.0:
                    return found
    return found


@kernel
def choose_jobs(state: State, moves: Moves, random: FloatArray, taken: IntArray) -> int:
    """Write jobs to take out, in the order in which they are put back; return their number."""
    taken[0] = drawn_job(state, moves.uniform_share, random)
    r = drawn_run(state, taken[0], random[2])
    if r < 0:
        return 0
    low, high = state.rows.start[r] - moves.reach, state.rows.end[r] + moves.reach
    most = 1 + min(int(random[3] * len(taken)), len(taken) - 1)
    count = 1
    while count < most:
        j = drawn_near(state, low, high, taken, count, random[3 + count])
        if j < 0:
            break
        taken[count] = j
        count += 1
    for k in range(count - 1, 0, -1):
        i = min(int(random[2 + len(taken) + k] * (k + 1)), k)
        taken[k], taken[i] = taken[i], taken[k]
    return count


@kernel
def take_out(state: State, taken: IntArray, count: int, old: Rows) -> int:
    """Move the runs of jobs to `old`; return their number."""
    n, r = 0, 0
    while r < state.counts[0]:
        is_taken = False
        for k in range(count):
            is_taken = is_taken or taken[k] == state.rows.job[r]
        if is_taken:
            copy_row(state.rows, r, old, n)
            n += 1
            state.counts[0] -= 1
            copy_row(state.rows, state.counts[0], state.rows, r)
        else:
            r += 1
    hold(state.held, old.start[:n], old.end[:n], old.gpus[:n], -1)
    return n


@kernel
def set_prices(tables: Tables, moves: Moves, random: FloatArray, noise: FloatArray, price: FloatArray) -> None:
    """Fill the prices of GPU time of a round."""
    share = 0.0 if random[0] < moves.free_share else random[1] * moves.price_share
    begin = min(int(random[2] * (len(noise) - len(price) + 1)), len(noise) - len(price))
    for t in range(len(price)):
        price[t] = share * tables.prices[t] * noise[begin + t]


@kernel
def accept(tables: Tables, state: State, work: Work, count: int, most_rise: float) -> bool:
    """Count what jobs cost now, unless it is too much more; return whether it is done."""
    change, late = 0.0, 0.0
    for k in range(count):
        j = work.taken[k]
        change += work.cost[k] - state.cost[j]
        late += work.hours[k] - state.hours[j]
    if change > most_rise or state.totals[2] + late > tables.most_hours:
        return False
    state.totals[0] += change
    state.totals[2] += late
    for k in range(count):
        j = work.taken[k]
        state.cost[j] = work.cost[k]
        state.hours[j] = work.hours[k]
    return True


@kernel
def keep_best(state: State) -> bool:
    """Copy the present schedule if it is the best."""
    if state.totals[0] >= state.totals[1] - LEAST_GAIN * abs(state.totals[1]):
        return False
    state.totals[1] = state.totals[0]
    state.counts[1] = state.counts[0]
    for r in range(state.counts[0]):
        copy_row(state.rows, r, state.best, r)
    return True


@kernel
def ruin_and_recreate(
    tables: Tables, state: State, moves: Moves, random: FloatArray, noise: FloatArray, stale: int, work: Work
) -> tuple[int, int, int, bool]:
    """Take jobs out and put them back, a round for each row of random numbers; keep what costs little more.

    Parameters
    ----------
    random
        Uniform numbers, shape (rounds, DRAWS + 2 K).
    noise
        Factors of prices, of which any T in a row are those of a round, shape (at least T,).
    stale
        Rounds since the last better schedule.

    Returns
    -------
    done : int
        Rounds.
    stale : int
        Then.
    looked_at : int
        Stretches, and those whose states were looked at, over all walks.
    has_room : bool
        Whether the arrays have room for the next round.
    """
    total = 0
    for i in range(len(random)):
        count = choose_jobs(state, moves, random[i, 4:], work.taken)
        n = take_out(state, work.taken, count, work.old)
        set_prices(tables, moves, random[i], noise, work.price)
        found, k = 0, 0
        runs = 1
        while k < count and runs > 0:
            runs, looked_at = put_back(tables, state, k, found, work)
            found += max(runs, 0)
            total += looked_at
            k += 1
        rise = -np.log(1.0 - random[i, 3]) * moves.most_rise * (1.0 - stale / moves.patience)
        stale += 1
        if runs > 0 and accept(tables, state, work, count, rise):
            put_in(state, work.new, found)
            if keep_best(state):
                stale = 0
        else:
            hold(state.held, work.new.start[:found], work.new.end[:found], work.new.gpus[:found], -1)
            hold(state.held, work.old.start[:n], work.old.end[:n], work.old.gpus[:n], 1)
            put_in(state, work.old, n)
        if runs < 0:
            return i + 1, stale, total, False
    return len(random), stale, total, True

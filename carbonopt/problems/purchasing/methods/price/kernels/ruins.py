"""Ruin and recreate at the exact load: some jobs near a moment leave the pool, and each starts where it then fits best.

Where jobs may not split, a response never finds that two small jobs should make room for a large one: each step on the
way costs more. So several jobs leave at once, with some that were off the pool, and all of them choose anew, one after
the other in some order (Schrimpf et al. 2000, "Record breaking optimization results using the ruin and recreate
principle", Journal of Computational Physics 159, 139-171). In some of these tries one job is forced in first: load
above R has a price for it, and the jobs that are in its way leave, too. A try stays if it costs less, or by the chance
that a temperature gives it; else all is as before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.purchasing.methods.price.grid import Jobs
from carbonopt.problems.purchasing.methods.price.kernels.cell_responses import Choice
from carbonopt.problems.purchasing.methods.price.kernels.exact_responses import Events, Path, put
from carbonopt.problems.purchasing.methods.price.kernels.forced_starts import force_in, make_room
from carbonopt.problems.purchasing.methods.price.kernels.free_starts import RunCosts, free_start
from carbonopt.problems.purchasing.methods.price.kernels.moves import (
    Luck,
    Moved,
    Near,
    cost_now,
    drawn,
    leave,
    list_running,
    list_waiting,
    undo,
)

MOST_DRAWS = 40
"""Random numbers of a try, beside those for each job that may leave."""
LEAST_LUCK = 1e-300
"""Random number that is taken for 0, which has no logarithm."""
RANDOM, WORK, CPUS, LENGTH, ARRIVAL = 0.3, 0.6, 0.7, 0.8, 0.9
"""Up to which random number jobs start in random order, by work, CPUs, length, arrival; beyond, by latest start."""
OUT_OF_ORDER = 0.1
"""Chance of a job to start earlier or later than that."""


class Rules(NamedTuple):
    """What a try may do, see `RuinParameters`, and the weighted price of a CPU-hour on demand."""

    leaving: int
    called: int
    reach_hours: float
    tolled_share: float
    forced_share: float
    eager: float
    contest: int
    on_demand: float


@kernel
def lacks_luck(rules: Rules, luck: Luck, moved: Moved) -> bool:
    """Return whether random numbers may run out in the next try."""
    return bool(luck.next[0] + MOST_DRAWS + (4 + rules.contest) * len(moved.job) > len(luck.number))


@kernel
def shuffle(listed: IntArray, count: int, most: int, luck: Luck) -> int:
    """Draw so many of the jobs listed to the front, or all; return how many."""
    most = min(most, count)
    for k in range(most):
        i = k + int(drawn(luck) * (count - k))
        listed[k], listed[i] = listed[i], listed[k]
    return most


@kernel
def settle_in(j: int, tolled: float, jobs: Jobs, choice: Choice, events: Events, costs: RunCosts) -> bool:
    """Let a job that is not on the pool start where it fits best, if anywhere; return False where a bucket is full."""
    start = free_start(j, tolled, choice.other[j], jobs, events, costs)
    if start < 0.0:
        return True
    choice.start[j] = start
    choice.on_pool[j] = put(jobs.cpus[j], start, start + jobs.length[j], events)
    return bool(choice.on_pool[j])


@kernel
def put_in_order(first: int, count: int, luck: Luck, jobs: Jobs, moved: Moved) -> None:
    """Decide in which order jobs start, from number `first` on."""
    kind = drawn(luck)
    for k in range(first, count):
        j = moved.job[k]
        moved.order[k] = k
        if kind < RANDOM:
            moved.key[k] = drawn(luck)
        elif kind < WORK:
            moved.key[k] = -jobs.cpus[j] * jobs.length[j]
        elif kind < CPUS:
            moved.key[k] = -jobs.cpus[j]
        elif kind < LENGTH:
            moved.key[k] = -jobs.length[j]
        elif kind < ARRIVAL:
            moved.key[k] = jobs.arrival[j]
        else:
            moved.key[k] = jobs.arrival[j] + jobs.wait[j]
        if drawn(luck) < OUT_OF_ORDER:
            moved.key[k] *= drawn(luck)
    for k in range(first + 1, count):
        who = moved.order[k]
        i = k
        while i > first and moved.key[moved.order[i - 1]] > moved.key[who]:
            moved.order[i] = moved.order[i - 1]
            i -= 1
        moved.order[i] = who


@kernel
def moment_of(j: int, jobs: Jobs, choice: Choice, luck: Luck) -> float:
    """Return a moment at which a job runs, or could run if it is off the pool."""
    if choice.on_pool[j]:
        return float(choice.start[j] + drawn(luck) * jobs.length[j])
    return float(jobs.arrival[j] + drawn(luck) * (jobs.wait[j] + jobs.length[j]))


@kernel
def share_of(most: int, luck: Luck) -> int:
    """Return a number from 1 to `most`; small ones have better chances."""
    return int((most + 1.0) ** drawn(luck))


@kernel
def ruin(
    tries: IntArray,
    begin: int,
    temperature: float,
    rules: Rules,
    luck: Luck,
    jobs: Jobs,
    choice: Choice,
    events: Events,
    costs: RunCosts,
    near: Near,
    moved: Moved,
    path: Path,
    change: FloatArray,
) -> int:
    """Make tries, each around one job, from one on; return where it stopped for lack of space or luck, or the end.

    By how much those that stay change the cost is added to `change`, shape (1,).
    """
    for z in range(begin, len(tries)):
        if lacks_luck(rules, luck, moved):
            return z
        j = tries[z]
        moment = moment_of(j, jobs, choice, luck)
        reach = rules.reach_hours * drawn(luck) ** 3
        count = list_running(moment - reach, moment + reach, j, jobs, choice, near)
        running = shuffle(near.running, count, share_of(rules.leaving, luck), luck)
        called = share_of(rules.called, luck) - int(2.0 * drawn(luck))
        count = list_waiting(moment - reach, moment + reach, j, jobs, choice, near)
        waiting = shuffle(near.waiting, count, called, luck)
        added = -leave(j, 0, jobs, choice, events, costs, moved)
        number = 1
        for k in range(running):
            added -= leave(near.running[k], number, jobs, choice, events, costs, moved)
            number += 1
        for k in range(waiting):
            added -= leave(near.waiting[k], number, jobs, choice, events, costs, moved)
            number += 1
        first = 0
        if drawn(luck) < rules.forced_share:
            first = 1
            price = rules.eager * drawn(luck) * rules.on_demand
            if not force_in(j, price, temperature, luck, jobs, choice, events, costs, path):
                undo(number, jobs, choice, events, moved)
                return z
            added += cost_now(j, jobs, choice, events, costs)
            number, cost = make_room(number, rules.contest, luck, jobs, choice, events, costs, near, moved)
            if number == 0:
                continue
            added -= cost
        put_in_order(first, number, luck, jobs, moved)
        tolled = drawn(luck) if drawn(luck) < rules.tolled_share else 0.0
        for k in range(first, number):
            i = moved.job[moved.order[k]]
            if not settle_in(i, tolled, jobs, choice, events, costs):
                undo(number, jobs, choice, events, moved)
                return z
            added += cost_now(i, jobs, choice, events, costs)
        most = -temperature * np.log(max(drawn(luck), LEAST_LUCK)) if temperature > 0.0 else 0.0
        if added > most:
            undo(number, jobs, choice, events, moved)
        else:
            change[0] += added
    return len(tries)

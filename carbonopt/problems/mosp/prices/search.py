"""Move one job to a place of low reduced cost, eject what is in its way, put that back where it fits: annealing.

At good prices every job has many places of almost no excess (reduced cost above its least), and the gap is the sum
of excesses and of priced room that is left unused. So the jobs to move are drawn by their excess, and places are
tried by increasing excess. Capacities always hold; a job that finds no room is absent, at a price.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from carbonopt.algorithms.linked import linked
from carbonopt.core.arrays import IntArray

TOURNAMENT = 12
"""Jobs of which the one of largest excess is moved."""
DEAR = 0.7
"""Probability with which it is drawn among the dear jobs."""
TRIES = 40
"""Draws of a job in the way before the first one is taken."""
STEPS = 12
"""Jobs of one place that are skipped at most to draw one of them."""
EJECTED = 8
"""Jobs that one move may eject."""
MOST_TOUCHED = EJECTED + 2


class Goal(NamedTuple):
    """When a gap counts as closed, see `Options`; the bound is in the sense of a minimisation."""

    bound: float
    mip_rel_gap: float
    mip_abs_gap: float


SKIPPED = 0.12
"""Probability with which a place that fits is passed over."""
MORE = 0.75
"""Probability with which the next place, of larger excess, is the target instead."""


@linked
def fits(i: int, place: int, st: Any) -> bool:
    """Return whether job i has room there."""
    for r in range(st.demand.shape[1]):
        for s in range(place, place + st.length[i]):
            if st.free[r, s] < st.demand[i, r]:
                return False
    return True


@linked
def settle(i: int, place: int, cost: float, excess: float, st: Any) -> None:
    """Write where job i is, and whether it is a dear one."""
    st.place[i], st.cost[i], st.excess[i] = place, cost, excess
    at = st.dear_at[i]
    if excess > st.least_dear[0] and at < 0:
        st.dear_at[i] = st.dear_count[0]
        st.dear[st.dear_count[0]] = i
        st.dear_count[0] += 1
    elif excess <= st.least_dear[0] and at >= 0:
        st.dear_count[0] -= 1
        other = st.dear[st.dear_count[0]]
        st.dear[at], st.dear_at[other], st.dear_at[i] = other, at, -1


@linked
def put(i: int, place: int, cost: float, excess: float, st: Any) -> None:
    """Run job i there."""
    for r in range(st.demand.shape[1]):
        for s in range(place, place + st.length[i]):
            st.free[r, s] -= st.demand[i, r]
    settle(i, place, cost, excess, st)
    first = st.head[place]
    st.after[i], st.before[i], st.head[place] = first, -1, i
    if first >= 0:
        st.before[first] = i


@linked
def take(i: int, st: Any) -> None:
    """Take job i out of the schedule."""
    place = st.place[i]
    for r in range(st.demand.shape[1]):
        for s in range(place, place + st.length[i]):
            st.free[r, s] += st.demand[i, r]
    if st.before[i] >= 0:
        st.after[st.before[i]] = st.after[i]
    else:
        st.head[place] = st.after[i]
    if st.after[i] >= 0:
        st.before[st.after[i]] = st.before[i]
    settle(i, -1, st.missing[0], st.away[i], st)


@linked
def insert(i: int, most: float, skipped: float, rng: np.random.Generator, places: Any, st: Any) -> bool:
    """Put job i at the first of its places that costs at most `most` and has room, passing some over.

    Returns whether one was found.
    """
    m, found = st.member[i], -1
    for k in range(places.size[m]):
        if places.cost[m, k] <= most and fits(i, places.place[m, k], st):
            found = k
            if skipped <= 0.0 or rng.random() >= skipped:
                break
    if found >= 0:
        put(i, places.place[m, found], places.cost[m, found], places.excess[m, found], st)
    return found >= 0


@linked
def insert_all(order: IntArray, rng: np.random.Generator, places: Any, st: Any) -> int:
    """Insert jobs one after the other; return how many find no room."""
    failed = 0
    for i in order:
        if not insert(i, st.missing[0], 0.0, rng, places, st):
            failed += 1
    return failed


@linked
def draw_rival(i: int, place: int, slots: int, rng: np.random.Generator, st: Any) -> int:
    """Draw a job that runs in a slot in which job i lacks room at a place; -1 for none."""
    s = -1
    for u in range(place, place + st.length[i]):
        for r in range(st.demand.shape[1]):
            if st.free[r, u] < st.demand[i, r]:
                s = u
    if s < 0:
        return -1
    first = s - min(s % slots, st.longest[0] - 1)
    for _ in range(TRIES):
        u = rng.integers(first, s + 1)
        k, steps = st.head[u], rng.integers(0, STEPS)
        while k >= 0 and steps > 0:
            k = st.after[k]
            steps -= 1
        if k >= 0 and u + st.length[k] > s:
            return int(k)
    for u in range(first, s + 1):
        k = st.head[u]
        while k >= 0:
            if u + st.length[k] > s:
                return int(k)
            k = st.after[k]
    return -1


@linked
def note(i: int, count: int, st: Any) -> int:
    """Remember where job i is before it moves; return how many jobs are noted."""
    st.touched[count], st.old_place[count] = i, st.place[i]
    st.old_cost[count], st.old_excess[count] = st.cost[i], st.excess[i]
    return count + 1


@linked
def draw_job(rng: np.random.Generator, st: Any) -> int:
    """Draw a job of large excess."""
    jobs, dear = len(st.place), st.dear_count[0]
    if dear > 0 and rng.random() < DEAR:
        i = st.dear[rng.integers(0, dear)]
        for _ in range(TOURNAMENT):
            other = st.dear[rng.integers(0, dear)]
            if st.excess[other] > st.excess[i]:
                i = other
        return int(i)
    i = rng.integers(0, jobs)
    for _ in range(TOURNAMENT):
        other = rng.integers(0, jobs)
        if st.excess[other] > st.excess[i]:
            i = other
    return int(i)


@linked
def largest_first(begin: int, count: int, st: Any) -> None:
    """Sort the jobs noted from `begin` on by size."""
    for a in range(begin + 1, count):
        b = a
        while b > begin and st.size[st.touched[b]] > st.size[st.touched[b - 1]]:
            st.touched[b], st.touched[b - 1] = st.touched[b - 1], st.touched[b]
            st.old_place[b], st.old_place[b - 1] = st.old_place[b - 1], st.old_place[b]
            st.old_cost[b], st.old_cost[b - 1] = st.old_cost[b - 1], st.old_cost[b]
            st.old_excess[b], st.old_excess[b - 1] = st.old_excess[b - 1], st.old_excess[b]
            b -= 1


@linked
def move(limit: float, rng: np.random.Generator, tab: Any, places: Any, st: Any) -> tuple[int, float]:
    """Change the schedule at random; return how many jobs were touched and what it costs more.

    A change that costs more than `limit` is given up on the way; it then counts as infinitely dear.
    """
    i, slots = draw_job(rng, st), len(tab.on_time) - 1
    m, was = st.member[i], st.place[i]
    if places.size[m] == 0:
        return 0, np.inf
    k = 0
    while k + 1 < places.size[m] and (places.place[m, k] == was or rng.random() < MORE):
        k += 1
    place, count = places.place[m, k], note(i, 0, st)
    change = places.cost[m, k] - st.cost[i]
    if was >= 0:
        take(i, st)
    while not fits(i, place, st):
        rival = draw_rival(i, place, slots, rng, st)
        if rival < 0 or count > EJECTED:
            return count, np.inf
        count = note(rival, count, st)
        change += places.least[st.member[rival]] - st.cost[rival]
        take(rival, st)
    put(i, place, places.cost[m, k], places.excess[m, k], st)
    largest_first(1, count, st)
    for a in range(1, count):
        least = places.least[st.member[st.touched[a]]]
        if change > limit:
            return count, np.inf
        insert(st.touched[a], limit - change + least, SKIPPED, rng, places, st)
        change += st.cost[st.touched[a]] - least
    return count, change if change <= limit else np.inf


@linked
def undo(count: int, st: Any) -> None:
    """Put the touched jobs back to where they were."""
    for a in range(count):
        if st.place[st.touched[a]] >= 0:
            take(st.touched[a], st)
    for a in range(count):
        if st.old_place[a] >= 0:
            put(st.touched[a], st.old_place[a], st.old_cost[a], st.old_excess[a], st)


@linked
def anneal(
    begin: int, end: int, rng: np.random.Generator, hot: float, pace: float, goal: Any, tab: Any, places: Any, st: Any
) -> int:
    """Run the moves `begin` to `end` of a round, accepted by Metropolis's rule at temperature hot x pace^move.

    What differs from the best schedule is kept in a list, so that a better one is written in few steps. Ends when
    the best cost is within `goal` of the bound: a named tuple of bound, relative and absolute gap. Returns the moves
    done of the round; where it is cut between `begin` and `end` does not matter to the result.
    """
    differs = 0
    for i in range(len(st.place)):
        st.is_changed[i] = st.place[i] != st.best[i]
        if st.is_changed[i]:
            st.changed[differs] = i
            differs += 1
    for step in range(begin, end):
        if st.total[1] - goal.bound <= max(goal.mip_abs_gap, goal.mip_rel_gap * abs(st.total[1])):
            return step
        heat = hot * pace**step
        count, change = move(-heat * np.log(1.0 - rng.random()), rng, tab, places, st)
        if change == np.inf:
            undo(count, st)
            continue
        st.total[0] += change
        for a in range(count):
            i = st.touched[a]
            if not st.is_changed[i]:
                st.is_changed[i] = True
                st.changed[differs] = i
                differs += 1
        if st.total[0] < st.total[1] - 1e-12 * abs(st.total[1]):
            st.total[1] = st.total[0]
            for a in range(differs):
                i = st.changed[a]
                st.best[i], st.is_changed[i] = st.place[i], False
            differs = 0
    return end

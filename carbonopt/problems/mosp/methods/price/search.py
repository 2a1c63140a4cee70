"""Take jobs out around a place, put them back where they cost least: annealing by ruin and recreation.

At good prices every job has many places of almost no excess (reduced cost above its least), and the gap is the sum
of excesses and of priced room that is left unused. So a move aims at a place of low excess for one job, drawn by
its excess, takes out what runs around it, there and on other clusters, and inserts all of that again in an order
drawn at random: each job at the place of least excess with room, where one that leaves no room idle counts a little
less. Capacities always hold; a job that finds no room is rejected, at a price.

References
----------
Schrimpf, Schneider, Stamm-Wilbrandt, Dueck (2000), "Record breaking optimization results using the ruin and recreate
principle", Journal of Computational Physics 159, 139-171.
Christiaens, Vanden Berghe (2020), "Slack induction by string removals for vehicle routing problems", Transportation
Science 54, 417-433.
"""

from __future__ import annotations

from dataclasses import fields
from typing import NamedTuple

import numpy as np

from carbonopt.algorithms.kernel import kernel, managed_kernel
from carbonopt.problems.mosp.methods.price.insertion import insert, listed_cost
from carbonopt.problems.mosp.methods.price.packing import put, take
from carbonopt.problems.mosp.methods.price.places import Places
from carbonopt.problems.mosp.methods.price.records import State
from carbonopt.problems.mosp.methods.price.search_parameters import MoveParameters
from carbonopt.problems.mosp.methods.price.table import Table


class Goal(NamedTuple):
    """When a gap counts as closed, see `Options`; the bound is in the sense of a minimisation."""

    bound: float
    mip_rel_gap: float
    mip_abs_gap: float


class Rules(NamedTuple):
    """How a move is drawn: `MoveParameters` as kernels take them.

    The three shares of orders are cumulative: any order, most work first, largest demand first.
    """

    high_regret_share: float
    tournament: int
    next_place_share: float
    most_moved: int
    spread_slots: int
    elsewhere_share: float
    retry_share: float
    most_retried: int
    list_steps: int
    most_misses: int
    eject_share: float
    eject_tournament: int
    most_ejected: int
    idle_slots: int
    skipped_share: float
    by_chance: float
    by_work: float
    by_demand: float


def rules_of(params: MoveParameters, ejects: bool = False) -> Rules:
    """Return the rules that the parameters set, with or without ejections."""
    values = {part.name: getattr(params, part.name) for part in fields(params)}
    values["eject_share"] *= ejects
    orders = [values.pop(f"{name}_order_share") for name in ("random", "work", "demand")]
    return Rules(*values.values(), *np.cumsum(orders).tolist())


@managed_kernel
def below(n: int, rng: np.random.Generator) -> int:
    """Draw a whole number from 0 to n - 1, faster than numba's `integers`."""
    return int(rng.random() * n)


@managed_kernel
def draw_job(rng: np.random.Generator, rules: Rules, st: State) -> int:
    """Draw a job, often one of large excess."""
    jobs = st.jobs
    high_regret = st.high_regret
    count = st.now[0].high_regret_count
    if count == 0 or rng.random() >= rules.high_regret_share:
        return below(len(jobs), rng)
    i = high_regret[below(count, rng)]
    for _ in range(1, rules.tournament):
        other = high_regret[below(count, rng)]
        if jobs[other].excess > jobs[i].excess:
            i = other
    return int(i)


@managed_kernel
def draw_entry(i: int, rng: np.random.Generator, places: Places, rules: Rules, st: State) -> int:
    """Draw another place of job i's list, of low excess; -1 if it has none."""
    m = st.jobs[i].member
    was = st.jobs[i].place
    k = 0
    size = places.size[m]
    entries = places.entry[m]
    if size == 0:
        return -1
    while k + 1 < size and (entries[k].place == was or rng.random() < rules.next_place_share):
        k += 1
    return k


@kernel
def note(i: int, count: int, st: State) -> int:
    """Note where job i is; return how many jobs are noted."""
    job = st.jobs[i]
    kept = st.moved[count]
    kept.job = i
    kept.place = job.place
    kept.cost = job.cost
    kept.excess = job.excess
    return count + 1


@kernel
def take_out(i: int, count: int, st: State) -> int:
    """Note where job i is and take it out; return how many jobs are noted."""
    count = note(i, count, st)
    if st.jobs[i].place >= 0:
        take(i, st)
    return count


@managed_kernel
def call_rejected(i: int, rng: np.random.Generator, rules: Rules, st: State) -> int:
    """Note some rejected jobs other than i, so that they come where others were; return how many."""
    rejected = st.rejected
    moved = st.moved
    there = st.now[0].rejected_count
    count = 0
    if there >= 2 and rng.random() < rules.retry_share:
        for _ in range(1 + below(rules.most_retried, rng)):
            k = rejected[below(there, rng)]
            known = k == i
            for a in range(count):
                known = known or moved[a].job == k
            if not known:
                count = note(k, count, st)
    return count


@managed_kernel
def ruin(i: int, place: int, slots: int, rng: np.random.Generator, rules: Rules, st: State) -> int:
    """Take out job i and some of those that start around a place; return how many."""
    jobs = st.jobs
    head = st.head
    clusters = len(head) // slots
    cluster = place // slots
    start = place % slots
    spread = below(rules.spread_slots, rng)
    first = max(0, start - st.now[0].longest + 1 - spread)
    last = min(slots, start + jobs[i].length + spread)
    count = take_out(i, call_rejected(i, rng, rules, st), st)
    most = 1 + below(rules.most_moved, rng)
    missed = 0
    most = min(rules.most_moved, most + count - 1)
    while count < most and missed < rules.most_misses:
        j = cluster
        if rng.random() < rules.elsewhere_share:
            j = below(clusters, rng)
        k = head[j * slots + first + below(last - first, rng)]
        steps = below(rules.list_steps, rng)
        while k >= 0 and steps > 0 and jobs[k].after >= 0:
            k = jobs[k].after
            steps -= 1
        if k >= 0 and jobs[k].place % slots + jobs[k].length > start - spread:  # it runs around the place
            count = take_out(k, count, st)
        else:
            missed += 1
    return count


@kernel
def lacks_room(i: int, place: int, first: int, end: int, st: State) -> bool:
    """Return whether some slot of job i's run at a place, of those from `first` to `end`, has too little room."""
    left = st.capacity_left
    demand = st.demand[i]
    for s in range(max(first, place), min(end, place + st.jobs[i].length)):
        for r in range(len(demand)):
            if left[r, s] < demand[r]:
                return True
    return False


@managed_kernel
def eject(i: int, place: int, slots: int, rng: np.random.Generator, rules: Rules, st: State) -> int:
    """Take out job i and what is in its way at a place; return how many, the job first.

    Negative where these are more than a move may take.
    """
    jobs = st.jobs
    count = take_out(i, 0, st)
    start = place % slots
    first = max(0, start - st.now[0].longest + 1)
    size = start + jobs[i].length - first
    shift = below(size, rng)
    for step in range(size):
        at = place - start + first + (step + shift) % size
        k = st.head[at]
        while k >= 0:
            after = jobs[k].after
            if lacks_room(i, place, at, at + jobs[k].length, st):
                if count == rules.most_ejected:
                    return -count
                count = take_out(k, count, st)
            k = after
    return count


@managed_kernel
def draw_order(count: int, is_ejection: bool, rng: np.random.Generator, rules: Rules, st: State) -> None:
    """Sort the jobs that were taken out by a key drawn at random; the job that ejects others stays the first."""
    jobs = st.jobs
    moved = st.moved
    order = st.order
    kind = rng.random()
    for a in range(count):
        job = jobs[moved[a].job]
        if is_ejection and a == 0:
            key = -np.inf
        elif kind < rules.by_chance:
            key = rng.random()
        elif kind < rules.by_work:
            key = -job.work
        elif kind < rules.by_demand:
            key = -job.work / job.length
        else:
            key = -moved[a].excess
        b = a
        while b > 0 and key < moved[order[b - 1]].key:
            order[b] = order[b - 1]
            b -= 1
        moved[a].key = key
        order[b] = a


@kernel
def idle_around(place: int, length: int, places: Places, rules: Rules, st: State) -> float:
    """Return what the idle room of all clusters around a run is worth: what a move can gain beside excess."""
    left = st.capacity_left
    price = places.price
    slots = price.shape[2] - 1
    worth = 0.0
    first = max(0, place % slots - rules.idle_slots)
    last = min(slots, place % slots + length + rules.idle_slots)
    for j in range(price.shape[0]):
        for r in range(len(left)):
            before = price[j, r, first]
            for t in range(first, last):
                after = price[j, r, t + 1]
                worth += (after - before) * left[r, j * slots + t]
                before = after
    return worth


@managed_kernel
def move(
    limit: float, rng: np.random.Generator, tab: Table, places: Places, rules: Rules, st: State
) -> tuple[int, float]:
    """Change the schedule at random; return how many jobs moved, and what it costs more.

    A change that costs more than `limit` is given up on the way; it then counts as infinitely costly. It will, as soon
    as the jobs put back have more excess than those taken out had, the limit and the idle room around allow.
    """
    i = draw_job(rng, rules, st)
    jobs = st.jobs
    is_ejection = rules.eject_share > 0.0 and rng.random() < rules.eject_share
    if is_ejection:
        for _ in range(rules.eject_tournament):
            k = below(len(jobs), rng)
            if jobs[k].work > jobs[i].work:
                i = k
    entry = draw_entry(i, rng, places, rules, st)
    if entry < 0:
        return 0, np.inf
    target = places.entry[jobs[i].member][entry]
    place = int(target.place)
    moved = st.moved
    order = st.order
    budget = limit + idle_around(place, jobs[i].length, places, rules, st)
    change = 0.0
    slots = len(tab.on_time) - 1
    if is_ejection:
        count = eject(i, place, slots, rng, rules, st)
        if count < 0:
            return -count, np.inf
    else:
        count = ruin(i, place, slots, rng, rules, st)
    for a in range(count):
        budget += moved[a].excess
        change += min(jobs[moved[a].job].least, jobs[moved[a].job].rejection_cost) - moved[a].cost
    draw_order(count, is_ejection, rng, rules, st)
    for a in range(count):
        if change > limit or budget < 0.0:
            return count, np.inf
        i = moved[order[a]].job
        lowest = min(jobs[i].least, jobs[i].rejection_cost)
        if is_ejection and a == 0:
            put(i, place, listed_cost(i, target, places, st), float(target.excess), st)
        else:
            insert(i, limit - change + lowest, budget, rules.skipped_share, rng, places, st)
        budget -= jobs[i].excess
        change += jobs[i].cost - lowest
    if change > limit:
        change = np.inf
    return count, change


@kernel
def undo(count: int, st: State) -> None:
    """Put the jobs that moved back to where they were."""
    jobs = st.jobs
    moved = st.moved
    for a in range(count):
        if jobs[moved[a].job].place >= 0:
            take(moved[a].job, st)
    for a in range(count):
        note = moved[a]
        if note.place >= 0:
            put(note.job, note.place, note.cost, note.excess, st)


@managed_kernel
def anneal(
    begin: int,
    end: int,
    rng: np.random.Generator,
    hot: float,
    pace: float,
    goal: Goal,
    tab: Table,
    places: Places,
    rules: Rules,
    st: State,
) -> int:
    """Run the moves `begin` to `end` of a round, accepted by Metropolis's rule at temperature hot x pace^move.

    What differs from the best schedule is kept in a list, so that a better one is written in few steps. Ends when
    the best cost is within `goal` of the bound: a named tuple of bound, relative and absolute gap. Returns the moves
    done of the round; where it is cut between `begin` and `end` does not matter to the result.
    """
    jobs = st.jobs
    changed = st.changed
    moved = st.moved
    one = st.now[0]
    differs = 0
    for i in range(len(jobs)):
        jobs[i].is_changed = jobs[i].place != jobs[i].best
        if jobs[i].is_changed:
            changed[differs] = i
            differs += 1
    for step in range(begin, end):
        if one.best_total - goal.bound <= max(goal.mip_abs_gap, goal.mip_rel_gap * abs(one.best_total)):
            return step
        heat = hot * pace**step
        count, change = move(-heat * np.log(1.0 - rng.random()), rng, tab, places, rules, st)
        if change == np.inf:
            undo(count, st)
            continue
        one.total += change
        for a in range(count):
            i = moved[a].job
            if not jobs[i].is_changed:
                jobs[i].is_changed = True
                changed[differs] = i
                differs += 1
        if one.total < one.best_total - 1e-12 * abs(one.best_total):
            one.best_total = one.total
            for a in range(differs):
                job = jobs[changed[a]]
                job.best = job.place
                job.is_changed = False
            differs = 0
    return end

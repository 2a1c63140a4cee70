"""Annealing for a measure of risk: the moves of `search.py`, accepted by the risk of the whole schedule.

The risk of schedule x is the largest of its costs over a set of signals, base + sum_k w_k direction_k:

    risk(x) = c(x) + max { sum_k w_k v_k(x) : 0 <= w_k <= most_k, sum_k w_k <= total }

c is its cost under the base, and v_k what direction k adds. One signal of the set is the *mix*: places are listed, and
jobs inserted, by their costs under it and slot prices. Since mix(x) <= risk(x), a move that raises mix by more than the
limit and risk(x) - mix(x) raises the risk by more than the limit. So it is given up as early as in `search.py`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.algorithms.kernel import kernel, managed_kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.mosp.methods.price.insertion import insert
from carbonopt.problems.mosp.methods.price.places import Places, time_cost
from carbonopt.problems.mosp.methods.price.records import State
from carbonopt.problems.mosp.methods.price.search import (
    Rules,
    draw_entry,
    draw_job,
    draw_order,
    idle_around,
    ruin,
    undo,
)
from carbonopt.problems.mosp.methods.price.table import Table


class Parts(NamedTuple):
    """The costs of which the risk is made.

    Attributes
    ----------
    base
        Prefix sums of what a used unit costs under the base signal, shape (M, R, T + 1).
    rise
        Prefix sums of what each of K directions adds, shape (M, R, T + 1, K). Where `pair` says so, K is 1: each
        direction is a pair of a zone and a slot, and this is what they add where they are.
    zone
        Of each cluster, shape (M,).
    is_pair
        Whether directions are pairs of a zone and a slot, counted slot by slot and zone by zone.
    most, total
        Largest weight of each direction, and of all together.
    """

    base: FloatArray
    rise: FloatArray
    zone: IntArray
    is_pair: bool
    most: FloatArray
    total: float


@kernel
def worst(added: FloatArray, parts: Parts, order: IntArray) -> float:
    """Return the largest sum of what the directions add, none of it negative; `order` is work space."""
    most = parts.most
    count = 0
    covered = 0.0
    for k in range(len(added)):
        if covered >= parts.total and added[k] <= added[order[count - 1]]:
            continue
        at = count
        while at > 0 and added[order[at - 1]] < added[k]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = k
        count += 1
        covered += most[k]
        while count > 1 and covered - most[order[count - 1]] >= parts.total:
            count -= 1
            covered -= most[order[count]]
    left = parts.total
    value = 0.0
    for a in range(count):
        k = order[a]
        share = min(most[k], left)
        value += share * added[k]
        left -= share
    return value


@kernel
def add_run(sign: float, i: int, place: int, parts: Parts, st: State, added: FloatArray) -> float:
    """Add the run of job i, times a sign, to what each direction adds; return what it costs under the base."""
    slots = parts.base.shape[2] - 1
    j = place // slots
    t = place % slots
    length = st.jobs[i].length
    rise = parts.rise
    cost = 0.0
    for r in range(st.demand.shape[1]):
        units = sign * st.demand[i, r]
        cost += units * (parts.base[j, r, t + length] - parts.base[j, r, t])
        if parts.is_pair:
            first = parts.zone[j] * slots
            for s in range(t, t + length):
                added[first + s] += units * (rise[j, r, s + 1, 0] - rise[j, r, s, 0])
        else:
            for k in range(len(added)):
                added[k] += units * (rise[j, r, t + length, k] - rise[j, r, t, k])
    return cost


@kernel
def add_place(
    sign: float, i: int, place: int, tab: Table, parts: Parts, st: State, added: FloatArray, full_cost: float
) -> float:
    """Add job i at a place, times a sign, to what each direction adds; return what else it costs.

    `full_cost` is what it costs where it is rejected, at place -1.
    """
    if place < 0:
        return sign * full_cost
    job = st.jobs[i]
    completion = place % (parts.base.shape[2] - 1) + job.length
    time = time_cost(int(completion), tab.deadline[job.member], tab)
    return float(sign * time + add_run(sign, i, place, parts, st, added))


@kernel
def add_moved(count: int, tab: Table, parts: Parts, st: State, added: FloatArray) -> tuple[float, float]:
    """Add a move to what each direction adds; return what it costs more under the base, and under the mix."""
    certain = 0.0
    mix = 0.0
    for a in range(count):
        was = st.moved[a]
        job = st.jobs[was.job]
        full_cost = job.rejection_cost
        certain += add_place(1.0, was.job, int(job.place), tab, parts, st, added, full_cost)
        certain += add_place(-1.0, was.job, int(was.place), tab, parts, st, added, full_cost)
        mix += job.cost - was.cost
    return certain, mix


@managed_kernel
def hedged_move(
    limit: float, rng: np.random.Generator, tab: Table, places: Places, rules: Rules, st: State
) -> tuple[int, bool]:
    """Change the schedule at random; return how many jobs moved, and whether their costs under the mix are in limits.

    See `search.move`.
    """
    i = draw_job(rng, rules, st)
    entry = draw_entry(i, rng, places, rules, st)
    if entry < 0:
        return 0, False
    jobs = st.jobs
    place = int(places.entry[jobs[i].member][entry].place)
    moved = st.moved
    order = st.order
    budget = limit + idle_around(place, jobs[i].length, places, rules, st)
    change = 0.0
    count = ruin(i, place, len(tab.on_time) - 1, rng, rules, st)
    for a in range(count):
        budget += moved[a].excess
        change += min(jobs[moved[a].job].least, jobs[moved[a].job].rejection_cost) - moved[a].cost
    draw_order(count, False, rng, rules, st)
    for a in range(count):
        if change > limit or budget < 0.0:
            return count, False
        i = moved[order[a]].job
        lowest = min(jobs[i].least, jobs[i].rejection_cost)
        insert(i, limit - change + lowest, budget, rules.skipped_share, rng, places, st)
        budget -= jobs[i].excess
        change += jobs[i].cost - lowest
    return count, change <= limit


@managed_kernel
def anneal_risk(
    begin: int,
    end: int,
    rng: np.random.Generator,
    hot: float,
    pace: float,
    tab: Table,
    places: Places,
    rules: Rules,
    parts: Parts,
    totals: FloatArray,
    added: FloatArray,
    st: State,
) -> None:
    """Run the moves `begin` to `end` of a round, accepted by Metropolis's rule for the risk; see `search.anneal`.

    `totals` holds the cost under the base and the best risk so far, `added` what each direction adds. The best
    schedule is kept in the records of jobs; ``now.total`` is the cost under the mix.
    """
    jobs = st.jobs
    one = st.now[0]
    order = np.zeros(len(added) + 1, dtype=np.int64)
    tried = np.zeros(len(added))
    risk = totals[0] + worst(added, parts, order)
    for step in range(begin, end):
        limit = -hot * pace**step * np.log(1.0 - rng.random())
        count, fits = hedged_move(limit + max(0.0, risk - one.total), rng, tab, places, rules, st)
        if fits:
            tried[:] = added
            certain, mix = add_moved(count, tab, parts, st, tried)
            found = totals[0] + certain + worst(tried, parts, order)
            fits = found - risk <= limit
        if not fits:
            undo(count, st)
            continue
        risk = found
        totals[0] += certain
        added[:] = tried
        one.total += mix
        if risk < totals[1] - 1e-12 * abs(totals[1]):
            totals[1] = risk
            for i in range(len(jobs)):
                jobs[i].best = jobs[i].place

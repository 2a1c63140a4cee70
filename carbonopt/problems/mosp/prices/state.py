"""A schedule as the search changes it: made, and set to given places."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from carbonopt.algorithms.linked import linked
from carbonopt.core.arrays import BoolArray, FloatArray, IntArray, prefix_sums
from carbonopt.core.options import Schedule
from carbonopt.problems.mosp.instance import CAPACITY_ROUNDING, MospInstance
from carbonopt.problems.mosp.prices.dual import Dual
from carbonopt.problems.mosp.prices.places import run_cost, time_cost
from carbonopt.problems.mosp.prices.search import MOST_TOUCHED, fits, put
from carbonopt.problems.mosp.schedule import as_schedule, from_schedule


class State(NamedTuple):
    """A schedule of N jobs, and what the search needs to change it.

    Attributes
    ----------
    member, group, length, demand, arrival
        Of each job, shapes (N,), (N,), (N,), (N, R), (N,).
    place, best
        cluster x T + start of each job, -1 where it is absent: now and in the best schedule, shape (N,).
    cost, excess
        Of each job's place, shape (N,).
    free
        Room left of each resource by cluster x T + slot, shape (R, M T).
    head, after, before
        Jobs by place as linked lists, shapes (M T,), (N,), (N,); -1 ends them.
    size
        Units x slots of each job, shape (N,).
    missing
        What an absent job counts, shape (1,).
    away
        Excess of each job where it is absent, shape (N,).
    total
        Cost of the schedule now, and of the best, shape (2,).
    longest
        Duration of the longest job, shape (1,).
    dear, dear_at, dear_count
        Jobs whose excess is above `least_dear`, as a list, shape (N,), the place of each job in it or -1, shape (N,),
        and how many there are, shape (1,).
    least_dear
        Shape (1,).
    changed, is_changed
        Jobs whose place may differ from the best schedule's, as list and as marks, shape (N,).
    touched, old_place, old_cost, old_excess
        Work space: what a move has changed.
    """

    member: IntArray
    group: IntArray
    length: IntArray
    demand: FloatArray
    arrival: IntArray
    place: IntArray
    best: IntArray
    cost: FloatArray
    excess: FloatArray
    free: FloatArray
    head: IntArray
    after: IntArray
    before: IntArray
    size: FloatArray
    missing: FloatArray
    away: FloatArray
    total: FloatArray
    longest: IntArray
    dear: IntArray
    dear_at: IntArray
    dear_count: IntArray
    least_dear: FloatArray
    changed: IntArray
    is_changed: BoolArray
    touched: IntArray
    old_place: IntArray
    old_cost: FloatArray
    old_excess: FloatArray


def new_state(instance: MospInstance, dual: Dual, missing: float, least_dear: float) -> State:
    """Return the empty schedule; `dual` was last evaluated at the prices that excess is counted at.

    It leaves half of the allowance for rounding in the capacities, since sums in another order must fit as well.
    """
    jobs, places = len(instance.jobs), dual.shape[0] * dual.shape[2]
    whole = np.int64
    room = instance.clusters.capacity * (1 + CAPACITY_ROUNDING / 2)
    away = np.maximum(0.0, missing - dual.member_cost[dual.jobs.member])
    dear = away > least_dear
    return State(
        member=dual.jobs.member,
        group=dual.table.group[dual.jobs.shape],
        length=np.array(instance.jobs.duration, dtype=whole),
        demand=np.ascontiguousarray(instance.jobs.demand),
        arrival=np.array(instance.jobs.arrival),
        place=np.full(jobs, -1, whole),
        best=np.full(jobs, -1, whole),
        cost=np.full(jobs, missing),
        excess=away.copy(),
        free=np.ascontiguousarray(room.transpose(1, 0, 2)).reshape(room.shape[1], -1),
        head=np.full(places, -1, whole),
        after=np.full(jobs, -1, whole),
        before=np.full(jobs, -1, whole),
        size=instance.jobs.demand.sum(axis=1) * instance.jobs.duration,
        missing=np.array([missing]),
        away=away,
        total=np.array([np.inf, np.inf]),
        longest=np.array([instance.jobs.duration.max()]),
        dear=np.argsort(~dear, kind="stable"),
        dear_at=np.where(dear, np.cumsum(dear) - 1, -1),
        dear_count=np.array([dear.sum()]),
        least_dear=np.array([least_dear]),
        changed=np.zeros(jobs, whole),
        is_changed=np.zeros(jobs, np.bool_),
        touched=np.zeros(MOST_TOUCHED, whole),
        old_place=np.zeros(MOST_TOUCHED, whole),
        old_cost=np.zeros(MOST_TOUCHED),
        old_excess=np.zeros(MOST_TOUCHED),
    )


@linked
def put_all(place: IntArray, base: FloatArray, priced: FloatArray, least: FloatArray, tab: Any, st: Any) -> None:
    """Run each job at its place.

    `base` and `priced` are prefix sums of costs without and with prices, `least` the members' least priced costs.
    """
    slots = len(tab.on_time) - 1
    for i in range(len(place)):
        if place[i] < 0:
            continue
        m, g, j, t, scale = st.member[i], st.group[i], place[i] // slots, place[i] % slots, 0.0
        for r in range(st.demand.shape[1]):
            scale += st.demand[i, r]
        time = time_cost(t + tab.length[g], tab.deadline[m], tab)
        cost = scale * run_cost(base, j, t, g, tab) + time
        put(i, place[i], cost, scale * run_cost(priced, j, t, g, tab) + time - least[m], st)


@linked
def put_left(base: FloatArray, priced: FloatArray, least: FloatArray, tab: Any, st: Any) -> None:
    """Run each absent job where it costs least of all places with room, also those that no list of places holds."""
    slots = len(tab.on_time) - 1
    clusters = st.free.shape[1] // slots
    for i in range(len(st.place)):
        if st.place[i] >= 0:
            continue
        m, g, scale, best, chosen, paid = st.member[i], st.group[i], 0.0, np.inf, -1, st.missing[0]
        for r in range(st.demand.shape[1]):
            scale += st.demand[i, r]
        for t in range(st.arrival[i], slots - tab.length[g] + 1):
            time = time_cost(t + tab.length[g], tab.deadline[m], tab)
            for j in range(clusters):
                if tab.allowed[tab.mask[g], j, t] and fits(i, j * slots + t, st):
                    cost = scale * run_cost(priced, j, t, g, tab) + time
                    true = scale * run_cost(base, j, t, g, tab) + time
                    if cost < best and true < st.missing[0]:
                        best, chosen, paid = cost, j * slots + t, true
        if chosen >= 0:
            put(i, chosen, paid, best - least[m], st)


def copy_of(state: State) -> State:
    """Return a schedule of its own."""
    parts: Any = (np.array(part) for part in state)
    return State(*parts)


def at_places(empty: State, place: IntArray, dual: Dual, prices: FloatArray, run: Any, fill: bool = False) -> State:
    """Return the schedule with the jobs at given places, -1 for absent, as the present and the best one.

    With `fill`, absent jobs run where there is room for them.
    """
    state = copy_of(empty)
    dual.hard(prices)
    priced = prefix_sums(dual.base + prices.reshape(dual.shape))
    arguments = prefix_sums(dual.base), priced, dual.member_cost, dual.table, state
    run(put_all)(place, *arguments)
    if fill:
        run(put_left)(*arguments)
    state.best[:] = state.place
    state.total[:] = float(state.cost.sum())
    return state


def places_of(instance: MospInstance, schedule: Schedule) -> IntArray:
    """Return the place of each job in a schedule that the checker passed."""
    place = np.full(len(instance.jobs), -1, dtype=np.int64)
    job, cluster, start = from_schedule(instance, schedule)
    place[job] = np.array(cluster, dtype=np.int64) * instance.time.slots + np.array(start, dtype=np.int64)
    return place


def schedule_of(instance: MospInstance, place: IntArray) -> Schedule:
    """Return the schedule with the jobs at given places."""
    job = np.flatnonzero(place >= 0)
    return as_schedule(instance, job, place[job] // instance.time.slots, place[job] % instance.time.slots)

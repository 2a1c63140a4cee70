"""A schedule as the search changes it: made, and set to given places."""

from __future__ import annotations

from typing import Any

import numpy as np

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import FloatArray, IntArray, RecordArray, prefix_sums
from carbonopt.core.options import Schedule
from carbonopt.problems.mosp.data.instance import CAPACITY_ROUNDING, MospInstance
from carbonopt.problems.mosp.data.schedule import as_schedule, from_schedule
from carbonopt.problems.mosp.methods.price.dual import Dual
from carbonopt.problems.mosp.methods.price.packing import LEVELS, WORD, fits, put, settle
from carbonopt.problems.mosp.methods.price.places import Places, run_cost, time_cost
from carbonopt.problems.mosp.methods.price.records import JOB, MOVED, NOW, State
from carbonopt.problems.mosp.methods.price.table import Table, time_costs


def levels_of(demand: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return at most `LEVELS` demands, shape (V, R), and for each job one that is no more than its own, shape (N,)."""
    different, of_job = np.unique(demand, axis=0, return_inverse=True)
    part = np.arange(len(different)) * min(LEVELS, len(different)) // len(different)
    levels = np.minimum.reduceat(different, np.searchsorted(part, np.arange(part[-1] + 1)))
    return levels, part[of_job.ravel()]


def bits_of(left: FloatArray, levels: FloatArray) -> IntArray:
    """Return whether each level is free in each slot, as bits, shape (V, words); `left` has shape (R, M T)."""
    enough = (left[None, :, :] >= levels[:, :, None]).all(axis=1)
    words = -(-enough.shape[1] // WORD)
    padded = np.zeros((len(levels), (words + 1) * WORD), dtype=np.int64)  # one more: a run is read from two words
    padded[:, : enough.shape[1]] = enough
    bits: IntArray = (padded.reshape(len(levels), -1, WORD) << np.arange(WORD)).sum(axis=2)
    return bits


def ceiling(instance: MospInstance, dual: Dual) -> float:
    """Return more than any complete schedule costs, where costs are not negative: what makes all jobs run."""
    jobs = instance.jobs
    table = dual.table
    peak = dual.base.max(axis=(0, 2), initial=0.0)
    late = table.late * np.maximum(0.0, instance.time.slots - jobs.deadline)
    each = jobs.duration * (jobs.demand @ peak) + table.on_time.max(initial=0.0) + late
    return float(2.0 * each.sum()) or 1.0


def new_state(
    instance: MospInstance,
    dual: Dual,
    places: Places,
    high_regret_excess: float,
    full_slot_bonus: float,
    most_moved: int,
) -> State:
    """Return the empty schedule.

    It leaves half of the allowance for rounding in the capacities, since sums in another order must fit as well.
    """
    rejection_cost = dual.table.rejection_cost if np.isfinite(dual.table.rejection_cost) else ceiling(instance, dual)
    count = len(instance.jobs)
    demand = np.ascontiguousarray(instance.jobs.demand)
    capacity = instance.clusters.capacity * (1 + CAPACITY_ROUNDING / 2)
    left = np.ascontiguousarray(capacity.transpose(1, 0, 2)).reshape(capacity.shape[1], -1)
    levels, level = levels_of(demand)
    jobs: RecordArray = np.recarray(count, dtype=JOB)
    jobs.member = dual.jobs.member
    jobs.group = dual.table.group[dual.jobs.shape]
    jobs.length = instance.jobs.duration
    jobs.arrival = instance.jobs.arrival
    jobs.lowest = places.lowest[dual.jobs.member]
    jobs.least = places.least[dual.jobs.member]
    jobs.work = demand.sum(axis=1) * instance.jobs.duration
    jobs.rejection_regret = np.maximum(0.0, rejection_cost - jobs.lowest)
    jobs.level = level
    jobs.is_level = (demand == levels[level]).all(axis=1)
    jobs.place = -1
    jobs.best = -1
    jobs.after = -1
    jobs.before = -1
    jobs.is_changed = False
    jobs.cost = rejection_cost
    jobs.excess = jobs.rejection_regret
    jobs.rejection_cost = rejection_cost
    now: RecordArray = np.recarray(1, dtype=NOW)
    longest = int(instance.jobs.duration.max())
    now[0] = (np.inf, np.inf, rejection_cost, full_slot_bonus, high_regret_excess, 0, 0, longest)
    state = State(
        jobs=jobs,
        demand=demand,
        capacity_left=left,
        levels=levels,
        least_demand=demand.min(axis=0),
        room=bits_of(left, levels),
        head=np.full(left.shape[1], -1, np.int64),
        high_regret=np.zeros(count, np.int64),
        rejected=np.zeros(count, np.int64),
        changed=np.zeros(count, np.int64),
        moved=np.zeros(most_moved, MOVED).view(np.recarray),
        order=np.zeros(most_moved, np.int64),
        now=now,
    )
    list_jobs(state)
    return state


def list_jobs(state: State) -> None:
    """Write the lists of jobs of large regret and of rejected jobs."""
    jobs = state.jobs
    now = state.now
    for is_in, found, at in (
        (jobs.excess > now.high_regret_excess[0], state.high_regret, "high_regret_at"),
        (jobs.place < 0, state.rejected, "rejected_at"),
    ):
        found[:] = np.argsort(~is_in, kind="stable")
        jobs[at] = np.where(is_in, np.cumsum(is_in) - 1, -1)
    now.high_regret_count = (jobs.high_regret_at >= 0).sum()
    now.rejected_count = (jobs.place < 0).sum()


@kernel
def charge_rejections(most: float, st: State) -> None:
    """Let rejected jobs count no more than `most` for each of their units x slots, beyond their least reduced costs.

    The schedule as it is becomes the best one.
    """
    one = st.now[0]
    for i in range(len(st.jobs)):
        job = st.jobs[i]
        job.rejection_regret = min(max(0.0, one.rejection_cost - job.lowest), most * job.work)
        job.rejection_cost = min(one.rejection_cost, job.lowest + job.rejection_regret)
        if job.place < 0:
            one.total += job.rejection_cost - job.cost
            settle(i, -1, job.rejection_cost, job.rejection_regret, st.jobs, st.high_regret, st.now)
        job.best = job.place
    one.best_total = one.total


def put_all(place: IntArray, base: FloatArray, priced: FloatArray, table: Table, least: FloatArray, st: State) -> None:
    """Run each job of an empty schedule at its place.

    `base` and `priced` are prefix sums of costs without and with prices, `least` the members' least priced costs.
    """
    jobs = st.jobs
    slots = len(table.on_time) - 1
    runs = np.flatnonzero(place >= 0)
    m = jobs.member[runs]
    at = place[runs]
    length = jobs.length[runs].astype(np.int64)
    j = at // slots
    t = at % slots
    demand = st.demand[runs]
    time = time_costs(t + length, table.deadline[m], table)
    jobs.place[runs] = at
    jobs.cost[runs] = time + (demand * (base[j, :, t + length] - base[j, :, t])).sum(axis=1)
    jobs.excess[runs] = time + (demand * (priced[j, :, t + length] - priced[j, :, t])).sum(axis=1) - least[m]
    within = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
    np.subtract.at(st.capacity_left.T, np.repeat(at, length) + within, np.repeat(demand, length, axis=0))
    st.room[:] = bits_of(st.capacity_left, st.levels)
    runs = runs[np.argsort(at, kind="stable")]
    later = runs[1:]
    earlier = runs[:-1]
    is_same = place[later] == place[earlier]
    jobs.after[later[is_same]] = earlier[is_same]
    jobs.before[earlier[is_same]] = later[is_same]
    st.head[place[runs]] = runs  # the last one of a place is its first
    list_jobs(st)


@kernel
def put_left(base: FloatArray, priced: FloatArray, tab: Table, least: FloatArray, st: State) -> None:
    """Run each rejected job where it costs least of all places with room, also those that no list of places holds."""
    slots = len(tab.on_time) - 1
    clusters = st.capacity_left.shape[1] // slots
    for i in range(len(st.jobs)):
        if st.jobs[i].place >= 0:
            continue
        m = st.jobs[i].member
        g = st.jobs[i].group
        scale = 0.0
        best = np.inf
        chosen = -1
        paid = st.jobs[i].rejection_cost
        for r in range(st.demand.shape[1]):
            scale += st.demand[i, r]
        for t in range(st.jobs[i].arrival, slots - tab.length[g] + 1):
            time = time_cost(t + tab.length[g], tab.deadline[m], tab)
            for j in range(clusters):
                if tab.allowed[tab.mask[g], j, t] and fits(i, j * slots + t, st):
                    cost = scale * run_cost(priced, j, t, g, tab) + time
                    true = scale * run_cost(base, j, t, g, tab) + time
                    if cost < best and true < st.jobs[i].rejection_cost:
                        best = cost
                        chosen = j * slots + t
                        paid = true
        if chosen >= 0:
            put(i, chosen, paid, best - least[m], st)


def copy_of(state: State) -> State:
    """Return a schedule of its own."""
    parts: Any = (part.copy() for part in state)
    return State(*parts)


def at_places(empty: State, place: IntArray, dual: Dual, prices: FloatArray, fill: bool = False) -> State:
    """Return the schedule with the jobs at given places, -1 for rejected, as the present and the best one.

    With `fill`, rejected jobs run where there is room for them.
    """
    state = copy_of(empty)
    priced = prefix_sums(dual.base + prices.reshape(dual.shape))
    arguments = prefix_sums(dual.base), priced, dual.table, dual.relaxed(prices).member_cost, state
    put_all(place, *arguments)
    if fill:
        put_left(*arguments)
    state.jobs.best = state.jobs.place
    state.now.total = state.now.best_total = float(state.jobs.cost.sum())
    return state


def fits_capacity(state: State, empty: State) -> bool:
    """Return whether the places of a schedule, however they were found, leave no capacity short."""
    allowed = 0.499 * CAPACITY_ROUNDING * empty.capacity_left  # the other half, nearly
    return bool((state.capacity_left >= -allowed).all())


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

"""Annealing for a measure of risk: the moves of `search.py`, accepted by the risk of the whole schedule.

The risk of schedule x is the largest of its costs over a set of signals, base + sum_k w_k direction_k:

    risk(x) = c(x) + max { sum_k w_k v_k(x) : 0 <= w_k <= most_k, sum_k w_k <= total }

c is its cost under the base, and v_k what direction k adds. One signal of the set is the *mix*: places are listed, and
jobs inserted, by their costs under it and slot prices. Since mix(x) <= risk(x), a move that raises mix by more than the
limit and risk(x) - mix(x) raises the risk by more than the limit. So it is given up as early as in `search.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import BoolArray, FloatArray, IntArray, prefix_sums
from carbonopt.core.options import Options, Schedule
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.formulation.objective import placement_value
from carbonopt.problems.mosp.methods.price.dual import Dual
from carbonopt.problems.mosp.methods.price.insertion import insert
from carbonopt.problems.mosp.methods.price.parameters import PriceParameters
from carbonopt.problems.mosp.methods.price.places import Places, make_places, time_cost
from carbonopt.problems.mosp.methods.price.records import State
from carbonopt.problems.mosp.methods.price.search import (
    Rules,
    draw_job,
    draw_order,
    draw_place,
    idle_around,
    ruin,
    rules_of,
    undo,
)
from carbonopt.problems.mosp.methods.price.state import at_places, copy_of, new_state, places_of, schedule_of
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
def cost_at(sign: float, i: int, tab: Table, parts: Parts, st: State, added: FloatArray) -> float:
    """Add job i where it is, times a sign, to what each direction adds; return what else it costs."""
    job = st.jobs[i]
    if job.place < 0:
        return float(sign * job.rejection_cost)
    slots = parts.base.shape[2] - 1
    completion = job.place % slots + job.length
    time = time_cost(int(completion), tab.deadline[job.member], tab)
    return float(sign * time + add_run(sign, i, int(job.place), parts, st, added))


@kernel
def hedged_move(
    limit: float, rng: np.random.Generator, tab: Table, places: Places, rules: Rules, st: State
) -> tuple[int, bool]:
    """Change the schedule at random; return how many jobs moved, and whether their costs under the mix are in limits.

    See `search.move`.
    """
    i = draw_job(rng, rules, st)
    place = draw_place(i, rng, places, rules, st)
    if place < 0:
        return 0, False
    jobs = st.jobs
    moved = st.moved
    order = st.order
    budget = limit + idle_around(place, jobs[i].length, places, rules, st)
    change = 0.0
    count = ruin(i, place, len(tab.on_time) - 1, rng, rules, st)
    for a in range(count):
        budget += moved[a].excess
        change += min(jobs[moved[a].job].least, jobs[moved[a].job].rejection_cost) - moved[a].cost
    draw_order(count, rng, rules, st)
    for a in range(count):
        if change > limit or budget < 0.0:
            return count, False
        i = moved[order[a]].job
        lowest = min(jobs[i].least, jobs[i].rejection_cost)
        insert(i, limit - change + lowest, budget, rules.skipped_share, rng, places, st)
        budget -= jobs[i].excess
        change += jobs[i].cost - lowest
    return count, change <= limit


@kernel
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
    moved = st.moved
    one = st.now[0]
    order = np.zeros(len(added) + 1, dtype=np.int64)
    tried = np.zeros(len(added))
    risk = totals[0] + worst(added, parts, order)
    for step in range(begin, end):
        limit = -hot * pace**step * np.log(1.0 - rng.random())
        count, fits = hedged_move(limit + max(0.0, risk - one.total), rng, tab, places, rules, st)
        if fits:
            tried[:] = added
            certain = totals[0]
            mix = one.total
            for a in range(count):
                i = moved[a].job
                certain += cost_at(1.0, i, tab, parts, st, tried)
                mix += jobs[i].cost - moved[a].cost
                if moved[a].place >= 0:
                    slots = parts.base.shape[2] - 1
                    completion = moved[a].place % slots + jobs[i].length
                    certain -= time_cost(int(completion), tab.deadline[jobs[i].member], tab)
                    certain += add_run(-1.0, i, int(moved[a].place), parts, st, tried)
                else:
                    certain -= jobs[i].rejection_cost
            found = certain + worst(tried, parts, order)
            fits = found - risk <= limit
        if not fits:
            undo(count, st)
            continue
        risk = found
        totals[0] = certain
        added[:] = tried
        one.total = mix
        if risk < totals[1] - 1e-12 * abs(totals[1]):
            totals[1] = risk
            for i in range(len(jobs)):
                jobs[i].best = jobs[i].place


@dataclass(frozen=True, eq=False)
class RiskSignals:
    """The signals over which the risk is the largest cost.

    Parameters
    ----------
    base
        [g/kWh], shape (Z, T).
    rise
        What each direction adds [g/kWh]: shape (K, Z, T), or (Z, T) where each pair of a zone and a slot is one.
    most, total
        Largest weight of each direction, shape (K,), and of all together.
    """

    base: FloatArray
    rise: FloatArray
    most: FloatArray
    total: float

    def parts(self, instance: MospInstance) -> Parts:
        """Return what they cost a used unit of each cluster."""
        kg_per_g = getattr(instance.objective, "carbon_kg") / 1000
        unit = kg_per_g * instance.clusters.watts_per_unit / 1000 * instance.time.slot_hours
        zone = instance.zone_of_cluster
        rise = self.rise if self.rise.ndim == 3 else self.rise[None]
        added = unit[..., None] * rise[:, zone, None, :]
        return Parts(
            base=prefix_sums(unit[..., None] * self.base[zone, None, :]),
            rise=np.ascontiguousarray(np.moveaxis(prefix_sums(added), 0, -1)),
            zone=np.asarray(zone, dtype=np.int64),
            is_pair=self.rise.ndim == 2,
            most=self.most,
            total=self.total,
        )


def hedge(
    instance: MospInstance,
    prices: FloatArray,
    schedule: Schedule,
    costs: tuple[float, FloatArray],
    signals: RiskSignals,
    goal: float,
    options: Options,
) -> Schedule:
    """Return a schedule of no more risk than the one given, from rounds of annealing.

    Parameters
    ----------
    instance
        Whose signal is the mix.
    prices
        Of capacity, at which the mix proves its bound, shape (M, R, T).
    schedule, costs
        Where it begins: its jobs that are not fixed, what it costs under the base, and what each direction adds, (K,).
    signals
        Of the risk.
    goal
        A risk that is low enough.
    options
        Of these rounds.
    """
    params = options.parameters(PriceParameters)
    search = params.search
    value = placement_value(instance)
    dual = Dual(instance, value, params.bound.cluster_temperature)
    flat = prices.ravel()
    typical = dual.mean_least_cost(flat) or 1.0
    places = make_places(dual, flat, params.places)
    empty = new_state(
        instance, dual, places, search.high_regret_excess * typical, search.full_slot_bonus * typical,
        search.move.most_moved,
    )  # fmt: skip
    start = at_places(empty, places_of(instance, schedule), dual, flat)
    parts = signals.parts(instance)
    rng = np.random.default_rng(options.seed)
    rules = rules_of(search.move)
    cost, count = dual.jobs_that_count(flat)
    hot = search.initial_temperature * cost * min(1.0, search.initial_temperature_jobs / count)
    best = start
    certain, added = costs[0], np.array(costs[1])
    order = np.zeros(len(added) + 1, dtype=np.int64)
    risk = certain + worst(added, parts, order)
    left = search.moves(len(instance.jobs))
    moves = max(search.first_moves, search.first_moves_per_job * len(instance.jobs))
    while left > 0 and options.remaining > 0 and risk > goal:
        state = copy_of(best)
        totals = np.array([certain, risk])
        now = added.copy()
        done = 0
        pace = search.cooling ** (-1 / moves)
        while done < moves and options.remaining > 0 and totals[1] > goal:
            step = min(1000, moves - done)
            anneal_risk(done, done + step, rng, hot, pace, dual.table, places, rules, parts, totals, now, state)
            options.spend(STEPS_A_MOVE * step)
            done += step
        if totals[1] < risk:
            risk = float(totals[1])
            before = best
            best = at_places(empty, state.best, dual, flat)
            certain, added = _moved(before, best, dual, parts, certain, added)
        left -= moves
        moves *= search.growth
    return schedule_of(instance, best.best)


def _moved(before: State, after: State, dual: Dual, parts: Parts, certain: float, added: FloatArray):
    now = added.copy()
    for i in range(len(before.jobs)):
        certain += cost_at(-1.0, i, dual.table, parts, before, now) + cost_at(1.0, i, dual.table, parts, after, now)
    return certain, now


STEPS_A_MOVE = 4_000.0

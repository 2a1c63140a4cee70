"""A part of an instance: jobs that may move, where they may, and the room that others leave there."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.mosp.methods.price.beam.profiles import make_profiles
from carbonopt.problems.mosp.methods.price.beam.records import Program
from carbonopt.problems.mosp.methods.price.places import run_cost, time_cost
from carbonopt.problems.mosp.methods.price.records import State
from carbonopt.problems.mosp.methods.price.table import Table

WHOLE = 1e-12
"""Relative tolerance with which demands are whole numbers of units."""
MOST_UNITS = 1000
"""Demands are below this number of units."""
ROOM_WHOLE = 1e-9
"""Tolerance, in units, with which room is rounded down."""

Pair = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class Part:
    """A part of an instance.

    Parameters
    ----------
    program
        What the kernels need.
    job
        Number of each of its jobs in the instance, shape (n,).
    cluster
        Number of each of its clusters in the instance, shape (M,).
    begin
        Its first slot.
    price
        Least reduced cost of each job at the prices of capacity: where an ascent starts, shape (n,).
    """

    program: Program
    job: IntArray
    cluster: IntArray
    begin: int
    price: FloatArray

    def places(self, start: IntArray, slots: int) -> IntArray:
        """Return the places, cluster x `slots` + start, of the part's cluster x T + start; -1 for rejected."""
        here = self.program.cost.shape[1]
        runs = (start >= 0) & (start < len(self.cluster) * here)
        return np.where(runs, self.cluster[np.where(runs, start // here, 0)] * slots + self.begin + start % here, -1)

    def cost_of(self, place: IntArray, slots: int) -> float:
        """Return what its jobs cost at places, cluster x `slots` + start, -1 for rejected, shape (n,)."""
        costs = np.full(len(place), self.program.rejection_cost)
        runs = np.flatnonzero(place >= 0)
        cluster = np.searchsorted(self.cluster, place[runs] // slots)
        costs[runs] = self.program.cost[cluster, place[runs] % slots - self.begin, runs]
        return float(costs.sum())


@dataclass(frozen=True, eq=False)
class Choice:
    """Jobs that may move, and where.

    Parameters
    ----------
    job, cluster
        Its jobs and clusters.
    slots
        First slot, and the one after the last.
    room
        Whole units that other jobs leave there, shape (clusters, slots).
    idle
        Of which its jobs leave so many, now.
    """

    job: IntArray
    cluster: IntArray
    slots: tuple[int, int]
    room: IntArray
    idle: IntArray


def whole_units(demand: FloatArray) -> tuple[IntArray, float] | None:
    """Return demands of one resource in whole units, and the unit; None if they have no common one."""
    if demand.shape[1] != 1 or demand.min(initial=1.0) <= 0:
        return None
    for unit in (1.0, float(demand.min())):
        units = np.rint(demand[:, 0] / unit)
        if (np.abs(units * unit - demand[:, 0]) <= WHOLE * demand[:, 0]).all() and units.max() < MOST_UNITS:
            return units.astype(np.int64), unit
    return None


def whole_room(free: FloatArray, unit: float, most: int) -> IntArray:
    """Return free capacity in whole units, at most `most`."""
    return np.floor(np.minimum(free / unit * (1 + ROOM_WHOLE) + ROOM_WHOLE, most)).astype(np.int64)


@kernel
def fill_costs(
    job: IntArray, where: tuple[IntArray, int], most: float, prefix: Pair, tab: Table, st: State, out: Pair
) -> None:
    """Fill costs and excesses, both of shape (M, T, n), of all starts of excess at most `most`.

    `where` holds clusters and first slot, `prefix` prefix sums of the cost of a unit without and with prices.
    """
    cluster, begin = where
    base, priced = prefix
    cost, excess = out
    end = begin + cost.shape[1]
    for n in range(len(job)):
        one = st.jobs[job[n]]
        g = one.group
        scale = st.demand[job[n], 0]
        length = one.length
        for t in range(max(begin, one.arrival), end - length + 1):
            time = time_cost(t + length, tab.deadline[one.member], tab)
            for c in range(len(cluster)):
                j = cluster[c]
                if not tab.allowed[tab.mask[g], j, t]:
                    continue
                more = scale * run_cost(priced, j, t, g, tab) + time - one.lowest
                true = scale * run_cost(base, j, t, g, tab) + time
                if more <= most and true < tab.rejection_cost:
                    cost[c, t - begin, n] = true
                    excess[c, t - begin, n] = max(0.0, more)


def make_part(
    choice: Choice,
    units: IntArray,
    most_excess: float,
    prefix: Pair,
    table: Table,
    state: State,
) -> Part:
    """Return the part of a choice of jobs.

    Parameters
    ----------
    choice
        Jobs, and where they may run.
    units
        Demand of each job of the instance, in units.
    most_excess
        Starts of a larger reduced cost above the job's least one are left out.
    prefix
        Prefix sums of the cost of a unit without and with prices.
    table, state
        The dual's table, and any schedule.
    """
    begin, end = choice.slots
    room = choice.room
    cluster = choice.cluster
    jobs = state.jobs
    job = choice.job
    deadline = table.deadline[jobs.member[job]]
    job = job[np.lexsort((jobs.member[job], deadline, jobs.group[job], -units[job], -jobs.length[job]))]
    kind = np.column_stack([jobs.length[job], units[job], jobs.group[job]])
    first = np.flatnonzero(np.concatenate([[True], (kind[1:] != kind[:-1]).any(axis=1), [True]]))
    longest = int(jobs.length[job].max())
    most = int(room.max(initial=0))
    profiles = make_profiles(most, longest)
    steps = [profiles.after_start(int(kind[a, 0]), int(kind[a, 1])) for a in first[:-1]]
    opened = np.ones((*room.shape, len(profiles.later)), dtype=np.bool_)
    for k in range(min(longest, end - begin)):
        opened[:, : end - begin - k] &= profiles.units[:, k] <= room[:, k:, None]
    cost, excess = (np.full((len(room), end - begin, len(job)), np.inf) for _ in range(2))
    fill_costs(job, (cluster, begin), most_excess, prefix, table, state, (cost, excess))
    heuristic_to_go = np.full((len(job), end - begin + 1), np.inf)
    if np.isfinite(table.rejection_cost):
        heuristic_to_go[:, -1] = jobs.rejection_regret[job]
    else:
        heuristic_to_go[:, -1] = np.inf
    best = excess.min(axis=0).T
    heuristic_to_go[:, :-1] = np.minimum.accumulate(np.column_stack([best, heuristic_to_go[:, -1]])[:, ::-1], axis=1)[
        :, :0:-1
    ]
    possible = np.isfinite(cost).any(axis=0)
    last = np.where(possible.any(axis=0), len(possible) - 1 - np.argmax(possible[::-1], axis=0), -1)
    member = jobs.member[job]
    is_twin = np.concatenate([[False], member[1:] == member[:-1]]) & (not table.inverse)
    twin = np.where(is_twin, np.arange(len(job)) - 1, -1)
    program = Program(
        first=first,
        step=np.array(steps),
        units=profiles.units,
        later=profiles.later,
        open=opened,
        cost=cost,
        arrival=jobs.arrival[job].astype(np.int64) - begin,
        last=last.astype(np.int64),
        heuristic_to_go=heuristic_to_go,
        twin=twin,
        rejection_cost=table.rejection_cost,
        is_ordered=not table.inverse,
    )
    return Part(program, job, cluster, begin, np.minimum(jobs.lowest[job], table.rejection_cost))


def disturbed(part: Part, noise: float, rng: np.random.Generator) -> Part:
    """Return a part whose starts cost more or less by chance, all jobs of a type alike.

    The noise has Gumbel's distribution. A job that took its least disturbed cost would be at each start with the
    probability that annealing gives it at a temperature of `noise`.
    """
    program = part.program
    types = len(program.first) - 1
    drawn = rng.gumbel(size=(*program.cost.shape[:2], types))
    of_job = np.repeat(np.arange(types), np.diff(program.first))
    return replace(part, program=program._replace(cost=program.cost - noise * drawn[:, :, of_job]))

"""A restricted linear program over the places of least reduced cost, and a schedule rounded from it.

Variables are the numbers n of jobs of each bin (jobs of one class with much the same deadline) that start in a slot,
and the units z of a group that start on a cluster in a slot. That is a fraction of the columns of the whole program.

    sum_t n_bt = jobs of b        sum_j z_gtj = sum over bins b of group g of scale_b n_bt
    sum of the units z that run <= capacity + excess, at a price

The value is no bound, since columns and deadlines are left out; only where the jobs go matters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from carbonopt.algorithms.kernel import managed_kernel
from carbonopt.core.arrays import FloatArray, IntArray, prefix_sums
from carbonopt.core.options import Options
from carbonopt.milp import highs
from carbonopt.milp.block import Block
from carbonopt.milp.program import Program
from carbonopt.problems.mosp.methods.price.dual import Dual
from carbonopt.problems.mosp.methods.price.insertion import insert, listed_cost
from carbonopt.problems.mosp.methods.price.packing import fits, put
from carbonopt.problems.mosp.methods.price.places import Places
from carbonopt.problems.mosp.methods.price.records import State
from carbonopt.problems.mosp.methods.price.search_parameters import StartParameters
from carbonopt.problems.mosp.methods.price.table import Table, time_costs

TOLERANCE = 1e-6
"""Of the linear program, whose solution is rounded anyway."""


@dataclass(frozen=True, eq=False)
class Bins:
    """Jobs cut into bins, sorted by class and deadline.

    Parameters
    ----------
    order
        The jobs in this order, shape (N,).
    first
        Jobs of bin b are order[first[b]:first[b + 1]].
    shape
        Of each bin.
    deadline
        Mean of each bin [slots].
    """

    order: IntArray
    first: IntArray
    shape: IntArray
    deadline: FloatArray

    @property
    def jobs(self) -> IntArray:
        """Number of jobs of each bin."""
        return np.diff(self.first)


@dataclass(frozen=True, eq=False)
class Targets:
    """What the linear program says.

    Parameters
    ----------
    start
        Slot in which each job should start, -1 where the program splits it, shape (N,).
    units
        Units of each group that should start in a slot on a cluster, shape (G, T, M).
    """

    start: IntArray
    units: FloatArray


def make_bins(dual: Dual, params: StartParameters) -> tuple[Bins, IntArray]:
    """Return the bins of all jobs, and the bin of each member."""
    table = dual.table
    class_of = np.repeat(np.arange(len(table.first)), np.diff(table.member_first))
    shape_of = np.repeat(np.arange(len(table.group)), np.diff(table.class_first))
    parts = max(1, min(params.most_bins_per_class, params.bins // max(1, len(table.first))))
    row = np.arange(len(class_of)) - table.member_first[class_of]
    part = row * parts // np.diff(table.member_first)[class_of]
    _, first_member, bin_of = np.unique(class_of * parts + part, return_index=True, return_inverse=True)
    count = np.bincount(bin_of, weights=table.jobs)
    deadline = np.bincount(bin_of, weights=table.jobs * table.deadline) / count
    first = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
    order = np.argsort(dual.jobs.member, kind="stable")
    return Bins(order, first, shape_of[class_of[first_member]], deadline), bin_of.ravel()


def solve_restricted(
    dual: Dual, places: Places, prices: FloatArray, most_excess: float, params: StartParameters, options: Options
) -> Targets | None:
    """Solve the linear program over the places whose excess is at most `most_excess`.

    None if HiGHS finds no vertex in time.
    """
    bins, bin_of = make_bins(dual, params)
    table = dual.table
    clusters, _, slots = dual.shape
    member, k = np.nonzero((np.arange(places.entry.shape[1]) < places.size[:, None]) & (places.excess <= most_excess))
    where = places.place[member, k].astype(np.int64)
    b = bin_of[member]
    t = where % slots
    j = where // slots
    n_at = _unique(b, t, slots)
    z_at = np.unravel_index(
        np.unique((table.group[bins.shape[b]] * slots + t) * clusters + j), (len(table.length), slots, clusters)
    )
    program = Program("restricted")
    n = _add_jobs(program, dual, bins, n_at)
    z = _add_units(program, dual, params.excess_price * prices, prices, z_at)
    _link(program, dual, bins, (n, n_at), (z, z_at))
    result = highs.solve(program, options, lp_solver="ipm", tolerance=TOLERANCE)
    if result.values is None:
        return None
    start = _starts(bins, n_at, whole_starts(bins, n_at[0], result.values[n.slice]))
    units = np.zeros((len(table.length), slots, clusters))
    units[z_at] = result.values[z.slice]
    return Targets(start, units)


def _unique(row: IntArray, slot: IntArray, slots: int) -> tuple[IntArray, IntArray]:
    key = np.unique(row * slots + slot)
    return key // slots, key % slots


def _add_jobs(program: Program, dual: Dual, bins: Bins, at: tuple[IntArray, IntArray]) -> Block:
    """Add n: what depends on the completion alone, and every job in some slot or rejected."""
    table = dual.table
    b, t = at
    end = t + table.length[table.group[bins.shape[b]]]
    n = program.add_variables("n", len(b), cost=time_costs(end, bins.deadline[b], table))
    rows = program.add_rows("jobs", len(bins.shape), lower=bins.jobs, upper=bins.jobs)
    program.add_entries(rows.start + b, n.index, 1.0)
    if np.isfinite(table.rejection_cost):
        rejected = program.add_variables("rejected", len(bins.shape), cost=table.rejection_cost)
        program.add_entries(rows.index, rejected.index, 1.0)
    return n


def _add_units(
    program: Program, dual: Dual, excess_prices: FloatArray, prices: FloatArray, at: tuple[Any, ...]
) -> Block:
    """Add z: what depends on the cluster, and the capacity that it takes."""
    table = dual.table
    g, t, j = at
    length = table.length[g]
    base = prefix_sums(dual.base)
    z = program.add_variables("z", len(g), cost=((base[j, :, t + length] - base[j, :, t]) * table.mix[g]).sum(axis=1))
    mu = prices.reshape(dual.shape)
    most = (
        excess_prices.reshape(dual.shape)
        + max(float(mu.max(initial=0.0)), float(np.abs(dual.base).max(initial=0.0)), 1e-9) / 10
    )
    excess = program.add_variables("excess", dual.shape, cost=most)
    rows = program.add_rows("capacity", dual.shape, upper=dual.limit)
    program.add_entries(rows.index, excess.index, -1.0)
    first = np.cumsum(length) - length
    column = np.repeat(z.index, length)
    for r in range(dual.shape[1]):
        row = rows.start + (j * dual.shape[1] + r) * dual.shape[2] + t
        running = np.repeat(row - first, length) + np.arange(len(column))
        program.add_entries(running, column, np.repeat(table.mix[g, r], length))
    return z


def _link(
    program: Program, dual: Dual, bins: Bins, n: tuple[Block, tuple[Any, ...]], z: tuple[Block, tuple[Any, ...]]
) -> None:
    """Let the units of each group that start in a slot be those of its jobs."""
    table = dual.table
    slots = dual.shape[2]
    (jobs, (b, t)) = n
    (units, (g, s, _)) = z
    key, row = np.unique(np.concatenate([table.group[bins.shape[b]] * slots + t, g * slots + s]), return_inverse=True)
    rows = program.add_rows("link", len(key), lower=0.0, upper=0.0)
    program.add_entries(rows.start + row[: len(b)], jobs.index, -table.scale[bins.shape[b]])
    program.add_entries(rows.start + row[len(b) :], units.index, 1.0)


def whole_starts(bins: Bins, b: IntArray, n: FloatArray) -> IntArray:
    """Round the numbers of jobs that start in each slot, so that those of a bin add up: largest remainders up."""
    whole = np.floor(n + 1e-6).astype(np.int64)
    rest = n - whole
    total = np.rint(np.bincount(b, weights=n, minlength=len(bins.shape))).astype(np.int64)
    missing = total - np.bincount(b, weights=whole, minlength=len(bins.shape)).astype(np.int64)
    order = np.lexsort((-rest, b))
    rank = np.arange(len(b)) - np.searchsorted(b[order], np.arange(len(bins.shape)))[b[order]]
    whole[order] += rank < missing[b[order]]
    return whole


def _starts(bins: Bins, at: tuple[IntArray, IntArray], whole: IntArray) -> IntArray:
    """Give the jobs of each bin their slots, those of early deadline the early ones."""
    b, t = at
    start = np.full(len(bins.order), -1, dtype=np.int64)
    before = np.cumsum(whole) - whole
    of_first = np.append(before, 0)[np.searchsorted(b, np.arange(len(bins.shape)))]
    within = before - of_first[b]
    position = np.repeat(bins.first[b] + within - before, whole) + np.arange(int(whole.sum()))
    start[bins.order[position]] = np.repeat(t, whole)
    return start


@managed_kernel
def place_targets(
    order: IntArray, start: IntArray, units: FloatArray, rng: np.random.Generator, tab: Table, places: Places, st: State
) -> None:
    """Place jobs on the cluster with most units left for them in the slot that they should start in, or anywhere."""
    slots = len(tab.on_time) - 1
    for i in order:
        t = start[i]
        g = st.jobs[i].group
        m = st.jobs[i].member
        scale = 0.0
        chosen = -1
        entries = places.entry[m]
        for r in range(st.demand.shape[1]):
            scale += st.demand[i, r]
        if t >= 0:
            for k in range(places.size[m]):
                place = entries[k].place
                more = chosen < 0 or units[g, t, place // slots] > units[g, t, entries[chosen].place // slots]
                if place % slots == t and more and fits(i, place, st):
                    chosen = k
        if chosen >= 0:
            units[g, t, entries[chosen].place // slots] -= scale
            put(i, entries[chosen].place, listed_cost(i, entries[chosen], places, st), entries[chosen].excess, st)
    for i in order:
        if st.jobs[i].place < 0:
            insert(i, st.jobs[i].rejection_cost, np.inf, 0.0, rng, places, st)

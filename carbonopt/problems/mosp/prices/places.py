"""The places of each job by reduced cost: where a search looks first."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from carbonopt.algorithms.compiled import PLAIN_STEPS
from carbonopt.algorithms.linked import linked
from carbonopt.core.arrays import FloatArray, IntArray, prefix_sums
from carbonopt.problems.mosp.prices.dual import Dual

ENTRIES = 4_000_000
"""Places that are kept in all."""
FEWEST, MOST = 48, 1024
"""Places that are kept of each member."""


class Places(NamedTuple):
    """The places of each member at given prices, by increasing excess.

    Attributes
    ----------
    size
        How many there are of each member, shape (members,).
    place
        cluster x T + start, shape (members, P).
    excess
        Reduced cost above the least one of the member, shape (members, P).
    cost
        Cost in the objective, shape (members, P).
    least
        Least cost of each member, shape (members,).
    """

    size: IntArray
    place: Any
    excess: FloatArray
    cost: FloatArray
    least: FloatArray


@linked
def sift_down(excess: FloatArray, place: Any, at: int, size: int) -> None:
    """Restore the heap with the largest excess on top."""
    while True:
        child = 2 * at + 1
        if child >= size:
            return
        if child + 1 < size and excess[child + 1] > excess[child]:
            child += 1
        if excess[child] <= excess[at]:
            return
        excess[at], excess[child] = excess[child], excess[at]
        place[at], place[child] = place[child], place[at]
        at = child


@linked
def offer(priced: float, where: int, count: int, most: int, excess: FloatArray, place: Any) -> int:
    """Put a place into the heap of at most `most`; return the heap's size."""
    if count < most:
        at = count
        excess[at], place[at] = priced, where
        while at > 0 and excess[(at - 1) // 2] < excess[at]:
            up = (at - 1) // 2
            excess[at], excess[up] = excess[up], excess[at]
            place[at], place[up] = place[up], place[at]
            at = up
        return count + 1
    if priced < excess[0]:
        excess[0], place[0] = priced, where
        sift_down(excess, place, 0, most)
    return count


@linked
def time_cost(completion: int, deadline: float, tab: Any) -> float:
    """Return the cost of completion at a slot."""
    cost = tab.on_time[completion]
    if completion > deadline:
        tardiness = completion - deadline
        cost += tab.late * (tardiness / (1.0 + tardiness) if tab.inverse else tardiness)
    return float(cost)


@linked
def run_cost(prefix: FloatArray, j: int, t: int, g: int, tab: Any) -> float:
    """Return what a unit of group g costs on cluster j from slot t, by prefix sums."""
    cost = 0.0
    for r in range(tab.mix.shape[1]):
        cost += tab.mix[g, r] * (prefix[j, r, t + tab.length[g]] - prefix[j, r, t])
    return cost


@linked
def fill_places(priced: FloatArray, base: FloatArray, least: FloatArray, tab: Any, out: Any) -> None:
    """Fill `out`: for each member the places of least priced cost.

    `priced` and `base` are prefix sums of the costs of a unit with and without prices, shape (M, R, T + 1), and
    `least` is the least priced cost over clusters, shape (G, T).
    """
    clusters, slots = priced.shape[0], priced.shape[2] - 1
    most = out.place.shape[1]
    for h in range(len(tab.group)):
        g, scale = tab.group[h], tab.scale[h]
        length, allowed = tab.length[g], tab.allowed[tab.mask[g]]
        for c in range(tab.class_first[h], tab.class_first[h + 1]):
            for m in range(tab.member_first[c], tab.member_first[c + 1]):
                count, excess, place = 0, out.excess[m], out.place[m]
                for t in range(tab.first[c], slots - length + 1):
                    time = time_cost(t + length, tab.deadline[m], tab)
                    if not least[g, t] < np.inf or (count == most and scale * least[g, t] + time >= excess[0]):
                        continue
                    for j in range(clusters):
                        if allowed[j, t]:
                            here = scale * run_cost(priced, j, t, g, tab) + time
                            count = offer(here, j * slots + t, count, most, excess, place)
                for last in range(count - 1, 0, -1):
                    excess[0], excess[last] = excess[last], excess[0]
                    place[0], place[last] = place[last], place[0]
                    sift_down(excess, place, 0, last)
                lowest, cheapest = excess[0], np.inf
                for k in range(count):
                    j, t = place[k] // slots, place[k] % slots
                    excess[k] -= lowest
                    out.cost[m, k] = scale * run_cost(base, j, t, g, tab) + time_cost(t + length, tab.deadline[m], tab)
                    cheapest = min(cheapest, out.cost[m, k])
                out.least[m], out.size[m] = cheapest, count


def way(kernel: Any, steps: float) -> Any:
    """Return the way to run a linked kernel that ends first: see `Kernel.choose`."""
    return kernel.interpreted if steps < PLAIN_STEPS else kernel.machine


def make_places(dual: Dual, prices: FloatArray) -> Places:
    """Return the places of each member of `dual` at flat `prices`."""
    members, (clusters, _, slots) = len(dual.table.jobs), dual.shape
    most = min(clusters * slots, max(FEWEST, min(MOST, ENTRIES // max(1, members))))
    out = Places(
        np.zeros(members, dtype=np.int64),
        np.zeros((members, most), dtype=np.int32),
        np.zeros((members, most)),
        np.zeros((members, most)),
        np.full(members, np.inf),
    )
    priced = prefix_sums(dual.base + prices.reshape(dual.shape))
    steps = members * (slots + 10.0 * most)
    way(fill_places, steps)(priced, prefix_sums(dual.base), dual.least_by_start(prices), dual.table, out)
    return out

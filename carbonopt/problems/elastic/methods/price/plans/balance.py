"""Choose one plan a job so that loads meet the capacities: annealing with soft capacities.

At good slot prices every job has many plans of almost no excess (reduced cost above its least), and
CI_t + lambda_t is the same over long stretches of full slots, so that moving servers between them costs
nothing. What is left is to balance: sum of excesses + weight x sum of squared deviations of the loads
from the capacities, below capacity only where room has a price. The temperature stays at a small part of
a server-slot's price, so excesses stay tiny, while the weight rises until no deviation is left.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.algorithms.kernel import kernel, managed_kernel
from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.problems.elastic.methods.price.plans.table import Table


class Pool(NamedTuple):
    """Plans to choose from, those of one job in a row.

    Attributes
    ----------
    first
        Plans of job j are first[j]:first[j + 1], shape (N + 1,).
    start
        Entries of plan q are start[q]:start[q + 1].
    slot, level
        Of each entry.
    excess
        Of each plan [g].
    """

    first: IntArray
    start: IntArray
    slot: IntArray
    level: IntArray
    excess: FloatArray


class Balance(NamedTuple):
    """A choice of plans: levels of all jobs in the flat order of the table, and what follows from them.

    Attributes
    ----------
    level
        Of all jobs, in the flat order of the table.
    excess
        Of each job's plan [g], shape (N,).
    load, room
        Servers used in and offered by each slot, shape (T,).
    price
        Slot prices [g per server], shape (T,).
    priced
        Whether room in a slot has a price, shape (T,).
    """

    level: IntArray
    excess: FloatArray
    load: IntArray
    room: IntArray
    price: FloatArray
    priced: BoolArray


def cheapest(pool: Pool, room: IntArray, price: FloatArray, least_price: float, tab: Table) -> Balance:
    """Return the choice of the plan of least excess for every job; `least_price` counts as a price."""
    level = np.zeros(int(tab.width.sum()), dtype=np.int64)
    load = np.zeros(len(room), dtype=np.int64)
    excess = np.zeros(len(tab.first))
    for j in range(len(tab.first)):
        q = pool.first[j] + int(np.argmin(pool.excess[pool.first[j] : pool.first[j + 1]]))
        here = slice(pool.start[q], pool.start[q + 1])
        level[tab.offset[j] - tab.first[j] + pool.slot[here]] = pool.level[here]
        load[pool.slot[here]] += tab.servers[tab.profile[j], pool.level[here]]
        excess[j] = pool.excess[q]
    return Balance(level, excess, load, room, price, price > least_price)


@kernel
def imbalance(t: int, load: int, bal: Balance) -> float:
    """Return the squared deviation of a load from the capacity where it counts."""
    over = load - bal.room[t]
    return float(over * over) if over > 0 or bal.priced[t] else 0.0


@managed_kernel
def anneal(
    steps: int,
    rng: np.random.Generator,
    heat: float,
    weight: float,
    swap_share: float,
    pool: Pool,
    bal: Balance,
    tab: Table,
) -> None:
    """Run `steps` moves at temperature `heat` [g] and `weight` [g per squared server], a share of them swaps."""
    jobs = len(tab.first)
    for _ in range(steps):
        j = rng.integers(0, jobs)
        at = tab.offset[j]
        first = tab.first[j]
        n = tab.width[j]
        p = tab.profile[j]
        limit = -heat * np.log(1.0 - rng.random())
        if rng.random() < swap_share:
            i = rng.integers(0, n)
            k = rng.integers(0, n)
            a = bal.level[at + i]
            b = bal.level[at + k]
            if a == b:
                continue
            t = first + i
            u = first + k
            moved = tab.servers[p, b] - tab.servers[p, a]
            change = (tab.intensity[t] - tab.intensity[u]) * (tab.energy[p, b] - tab.energy[p, a])
            change += (bal.price[t] - bal.price[u]) * moved
            gone = imbalance(t, bal.load[t], bal) + imbalance(u, bal.load[u], bal)
            come = imbalance(t, bal.load[t] + moved, bal) + imbalance(u, bal.load[u] - moved, bal)
            if change + weight * (come - gone) <= limit:
                bal.load[t] += moved
                bal.load[u] -= moved
                bal.level[at + i], bal.level[at + k] = b, a
                bal.excess[j] += change
            continue
        count = pool.first[j + 1] - pool.first[j]
        q = pool.first[j] + rng.integers(0, count)
        change = pool.excess[q] - bal.excess[j]
        squares = 0.0
        for i in range(n):
            servers = tab.servers[p, bal.level[at + i]]
            if servers > 0:
                t = first + i
                squares += imbalance(t, bal.load[t] - servers, bal) - imbalance(t, bal.load[t], bal)
                bal.load[t] -= servers
        for e in range(pool.start[q], pool.start[q + 1]):
            t = pool.slot[e]
            servers = tab.servers[p, pool.level[e]]
            squares += imbalance(t, bal.load[t] + servers, bal) - imbalance(t, bal.load[t], bal)
            bal.load[t] += servers
        if change + weight * squares <= limit:
            for i in range(n):
                bal.level[at + i] = 0
            for e in range(pool.start[q], pool.start[q + 1]):
                bal.level[at + pool.slot[e] - first] = pool.level[e]
            bal.excess[j] = pool.excess[q]
            continue
        for e in range(pool.start[q], pool.start[q + 1]):
            bal.load[pool.slot[e]] -= tab.servers[p, pool.level[e]]
        for i in range(n):
            bal.load[first + i] += tab.servers[p, bal.level[at + i]]

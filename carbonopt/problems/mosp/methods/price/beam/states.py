"""States of the dynamic program: what runs where after some slots, and the least that any way on costs."""

from __future__ import annotations

import numpy as np

from carbonopt.algorithms.kernel import kernel, managed_kernel
from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.problems.mosp.methods.price.beam.records import Paths, Program, States


def make_states(width: int, program: Program) -> States:
    """Return room for so many states, the first of which has no job started."""
    clusters, _, jobs = program.cost.shape
    least, cost, heuristic_to_go = (np.zeros(width) for _ in range(3))
    tag, following = (np.zeros(width, dtype=np.int64) for _ in range(2))
    profile = np.zeros((width, clusters), dtype=np.int64)
    return States(least, cost, heuristic_to_go, tag, following, profile, np.full((width, jobs), -1, dtype=np.int16))


@kernel
def copy_state(to: int, s: int, st: States) -> None:
    """Overwrite one state by another."""
    st.least[to] = st.least[s]
    st.cost[to] = st.cost[s]
    st.heuristic_to_go[to] = st.heuristic_to_go[s]
    st.tag[to] = st.tag[s]
    for j in range(st.profile.shape[1]):
        st.profile[to, j] = st.profile[s, j]
    for i in range(st.start.shape[1]):
        st.start[to, i] = st.start[s, i]


@kernel
def keep(keeps: BoolArray, st: States) -> tuple[int, float]:
    """Keep some of the first states; return how many, and the least bound of the others."""
    kept = 0
    dropped = np.inf
    for s in range(len(keeps)):
        if not keeps[s]:
            dropped = min(dropped, st.least[s])
            continue
        if kept < s:
            copy_state(kept, s, st)
        kept += 1
    return kept, dropped


@managed_kernel
def keep_below(count: int, most: float, st: States) -> tuple[int, float]:
    """Drop the states whose bound is above `most`; return as `keep`."""
    keeps = np.empty(count, np.bool_)
    for s in range(count):
        keeps[s] = st.least[s] <= most
    return keep(keeps, st)


@kernel
def nth_least(values: FloatArray, n: int) -> float:
    """Return the n-th least value, from 0, of an array whose order may change; faster to compile than numpy's."""
    low = 0
    high = len(values) - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i = low
        j = high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if n <= j:
            high = j
        elif n >= i:
            low = i
        else:
            break
    return float(values[n])


@managed_kernel
def keep_best(count: int, width: int, st: States) -> tuple[int, float]:
    """Keep `width` states of least bound plus heuristic_to_go; return as `keep`."""
    if count <= width:
        return count, np.inf
    rank = np.empty(count)
    keeps = np.empty(count, np.bool_)
    for s in range(count):
        rank[s] = st.least[s] + st.heuristic_to_go[s]
    cut = nth_least(rank, width - 1)
    left = width
    for s in range(count):
        keeps[s] = left > 0 and st.least[s] + st.heuristic_to_go[s] <= cut
        left -= keeps[s]
    return keep(keeps, st)


@kernel
def is_dominated(s: int, by: int, part: Program, st: States) -> bool:
    """Return whether another state has the same jobs started and holds no more units anywhere in the slots to come."""
    units = part.units
    for j in range(st.profile.shape[1]):
        here = st.profile[s, j]
        there = st.profile[by, j]
        if here != there:
            for k in range(units.shape[1]):
                if units[there, k] > units[here, k]:
                    return False
    alike = True
    for i in range(st.start.shape[1]):
        alike = alike and (st.start[s, i] < 0) == (st.start[by, i] < 0)
    return alike


@managed_kernel
def keep_undominated(order: IntArray, most_compared: int, part: Program, st: States) -> int:
    """Drop states that another one dominates at no more cost; `order` is by tag and cost. Return how many stay."""
    count = len(order)
    begin = 0
    end = 0
    keeps = np.ones(count, np.bool_)
    kept = np.zeros(count, np.int64)
    for x in range(count):
        s = order[x]
        if x == 0 or st.tag[s] != st.tag[order[x - 1]]:
            begin = end
        for y in range(begin, min(end, begin + most_compared)):
            if is_dominated(s, kept[y], part, st):
                keeps[s] = False
                break
        if keeps[s]:
            kept[end] = s
            end += 1
    return keep(keeps, st)[0]


@kernel
def wait_anywhere(count: int, waits: BoolArray, st: States) -> None:
    """Fill whether each job waits in some state."""
    waits[:] = False
    for s in range(count):
        for i in range(len(waits)):
            if st.start[s, i] < 0:
                waits[i] = True


@kernel
def value_states(t: int, passed: int, count: int, price: FloatArray, part: Program, paths: Paths, st: States) -> None:
    """Fill bounds and hopes in a slot in which some of the clusters have started what they will."""
    for s in range(count):
        least = st.cost[s]
        heuristic_to_go = 0.0
        for j in range(st.profile.shape[1]):
            if j < passed:
                least += paths.value[j, t + 1, part.later[st.profile[s, j]]]
            else:
                least += paths.value[j, t, st.profile[s, j]]
        for i in range(len(price)):
            if st.start[s, i] < 0:
                if part.last[i] >= t:
                    least += price[i]
                    heuristic_to_go += part.heuristic_to_go[i, t]
                else:
                    least += part.rejection_cost
        st.least[s] = least
        st.heuristic_to_go[s] = heuristic_to_go


@managed_kernel
def to_next_slot(t: int, count: int, part: Program, st: States) -> int:
    """Let slot t pass; drop states in which a job that must run no longer can, and return how many stay."""
    keeps = np.ones(count, np.bool_)
    for s in range(count):
        for j in range(st.profile.shape[1]):
            st.profile[s, j] = part.later[st.profile[s, j]]
        if part.rejection_cost == np.inf:
            for i in range(st.start.shape[1]):
                keeps[s] = keeps[s] and (st.start[s, i] >= 0 or part.last[i] > t)
    return keep(keeps, st)[0]

"""All that can start on one cluster in one slot, for each state.

Of two jobs of one type that both wait and both run, the one with the earlier deadline starts first: lateness is
convex in completion, so to swap them costs nothing. So a job that is passed over for one with a later deadline never
runs. Lateness of caspian's objective is not convex; there, every set of jobs counts.
"""

from __future__ import annotations

import numpy as np

from carbonopt.algorithms.kernel import kernel, managed_kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.mosp.methods.price.beam.records import Paths, Program, States
from carbonopt.problems.mosp.methods.price.beam.states import copy_state, keep_below, keep_best


@kernel
def find_candidates(j: int, t: int, a: int, price: FloatArray, part: Program, paths: Paths, candidate: IntArray) -> int:
    """List the waiting jobs of a type in the order in which they start: by deadline, else cheapest first."""
    cost = part.cost[j, t]
    reduced = paths.reduced
    some = 0
    for i in range(part.first[a], part.first[a + 1]):
        if not paths.waits[i] or part.arrival[i] > t:
            continue
        to = some
        if not part.is_ordered:
            gain = cost[i] - price[i]
            while to > 0 and reduced[to - 1] > gain:
                reduced[to] = reduced[to - 1]
                candidate[to] = candidate[to - 1]
                to -= 1
            reduced[to] = gain
        candidate[to] = i
        some += 1
    return some


@kernel
def pass_over(s: int, i: int, t: int, price: FloatArray, part: Program, marks: IntArray, st: States) -> None:
    """Let job i of a state never run."""
    st.start[s, i] = part.cost.shape[0] * part.cost.shape[1]
    st.tag[s] ^= marks[i]
    st.cost[s] += part.rejection_cost
    st.least[s] += part.rejection_cost - price[i]
    st.heuristic_to_go[s] -= part.heuristic_to_go[i, t]


@managed_kernel
def start_type(
    j: int,
    t: int,
    a: int,
    count: int,
    most: float,
    price: FloatArray,
    part: Program,
    paths: Paths,
    marks: IntArray,
    st: States,
) -> tuple[int, float]:
    """Append to the states all that come of them by starts of a type; return their number, and the least one lost.

    Bounds are those before the starts of the type on entry, and after them on return.
    """
    cost = part.cost[j, t]
    stage = paths.stage
    step = part.step[a]
    opened = part.open[j, t]
    dropped = np.inf
    candidate = np.zeros(part.first[a + 1] - part.first[a], np.int64)
    some = find_candidates(j, t, a, price, part, paths, candidate)
    for s in range(count):
        st.next[s] = 0
    s = 0
    while s < count and some > 0:
        profile = st.profile[s, j]
        to = step[profile]
        begin = st.next[s]
        skipped = 0.0
        for x in range(begin, some):
            i = candidate[x]
            if to < 0 or not opened[to]:
                break
            if st.start[s, i] >= 0 or (part.twin[i] >= 0 and st.start[s, part.twin[i]] < 0):
                continue
            least = st.least[s] + skipped + cost[i] - price[i] + stage[a, to] - stage[a, profile]
            if least <= most and count < len(st.least):
                copy_state(count, s, st)
                if part.is_ordered:
                    for y in range(begin, x):
                        if st.start[s, candidate[y]] < 0:
                            pass_over(count, candidate[y], t, price, part, marks, st)
                st.least[count] = least
                st.cost[count] = st.cost[count] + cost[i]
                st.heuristic_to_go[count] -= part.heuristic_to_go[i, t]
                st.tag[count] ^= marks[i]
                st.profile[count, j] = to
                st.next[count] = x + 1
                st.start[count, i] = j * part.cost.shape[1] + t
                count += 1
            else:
                dropped = min(dropped, least)
            if part.is_ordered:
                skipped += part.rejection_cost - price[i]
                if st.least[s] + skipped > most:
                    dropped = min(dropped, st.least[s] + skipped)
                    break
        s += 1
    for s in range(count):
        st.least[s] += stage[a + 1, st.profile[s, j]] - stage[a, st.profile[s, j]]
    return count, dropped


@kernel
def expand(
    j: int, t: int, count: int, most: float, price: FloatArray, part: Program, paths: Paths, marks: IntArray, st: States
) -> tuple[int, float]:
    """Start every set of waiting jobs whose bound stays at most `most`, by type; keep half of the room.

    Returns the number of states, and the least bound of all that are dropped.
    """
    dropped = np.inf
    for a in range(len(part.step)):
        count, lost = start_type(j, t, a, count, most, price, part, paths, marks, st)
        count, above = keep_below(count, most, st)
        count, worst = keep_best(count, len(st.least) // 2, st)
        dropped = min(dropped, lost, above, worst)
    return count, dropped

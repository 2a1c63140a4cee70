"""Bounds for states of the dynamic program: clusters fall apart where each job has a price.

With a price for each job instead of the rule that it runs once, the clusters are independent of each other, and each
is a shortest path over (slot, profile) on which a start costs its cost less the job's price. A path may start a job
several times, but it holds whole jobs, so capacity counts as what whole jobs can fill of it, unlike in the linear
program. Prices are raised by subgradients (what waits, less what the paths start), at every slot again: jobs that
every state has started are out of the paths to come.

References
----------
Pessoa, Sadykov, Uchoa, Vanderbeck (2018), "Automation and combination of linear-programming based stabilization
techniques in column generation", INFORMS Journal on Computing 30, 339-360: arc-indexed relaxations of this kind.
"""

from __future__ import annotations

import numpy as np

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.mosp.methods.price.beam.records import Paths, Program, States


def make_paths(program: Program) -> Paths:
    """Return empty paths of a part's program."""
    clusters, slots, jobs = program.cost.shape
    types = len(program.first) - 1
    profiles = len(program.later)
    return Paths(
        waits=np.ones(jobs, dtype=np.bool_),
        value=np.zeros((clusters, slots + 1, profiles)),
        best=np.zeros((clusters, slots, types, profiles), dtype=np.int8),
        ranked=np.zeros((clusters, slots, jobs), dtype=np.int64),
        ready=np.zeros((clusters, slots, types), dtype=np.int64),
        stage=np.zeros((types + 1, profiles)),
        reduced=np.zeros(jobs),
    )


@kernel
def rank(j: int, t: int, price: FloatArray, part: Program, paths: Paths) -> None:
    """Sort the waiting jobs of each type that are worth starting by reduced cost."""
    reduced = paths.reduced
    ranked = paths.ranked[j, t]
    cost = part.cost[j, t]
    for a in range(len(part.first) - 1):
        begin = part.first[a]
        end = begin
        for i in range(begin, part.first[a + 1]):
            gain = cost[i] - price[i]
            if gain < 0.0 and paths.waits[i]:
                at = end
                while at > begin and reduced[at - 1] > gain:
                    reduced[at] = reduced[at - 1]
                    ranked[at] = ranked[at - 1]
                    at -= 1
                reduced[at] = gain
                ranked[at] = i
                end += 1
        paths.ready[j, t, a] = end - begin


@kernel
def find_paths(begin: int, price: FloatArray, part: Program, paths: Paths) -> None:
    """Fill the shortest paths from each slot from `begin` on, of profiles that others leave room for."""
    step = part.step
    later = part.later
    reduced = paths.reduced
    for j in range(len(part.cost)):
        for t in range(part.cost.shape[1] - 1, begin - 1, -1):
            rank(j, t, price, part, paths)
            value = paths.value[j, t]
            opened = part.open[j, t]
            for k in range(len(later)):
                if opened[k]:
                    value[k] = paths.value[j, t + 1, later[k]]
            for a in range(len(step) - 1, -1, -1):
                ready = paths.ready[j, t, a]
                first = part.first[a]
                best = paths.best[j, t, a]
                if ready == 0:
                    continue
                for k in range(len(later)):
                    if not opened[k]:
                        continue
                    after = k
                    paid = 0.0
                    least = value[k]
                    count = 0
                    for x in range(ready):
                        after = step[a, after]
                        if after < 0 or not opened[after]:
                            break
                        paid += reduced[first + x]
                        if paid + value[after] < least:
                            least = paid + value[after]
                            count = x + 1
                    value[k] = least
                    best[k] = count


@kernel
def find_stages(j: int, t: int, price: FloatArray, part: Program, paths: Paths) -> None:
    """Fill the values within a slot before the starts of each type, of profiles that others leave room for."""
    step = part.step
    reduced = paths.reduced
    opened = part.open[j, t]
    stage = paths.stage
    rank(j, t, price, part, paths)
    types = len(step)
    for k in range(len(part.later)):
        if opened[k]:
            stage[types, k] = paths.value[j, t + 1, part.later[k]]
    for a in range(types - 1, -1, -1):
        ready = paths.ready[j, t, a]
        first = part.first[a]
        done = stage[a + 1]
        if ready == 0:
            for k in range(len(part.later)):
                stage[a, k] = done[k]
            continue
        for k in range(len(part.later)):
            if not opened[k]:
                continue
            after = k
            paid = 0.0
            least = done[k]
            for x in range(ready):
                after = step[a, after]
                if after < 0 or not opened[after]:
                    break
                paid += reduced[first + x]
                least = min(least, paid + done[after])
            stage[a, k] = least


@kernel
def follow(j: int, begin: int, profile: int, part: Program, paths: Paths, slope: FloatArray) -> None:
    """Subtract from `slope` how often the shortest path from a profile starts each job."""
    k = profile
    for t in range(begin, part.cost.shape[1]):
        for a in range(len(part.step)):
            if paths.ready[j, t, a] > 0:
                for x in range(paths.best[j, t, a, k]):
                    slope[paths.ranked[j, t, part.first[a] + x]] -= 1.0
                    k = part.step[a, k]
        k = part.later[k]


@kernel
def evaluate(
    t: int, passed: int, price: FloatArray, sample: IntArray, part: Program, paths: Paths, st: States, slope: FloatArray
) -> float:
    """Return the mean bound of some states, see `value_states`; fill `slope` with its subgradient."""
    find_paths(t, price, part, paths)
    value = 0.0
    slope[:] = 0.0
    for s in sample:
        value += st.cost[s]
        for i in range(len(price)):
            if st.start[s, i] < 0:
                if part.last[i] >= t:
                    value += price[i]
                    slope[i] += 1.0
                else:
                    value += part.rejection_cost
        for j in range(len(part.cost)):
            begin = t
            profile = st.profile[s, j]
            if j < passed:
                begin = t + 1
                profile = part.later[profile]
            value += paths.value[j, begin, profile]
            follow(j, begin, profile, part, paths, slope)
    slope /= len(sample)
    return value / len(sample)

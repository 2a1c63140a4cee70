"""Units that slots give to jobs, and the paths along which a slot can give more.

A path goes from a slot to a job that can take more in it, on to another slot that serves this job
and so becomes free of it, and so on to a job that lacks units. Units sent along it raise what the
first slot gives, and leave what the others give.

References
----------
Dinic (1970), "Algorithm for solution of a problem of maximum flow in networks with power estimation".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.algorithms.kernel import kernel
from carbonopt.algorithms.network import Network
from carbonopt.core.arrays import BoolArray, IntArray


class Flow(NamedTuple):
    """Units on their way, and what the search for paths remembers.

    Attributes
    ----------
    units
        Units on each edge, shape (E,).
    load
        Units that each slot gives, shape (T,).
    lacking
        Units that each job still needs, shape (N,).
    dead_slot, dead_job
        Whether a path from here is known not to exist, shapes (T,) and (N,). Later paths avoid the
        dead, so their units never change, so the dead stay dead.
    queue, slot_level, job_level, slot_next, job_next, slot_via, job_via
        Work space of a search: slots to visit, distances, the next edge to try of each slot and job,
        and the edge that leads to each on the current path.
    """

    units: IntArray
    load: IntArray
    lacking: IntArray
    dead_slot: BoolArray
    dead_job: BoolArray
    queue: IntArray
    slot_level: IntArray
    job_level: IntArray
    slot_next: IntArray
    job_next: IntArray
    slot_via: IntArray
    job_via: IntArray


def empty_flow(network: Network) -> Flow:
    """Return the flow in which no slot serves a job."""
    slots = len(network.capacity)
    jobs = len(network.demand)
    edges = len(network.edge_job)
    units, load, lacking = (np.zeros(count, dtype=np.int64) for count in (edges, slots, jobs))
    lacking += network.demand
    dead = np.zeros(slots, dtype=np.bool_), np.zeros(jobs, dtype=np.bool_)
    work = (np.zeros(count, dtype=np.int64) for count in (slots, slots, jobs, slots, jobs, slots, jobs))
    return Flow(units, load, lacking, *dead, *work)


@kernel
def find_levels(slot: int, base: int, net: Network, flow: Flow) -> int:
    """Give slots and jobs their distance from `slot`, up to the nearest job that lacks units.

    Breadth first: a slot of level k reaches at level k the jobs that can take more in it, a job that
    lacks nothing reaches at level k + 1 the slots that serve it. Levels start at `base`, above those
    of all searches before, so that nothing must be cleared. O(E).

    Returns the level of the nearest job that lacks units. If there is none, returns -1 and marks all
    that was reached as dead, so that all searches that fail take O(E) together.
    """
    flow.queue[0] = slot
    flow.slot_level[slot] = base
    flow.slot_next[slot] = net.slot_first[slot]
    head, tail = 0, 1
    while head < tail:
        t = flow.queue[head]
        head += 1
        edges = net.slot_edge[net.slot_first[t] : net.slot_first[t + 1]]
        for e in edges:  # looked through first, since most searches end here
            j = net.edge_job[e]
            if flow.lacking[j] > 0 and flow.units[e] < net.per_slot[j]:
                return int(flow.slot_level[t])
        for e in edges:
            j = net.edge_job[e]
            if flow.job_level[j] >= base or flow.dead_job[j] or flow.units[e] >= net.per_slot[j]:
                continue
            flow.job_level[j] = flow.slot_level[t]
            flow.job_next[j] = net.job_first[j]
            for f in range(net.job_first[j], net.job_first[j + 1]):
                other = net.edge_slot[f]
                if flow.units[f] > 0 and flow.slot_level[other] < base and not flow.dead_slot[other]:
                    flow.slot_level[other] = flow.slot_level[t] + 1
                    flow.slot_next[other] = net.slot_first[other]
                    flow.queue[tail] = other
                    tail += 1
    for t in flow.queue[:tail]:
        flow.dead_slot[t] = True
        for e in net.slot_edge[net.slot_first[t] : net.slot_first[t + 1]]:
            if flow.job_level[net.edge_job[e]] >= base:
                flow.dead_job[net.edge_job[e]] = True
    return -1


@kernel
def fill_levels(slot: int, last: int, most: int, net: Network, flow: Flow) -> int:
    """Send up to `most` units from `slot` along all shortest paths, which end at level `last`.

    Depth first, a level at each step; an edge that led nowhere is not tried again. Returns how many
    units were sent.
    """
    sent, t = 0, slot
    while sent < most:
        while flow.slot_next[t] < net.slot_first[t + 1]:  # look for an edge out of slot t that leads on
            e = net.slot_edge[flow.slot_next[t]]
            j = net.edge_job[e]
            if flow.units[e] < net.per_slot[j]:
                if flow.slot_level[t] == last:
                    if flow.lacking[j] > 0:
                        break
                elif flow.job_level[j] == flow.slot_level[t]:
                    f = flow.job_next[j]
                    end = net.job_first[j + 1]
                    level = flow.job_level[j] + 1
                    while f < end and (flow.units[f] == 0 or flow.slot_level[net.edge_slot[f]] != level):
                        f += 1
                    flow.job_next[j] = f
                    if f < end:
                        break
            flow.slot_next[t] += 1
        if flow.slot_next[t] == net.slot_first[t + 1]:  # there is none: a step back
            if t == slot:
                break
            j = net.edge_job[flow.slot_via[t]]
            flow.job_next[j] += 1
            t = net.edge_slot[flow.job_via[j]]
            continue
        e = net.slot_edge[flow.slot_next[t]]
        j = net.edge_job[e]
        flow.job_via[j] = e
        if flow.slot_level[t] < last:  # a step on
            f = flow.job_next[j]
            t = net.edge_slot[f]
            flow.slot_via[t] = f
            continue
        served, amount = j, min(most - sent, flow.lacking[j])  # the path is complete
        while True:
            e = flow.job_via[j]
            amount = min(amount, net.per_slot[j] - flow.units[e])
            if net.edge_slot[e] == slot:
                break
            f = flow.slot_via[net.edge_slot[e]]
            amount = min(amount, flow.units[f])
            j = net.edge_job[f]
        j, t = served, slot
        while True:
            e = flow.job_via[j]
            flow.units[e] += amount
            if net.edge_slot[e] == slot:
                break
            f = flow.slot_via[net.edge_slot[e]]
            flow.units[f] -= amount
            j = net.edge_job[f]
        flow.lacking[served] -= amount
        flow.load[slot] += amount
        sent += amount
    return int(sent)

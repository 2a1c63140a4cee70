"""Independence oracle of slots that serve jobs, and the proof that some jobs cannot all be served."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from carbonopt.algorithms.flow import empty_flow, fill_levels, find_levels
from carbonopt.algorithms.network import Network
from carbonopt.algorithms.polymatroid import UNLIMITED
from carbonopt.core.arrays import BoolArray, IntArray, frozen_int


@dataclass(frozen=True)
class Violator:
    """Jobs that need more than all slots can give them (Hall's condition, violated).

    In the slots listed the jobs get no more than those hold, elsewhere no more than each takes in a
    slot: `demand` > `supply` proves that the jobs cannot all be served.

    Parameters
    ----------
    jobs, slots
        0-based, in increasing order; there may be no slots.
    demand
        Units that the jobs need.
    supply
        Capacity of the slots, plus what the jobs could take in all other slots that they allow.
    """

    jobs: IntArray
    slots: IntArray
    demand: int
    supply: int


class TransversalOracle:
    """Slots that serve jobs: x is independent if slot t can give x[t] units, for all t at once.

    The elements are the slots of a network (`network.Network`). The rank of a set A of slots is a
    maximum flow from them, which equals a minimum cut: over all sets J of jobs, the least

        demand(J) + sum over t in A of min(capacity_t, sum of per_slot_j over the other jobs that allow t).

    That the slot loads of flows are a polymatroid is due to Megiddo (1974), "Optimal flows in networks
    with multiple sources and sinks", Mathematical Programming 7, 97-107.

    Parameters
    ----------
    network
        From `network.window_network` or `network.set_network`.

    Notes
    -----
    The flow is kept and augmented from one slot at a time by Dinic's algorithm: all shortest paths
    at once, O(E) to find them. Most go straight from the slot to a job that needs units. Slots and
    jobs from which a search failed are never searched again, so failures take O(E) in all.

    Examples
    --------
    Three jobs of two units share two slots of two units.

    >>> from carbonopt.algorithms.network import window_network
    >>> oracle = TransversalOracle(window_network([2, 2, 9], [2, 2, 2], start=[0, 0, 0], end=[2, 2, 2], per_slot=2))
    >>> oracle.add(0, 5), oracle.add(1), oracle.can_add(1), oracle.can_add(2)
    (2, 1, True, False)
    >>> oracle.violator()
    Violator(jobs=array([0, 1, 2]), slots=array([0, 1]), demand=6, supply=4)
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self._flow = empty_flow(network)
        self._base = 0

    @property
    def x(self) -> IntArray:
        """The current independent vector: units that each slot gives, shape (T,)."""
        return self._flow.load

    @property
    def lacking(self) -> IntArray:
        """Units that each job still needs, shape (N,)."""
        return self._flow.lacking

    @property
    def units(self) -> IntArray:
        """Units on each edge (``network.edge_job``, ``network.edge_slot``), shape (E,)."""
        return self._flow.units

    def can_add(self, element: int) -> bool:
        """Return whether slot `element` has room and a path to a job that needs units."""
        return self._level(element) >= 0

    def add(self, element: int, most: int = 1) -> int:
        """Raise x[element] along augmenting paths by `most` units at most; return by how many."""
        before = int(self.x[element])
        goal = min(before + most, int(self.network.capacity[element]))
        while self.x[element] < goal and (last := self._level(element)) >= 0:
            fill_levels(element, last, goal - int(self.x[element]), self.network, self._flow)
        return int(self.x[element]) - before

    def rank(self, subset: npt.ArrayLike) -> int:
        """Return the maximum flow out of the slots listed in `subset`."""
        inside = np.zeros_like(self.network.capacity)
        inside[np.asarray(subset, dtype=np.int64)] = 1
        return int(self._full(self.network.capacity * inside).x.sum())

    def independent(self, x: npt.ArrayLike) -> bool:
        """Return whether each slot t can give x[t] units, `x` of shape (T,)."""
        vector = np.asarray(x)
        if (vector < 0).any() or (vector > self.network.capacity).any():
            return False
        return bool((self._full(vector).x == vector).all())

    def violator(self) -> Violator | None:
        """Return jobs that cannot all be served, with the proof; None if all jobs of the network can.

        `demand` - `supply` is the total that a maximum flow leaves out, and the set is the same for every
        maximum flow: all jobs and slots from which a unit could be handed on to a job that lacks one.
        """
        short = _Shortage(self._full(self.network.capacity))
        return short.violator(short.jobs, short.slots) if short.jobs.any() else None

    def violators(self) -> tuple[Violator, ...]:
        """Return the same proof cut into its connected parts, each of which is a proof by itself."""
        return _Shortage(self._full(self.network.capacity)).parts()

    def _level(self, slot: int) -> int:
        """Return the level at which the shortest augmenting paths from `slot` end, -1 if there is none."""
        if self._flow.dead_slot[slot] or self.x[slot] >= self.network.capacity[slot]:
            return -1
        self._base += len(self.x) + 1
        return find_levels(slot, self._base, self.network, self._flow)

    def _full(self, capacity: IntArray) -> TransversalOracle:
        """Return another oracle at a base, with other capacities."""
        other = TransversalOracle(self.network._replace(capacity=frozen_int(capacity, "x")))
        for slot in range(len(capacity)):
            other.add(slot, UNLIMITED)
        return other


class _Shortage:
    """The sink side of a minimum cut: jobs and slots with a path to a job that lacks units."""

    def __init__(self, full: TransversalOracle) -> None:
        self.network = net = full.network
        can_take = full.units < net.per_slot[net.edge_job]
        self.jobs: BoolArray = full.lacking > 0
        self.slots: BoolArray = np.zeros(len(net.capacity), dtype=np.bool_)
        reached = -1
        while reached < (reached := int(self.jobs.sum())):
            self.slots[net.edge_slot[can_take & self.jobs[net.edge_job]]] = True
            self.jobs[net.edge_job[(full.units > 0) & self.slots[net.edge_slot]]] = True

    def violator(self, jobs: BoolArray, slots: BoolArray) -> Violator:
        """Return the proof for some of the jobs and slots."""
        net = self.network
        elsewhere = jobs[net.edge_job] & ~slots[net.edge_slot]
        supply = net.capacity[slots].sum() + net.per_slot[net.edge_job[elsewhere]].sum()
        return Violator(np.flatnonzero(jobs), np.flatnonzero(slots), int(net.demand[jobs].sum()), int(supply))

    def parts(self) -> tuple[Violator, ...]:
        """Return one proof for each set of jobs and slots that edges connect."""
        net = self.network
        count = len(self.jobs)
        inside = self.jobs[net.edge_job] & self.slots[net.edge_slot]
        ends = net.edge_job[inside], count + net.edge_slot[inside]
        nodes = count + len(self.slots)
        _, part = connected_components(coo_array((np.ones(len(ends[0])), ends), shape=(nodes, nodes)), directed=False)
        of_job = part[:count]
        of_slot = part[count:]
        found = (
            self.violator(self.jobs & (of_job == label), self.slots & (of_slot == label))
            for label in np.unique(of_job[self.jobs])
        )
        return tuple(found)

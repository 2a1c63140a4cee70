"""The same greedy from textbook parts: ranks by networkx, no flow kept. Slow, short, and independent."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from carbonopt.algorithms.network import Network
from carbonopt.algorithms.polymatroid import Allocation


def maximum_flow_rank(network: Network, subset: npt.ArrayLike) -> int:
    """Return the rank of the slots listed in `subset`: the maximum flow from them to the jobs.

    Needs networkx.

    Examples
    --------
    >>> from carbonopt.algorithms.network import window_network
    >>> network = window_network([2, 2, 9], [2, 2, 2], start=[0, 0, 0], end=[2, 2, 2], per_slot=2)
    >>> maximum_flow_rank(network, [0, 2]), maximum_flow_rank(network, [0, 1, 2])
    (2, 4)
    """
    import networkx as nx  # a reference that nothing else needs

    graph: Any = nx.DiGraph()
    graph.add_nodes_from(["source", "sink"])
    for slot in np.unique(np.asarray(subset, dtype=np.int64)).tolist():
        graph.add_edge("source", ("slot", slot), capacity=int(network.capacity[slot]))
    for job, units in enumerate(network.demand.tolist()):
        graph.add_edge(("job", job), "sink", capacity=units)
    for job, slot in zip(network.edge_job.tolist(), network.edge_slot.tolist(), strict=True):
        graph.add_edge(("slot", slot), ("job", job), capacity=int(network.per_slot[job]))
    return int(nx.maximum_flow_value(graph, "source", "sink"))


def networkx_greedy(cost: npt.ArrayLike, network: Network, target: int | None = None) -> Allocation:
    """Return what `polymatroid.greedy` returns, for one cost a slot, shape (T,).

    After the cheapest k slots the greedy's sum is their rank, so slot k adds the rank's increase
    (Edmonds 1970); a target cuts the rank.
    """
    prices = np.asarray(cost, dtype=np.float64)
    x = np.zeros(len(network.capacity), dtype=np.int64)
    order, before = np.argsort(prices, kind="stable"), 0
    for k, slot in enumerate(order.tolist(), start=1):
        rank = maximum_flow_rank(network, order[:k])
        after = rank if target is None else min(rank, target)
        x[slot], before = after - before, after
    return Allocation(x, float(prices @ x), target is None or before == target)

"""Method `polymatroid-greedy`: exact where every unit of every job does the same for the same energy.

If each server does one slot of work for the same energy, only the number of servers in each slot costs
anything. The loads that let all jobs complete are the bases of an integer polymatroid (a flow from
slots to jobs), and a separable cost over it is minimised slot by slot, cleanest first (Federgruen and
Groenevelt, Operations Research 34, 1986). A minimum cut proves infeasibility.
"""

from __future__ import annotations

import numpy as np

from carbonopt.algorithms.kernel import loops
from carbonopt.algorithms.network import Network, window_network
from carbonopt.algorithms.polymatroid import greedy
from carbonopt.algorithms.transversal import TransversalOracle
from carbonopt.core.arrays import FloatArray
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.options import Options
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.data.schedule import integer_schedule
from carbonopt.problems.elastic.methods.bounds import shortage

EQUAL = 1e-12
"""Relative difference up to which two energies are the same."""


def polymatroid_greedy(instance: ElasticInstance, options: Options) -> Outcome:  # noqa: ARG001
    """Fill the cleanest slots first, as far as some assignment to jobs allows."""
    kwh = require_unit_gain(instance)
    network = network_of(instance)
    oracle = TransversalOracle(network)
    with loops(steps=len(network.edge_job) * len(network.capacity)):
        return _fill(instance, network, oracle, instance.intensity * kwh)


def _fill(instance: ElasticInstance, network: Network, oracle: TransversalOracle, cost: FloatArray) -> Outcome:
    """Return the schedule of least cost [g per server and slot, shape (T,)], or the proof that there is none."""
    found = greedy(cost, oracle, target=int(network.demand.sum()))
    if not found.reached:
        violator = oracle.violator()
        assert violator is not None
        prices = np.zeros(instance.time.slots)
        work_prices = np.zeros(len(instance.jobs))
        prices[violator.slots] = 1.0
        work_prices[violator.jobs] = 1.0
        lacking = float(violator.demand - violator.supply)
        return Outcome(Status.INFEASIBLE, certificate=shortage(prices, work_prices, lacking))
    used = np.flatnonzero(oracle.units)
    job = network.edge_job[used]
    slot = network.edge_slot[used]
    servers = oracle.units[used]
    schedule = integer_schedule(instance, job, slot, servers)
    if instance.model == "fluid":
        schedule["share"] = [1.0] * len(used)
    return Outcome(Status.OPTIMAL, schedule, float(found.cost))


def network_of(instance: ElasticInstance) -> Network:
    """Return the flow network of a unit-gain instance: slots, jobs, and at most k_max units between them."""
    jobs = instance.jobs
    most = instance.units.count[instance.profile_of_job]
    capacity = np.floor(instance.cluster.limit).astype(np.int64)
    return window_network(capacity, jobs.whole_slots, jobs.arrival, jobs.window_end, most)


def require_unit_gain(instance: ElasticInstance) -> float:
    """Return the energy of a server in a slot [kWh], the same for all.

    Raises
    ------
    UnsupportedError
        If the instance is not of unit gain; the message says why.
    """
    units = instance.units
    needs = "polymatroid-greedy needs unit gain: "
    used = np.unique(instance.profile_of_job)
    exists = np.arange(units.gain.shape[1])[None, :] < units.count[used, None]
    gain = units.gain[used][exists]
    kwh = units.kwh[used][exists]
    if (units.servers[used, 0] != 1).any():
        raise UnsupportedError(f"{needs}every k_min must be 1")
    if (gain != 1).any():
        raise UnsupportedError(f"{needs}every marginal throughput must be 1, one is {gain.min():g}")
    if kwh.size and kwh.max() - kwh.min() > EQUAL * kwh.max():
        raise UnsupportedError(
            f"{needs}every unit must take the same energy, they take {kwh.min():g}-{kwh.max():g} kWh"
        )
    if (np.abs(instance.jobs.length - instance.jobs.whole_slots) > 1e-9 * instance.jobs.length).any():
        raise UnsupportedError(f"{needs}every length must be a whole number of slots")
    if instance.model == "fluid" and (instance.cluster.capacity != np.floor(instance.cluster.capacity)).any():
        raise UnsupportedError(f"{needs}in the fluid model every capacity must be a whole number")
    return float(kwh.max(initial=0.0))

"""Small random polymatroids, and what their definitions say of them."""

import itertools

import numpy as np

from carbonopt.algorithms.laminar import LaminarOracle, UniformOracle
from carbonopt.algorithms.network import set_network
from carbonopt.algorithms.transversal import TransversalOracle

KINDS = ("uniform", "laminar", "transversal")


def random_network(rng, slots=4, jobs=4):
    """Return a network of jobs that allow any slots, some of them none."""
    allowed = [np.flatnonzero(rng.random(slots) < 0.6) for _ in range(jobs)]
    return set_network(rng.integers(0, 4, slots), rng.integers(0, 5, jobs), allowed, rng.integers(0, 3, jobs))


def random_oracle(kind, seed):
    """Return an oracle on four elements whose vectors have entries of 0 to 3."""
    rng = np.random.default_rng(seed)
    if kind == "uniform":
        return UniformOracle(rng.integers(0, 4, 4), int(rng.integers(0, 9)))
    if kind == "laminar":
        sets = [[t] for t in range(4)] + [[0, 1], [2, 3], [0, 1, 2, 3]]
        return LaminarOracle(
            4, sets, np.concatenate((rng.integers(0, 4, 4), rng.integers(0, 6, 2), [rng.integers(10)]))
        )
    return TransversalOracle(random_network(rng))


def all_subsets(size):
    """Yield every subset of the elements."""
    for count in range(size + 1):
        yield from itertools.combinations(range(size), count)


def independent_vectors(oracle, largest=3):
    """Return every independent vector, one a row."""
    box = itertools.product(range(largest + 1), repeat=len(oracle.x))
    return np.array([x for x in box if oracle.independent(x)])


def rank_by_cuts(network, subset):
    """Return the least cut over all sets of jobs, by the formula of `TransversalOracle`."""
    least = []
    for jobs in all_subsets(len(network.demand)):
        outside = ~np.isin(network.edge_job, jobs)
        others = np.bincount(
            network.edge_slot[outside],
            weights=network.per_slot[network.edge_job[outside]],
            minlength=len(network.capacity),
        )
        served = np.minimum(network.capacity, others)[list(subset)].sum()
        least.append(network.demand[list(jobs)].sum() + served)
    return int(min(least))

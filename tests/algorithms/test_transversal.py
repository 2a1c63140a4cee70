import numpy as np
import pytest
from algorithms_support import all_subsets, random_network, rank_by_cuts
from conftest import ROOT, load_module

from carbonopt.algorithms.kernel import loops
from carbonopt.algorithms.network import window_network
from carbonopt.algorithms.polymatroid import greedy
from carbonopt.algorithms.transversal import TransversalOracle

reference = load_module(ROOT / "tests/reference/networkx_greedy.py")


def medium_network(seed, capacity=8):
    """Return 40 jobs with windows among 30 slots."""
    rng = np.random.default_rng(seed)
    demand = rng.integers(1, 12, 40)
    width = np.minimum(demand + rng.integers(0, 8, 40), 30)
    start = rng.integers(0, 31 - width)
    return window_network(np.full(30, capacity), demand, start, start + width, rng.integers(1, 5, 40))


def assert_valid(oracle):
    """Check that the flow keeps every limit and gives what x says."""
    net = oracle.network
    assert (oracle.units >= 0).all()
    assert (oracle.units <= net.per_slot[net.edge_job]).all()
    assert np.array_equal(np.bincount(net.edge_slot, oracle.units, len(net.capacity)), oracle.x)
    assert np.array_equal(net.demand - np.bincount(net.edge_job, oracle.units, len(net.demand)), oracle.lacking)
    assert (oracle.x <= net.capacity).all()
    assert (oracle.lacking >= 0).all()


@pytest.mark.parametrize("seed", range(20))
def test_rank_is_the_maximum_flow_and_the_minimum_cut(seed):
    network = random_network(np.random.default_rng(seed))
    oracle = TransversalOracle(network)
    for subset in all_subsets(4):
        assert oracle.rank(subset) == reference.maximum_flow_rank(network, subset) == rank_by_cuts(network, subset)
    assert oracle.x.sum() == 0  # asking leaves the vector as it was


@pytest.mark.parametrize("capacity", [6, 8, 10])
@pytest.mark.parametrize("seed", range(3))
def test_greedy_is_that_of_the_reference(seed, capacity):
    network = medium_network(seed, capacity)
    cost = np.random.default_rng(seed).random(30)
    for target in (100, int(network.demand.sum())):
        oracle = TransversalOracle(network)
        ours, theirs = greedy(cost, oracle, target), reference.networkx_greedy(cost, network, target)
        assert ours.x.tolist() == theirs.x.tolist()
        assert ours.cost == pytest.approx(theirs.cost)
        assert ours.reached == theirs.reached
        assert_valid(oracle)


@pytest.mark.parametrize("seed", range(4))
def test_compiled_and_plain_loops_do_the_same(seed):
    units = []
    for steps in (0, 10**12):
        with loops(steps):
            oracle = TransversalOracle(medium_network(seed))
            greedy(np.random.default_rng(seed).random(30), oracle)
        assert_valid(oracle)
        units.append(oracle.units.tolist())
    assert units[0] == units[1]


def test_raising_in_any_order_keeps_the_flow_valid():
    for seed in range(10):
        oracle, rng = TransversalOracle(medium_network(seed, capacity=7)), np.random.default_rng(seed)
        for slot in rng.integers(0, 30, 100).tolist():
            possible = oracle.can_add(slot)
            assert (oracle.add(slot, int(rng.integers(1, 4))) > 0) == possible
            assert_valid(oracle)
        assert oracle.independent(oracle.x)


@pytest.mark.parametrize("seed", range(30))
def test_a_violator_is_found_exactly_where_jobs_cannot_be_served(seed):
    network = random_network(np.random.default_rng(seed), slots=5, jobs=5)
    oracle = TransversalOracle(network)
    whole, parts = oracle.violator(), oracle.violators()
    left_out = network.demand.sum() - reference.maximum_flow_rank(network, range(5))
    assert (whole is None) == (left_out == 0) == (parts == ())
    if whole is None:
        return
    for proof in (whole, *parts):
        window = [set(network.edge_slot[network.edge_job == j].tolist()) - set(proof.slots) for j in proof.jobs]
        elsewhere = sum(len(slots) * network.per_slot[j] for j, slots in zip(proof.jobs, window, strict=True))
        assert proof.demand == network.demand[proof.jobs].sum()
        assert proof.supply == network.capacity[proof.slots].sum() + elsewhere
        assert proof.demand > proof.supply
    assert whole.demand - whole.supply == left_out
    for name in ("jobs", "slots"):
        assert sorted(np.concatenate([getattr(part, name) for part in parts])) == getattr(whole, name).tolist()
    assert sum(part.demand - part.supply for part in parts) == left_out


def test_two_crowds_far_apart_are_two_proofs():
    network = window_network(
        [1] * 6, [1, 1, 1, 2, 2], start=[0, 0, 2, 4, 5], end=[1, 1, 4, 6, 6], per_slot=[1, 1, 1, 2, 1]
    )
    first, second = TransversalOracle(network).violators()
    assert (first.jobs.tolist(), first.slots.tolist(), first.demand, first.supply) == ([0, 1], [0], 2, 1)
    assert (second.jobs.tolist(), second.slots.tolist(), second.demand, second.supply) == ([3, 4], [4, 5], 4, 2)


def test_a_job_too_long_for_its_window_needs_no_slot_for_its_proof():
    proof = TransversalOracle(window_network([9, 9], [5], start=[0], end=[2], per_slot=2)).violator()
    assert proof is not None
    assert (proof.jobs.tolist(), proof.slots.tolist(), proof.demand, proof.supply) == ([0], [], 5, 4)


def test_no_jobs_need_nothing():
    oracle = TransversalOracle(window_network([3, 3], [], [], [], 1))
    assert greedy([1.0, 1.0], oracle, 0).reached
    assert not oracle.can_add(0)
    assert oracle.violator() is None
    assert oracle.violators() == ()

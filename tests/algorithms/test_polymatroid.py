import itertools
import math

import numpy as np
import pytest
from algorithms_support import KINDS, all_subsets, independent_vectors, random_oracle
from loop_support import for_each

from carbonopt.algorithms.laminar import UniformOracle
from carbonopt.algorithms.network import window_network
from carbonopt.algorithms.polymatroid import greedy
from carbonopt.algorithms.transversal import TransversalOracle
from carbonopt.core.errors import InputError


@for_each(seed=range(12))
@pytest.mark.parametrize("kind", KINDS)
def test_rank_is_normalised_monotone_and_submodular(kind, seed):
    oracle = random_oracle(kind, seed)
    rank = {frozenset(subset): oracle.rank(subset) for subset in all_subsets(4)}
    assert rank[frozenset()] == 0
    for a, b in itertools.product(rank, repeat=2):
        assert rank[a] <= rank[a | b]
        assert rank[a] + rank[b] >= rank[a & b] + rank[a | b]


@for_each(seed=range(12))
@pytest.mark.parametrize("kind", KINDS)
def test_independent_vectors_are_those_below_the_rank_of_every_set(kind, seed):
    oracle = random_oracle(kind, seed)
    rank = {subset: oracle.rank(subset) for subset in all_subsets(4)}
    for x in itertools.product(range(4), repeat=4):
        assert oracle.independent(x) == all(sum(x[t] for t in subset) <= rank[subset] for subset in rank)
    vectors = independent_vectors(oracle)
    for subset in rank:
        assert vectors[:, list(subset)].sum(axis=1).max() == rank[subset]
    assert not oracle.independent([-1, 0, 0, 0])


@for_each(seed=range(12))
@pytest.mark.parametrize("kind", KINDS)
def test_the_smaller_of_two_vectors_can_be_raised_towards_the_larger(kind, seed):
    vectors = independent_vectors(random_oracle(kind, seed))
    known = {tuple(x) for x in vectors.tolist()}
    for x, y in itertools.product(vectors[::3], vectors[::5]):
        if x.sum() < y.sum():
            raised = (x + np.eye(4, dtype=int)[t] for t in np.flatnonzero(y > x))
            assert any(tuple(z.tolist()) in known for z in raised)


@for_each(seed=range(12))
@pytest.mark.parametrize("kind", KINDS)
def test_a_unit_can_be_added_exactly_where_the_vector_stays_independent(kind, seed):
    oracle, rng = random_oracle(kind, seed), np.random.default_rng(seed)
    closed: set[int] = set()
    for _ in range(30):
        element, before = int(rng.integers(4)), oracle.x.copy()
        raised = before + np.eye(4, dtype=int)[element]
        possible = oracle.independent(raised)
        assert oracle.can_add(element) == possible
        assert not (possible and element in closed)  # once tight, always tight
        assert oracle.add(element) == int(possible)
        assert oracle.x.tolist() == (raised if possible else before).tolist()
        closed |= set() if possible else {element}


@for_each(seed=range(12))
@pytest.mark.parametrize("kind", KINDS)
def test_many_units_at_once_are_as_many_as_one_by_one(kind, seed):
    bulk, single = random_oracle(kind, seed), random_oracle(kind, seed)
    for element in np.random.default_rng(seed).permutation(4).tolist():
        most = 2 if element % 2 else 99
        assert bulk.add(element, most) == sum(single.add(element) for _ in range(most))
    assert bulk.x.tolist() == single.x.tolist()


@pytest.mark.parametrize("share", [0.5, 1.0])
@for_each(seed=range(12))
@pytest.mark.parametrize("kind", KINDS)
def test_greedy_is_the_cheapest_of_all_vectors_of_the_sum(kind, seed, share):
    rng = np.random.default_rng(100 + seed)
    table = np.sort(rng.integers(-3, 9, (4, 3)), axis=1).astype(float)
    for cost in (table, table[:, 0]):
        oracle = random_oracle(kind, seed)
        vectors = independent_vectors(oracle)
        target = math.ceil(share * vectors.sum(axis=1).max())
        rows = table if cost.ndim == 2 else np.repeat(cost[:, None], 3, axis=1)
        prices = [sum(rows[t, : x[t]].sum() for t in range(4)) for x in vectors if x.sum() == target]
        found = greedy(cost, oracle, target)
        assert found.reached
        assert found.x.sum() == target
        assert oracle.independent(found.x)
        assert found.cost == pytest.approx(min(prices))


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_a_function_and_one_price_an_element_say_the_same(kind):
    prices = np.array([4.0, 1.0, 3.0, 1.0])
    ways = (prices, np.repeat(prices[:, None], 3, axis=1), lambda element, _: prices[element])
    one, *others = (greedy(way, random_oracle(kind, 3)) for way in ways)
    for other in others:
        assert other.cost == one.cost
        assert other.x.tolist() == one.x.tolist()


def test_without_a_target_the_greedy_ends_at_a_base():
    found = greedy([3.0, 1.0, 2.0], UniformOracle(upper=[4, 2, 3], total=7))
    assert found.x.tolist() == [2, 2, 3]
    assert found.cost == 2 * 3 + 2 * 1 + 3 * 2
    assert found.reached


def test_a_target_above_the_rank_is_not_reached():
    for cost in ([1.0, 2.0], [[1.0, 1.0], [2.0, 2.0]]):
        found = greedy(cost, UniformOracle(upper=[2, 2], total=3), target=4)
        assert not found.reached
        assert found.x.tolist() == [2, 1]


def test_the_greedy_goes_on_from_the_vector_of_the_oracle():
    oracle = UniformOracle(upper=[3, 3], total=4)
    oracle.add(0, 2)
    found = greedy([[1.0, 1.0, 5.0], [2.0, 3.0, 4.0]], oracle, target=4)
    assert found.x.tolist() == [2, 2]
    assert found.cost == 2 + 3


# The first two counterexamples to CarbonFlex's algorithm 1 (docs: elastic): one server, one unit a slot.
@pytest.mark.parametrize(("demand", "cost", "least"), [([1, 1], [2.0, 1.0, 4.0], 3.0), ([1, 2], [2.0, 1.0, 1.0], 4.0)])
def test_a_job_gives_way_to_another_in_the_cheap_slot(demand, cost, least):
    oracle = TransversalOracle(window_network([1, 1, 1], demand, start=[0, 1], end=[2, 3], per_slot=1))
    found = greedy(cost, oracle, target=sum(demand))
    assert found.reached
    assert found.cost == least


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        ([1.0], "shape"),
        ([[2.0, 1.0], [1.0, 1.0]], "not fall along a row"),
        ([1.0, math.nan], "finite"),
        ([[1.0], [1.0]], "finite for unit 2, which is needed"),
        (lambda element, units: -units, "must not fall"),
    ],
)
def test_wrong_costs_are_told(cost, message):
    with pytest.raises(InputError, match=message):
        greedy(cost, UniformOracle(upper=[2, 2], total=4))

import pytest

from carbonopt.algorithms.laminar import LaminarOracle, UniformOracle
from carbonopt.core.errors import InputError


def test_nested_bounds_cut_each_other():
    oracle = LaminarOracle(4, [[0], [0, 1], [2, 3], [0, 1, 2, 3]], bounds=[3, 5, 4, 6])
    assert [oracle.rank(subset) for subset in ([0], [1], [0, 1], [2], [0, 2], [0, 1, 2, 3])] == [3, 5, 5, 4, 6, 6]
    assert oracle.rank([]) == 0


def test_a_bound_on_one_element_and_on_all_may_be_the_same_set():
    assert UniformOracle(upper=[5], total=3).rank([0]) == 3


@pytest.mark.parametrize(
    ("sets", "bounds", "message"),
    [
        ([[0, 1], [1, 2]], [1, 1], r"\[0, 1\] and \[1, 2\] cross"),
        ([[0, 1]], [1], "element 2 is in none"),
        ([[0, 1, 2]], [-1], "at least 0"),
        ([[0, 1, 2]], [1.5], "whole number"),
    ],
)
def test_wrong_sets_are_told(sets, bounds, message):
    with pytest.raises(InputError, match=message):
        LaminarOracle(3, sets, bounds)

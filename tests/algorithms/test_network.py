import numpy as np
import pytest

from carbonopt.algorithms.network import set_network, window_network
from carbonopt.core.errors import InputError


def test_windows_are_sets_of_slots():
    windows = window_network([1, 2, 3], demand=[2, 1, 0], start=[0, 1, 2], end=[3, 2, 2], per_slot=1)
    sets = set_network([1, 2, 3], demand=[2, 1, 0], allowed=[[2, 0, 1, 1], [1], []], per_slot=[1, 1, 1])
    for one, other in zip(windows, sets, strict=True):
        assert np.array_equal(one, other)
    assert windows.edge_job.tolist() == [0, 0, 0, 1]
    assert windows.edge_slot.tolist() == [0, 1, 2, 1]
    assert windows.job_first.tolist() == [0, 3, 4, 4]
    assert windows.slot_edge.tolist() == [0, 3, 1, 2]  # in slot 1, job 1 has nothing to spare
    assert windows.slot_first.tolist() == [0, 1, 3, 4]


def test_nothing_is_a_network():
    assert len(window_network([3], [], [], [], 1).edge_job) == 0
    assert len(set_network([], [1], [[]], 1).edge_job) == 0


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"end": [2, 4]}, r"start\[1\] = \[1, 4\): the window must lie within the 3 slots"),
        ({"start": [-1, 1]}, r"start\[0\] = \[-1, 2\)"),
        ({"start": [0, 1, 1]}, "start = 3 entries: must have one entry a job, 2 as demand has"),
        ({"demand": [1, -2]}, r"demand\[1\] = -2: must be at least 0"),
        ({"capacity": [1, 1.5, 1]}, r"capacity\[1\] = 1.5: must be a whole number"),
        ({"per_slot": [1, 1, 1]}, "per_slot = 3 entries"),
    ],
)
def test_wrong_numbers_are_told(changed, message):
    good = {"capacity": [1, 1, 1], "demand": [1, 1], "start": [0, 1], "end": [2, 3], "per_slot": 1}
    window_network(**good)
    with pytest.raises(InputError, match=message):
        window_network(**good | changed)


def test_slots_that_do_not_exist_are_told():
    with pytest.raises(InputError, match=r"allowed\[1\] = 3: must name slots 0 to 2"):
        set_network([1, 1, 1], [1, 1], [[0], [2, 3]], 1)

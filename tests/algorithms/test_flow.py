import numpy as np
import pytest

from carbonopt.algorithms.flow import empty_flow, fill_levels, find_levels
from carbonopt.algorithms.network import window_network


@pytest.mark.parametrize("way", ["function", "machine"])
def test_a_path_moves_a_job_to_another_slot(way):
    """Job 0 may use both slots, job 1 only slot 0, which serves job 0 at first."""
    network = window_network([1, 1], demand=[1, 1], start=[0, 0], end=[2, 1], per_slot=1)
    flow = empty_flow(network)
    flow.units[0], flow.load[0], flow.lacking[0] = 1, 1, 0
    find, fill = getattr(find_levels, way), getattr(fill_levels, way)
    assert find(1, 10, network, flow) == 11  # slot 1 -> job 0 -> slot 0 -> job 1
    assert fill(1, 11, 5, network, flow) == 1
    assert flow.units.tolist() == [0, 1, 1]
    assert flow.load.tolist() == [1, 1]
    assert flow.lacking.tolist() == [0, 0]
    assert find(1, 20, network, flow) == -1
    assert flow.dead_slot.tolist() == [False, True]


@pytest.mark.parametrize("way", ["function", "machine"])
def test_as_many_units_are_sent_as_were_asked_for(way):
    network = window_network([9], demand=[3, 4], start=[0, 0], end=[1, 1], per_slot=[2, 9])
    flow = empty_flow(network)
    assert getattr(find_levels, way)(0, 10, network, flow) == 10
    assert getattr(fill_levels, way)(0, 10, 3, network, flow) == 3
    assert flow.lacking.sum() == 4
    assert getattr(fill_levels, way)(0, 10, 9, network, flow) == 3
    assert flow.lacking.tolist() == [1, 0]
    assert np.array_equal(flow.units, [2, 4])

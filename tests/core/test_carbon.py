from datetime import UTC, datetime

import numpy as np
import pytest

from carbonopt import CarbonSignal, InputError, TimeGrid, UnsupportedError
from carbonopt.core.time import format_utc, parse_utc


def test_sums_over_slots_come_from_prefix_sums():
    signal = CarbonSignal(("A", "B"), [[1, 2, 3], [10, 20, 30]], TimeGrid(3))
    assert signal.prefix.tolist() == [[0, 1, 3, 6], [0, 10, 30, 60]]
    assert signal.between("B", 1, 3) == 50
    assert signal.between("A", np.array([0, 1]), np.array([1, 3])).tolist() == [1, 5]


def test_arrays_cannot_be_changed():
    signal = CarbonSignal(("A",), [[1.0, 2.0]], TimeGrid(2))
    with pytest.raises(ValueError, match="read-only"):
        signal.g_per_kwh[0, 0] = 5


def test_every_wrong_value_is_reported_at_once():
    with pytest.raises(InputError) as caught:
        CarbonSignal(("A", "A"), [[1, float("nan")], [-1, 2]], TimeGrid(2))
    assert [(fault.field, fault.row) for fault in caught.value.faults] == [
        ("carbon.zones", 1),
        ("carbon.g_per_kwh[0]", 1),
        ("carbon.g_per_kwh[1]", 0),
    ]


def test_shape_must_be_zones_by_slots():
    with pytest.raises(InputError, match="1 zones x 3 slots"):
        CarbonSignal(("A",), [[1, 2]], TimeGrid(3))


def test_unknown_zone_names_the_known_ones():
    signal = CarbonSignal(("A", "B"), [[1], [2]], TimeGrid(1))
    with pytest.raises(UnsupportedError, match="'C': the signal has 'A' or 'B'"):
        signal.index("C")


def test_time_is_utc():
    grid = TimeGrid(4, 0.5, datetime.fromisoformat("2023-11-14T01:00:00+01:00"))
    assert grid.start == datetime(2023, 11, 14, tzinfo=UTC)
    assert format_utc(grid.slot_start(3)) == "2023-11-14T01:30:00Z"
    assert grid.hours == 2.0
    assert parse_utc("2023-11-14T00:00") == grid.start


@pytest.mark.parametrize("grid", [(0, 1.0), (1, 0.0), (1, float("nan")), (1, float("inf"))])
def test_impossible_time_grids_are_refused(grid):
    with pytest.raises(InputError):
        TimeGrid(*grid)

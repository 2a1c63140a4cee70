"""The synthetic signal: seeded, positive, and close to the real zones in what it promises."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from carbonopt.core.arrays import FloatArray
from carbonopt.core.errors import InputError
from carbonopt.core.time import TimeGrid
from carbonopt.io.carbon import read_carbon
from carbonopt.io.synthetic import STATISTICS, published_zones, synthetic_carbon

DATA = Path(os.environ.get("CARBONOPT_DATA", Path(__file__).parents[3] / "shared" / "data")) / "carbon"

YEAR = TimeGrid(8760, start=datetime(2022, 1, 1, tzinfo=UTC))


def daily_variation(hourly: FloatArray) -> float:
    """Return the mean over days of the coefficient of variation of a day's 24 hours."""
    days = hourly.reshape(-1, 24)
    return float((days.std(axis=1) / days.mean(axis=1)).mean())


def test_ten_zones_are_known() -> None:
    assert len(published_zones()) == 10
    assert {"AU-SA", "CA-ON", "DE", "JP-KN", "US-CAL-CISO"} <= set(published_zones())


def test_the_same_seed_gives_the_same_signal_and_another_seed_another() -> None:
    time = TimeGrid(100)
    first, again, other = (synthetic_carbon(["DE", "GB"], time, seed).g_per_kwh for seed in (3, 3, 4))
    assert_array_equal(first, again)
    assert (first != other).mean() > 0.9


def test_an_hour_does_not_depend_on_the_window_or_on_other_zones() -> None:
    new_year = synthetic_carbon(["PL", "DE"], TimeGrid(48, start=datetime(2022, 12, 31, tzinfo=UTC)), 7)
    alone = synthetic_carbon(["DE"], TimeGrid(30, start=datetime(2022, 12, 31, 12, tzinfo=UTC)), 7)
    assert_array_equal(new_year.g_per_kwh[1, 12:42], alone.g_per_kwh[0])


def test_values_of_a_seed_stay_the_same_from_release_to_release() -> None:
    signal = synthetic_carbon(["CA-ON", "DE"], TimeGrid(3, start=datetime(2023, 11, 14, tzinfo=UTC)), seed=1)
    assert signal.g_per_kwh.tolist() == [[70.0, 79.22, 73.94], [469.8, 529.58, 469.7]]


@pytest.mark.parametrize("zone", published_zones())
def test_a_year_keeps_its_statistics_for_any_seed(zone: str) -> None:
    statistics = STATISTICS[zone]
    for seed in range(5):
        hourly = synthetic_carbon([zone], YEAR, seed).g_per_kwh[0]
        assert_allclose(hourly.mean(), statistics.mean, rtol=1e-3)
        assert 0 < statistics.lowest <= hourly.min() < hourly.max() <= statistics.highest


def test_zones_differ_in_their_noise() -> None:
    first, second = np.log(synthetic_carbon(["US-MIDA-PJM", "US-MIDW-LGEE"], YEAR, 0).g_per_kwh)
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.4


@pytest.mark.parametrize(("slot_hours", "merge"), [(3.0, 3), (24.0, 24)])
def test_longer_slots_are_means_of_hours(slot_hours: float, merge: int) -> None:
    hourly = synthetic_carbon(["AU-SA"], TimeGrid(72), 0).g_per_kwh[0]
    slots = synthetic_carbon(["AU-SA"], TimeGrid(72 // merge, slot_hours), 0).g_per_kwh[0]
    assert_allclose(slots, hourly.reshape(-1, merge).mean(axis=1))


def test_shorter_slots_repeat_the_hour() -> None:
    hourly = synthetic_carbon(["AU-SA"], TimeGrid(5), 0).g_per_kwh[0]
    assert_array_equal(synthetic_carbon(["AU-SA"], TimeGrid(20, 0.25), 0).g_per_kwh[0], np.repeat(hourly, 4))


def test_a_leap_year_has_its_last_day() -> None:
    time = TimeGrid(24, start=datetime(2024, 12, 31, tzinfo=UTC))
    assert synthetic_carbon(["DE"], time, 0).g_per_kwh.shape == (1, 24)


def test_every_unknown_zone_is_named_beside_all_known_ones() -> None:
    with pytest.raises(InputError) as caught:
        synthetic_carbon(["DE", "FR", "XX"], TimeGrid(1), 0)
    assert [(fault.field, fault.row, fault.value) for fault in caught.value.faults] == [
        ("zones", 1, "'FR'"),
        ("zones", 2, "'XX'"),
    ]
    assert all(zone in str(caught.value) for zone in published_zones())


@pytest.mark.parametrize(
    ("zones", "year", "seed"), [([], 2022, 0), (["DE"], 2022, -1), (["DE"], 1650, 0), (["DE"], 9999, 0)]
)
def test_impossible_requests_are_errors(zones: list[str], year: int, seed: int) -> None:
    with pytest.raises(InputError, match="must"):
        synthetic_carbon(zones, TimeGrid(1, start=datetime(year, 12, 31, 23, tzinfo=UTC)), seed)


@pytest.mark.parametrize("zone", published_zones())
def test_mean_and_daily_variation_are_close_to_the_real_year(zone: str) -> None:
    path = DATA / f"{zone}_2022_hourly.csv"
    if not path.exists():
        pytest.skip(f"real data {path.name} is absent: set CARBONOPT_DATA")
    real = read_carbon(path).g_per_kwh[0]
    for seed in range(3):
        made = synthetic_carbon([zone], YEAR, seed).g_per_kwh[0]
        assert_allclose(made.mean(), real.mean(), rtol=0.05)
        assert_allclose(daily_variation(made), daily_variation(real), rtol=0.15)
        assert_allclose(made.std(), real.std(), rtol=0.25)

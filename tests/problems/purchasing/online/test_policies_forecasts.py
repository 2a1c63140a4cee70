"""GAIA's policies with forecasts that look only so far, are wrong, or are of several zones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from policies_support import FLAT, starts
from purchasing_random import by_hand

import carbonopt as co
from carbonopt.core.errors import InputError, UnsupportedError
from carbonopt.simulation import ForecastModel, SignalForecast


def test_a_forecast_misleads_the_plan_and_not_the_account() -> None:
    kg = [9, 9, 1] + [5] * 20
    instance = by_hand(kg, [(0, 1, 1)], wait=6)
    signal = co.CarbonSignal(("A",), [[9, 2] + [5] * 21], co.TimeGrid(23))
    assert starts(instance, "lowest-slot", forecast=signal) == [1.0]
    assert co.simulate(instance, "lowest-slot", forecast=signal).metrics["carbon_kg"] == pytest.approx(9)
    assert starts(instance, "lowest-slot", forecast="window=2") == [0.0]
    assert starts(instance, "lowest-slot", forecast="window=3") == [2.0]
    assert starts(instance, "lowest-slot", forecast=ForecastModel(window_hours=2)) == [0.0]
    assert starts(instance, "lowest-slot", forecast=SignalForecast(instance.intensity, window_hours=2)) == [0.0]
    found = co.simulate(instance, "lowest-slot", forecast="error=0.3,memory=6", seed=5)
    assert found.info["forecast"]["error"] == 0.3
    assert found.columns == co.simulate(instance, "lowest-slot", forecast="error=0.3,memory=6", seed=5).columns


def test_a_forecast_from_a_file(tmp_path: Path) -> None:
    rows = ["issue_time,target_time,carbon_intensity_g_per_kwh"]
    rows += [f"2023-01-01T00:00Z,2023-01-01T{hour:02}:00Z,{value}" for hour, value in enumerate([9, 2, 5, 5])]
    path = tmp_path / "forecast.csv"
    path.write_text("\n".join(rows))
    instance = by_hand([9, 9, 1] + [5] * 20, [(0, 1, 1)], wait=6)
    assert starts(instance, "lowest-slot", forecast=path) == [1.0]
    with pytest.raises(InputError, match="no such file"):
        co.simulate(instance, "lowest-slot", forecast="missing.csv")


def test_ecovisor_compares_what_it_measures_with_what_was_forecast() -> None:
    instance = by_hand([1.0] * 40, [(0, 2, 1)], wait=3.0)
    low = co.CarbonSignal(("A",), [[500.0] * 40], co.TimeGrid(40))
    assert starts(instance, "ecovisor", forecast=low) == [3.0]


def test_forecasts_by_zone() -> None:
    time = co.TimeGrid(23)
    two = co.CarbonSignal(("A", "B"), [FLAT[:23], [9, 9, 1] + [5] * 20], time)
    instance = replace(by_hand(FLAT[:23], [(0, 1, 1)], wait=6), carbon=two, zone="B")
    assert starts(instance, "lowest-slot") == [2.0]
    assert starts(instance, "lowest-slot", forecast=two) == [2.0]
    assert starts(instance, "lowest-slot", forecast={"B": "window=2"}) == [0.0]
    with pytest.raises(UnsupportedError, match="no zone 'B'"):
        co.simulate(instance, "lowest-slot", forecast={"A": "window=2"})
    with pytest.raises(UnsupportedError, match="unknown zone 'B'"):
        co.simulate(instance, "lowest-slot", forecast=co.CarbonSignal(("A",), [FLAT[:23]], time))
    short = co.CarbonSignal(("B",), [[1.0]], co.TimeGrid(1))
    with pytest.raises(UnsupportedError, match="has 1 slots, the instance's signal 23"):
        co.simulate(instance, "lowest-slot", forecast=short)

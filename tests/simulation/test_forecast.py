"""Forecasts: what they see, how far, and that an issue is always the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import carbonopt as co
from carbonopt.core.errors import InputError, UnsupportedError
from carbonopt.io.forecast import read_forecast
from carbonopt.simulation import ErrorForecast, ForecastModel, SignalForecast, StepSignal, TableForecast, parse_forecast

TRUE = np.array([10.0, 20.0, 30.0, 40.0])


def test_a_perfect_forecast_is_the_signal() -> None:
    forecast = SignalForecast(TRUE)
    assert forecast.issued(1).tolist() == [20, 30, 40]
    assert not forecast.revised
    assert forecast.describe() == {"kind": "perfect", "window_hours": None}


def test_a_window_ends_and_its_last_value_goes_on() -> None:
    forecast = SignalForecast(TRUE, slot_hours=0.5, window_hours=1.0)
    assert forecast.issued(1).tolist() == [20, 30]
    assert forecast.revised
    assert forecast.view(1).integral(0.5, 2.0).item() == pytest.approx(10 + 15 + 15)
    assert forecast.view(1, until=2.5).values.tolist() == [20, 30, 20, 30]  # all it has of a day, repeated


def test_errors_grow_with_the_lead_time_and_an_issue_stays_the_same() -> None:
    slots, error, memory = 4000, 0.2, 6.0
    forecast = ErrorForecast(np.full(slots, 100.0), error=error, memory_hours=memory, seed=3)
    issues = np.array([forecast.issued(slot)[:40] for slot in range(slots - 40)])
    assert np.array_equal(issues[7], forecast.issued(7)[:40])
    assert (issues[:, 0] == 100).all()
    assert issues.mean() == pytest.approx(100, rel=0.02)
    spread = np.log(issues / 100).std(axis=0)
    lead = np.arange(40)
    assert spread == pytest.approx(error * np.sqrt(1 - np.exp(-2 * lead / memory)), abs=0.03)
    other = ErrorForecast(np.full(slots, 100.0), error=error, memory_hours=memory, seed=4)
    assert not np.array_equal(other.issued(0), forecast.issued(0))


def test_a_forecast_is_what_its_definition_says() -> None:
    forecast = ErrorForecast(TRUE, error=0.3, memory_hours=2.0, seed=1)
    rho = np.exp(-0.5)
    shocks = np.random.default_rng(1).standard_normal(4) * 0.3 * np.sqrt(1 - rho**2)
    ahead = [0.0]
    for shock in shocks[2:]:
        ahead.append(rho * ahead[-1] + shock)
    variance = 0.3**2 * (1 - rho ** (2 * np.arange(3)))
    assert forecast.issued(1) == pytest.approx(TRUE[1:] * np.exp(np.array(ahead) - variance / 2))


def test_the_latest_issue_of_a_table_counts() -> None:
    forecast = TableForecast({0: [1, 2, 3, 4], 2: [7]}, slots=4)
    assert forecast.issued(1).tolist() == [2, 3, 4]
    assert forecast.issued(2).tolist() == [7]
    assert forecast.issued(3).tolist() == [7]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: TableForecast({1: [1]}, 4), "issued by the beginning of slot 0"),
        (lambda: TableForecast({0: [-1]}, 4), "finite and at least 0"),
        (lambda: ErrorForecast(TRUE, error=-1), "forecast.error = -1"),
        (lambda: SignalForecast(TRUE, window_hours=0.5), "must be at least one slot"),
    ],
)
def test_forecasts_that_are_none(make: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make()


def test_texts() -> None:
    assert parse_forecast("perfect") == ForecastModel()
    assert parse_forecast("error=0.1,memory=6,window=48") == ForecastModel(0.1, 6.0, 48.0)
    assert parse_forecast("some.csv") == ForecastModel(file="some.csv")
    assert parse_forecast("error=0.1,window=48").without_errors() == ForecastModel(window_hours=48.0)
    for text, words in (
        ("errors=1", "'errors': must be 'error'"),
        ("error=x", "must be a number"),
        ("error=-0.1", "forecast error = -0.1: must be at least 0"),
        ("memory=-1", "forecast memory = -1.0: must be at least 0"),
        ("window=0", "forecast window = 0.0: must be above 0"),
        ("window=inf", "forecast window = inf: must be a finite number, above 0"),
    ):
        with pytest.raises(UnsupportedError, match=words):
            parse_forecast(text)


HEADER = "issue_time,target_time,carbon_intensity_g_per_kwh\n"


def written(path: Path, *rows: tuple[str, str, float]) -> Path:
    path.write_text(HEADER + "".join(f"2023-01-0{a},2023-01-0{b},{value}\n" for a, b, value in rows))
    return path


def test_a_file_counts_from_the_first_slot_after_its_issue(tmp_path: Path) -> None:
    path = written(
        tmp_path / "f.csv",
        ("1T00:30Z", "1T02:00Z", 7),
        ("1T00:30Z", "1T01:00Z", 6),
        ("1T00:00Z", "1T00:00Z", 1),
        ("1T00:00Z", "1T01:00Z", 2),
    )
    issues = read_forecast(path, co.TimeGrid(3))[""]
    assert {slot: values.tolist() for slot, values in issues.items()} == {0: [1, 2], 1: [6, 7]}


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([("1T00:00Z", "1T00:00Z", 1), ("1T00:00Z", "1T02:00Z", 1)], "line 3: target_time.*must be slot 1"),
        ([("1T00:00Z", "1T00:10Z", 1)], "line 2: target_time.*must be the beginning of a slot"),
        ([("1T00:00Z", "1T00:00Z", -1)], "line 2: carbon_intensity_g_per_kwh.*at least 0"),
        ([("1T01:00Z", "1T01:00Z", 1)], "issued by the beginning of slot 0"),
        ([("xx", "1T01:00Z", 1)], "line 2: issue_time.*must be an ISO 8601 time"),
    ],
)
def test_files_that_are_none(tmp_path: Path, rows: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_forecast(written(tmp_path / "f.csv", *rows), co.TimeGrid(3))


def test_integrals_keep_their_digits_in_a_long_signal() -> None:
    values = np.random.default_rng(0).uniform(50, 300, 100_000)
    values[60_000:60_010] = values[70_000:70_010] = 123.456
    signal = StepSignal(values)
    first, second = (signal.integral(start + 0.1, start + 0.2).item() for start in (60_003.0, 70_005.0))
    assert first == pytest.approx(12.3456, rel=1e-10)
    whole = [signal.integral(start, start + 8).item() for start in (60_001.0, 70_001.0)]
    assert whole[0] == pytest.approx(whole[1], rel=1e-15)
    assert second == pytest.approx(first, rel=1e-9)

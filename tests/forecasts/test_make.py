"""Forecasts that are made: hand-checked, blind to the future, and as spread as past errors were."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import carbonopt as co
from carbonopt.core.errors import CarbonoptError
from carbonopt.forecasts import (
    ForecastArchive,
    Persistence,
    Predictor,
    SeasonalAR,
    SeasonalNaive,
    bootstrap,
    make_archive,
)


def signal(values: Any) -> co.CarbonSignal:
    return co.CarbonSignal(("DE",), [values], co.TimeGrid(slots=len(values)))


def drawn(slots: int, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    hours = np.arange(slots)
    shocks = random.normal(0, 5, slots)
    drift = [0.0]
    for shock in shocks[1:]:
        drift.append(0.9 * drift[-1] + shock)
    return np.maximum(300 + 80 * np.sin(2 * np.pi * hours / 24) + np.array(drift), 0)


def test_persistence_and_seasons_by_hand() -> None:
    truth = signal([5, 6, 7])
    last = make_archive(truth, "DE", Persistence(), past=[4], horizon=2)
    assert last.g_per_kwh[:, 0].tolist() == [[4, 4], [5, 5], [6, 6]]
    season = make_archive(truth, "DE", SeasonalNaive(2), past=[3, 4], horizon=3, every=2)
    assert season.issued_at.tolist() == [0, 2]
    assert season.g_per_kwh[:, 0].tolist() == [[3, 4, 3], [5, 6, 5]]


def test_an_autoregression_finds_the_rule_of_an_exact_one() -> None:
    series = [100.0, 50.0]
    for _ in range(40):
        series.append(20 + 0.5 * series[-1] + 0.3 * series[-2])
    predicted = SeasonalAR(order=2, seasons=(), window=12).predict(np.array(series[:30]), 12)
    assert predicted == pytest.approx(series[30:42], rel=1e-6)


def test_an_autoregression_repeats_days_and_does_not_run_away() -> None:
    day = 100 + np.arange(24.0) ** 2
    days = np.tile(day, 12)
    rule = SeasonalAR(order=1, seasons=(24,), window=100)
    assert rule.lags.tolist() == [1, 24, 25]
    assert rule.predict(days, 48) == pytest.approx(np.tile(day, 2), rel=1e-6)
    growing = 1.5 ** np.arange(30.0)
    assert SeasonalAR(order=1, seasons=(), window=12).predict(growing, 50).max() == 2 * growing.max()


@pytest.mark.parametrize("rule", [Persistence(), SeasonalNaive(24), SeasonalAR(order=1, seasons=(24,), window=48)])
def test_no_issue_knows_its_future(rule: Predictor) -> None:
    values = drawn(240)
    changed = values.copy()
    changed[170:] = 9.0
    before, after = (
        make_archive(signal(own[120:]), "DE", rule, past=own[:120], horizon=12) for own in (values, changed)
    )
    same = before.issued_at <= 50
    assert np.array_equal(before.g_per_kwh[same], after.g_per_kwh[same])


def test_members_know_no_error_of_their_future() -> None:
    values = drawn(300)
    changed = values.copy()
    changed[250:] = 9.0
    made = []
    for own in (values, changed):
        truth, past = signal(own[200:]), own[:200]
        points = make_archive(truth, "DE", SeasonalNaive(24), past=past, horizon=24, first=-150)
        made.append(bootstrap(points, truth, past=past, members=5, block=8, seed=3))
    same = made[0].issued_at <= 50
    assert same.sum() > 100
    assert np.array_equal(made[0].g_per_kwh[same], made[1].g_per_kwh[same])


def test_a_member_is_the_point_and_the_errors_of_one_past_issue_by_block() -> None:
    truth = signal([14.0, 10, 10])
    points = ForecastArchive("DE", truth.time, [-4, -2, 0], [[[10, 10]], [[10, 10]], [[10, 10]]])
    made = bootstrap(points, truth, past=[11, 12, 13, 14], members=50, block=2, least_errors=2, seed=1)
    assert made.issued_at.tolist() == [0]
    assert {tuple(member) for member in made.g_per_kwh[0].tolist()} == {(11, 12), (13, 14)}  # whole paths
    single = bootstrap(points, truth, past=[11, 12, 13, 14], members=50, block=1, least_errors=2, seed=1)
    assert {tuple(member) for member in single.g_per_kwh[0].tolist()} == {(11, 12), (11, 14), (13, 12), (13, 14)}


def test_the_spread_of_members_grows_as_errors_did_and_keeps_their_autocorrelation() -> None:
    steps = np.random.default_rng(5).normal(0, 1, 4000)
    values = np.maximum(1000 + np.cumsum(steps), 0)  # a random walk: persistence errs by sqrt(lead + 1)
    truth, past = signal(values[3900:]), values[:3900]
    points = make_archive(truth, "DE", Persistence(), past=past, horizon=24, first=-3000)
    made = bootstrap(points, truth, past=past, members=400, block=24, seed=2)
    error = made.g_per_kwh[-1] - points.g_per_kwh[-1]
    assert error.std(axis=0) == pytest.approx(np.sqrt(np.arange(1, 25)), rel=0.2)
    assert np.corrcoef(error[:, 11], error[:, 23])[0, 1] == pytest.approx(np.sqrt(0.5), abs=0.1)


@pytest.mark.parametrize(
    ("do", "words"),
    [
        (lambda: make_archive(signal([1]), "DE", SeasonalNaive(24), past=[1]), "past = 1 slots: must be at least 24"),
        (lambda: make_archive(signal([1]), "DE", Persistence(), past=[np.nan]), "finite and at least 0"),
        (lambda: make_archive(signal([1]), "FR", Persistence(), past=[1]), "unknown zone 'FR'"),
        (lambda: make_archive(signal([1]), "DE", Persistence(), past=[1], horizon=0), "horizon = 0"),
        (
            lambda: make_archive(signal([1]), "DE", Persistence(), past=[1], first=1),
            "first = 1: must be a whole number, at most 0",
        ),
        (lambda: SeasonalNaive(0), "season = 0"),
        (lambda: SeasonalAR(window=5), "window = 5: must be a whole number, at least 21"),
        (lambda: bootstrap(make_archive(signal([1]), "DE", Persistence(), past=[1]), signal([1])), "10 issues whose"),
        (lambda: bootstrap(ForecastArchive("DE", signal([1]).time, [0], [[[1], [1]]]), signal([1])), "point forecasts"),
        (lambda: bootstrap(ForecastArchive("DE", co.TimeGrid(9), [0], [[[1]]]), signal([1])), "slots of the signal"),
    ],
)
def test_what_cannot_be_made(do: Any, words: str) -> None:
    with pytest.raises(CarbonoptError, match=words) as error:
        do()
    assert "\n" not in str(error.value)

"""Scores by lead time, computed by hand and by their definitions."""

from __future__ import annotations

import numpy as np
import pytest

import carbonopt as co
from carbonopt.core.errors import CarbonoptError
from carbonopt.forecasts import ForecastArchive, score

TIME = co.TimeGrid(slots=3, slot_hours=0.5)
TRUTH = co.CarbonSignal(("DE",), [[10, 0, 20]], TIME)


def test_a_point_forecast_by_hand() -> None:
    own = ForecastArchive("DE", TIME, [0, 1], [[[12, 4]], [[6, 15]]])
    table = score(own, TRUTH, quantiles=[0.9])
    assert table.lead_hours.tolist() == [0.5, 1.0]
    assert table.targets.tolist() == [2, 2]
    assert table.mae.tolist() == [4, 4.5]  # |10-12|, |0-6|; |0-4|, |20-15|
    assert table.mape.tolist() == pytest.approx([0.2, 0.25])  # a truth of 0 has no relative error
    assert table["pinball_0.9"].tolist() == pytest.approx([(0.2 + 0.6) / 2, (0.4 + 4.5) / 2])
    assert table.crps.tolist() == table.mae.tolist()


def test_an_ensemble_by_hand() -> None:
    own = ForecastArchive("DE", TIME, [0], [[[8], [10], [15]]])
    row = score(own, TRUTH, quantiles=[0.5]).iloc[0]
    assert row.mae == 1
    assert row["pinball_0.5"] == 0
    assert row.crps == pytest.approx((2 + 0 + 5) / 3 - (2 + 5 + 7) * 2 / (2 * 9))


def test_the_crps_is_its_definition() -> None:
    random = np.random.default_rng(0)
    members = random.uniform(0, 30, (2, 7, 2))
    own = ForecastArchive("DE", TIME, [0, 1], members)
    truth = np.array([[10, 0], [0, 20]])
    pairs = np.abs(members[:, :, None] - members[:, None]).mean(axis=(1, 2))
    expected = np.abs(members - truth[:, None]).mean(axis=1) - pairs / 2
    assert score(own, TRUTH).crps.to_numpy() == pytest.approx(expected.mean(axis=0))


def test_targets_outside_the_signal_do_not_count_unless_the_past_tells_them() -> None:
    own = ForecastArchive("DE", TIME, [-1, 2], [[[1, 1]], [[20, 99]]])
    assert score(own, TRUTH).targets.tolist() == [1, 1]
    table = score(own, TRUTH, past=[3], bins=[2])
    assert (table.lead_hours.tolist(), table.targets.tolist()) == ([1.0], [3])
    assert table.mae.item() == pytest.approx((2 + 9 + 0) / 3)


def test_what_cannot_be_scored() -> None:
    with pytest.raises(CarbonoptError, match="must have a target inside"):
        score(ForecastArchive("DE", TIME, [5], [[[1]]]), TRUTH)
    with pytest.raises(CarbonoptError, match="quantile = 1"):
        score(ForecastArchive("DE", TIME, [0], [[[1]]]), TRUTH, quantiles=[1])
    with pytest.raises(CarbonoptError, match="bins = 2"):
        score(ForecastArchive("DE", TIME, [0], [[[1]]]), TRUTH, bins=[2])
    with pytest.raises(CarbonoptError, match="unknown zone"):
        score(ForecastArchive("FR", TIME, [0], [[[1]]]), TRUTH)

"""What policies do with an archive: the same as with its point forecast, from an object and from a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import carbonopt as co
from carbonopt.core.errors import CarbonoptError
from carbonopt.forecasts import ForecastArchive, SeasonalNaive, make_archive, write_archive

INSTANCE = co.generate("purchasing", jobs=12, arrival_hours=12, seed=3)
ZONE = INSTANCE.zone
TRUTH = INSTANCE.carbon.g_per_kwh[INSTANCE.carbon.index(ZONE)]


def perfect() -> ForecastArchive:
    slots = INSTANCE.time.slots
    values = np.full((slots, 1, slots), np.nan)
    for slot in range(slots):
        values[slot, 0, : slots - slot] = TRUTH[slot:]
    return ForecastArchive(ZONE, INSTANCE.time, np.arange(slots), values)


def test_a_perfect_archive_is_a_perfect_forecast() -> None:
    known = co.simulate(INSTANCE, "carbon-time")
    told = co.simulate(INSTANCE, "carbon-time", forecast=perfect())
    assert told.objective == known.objective
    assert all(np.array_equal(told.columns[name], known.columns[name]) for name in known.columns)


def test_a_file_is_its_archive(tmp_path: Path) -> None:
    own = make_archive(INSTANCE.carbon, ZONE, SeasonalNaive(24), past=TRUTH[:24][::-1], horizon=48)
    path = tmp_path / "archive.csv"
    write_archive(own, path)
    runs = [co.simulate(INSTANCE, "carbon-time", forecast=forecast) for forecast in (own, str(path))]
    assert runs[0].objective == runs[1].objective
    assert runs[0].objective != co.simulate(INSTANCE, "carbon-time").objective


def test_archives_of_something_else() -> None:
    other = ForecastArchive("nowhere", INSTANCE.time, [0], np.ones((1, 1, 2)))
    with pytest.raises(CarbonoptError, match="must be of"):
        co.simulate(INSTANCE, "carbon-time", forecast=other)
    short = ForecastArchive(ZONE, co.TimeGrid(3), [0], np.ones((1, 1, 2)))
    with pytest.raises(CarbonoptError, match="must be of the instance's slots"):
        co.simulate(INSTANCE, "carbon-time", forecast=short)
    late = ForecastArchive(ZONE, INSTANCE.time, [1], np.ones((1, 1, 2)))
    with pytest.raises(CarbonoptError, match="is after the decision"):
        co.simulate(INSTANCE, "carbon-time", forecast=late)

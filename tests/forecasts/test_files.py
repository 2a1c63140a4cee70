"""Archives in files: written and read again, and as four sources publish them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import carbonopt as co
from carbonopt.core.errors import InputError
from carbonopt.forecasts import ForecastArchive, read_archive, write_archive

TIME = co.TimeGrid(slots=3)
HEAD = "issue_time,target_time,carbon_intensity_g_per_kwh,member\n"


def day(hour: int, minute: int = 0) -> str:
    return f"2023-01-01T{hour:02}:{minute:02}:00Z"


def watttime(*issues: tuple[str, list[tuple[str, float]]]) -> dict[str, Any]:
    meta = {"region": "DE", "signal_type": "co2_moer", "units": "lbs_co2_per_mwh"}
    rows = [
        {"generated_at": at, "forecast": [{"point_time": time, "value": value} for time, value in values]}
        for at, values in issues
    ]
    return {"meta": meta, "data": rows}


def file(folder: Path, content: Any, name: str = "DE.json") -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_written_and_read_again(tmp_path: Path) -> None:
    own = ForecastArchive("DE", TIME, [0, 2], [[[0.1, 1e-7, 3], [1, 2, 1e9]], [[7, 7, 7], [8, 8, 8]]])
    path = tmp_path / "archive.csv"
    write_archive(own, path)
    again = read_archive(path, time=TIME, zone="DE")
    assert again.issued_at.tolist() == [0, 2]
    assert again.g_per_kwh.tolist() == own.g_per_kwh.tolist()


def test_all_issues_of_watttime_in_slots(tmp_path: Path) -> None:
    halves = [(day(hour, minute), 1000.0 * (hour + 1) + minute) for hour in range(3) for minute in (0, 30)]
    raw = watttime((day(0), halves), (day(0, 40), halves[2:]), (day(1), [(time, 500) for time, _ in halves[2:]]))
    own = read_archive(file(tmp_path, raw), time=TIME)
    assert (own.zone, own.issued_at.tolist()) == ("DE", [0, 1])  # that of 0:40 is older than that of 1:00
    assert own.g_per_kwh[0, 0] == pytest.approx([x * 0.45359237 for x in (1015, 2015, 3015)])
    assert own.g_per_kwh[1, 0, :2] == pytest.approx([500 * 0.45359237] * 2)
    assert own.lengths.tolist() == [3, 2]


def test_other_sources(tmp_path: Path) -> None:
    maps = {
        "zone": "DE",
        "updatedAt": "2022-12-31T23:10:00Z",
        "forecast": [{"carbonIntensity": value, "datetime": day(hour)} for hour, value in enumerate((3, 4, 5))],
    }
    assert read_archive(file(tmp_path, maps), time=TIME).known(0, 3).tolist() == [[3, 4, 5]]
    neso = {"data": [{"from": day(hour), "intensity": {"forecast": hour, "actual": None}} for hour in range(3)]}
    path = file(tmp_path, neso)
    assert read_archive(path, time=TIME, issued_at=day(0)).known(0, 3).tolist() == [[0, 1, 2]]
    with pytest.raises(InputError, match="issued_at: must be given"):
        read_archive(path, time=TIME)
    rows = "".join(f"{day(hour)},{hour}\n" for hour in range(3))
    cast = file(tmp_path, "datetime,avg_carbon_intensity_forecast\n" + rows, "DE.csv")
    assert read_archive(cast, time=TIME, issued_at=day(1)).issued_at.tolist() == [1]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([(0, 0, 1, "a"), (0, 0, 2, "b"), (0, 1, 2, "b")], "members are of equal length"),
        ([(0, 0, 1, "a"), (0, 0, 1, "b"), (1, 1, 2, "b")], "members are of equal length"),
        ([(0, 0, "nan", "a")], "must be at least 0 g/kWh"),
        ([(0, 0, 1, "a"), (0, 2, 1, "a")], "leaves no gap"),
        ([(1, 1, 1, "a")], "issued by the beginning of slot 0"),
    ],
)
def test_tables_that_are_no_archive(tmp_path: Path, rows: list[tuple[Any, ...]], words: str) -> None:
    lines = "".join(f"{day(issue)},{day(target)},{value},{name}\n" for issue, target, value, name in rows)
    with pytest.raises(InputError, match=words) as error:
        read_archive(file(tmp_path, HEAD + lines, "a.csv"), time=TIME)
    assert str(error.value).startswith(str(tmp_path))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (watttime((day(0), [(day(1), 1), (day(2), 1)])), "forecast.begin"),
        (watttime((day(2), [(day(0), 1), (day(1), 1)])), "ends too early"),
        (watttime((day(0), [])), "without a row"),
        ({"zone": "DE", "history": [{"carbonIntensity": 1, "datetime": day(h)} for h in (0, 1)]}, "must be forecast"),
        ("{", "is not JSON"),
    ],
)
def test_answers_that_are_no_archive(tmp_path: Path, raw: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_archive(file(tmp_path, raw), time=TIME)


def test_zones_and_files_that_are_not_there_or_twice(tmp_path: Path) -> None:
    path = file(tmp_path, watttime((day(0), [(day(0), 1), (day(1), 1)])))
    with pytest.raises(InputError, match="no forecast of 'FR'"):
        read_archive(path, time=TIME, zone="FR")
    with pytest.raises(InputError, match="is a duplicate"):
        read_archive(path, path, time=TIME)
    with pytest.raises(InputError, match="at least one file"):
        read_archive(time=TIME)

"""The one zone of a converter's instance, by the options that all converters share."""

from __future__ import annotations

from pathlib import Path

import pytest

from carbonopt.core.errors import InputError
from carbonopt.io.convert import read_zone


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / "DE.csv", tmp_path / "FR.csv"]
    for path, first in zip(paths, (400, 50), strict=True):
        rows = (f"2023-11-14T0{hour}:00:00Z,{first + hour}\n" for hour in range(3))
        path.write_text("".join(rows))
    return paths


def test_a_zone_from_a_moment_on(files: list[Path]) -> None:
    signal = read_zone(files, "FR", "2023-11-14T01:00:00Z", 2)
    assert (signal.zones, signal.g_per_kwh.tolist()) == (("FR",), [[51.0, 52.0]])
    assert read_zone(files[:1], None, None, 6, 0.5).g_per_kwh.tolist() == [[400.0, 400.0, 401.0, 401.0, 402.0, 402.0]]
    assert read_zone(files[:1], None, None, 4, wrap=True).g_per_kwh.tolist() == [[400.0, 401.0, 402.0, 400.0]]


def test_a_zone_must_be_named_where_there_are_several(files: list[Path]) -> None:
    with pytest.raises(InputError, match="zone: is missing"):
        read_zone(files, None, None, 2)
    with pytest.raises(InputError, match="PL"):
        read_zone(files, "PL", None, 2)
    with pytest.raises(InputError, match="must be an ISO 8601 time"):
        read_zone(files, "DE", "noon", 2)

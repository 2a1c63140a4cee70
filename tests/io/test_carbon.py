"""Carbon signals: three file formats, and slots of any length."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from carbon_support import EXPORT_ROWS, NEW_EXPORT, OLD_EXPORT, PLAIN, hours, write
from numpy.testing import assert_allclose

from carbonopt.core.errors import InputError
from carbonopt.io.carbon import read_carbon, read_series

DATA = Path(os.environ.get("CARBONOPT_DATA", Path(__file__).parents[3] / "shared" / "data")) / "carbon"


def real(name: str) -> Path:
    if not (DATA / name).exists():
        pytest.skip(f"real data {name} is absent: set CARBONOPT_DATA")
    return DATA / name


class TestFormats:
    def test_a_plain_file_holds_several_zones(self, tmp_path: Path) -> None:
        path = write(tmp_path / "two.csv", PLAIN + hours(400, 300, 200) + hours(50, 60, 70, zone="CA-ON"))
        signal = read_carbon(path)
        assert signal.zones == ("DE", "CA-ON")
        assert signal.g_per_kwh.tolist() == [[400, 300, 200], [50, 60, 70]]
        assert signal.time.start == datetime(2022, 1, 1, tzinfo=UTC)
        assert (signal.time.slots, signal.time.slot_hours) == (3, 1.0)

    @pytest.mark.parametrize("header", [OLD_EXPORT, NEW_EXPORT, NEW_EXPORT.upper(), NEW_EXPORT.replace("₂", "2")])
    def test_an_export_of_electricity_maps_holds_both_intensities(self, tmp_path: Path, header: str) -> None:
        path = write(tmp_path / "export.csv", header + EXPORT_ROWS)
        assert read_carbon(path).zones == ("US-CAL",)
        assert read_carbon(path).g_per_kwh.tolist() == [[274.07, 291.76]]
        assert read_carbon(path, intensity="direct").g_per_kwh.tolist() == [[209.26, 225]]

    def test_a_headerless_file_is_of_the_zone_it_is_named_after_and_gets_sorted(self, tmp_path: Path) -> None:
        text = "2023-11-14T01:00:00.000Z,74\r\n2023-11-14T02:00:00.000Z,75\r\n2023-11-14T00:00:00.000Z,73"
        signal = read_carbon(write(tmp_path / "CA-ON.csv", text))
        assert signal.zones == ("CA-ON",)
        assert signal.g_per_kwh.tolist() == [[73, 74, 75]]
        assert signal.time.start == datetime(2023, 11, 14, tzinfo=UTC)

    def test_gzip_byte_order_mark_and_blank_lines_are_accepted(self, tmp_path: Path) -> None:
        path = tmp_path / "CA-ON.csv.gz"
        path.write_bytes(gzip.compress(("\ufeff2022-01-01T00:00Z,1\n\n2022-01-01T01:00Z,2\n\n").encode()))
        assert read_carbon(path).zones == ("CA-ON",)
        assert read_carbon(path).g_per_kwh.tolist() == [[1, 2]]

    def test_times_are_utc_unless_they_name_an_offset(self, tmp_path: Path) -> None:
        rows = "2022-01-01 00:00,DE,1\n2022-01-01T02:00:00+01:00,DE,2\n"
        (series,) = read_series(write(tmp_path / "a.csv", PLAIN + rows))
        assert series.times.tolist() == np.array(["2022-01-01T00", "2022-01-01T01"], "datetime64[ns]").tolist()

    def test_several_files_make_one_signal_over_what_they_have_in_common(self, tmp_path: Path) -> None:
        one = write(tmp_path / "one.csv", PLAIN + hours(1, 2, 3, 4))
        two = write(tmp_path / "PL.csv", "2022-01-01T01:00Z,20\n2022-01-01T02:00Z,30\n")
        signal = read_carbon(one, two)
        assert signal.g_per_kwh.tolist() == [[2, 3], [20, 30]]
        assert signal.time.start == datetime(2022, 1, 1, 1, tzinfo=UTC)

    def test_a_zone_goes_on_from_file_to_file(self, tmp_path: Path) -> None:
        first = write(tmp_path / "1.csv", PLAIN + hours(*range(24)))
        second = write(tmp_path / "2.csv", PLAIN + hours(*range(24, 48), day="2022-01-02"))
        assert read_carbon(second, first).g_per_kwh.tolist() == [list(range(48))]

    def test_importing_the_reader_does_not_import_pandas(self) -> None:
        code = "import sys, carbonopt.io.carbon; sys.exit('pandas' in sys.modules)"
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class TestSlots:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return write(tmp_path / "de.csv", PLAIN + hours(400, 300, 200, 100, 0.1, 0.7))

    @pytest.mark.parametrize(
        ("slot_hours", "expected"),
        [
            (0.25, np.repeat([400, 300, 200, 100, 0.1, 0.7], 4)),
            (1.0, [400, 300, 200, 100, 0.1, 0.7]),
            (1.5, [(400 + 150) / 1.5, (150 + 200) / 1.5, (100 + 0.05) / 1.5, (0.05 + 0.7) / 1.5]),
            (3.0, [300, 100.8 / 3]),
            (4.0, [250]),
        ],
    )
    def test_a_slot_is_the_time_weighted_mean(self, path: Path, slot_hours: float, expected: list[float]) -> None:
        assert_allclose(read_carbon(path, slot_hours=slot_hours).g_per_kwh[0], expected, rtol=1e-14)

    def test_a_slot_inside_one_value_is_exactly_that_value(self, path: Path) -> None:
        assert read_carbon(path, slot_hours=0.25).g_per_kwh[0, 16:].tolist() == [0.1] * 4 + [0.7] * 4

    def test_start_and_slots_choose_the_window(self, path: Path) -> None:
        signal = read_carbon(path, start="2022-01-01T01:30:00Z", slots=2)
        assert signal.g_per_kwh.tolist() == [[250, 150]]
        assert signal.time.start == datetime(2022, 1, 1, 1, 30, tzinfo=UTC)

    def test_wrap_repeats_the_data_before_and_after(self, path: Path) -> None:
        begin = datetime(2021, 12, 31, 22, tzinfo=UTC)
        signal = read_carbon(path, start=begin, slots=10, wrap=True)
        assert signal.g_per_kwh[0].tolist() == [0.1, 0.7, 400, 300, 200, 100, 0.1, 0.7, 400, 300]
        long = read_carbon(path, slots=2, slot_hours=12, wrap=True).g_per_kwh[0]
        assert_allclose(long, [1000.8 / 6] * 2)

    def test_wrap_agrees_with_tiling_by_hand(self, path: Path) -> None:
        tiled = np.repeat(np.tile([400, 300, 200, 100, 0.1, 0.7], 5), 60)  # minutes
        signal = read_carbon(path, slots=40, slot_hours=0.7, wrap=True)
        assert_allclose(signal.g_per_kwh[0], tiled[: 40 * 42].reshape(40, 42).mean(axis=1))

    @pytest.mark.parametrize(
        ("start", "slots", "field"),
        [("2021-12-31T23:00Z", 2, "start"), (None, 7, "slots"), ("2023-01-01", None, "slots")],
    )
    def test_a_window_outside_the_data_is_an_error(
        self, path: Path, start: str | None, slots: int | None, field: str
    ) -> None:
        with pytest.raises(InputError, match="2022-01-01T00:00:00Z to 2022-01-01T06:00:00Z") as caught:
            read_carbon(path, start=start, slots=slots)
        (fault,) = caught.value.faults
        assert (fault.field, fault.file) == (field, str(path))
        assert ("--wrap" in fault.problem) == (slots is not None)  # without a number of slots, nothing is repeated

    def test_zones_without_a_common_hour_are_an_error(self, path: Path, tmp_path: Path) -> None:
        other = write(tmp_path / "PL.csv", "2023-01-01T00:00Z,1\n2023-01-01T01:00Z,2\n")
        with pytest.raises(InputError, match="zone 'DE'"):
            read_carbon(path, other)

    @pytest.mark.parametrize(("slots", "slot_hours"), [(0, 1.0), (-5, 1.0), (1, 0.0), (1, float("nan")), (1, 1e-15)])
    def test_impossible_slots_are_an_error(self, path: Path, slots: int, slot_hours: float) -> None:
        with pytest.raises(InputError, match="must"):
            read_carbon(path, slots=slots, slot_hours=slot_hours)

    def test_an_unreadable_start_is_an_error(self, path: Path) -> None:
        with pytest.raises(InputError, match="start = 'tomorrow': must be an ISO 8601 time"):
            read_carbon(path, start="tomorrow")


class TestZones:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return write(tmp_path / "two.csv", PLAIN + hours(1, 2) + hours(3, 4, zone="PL"))

    def test_zones_come_in_the_order_asked_for_and_renamed(self, path: Path) -> None:
        signal = read_carbon(path, zones=["PL", "DE"], zone_names={"DE": "Frankfurt"})
        assert signal.zones == ("PL", "Frankfurt")
        assert signal.g_per_kwh.tolist() == [[3, 4], [1, 2]]

    def test_every_unknown_zone_is_named_beside_the_known_ones(self, path: Path) -> None:
        with pytest.raises(InputError) as caught:
            read_carbon(path, zones=["DE", "FR"], zone_names={"XX": "x"})
        assert caught.value.lines() == [
            f"{path}: zones[1] = 'FR': is an unknown zone: the files have 'DE' or 'PL'",
            f"{path}: zone_names[0] = 'XX': is an unknown zone: the files have 'DE' or 'PL'",
        ]

    def test_two_zones_cannot_get_one_name(self, path: Path) -> None:
        with pytest.raises(InputError, match="duplicate name"):
            read_carbon(path, zone_names={"DE": "PL"})

    def test_no_zone_and_no_file_are_errors(self, path: Path) -> None:
        with pytest.raises(InputError, match="at least one zone"):
            read_carbon(path, zones=[])
        with pytest.raises(InputError, match="at least one file"):
            read_carbon()

    def test_an_unknown_intensity_is_an_error(self, path: Path) -> None:
        with pytest.raises(InputError, match="intensity = 'marginal': must be 'lca' or 'direct'"):
            read_carbon(path, intensity="marginal")


class TestRealFiles:
    def test_the_plain_year_of_california(self) -> None:
        signal = read_carbon(real("US-CAL-CISO_2022_hourly.csv"))
        assert signal.g_per_kwh.shape == (1, 8760)
        assert signal.g_per_kwh[0, :3].tolist() == [275.46, 293.69, 298.92]
        assert signal.time.start == datetime(2022, 1, 1, tzinfo=UTC)

    def test_the_export_of_california(self) -> None:
        path = real("electricitymaps_US-CAL-CISO_2022_hourly.csv")
        lca, direct = (read_carbon(path, intensity=kind) for kind in ("lca", "direct"))
        assert lca.zones == ("US-CAL-CISO",)
        assert lca.g_per_kwh.shape == (1, 8760)
        assert lca.g_per_kwh[0, :3].tolist() == [274.07, 291.76, 296.78]
        assert direct.g_per_kwh[0, :3].tolist() == [209.26, 225.02, 228.91]

    def test_caspians_day_is_rotated_in_the_file_and_tiled_by_wrap(self) -> None:
        zones = ("CA-ON", "JP-KN", "DE")
        signal = read_carbon(*(real(f"caspian_2023-11-14/{zone}.csv") for zone in zones), slots=72, wrap=True)
        assert signal.zones == zones
        assert signal.time.start == datetime(2023, 11, 14, tzinfo=UTC)
        assert signal.g_per_kwh[0, :4].tolist() == [76, 75, 76, 78]  # lines 14-17
        assert signal.g_per_kwh[0, 10:13].tolist() == [79, 74, 74]  # lines 24, 1, 2
        assert_allclose(signal.g_per_kwh[:, 24:], signal.g_per_kwh[:, :48])

    @pytest.mark.slow
    def test_ten_zones_of_a_year_in_slots_of_three_hours(self) -> None:
        paths = [path for path in sorted(real("").glob("*_2022_hourly.csv")) if "electricitymaps" not in path.name]
        hourly, slots = read_carbon(*paths), read_carbon(*paths, slot_hours=3)
        assert slots.g_per_kwh.shape == (10, 2920)
        assert_allclose(slots.g_per_kwh, hourly.g_per_kwh.reshape(10, 2920, 3).mean(axis=2))

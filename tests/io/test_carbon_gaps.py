"""Gaps, missing values and hours of local time: told with their times, filled only where that was asked for."""

import pytest
from carbon_support import PLAIN, hours, write

import carbonopt as co
from carbonopt.io.carbon import read_carbon
from carbonopt.io.times import moment


def local(*times):
    return PLAIN + "".join(f"{time},DE,{at}\n" for at, time in enumerate(times))


def rows(text, *left_out):
    return "".join(line for at, line in enumerate(text.splitlines(keepends=True)) if at not in left_out)


@pytest.mark.parametrize(("fill", "between"), [("interpolate", [20, 30, 40]), ("previous", [10, 10, 10])])
def test_a_gap_of_rows_and_one_of_values_are_filled_and_told(fill, between, tmp_path):
    text = PLAIN + rows(hours(0, 10, "", 30, 40, 50, 60), 3, 4)
    path = write(tmp_path / "a.csv", text)
    signal = read_carbon(path, fill=fill)
    assert signal.g_per_kwh.tolist() == [[0, 10, *between, 50, 60]]
    told = f"{fill}: 3 times from 2022-01-01T02:00:00Z to 2022-01-01T04:00:00Z"
    assert signal.labels["DE"]["filled"] == told
    assert signal.provenance()["signals"]["DE"]["filled"] == told


def test_a_signal_without_gaps_stays_as_it_is(tmp_path):
    path = write(tmp_path / "a.csv", PLAIN + hours(1, 2, 3))
    assert read_carbon(path, fill="previous").labels == read_carbon(path).labels


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PLAIN + hours("", 2, 3), r"line 2.*first or last cannot be filled"),
        (PLAIN + hours(1, 2, "nan"), r"line 4.*first or last cannot be filled"),
        (PLAIN + hours(1, -2, 3), r"line 3.*at least 0"),
        (PLAIN + hours(1, 2, 3) + hours(1), r"line 5.*duplicate of line 2"),
        (PLAIN + hours(1, 2, 3) + "2022-01-01T03:30Z,DE,4\n", r"missing is no whole step"),
    ],
)
def test_what_cannot_be_filled_is_refused(text, message, tmp_path):
    with pytest.raises(co.InputError, match=message) as error:
        read_carbon(write(tmp_path / "a.csv", text), fill="interpolate")
    assert len(error.value.faults) == 1


def test_each_gap_is_one_line_with_its_times(tmp_path):
    path = write(tmp_path / "a.csv", PLAIN + rows(hours(*range(12)), 2, 5, 6, 7))
    with pytest.raises(co.InputError) as error:
        read_carbon(path)
    one, two = error.value.lines()
    assert one.endswith("missing 2022-01-01T02:00:00Z")
    assert two.endswith("missing 3 times from 2022-01-01T05:00:00Z to 2022-01-01T07:00:00Z")


BACK = ["2024-10-27T01:00", "2024-10-27T02:00", "2024-10-27T02:00", "2024-10-27T03:00"]
FORWARD = ["2024-03-31T00:00", "2024-03-31T01:00", "2024-03-31T03:00", "2024-03-31T04:00"]


@pytest.mark.parametrize(("times", "what"), [(BACK, "is a duplicate of line 3"), (FORWARD, "missing 2024-03-31T02")])
def test_the_doubled_and_the_missing_hour_of_local_times(times, what, tmp_path):
    path = write(tmp_path / "a.csv", local(*times))
    with pytest.raises(co.InputError, match=f"{what}.*--signal-tz") as error:
        read_carbon(path)
    assert len(error.value.faults) == 1
    signal = read_carbon(path, tz="Europe/Berlin")
    assert signal.g_per_kwh.tolist() == [[0, 1, 2, 3]]
    assert signal.labels["DE"]["time_zone"] == "Europe/Berlin"
    begin = {"10": "2024-10-26T23:00:00+00:00", "03": "2024-03-30T23:00:00+00:00"}[times[0][5:7]]
    assert signal.time.start.isoformat() == begin


@pytest.mark.parametrize(
    ("times", "what"),
    [
        (BACK[:2] + BACK[3:], "an hour that Europe/Berlin has twice, and stands once"),
        ([*FORWARD[:2], "2024-03-31T02:00", *FORWARD[2:]], "skipped in Europe/Berlin"),
    ],
)
def test_hours_that_are_none_or_could_be_two(times, what, tmp_path):
    with pytest.raises(co.InputError, match=what) as error:
        read_carbon(write(tmp_path / "a.csv", local(*times)), tz="Europe/Berlin")
    assert len(error.value.faults) == 1


def test_times_with_an_offset_keep_it(tmp_path):
    signal = read_carbon(write(tmp_path / "a.csv", PLAIN + hours(1, 2)), tz="Europe/Berlin")
    assert signal.time.start == moment(1_640_995_200_000_000_000)


@pytest.mark.parametrize(
    "choice", [{"fill": "linear"}, {"kind": "marginal"}, {"intensity": "well"}, {"mixed": ["unit"]}], ids=str
)
def test_a_choice_that_does_not_exist(choice, tmp_path):
    with pytest.raises(co.InputError, match="must be"):
        read_carbon(write(tmp_path / "a.csv", PLAIN + hours(1, 2)), **choice)
    with pytest.raises(co.UnsupportedError):
        read_carbon(write(tmp_path / "a.csv", PLAIN + hours(1, 2)), tz="Mars/Olympus")

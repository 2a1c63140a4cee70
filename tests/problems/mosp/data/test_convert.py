import re
from pathlib import Path

import pytest

import carbonopt as co
from carbonopt.problems.mosp.data.convert import DEFAULT_WEIGHTS, convert

CARBON = "datetime,zone,carbon_intensity_g_per_kwh\n" + "".join(
    f"2022-01-0{1 + hour // 24}T{hour % 24:02d}:00:00Z,{zone},{base + hour}\n"
    for zone, base in (("A", 100), ("B", 300))
    for hour in range(72)
)
JOBS = "arrival_time,length,cpus\n0,3600,1\n1800,7200,2\n3600,7201,4\n9000,36000,1\n250000,3600,1\n"


@pytest.fixture
def files(tmp_path):
    carbon, jobs = tmp_path / "carbon.csv", tmp_path / "trace.csv"
    carbon.write_text(CARBON)
    jobs.write_text(JOBS)
    return carbon, jobs


def test_times_are_rounded_to_slots(files):
    """Arrivals up, run times up, waits by length: 6 h up to 2 h, else 24 h; what ends too late is left out."""
    carbon, jobs = files
    instance = convert(jobs, [carbon], "seconds", slots=40, capacity=8)
    assert instance.jobs.name == ("row0", "row1", "row2", "row3")
    assert instance.jobs.arrival.tolist() == [0, 1, 1, 3]
    assert instance.jobs.duration.tolist() == [1, 2, 3, 10]
    assert instance.jobs.deadline.tolist() == [7, 9, 28, 37]
    assert instance.provenance["dropped_jobs"] == 1
    assert instance.provenance["rounded_cpu_hours"] == 1 + 4 + 12 + 10 + 1
    assert instance.clusters.zone == ("A", "B")
    assert instance.carbon.g_per_kwh[0, :3].tolist() == [100, 101, 102]
    solution = co.solve(instance, "milp")
    assert co.check(instance, solution).feasible


@pytest.mark.parametrize("page", ["docs/getting_started.md", "docs/problems/mosp.md"])
def test_default_weights_are_those_of_the_pages(page):
    """Of `from_frames`, which takes `usual`, and of `convert`, side by side."""
    text = (Path(__file__).parents[4] / page).read_text()
    usual = co.MospInstance.usual()["objective"].to_dict()["weights"]
    for (name, of_frames), of_convert in zip(usual.items(), DEFAULT_WEIGHTS, strict=True):
        (row,) = [line for line in text.splitlines() if re.match(rf"\| `{name}`.* \| [\d.]+ \| [\d.]+ \|$", line)]
        assert [float(cell) for cell in row.split("|")[2:4]] == [of_frames, of_convert]


def test_capacity_from_the_load(files):
    carbon, jobs = files
    instance = convert(jobs, [carbon], "seconds", zones="A", slots=40, load=1.0)
    work, span = 1 + 4 + 12 + 10, 4
    assert instance.clusters.capacity[0, 0, 0] == -(-work // span)


def test_missing_options_say_what_would_be_right(files):
    carbon, jobs = files
    with pytest.raises(co.UnsupportedError, match="--time-unit is missing: must be seconds, minutes or hours"):
        convert(jobs, [carbon], None)
    with pytest.raises(co.UnsupportedError, match="--carbon is missing"):
        convert(jobs, None, "seconds")
    with pytest.raises(co.UnsupportedError, match="load = -1"):
        convert(jobs, [carbon], "seconds", load=-1)
    with pytest.raises(co.InputError, match="no job ends within 0"):
        convert(jobs, [carbon], "seconds", slots=0)


@pytest.mark.slow
def test_a_real_signal_and_a_real_trace(data_folder):
    carbon = data_folder / "carbon/electricitymaps_US-CAL-CISO_2022_hourly.csv"
    instance = convert(data_folder / "jobs/pai_1k.csv", [carbon], "seconds")
    assert (len(instance.jobs), instance.carbon.zones) == (1000, ("US-CAL-CISO",))
    assert instance.carbon.g_per_kwh[0, 0] == 274.07
    solution = co.solve(instance, "greedy-clean")
    assert co.check(instance, solution).feasible

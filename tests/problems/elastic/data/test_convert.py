import pytest

import carbonopt as co
from carbonopt.problems.elastic.data.convert import convert

CARBON = "datetime,zone,carbon_intensity_g_per_kwh\n" + "".join(
    f"2022-01-{1 + hour // 24:02d}T{hour % 24:02d}:00:00Z,{zone},{base + hour}\n"
    for zone, base in (("A", 100), ("B", 300))
    for hour in range(240)
)
JOBS = "arrival_time,length,cpus\n0,3600,1\n1800,7200,2\n3600,9000,4\n9000,45000,1\n250000,1800,1\n"


@pytest.fixture
def files(tmp_path):
    carbon, jobs = tmp_path / "carbon.csv", tmp_path / "my-trace.csv"
    carbon.write_text(CARBON)
    jobs.write_text(JOBS)
    return jobs, [carbon], "seconds"


def test_all_jobs_as_they_are(files):
    """Arrivals are rounded up, lengths are not; slack by length."""
    instance = convert(*files, zone="B")
    jobs = instance.jobs
    assert jobs.name == ("row0", "row1", "row2", "row3", "row4")
    assert jobs.arrival.tolist() == [0, 1, 1, 3, 70]
    assert jobs.length.tolist() == [1, 2, 2.5, 12.5, 0.5]
    assert jobs.slack.tolist() == [6, 6, 24, 48, 6]
    assert instance.time.slots == 77
    assert instance.intensity[:2].tolist() == [300, 301]
    assert instance.name == "elastic-my_trace-j0005-t077-B-s01"
    assert instance.provenance["dropped_jobs"] == instance.provenance["short_jobs_left_out"] == 0
    assert instance.provenance["trace_cpus_ignored"] is True
    assert instance.provenance["job_hours"] == 18.5
    assert set(instance.provenance["files"]) == {"carbon.csv", "my-trace.csv"}


def test_jobs_past_the_horizon_and_short_ones_are_left_out_and_counted(files):
    instance = convert(*files, zone="A", slots=64, min_length_hours=1.5)
    assert instance.jobs.name == ("row1", "row2", "row3")
    assert instance.provenance["short_jobs_left_out"] == 2
    assert instance.provenance["dropped_jobs"] == 0
    shorter = convert(*files, zone="A", slots=63)
    assert shorter.jobs.name == ("row0", "row1", "row2")
    assert shorter.provenance["dropped_jobs"] == 2
    profiles = convert(*files, zone="A").jobs.profile
    assert shorter.jobs.profile == profiles[:3]
    assert instance.jobs.profile == profiles[1:4]


def test_capacity_from_the_load(files):
    instance = convert(*files, zone="A", slots=64, load=2.0)
    assert instance.cluster.capacity[0] == -(-18 // (2 * 4))
    assert convert(*files, zone="A", capacity=7.5).cluster.capacity[0] == 7.5


def test_slack_and_slots_of_ones_own(files):
    instance = convert(*files, zone="A", slot_hours=0.5, slack_hours=1.3, model="fluid", profiles="gpu-mix", k_max=4)
    assert instance.jobs.arrival.tolist() == [0, 1, 2, 5, 139]
    assert instance.jobs.length.tolist() == [2, 4, 5, 25, 1]
    assert set(instance.jobs.slack) == {2}
    assert (instance.model, instance.features()["k_max"]) == ("fluid", 4)


def test_what_is_wrong_says_what_would_be_right(files):
    jobs, carbon, _ = files
    with pytest.raises(co.UnsupportedError, match="--time-unit is missing: must be seconds, minutes or hours"):
        convert(jobs, carbon, None)
    with pytest.raises(co.UnsupportedError, match="--carbon is missing"):
        convert(jobs, None, "seconds")
    with pytest.raises(co.UnsupportedError, match="capacity = 0: must be above 0"):
        convert(*files, capacity=0)
    with pytest.raises(co.UnsupportedError, match="unknown model 'x'"):
        convert(*files, model="x")
    with pytest.raises(co.InputError, match="zone: is missing: the cluster is in one zone"):
        convert(*files)
    with pytest.raises(co.InputError, match="'C': is an unknown zone: the files have 'A' or 'B'"):
        convert(*files, zone="C")
    with pytest.raises(co.InputError, match="no job's window ends within 6 slots"):
        convert(*files, zone="A", slots=6)
    with pytest.raises(co.InputError, match="no job lasts at least 13 h"):
        convert(*files, zone="A", min_length_hours=13)
    with pytest.raises(co.InputError, match="must stay inside the data of zone 'A'"):
        convert(*files, zone="A", slots=300)
    assert convert(*files, zone="A", slots=300, wrap=True).time.slots == 300


def test_a_real_trace(data_folder):
    instance = convert(data_folder / "jobs/pai_1k.csv", [data_folder / "carbon/DE_2022_hourly.csv"], "seconds")
    assert instance.name == "elastic-pai_1k-j1000-t242-DE-s01"
    assert instance.jobs.window_end.max() == instance.time.slots
    assert instance.provenance["dropped_jobs"] == 0

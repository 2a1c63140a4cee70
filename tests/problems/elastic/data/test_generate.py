import numpy as np
import pytest

import carbonopt as co
from carbonopt.io.carbon import read_carbon
from carbonopt.io.jobs import JobTrace, read_jobs
from carbonopt.problems.elastic.data.workload import synthetic_lengths


def work(instance):
    """Work at k_min [server hours]."""
    k_min = instance.units.servers[instance.profile_of_job, 0]
    return float(instance.jobs.length @ k_min) * instance.time.slot_hours


def trace(*hours):
    lengths = np.array(hours, dtype=float)
    return JobTrace(np.zeros(len(lengths)), lengths, np.ones(len(lengths)), np.arange(2, len(lengths) + 2))


class TestDraws:
    def test_same_arguments_same_instance(self):
        first, second, third = (co.generate("elastic", capacity=10, seed=seed) for seed in (1, 1, 2))
        assert first.to_dict() == second.to_dict()
        assert first.sha256 != third.sha256

    def test_another_mix_or_model_leaves_lengths_and_arrivals(self):
        first = co.generate("elastic", jobs=50, capacity=10)
        second = co.generate("elastic", jobs=50, capacity=20, profiles="no-scaling", model="fluid", slack_hours=0)
        assert first.jobs.arrival.tolist() == second.jobs.arrival.tolist()
        assert first.jobs.length.tolist() == second.jobs.length.tolist()

    def test_the_default_week(self):
        instance = co.generate("elastic")
        assert instance.name.startswith("elastic-synthetic-j")
        assert instance.name.endswith(f"-t{instance.time.slots}-AU-SA-s01")
        assert (instance.cluster.capacity == 150).all()
        assert work(instance) / (150 * 168) == pytest.approx(0.5, rel=0.03)
        assert instance.jobs.window_end.max() == instance.time.slots
        assert instance.jobs.arrival.max() < 168
        assert abs(instance.jobs.arrival.mean() - 83.5) < 5
        shares = np.bincount(instance.profile_of_job) / len(instance.jobs)
        assert shares == pytest.approx(0.25, abs=0.05)
        assert instance.units.regular
        assert "synthetic" in instance.provenance["carbon_signal"]
        assert instance.provenance["utilisation"] == pytest.approx(work(instance) / (150 * 168))

    def test_statistics_of_synthetic_lengths(self):
        hours = synthetic_lengths(100_000, np.random.default_rng(0))
        assert (hours.min() >= 1, hours.max() <= 72) == (True, True)
        assert hours.mean() == pytest.approx(9.49, rel=0.03)
        assert np.quantile(hours, [0.25, 0.5, 0.75, 0.9]) == pytest.approx([1.67, 4, 12, 24.25], rel=0.12)

    def test_jobs_capacity_and_utilisation(self):
        """Any two give the third."""
        by_jobs = co.generate("elastic", jobs=300, utilisation=0.8, arrival_hours=48)
        capacity = by_jobs.cluster.capacity[0]
        assert len(by_jobs.jobs) == 300
        assert capacity == int(capacity)
        assert capacity - 1 < work(by_jobs) / (0.8 * 48) <= capacity
        both = co.generate("elastic", jobs=30, capacity=4.5)
        assert (len(both.jobs), both.cluster.capacity[0]) == (30, 4.5)
        few = co.generate("elastic", capacity=3, utilisation=0.01)
        last = few.jobs.length[-1]
        assert work(few) - last < 0.01 * 3 * 168 <= work(few)

    def test_k_min_counts_in_the_utilisation(self, tmp_path):
        path = tmp_path / "job.csv"
        path.write_text("nodes,throughput,power\n2,20,110\n3,28,160\n")
        instance = co.generate("elastic", profiles=f"{path},no-scaling")
        assert work(instance) / (150 * 168) == pytest.approx(0.5, rel=0.03)
        assert [profile.k_min for profile in instance.profiles] == [2, 1]
        assert instance.provenance["modelled_profiles"].endswith(": no-scaling")


class TestTime:
    def test_queues(self):
        instance = co.generate("elastic", trace=trace(1, 2, 2.01, 12, 12.5, 0.99), jobs=200)
        slack = dict(zip(instance.jobs.length.tolist(), instance.jobs.slack.tolist(), strict=True))
        assert slack == {1: 6, 2: 6, 2.01: 24, 12: 24, 12.5: 48}
        own = co.generate(
            "elastic", trace=trace(1, 4, 20), jobs=99, short_hours=1, medium_hours=10,
            short_slack_hours=0, medium_slack_hours=2.5, long_slack_hours=7,
        )  # fmt: skip
        slack = dict(zip(own.jobs.length.tolist(), own.jobs.slack.tolist(), strict=True))
        assert slack == {1: 0, 4: 2, 20: 7}
        assert not co.generate("elastic", jobs=20, slack_hours=0).jobs.slack.any()

    def test_shorter_slots(self):
        hours, quarters = (co.generate("elastic", jobs=50, slot_hours=slot) for slot in (1, 0.25))
        assert quarters.jobs.length == pytest.approx(4 * hours.jobs.length)
        assert quarters.jobs.slack.tolist() == (4 * hours.jobs.slack).tolist()
        assert quarters.jobs.arrival.max() > 168
        assert quarters.time.slot_hours == 0.25
        tenths = co.generate("elastic", jobs=50, slot_hours=0.1)
        assert set(tenths.jobs.slack) <= {60, 240, 480}

    def test_a_carbon_signal_of_ones_own(self):
        grid = co.TimeGrid(400, 0.5)
        signal = co.CarbonSignal(("X", "Y"), np.arange(800).reshape(2, 400), grid)
        instance = co.generate("elastic", jobs=5, arrival_hours=24, carbon=signal, zone="Y", slack_hours=6)
        assert (instance.carbon.zones, instance.cluster.zone) == (("Y",), "Y")
        assert instance.intensity[:2].tolist() == [400, 401]
        assert instance.time.slots == instance.jobs.window_end.max() < 400
        assert instance.time.slot_hours == 0.5
        asked = []
        made = co.generate("elastic", jobs=5, carbon=lambda slots: asked.append(slots) or flat(slots))
        assert asked == [made.time.slots]
        with pytest.raises(co.InputError, match=r"zone: is missing: .* the carbon signal has 'X' or 'Y'"):
            co.generate("elastic", jobs=5, carbon=signal)
        with pytest.raises(co.UnsupportedError, match="unknown zone 'Z'"):
            co.generate("elastic", jobs=5, carbon=signal, zone="Z")
        with pytest.raises(co.UnsupportedError, match=r"slot_hours = 1: the carbon signal has slots of 0\.5 h"):
            co.generate("elastic", jobs=5, carbon=signal, slot_hours=1)
        with pytest.raises(co.InputError, match="carbon = 400 slots: must cover the"):
            co.generate("elastic", carbon=signal, zone="X")


def flat(slots):
    return co.CarbonSignal(("X",), np.full((1, slots), 100.0), co.TimeGrid(slots))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"jobs": 0}, "jobs = 0: must be at least 1"),
        ({"capacity": 0}, "capacity = 0: must be above 0"),
        ({"utilisation": -1}, "utilisation = -1: must be above 0"),
        ({"utilisation": float("nan")}, "utilisation = nan: must be above 0"),
        ({"arrival_hours": 0}, "arrival_hours = 0: must be above 0"),
        ({"slot_hours": 0}, "slot_hours = 0: must be above 0"),
        ({"jobs": 5, "capacity": 5, "utilisation": 0.5}, "any two of them give the third"),
        ({"model": "whole"}, "unknown model 'whole': must be 'integer' or 'fluid'"),
        ({"seed": -1}, "seed = -1: must be at least 0"),
        ({"slack_hours": -1}, "slack_hours = -1: must be at least 0"),
        ({"short_slack_hours": float("inf")}, "short_slack_hours = inf: must be at least 0"),
        ({"medium_hours": 1}, r"medium_hours = 1: must be at least short_hours = 2\.0"),
        ({"profiles": "fast"}, "unknown profile 'fast'"),
    ],
)
def test_impossible_parameters(parameters, words):
    with pytest.raises(co.UnsupportedError, match=words):
        co.generate("elastic", **parameters)


def test_unknown_zone_and_trace_without_long_jobs():
    with pytest.raises(co.InputError, match="'XX': is unknown: must be 'AU-SA'"):
        co.generate("elastic", jobs=5, zone="XX")
    with pytest.raises(co.InputError, match=r"no job lasts at least 1 h, the longest 0\.5 h: is the time unit right\?"):
        co.generate("elastic", trace=trace(0.1, 0.5))


@pytest.mark.parametrize(
    "sizes", [{"jobs": 10**10}, {"utilisation": 1e12}, {"slot_hours": 1e-12}, {"slack_hours": 1e15}]
)
def test_sizes_beyond_memory_are_refused(sizes):
    with pytest.raises(co.TooLargeError, match="GiB"):
        co.generate("elastic", **sizes)


class TestRealTrace:
    def test_the_week_that_the_problem_page_measures(self, data_folder):
        """1,259 jobs of at least an hour and 713,856 units."""
        jobs = read_jobs(data_folder / "jobs/azure-100k.csv", "hours")
        carbon = data_folder / "carbon/AU-SA_2022_hourly.csv"
        instance = co.generate(
            "elastic", trace=jobs, source="azure", seed=0,
            carbon=lambda slots: read_carbon(carbon, start="2022-06-01T00:00:00Z", slots=slots),
        )  # fmt: skip
        features = instance.features()
        assert (features["jobs"], features["units"], features["k_max"]) == (1259, 713_856, 16)
        assert instance.name == "elastic-azure-j1259-t279-AU-SA-s00"
        assert work(instance) / (150 * 168) == pytest.approx(0.5, rel=0.03)
        assert instance.jobs.length.min() >= 1
        assert instance.provenance["carbon_signal"] == "read from files"

    def test_a_wrong_unit_is_told(self, data_folder):
        with pytest.warns(UserWarning, match="is the unit right"):
            jobs = read_jobs(data_folder / "jobs/azure-100k.csv", "seconds")
        with pytest.raises(co.InputError, match="is the time unit right"):
            co.generate("elastic", trace=jobs)

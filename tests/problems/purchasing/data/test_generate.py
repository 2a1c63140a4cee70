"""Generated purchasing instances: seeded, whole, with the statistics that they promise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import carbonopt as co
from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.errors import InputError, UnsupportedError
from carbonopt.core.time import TimeGrid
from carbonopt.io.jobs import JobTrace
from carbonopt.problems.purchasing.data.generate import synthetic_lengths
from carbonopt.problems.purchasing.data.instance import GAIA_QUEUES, Queue, Weights


def generate(**parameters: Any) -> Any:
    return co.generate("purchasing", **parameters)


def flat(slots: int) -> CarbonSignal:
    return CarbonSignal(("X",), [[200.0] * slots], TimeGrid(slots))


class TestSeeds:
    def test_the_same_arguments_give_the_same_instance(self) -> None:
        first, again = generate(jobs=50, seed=3), generate(jobs=50, seed=3)
        assert first.to_dict() == again.to_dict()
        assert generate(jobs=50, seed=4).sha256 != first.sha256

    def test_each_part_has_a_stream_of_its_own(self) -> None:
        first, other = generate(jobs=50), generate(jobs=50, daily_swing=0.9, max_cpus=64, reserved=3)
        assert first.jobs.length_hours.tolist() == other.jobs.length_hours.tolist()
        assert first.jobs.arrival_hours.tolist() != other.jobs.arrival_hours.tolist()
        assert first.jobs.cpus.tolist() != other.jobs.cpus.tolist()

    def test_its_name_follows_the_convention(self) -> None:
        instance = generate(jobs=50, seed=7, zone="DE")
        assert instance.name == f"purchasing-synthetic-j0050-t{instance.time.slots}-DE-s07"
        assert generate(jobs=5, name="mine").name == "mine"


class TestJobs:
    def test_lengths_have_the_statistics_that_are_promised(self) -> None:
        hours = synthetic_lengths(200_000, np.random.default_rng(5))
        assert hours.mean() == pytest.approx(2.7, abs=0.05)
        assert np.quantile(hours, [0.5, 0.9]) == pytest.approx([0.8, 6.4], abs=0.1)
        assert (hours <= 2).mean() == pytest.approx(0.72, abs=0.01)
        assert hours.min() >= 0.08
        assert hours.max() <= 72

    def test_cpus_are_powers_of_two_and_rarer_the_more(self) -> None:
        cpus = generate(jobs=3000, max_cpus=20).jobs.cpus
        sizes, counts = np.unique(cpus, return_counts=True)
        assert sizes.tolist() == [1, 2, 4, 8, 16]
        assert (np.diff(counts) < 0).all()
        assert set(generate(jobs=20, max_cpus=1).jobs.cpus) == {1}

    def test_arrivals_are_sorted_and_inside_their_hours(self) -> None:
        arrival = generate(jobs=500, arrival_hours=48).jobs.arrival_hours
        assert (np.diff(arrival) >= 0).all()
        assert arrival.min() >= 0
        assert 47 < arrival.max() <= 48

    def test_arrivals_swing_with_the_hour_of_the_day(self) -> None:
        jobs = generate(jobs=4000, arrival_hours=240, daily_swing=1, daily_peak_hour=10, start="2022-06-01T04:00Z").jobs
        counts = np.bincount(((jobs.arrival_hours + 4) % 24).astype(int), minlength=24)
        assert counts[8:12].sum() == pytest.approx(4000 / 6 * 1.95, rel=0.1)
        assert counts[20:24].sum() < 100

    def test_drawn_from_a_trace_length_and_cpus_belong_together(self) -> None:
        trace = JobTrace([0, 1, 2], [1, 2, 3], [10, 20, 30], [2, 3, 4])
        instance = generate(jobs=50, trace=trace, source="mine")
        assert set(zip(instance.jobs.length_hours, instance.jobs.cpus, strict=True)) == {(1, 10), (2, 20), (3, 30)}
        assert instance.name.startswith("purchasing-mine-j0050-")


class TestTerms:
    @pytest.mark.parametrize(
        ("terms", "reserved"),
        [
            ({}, 16),
            ({"reserved": 9}, 9),
            ({"reserved": 0}, 0),
            ({"reserved_share": 1}, 33),
            ({"decide_reserved": True}, None),
        ],
    )
    def test_reserved_cpus(self, terms: dict[str, Any], reserved: int | None) -> None:
        instance = generate(jobs=200, arrival_hours=24, **terms)
        assert instance.provenance["mean_cpus_while_jobs_arrive"] == pytest.approx(32.52, abs=0.01)
        assert instance.reserved_cpus == reserved

    def test_without_a_word_of_spot_there_is_none(self) -> None:
        assert generate(jobs=5).spot is None
        assert vars(generate(jobs=5, evictions_per_hour=0.2).spot) == {
            "max_length_hours": 2,
            "evictions_per_hour": 0.2,
        }
        assert generate(jobs=5, spot_max_length_hours=6).spot.max_length_hours == 6

    def test_queues_as_text_or_objects(self) -> None:
        assert generate(jobs=5).queues == GAIA_QUEUES
        assert generate(jobs=5, queues=" all : inf : 12.5").queues == (Queue("all", np.inf, 12.5),)
        assert generate(jobs=5, queues=[Queue("all", np.inf, 12.5)]).queues == (Queue("all", np.inf, 12.5),)

    def test_default_weights_make_the_baseline_count_one_in_carbon_and_in_cost(self) -> None:
        instance = generate(jobs=100, carbon=flat(400), watts_per_cpu=20, on_demand_usd_per_cpu_hour=0.1)
        work = float(instance.jobs.length_hours @ instance.jobs.cpus)
        assert instance.weights.carbon_kg * work * 0.02 * 0.2 == pytest.approx(1, rel=1e-5)
        assert instance.weights.cost_usd * work * 0.1 == pytest.approx(1, rel=1e-5)
        assert instance.weights.wait_hours == 0.005 / 100

    def test_weights_where_carbon_or_cost_is_nothing(self) -> None:
        instance = generate(jobs=10, watts_per_cpu=0, on_demand_usd_per_cpu_hour=0)
        assert instance.weights == Weights(1, 1, 0.0005)
        assert generate(jobs=10, weights=(1, 2, 3)).weights == Weights(1, 2, 3)

    def test_the_horizon_holds_windows_evictions_and_what_policies_look_ahead(self) -> None:
        one = {"jobs": 1, "arrival_hours": 10, "trace": JobTrace([0], [1.5], [1], [2])}
        arrival = float(generate(**one).jobs.arrival_hours[0])
        assert generate(**one).time.slots == np.ceil(arrival + 6 + 1.5) + 1
        assert generate(**one, evictions_per_hour=0.1).time.slots == np.ceil(arrival + 6 + 3) + 1
        assert generate(**one, queues="all:inf:0", slot_hours=0.5).time.slots == np.ceil(2 * (arrival + 1.5)) + 1

    def test_carbon_may_be_a_signal_or_a_function_of_the_slots(self) -> None:
        instance = generate(jobs=10, carbon=flat(1000))
        assert instance.zone == "X"
        assert generate(jobs=10, carbon=flat).sha256 == instance.sha256
        with pytest.raises(InputError, match=r"must cover the .* slots until the last window ends"):
            generate(jobs=10, carbon=flat(20))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"jobs": 0}, "jobs = 0: must be at least 1"),
        ({"max_cpus": 0}, "max_cpus = 0: must be at least 1"),
        ({"seed": -1}, "seed = -1: must be at least 0"),
        ({"arrival_hours": 0}, "arrival_hours = 0: must be above 0"),
        ({"slot_hours": -1}, "slot_hours = -1: must be above 0"),
        ({"daily_swing": 1.5}, "daily_swing = 1.5: must be from 0 to 1"),
        ({"model": "x"}, "unknown model 'x': must be 'splitting', 'no-split' or 'suspend-resume'"),
        ({"weights": (1, 2)}, r"weights = \(1, 2\): must be three numbers"),
        ({"weights": (1, 2, -3)}, "objective.weights.wait_hours = -3: must be finite and at least 0"),
        ({"reserved": -1}, "reserved_cpus = -1: must be a whole number of CPUs"),
        ({"reserved_share": -1}, "reserved_share = -1: must be at least 0"),
        ({"reserved": 1, "decide_reserved": True}, "only one of reserved, reserved_share and decide_reserved"),
        ({"spot_fraction": -1}, "prices.spot_fraction = -1: must be finite and at least 0"),
        ({"evictions_per_hour": -1}, "spot.evictions_per_hour = -1: must be finite and at least 0"),
        ({"watts_per_cpu": -1}, "watts_per_cpu = -1: must be finite and at least 0"),
        ({"queues": "short"}, "queues: 'short': must be name:longest job:longest wait in hours"),
        ({"queues": "short:2:six"}, "queues: 'short:2:six': must be name:longest job"),
        ({"queues": "short:2:6"}, "queues.short.max_length_hours = 2.0: must be null: the last queue"),
        ({"queues": "long:inf:24,short:2:6"}, "queues.short.max_length_hours = 2.0: must be longer than that"),
        ({"queues": "a:2:6,a:inf:24"}, r"queues\[1\] = 'a': is a duplicate of row 0"),
        ({"queues": "a:inf:-1"}, "queues.a.max_wait_hours = -1.0: must be finite and at least 0"),
        ({"queues": "a:inf:inf"}, "queues.a.max_wait_hours = inf: must be finite and at least 0"),
        ({"zone": "XX"}, "'XX': is unknown"),
        ({"jobs": 10**15}, "a workload of 1000000000000000 jobs"),
        ({"arrival_hours": 1e15}, "slots of 1 h: about"),
    ],
)  # fmt: skip
def test_parameters_out_of_range(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises((InputError, UnsupportedError), match=words):
        generate(**{"jobs": 5} | parameters)


def test_several_faults_come_at_once() -> None:
    with pytest.raises(InputError) as caught:
        generate(spot_fraction=-1, watts_per_cpu=-1, weights=(-1, 0, -1), evictions_per_hour=-1)
    assert len(caught.value.faults) == 5

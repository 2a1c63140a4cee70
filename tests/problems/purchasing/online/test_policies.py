"""GAIA's policies in mode ``paper``: cases by hand."""

from __future__ import annotations

import numpy as np
import pytest
from policies_support import FLAT, ran, starts
from purchasing_random import by_hand

import carbonopt as co
from carbonopt.problems.purchasing.data.instance import Queue, Spot


def test_no_wait_takes_reserved_cpus_for_all_of_a_job_or_none() -> None:
    instance = by_hand(FLAT, [(0.5, 2, 2), (1.0, 2, 2), (2.5, 1, 3)], reserved_cpus=3)
    assert ran(instance, "no-wait") == [
        ("j0", 0.5, 2.5, "reserved"),
        ("j1", 1.0, 3.0, "on-demand"),
        ("j2", 2.5, 3.5, "reserved"),
    ]


def test_lowest_slot_starts_in_the_cleanest_slot_of_its_waiting_time() -> None:
    kg = [9, 4, 6, 2, 8, 1] + [7] * 20
    assert starts(by_hand(kg, [(0.5, 3, 1)], wait=3.0), "lowest-slot") == [3.0]
    assert starts(by_hand(kg, [(0.5, 3, 1)], wait=2.5), "lowest-slot") == [1.0]  # [0.5, 3.0) ends before slot 3
    assert starts(by_hand(kg, [(3.5, 3, 1)], wait=1.0), "lowest-slot") == [3.5]  # it is there already
    assert starts(by_hand(kg, [(0.5, 3, 1)], wait=0.0), "lowest-slot") == [0.5]


def test_lowest_window_ends_or_begins_with_a_slot() -> None:
    kg = [9, 5, 1, 1, 3, 8] + [7] * 20
    jobs = [(0.25, 2.5, 1)]
    assert starts(by_hand(kg, jobs, wait=6), "lowest-window", lengths="true") == [2.0]  # 1 + 1 + 3/2
    kg = [9, 3, 1, 1, 5, 8] + [7] * 20
    assert starts(by_hand(kg, jobs, wait=6), "lowest-window", lengths="true") == [1.5]  # 3/2 + 1 + 1
    assert starts(by_hand(kg, jobs, wait=1.25), "lowest-window", lengths="true") == [1.0]  # 1.5 is not waited for


def test_ties_go_to_the_earliest_start() -> None:
    for policy in ("lowest-slot", "lowest-window", "carbon-time"):
        assert starts(by_hand(FLAT, [(0.3, 1.7, 1)]), policy) == [0.3]
    assert starts(by_hand([9, 2, 5, 2] + [9] * 20, [(0, 1, 1)]), "lowest-window") == [1.0]


def test_carbon_time_saves_most_an_hour() -> None:
    kg = [10, 6, 1, 0] + [20] * 20
    # one hour at 0, 1, 2, 3: saves 0, 4, 9, 10 in 1, 2, 3, 4 hours
    assert starts(by_hand(kg, [(0, 1, 1)], wait=6), "carbon-time") == [2.0]
    assert starts(by_hand([1, 6, 2] + [20] * 20, [(0, 1, 1)], wait=6), "carbon-time") == [0.0]


def test_only_the_mean_of_the_queue_is_known() -> None:
    kg = [9, 5, 1, 5, 5, 1, 1, 1] + [9] * 20
    jobs = [(0, 1, 1), (0, 3, 1)]  # two hours in the mean
    assert starts(by_hand(kg, jobs, wait=8), "lowest-window", lengths="true") == [2.0, 5.0]
    assert starts(by_hand(kg, jobs, wait=8), "lowest-window", lengths="mean") == [5.0, 5.0]
    queues = (Queue("short", 2.0, 8.0), Queue("long", np.inf, 8.0))
    assert starts(by_hand(kg, jobs, queues=queues), "lowest-window", lengths="mean") == [2.0, 5.0]


def test_all_wait_threshold_waits_for_reserved_cpus_alone() -> None:
    instance = by_hand(FLAT, [(0, 4, 1), (1, 2, 1), (2, 2, 1)], wait=3.0, reserved_cpus=1)
    assert ran(instance, "all-wait-threshold") == [
        ("j0", 0, 4, "reserved"),
        ("j1", 4, 6, "reserved"),  # its limit and a free CPU come at once
        ("j2", 5, 7, "on-demand"),
    ]


def test_wait_awhile_runs_in_the_cleanest_hours() -> None:
    kg = [9, 1, 8, 2, 3, 9] + [9] * 20
    rows = ran(by_hand(kg, [(0.5, 2.5, 1)], wait=3.0), "wait-awhile")  # window [0.5, 6)
    assert rows == [("j0", 1, 2, "on-demand"), ("j0", 3, 4.5, "on-demand")]
    assert co.simulate(by_hand(kg, [(0.5, 2.5, 1)], wait=3.0), "wait-awhile").info["model"] == "suspend-resume"
    assert ran(by_hand(FLAT, [(0.5, 2.5, 1)], wait=3.0), "wait-awhile") == [("j0", 0.5, 3, "on-demand")]


def test_each_piece_takes_reserved_cpus_for_itself() -> None:
    kg = [9, 1, 8, 2] + [9] * 20
    instance = by_hand(kg, [(0, 2, 1), (3, 1, 1)], wait=2.0, reserved_cpus=1, model="suspend-resume")
    assert ran(instance, "wait-awhile") == [
        ("j0", 1, 2, "reserved"),
        ("j0", 3, 4, "reserved"),
        ("j1", 3, 4, "on-demand"),
    ]


def test_ecovisor_runs_in_as_many_clean_hours_as_it_is_told() -> None:
    kg = [float(hour) for hour in range(24, 0, -1)] + [1.0] * 30
    begins = [starts(by_hand(kg, [(0, 2, 1)], wait=24.0), f"ecovisor:clean_share={share}")[0] for share in (0.25, 0.5)]
    assert begins == [19.0, 13.0]  # an hour as clean as the threshold does not run
    with pytest.raises(co.UnsupportedError, match=r"clean_share = 2\.0: must be above 0, at most 1"):
        co.simulate(by_hand(kg, [(0, 2, 1)]), "ecovisor:clean_share=2")


def test_ecovisor_pauses_until_its_waiting_time_is_used_up() -> None:
    kg = [9.0, 1, 9, 9, 1, 1, 9, 9] + [float(value) for value in range(10, 26)] + [1] * 20
    # the day's hours sorted: 1 1 1 9 9 9 9 9 ...: 30 % of 24 h are 7.2 h, the eighth hour has 9
    assert ran(by_hand(kg, [(0, 4, 1)], wait=4.0), "ecovisor") == [
        ("j0", 1, 2, "on-demand"),
        ("j0", 4, 6, "on-demand"),
        ("j0", 7, 8, "on-demand"),  # waited for 0, 2, 3 and 6: all of it
    ]
    assert ran(by_hand(kg, [(0, 4, 1)], wait=1.5), "ecovisor") == [
        ("j0", 1, 2, "on-demand"),
        ("j0", 2.5, 5.5, "on-demand"),
    ]


def test_the_quantile_counts_parts_of_slots() -> None:
    kg = [1.0] * 7 + [2.0] * 40
    # of [0.5, 24.5) 6.5 h are at 1 and the quantile of 7.2 h at 2; from -0 on it is 7 h
    assert ran(by_hand(kg, [(0.5, 8, 1)], wait=2.0), "ecovisor") == [
        ("j0", 0.5, 7, "on-demand"),
        ("j0", 9, 10.5, "on-demand"),
    ]


def test_reserved_cpus_go_to_the_earliest_planned_start() -> None:
    kg = [9, 9, 9, 9, 9, 2, 9, 1] + [9] * 20
    queues = (Queue("short", 1.0, 8.0), Queue("long", np.inf, 6.0))
    # j1 arrives first and plans hour 7, j2 plans hour 5; j0 leaves the CPU at 2
    instance = by_hand(kg, [(0, 2, 1), (0.5, 1, 1), (0.75, 1.5, 1)], queues=queues, reserved_cpus=1)
    planned = starts(instance.with_reserved(0), "lowest-slot")
    assert planned == [5, 7, 5]
    assert ran(instance, "res-first-lowest-slot") == [
        ("j0", 0, 2, "reserved"),
        ("j1", 3.5, 4.5, "reserved"),
        ("j2", 2, 3.5, "reserved"),
    ]


def test_a_job_that_does_not_fit_is_passed_over() -> None:
    kg = [9, 9, 9, 9, 9, 2] + [9] * 20
    instance = by_hand(kg, [(0, 2, 1), (0.25, 1, 2), (0.5, 1, 1)], reserved_cpus=2, wait=8)
    assert ran(instance, "res-first-lowest-slot") == [
        ("j0", 0, 2, "reserved"),
        ("j1", 2, 3, "reserved"),
        ("j2", 0.5, 1.5, "reserved"),
    ]


def test_without_reserved_cpus_res_first_is_the_plain_policy() -> None:
    kg = [9, 4, 6, 2, 8, 1] + [7] * 20
    instance = by_hand(kg, [(0.5, 3, 1), (1, 1, 2)])
    assert ran(instance, "res-first-carbon-time") == ran(instance, "carbon-time")


def test_short_jobs_on_spot_cpus() -> None:
    kg = [9, 1] + [9] * 20
    instance = by_hand(kg, [(0, 1, 1), (0, 3, 1)], reserved_cpus=4, spot=Spot(2.0))
    assert ran(instance, "spot-first-lowest-slot") == [("j0", 1, 2, "spot"), ("j1", 1, 4, "reserved")]
    assert ran(instance, "spot-res-lowest-slot") == [("j0", 1, 2, "spot"), ("j1", 0, 3, "reserved")]
    assert ran(instance, "res-first-lowest-slot") == [("j0", 0, 1, "reserved"), ("j1", 0, 3, "reserved")]


def test_without_spot_cpus_spot_first_is_the_plain_policy() -> None:
    instance = by_hand([9, 1] + [9] * 20, [(0, 1, 1)])
    assert ran(instance, "spot-first-carbon-time") == ran(instance, "carbon-time")


def test_evicted_jobs_restart_at_once_on_demand() -> None:
    jobs = [(float(number), 2.0, 1.0) for number in range(20)]
    instance = by_hand([1.0] * 40, jobs, reserved_cpus=9, spot=Spot(2.0, 0.5))
    found = co.simulate(instance, "spot-first-no-wait", seed=3)
    assert found.metrics["evictions"] > 3
    table = found.schedule
    for name, rows in table.groupby("job"):
        assert rows["option"].tolist() in (["spot"], ["spot", "on-demand"]), name
        if len(rows) == 2:
            assert rows["end_hours"].iloc[0] == rows["start_hours"].iloc[1]
            assert rows["end_hours"].iloc[1] - rows["start_hours"].iloc[1] == pytest.approx(2)


def test_spot_res_restarts_on_reserved_cpus_where_they_are_free() -> None:
    """GAIA, section 4.2.4: an evicted job runs "on either on-demand or reserved instances based on availability"."""
    jobs = [(float(number), 2.0, 1.0) for number in range(20)]
    for reserved, option in ((9, "reserved"), (0, "on-demand")):
        instance = by_hand([1.0] * 40, jobs, reserved_cpus=reserved, spot=Spot(2.0, 0.5))
        found = co.simulate(instance, "spot-res-lowest-slot", seed=3)
        again = found.schedule.groupby("job").filter(lambda rows: len(rows) == 2).groupby("job")
        assert found.metrics["evictions"] == again.ngroups > 3
        assert set(again["option"].last()) == {option}
        assert not co.check(instance, found).violations


def test_longer_jobs_may_be_allowed_on_spot_cpus() -> None:
    jobs = [(0.0, 1.0, 1.0), (0.0, 6.0, 1.0)]
    for longest, options in ((2.0, ["spot", "on-demand"]), (6.0, ["spot", "spot"]), (0.5, ["on-demand"] * 2)):
        instance = by_hand(FLAT, jobs, spot=Spot(longest))
        assert [row[3] for row in ran(instance, "spot-first-no-wait")] == options


def test_pieces_stay_off_spot_cpus() -> None:
    kg = [1, 9, 1] + [9] * 20
    instance = by_hand(kg, [(0, 2, 1), (0, 1, 1)], wait=1.0, spot=Spot(2.0))
    assert [row[3] for row in ran(instance, "spot-first-wait-awhile")] == ["on-demand", "on-demand", "spot"]

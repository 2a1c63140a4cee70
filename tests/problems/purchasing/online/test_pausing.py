"""The threshold rules as policies: pieces by hand, the same slots as the rule, and the proven ratio."""

from __future__ import annotations

import numpy as np
import pytest
from policies_support import FLAT, ran
from purchasing_random import by_hand

import carbonopt as co
from carbonopt.core.errors import UnsupportedError
from carbonopt.guarantees.opr import balanced_thresholds, proven_ratio, run
from carbonopt.problems.purchasing.data.instance import Queue

KG = [0.06, 0.04, 0.031, 0.05, 0.025, 0.023, 0.064, 0.014, *[0.064] * 12]
"""Thresholds of two slots of work, with bounds 14 and 64 g/kWh: 32 and 24."""


def test_a_job_runs_at_its_thresholds() -> None:
    # 31 is below 32, then 23 below 24
    assert ran(by_hand(KG, [(0, 2, 1)]), "threshold") == [("j0", 2, 3, "on-demand"), ("j0", 5, 6, "on-demand")]


def test_once_the_waiting_limit_is_used_up_a_job_runs_to_its_end() -> None:
    assert ran(by_hand(KG, [(0, 2, 1)], wait=1.5), "threshold") == [("j0", 1.5, 3.5, "on-demand")]
    # the slot at 25 begins within the first slot of work, whose threshold is 32: the job has run half of it at 31
    assert ran(by_hand(KG, [(2.5, 2, 1)]), "threshold") == [
        ("j0", 2.5, 3, "on-demand"),
        ("j0", 4, 5.5, "on-demand"),
    ]


def test_switches_make_a_job_pause_less() -> None:
    # a job that runs goes on at up to 31.7, one at rest starts at 21.7 or less
    kg = [0.06, 0.026, 0.031, *KG[6:]]
    assert balanced_thresholds(14.0, 64.0, 2, 5.0)[1] == pytest.approx(21.7, abs=0.01)
    rows = ran(by_hand(kg, [(0, 2, 1)]), "opr:switch=5")
    assert rows == [("j0", 1, 3, "on-demand")]
    assert len(ran(by_hand(kg, [(0, 2, 1)]), "threshold")) == 2
    assert ran(by_hand(kg, [(0, 2, 1)]), "opr:switch=1000") == [("j0", 0, 2, "on-demand")]


def test_a_job_of_unknown_length_meets_the_thresholds_of_the_longest() -> None:
    queues = (Queue("short", 2.0, 10.0), Queue("long", np.inf, 10.0))
    instance = by_hand(KG, [(0, 1, 1), (0, 2, 1)], queues=queues)
    rows = ran(instance, "unknown-length")
    assert [row[:3] for row in rows] == [("j0", 2, 3), ("j1", 2, 3), ("j1", 5, 6)]


@pytest.mark.parametrize("policy", ["threshold", "unknown-length", "opr"])
def test_it_is_the_rule_and_keeps_its_ratio(policy: str) -> None:
    rng = np.random.default_rng(4)
    switch = 20.0 if policy == "opr" else 0.0
    for _ in range(10):
        signal = rng.uniform(50.0, 500.0, size=30)
        low, high = float(signal.min()), float(signal.max())
        jobs = [(float(a), float(n), 1.0) for a, n in zip(rng.integers(0, 8, 5), rng.integers(1, 6, 5), strict=True)]
        queues = (Queue("all", 6.0, 7.0), Queue("more", np.inf, 7.0))
        found = ran(by_hand((signal / 1000).tolist(), jobs, queues=queues), policy)
        for number, (arrival, length, _) in enumerate(jobs):
            size = 6 if policy == "unknown-length" else int(length)
            limits = balanced_thresholds(low, high, size, switch)
            window = signal[int(arrival) : int(arrival + length) + 7]
            runs = run(window, limits, low, high, switch, int(length))
            rows = [row for row in found if row[0] == f"j{number}"]
            slots = [slot for _, start, end, _ in rows for slot in range(int(start), int(end))]
            assert slots == (np.flatnonzero(runs) + arrival).tolist()
            cleanest = np.sort(window)[: int(length)].sum() + 2 * switch
            paid = signal[slots].sum() + 2 * switch * len(rows)
            assert paid <= proven_ratio(limits, low, high, switch, int(length)) * cleanest


@pytest.mark.parametrize("policy", ["threshold", "unknown-length", "opr"])
def test_signals_without_thresholds_run_at_once(policy: str) -> None:
    for kg in (FLAT, [0.0] * 30):
        assert ran(by_hand(kg, [(0, 2, 1)]), policy) == [("j0", 0, 2, "on-demand")]


@pytest.mark.parametrize(
    ("policy", "words"),
    [("threshold:low=0", "low = 0"), ("opr:switch=-1", "switch = -1"), ("threshold:low=9,high=3", "at most high = 3")],
)
def test_bounds_that_cannot_be_are_one_line(policy: str, words: str) -> None:
    with pytest.raises(UnsupportedError, match=words):
        co.simulate(by_hand(FLAT, [(0, 1, 1)]), policy)

"""The mlcluster instance file: round trips, and every fault told at once, by field and row."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import ROOT, load_module
from instance_support import REMOVED, tamper

from carbonopt.core.errors import InputError
from carbonopt.problems.mlcluster.data.file import from_dict
from carbonopt.problems.mlcluster.data.generate import generate

tiny = load_module(ROOT / "instances/tiny_mlcluster.py")
PROFILES = {"p": tiny.profile(1, 1.5, watts=[200.0, 300.0], restart_minutes=2.0)}
JOBS = {"a": (0.0, 60.0, "p", 1, 2), "b": (10.5, 30.0, "p", 1, 1)}
RAW = tiny.tiny("file", "", 2, [100, 200, 300], JOBS, PROFILES, idle_watts=50.0, host_watts=100.0)


def lines(changes: dict[tuple[str | int, ...], Any]) -> list[str]:
    with pytest.raises(InputError) as caught:
        from_dict(tamper(RAW, changes))
    return [str(fault) for fault in caught.value.faults]


def test_round_trip() -> None:
    for instance in (from_dict(RAW), generate(jobs=20, gpus=4, arrival_hours=3, seed=2, mean_jct_hours=9.0)):
        again = from_dict(json.loads(json.dumps(instance.to_dict())))
        assert again.sha256 == instance.sha256
        assert again.to_dict() == instance.to_dict()


def test_what_may_be_left_out() -> None:
    shorter = tamper(RAW, {("objective",): REMOVED, ("provenance",): REMOVED, ("cluster", "host_watts"): REMOVED})
    instance = from_dict(shorter)
    assert (instance.weights.carbon_kg, instance.limits.mean_jct_hours, instance.cluster.host_watts) == (1, None, 0)


FAULTS: dict[str, tuple[dict[tuple[str | int, ...], Any], str]] = {
    "zero power": (
        {("profiles", "p", "watts"): [0.0, 300.0]},
        "profiles.p.watts[0] = 0.0: must be finite and above 0",
    ),
    "falling power": (
        {("profiles", "p", "watts"): [200.0, 150.0]},
        "profiles.p.watts[1] = 150.0: must be at least 200.0, that of one GPU less",
    ),
    "power below idle": (
        {("cluster", "idle_watts_per_gpu"): 160.0},
        "profiles.p.watts[1] = 300.0: must be at least 320.0, what 2 idle GPUs draw",
    ),
    "no throughput": (
        {("profiles", "p", "throughput"): [1.0, 0.0]},
        "profiles.p.throughput[1] = 0.0: must be finite and above 0",
    ),
    "unit of throughput": (
        {("profiles", "p", "throughput"): [2.0, 3.0]},
        "profiles.p.throughput[0] = 2.0: must be 1: throughput is in units of that on one GPU",
    ),
    "lengths of a profile": (
        {("profiles", "p", "watts"): [200.0]},
        "profiles.p.watts = 1 entries: must have one entry for each of the 2 numbers of GPUs of throughput",
    ),
    "no work": ({("jobs", "work_gpu_minutes", 1): 0.0}, "jobs.work_gpu_minutes[1] = 0.0: must be above 0"),
    "more GPUs than there are": (
        {("cluster", "gpus"): 1, ("jobs", "min_gpus", 0): 2},
        "jobs.min_gpus[0] = 2: must be at most 1, the GPUs of the cluster",
    ),
    "more GPUs than are known": (
        {("jobs", "max_gpus", 1): 3},
        "jobs.max_gpus[1] = 3: must be at most 2, the entries of profile 'p'",
    ),
    "fewer than the fewest": (
        {("jobs", "min_gpus", 1): 2},
        "jobs.max_gpus[1] = 1: must be at least 2, the job's min_gpus",
    ),
    "work past the signal": (
        {("jobs", "work_gpu_minutes", 1): 175.0},
        "jobs.work_gpu_minutes[1] = 175.0: is too much for job 'b': alone on the cluster it ends 185.5 min after the "
        "beginning, the signal ends after 180 min",
    ),
    "too much for all together": (
        {("cluster", "gpus"): 1, ("jobs", "work_gpu_minutes"): [150.0, 40.0]},
        "time.slots = 3: must be longer: the jobs need 3.16667 GPU hours, the cluster has 3 from the first arrival to "
        "the end of the signal",
    ),
    "an unknown profile": (
        {("jobs", "profile", 0): "q"},
        "jobs.profile[0] = 'q': is unknown: profiles has 'p'",
    ),
    "an unknown zone": ({("cluster", "zone"): "B"}, "cluster.zone = 'B': is unknown: carbon.zones has 'A'"),
    "a duplicate": ({("jobs", "name", 1): "a"}, "jobs.name[1] = 'a': is a duplicate of row 0"),
    "an unequal column": (
        {("jobs", "profile"): ["p"]},
        "jobs.profile = 1 entries: must have one entry for each of the 2 jobs",
    ),
    "a negative weight": (
        {("objective", "weights", "jct_hours"): -1.0},
        "objective.weights.jct_hours = -1.0: must be at least 0",
    ),
    "an unknown field": (
        {("jobs", "deadline"): [1, 2]},
        "jobs.deadline: is not a known field",
    ),
}


@pytest.mark.parametrize("case", FAULTS)
def test_faults(case: str) -> None:
    changes, message = FAULTS[case]
    assert any(line.startswith(message) for line in lines(changes)), lines(changes)


def test_all_faults_at_once() -> None:
    found = lines({("jobs", "work_gpu_minutes", 0): -1.0, ("cluster", "gpus"): 0, ("profiles", "p", "watts"): [0, 1]})
    assert len(found) == 3

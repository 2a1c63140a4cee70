"""The judge of an ML cluster's schedules: every violation by tampering, and the metrics by hand."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, load_module

from carbonopt.core.report import Report
from carbonopt.problems.mlcluster import PROBLEM
from carbonopt.problems.mlcluster.data.file import from_dict
from carbonopt.problems.mlcluster.data.generate import generate
from carbonopt.problems.mlcluster.online.run import simulate
from carbonopt.problems.mlcluster.verify.check import check
from carbonopt.simulation import ForecastModel, make_policy
from carbonopt.simulation.options import SimulationOptions

tiny = load_module(ROOT / "instances/tiny_mlcluster.py")
# 3 GPUs of 50 W in hosts of 2 with 100 W each; slots of an hour at 100, 400, 200 g/kWh. x arrives at 0 with 100 min of
# work, on 1 or 2 GPUs of throughput 1, 1.6 and 200, 400 W, restarts take 10 min; y arrives at 30 with 60 min on 2 GPUs.
PROFILES = {
    "x": tiny.profile(1, 1.6, watts=[200.0, 400.0], restart_minutes=10.0),
    "y": tiny.profile(1, 1, watts=[250.0, 300.0]),
}
RAW = tiny.tiny(
    "check", "", 3, [100, 400, 200], {"x": (0.0, 100.0, "x", 1, 2), "y": (30.0, 60.0, "y", 2, 2)}, PROFILES, 50.0, 100.0
)
SOUND = [("x", 0, 30, 1), ("x", 30, 50, 1), ("x", 120, 161.25, 2), ("y", 60, 120, 2)]


def report(rows: list[tuple[Any, ...]], **objective: Any) -> Report:
    columns = ("job", "start_minutes", "end_minutes", "gpus")
    raw = RAW | ({"objective": objective} if objective else {})
    return check(from_dict(raw), {name: [row[k] for row in rows] for k, name in enumerate(columns)})


def found(rows: list[tuple[Any, ...]]) -> list[str]:
    return [str(violation) for violation in report(rows).violations]


def test_metrics_by_hand() -> None:
    result = report(SOUND)
    assert result.violations == ()
    first, second, third = 50 / 60 * 0.15 * 0.1, 41.25 / 60 * 0.3 * 0.2, 60 / 60 * 0.2 * 0.4  # kg above idle
    idle = (3 * 50 + 2 * 100) / 1000 * 0.7
    shares = 50 / 60 * 0.25 * 0.1 + 41.25 / 60 * 0.5 * 0.2 + 0.4 * 0.4
    assert result.objective == pytest.approx(first + second + third, rel=1e-12)
    assert result.metrics == pytest.approx(
        {
            "carbon_kg": idle + first + second + third,
            "added_carbon_kg": first + second + third,
            "idle_carbon_kg": idle,
            "footprint_kg": shares,
            "energy_kwh": 0.35 * 3 + 50 / 60 * 0.15 + 41.25 / 60 * 0.3 + 0.2,
            "added_energy_kwh": 50 / 60 * 0.15 + 41.25 / 60 * 0.3 + 0.2,
            "peak_kw": 0.65,
            "jct_hours": (161.25 + 90) / 60,
            "mean_jct_hours": (161.25 + 90) / 120,
            "median_jct_hours": (161.25 + 90) / 120,
            "p95_jct_hours": (90 + 0.95 * 71.25) / 60,
            "max_jct_hours": 161.25 / 60,
            "mean_wait_hours": 0.25,
            "gpu_hours": (50 + 82.5 + 120) / 60,
            "mean_gpus": 252.5 / 151.25,
            "utilisation": 252.5 / 3 / 161.25,
            "preemptions": 1,
            "rescalings": 0,
            "churn": 1,
            "restart_gpu_hours": 20 / 60,
            "jobs_completed": 2,
            "jobs_completed_share": 1,
            "makespan_hours": 161.25 / 60,
        },
        rel=1e-12,
    )


def test_a_change_of_scale_is_a_restart_too() -> None:
    rows = [("x", 0, 60, 1), ("x", 60, 95, 2), ("y", 120, 180, 2)]
    result = report(rows)
    assert result.violations == ()  # 60 + (35 - 10) 1.6 = 100
    assert [result.metrics[name] for name in ("rescalings", "preemptions", "churn")] == [1, 0, 1]
    assert found([("x", 0, 60, 1), ("x", 60, 94, 2), ("y", 120, 180, 2)]) == [
        "work: job 'x' does 98.4 1-GPU minutes of work, it needs 100"
    ]


@pytest.mark.parametrize("policy", ["green", "tiresias", "ecovisor", "fcfs"])
def test_churn_is_what_the_rows_of_a_simulation_say(policy: str) -> None:
    instance = generate(jobs=40, gpus=8, arrival_hours=4, seed=3)
    forecast = ForecastModel().of(instance.intensity, 1.0)
    schedule = simulate(instance, make_policy(PROBLEM, policy), SimulationOptions(forecast)).schedule
    assert schedule is not None
    runs: dict[str, list[tuple[float, float, int]]] = {}
    for name, start, end, gpus in zip(*schedule.values(), strict=True):
        runs.setdefault(name, []).append((start, end, gpus))
    count = 0
    for rows in runs.values():
        rows.sort()
        for before, after in pairwise(rows):
            count += after[0] > before[1] or after[2] != before[2]  # a pause, or another scale at once
    assert check(instance, schedule).metrics["churn"] == count
    assert (count > 0) == (policy != "fcfs")


def test_the_weight_and_the_limit_of_completion_times() -> None:
    jct = (161.25 + 90) / 60
    weighed = report(SOUND, weights={"carbon_kg": 2.0, "jct_hours": 0.5})
    assert weighed.objective == pytest.approx(2 * weighed.metrics["added_carbon_kg"] + 0.5 * jct)
    assert report(SOUND, limits={"mean_jct_hours": jct / 2}).violations == ()
    late = report(SOUND, limits={"mean_jct_hours": 2.0})
    assert [violation.constraint for violation in late.violations] == ["limit"]


TAMPERED = {
    "unknown job": (("z", 0, 50, 1), "format: row 4 names an unknown job 'z'"),
    "no moment": (("x", "a", 50, 1), "format: job 'x' runs from 'a' to 50: must be two moments, the second later"),
    "no length": (("x", 50, 50, 1), "format: job 'x' runs from 50 to 50: must be two moments, the second later"),
    "half a GPU": (("x", 170, 175, 0.5), "format: job 'x' has 0.5 GPUs: must be a whole number above 0"),
    "too few": (("y", 170, 175, 1), "scale: job 'y' has 1 GPUs from minute 170: 2 to 2 are allowed"),
    "too many": (("x", 170, 175, 3), "scale: job 'x' has 3 GPUs from minute 170: 1 to 2 are allowed"),
    "early": (("y", 20, 25, 2), "release: job 'y' runs from minute 20, it arrives at 30"),
    "late": (("x", 170, 181, 1), "horizon: job 'x' runs until minute 181, the signal ends at 180"),
    "twice": (("x", 45, 55, 1), "overlap: job 'x' starts at minute 45 while it runs until 50"),
    "crowd": (("y", 150, 170, 2), "capacity: jobs x, y use up to 4 GPUs from minute 150 to 161.25, 3 are there"),
}


@pytest.mark.parametrize("case", TAMPERED)
def test_what_is_wrong_is_told(case: str) -> None:
    row, message = TAMPERED[case]
    assert any(line.startswith(message) for line in found([*SOUND, row])), found([*SOUND, row])


def test_columns_must_be_there() -> None:
    assert "must have the columns" in report([]).violations[0].message or report([]).violations
    broken = check(from_dict(RAW), {"job": [], "start_minutes": []})
    assert [violation.constraint for violation in broken.violations] == ["format"]
    assert broken.objective is None


def test_a_gpu_changes_hands_at_one_moment() -> None:
    edge = 60.000000000000007
    rows = [("x", 0, edge, 1), ("x", 75, 125, 1), ("y", edge, edge + 60, 2)]
    assert found(rows) == []


@pytest.mark.parametrize("policy", ["green", "tiresias", "ecovisor"])
def test_the_footprint_is_rebuilt_from_the_schedule_alone(policy: str) -> None:
    instance = generate(jobs=60, gpus=8, arrival_hours=12, seed=3)
    forecast = ForecastModel().of(instance.intensity, 1.0)
    outcome = simulate(instance, make_policy(PROBLEM, policy), SimulationOptions(forecast))
    assert outcome.schedule is not None
    result = check(instance, outcome.schedule)
    assert result.violations == ()
    profiles = {profile.name: profile for profile in instance.profiles}
    name = dict(zip(instance.jobs.name, instance.jobs.profile, strict=True))
    footprint = added = 0.0
    for job, start, end, gpus in zip(*outcome.schedule.values(), strict=True):  # minute by minute
        edges = np.unique([start, end, *np.arange(np.ceil(start), end)])
        grams = instance.intensity[np.minimum(edges[:-1] // 60, instance.time.slots - 1).astype(int)]
        watts = profiles[name[job]].watts[gpus - 1]
        cluster = instance.cluster
        share = watts + gpus * cluster.host_watts / cluster.gpus_per_host
        footprint += float((share / 6e4 * grams * np.diff(edges)).sum()) / 1000
        added += float(((watts - gpus * cluster.idle_watts_per_gpu) / 6e4 * grams * np.diff(edges)).sum()) / 1000
    assert result.metrics["footprint_kg"] == pytest.approx(footprint, rel=1e-9)
    assert result.objective == pytest.approx(added, rel=1e-9)

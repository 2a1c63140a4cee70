"""Mode ``artifact``: the authors' simulator, to the last digit."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import GOLDEN, ROOT, load_module

import carbonopt as co
from carbonopt.core.errors import UnsupportedError
from carbonopt.problems.purchasing.data.instance import PurchasingInstance, PurchasingJobs, Queue, Spot
from carbonopt.problems.purchasing.online import artifact
from carbonopt.problems.purchasing.online.heap import refilled
from carbonopt.problems.purchasing.online.rule import PurchaseRule
from carbonopt.problems.purchasing.online.run import simulate
from carbonopt.simulation import Policy, SignalForecast
from carbonopt.simulation.options import SimulationOptions

REFERENCE = load_module(ROOT / "tests/reference/gaia_ticks.py")
TOTALS = GOLDEN / "gaia_golden.json"
FORMS = {"carbon": "", "carbon-cost": "res-first-", "carbon-spot": "spot-first-", "carbon-cost-spot": "spot-res-"}
RULES = {
    "lowest": ("lowest-slot", "mean"),
    "waiting": ("lowest-window", "mean"),
    "oracle": ("lowest-window", "true"),
    "cst_average": ("carbon-time", "mean"),
    "cst_oracle": ("carbon-time", "true"),
}


def hourly(folder: Path, zone: str, start: int, hours: int) -> co.CarbonSignal:
    """Return hours of a zone's year; the year begins again at its end."""
    with (folder / f"carbon/{zone}_2022_hourly.csv").open() as file:
        values = np.array([float(row["carbon_intensity_g_per_kwh"]) for row in csv.DictReader(file)])
    return co.CarbonSignal((zone,), np.take(values, range(start, start + hours), mode="wrap")[None], co.TimeGrid(hours))


@cache
def table(path: Path) -> Any:
    return np.loadtxt(path, delimiter=",", skiprows=1)


def instance_of(
    carbon: co.CarbonSignal, rows: Any, hours_per_unit: float, waits: list[float], reserved: int
) -> PurchasingInstance:
    names = tuple(f"j{number}" for number in range(len(rows)))
    jobs = PurchasingJobs(names, rows[:, 0] * hours_per_unit, rows[:, 1] * hours_per_unit, rows[:, 2])
    queues = (Queue("short", 2.0, waits[0]), Queue("long", float("inf"), waits[1]))
    return PurchasingInstance(
        name="gaia", carbon=carbon, jobs=jobs, queues=queues, reserved_cpus=reserved, spot=Spot(2.0)
    )


def policy_of(scheduling: str, carbon: str, waits: str) -> tuple[str, str]:
    """Return the name here of what the simulator is told, and what it knows of lengths."""
    if scheduling == "cost":
        return "all-wait-threshold", "mean"
    if scheduling.startswith("suspend-resume"):
        base = "ecovisor" if "threshold" in scheduling else "wait-awhile"
        return ("spot-first-" if "spot" in scheduling else "") + base, "mean"
    rule, lengths = RULES[carbon]
    return FORMS[scheduling] + ("no-wait" if waits == "0x0" else rule), lengths


def golden(kind: str) -> list[Any]:
    if not TOTALS.is_file():
        return [pytest.param(None, marks=pytest.mark.skip(reason=f"no {TOTALS}: the authors' totals are not here"))]
    content = json.loads(TOTALS.read_text())
    if kind == "runs":
        return [
            pytest.param(run, id=f"{number}-{run['scheduling_policy']}-{run['carbon_policy']}-R{run['reserved']}")
            for number, run in enumerate(content["runs"])
        ]
    subsets = [run for run in content["year_scale"]["subset_runs"] if run["error"] is None]
    return [
        pytest.param(run, id=f"{number}-{run['sp']}-{run['cp']}-{run['trace']}-{run['jobs_asked']}")
        for number, run in enumerate(subsets)
        if not run["trace"].startswith("mustang")
    ]


@pytest.mark.parametrize("run", golden("runs"))
def test_every_run_of_the_papers_figures(run: Any, data_folder: Path) -> None:
    signal = hourly(data_folder, run["carbon_zone"], run["start_index"], 720)
    waits = [float(part) for part in run["waiting"].split("x")]
    rows = table(data_folder / f"jobs/{run['task_trace']}.csv")
    instance = instance_of(signal, rows, 1 / 3600, waits, run["reserved"])
    policy, lengths = policy_of(run["scheduling_policy"], run["carbon_policy"], run["waiting"])
    found = co.simulate(instance, policy, mode="artifact", lengths=lengths)
    assert found.metrics["carbon_kg"] * 1000 == pytest.approx(run["carbon"], rel=1e-9)
    assert found.metrics["cost_usd"] == pytest.approx(run["dollars"], rel=1e-9)
    assert found.metrics["mean_wait_hours"] == pytest.approx(run["mean_wait_h"], rel=1e-9)
    assert len(found.schedule) == run["n_rows"]


@pytest.mark.parametrize("run", golden("subsets"))
def test_the_first_jobs_of_the_year_traces(run: Any, data_folder: Path, monkeypatch: Any) -> None:
    rows = table(data_folder / f"jobs/{run['trace']}.csv")
    exact = rows[:, 1] * 720  # the simulator takes the means of the whole file, and then runs its first jobs
    means = [np.floor(own.mean()) for own in (exact[exact <= 1440], exact[exact >= 1440])]
    read = artifact.ticked

    def ticked(instance: PurchasingInstance) -> artifact.TickedJobs:
        jobs = read(instance)
        return replace(jobs, expected=np.where(jobs.length < 1440, *means))

    monkeypatch.setattr(artifact, "ticked", ticked)
    waits = [float(part) for part in run["w"].split("x")]
    signal = hourly(data_folder, run["zone"], 0, 9760)
    instance = instance_of(signal, rows[: run["jobs_asked"]], 1.0, waits, run["r"])
    policy, lengths = policy_of(run["sp"], run["cp"], run["w"])
    found = co.simulate(instance, policy, mode="artifact", lengths=lengths)
    # pai-100k: hours such as 0.0836... are a tick less there where their product with 720 is just below a whole one
    rel = 1e-9 if run["trace"].startswith("azure") else 1e-5
    assert found.metrics["carbon_kg"] * 1000 == pytest.approx(run["carbon"], rel=rel)
    assert found.metrics["cost_usd"] == pytest.approx(run["dollars"], rel=rel)
    assert found.metrics["mean_wait_hours"] == pytest.approx(run["mean_wait_h"], rel=rel)


@pytest.mark.parametrize("form", ["", "res-first", "spot-first", "spot-res"])
@pytest.mark.parametrize(
    "base",
    ["no-wait", "all-wait-threshold", "lowest-slot", "lowest-window", "carbon-time", "wait-awhile", "ecovisor"],
)
def test_rows_are_those_of_a_naive_simulator(base: str, form: str) -> None:
    if base in ("wait-awhile", "ecovisor") and form in ("res-first", "spot-res"):
        pytest.skip("start-time policies alone are work conserving")
    rule = PurchaseRule(base, "spot" in form, "res" in form or base == "all-wait-threshold")
    for seed in range(3):
        rng = np.random.default_rng(seed)
        jobs, hours = 25, 50
        # many arrivals at one tick, few values of the signal: ties of all kinds
        arrival = np.sort(rng.integers(0, 12, jobs) * rng.choice([60, 360, 719]))
        length = rng.choice([60, 300, 719, 720, 1439, 1440, 1441, 2000, 3000], jobs)
        waits = (int(rng.choice([0, 360, 6 * 720])), int(rng.choice([720, 12 * 720])))
        signal = [int(value) for value in rng.integers(1, rng.choice([4, 300]), hours)]
        cpus, reserved = rng.integers(1, 4, jobs), int(rng.choice([0, 3, 8]))
        week = REFERENCE.Week(arrival.tolist(), length.tolist(), cpus.tolist(), signal, waits, reserved)
        carbon = co.CarbonSignal(("A",), [[float(value) for value in signal]], co.TimeGrid(hours))
        rows = np.column_stack((arrival, length, cpus)).astype(float)
        instance = instance_of(carbon, rows, 1 / 720, [wait / 720 for wait in waits], reserved)
        for lengths in ("mean", "true") if base in ("lowest-window", "carbon-time") else ("mean",):
            options = SimulationOptions(SignalForecast(instance.intensity), "artifact", lengths)
            found = simulate(instance, rule, options).schedule
            assert found is not None
            columns = (found[name] for name in ("job", "start_hours", "end_hours", "option"))
            mine = [(int(j[1:]), round(s * 720), round(e * 720), how) for j, s, e, how in zip(*columns, strict=True)]
            assert sorted(mine) == REFERENCE.simulate(week, base, form, lengths)


def test_the_heap_is_that_of_entries_with_a_priority_alone() -> None:
    import heapq

    for seed in range(30):
        rng = np.random.default_rng(seed)
        priority = np.sort(rng.integers(0, rng.integers(1, 9), rng.integers(0, 25)))
        entries = [REFERENCE._Entry(int(at), number) for number, at in enumerate(priority)]
        for rounds in range(5):
            assert [entry.task for entry in entries] == refilled(priority, rounds).tolist()
            heap: list[Any] = []
            for entry in entries:
                heapq.heappush(heap, entry)
            entries = [heapq.heappop(heap) for _ in range(len(heap))]


def small(**changes: Any) -> PurchasingInstance:
    jobs = PurchasingJobs(("a", "b"), [0.0, 0.5], [1.0, 2.0], [1, 1])
    values: dict[str, Any] = {
        "name": "small",
        "carbon": co.CarbonSignal(("A",), [[5.0, 1.0, 3.0] + [4.0] * 30], co.TimeGrid(33)),
        "jobs": jobs,
    }
    return PurchasingInstance(**(values | changes))


def test_one_queue_expects_ten_seconds_as_the_simulator_does() -> None:
    instance = small(queues=(Queue("all", float("inf"), 6.0),))
    found = co.simulate(instance, "lowest-window", mode="artifact")
    assert found.schedule["start_hours"].tolist() == pytest.approx([1.0, 1.5])  # offsets are whole hours


def test_prepaid_until_the_last_start_and_reserved_free_one_tick_late() -> None:
    jobs = PurchasingJobs(("a", "b"), [0.0, 1.0], [1.0, 1.0], [1, 1])
    found = co.simulate(small(jobs=jobs, reserved_cpus=1), "no-wait", mode="artifact")
    assert found.schedule["option"].tolist() == ["reserved", "on-demand"]
    assert found.metrics["prepaid_usd"] == pytest.approx(0.4 * 0.0624)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"jobs": PurchasingJobs(("a",), [0.0], [0.001], [1])}, "job 'a' is shorter"),
        ({"carbon": co.CarbonSignal(("A",), [[1.0] * 40], co.TimeGrid(40, 1.0001))}, "whole ticks"),
    ],
)
def test_what_is_no_whole_number_of_ticks_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(UnsupportedError, match=words):
        co.simulate(small(**changes), "no-wait", mode="artifact")


def test_no_forecast_errors_and_no_policies_of_ones_own() -> None:
    with pytest.raises(UnsupportedError, match="perfect forecasts"):
        co.simulate(small(), "carbon-time", mode="artifact", forecast="error=0.2")
    with pytest.raises(UnsupportedError, match="the policies of GAIA"):
        co.simulate(small(), Policy(), mode="artifact")

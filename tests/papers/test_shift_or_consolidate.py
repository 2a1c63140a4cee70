"""Instances without idle power become machines that are on and off, and what a plan emits is kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_support import errors, run

import carbonopt as co
from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.time import TimeGrid
from carbonopt.idle_power import on_machines, with_idle_power
from carbonopt.papers.figure import Run, figure_of
from carbonopt.papers.shift_or_consolidate import earliest, in_zone
from carbonopt.problems.mosp.data.instance import Clusters, MospInstance, MospJobs
from carbonopt.problems.mosp.data.objectives import CarbonObjective
from carbonopt.problems.mosp.data.schedule import from_schedule
from carbonopt.problems.purchasing.data.instance import PurchasingInstance, PurchasingJobs


def two_jobs(**changes: Any) -> MospInstance:
    """Two jobs of one slot, in slots 0 and 2, of 3 and 2 units of 100 W on a cluster of 8."""
    given: dict[str, Any] = {
        "name": "mosp-two",
        "carbon": CarbonSignal(("A",), np.array([[100.0, 200.0, 300.0]]), TimeGrid(3)),
        "resources": ("cpu",),
        "clusters": Clusters(("c",), ("A",), np.array([[8.0]]), np.array([[100.0]])),
        "jobs": MospJobs(
            ("a", "b"), np.array([0, 2]), np.array([1, 1]), np.array([1.0, 3.0]), np.array([[3.0], [2.0]])
        ),
        "objective": CarbonObjective(1.0, 0.0, 0.0),
    }
    return MospInstance(**{**given, **changes})


def purchasing(**changes: Any) -> PurchasingInstance:
    given: dict[str, Any] = {
        "name": "purchasing-one",
        "carbon": CarbonSignal(("A",), np.array([[100.0, 200.0] + [300.0] * 30]), TimeGrid(32)),
        "jobs": PurchasingJobs(("a",), np.array([0.25]), np.array([0.75]), np.array([2.0])),
        "reserved_cpus": 4,
        "watts_per_cpu": 10.0,
    }
    return PurchasingInstance(**{**given, **changes})


@pytest.mark.parametrize(("on_kg", "kg"), [(0.005, 0.09 + 0.02 + 2 * 0.005), (0.02, 0.09 + 0.03 + 0.02)])
def test_by_hand(on_kg: float, kg: float) -> None:
    """Jobs emit 0.3 * 0.1 + 0.2 * 0.3 = 0.09 kg; 50 W of idling 0.03 kg in all slots, 0.02 kg in slots 0 and 2."""
    target = with_idle_power(two_jobs(), idle_watts=50, on_kg=on_kg)
    assert target.value_per_kwh.tolist() == pytest.approx([0.1, 0.2, 0.3])
    assert co.solve(target, "milp", mip_rel_gap=0).objective == pytest.approx(kg)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_without_idle_power_a_plan_emits_what_it_did(seed: int) -> None:
    source = in_zone(co.generate("mosp", preset="bench", jobs=40, clusters=2, slots=24, load=0.2, seed=seed), "AU-SA")
    plan = co.solve(source, "greedy-clean")
    _, machine, start = map(np.array, from_schedule(source, plan.columns))
    without, idle = with_idle_power(source, windows="horizon"), with_idle_power(source, 320, 0.02, windows="horizon")
    emitted = [co.evaluate(target, on_machines(target, machine, start)).objective for target in (without, idle)]
    assert emitted[0] == pytest.approx(plan.metrics["carbon_kg"], rel=1e-12)
    assert emitted[1] > emitted[0]


def test_the_optimum_without_idle_power_is_that_of_mosp() -> None:
    source = in_zone(co.generate("mosp", preset="bench", jobs=8, clusters=1, slots=12, load=0.2, seed=4), "AU-SA")
    best = co.solve(source, "milp", mip_rel_gap=0).metrics["carbon_kg"]
    assert co.solve(with_idle_power(source), "milp", mip_rel_gap=0).objective == pytest.approx(best, rel=1e-9)


def test_a_cluster_becomes_machines_and_parts_of_units_are_counted() -> None:
    jobs = replace(two_jobs().jobs, demand=np.array([[2.5], [2.0]]))
    target = with_idle_power(two_jobs(jobs=jobs), units_per_machine=3)
    assert target.machines.name == ("c-0", "c-1", "c-2")
    assert target.machines.capacity.tolist() == [[30], [30], [20]]
    assert target.jobs.use.tolist() == [[25], [20]]


def test_reserved_cpus_become_machines() -> None:
    """In quarters of an hour the job keeps its times: 20 W for 0.75 h at 100 g/kWh."""
    source = purchasing()
    quarters = with_idle_power(source, units_per_machine=2, slot_minutes=15)
    assert len(quarters.machines) == 2
    assert (quarters.jobs.arrival[0], quarters.jobs.duration[0]) == (1, 3)
    assert quarters.jobs.deadline[0] == np.floor(source.latest_end_hours[0] * 4)
    assert co.solve(quarters, "milp").objective == pytest.approx(0.02 * 0.75 * 0.1)
    hours = with_idle_power(source)
    assert (hours.jobs.arrival[0], hours.jobs.duration[0]) == (1, 1)
    assert hours.jobs.power_kw[0] == pytest.approx(0.02 * 0.75)


def clusters(capacity: Any, watts: Any) -> MospInstance:
    names = tuple(f"c{row}" for row in range(len(capacity)))
    return two_jobs(clusters=Clusters(names, ("A",) * len(names), np.array(capacity), np.array(watts)))


@pytest.mark.parametrize(
    ("source", "arguments", "words"),
    [
        (two_jobs, {"idle_watts": float("nan")}, "idle_watts = nan: must be a number from 0"),
        (two_jobs, {"on_kg": -1}, "on_kg = -1: must be a number from 0"),
        (two_jobs, {"units_per_machine": 0}, "units_per_machine = 0"),
        (two_jobs, {"zone": "B"}, "zone"),
        (two_jobs, {"windows": "soft"}, "windows"),
        (two_jobs, {"slot_minutes": 5.0}, "slot_minutes is for purchasing"),
        (purchasing, {"slot_minutes": 7.0}, "must divide the 60 minutes"),
        (purchasing, {"slot_minutes": float("nan")}, "must divide the 60 minutes"),
        (lambda: purchasing(reserved_cpus=0), {}, "must have reserved CPUs"),
        (lambda: co.generate("mosp"), {}, "has clusters in 3 zones, name one"),
        (lambda: co.generate("ecas", jobs=2), {}, "must be of mosp or purchasing"),
        (lambda: two_jobs(jobs=replace(two_jobs().jobs, demand=np.array([[1 / 3], [1]]))), {}, "multiple of 1/1000"),
        (lambda: two_jobs(jobs=replace(two_jobs().jobs, deadline=np.array([0.5, 3]))), {}, "deadlines are hard"),
        (lambda: clusters([[[8.0, 8, 4]]], [[100.0]]), {}, "capacities change"),
        (lambda: clusters([[8.0], [8]], [[100.0], [9]]), {}, "unlike power"),
    ],
)
def test_what_is_refused(source: Any, arguments: dict[str, Any], words: str) -> None:
    with pytest.raises((co.InputError, co.UnsupportedError), match=words):
        with_idle_power(source(), **arguments)


def test_the_figure_encloses_the_optimum() -> None:
    """On few jobs the whole program finds the optimum between the plan `both` and its bound."""
    source = co.generate("mosp", preset="bench", jobs=6, clusters=1, slots=12, load=0.5, seed=2)
    [row] = figure_of("shift-or-consolidate").table(Run([source])).to_dict("records")
    target = with_idle_power(in_zone(source, row["zone"]), 320, 0.02)
    optimum = co.solve(target, "milp", mip_rel_gap=0).objective
    assert row["both_bound_kg"] - 1e-9 <= optimum <= row["both_kg"] + 1e-9
    assert row["both_kg"] <= min(row["consolidate_kg"], row["shift_then_kg"], row["neither_kg"]) + 1e-9
    assert row["shift_then_kg"] <= row["shift_kg"] + 1e-9
    assert row["promised_kg"] < row["shift_kg"]
    assert row["both_percent"] <= row["both_most_percent"]
    assert co.evaluate(target, on_machines(target, *earliest(target))).objective == row["neither_kg"]


def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    two_jobs().write("m.json")
    assert run("convert", "ecas", "--from", "m.json", "--idle-watts", "50", "-o", "e.json").exit_code == 0
    assert co.read("e.json").machines.idle_kw.tolist() == [0.05]
    assert "either --icon FOLDER or --from FILE" in errors("convert", "ecas", "-o", "x.json")[0]
    assert "needs --from FILE" in errors("convert", "ecas", "--icon", ".", "--idle-watts", "5", "-o", "x.json")[0]
    assert "needs --icon" in errors("convert", "ecas", "--from", "m.json", "--prices", "actual", "-o", "x.json")[0]
    assert "m.json" in errors("convert", "ecas", "--from", "m.json", "-o", "m.json")[0]
    assert "none.json" in errors("convert", "ecas", "--from", "none.json", "-o", "x.json")[0]

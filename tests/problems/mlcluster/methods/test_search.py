"""Schedules that are made from nothing, and the search that takes jobs out and puts them back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from conftest import ROOT, load_module

import carbonopt as co
from carbonopt.algorithms.kernel import loops
from carbonopt.core.options import Options
from carbonopt.problems.mlcluster.data.file import from_dict
from carbonopt.problems.mlcluster.data.generate import generate
from carbonopt.problems.mlcluster.data.instance import MlClusterInstance
from carbonopt.problems.mlcluster.data.settings import Weights
from carbonopt.problems.mlcluster.methods.price.bound import Proof, ascend
from carbonopt.problems.mlcluster.methods.price.construct import construct
from carbonopt.problems.mlcluster.methods.price.improve import Search
from carbonopt.problems.mlcluster.methods.price.parameters import RepairParameters
from carbonopt.problems.mlcluster.methods.price.place_kernels import place_all
from carbonopt.problems.mlcluster.methods.price.room import Room
from carbonopt.problems.mlcluster.methods.price.rows import Rows, rows_of, schedule_of
from carbonopt.problems.mlcluster.methods.price.timeline import hold, nothing_held
from carbonopt.problems.mlcluster.verify.check import check

tiny = load_module(ROOT / "instances/tiny_mlcluster.py")
OPTIONS = Options(time_limit=None)


def drawn(seed: int, jobs: int = 12, drain_hours: float = 30, jct_weight: float = 0.0) -> MlClusterInstance:
    instance = generate(
        jobs=jobs, gpus=8, workload="supercomputer", arrival_hours=10, drain_hours=drain_hours, seed=seed
    )
    return instance.with_objective(Weights(1, jct_weight))


def constructed(instance: MlClusterInstance, share: float = 1.02) -> tuple[Proof, Rows]:
    proof = ascend(instance, OPTIONS)
    rows = construct(proof, OPTIONS, share)
    assert rows is not None
    return proof, rows


@pytest.mark.parametrize("seed", range(4))
def test_a_schedule_from_nothing_has_every_job_and_keeps_to_the_gpus(seed: int) -> None:
    instance = drawn(seed)
    proof, rows = constructed(instance)
    report = check(instance, schedule_of(instance.jobs.name, rows))
    assert report.objective is not None
    assert not report.violations
    assert proof.bound <= report.objective


def test_the_largest_job_has_its_cheapest_runs() -> None:
    """It is the first; at its own prices alone it runs as if it were alone on the cluster."""
    instance = drawn(3)
    proof, rows = constructed(instance, share=1.0)
    largest = int(np.argmax(instance.jobs.work_gpu_minutes))
    room = Room(proof, Rows.space(0), 1)
    room.work.price[:] = proof.prices
    with loops(steps=0):
        place_all(room.tables, room.state, np.array([largest]), room.work)
    mine = rows.job == largest
    for column, alone in zip(rows, room.rows, strict=True):
        np.testing.assert_array_equal(column[mine], alone)


def test_in_a_tight_horizon_prices_must_not_fall() -> None:
    instance = generate(jobs=200, drain_hours=12, seed=54)
    proof = ascend(instance, OPTIONS)
    assert construct(proof, OPTIONS, 1.06) is None
    rows = construct(proof, OPTIONS, 1.06, 1.06)
    assert rows is not None
    assert not check(instance, schedule_of(instance.jobs.name, rows)).violations
    found = co.solve(instance, "price", work_limit=3, params={"repair": {"patience": 0.0}})
    assert found.gap is not None
    assert found.gap < 0.02


def test_nor_when_the_time_is_out() -> None:
    proof, _ = constructed(drawn(1))
    assert construct(proof, Options(time_limit=None, work_limit=1e-9), 1.0) is None


@pytest.mark.parametrize(("jct_weight", "most_jobs"), [(0.0, 2), (0.0, 4), (0.05, 2)])
def test_after_any_rounds_the_search_counts_what_the_checker_counts(jct_weight: float, most_jobs: int) -> None:
    instance = drawn(5, jct_weight=jct_weight)
    proof, rows = constructed(instance)
    search = Search(proof, RepairParameters(most_jobs=most_jobs, temperature=0.05), rows, seed=1)
    names = instance.jobs.name
    for _ in range(5):
        assert search.rounds(20) > 0
        for found, counted in ((search.room.rows, search.room.state.totals[0]), (search.rows, search.best)):
            report = check(instance, schedule_of(names, found))
            assert not report.violations
            assert report.objective == pytest.approx(float(counted), rel=1e-9)
        held = nothing_held(2 * len(search.room.rows.job) + 2)
        now = search.room.rows
        with loops(steps=0):
            hold(held, now.start, now.end, now.gpus, 1)
        steps = int(held.steps[0])
        state = search.room.state
        assert int(state.held.steps[0]) == steps
        np.testing.assert_array_equal(state.held.moment[:steps], held.moment[:steps])
        np.testing.assert_array_equal(state.held.gpus[:steps], held.gpus[:steps])
    assert search.done == 100


def test_jobs_for_whose_runs_arrays_have_no_room_are_put_back_as_they_were() -> None:
    instance = drawn(5)
    proof, rows = constructed(instance)
    search = Search(proof, RepairParameters(), rows, seed=1)
    room = search.room
    before = schedule_of(instance.jobs.name, room.rows)
    room.work = room.work._replace(new=Rows.space(len(rows.job) - 1))
    search.rounds(20)
    assert search.done == 1
    assert schedule_of(instance.jobs.name, room.rows) == before
    search.rounds(20)
    assert search.done == 21


def test_rows_are_a_schedule_and_back() -> None:
    instance = drawn(2)
    _, rows = constructed(instance)
    schedule = schedule_of(instance.jobs.name, rows)
    assert schedule_of(instance.jobs.name, rows_of(instance.jobs.name, schedule)) == schedule


def staircase(steps: int = 20) -> MlClusterInstance:
    """Jobs on two GPUs that begin one after the other and end in reverse order, and one that fits to all steps.

    It has a run on each step, on both sides, and in the order of work it is the last one.
    """
    gpus, minutes = 2 * steps + 1, 2880
    begin = 10.0 * np.arange(1, steps + 1)
    end = minutes - 10.0 * (steps + 1) - np.arange(1, steps + 1) * -5.0
    within = np.arange(minutes)
    free = gpus - 2 * ((within >= begin[:, None]) & (within < end[:, None])).sum(axis=0)
    work = 0.99 * float((1 + 0.1 * (free - 1)).sum())
    jobs = {f"a{k}": (float(begin[k]), float(2 * (end - begin)[k]), "two", 2, 2) for k in range(steps)}
    jobs["b"] = (0.0, work, "all", 1, gpus)
    profiles = {
        "two": tiny.profile(1, 2, watts=[5000.0, 10000.0], restart_minutes=60.0),
        "all": tiny.profile(*(1 + 0.1 * np.arange(gpus)).tolist(), watts=[100.0] * gpus),
    }
    raw = tiny.tiny("stairs", "", gpus, [100, 300], jobs, profiles)
    return from_dict(raw | {"time": raw["time"] | {"slot_hours": 24.0}})


def test_a_job_with_more_runs_than_cells_finds_room() -> None:
    instance = staircase()
    _, rows = constructed(instance)
    assert np.count_nonzero(rows.job == len(instance.jobs) - 1) > 2 * instance.time.slots
    assert not check(instance, schedule_of(instance.jobs.name, rows)).violations


def test_arrays_grow_each_time() -> None:
    proof, rows = constructed(drawn(5))
    room = Room(proof, rows, 1)
    sizes = []
    for _ in range(3):
        room.grow()
        sizes.append((len(room.work.new.job), len(room.state.rows.job), len(room.state.held.moment)))
    assert sizes[0] < sizes[1] < sizes[2]
    assert schedule_of(proof.coefficients.instance.jobs.name, room.rows) == schedule_of(
        proof.coefficients.instance.jobs.name, rows
    )


def test_where_jobs_are_alike_schedules_follow_the_prices_too() -> None:
    alike = generate(jobs=40, gpus=8, seed=14, load=0.8)
    jobs = alike.jobs
    jobs = replace(
        jobs, arrival_minutes=np.zeros(40), work_gpu_minutes=np.full(40, 240.0), profile=(jobs.profile[0],) * 40
    )
    alike = replace(alike, jobs=jobs)
    alone = co.solve(alike, "price", work_limit=1.5, params={"follow": {"most_steps": 0.0}})
    both = co.solve(alike, "price", work_limit=1.5)
    assert both.objective is not None
    assert alone.objective is not None
    assert both.objective < alone.objective

"""Every policy on random instances, through the checker: capacity, arrivals, completion, and nobody lost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from elastic_support import FLUID_KINDS, random_instance

import carbonopt as co
from carbonopt.core.status import Status
from carbonopt.problems.elastic import PROBLEM
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.online.queue_statistics import QueueStatistics
from carbonopt.problems.elastic.verify.late_windows import extended
from carbonopt.simulate import simulate
from carbonopt.simulation import make_policy

POLICIES = tuple(PROBLEM.policies)
SEEDS = range(3)


def instances(kind: str) -> list[ElasticInstance]:
    return [random_instance(seed, kind, model=("fluid", "integer")[seed % 2]) for seed in SEEDS]


def can_hold(instance: ElasticInstance) -> bool:
    """Return whether the last day has room for the base block of every job."""
    day = max(1, round(24 / instance.time.slot_hours))
    most = float(np.floor(instance.cluster.limit[-day:]).max())
    return all(profile.k_min <= most for profile in instance.profiles if profile.name in instance.jobs.profile)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("kind", FLUID_KINDS)
def test_the_checker_accepts_every_schedule(policy: str, kind: str) -> None:
    for instance in instances(kind):
        for lengths in ("mean", "true"):
            found = simulate(instance, policy, lengths=lengths)
            if found.status is Status.UNKNOWN:
                assert found.info["unfinished_jobs"]
                assert not can_hold(instance), instance.name
                continue
            assert found.columns is not None, (instance.name, found.info)
            assert not co.check(instance, found).violations
            assert found.metrics["jobs_completed"] == len(instance.jobs)
            assert found.metrics["peak_load_share"] <= 1 + 1e-9
            assert found.metrics["late_jobs"] == len(found.info["late_slots"])
            assert found.metrics["churn"] == sum(changes_of(instance, found).values())
            assert changes_of(instance, found).items() <= found.metrics.items()


def changes_of(instance: ElasticInstance, found: co.Solution) -> dict[str, int]:
    """Return the churn of a schedule, counted job by job."""
    table = found.schedule.groupby(["job", "slot"])["servers"].max().reset_index().sort_values(["job", "slot"])
    counts = {"suspensions": 0, "rescalings": 0}
    for _, rows in table.groupby("job"):
        steps = zip(rows["slot"].diff()[1:], rows["servers"].diff()[1:], strict=True)
        for slots, servers in steps:
            counts["suspensions"] += slots > 1
            counts["rescalings"] += slots == 1 and servers != 0
    assert set(table["job"]) <= set(instance.jobs.name)
    return counts


@pytest.mark.parametrize("policy", POLICIES)
def test_no_policy_beats_the_bound_on_equal_terms(policy: str) -> None:
    for kind in ("decreasing", "general"):
        for instance in instances(kind):
            found = simulate(instance, policy, lengths="true")
            if found.objective is None:
                continue
            same = extended(instance, found.info["late_slots"])
            bound = co.solve(same.with_model("fluid"), "price").bound
            assert bound is not None
            assert found.objective >= bound * (1 - 1e-7) - 1e-9


@pytest.mark.parametrize("policy", POLICIES)
def test_the_same_call_gives_the_same_schedule(policy: str) -> None:
    instance = co.generate("elastic", jobs=40, capacity=8, model="fluid", seed=4, arrival_hours=72)
    first, second = (simulate(instance, policy, forecast="error=0.2", seed=3) for _ in range(2))
    assert first.columns == second.columns
    assert first.metrics == second.metrics


@pytest.mark.parametrize("policy", POLICIES)
def test_what_is_not_known_yet_changes_nothing(policy: str) -> None:
    """Jobs that arrive later, and lengths beyond what has been done, do not matter before."""
    instance = co.generate("elastic", jobs=30, capacity=6, model="fluid", seed=6, arrival_hours=60)
    statistics, seen = QueueStatistics.of(instance), 30
    jobs = instance.jobs
    early = np.flatnonzero(jobs.arrival < seen)
    fewer = replace(
        instance,
        jobs=replace(
            jobs,
            name=tuple(jobs.name[row] for row in early),
            arrival=jobs.arrival[early],
            length=jobs.length[early],
            slack=jobs.slack[early],
            profile=tuple(jobs.profile[row] for row in early),
        ),
    )
    schedules = []
    for case in (instance, fewer):
        made = make_policy(PROBLEM, policy, statistics=statistics)
        columns = simulate(case, made).columns
        assert columns is not None
        schedules.append(
            [row for row in zip(columns["job"], columns["slot"], columns["servers"], strict=True) if row[1] < seen]
        )
    assert schedules[0] == schedules[1]

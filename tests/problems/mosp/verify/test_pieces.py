"""The judge of schedules in pieces, on cases that can be followed by hand."""

from __future__ import annotations

import pytest

import carbonopt as co
from carbonopt.check import report_on
from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.time import TimeGrid
from carbonopt.problems.mosp.data.instance import Clusters, MospInstance, MospJobs
from carbonopt.problems.mosp.data.objectives import CarbonObjective, CaspianObjective


def small(**changes) -> MospInstance:
    """Jobs x (2 slots, due at 3) and y (1 slot, from slot 1, due at 4) on two clusters of one GPU of 1 kW."""
    data = {
        "name": "small",
        "carbon": CarbonSignal(("A", "B"), [[100, 900, 200, 300], [400] * 4], TimeGrid(4)),
        "resources": ("gpu",),
        "clusters": Clusters(("a", "b"), ("A", "B"), [[1.0], [1.0]], [[1000.0], [1000.0]]),
        "jobs": MospJobs(("x", "y"), [0, 1], [2, 1], [3.0, 4.0], [[1.0], [1.0]]),
        "objective": CarbonObjective(1, 1, 0),
    }
    return MospInstance(**(data | changes))


def judged(*rows, rule="migrate", instance=None, **info):
    schedule = {name: [row[k] for row in rows] for k, name in enumerate(("job", "cluster", "start", "end"))}
    return report_on(instance or small(), schedule, {"pieces": rule, **info})


def names(report) -> list[str]:
    return [violation.constraint for violation in report.violations]


def test_a_job_in_two_pieces_by_hand():
    report = judged(("x", "a", 0, 1), ("x", "a", 2, 3), ("y", "b", 1, 2))
    assert report.feasible
    assert report.metrics["carbon_kg"] == pytest.approx(0.1 + 0.2 + 0.4)
    assert report.metrics["deadlines_met"] == 2
    assert report.metrics["completion_ratio"] == pytest.approx((3 / 3 + 1 / 3) / 2)
    assert report.metrics["makespan_slots"] == 3
    assert [report.metrics[name] for name in ("suspensions", "migrations", "churn")] == [1, 0, 1]
    assert report.objective == pytest.approx(0.7)
    assert "without interruption" in report.incomparable


def test_whole_runs_are_judged_as_without_pieces():
    whole = report_on(small(), {"job": ["x", "y"], "cluster": ["a", "b"], "start": [2, 1]})
    pieces = judged(("x", "a", 2, 4), ("y", "b", 1, 2), rule="none")
    assert pieces.feasible
    assert not pieces.incomparable
    assert pieces.objective == whole.objective == pytest.approx(0.2 + 0.3 + 0.4 + 1)
    assert {name: pieces.metrics[name] for name in whole.metrics} == whole.metrics


def test_going_on_at_once_elsewhere_is_a_migration_and_no_suspension():
    report = judged(("x", "a", 0, 1), ("x", "b", 1, 2), ("y", "a", 2, 3))
    assert report.feasible
    assert [report.metrics[name] for name in ("suspensions", "migrations", "churn")] == [0, 1, 1]


@pytest.mark.parametrize(
    ("rows", "rule", "found"),
    [
        ([("x", "a", 0, 1), ("x", "b", 2, 3), ("y", "a", 1, 2)], "suspend", "migration"),
        ([("x", "a", 0, 1), ("x", "a", 2, 3), ("y", "b", 1, 2)], "none", "pieces"),
        ([("x", "a", 0, 2), ("x", "b", 1, 2), ("y", "a", 2, 3)], "migrate", "overlap"),
        ([("x", "a", 0, 1), ("y", "a", 1, 2)], "migrate", "work"),
        ([("x", "a", 0, 2), ("x", "a", 2, 3), ("y", "b", 1, 2)], "migrate", "work"),
        ([("x", "a", 0, 2)], "migrate", "placement"),
        ([("x", "a", 0, 2), ("y", "b", 0, 1)], "migrate", "release"),
        ([("x", "a", 3, 5), ("y", "b", 1, 2)], "migrate", "horizon"),
        ([("x", "a", 1, 3), ("y", "a", 2, 3)], "migrate", "capacity"),
        ([("x", "a", 1, 3), ("z", "b", 2, 3), ("y", "b", 1, 2)], "migrate", "format"),
        ([("x", "a", 1, 3), ("y", "b", 2, 2)], "migrate", "format"),
        ([("x", "a", 0.5, 2.5), ("y", "b", 1, 2)], "migrate", "format"),
    ],
)
def test_what_is_no_run_is_named(rows, rule, found):
    assert found in names(judged(*rows, rule=rule))


def test_a_violation_names_the_job_and_not_its_piece():
    [violation] = judged(("x", "a", 0, 2), ("y", "b", 0, 1)).violations
    assert violation.job == "y"


def test_rules_and_columns_that_are_none():
    assert names(judged(("x", "a", 0, 2), rule="anything")) == ["format"]
    assert names(report_on(small(), {"job": [], "cluster": [], "start": []}, {"pieces": "migrate"})) == ["format"]


def test_eligibility_holds_for_each_piece():
    jobs = MospJobs(("x", "y"), [0, 1], [2, 1], [3.0, 4.0], [[1.0], [1.0]], [[True, False], [True, True]])
    rows = ("x", "a", 0, 1), ("x", "b", 1, 2), ("y", "a", 2, 3)
    assert names(judged(*rows, instance=small(jobs=jobs))) == ["eligibility"]


def test_the_caspian_objective_counts_pieces_by_their_load():
    instance = small(objective=CaspianObjective(1, 1, 1, (1e-5, 2.0, 1.0)))
    report = judged(("x", "a", 0, 1), ("x", "a", 2, 3), ("y", "b", 1, 2), instance=instance)
    clean = (1 / 100 + 1 / 200 + 1 / 400) / 1000
    assert report.metrics["z1"] == pytest.approx(clean)
    assert report.objective == pytest.approx(clean / 1e-5 + 2 / 2 + (1 / 4 + 1 / 3))
    free = small(objective=CaspianObjective())
    assert names(judged(("x", "a", 0, 2), instance=free)) == ["normalizer"]


def test_a_claimed_bound_does_not_compare_with_pieces():
    found = co.Solution(
        problem="mosp", instance="small", instance_sha256=small().sha256, method="simulate:x",
        status=co.Status.FEASIBLE, sense="min", objective=0.7, bound=0.1, info={"pieces": "migrate"},
        columns={"job": ["x", "x", "y"], "cluster": ["a", "a", "b"], "start": [0, 2, 1], "end": [1, 3, 2]},
    )  # fmt: skip
    assert names(co.check(small(), found)) == ["bound"]

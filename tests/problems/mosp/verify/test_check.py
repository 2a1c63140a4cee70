import math

import pytest

import carbonopt as co
from carbonopt.problems.mosp.verify.check import check


def schedule(*rows):
    return {name: [row[k] for row in rows] for k, name in enumerate(("job", "cluster", "start"))}


def names(report):
    return [violation.constraint for violation in report.violations]


def test_a_feasible_schedule_and_its_metrics_by_hand(tiny):
    report = check(tiny["crowd"], schedule(("x", "clean", 0), ("y", "clean", 1), ("z", "dirty", 1)))
    assert report.feasible
    assert report.objective == pytest.approx(0.7)
    assert report.metrics["carbon_kg"] == pytest.approx(0.7)
    assert report.metrics["energy_kwh"] == pytest.approx(3)
    assert report.metrics["deadlines_met"] == 3
    assert report.metrics["makespan_slots"] == 2
    assert report.metrics["completion_slots"] == 5
    assert report.metrics["completion_ratio"] == pytest.approx((1 / 2 + 1 + 1) / 3)
    assert report.metrics["peak_load_share"] == 1


def test_overload_names_jobs_cluster_slot_and_amount(tiny):
    report = check(tiny["crowd"], schedule(("x", "clean", 0), ("y", "clean", 0), ("z", "clean", 0)))
    [violation] = report.violations
    assert (violation.constraint, violation.cluster, violation.slot, violation.resource) == (
        "capacity",
        "clean",
        0,
        "gpu",
    )
    assert violation.amount == 2
    assert "jobs x, y, z use 3 gpu in slot 0 of cluster 'clean', 1 are there (2 too many)" in violation.message


def test_a_job_left_out_is_a_violation_unless_it_may_be_rejected(tiny):
    assert names(check(tiny["crowd"], schedule(("x", "clean", 0), ("y", "clean", 1)))) == ["placement"]
    report = check(tiny["reject"], schedule(("x", "a", 0)))
    assert report.feasible
    assert report.objective == pytest.approx(0.8)
    assert report.metrics["jobs_rejected"] == 1


def test_release_horizon_and_eligibility(tiny):
    early = check(tiny["infeasible"], schedule(("a", "CA-ON", 0), ("b", "CA-ON", 3), ("c", "CA-ON", 6)))
    assert names(early)[:3] == ["release", "release", "horizon"]
    assert [v.amount for v in early.violations[:3]] == [4, 1, 2]
    wrong = check(tiny["resources"], schedule(("x", "a", 0), ("y", "a", 0)))
    assert "eligibility" in names(wrong)
    assert "job 'y' may not run on cluster 'a'" in str(wrong.violations[0])


def test_a_job_that_runs_twice(tiny):
    report = check(tiny["crowd"], schedule(("x", "clean", 0), ("x", "clean", 1), ("y", "dirty", 0), ("z", "dirty", 1)))
    assert names(report) == ["placement"]
    assert "runs 2 times" in report.violations[0].message


def test_caspian_objective_by_hand(tiny):
    info = {"normalizers": {"z1": 2e-5, "z2": 1, "z3": 0.5}}
    assert check(tiny["caspian"], schedule(("x", "a", 0)), info).objective == pytest.approx(2.25)
    assert check(tiny["caspian"], schedule(("x", "a", 1)), info).objective == pytest.approx(0.5 + 1 + 2 / 3)
    assert check(tiny["caspian"], schedule(), info).objective == 0
    assert check(tiny["caspian"], schedule(("x", "a", 0))).objective is None


def test_a_normalizer_below_what_a_schedule_reaches_is_caught(tiny):
    report = check(tiny["caspian"], schedule(("x", "a", 0)), {"normalizers": {"z1": 2e-5, "z2": 0.9, "z3": 0.5}})
    assert names(report) == ["normalizer"]


def test_late_jobs_by_hand(tiny):
    report = check(tiny["tradeoff"], schedule(("x", "a", 3)))
    assert report.metrics["tardiness_slots"] == 2
    assert report.metrics["deadlines_met_share"] == 0
    assert report.objective == pytest.approx(0.3 + 0.1 * 2)


def test_claims_are_compared_with_the_truth(tiny):
    from dataclasses import replace

    solution = co.solve(tiny["crowd"], "milp")
    assert co.check(tiny["crowd"], solution).feasible
    for change, constraint in (
        ({"objective": 0.6}, "objective"),
        ({"bound": 0.8}, "bound"),
        ({"metrics": solution.metrics | {"carbon_kg": 0.1}}, "metrics"),
        ({"instance_sha256": "f" * 64}, "instance"),
    ):
        assert constraint in names(co.check(tiny["crowd"], replace(solution, **change)))


def test_claims_without_ground(tiny):
    from dataclasses import replace

    solution = co.solve(tiny["crowd"], "milp")
    for change in (
        {"status": co.Status.INFEASIBLE},
        {"bound": 0.1},
        {"bound": 0.1, "options": {"mip_rel_gap": 99}},
        {"bound": None},
    ):
        assert "status" in names(co.check(tiny["crowd"], replace(solution, **change)))
    assert "sense" in names(co.check(tiny["crowd"], replace(solution, sense="max")))
    empty = replace(solution, columns=None)
    assert names(co.check(tiny["crowd"], empty)) == ["objective", "metrics"]
    lp = co.solve(tiny["crowd"], "lp")
    stated = replace(lp, certificate=lp.certificate | {"bound": 1e6})
    assert "certificate" in names(co.check(tiny["crowd"], stated))


def test_a_run_that_ends_before_the_beginning_has_numbers_all_the_same(tiny):
    """Where a job ends at -1, 1 / (1 + end) has no value."""
    report = check(tiny["crowd"], schedule(("x", "clean", -2), ("y", "clean", 1), ("z", "dirty", 1)))
    assert not report.feasible
    assert all(value is None or math.isfinite(value) for value in report.metrics.values())

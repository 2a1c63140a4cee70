"""The checker evaluates right schedules to the last digit."""

from __future__ import annotations

import numpy as np
import pytest
from purchasing_check_support import GOOD, JOBS, KG
from purchasing_random import by_hand, columns, continuous, random_schedule
from work_support import counted_calls

from carbonopt.problems.purchasing.data.instance import Queue, Spot, Weights
from carbonopt.problems.purchasing.verify.check import check


class TestNumbers:
    def test_shared_reserved_and_on_demand(self) -> None:
        report = check(by_hand(KG, JOBS, wait=3.0, reserved_cpus=1, weights=Weights(1, 1, 10)), columns(GOOD))
        assert report.violations == ()
        found = report.metrics
        assert found["carbon_kg"] == pytest.approx(2 * (2 + 3) + 0.5 * 1 + 0.5 * 2)
        assert found["on_demand_cpu_hours"] == pytest.approx(2 + 1)  # one of two CPUs, and j1
        assert found["reserved_cpu_hours"] == pytest.approx(2)
        assert found["usage_usd"] == pytest.approx(3)
        assert found["prepaid_usd"] == pytest.approx(0.4 * 20)
        assert found["cost_usd"] == pytest.approx(11)
        assert (found["wait_hours"], found["mean_wait_hours"], found["max_wait_hours"]) == (1, 0.5, 1)
        assert found["mean_completion_hours"] == pytest.approx((3 + 1) / 2)
        assert found["reserved_utilisation"] == pytest.approx(2 / 20)
        assert (found["makespan_hours"], found["suspensions"], found["evictions"]) == (3, 0, 0)
        assert (found["jobs_completed"], found["jobs_completed_share"], found["reserved_cpus"]) == (2, 1, 1)
        assert found["energy_kwh"] == pytest.approx(5)
        assert report.objective == pytest.approx(11.5 + 3 + 10)  # what is prepaid is given

    def test_reserved_rows_take_their_cpus_first(self) -> None:
        rows = [("j0", 0.5, 2.5, "shared"), ("j1", 0.5, 1.5, "reserved")]
        found = check(by_hand(KG, JOBS, reserved_cpus=2), columns(rows)).metrics
        assert found["on_demand_cpu_hours"] == pytest.approx(1)  # of j0, as long as j1 runs
        assert found["reserved_cpu_hours"] == pytest.approx(4)

    def test_what_is_paid_in_advance_is_part_of_the_objective_where_it_is_decided(self) -> None:
        instance = by_hand(KG, JOBS, wait=3.0, reserved_cpus=None, weights=Weights(0, 2, 0))
        report = check(instance, columns(GOOD), {"reserved_cpus": 3})
        assert report.metrics["usage_usd"] == pytest.approx(1)  # j1 is on demand by choice
        assert report.objective == pytest.approx(2 * (1 + 3 * 0.4 * 20))
        assert check(instance, columns(GOOD), {"reserved_cpus": 3.0}).feasible

    def test_interrupted_jobs_wait_until_they_are_completed(self) -> None:
        rows = [("j0", 0, 1, "shared"), ("j0", 3, 4, "reserved"), ("j1", 1, 2, "shared")]
        instance = by_hand(KG, JOBS, model="suspend-resume", wait=3.0, reserved_cpus=2)
        report = check(instance, columns(rows))
        assert report.violations == ()
        assert report.metrics["wait_hours"] == pytest.approx(2 + 0.5)
        assert report.metrics["suspensions"] == 1
        assert report.metrics["carbon_kg"] == pytest.approx(2 * (1 + 4) + 2)

    def test_spot_runs_are_valued_by_expectation(self) -> None:
        hazard, length = 0.7, 1.0
        instance = by_hand([1, 2, 4, 8] * 3, [(0.0, length, 3.0)], spot=Spot(1, hazard), weights=Weights(1, 1, 1))
        found = check(instance, columns([("j0", 0.5, 1.5, "spot")])).metrics
        lives = np.exp(-hazard)
        assert found["evictions"] == pytest.approx(1 - lives)
        assert found["spot_cpu_hours"] == pytest.approx(3 * (1 - lives) / hazard)
        assert found["on_demand_cpu_hours"] == pytest.approx(3 * (1 - lives))
        assert found["usage_usd"] == pytest.approx(3 * (0.2 * (1 - lives) / hazard + 1 - lives))
        assert found["wait_hours"] == pytest.approx(0.5 + (1 - lives) / hazard - lives)
        u = (np.arange(400_000) + 0.5) / 400_000
        after = (np.exp(-hazard * u) - lives) * np.where(u < 0.5, 2, 4)  # from 1.5 h on
        assert found["carbon_kg"] == pytest.approx(3 * (0.5 + 1 + after.mean()), rel=1e-9)

    def test_without_evictions_spot_is_plain(self) -> None:
        found = check(by_hand(KG, JOBS[1:], spot=Spot(1)), columns([("j0", 0.5, 1.5, "spot")])).metrics
        assert (found["usage_usd"], found["evictions"]) == (pytest.approx(0.2), 0)

    def test_realised_evictions(self) -> None:
        instance = by_hand(KG, JOBS[1:], spot=Spot(1, 0.5))
        rows = [("j0", 0.5, 0.75, "spot"), ("j0", 0.75, 1.75, "on-demand")]
        report = check(instance, columns(rows), {"evictions": "realised"})
        assert report.violations == ()
        found = report.metrics
        assert found["usage_usd"] == pytest.approx(0.25 * 0.2 + 1)
        assert found["carbon_kg"] == pytest.approx(0.5 + 2 * 0.75)
        assert (found["evictions"], found["suspensions"], found["wait_hours"]) == (1, 0, pytest.approx(0.25))

    def test_an_empty_instance(self) -> None:
        report = check(by_hand(KG, []), columns([]))
        assert (report.violations, report.objective) == ((), 0)

    def test_a_year_of_100_000_jobs_is_checked_by_whole_columns(self) -> None:
        rng = np.random.default_rng(1)
        jobs = np.column_stack(
            [np.sort(rng.uniform(0, 8600, 100_000)), rng.exponential(3, 100_000) + 0.1, rng.integers(1, 9, 100_000)]
        )
        instance = by_hand(
            rng.uniform(0, 1, 8760).tolist(), jobs.tolist(), reserved_cpus=100, spot=Spot(2, 0.1), wait=6.0
        )
        start, end = jobs[:, 0] + rng.uniform(0, 6, 100_000), None
        end = start + jobs[:, 1]
        option = np.where(instance.spot_allowed, "spot", "shared")
        schedule = {
            "job": list(instance.jobs.name),
            "start_hours": start.tolist(),
            "end_hours": end.tolist(),
            "option": option.tolist(),
        }
        with counted_calls() as calls:
            assert check(instance, schedule).metrics["jobs_completed"] == 100_000
        assert calls[0] < 5 * 100_000  # some a job, and none for its pieces


class TestRounding:
    def test_what_counts_as_rounding_changes_nothing(self) -> None:
        exact = check(by_hand(KG, JOBS, wait=3.0, reserved_cpus=1, weights=Weights(1, 1, 1)), columns(GOOD))
        for off in (-9e-8, 9e-8):
            rows = [("j0", 1.0, 3.0 + off, "shared"), ("j1", 0.5, 1.5 + off, "on-demand")]
            report = check(by_hand(KG, JOBS, wait=3.0, reserved_cpus=1, weights=Weights(1, 1, 1)), columns(rows))
            assert report.violations == ()
            assert report.objective == pytest.approx(exact.objective, rel=1e-14)

    def test_very_short_jobs_cannot_cheat(self) -> None:
        """A job of a millionth of an hour that stops a tenth of that early still costs all of it."""
        instance = by_hand(KG, [(0.0, 1e-6, 1.0)], weights=Weights(0, 1, 0))
        report = check(instance, columns([("j0", 0.0, 9.1e-7, "shared")]))
        assert (report.violations, report.objective) == ((), pytest.approx(1e-6, rel=1e-12))

    def test_reserved_rows_above_the_reserved_cpus_are_paid_for(self) -> None:
        instance = by_hand(KG, [(0.0, 1e-7, 1.0)], reserved_cpus=0, weights=Weights(0, 1, 0))
        report = check(instance, columns([("j0", 0.0, 1e-7, "reserved")]))  # too short to be seen
        assert (report.violations, report.objective) == ((), pytest.approx(1e-7))


class TestArtifact:
    """The accounting of the authors' simulator: ticks of 5 s, prepaid until the last start, wait by segment."""

    INFO = {"accounting": "artifact"}  # noqa: RUF012

    def test_times_are_cut_to_whole_ticks(self) -> None:
        tick = 1 / 720
        instance = by_hand(KG, [(1.9 * tick, 7.5 * tick, 2.0)], reserved_cpus=1)
        good = columns([("j0", 3 * tick, 10 * tick, "on-demand")])
        report = check(instance, good, self.INFO)
        assert report.violations == ()
        found = report.metrics
        assert found["on_demand_cpu_hours"] == pytest.approx(14 * tick, rel=1e-12)
        assert found["mean_wait_hours"] == pytest.approx(2 * tick, rel=1e-12)
        assert found["prepaid_usd"] == pytest.approx(0.4 * 3 * tick, rel=1e-12)
        assert not check(instance, good).feasible
        off = check(instance, columns([("j0", 3.2 * tick, 10.2 * tick, "on-demand")]), self.INFO)
        assert [violation.constraint for violation in off.violations] == ["tick"]

    def test_waits_are_by_segment(self) -> None:
        rows = [("j0", 0, 1, "shared"), ("j0", 3, 4, "shared")]
        instance = by_hand(KG, [(0.0, 2.0, 1.0)], model="suspend-resume")
        found = check(instance, columns(rows), self.INFO).metrics
        assert (found["mean_wait_hours"], found["mean_wait_hours_per_job"], found["wait_hours"]) == (1.5, 2, 2)

    def test_spot_is_plain_and_by_segment(self) -> None:
        rows = [("j0", 0, 1, "spot"), ("j0", 3, 4, "spot")]
        instance = by_hand(KG, [(0.0, 2.0, 1.0)], model="suspend-resume", spot=Spot(2, 0.5))
        report = check(instance, columns(rows), self.INFO)
        assert (report.violations, report.metrics["usage_usd"]) == ((), pytest.approx(0.4))

    def test_a_job_as_long_as_the_limit_is_in_the_next_queue(self) -> None:
        queues = (Queue("short", 2.0, 1.0), Queue("long", np.inf, 5.0))
        instance = by_hand(KG, [(0.0, 2.0, 1.0)], queues=queues)
        rows = columns([("j0", 4.0, 6.0, "shared")])
        assert check(instance, rows, self.INFO).violations == ()
        assert [violation.constraint for violation in check(instance, rows).violations] == ["wait"]

    def test_a_job_of_less_than_a_tick_does_not_run(self) -> None:
        assert check(by_hand(KG, [(0.0, 0.001, 1.0)]), columns([]), self.INFO).violations == ()


@pytest.mark.parametrize("model", ["splitting", "no-split", "suspend-resume"])
def test_random_schedules_are_feasible_and_add_up(model: str) -> None:
    rng = np.random.default_rng(5)
    for seed in range(40):
        instance = continuous(seed, model, decided=seed % 3 == 0)
        schedule, info = random_schedule(instance, rng)
        report = check(instance, schedule, info)
        assert report.violations == ()
        found, work = report.metrics, float(instance.jobs.cpus @ instance.jobs.length_hours)
        hours = [found[f"{kind}_cpu_hours"] for kind in ("reserved", "on_demand", "spot")]
        assert sum(hours) >= work * (1 - 1e-12)  # evictions add to it
        assert found["energy_kwh"] == pytest.approx(sum(hours))
        assert found["reserved_cpu_hours"] <= found["reserved_cpus"] * instance.time.hours + 1e-9
        if "spot" not in schedule["option"]:
            assert sum(hours) == pytest.approx(work)

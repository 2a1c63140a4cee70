"""On random instances: the checker passes every schedule, no job is lost, the same seed gives the same schedule."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import carbonopt as co
from carbonopt.core.status import Status
from carbonopt.problems.mosp import PROBLEM
from carbonopt.problems.mosp.data.objectives import CarbonObjective, CaspianObjective
from carbonopt.problems.mosp.online.bound import pieces_bound
from carbonopt.problems.mosp.online.rolling import Rolling
from carbonopt.problems.mosp.online.steady import Plan
from carbonopt.simulate import simulate


def day(seed: int, jobs: int = 12) -> co.Instance:
    return co.generate("mosp", preset="bench", jobs=jobs, clusters=2, slots=24, seed=seed, load=0.5)


@pytest.mark.parametrize("policy", PROBLEM.policies)
@pytest.mark.parametrize("objective", [CarbonObjective(1, 1, 0.005), CaspianObjective()], ids=["carbon", "caspian"])
def test_schedules_pass_the_checker(policy, objective):
    instance = day(1).with_objective(objective)
    found = simulate(instance, policy, seed=1, forecast="error=0.3")
    assert found.status is Status.FEASIBLE, found.info
    assert co.check(instance, found).feasible
    assert found.metrics["jobs_run"] == len(instance.jobs)
    changes = _changes(found)
    assert (found.metrics["suspensions"], found.metrics["migrations"]) == changes
    assert found.metrics["churn"] == sum(changes)


@pytest.mark.parametrize("policy", PROBLEM.policies)
def test_the_same_seed_gives_the_same_schedule(policy):
    instance = day(2, jobs=8).with_objective(CaspianObjective())
    first, again = (simulate(instance, policy, seed=1, forecast="error=0.3").columns for _ in range(2))
    assert first is not None
    assert again == first


@pytest.mark.slow
@pytest.mark.parametrize(
    "price", [{"change_share": 0.2}, {"migration": 0.5}, {"change_share": 1, "budget_share": 0.01}]
)
def test_steady_plans_put_who_is_expected_where_there_is_room_after_their_arrival(price, monkeypatch):
    judged, later = [], []

    def watched(plan: Plan, *args) -> None:
        returned_to(plan, *args)
        placed, jobs = plan.partial.placed, plan.window.instance.jobs
        judged.append((plan.partial.start >= jobs.arrival)[placed].all() and plan.partial.capacity_left.min() >= -1e-9)
        later.append(int((jobs.arrival[placed] > plan.window.now).sum()))

    moved: list[bool] = []
    returned_to, put = Plan.return_to, Plan.place
    monkeypatch.setattr(Plan, "return_to", watched)
    monkeypatch.setattr(Plan, "place", lambda plan, job: (moved.append(plan.window.job[job] < 0), put(plan, job))[1])
    for objective in (CarbonObjective(1, 1, 0.005), CaspianObjective()):
        for method in ("greedy-clean", "lp-rounding"):
            instance, policy = (
                day(1, jobs=25).with_objective(objective),
                Rolling(method, past=day(101, jobs=25), **price),
            )
            assert simulate(instance, policy, seed=1).has_solution
    assert all(judged)
    assert sum(later) > 0
    assert any(moved) or "migration" in price  # that price alone moves no job here


def test_without_time_for_normalizers_a_policy_that_is_steady_and_expects_jobs_still_plans():
    instance, past = day(1).with_objective(CaspianObjective()), day(101)
    found = simulate(instance, Rolling("milp", past=past, change_share=0.2, seconds=0), seed=1)
    assert found.status is Status.FEASIBLE, found.info


def test_slot_prices_can_plan_the_periods():
    instance = day(1, jobs=4)
    found = simulate(instance, Rolling("price", seconds=2, period_slots=6))
    assert found.status is Status.FEASIBLE, found.info
    assert found.info.get("fallbacks", 0) == 0


def test_on_instances_with_several_resources_and_limits(random_instance):
    ran = 0
    for seed in range(12):
        instance = random_instance(seed, "carbon")
        for policy in (Rolling(), Rolling("lp-rounding", migration=0.1, change_share=0.1), Rolling(suspend=False)):
            found = simulate(instance, policy, seed=seed)
            assert found.status in (Status.FEASIBLE, Status.UNKNOWN), found.info
            if found.has_solution:
                ran += 1
                assert co.check(instance, found).feasible
    assert ran > 8


@pytest.mark.parametrize("migrate", [True, False])
def test_the_bound_is_below_every_schedule_in_pieces(migrate):
    for seed in range(2):
        instance = day(seed)
        relaxed = co.solve(instance, "lp")
        bound, prices = pieces_bound(instance, migrate, np.array(relaxed.certificate["prices"]))
        assert bound is not None
        assert (prices >= 0).all()
        best = co.solve(instance, "milp", time_limit=None)
        assert bound <= best.objective * (1 + 1e-9)  # a whole run is one piece
        policy = Rolling("milp", migration=0.0 if migrate else None)
        assert bound <= simulate(instance, policy).objective * (1 + 1e-9)
        stay = bound if not migrate else pieces_bound(instance, False, prices)[0]
        assert bound <= stay + 1e-6 * stay


def test_the_bound_is_the_optimum_of_one_job():
    instance = day(1, jobs=1)
    alone = pieces_bound(instance)[0]
    jobs = instance.jobs
    per_unit = instance.clusters.watts_per_unit[:, 0, None] / 1e6 * instance.carbon.g_per_kwh[instance.zone_of_cluster]
    least = per_unit.min(axis=0) * jobs.demand[0, 0]
    first, length = int(jobs.arrival[0]), int(jobs.duration[0])
    by_hand = min(
        np.sort(least[first:end])[:length].sum() + 0.1 * max(0.0, end - jobs.deadline[0]) + 0.005 * end
        for end in range(first + length, 25)
    )
    assert alone == pytest.approx(by_hand)


@pytest.mark.slow
def test_a_price_on_changes_means_fewer_of_them():
    plain = steady = 0
    for seed in range(2):
        instance = day(seed, jobs=30)
        plain += _churn(simulate(instance, Rolling("lp-rounding")))
        steady += _churn(simulate(instance, Rolling("lp-rounding", change_share=0.5)))
    assert steady < plain


def _churn(solution) -> int:
    return solution.metrics["churn"]


def _changes(solution) -> tuple[int, int]:
    """Return suspensions and migrations, counted job by job."""
    stops = moves = 0
    for _, pieces in solution.schedule.sort_values("start").groupby("job"):
        ends, starts, where = (list(pieces[name]) for name in ("end", "start", "cluster"))
        stops += sum(after > before for before, after in zip(ends, starts[1:], strict=False))
        moves += sum(before != after for before, after in pairwise(where))
    return stops, moves

"""Each policy on cases that can be followed by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from elastic_support import by_hand

import carbonopt as co
from carbonopt.core.errors import PolicyError, UnsupportedError
from carbonopt.core.status import Status
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.online.baselines import CarbonScaler, LowestWindow, WaitAwhile
from carbonopt.problems.elastic.online.carbonflex import CarbonFlex
from carbonopt.problems.elastic.online.cases import Cases
from carbonopt.problems.elastic.online.knowledge import KnowledgeBase
from carbonopt.problems.elastic.online.queue_statistics import QueueStatistics
from carbonopt.problems.elastic.online.replan import Replan
from carbonopt.problems.elastic.online.vcc import Vcc, VccScaling
from carbonopt.problems.elastic.verify.check import check
from carbonopt.simulate import simulate
from carbonopt.simulation import Policy, State

ONE = [1.0]
SIX_HOURS = {"slots": 4, "slot_hours": 6.0, "start": "2022-01-01T00:00:00Z"}


def rows(solution: co.Solution) -> list[tuple[str, int, int]]:
    """Return (job, slot, servers) of every row."""
    assert solution.columns is not None, solution.info
    columns = solution.columns
    return list(zip(columns["job"], columns["slot"], columns["servers"], strict=True))


def run(instance: ElasticInstance, policy: Any, **options: Any) -> list[tuple[str, int, int]]:
    found = simulate(instance, policy, **options)
    assert not co.check(instance, found).violations
    return rows(found)


def knowing(servers: float, rho: float, cases: int = 1) -> KnowledgeBase:
    """Return a base that says the same in every state."""
    many = np.full(cases, 1.0)
    return KnowledgeBase(cases=Cases(np.zeros((cases, 7)), servers * many, rho * many, 0 * many))


def test_carbon_agnostic_runs_jobs_as_they_come() -> None:
    instance = by_hand(1, [9, 1, 1, 1], (0, 2.0, 2, ONE), (0, 1.0, 3, ONE), (1, 1.0, 2, ONE))
    assert run(instance, "carbon-agnostic") == [("a", 0, 1), ("a", 1, 1), ("b", 2, 1), ("c", 3, 1)]


def test_lowest_window_plans_the_cleanest_start_and_then_waits_for_servers() -> None:
    instance = by_hand(1, [5, 1, 2, 4, 9], (0, 1.0, 3, ONE), (0, 1.0, 3, ONE))
    assert run(instance, "lowest-window") == [("a", 1, 1), ("b", 2, 1)]


def test_lowest_window_counts_parts_of_slots() -> None:
    instance = by_hand(1, [5, 1, 9, 2, 2, 2], (0, 1.5, 4, ONE))  # 1 + 4.5 against 2 + 1
    assert run(instance, LowestWindow(), lengths="true") == [("a", 3, 1), ("a", 4, 1)]


def test_wait_awhile_runs_in_the_cleanest_third_of_the_day_and_where_slack_ends() -> None:
    day = [4.0, 1.0, 3.0, 2.0]
    assert run(by_hand(2, day, (0, 1.0, 3, ONE)), "wait-awhile") == [("a", 1, 1)]
    assert run(by_hand(2, day, (2, 1.0, 0, ONE)), "wait-awhile") == [("a", 2, 1)]
    stopped = by_hand(2, day, (0, 2.0, 1, ONE))  # must run from 1 on, or in all but one slot
    assert run(stopped, WaitAwhile()) == [("a", 1, 1), ("a", 2, 1)]


def test_carbon_scaler_takes_the_cheapest_work_of_the_window() -> None:
    instance = by_hand(2, [2, 1, 2], (0, 1.6, 1, [1.0, 0.6]))
    assert run(instance, "carbon-scaler", lengths="true") == [("a", 1, 2)]


def test_carbon_scaler_goes_on_at_k_min_after_its_plan() -> None:
    past = QueueStatistics.of(by_hand(1, [1, 1, 1], (0, 1.0, 1, [1.0, 0.9])))
    instance = by_hand(2, [9, 1, 9, 9], (0, 1.5, 2, [1.0, 0.9]))  # expected: one slot, the cleanest
    assert run(instance, CarbonScaler(past)) == [("a", 1, 1), ("a", 2, 1)]


def test_carbon_scaler_shares_servers_by_gain() -> None:
    gains = ([1.0, 0.9], [1.0, 0.5])
    instance = by_hand(3, [1, 5, 5], (0, 1.9, 1, gains[0]), (0, 1.5, 1, gains[1]))
    assert run(instance, "carbon-scaler", lengths="true")[:2] == [("a", 0, 2), ("b", 0, 1)]


def test_vcc_opens_the_cleanest_hours_that_the_work_of_a_day_needs() -> None:
    carbon = [5.0, 1.0, 3.0, 2.0]  # a day of four slots
    instance = by_hand(1, carbon, (0, 1.0, 3, ONE), (0, 1.0, 3, ONE), time=SIX_HOURS)
    policy = Vcc(margin=0.25)  # two jobs arrived in one slot, so eight slots of work in a day: 0.25 makes two
    assert run(instance, policy) == [("a", 1, 1), ("b", 3, 1)]
    assert policy.curve.tolist() == [0, 1, 0, 1]


def test_vcc_scaling_gives_the_rest_of_the_cap_away() -> None:
    instance = by_hand(2, [5.0, 1.0, 9.0, 9.0], (0, 1.9, 2, [1.0, 0.9]), time=SIX_HOURS)
    assert run(instance, VccScaling(margin=0.25)) == [("a", 1, 2)]
    assert run(instance, VccScaling(margin=0.25, least_gain=0.95)) == [("a", 1, 1), ("a", 3, 1)]


def test_carbonflex_provisions_and_schedules_as_its_cases_say() -> None:
    instance = by_hand(3, [1.0] * 5, (0, 1.0, 4, [1.0, 0.5]), (0, 1.0, 3, [1.0, 0.5]))
    one = CarbonFlex(knowing(servers=1, rho=1), learning=False)
    assert run(instance, one) == [("a", 1, 1), ("b", 0, 1)]  # b has less slack
    wide = CarbonFlex(knowing(servers=3, rho=0.5), learning=False)
    assert run(instance, wide) == [("a", 0, 1), ("b", 0, 2)]  # base units first, then p = 0.5
    picky = CarbonFlex(knowing(servers=3, rho=0.6), learning=False)
    assert run(instance, picky) == [("a", 0, 1), ("b", 0, 1)]


def test_carbonflex_runs_jobs_without_slack_beyond_what_it_provisions() -> None:
    instance = by_hand(1, [1.0] * 4, (0, 1.0, 2, ONE), (0, 1.0, 1, ONE))
    found = CarbonFlex(knowing(servers=0, rho=1), learning=False)
    assert run(instance, found) == [("a", 2, 1), ("b", 1, 1)]


def test_carbonflex_without_forced_runs_is_late_as_algorithm_3_prints_it() -> None:
    """With no servers provisioned nobody runs; at the end of the slack neither."""
    instance = by_hand(1, [1.0] * 4, (0, 1.0, 2, ONE), (0, 1.0, 1, ONE))
    policy = CarbonFlex(Later(knowing(servers=0, rho=1)), learning=False, forced=False)
    assert run(instance, policy) == [("a", 4, 1), ("b", 3, 1)]


class Later(KnowledgeBase):
    """Says what its base says until slot 3, then a server."""

    def __init__(self, base: KnowledgeBase) -> None:
        super().__init__(cases=base.cases)
        self.asked = 0

    def copy(self, *sizes: Any) -> KnowledgeBase:
        return self

    def match(self, state: Any) -> Any:
        self.asked += 1
        found = super().match(state)
        assert found is not None
        return found if self.asked <= 3 else replace(found, servers=found.servers + 1)


def test_carbonflex_as_printed_takes_no_unit_at_rho() -> None:
    instance = by_hand(2, [1.0] * 3, (0, 1.0, 1, [1.0, 0.5]))
    wide = CarbonFlex(knowing(servers=2, rho=0.5), learning=False)
    assert run(instance, wide) == [("a", 0, 2)]
    printed = CarbonFlex(knowing(servers=2, rho=0.5), learning=False, printed=True)
    assert run(instance, printed) == [("a", 0, 1)]


def test_carbonflex_takes_the_whole_cluster_where_it_knows_nothing() -> None:
    instance = by_hand(2, [9.0, 1.0], (0, 1.0, 1, [1.0, 0.9]), (0, 1.0, 1, ONE))
    assert run(instance, "carbonflex") == [("a", 0, 1), ("b", 0, 1)]


def test_carbonflex_answers_violations_with_the_most_servers_of_its_neighbours() -> None:
    base = KnowledgeBase(cases=Cases(np.zeros((2, 7)), np.array([2.0, 4.0]), np.array([0.4, 0.8]), np.zeros(2)))
    policy = CarbonFlex(base, learning=False)
    instance = by_hand(9, [1.0] * 4, (0, 2.0, 1, ONE))
    simulate(instance, policy)
    view = type("View", (), {"capacity": 9, "job": np.zeros(1, int), "profile": np.zeros(1, int)})
    view.intensity, view.scaling = np.ones(25), policy._views.scaling  # type: ignore[attr-defined, union-attr]
    policy.ended, policy.recent = [(0, 3.0)], 0  # arrival 0, length 2, slack 1: in time
    assert policy.provision(view) == (3, pytest.approx(0.6))  # type: ignore[arg-type]
    policy.ended = [(0, 3.5)]
    policy.knowledge.match(np.zeros(7))
    policy.knowledge.delta = np.inf  # every state is near
    assert policy.provision(view) == (4, pytest.approx(0.4))  # type: ignore[arg-type]
    policy.knowledge.delta = 0.0  # no state is: Algorithm 2 provisions M only after violations
    assert policy.provision(view) == (9, 1.0)  # type: ignore[arg-type]
    policy.ended = []
    assert policy.provision(view) == (3, pytest.approx(0.6))  # type: ignore[arg-type]


def test_replanning_sends_jobs_to_the_cleanest_slots_that_are_free() -> None:
    instance = by_hand(1, [2, 1, 4], (0, 1.0, 2, ONE), (0, 1.0, 1, ONE))
    found = simulate(instance, Replan(lookahead_hours=0), lengths="true")
    assert found.objective == 3
    assert co.solve(instance).objective == 3


def test_replanning_scales_where_that_pays() -> None:
    instance = by_hand(2, [1, 5, 5], (0, 1.9, 1, [1.0, 0.9]))
    assert run(instance, Replan(lookahead_hours=0), lengths="true") == [("a", 0, 2)]


@pytest.mark.slow
def test_steady_plans_change_less_and_cost_little() -> None:
    instance = co.generate("elastic", jobs=120, capacity=16, model="fluid", seed=5, arrival_hours=72)
    restless = simulate(instance, Replan(change_share=0, budget_share=0))
    steady = simulate(instance, Replan())
    assert steady.metrics["suspensions"] < restless.metrics["suspensions"] / 2
    assert steady.metrics["rescalings"] < restless.metrics["rescalings"]
    assert steady.objective is not None
    assert restless.objective is not None
    assert steady.objective <= 1.03 * restless.objective


def test_a_late_job_is_told_and_checked_against_its_longer_window() -> None:
    instance = by_hand(1, [1, 1], (0, 1.0, 0, ONE), (0, 1.0, 0, ONE))
    found = simulate(instance, "carbon-agnostic")
    assert found.info["late_slots"] == {"b": 1}
    assert found.metrics["late_jobs"] == 1
    assert not co.check(instance, found).violations
    assert found.columns is not None
    strict = check(instance, found.columns)
    assert [violation.constraint for violation in strict.violations] == ["deadline"]


def test_a_job_that_ends_after_the_horizon_meets_the_last_day_again() -> None:
    instance = by_hand(1, [1, 3], (0, 2.0, 0, ONE), (0, 1.0, 1, ONE))
    found = simulate(instance, "carbon-agnostic")
    assert rows(found)[-1] == ("b", 2, 1)
    assert found.objective == 1 + 3 + 1


def test_a_job_that_fits_nowhere_is_not_lost() -> None:
    instance = by_hand(0, [1, 1], (0, 1.0, 0, ONE))
    found = simulate(instance, "carbon-agnostic")
    assert found.status is Status.UNKNOWN
    assert found.info["unfinished_jobs"] == ["a"]


def test_the_fluid_model_pays_for_the_part_that_is_used() -> None:
    job = (0, 1.5, 0, ONE)
    assert simulate(by_hand(1, [1, 4], job), "carbon-agnostic").objective == 5
    assert simulate(by_hand(1, [1, 4], job, model="fluid"), "carbon-agnostic").objective == 3


def test_a_policy_of_the_users_own_runs_on_the_pool_cluster() -> None:
    class Wide(Policy):
        def on_arrival(self, state: State, job: int) -> None:
            state.start(job, "cluster", 2)

    instance = by_hand(2, [1, 4], (0, 1.9, 0, [1.0, 0.9]))
    assert run(instance, Wide) == [("a", 0, 2)]


def test_servers_that_a_profile_does_not_have_are_refused() -> None:
    class Wider(Policy):
        def on_arrival(self, state: State, job: int) -> None:
            state.start(job, 0, 3)

    with pytest.raises(PolicyError, match="speed"):
        simulate(by_hand(9, [1, 4], (0, 1.9, 0, [1.0, 0.9])), Wider)


def test_what_cannot_be_simulated_is_told() -> None:
    instance = by_hand(1, [1, 1], (0, 1.0, 1, ONE))
    with pytest.raises(UnsupportedError, match="unknown policy 'nothing'"):
        simulate(instance, "nothing")
    with pytest.raises(UnsupportedError, match="no public artifact"):
        simulate(instance, "carbonflex", mode="artifact")
    with pytest.raises(UnsupportedError, match="oracle = 'never'"):
        CarbonFlex(oracle="never")


def test_statistics_of_another_mix_are_refused() -> None:
    other = QueueStatistics.of(by_hand(1, [1, 1], (0, 1.0, 1, ONE), (0, 1.0, 1, ONE)))
    with pytest.raises(UnsupportedError, match="learn them from a like past"):
        simulate(by_hand(1, [1, 1], (0, 1.0, 1, ONE)), Replan(statistics=other))


def test_an_instance_without_jobs() -> None:
    found = simulate(by_hand(1, [1, 1]), "replan")
    assert found.has_solution
    assert found.objective == 0


@pytest.mark.slow
@pytest.mark.parametrize("text", ["error=0.3,window=12", "window=6"])
def test_policies_live_with_poor_forecasts(text: str) -> None:
    instance = co.generate("elastic", jobs=20, capacity=5, model="fluid", seed=2, arrival_hours=48)
    for policy in ("lowest-window", "wait-awhile", "carbon-scaler", "vcc", "carbonflex", "replan"):
        assert simulate(instance, policy, forecast=text).has_solution

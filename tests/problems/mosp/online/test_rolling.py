"""Algorithm 1 and its baselines, on cases that can be followed by hand."""

from __future__ import annotations

import numpy as np
import pytest

import carbonopt as co
from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.status import Status
from carbonopt.core.time import TimeGrid
from carbonopt.problems.mosp.data.instance import Clusters, MospInstance, MospJobs
from carbonopt.problems.mosp.data.objectives import CarbonObjective
from carbonopt.problems.mosp.online.rolling import Rolling
from carbonopt.simulate import simulate
from carbonopt.simulation import Policy


def instance(arrival, duration, deadline, intensity=((100, 900, 200, 300, 800, 800),), **changes) -> MospInstance:
    """Jobs a, b, ... of one GPU on clusters of one GPU of 1 kW, in zones A, B, ..."""
    zones = tuple("AB"[: len(intensity)])
    names = tuple("abcdef"[: len(arrival)])
    data = {
        "name": "hand",
        "carbon": CarbonSignal(zones, intensity, TimeGrid(len(intensity[0]))),
        "resources": ("gpu",),
        "clusters": Clusters(zones, zones, [[1.0]] * len(zones), [[1000.0]] * len(zones)),
        "jobs": MospJobs(names, arrival, duration, [float(d) for d in deadline], np.ones((len(names), 1))),
        "objective": CarbonObjective(1, 10, 0),
    }
    return MospInstance(**{**data, **changes})


def rows(solution) -> list[tuple]:
    assert solution.has_solution, solution.info
    return sorted(zip(*(solution.columns[name] for name in ("job", "cluster", "start", "end")), strict=True))


def test_a_running_job_gives_way_to_an_urgent_one_and_goes_on_later():
    # a begins where it is clean; then b, due at once, needs the only GPU
    case = instance([0, 1], [2, 1], [6, 2], ((100, 300, 200, 300, 800, 800),))
    found = simulate(case, Rolling("milp"))
    assert rows(found) == [("a", "A", 0, 1), ("a", "A", 2, 3), ("b", "A", 1, 2)]
    assert found.metrics["suspensions"] == 1
    assert found.metrics["deadlines_met"] == 2


def test_without_suspension_it_runs_to_its_end():
    case = instance([0, 1], [2, 1], [6, 2], ((100, 100, 300, 300, 800, 800),))
    found = simulate(case, Rolling("milp", suspend=False))
    assert rows(found) == [("a", "A", 0, 2), ("b", "A", 2, 3)]
    assert found.info["pieces"] == "none"
    assert found.metrics["tardiness_slots"] == 1


def test_a_plan_looks_at_whole_runs():
    # in pieces a would run in slots 0 and 2; as a whole its best run begins in slot 2
    found = simulate(instance([0], [2], [6]), "caspian-milp")
    assert rows(found) == [("a", "A", 2, 4)]


SWAP = ((100, 900, 900, 900), (500, 100, 200, 200))
"""a begins on A; from slot 1 on B is cleaner."""


@pytest.mark.parametrize(
    ("migration", "expected"),
    [
        (0.0, [("a", "A", 0, 1), ("a", "B", 1, 2)]),
        (0.5, [("a", "A", 0, 1), ("a", "B", 1, 2)]),
        (1.0, [("a", "A", 0, 2)]),
        (None, [("a", "A", 0, 2)]),
    ],
)
def test_migration_free_priced_and_forbidden(migration, expected):
    # the forecast of slot 1 was 100 on A: only then it is seen that it is 900
    case = instance([0], [2], [2], SWAP)
    wrong = {"A": CarbonSignal(("A", "B"), ((100, 100, 100, 100), SWAP[1]), TimeGrid(4)), "B": None}
    right = case.carbon
    policy = Rolling("milp", migration=migration)
    policy.on_begin = lambda state: setattr(state.forecast.zones["A"], "issued", _revised(wrong["A"], right))  # type: ignore[method-assign]
    assert rows(simulate(case, policy, forecast={"A": wrong["A"], "B": None})) == expected


def _revised(wrong, right):
    return lambda slot: (wrong if slot == 0 else right).g_per_kwh[0][slot:]


def test_a_price_on_changes_keeps_a_plan():
    # in slot 1 a has two slots left: the short b first is better for the sum of completions, by one slot
    case = instance([0, 1], [3, 1], [6, 6], ((100, 200, 201, 202, 800, 800),), objective=CarbonObjective(1, 0, 0.01))
    plain, steady = simulate(case, Rolling("milp")), simulate(case, Rolling("milp", change_share=0.2))
    assert plain.metrics["suspensions"] == 1
    assert steady.metrics["suspensions"] == 0
    assert rows(steady) == [("a", "A", 0, 3), ("b", "A", 3, 4)]


def test_earliest_start_breaks_ties_towards_the_clean_cluster():
    case = instance([0, 0, 1], [1, 2, 1], [9, 9, 9], ((500,) * 4, (100,) * 4))
    assert rows(simulate(case, "earliest-clean")) == [("a", "B", 0, 1), ("b", "A", 0, 2), ("c", "B", 1, 2)]
    starts = [rows(simulate(case, "earliest-random", seed=seed)) for seed in range(8)]
    assert all([row[2] for row in found] == [0, 0, 1] for found in starts)
    assert len({found[0][1] for found in starts}) == 2


def test_with_longer_periods_starts_fall_between():
    found = simulate(instance([0], [1], [6], ((900, 100, 900, 900, 900, 900),)), Rolling("milp", period_slots=3))
    assert rows(found) == [("a", "A", 1, 2)]
    late = simulate(instance([1], [1], [6], ((900, 100, 900, 900, 900, 900),)), Rolling("milp", period_slots=3))
    assert rows(late) == [("a", "A", 3, 4)]


def test_a_deadline_within_a_slot_is_one_at_its_beginning():
    # a is due at 2.9: it completes at 2 or, for a sixth of the carbon and 0.1 slots of tardiness, at 3
    case = instance([0], [1], [2.9], ((300, 300, 50, 900),), objective=CarbonObjective(1, 2, 0))
    assert rows(simulate(case, "caspian-milp")) == [("a", "A", 0, 1)]
    assert rows(simulate(case, Rolling("milp", deadlines="exact"))) == [("a", "A", 2, 3)]


def test_a_job_that_is_planned_from_the_next_slot_on_does_not_start_in_its_own():
    case = instance([0], [1], [6], ((100, 300, 200, 300, 800, 800),))
    assert rows(simulate(case, Rolling("milp"))) == [("a", "A", 0, 1)]
    assert rows(simulate(case, Rolling("milp", notice_slots=1))) == [("a", "A", 2, 3)]
    assert rows(simulate(case, Rolling("milp", clock="now", notice_slots=4))) == [("a", "A", 4, 5)]


def test_a_job_makes_way_in_time_for_one_that_is_expected():
    # b comes in slot 1 and has to run there; who does not expect it leaves slot 1 to a, and slot 2 is what a then gets
    case = instance([0, 1], [1, 1], [3, 2], ((300, 100, 900, 900),))
    day_before = instance([1], [1], [2], ((500, 500, 500, 500),), name="before")
    assert rows(simulate(case, "caspian-milp")) == [("a", "A", 2, 3), ("b", "A", 1, 2)]
    assert rows(simulate(case, Rolling("milp", past=day_before))) == [("a", "A", 0, 1), ("b", "A", 1, 2)]
    steady = Rolling("milp", past=day_before, change_share=0.1, budget_share=0.01)
    assert rows(simulate(case, steady)) == [("a", "A", 0, 1), ("b", "A", 1, 2)]


def test_who_is_expected_and_does_not_come_is_not_in_the_schedule():
    case, day_before = instance([0], [1], [3], ((300, 100, 900, 900),)), instance([1], [1], [2], ((500,) * 4,))
    found = simulate(case, Rolling("milp", past=day_before))
    assert rows(found) == [("a", "A", 0, 1)]
    with pytest.raises(UnsupportedError, match="must have the resources, clusters and slots"):
        simulate(case, Rolling("milp", past=instance([0], [1], [2], ((500,) * 4, (500,) * 4))))


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_the_instance_itself_is_no_past(order):
    case = instance([0, 1], [1, 2], [3, 5])
    jobs = case.jobs
    same = MospJobs(
        [jobs.name[i] for i in order], jobs.arrival[order], jobs.duration[order], [6.0, 6.0], jobs.demand[order]
    )
    with pytest.raises(UnsupportedError, match="has the jobs of 'hand' itself"):
        simulate(case, Rolling("milp", past=instance([], [], [], jobs=same, name="copy")))
    assert simulate(instance([], [], []), Rolling(past=instance([], [], []))).has_solution


def test_both_plans_of_a_period_share_its_time(monkeypatch):
    case, day_before = instance([0, 0, 0], [2, 2, 2], [2, 2, 2], ((100,) * 6,)), instance([3], [2], [6], ((100,) * 6,))
    seen, planned = [], Rolling._optimized

    def watched(policy, window, options):
        seen.append(options)
        return planned(policy, window, options)

    monkeypatch.setattr(Rolling, "_optimized", watched)
    simulate(case, Rolling("milp", past=day_before))
    first, second = seen[:2]
    assert second.started == first.started
    assert second.time_limit == first.time_limit
    assert second.seed != first.seed


def test_nobody_waits_for_who_is_only_expected():
    # the three jobs fill all slots; in each period the expected one would take two of them, and let one of them wait
    case, day_before = instance([0, 0, 0], [2, 2, 2], [2, 2, 2], ((100,) * 6,)), instance([3], [2], [6], ((100,) * 6,))
    for clock in ("start", "now"):
        found = simulate(case, Rolling("milp", clock=clock, past=day_before))
        assert found.metrics["tardiness_slots"] == 2 + 4


def test_a_job_that_cannot_complete_is_told():
    found = simulate(instance([0, 0], [2, 2], [3, 3], ((100, 100, 100),)), "caspian")
    assert found.status is Status.UNKNOWN
    assert len(found.info["unfinished_jobs"]) == 1


def test_a_job_that_may_be_rejected_never_begins():
    case = instance([0, 0], [2, 2], [3, 3], ((100, 100, 100),), objective=CarbonObjective(1, 0, 0, 5.0))
    found = simulate(case, "caspian-milp")
    assert found.status is Status.FEASIBLE
    assert found.metrics["jobs_rejected"] == 1
    assert found.objective == pytest.approx(0.2 + 5)


def test_no_jobs():
    assert simulate(instance([], [], []), "caspian").has_solution


def test_overdue_jobs_with_either_clock():
    for clock in ("start", "now"):
        case = instance([0, 0, 0], [2, 2, 2], [2, 2, 2], ((100,) * 6,))
        found = simulate(case, Rolling("milp", clock=clock))
        assert found.metrics["tardiness_slots"] == 2 + 4


def test_what_is_no_policy_is_refused():
    case = instance([0], [1], [3])
    with pytest.raises(UnsupportedError, match="'caspian', 'caspian-printed'"):
        simulate(case, "caspain")
    with pytest.raises(UnsupportedError, match="mode 'artifact'"):
        simulate(case, "caspian", mode="artifact")


def test_a_policy_of_ones_own():
    class Queue(Policy):
        def on_settled(self, state):
            for job in list(state.queued):
                if state.fits(job, "A"):
                    state.start(job, "A")

    found = simulate(instance([0, 0], [2, 1], [9, 9]), Queue)
    assert rows(found) == [("a", "A", 0, 2), ("b", "A", 2, 3)]
    assert co.check(instance([0, 0], [2, 1], [9, 9]), found).feasible

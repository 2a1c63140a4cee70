"""Whether there is a schedule, and which jobs and slots say that there is none."""

from __future__ import annotations

import pytest
from elastic_support import by_hand, changed, random_instance, reference

import carbonopt as co
from carbonopt.core.options import Options
from carbonopt.milp import highs
from carbonopt.problems.elastic.data.file import from_dict
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.methods.diagnose import inspect


def test_a_schedule_is_a_proof() -> None:
    found = co.diagnose(by_hand(1, [2, 1, 4], (0, 1, 1, [1]), (1, 1, 1, [1])))
    assert (found.feasible, found.findings) == (True, ())
    assert found.proof == "a schedule in which every job completes"


@pytest.mark.parametrize("model", ["integer", "fluid"])
def test_what_algorithm_1_gives_up_on_is_looked_at_again(model: str) -> None:
    found = co.diagnose(by_hand(1, [2, 1, 1], (0, 1, 1, [1]), (1, 2, 0, [1]), model=model))
    assert found.feasible is True


def test_jobs_and_slots_that_are_short() -> None:
    rows = [(2, 2, 0, [1])] * 3
    found = co.diagnose(by_hand(2, [9, 9, 1, 1, 9], *rows, (0, 1, 4, [1])))
    assert found.feasible is False
    assert found.proof.startswith("a dual solution of the LP: at least 2 slots of work")
    [finding] = found.findings
    assert str(finding) == (
        "jobs 'a', 'b', 'c' have their windows inside slots 2-3: 6 server-slots of work at the least scale, 4 are there"
    )
    assert (finding.jobs, finding.slots) == (("a", "b", "c"), ((2, 3),))
    assert (finding.needed, finding.available) == (6, 4)


def test_one_slot_and_many_jobs() -> None:
    found = co.diagnose(by_hand(2, [1], *[(0, 1, 0, [1])] * 7))
    [finding] = found.findings
    assert str(finding).startswith("jobs 'a', 'b', 'c', 'd', 'e' and 2 more have their windows inside slot 0: 7 server")


class TestAlone:
    def test_a_window_without_capacity(self) -> None:
        instance = by_hand([1, 0, 0, 1], [1] * 4, (1, 1, 1, [1]), (0, 1, 0, [1]))
        found = co.diagnose(instance)
        assert (found.feasible, found.proof) == (False, "jobs that cannot complete even alone")
        [finding] = found.findings
        line = "job 'a' needs 1 slots of work; alone on the cluster it can do 0 in slots 1-2"
        assert (str(finding), finding.jobs, finding.slots) == (line, ("a",), ((1, 2),))
        assert inspect(instance)["warnings"] == [line]

    def test_a_block_wider_than_the_cluster(self) -> None:
        instance = changed(by_hand(3, [1, 1], (0, 1, 1, [1])), {("profiles", "a", "k_min"): 4})
        assert co.diagnose(instance).feasible is False
        assert co.solve(instance, "milp").status == "infeasible"
        fluid = instance.with_model("fluid")
        assert co.diagnose(fluid).feasible is True
        assert co.solve(fluid, "lp").status == "optimal"

    def test_more_servers_make_up_for_lost_slots(self) -> None:
        instance = by_hand([0, 2], [1, 1], (0, 1.5, 0, [1, 0.5]))
        assert co.diagnose(instance).feasible is True
        assert inspect(instance)["warnings"] == []

    def test_no_jobs(self) -> None:
        assert co.diagnose(by_hand(0, [1])).feasible is True


def test_parts_fit_but_whole_servers_do_not() -> None:
    found = co.diagnose(by_hand(1, [5], *[(0, 0.5, 0, [1])] * 2))
    assert (found.feasible, found.findings) == (False, ())
    assert found.proof.startswith("HiGHS's search tree: parts of slots would do, whole ones do not")


def test_a_price_on_switching_decides_nothing() -> None:
    for length, feasible in ((2, True), (3, False)):
        rows = [(0, length, 3 - length, [1]), (0, 1, 1, [1])]
        instance = by_hand(1, [1, 1, 1], *rows, objective={"switching_g_per_server": 9})
        assert co.diagnose(instance).feasible is feasible


@pytest.mark.parametrize("kind", ["unit", "decreasing", "general", "switching"])
def test_it_agrees_with_trying_all(kind: str) -> None:
    found = []
    for seed in range(25):
        raw = reference.random_instance(seed, kind)
        optimum, _ = reference.brute_force(raw)
        diagnosis = co.diagnose(from_dict(raw))
        assert diagnosis.feasible is (optimum is not None)
        found.append(diagnosis.feasible)
    assert {True, False} == set(found)


def lp_feasible(instance: ElasticInstance) -> bool:
    return highs.solve(co.formulate(instance, "lp"), Options()).status == "optimal"


@pytest.mark.parametrize("kind", ["unit", "decreasing", "general", "tight", "free"])
def test_it_agrees_with_the_linear_program(kind: str) -> None:
    for seed in range(10):
        instance = random_instance(seed, kind, 2 + seed % 9, 3 + seed % 8)
        diagnosis = co.diagnose(instance)
        assert diagnosis.feasible is lp_feasible(instance)
        if diagnosis.feasible is False:
            assert diagnosis.findings
            for finding in diagnosis.findings:
                assert set(finding.jobs) <= set(instance.jobs.name)


def test_time_may_run_out() -> None:
    feasible = by_hand(1, [2, 1, 1], (0, 1, 1, [1]), (1, 2, 0, [1]))
    assert co.diagnose(feasible).feasible is True
    found = co.diagnose(feasible, time_limit=0)
    assert (found.feasible, found.proof) == (None, "the time ran out")


def test_inspect_tells_the_size_of_the_program() -> None:
    instance = by_hand(2, [1, 2, 3], (0, 1.5, 1, [1, 0.5]), (1, 1, 0, [1]))
    told = inspect(instance)
    program = co.formulate(instance)
    assert (told["program_columns"], told["program_nonzeros"]) == (program.columns, program.nonzeros) == (7, 14)

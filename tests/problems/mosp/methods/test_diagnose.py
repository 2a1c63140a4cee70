import pytest

import carbonopt as co
from carbonopt.problems.mosp.data.file import from_dict


def changed(instance, **jobs):
    raw = instance.to_dict()
    raw["jobs"] |= jobs
    return from_dict(raw)


def test_the_shortage_is_told_in_jobs_clusters_and_slots(tiny):
    found = co.diagnose(tiny["infeasible"])
    assert found.feasible is False
    [finding] = found.findings
    assert str(finding) == "jobs a, b, c need 96 gpu in slots 4-6 of CA-ON, 32 are there (288 against 96 gpu-slots)"
    assert (finding.jobs, finding.clusters, finding.slots) == (("a", "b", "c"), ("CA-ON",), ((4, 6),))
    assert (finding.needed, finding.available) == (288, 96)


def test_demand_above_every_cluster(tiny):
    instance = changed(tiny["shift"], demand={"gpu": [5]})
    found = co.diagnose(instance)
    assert found.feasible is False
    assert str(found.findings[0]) == "job 'x' needs 5 gpu, the largest cluster that may run it has 1"


def test_past_the_horizon_and_no_cluster(tiny):
    late = co.diagnose(changed(tiny["shift"], arrival=[3]))
    assert "arrives in slot 3 and runs 1 slots: past the horizon of 3 slots" in str(late.findings[0])
    nowhere = co.diagnose(changed(tiny["shift"], eligible=[[]]))
    assert str(nowhere.findings[0]) == "job 'x' is eligible for no cluster"


def test_a_feasible_instance_is_proven_so(tiny):
    found = co.diagnose(tiny["crowd"])
    assert (found.feasible, found.findings) == (True, ())
    assert co.diagnose(tiny["reject"]).feasible is True


def test_fractions_fit_but_whole_jobs_do_not(tiny):
    """Two jobs of 2 units on two clusters of 3, and a third of 2: 6 of 6 units, yet only two fit whole."""
    raw = tiny["crowd"].to_dict()
    raw["time"]["slots"] = 1
    raw["carbon"]["g_per_kwh"] = [[100], [500]]
    raw["clusters"]["capacity"] = {"gpu": [3, 3]}
    raw["jobs"]["demand"] = {"gpu": [2, 2, 2]}
    found = co.diagnose(from_dict(raw))
    assert found.feasible is False
    assert "whole jobs do not" in found.proof
    assert str(found.findings[0]).endswith("would help to fit whole jobs")


@pytest.mark.parametrize("seed", range(30))
def test_agrees_with_the_exact_method(random_instance, seed):
    instance = random_instance(seed, "carbon")
    found = co.diagnose(instance)
    solved = co.solve(instance, "milp")
    assert found.feasible is not None
    assert found.feasible == solved.has_solution
    assert (solved.status == "infeasible") == (not found.feasible)
    if not found.feasible:
        assert found.findings

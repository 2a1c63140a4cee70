"""Why an instance has no schedule, in words."""

from __future__ import annotations

import carbonopt as co
from carbonopt.problems.ecas.data.file import from_dict


def test_a_slot_with_too_much_work(tiny) -> None:
    found = co.diagnose(tiny["fullslot"])
    assert found.feasible is False
    [finding] = found.findings
    assert finding.message == "2 jobs that must run in slot 0 need 4 cpu, the machines have 3"
    assert finding.jobs == ("a", "b")


def test_a_job_that_fits_nowhere(tiny) -> None:
    raw = tiny["stayson"].to_dict()
    raw["jobs"]["use"]["cpu"][1] = 4
    found = co.diagnose(from_dict(raw))
    words = "job 'b' fits no machine, even alone: it needs 4 cpu, the largest has 3"
    assert (found.feasible, found.findings[0].message) == (False, words)
    assert co.solve(from_dict(raw), "price").status == "infeasible"


def test_whole_jobs_that_do_not_fill_machines(tiny) -> None:
    """Three jobs of 2 units in one slot need 6, two machines have 6, yet only two jobs fit."""
    raw = tiny["onemachine"].to_dict()
    jobs = {"name": ["a", "b", "c"], "arrival": [0] * 3, "duration": [1] * 3, "deadline": [1] * 3, "power_kw": [1] * 3}
    found = co.diagnose(from_dict(raw | {"jobs": jobs | {"use": {"cpu": [2] * 3}}}))
    assert found.feasible is False
    assert "cannot be packed" in found.findings[0].message


def test_one_that_has_a_schedule(tiny) -> None:
    assert co.diagnose(tiny["stayson"]).feasible is True


def test_units_beyond_64_bits_in_sum(tiny) -> None:
    raw = tiny["stayson"].to_dict()
    count = 1100
    machines = {key: [0.0] * count for key in ("idle_kw", "up_cost", "down_cost")}
    much = raw | {"jobs": raw["jobs"] | {"use": {"cpu": [1_234_567] * len(raw["jobs"]["name"])}}}
    assert "needs 1234567 cpu" in co.diagnose(from_dict(much)).findings[0].message
    raw["machines"] = machines | {"name": [f"m{k}" for k in range(count)], "capacity": {"cpu": [2**53 - 1] * count}}
    instance = from_dict(raw)
    assert co.diagnose(instance).findings == ()
    assert 0 < instance.features()["load"] < 1e-9

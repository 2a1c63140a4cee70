"""benchmarks/peers/mlcluster_sensitivity.py: every row runs, and the table is one."""

from __future__ import annotations

import mlcluster_sensitivity
import pytest

from carbonopt.problems.mlcluster.policies.green_options import GreenOptions


def test_every_option_of_green_has_a_row() -> None:
    changed = {
        part.partition("=")[0]
        for policy in mlcluster_sensitivity.CHANGES.values()
        for part in policy.partition(":")[2].split(",")
    }
    ablations = {"footprint"}  # by the names of policies
    assert set(GreenOptions.__dataclass_fields__) <= changed | ablations


def test_the_table(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    few = {name: mlcluster_sensitivity.CHANGES[name] for name in ("GREEN as decided", "FCFS")}
    monkeypatch.setattr(mlcluster_sensitivity, "CHANGES", few)
    mlcluster_sensitivity.main(["--zones", "GB", "--seeds", "1", "--jobs", "40", "--bounds"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "| change | total carbon | added carbon | mean JCT | above the bound |"
    assert [line.split(" | ")[0] for line in lines[2:5]] == ["| Tiresias on 2 GPUs", "| GREEN as decided", "| FCFS"]
    assert "no scheduler saves more than" in lines[-1]

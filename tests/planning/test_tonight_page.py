"""Every command of docs/tonight.md runs, on the files that it names."""

from __future__ import annotations

import re
import shlex

import pandas as pd
import pytest
from cli_support import run
from conftest import ROOT

import carbonopt as co

PAGE = (ROOT / "docs/tonight.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
LINES = [line for block in BLOCKS for line in block.replace("\\\n", " ").splitlines()]
COMMANDS = [line.removeprefix("$ carbonopt ") for line in LINES if line.startswith("$ ")]
SHOWN = [line for line in LINES if not line.startswith("$ ")]


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "instances").symlink_to(ROOT / "instances")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_each_command_runs(here):
    assert len(COMMANDS) == 11
    shown = []
    for command in COMMANDS:
        done = run(*shlex.split(command))
        assert done.exit_code == 0, (command, done.output)
        shown.append(done.output)
    first, applied, again, moved = shown[:4]
    assert "proven gap" in first
    assert "scontrol update JobId=4713 StartTime=2026-11-25T06:00:00" in applied
    assert "announced starts moved at 0.05 kg each" in again
    assert 0 < moved.count("scontrol update") < applied.count("scontrol update") == 9
    assert (here / "newer.json").is_file()
    assert "opened" in shown[9]
    assert shown[10].count("env TZ=UTC scontrol update") == 9


def test_what_is_shown_is_what_plan_prints(here):
    """Also on a terminal of 80 columns, which no line of the page's commands exceeds."""
    printed = run(*shlex.split(COMMANDS[0])).stdout.splitlines()
    assert [line.rstrip() for line in printed] == SHOWN
    assert max(len(line) for block in BLOCKS for line in block.splitlines()) <= 80


def test_the_python_of_the_page_runs(here):
    code = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[0]
    space: dict[str, object] = {}
    exec(code, space)
    plan = space["plan"]
    assert isinstance(plan, co.Plan)
    frame = plan.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert set(frame["id"]) == {job.id for job in plan.jobs} == set(plan.instance.jobs.name)
    assert plan.instance.constraints == ("fixed",)
    assert co.check(plan.instance, plan.solution).feasible
    assert co.read_plan(here / "plan.json").to_dict() == plan.to_dict()

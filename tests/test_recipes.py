"""The code of docs/recipes.md does what the page says."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from conftest import ROOT, load_module

import carbonopt as co
from carbonopt.core.registry import Method, problem_of
from carbonopt.io import carbon_formats
from carbonopt.io.carbon import read_carbon

FILES = dict(
    re.findall(
        r"^```\{code-block\} python\n:caption: (\S+)\n\n(.*?)^```$",
        (ROOT / "docs/recipes.md").read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
)


def module(folder: Path, name: str) -> ModuleType:
    (folder / name).write_text(FILES[name], encoding="utf-8")
    return load_module(folder / name)


def test_a_method(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    module(tmp_path, "latest.py")
    mosp = problem_of("mosp")
    line = Method("latest:latest_start", "as late as the deadline allows", respects=("max_starts_per_slot",))
    monkeypatch.setattr("carbonopt.problems.mosp.PROBLEM", replace(mosp, methods={**mosp.methods, "latest": line}))
    instance = co.generate("mosp", preset="bench", jobs=30, clusters=3, slots=24, load=0.4, seed=1)
    for limit in (None, np.array([4, 4, 4])):
        limited = replace(instance, clusters=replace(instance.clusters, max_starts_per_slot=limit))
        solution = co.solve(limited, "latest")
        assert solution.status == "feasible"
        assert solution.bound is None
        assert solution.metrics["deadlines_met_share"] == 1
        assert co.check(limited, solution).feasible


def test_a_policy(tmp_path):
    (tmp_path / "my_policy.py").write_text(FILES["my_policy.py"], encoding="utf-8")
    instance = co.generate("purchasing", jobs=40, arrival_hours=24, reserved=0, seed=1)
    mine = co.simulate(instance, f"{tmp_path / 'my_policy.py'}:BelowMean")
    assert mine.status == "feasible", mine.info
    assert co.check(instance, mine).feasible
    assert mine.columns["start_hours"] != co.simulate(instance, "no-wait").columns["start_hours"]


def test_a_carbon_reader(tmp_path, monkeypatch):
    pounds = module(tmp_path, "pounds.py").POUNDS
    path = tmp_path / "rates.csv"
    path.write_text("point_time,region,moer_lb_per_mwh\n2024-01-01T00:00Z,CAISO,1000\n2024-01-01T01:00Z,CAISO,500\n")
    with pytest.raises(co.InputError, match="is no known header"):
        read_carbon(path)
    monkeypatch.setattr("carbonopt.io.series.FORMATS", [*carbon_formats.FORMATS, pounds])
    signal = read_carbon(path)
    assert signal.zones == ("CAISO",)
    assert signal.g_per_kwh[0] == pytest.approx([453.59237, 226.796185])

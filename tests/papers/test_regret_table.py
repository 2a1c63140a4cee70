"""`regret-table`: what it draws, what it sums up, and that its page shows what it gives."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_support import errors, run
from conftest import ROOT

import carbonopt as co
from carbonopt.papers.figure import Run, figure_of
from carbonopt.papers.regret_table import ALL, DAY, LEVEL, POLICIES, SHOWN, ensembles, resampled
from carbonopt.regret.table import ORDERS, Study

SMALL = {"jobs": 4, "arrival_hours": 24, "zone": "DE", "slack_hours": 12.0}


@pytest.mark.slow
def test_the_table() -> None:
    """The five parts of each mean add up to the mean of the whole."""
    weeks = [co.generate("elastic", **SMALL, seed=seed) for seed in (1, 2)]
    figure = figure_of("regret-table")
    table = figure.table(Run(weeks, {"seed": 0}))
    assert len(table) == 2 * len(POLICIES) * len(ORDERS) * len(SHOWN)
    assert table["zone"].unique().tolist() == [ALL, "DE"]
    for _, rows in table.groupby(["zone", "policy", "order"]):
        value = rows.set_index("part")[["least_percent", "most_percent"]]
        assert value.drop("whole").sum().to_numpy() == pytest.approx(value.loc["whole"].to_numpy(), abs=1e-9)
        assert (value.loc[["heuristic", "whole"]] >= -1e-9).all().all()
    assert (table["low_percent"] <= table["most_percent"] + 1e-9).all()
    assert (table["high_percent"] >= table["least_percent"] - 1e-9).all()
    assert figure.draw(table).get_figure() is not None
    assert len(figure.note) > 100


def test_a_forecast_is_made_of_the_past_alone() -> None:
    """Another future after the first day leaves the first day's ensembles as they are; seeds make others."""
    week = co.generate("elastic", **SMALL, seed=1)
    one, two, *_ = made = ensembles(week)
    assert len(made) == 5
    assert (one.members, one.horizon) == (10, 48)
    assert not np.array_equal(one.g_per_kwh, two.g_per_kwh)
    future = week.carbon.g_per_kwh.copy()
    future[:, DAY:] *= 2
    changed = ensembles(replace(week, carbon=replace(week.carbon, g_per_kwh=future)))[0]
    known = one.issued_at <= DAY
    assert np.array_equal(changed.g_per_kwh[known], one.g_per_kwh[known])
    assert not np.array_equal(changed.g_per_kwh, one.g_per_kwh)


def test_the_bootstrap_draws_weeks_first() -> None:
    """Weeks of one value each: the means are those of weeks; one week alone: those of its ensembles."""
    means = resampled([np.zeros(5), np.ones(5)], draws=4000)
    assert set(np.unique(means)) == {0.0, 0.5, 1.0}
    assert np.mean(means == 0.5) == pytest.approx(0.5, abs=0.03)
    alone = resampled([np.array([0.0, 1.0])], draws=4000)
    assert set(np.unique(alone)) == {0.0, 0.5, 1.0}
    assert 0 < LEVEL < 1


def test_what_is_refused_and_what_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for seed in (1, 2):
        co.generate("elastic", **SMALL, seed=seed).write(f"w{seed}.json")
    own = co.generate("elastic", **SMALL, seed=1)
    co.generate("elastic", jobs=2, arrival_hours=4, carbon=own.carbon, zone="DE", slack_hours=2.0).write("own.json")
    assert "has no past to make forecasts of" in errors("reproduce", "regret-table", "own.json")[0]
    rows = Study.rows

    def second_is_stopped(self: Study, policy: str) -> list[dict[str, object]]:
        if policy == POLICIES[1]:
            raise KeyboardInterrupt
        return rows(self, policy)

    monkeypatch.setattr(Study, "rows", second_is_stopped)
    assert run("reproduce", "regret-table", "w1.json", "w2.json").exit_code == 130
    assert set(pd.read_csv("regret-table.partial.csv")["policy"]) == {POLICIES[0]}


@pytest.mark.slow
def test_the_page_shows_what_a_run_gives() -> None:
    """One zone, run again."""
    figure = figure_of("regret-table")
    weeks = [co.generate("elastic", **given) for given in figure.defaults if given["zone"] == "PL"]
    table = figure.table(Run(weeks, {"seed": 0}))
    page = (ROOT / "docs/regret.md").read_text()
    for policy in POLICIES:
        rows = table[(table["zone"] == "PL") & (table["policy"] == policy) & (table["order"] == "errors first")]
        printed = re.search(rf"## `{policy}`.*?\n\| PL \|(.*?)\|\n", page, re.DOTALL)
        assert printed is not None
        numbers = [float(cell.split()[0]) for cell in printed[1].split("|")]
        assert numbers == pytest.approx(rows["least_percent"].tolist(), abs=0.5)

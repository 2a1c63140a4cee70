"""Caspian's figures on a small instance: what the tables hold, and that nothing is below its bound."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import carbonopt as co
from carbonopt.papers.caspian_sweep import (
    DRAWS,
    OPTIMIZERS,
    PAPERS_OWN,
    SWEEP,
    Case,
    Reference,
    own_objective,
    paper_objective,
    simulated,
)
from carbonopt.papers.figure import Run, figure_of
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.online.rolling import Rolling

AS_THE_PAPER: dict[str, Any] = {"clock": "now", "deadlines": "exact", "notice_slots": 1}


@pytest.fixture(scope="module")
def small() -> MospInstance:
    return co.generate("mosp", preset="caspian", jobs=8, seed=3)  # type: ignore[return-value]


@pytest.mark.parametrize("name", ["caspian-3", "caspian-4", "caspian-5a", "caspian-5bc"])
def test_a_figure_has_a_table_a_plot_and_a_note(name: str, small: MospInstance) -> None:
    figure = figure_of(name)
    table = figure.table(Run([small], {"seed": 1}))
    assert len(table) >= 5
    assert not table.isna().any().any()
    assert np.ravel(figure.draw(table))[0].get_figure() is not None
    assert len(figure.note) > 100


@pytest.fixture(scope="module")
def sweep(small: MospInstance) -> pd.DataFrame:
    said: list[str] = []
    table = figure_of("caspian-6").table(Run([small], {"seed": 1}, said.append))
    assert len(said) == len(table) + 1
    return table


@pytest.mark.slow
def test_the_sweep_has_a_row_for_each_omega_and_the_papers_values(sweep: pd.DataFrame) -> None:
    assert list(sweep["policy"].unique()) == ["earliest-random", "earliest-clean", *OPTIMIZERS, PAPERS_OWN]
    for policy in OPTIMIZERS:
        part = sweep[sweep["policy"] == policy]
        assert part["omega_1"].dropna().tolist() == list(SWEEP)
        assert part["omega_1"].isna().tolist() == [False] * len(SWEEP) + [True]
    own = sweep[sweep["policy"] == PAPERS_OWN]
    assert own["omega_1"].tolist() == list(SWEEP)
    theirs = sweep[(sweep["policy"] == PAPERS_OWN) & (sweep["omega_1"] == 0.5)].iloc[0]
    assert (theirs["paper_saving"], theirs["paper_met"]) == (0.332, 0.983)
    assert sweep.loc[sweep["policy"] != PAPERS_OWN, "paper_saving"].isna().all()
    assert figure_of("caspian-6").draw(sweep).get_legend() is not None


@pytest.mark.slow
def test_no_row_of_the_sweep_is_below_its_bound(sweep: pd.DataFrame) -> None:
    assert (sweep["gap"].dropna() >= 0).all()
    assert sweep["gap"].notna().sum() == len(OPTIMIZERS)
    punctual = sweep[sweep["met"] == 1]
    assert len(punctual) >= 4
    assert (punctual["saving"] <= punctual["most"] + 1e-4).all()


def test_the_baseline_is_the_mean_of_its_draws(small: MospInstance, sweep: pd.DataFrame) -> None:
    case = Case("earliest-random", own_objective())
    drawn = [simulated(small, case, {"seed": 1 + draw}).metrics["carbon_kg"] for draw in range(DRAWS)]
    assert len(set(drawn)) > 1
    reference = Reference.of(small, {"seed": 1})
    assert reference.random_kg == pytest.approx(np.mean(drawn))
    rows = sweep.set_index("policy")
    assert (rows.loc["earliest-random", "random"], rows.loc["earliest-clean", "clean"]) == (0, 0)
    assert rows[rows["omega_1"] == 0].loc[PAPERS_OWN, "saving"] == 0
    assert rows.loc["earliest-clean", "random"] == pytest.approx(1 - reference.clean_kg / np.mean(drawn), abs=1e-4)


def test_a_case_that_expects_jobs_has_a_name_of_its_own(small: MospInstance) -> None:
    past = co.generate("mosp", preset="caspian", jobs=8, seed=4)
    assert isinstance(past, MospInstance)
    case = Case("caspian-lp", own_objective(), past=past)
    assert case.key == ("caspian-lp, expecting", "carbon", "nan")
    found = simulated(small, case, {"seed": 1})
    row = Reference.of(small, {"seed": 1}).row(case, found)
    assert 0 <= row["gap_to_clairvoyant"] < 1


def test_the_papers_own_scheduler_runs_as_it_is_printed(small: MospInstance) -> None:
    case = Case("caspian", paper_objective(1.0), 1.0, printed=True)
    assert (case.label, case.changes) == (PAPERS_OWN, AS_THE_PAPER)
    theirs = simulated(small.with_objective(paper_objective(1.0)), case, {"seed": 1})
    by_hand = co.simulate(small.with_objective(paper_objective(1.0)), Rolling(**AS_THE_PAPER), seed=1)
    assert theirs.columns == by_hand.columns

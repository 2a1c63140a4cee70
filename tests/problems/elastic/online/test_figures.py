"""CarbonFlex's figures on small instances: what a table holds, and that nothing is below the bound."""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

import carbonopt as co
from carbonopt.core.errors import UnsupportedError
from carbonopt.papers import carbonflex_cases, carbonflex_signals
from carbonopt.papers import carbonflex_sweeps as sweeps
from carbonopt.papers.carbonflex_runs import EVERY, START_MINUTES, overhead, pairs, with_gains
from carbonopt.papers.figure import Figure, Run
from carbonopt.problems.elastic.data.catalogue import kind_of

FIGURES = {
    "carbonflex_week": ("POLICIES", "GPU_POLICIES", "VCC"),
    "carbonflex_sweeps": ("CAPACITY", "SLACK", "ELASTICITY", "SHIFT"),
    "carbonflex_cases": ("TRACES", "ZONES"),
}
ALL = [(module, name) for module, names in FIGURES.items() for name in names]


@pytest.fixture(scope="module")
def run() -> Run:
    """Return a small past and a small day."""
    made = [
        co.generate("elastic", jobs=jobs, capacity=8, arrival_hours=hours, model="fluid", seed=seed)
        for jobs, hours, seed in ((40, 72, 1), (12, 24, 2))
    ]
    return Run(made, {"seed": 0})


@pytest.mark.slow
@pytest.mark.parametrize(("module", "name"), ALL)
def test_a_figure_has_its_rows_and_none_is_below_its_bound(
    module: str, name: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for constant, values in (("CAPACITIES", (0.7, 1.0)), ("SLACKS", (0.0, 12.0)), ("SHIFTS", (0.8, 1.2))):
        monkeypatch.setattr(sweeps, constant, values)
    monkeypatch.setattr(sweeps, "ELASTICITIES", ("jacobi-1k", "no-scaling"))
    figure: Figure = getattr(importlib.import_module(f"carbonopt.papers.{module}"), name)
    assert figure.problem == "elastic"
    table = figure.table(run)
    assert {"policy", "carbon_kg", "saving", "late_jobs", "bound_kg"} <= set(table)
    assert (table["carbon_kg"] >= table["bound_kg"] * (1 - 1e-6)).all()
    assert (table.loc[table["policy"] == "carbon-agnostic", "saving"] == 0).all()
    axis: Any = figure.draw(table)
    assert axis.get_legend() is not None
    simulated = table[~table["policy"].isin(("oracle", "optimum"))]
    assert ((simulated["overhead"] > 0) & (simulated["overhead"] < 0.2)).all()


@pytest.mark.slow
def test_the_papers_savings_stand_beside_the_trace_that_an_instance_is_named_after(
    monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    monkeypatch.setattr(carbonflex_cases, "EVERY", ("carbon-agnostic", "lowest-window"))
    past, week = run.instances
    named = replace(week, name="elastic-azure_100k-j12")  # type: ignore[type-var]
    table = carbonflex_cases.TRACES.table(Run([past, week, past, named]))
    told = table.dropna(subset="paper_saving")
    assert set(told["instance"]) == {named.name}
    assert dict(zip(told["policy"], told["paper_saving"], strict=True)) == {"lowest-window": 0.214, "oracle": 0.473}
    labels = [text.get_text() for text in carbonflex_cases.TRACES.draw(table).get_legend().get_texts()]
    assert "the paper's, of its own weeks" in labels


@pytest.mark.parametrize("name", ["SIGNALS", "PROFILES", "DECISIONS", "DIVERSITY"])
def test_a_figure_of_what_is_given_draws_its_table(name: str, run: Run) -> None:
    figure: Figure = getattr(importlib.import_module("carbonopt.papers.carbonflex_signals"), name)
    table = figure.table(run)
    assert len(table) > 0
    assert table.notna().all(axis=None)
    assert figure.draw(table).get_xlabel()


def test_algorithm_1_uses_more_servers_in_clean_slots(run: Run) -> None:
    table = carbonflex_signals.DECISIONS.table(run)
    used = table[table["servers"] > 0]
    assert used["servers"].corr(used["g_per_kwh"]) < 0
    assert (used["least_gain"] > 0).all()


def test_a_gain_is_over_the_first_value_and_the_papers_stands_at_the_last() -> None:
    table = pd.DataFrame({"policy": ["p", "p"], "slack": [0, 36], "saving": [0.1, 0.3]})
    found = with_gains(table, "slack", {"p": 0.138})
    assert found["gain"].tolist() == pytest.approx([0.0, 0.2])
    assert found["paper_gain"].isna().tolist() == [True, False]


def test_the_overhead_is_that_of_the_servers_that_start_and_of_the_checkpoints() -> None:
    week = co.generate("elastic", jobs=1, capacity=1, profiles="no-scaling", model="integer", seed=1)
    found = co.simulate(week, "carbon-agnostic")  # one server, started once, 100 W
    first = int(found.schedule["slot"].min())
    kg = 0.1 * START_MINUTES["cpu"] / 60 * week.intensity[first] / 1000
    assert overhead(week, found) == pytest.approx(kg / found.metrics["carbon_kg"])
    kinds = {"cpu-high": "cpu", "gpu-high": "gpu", "resnet50": "gpu", "jacobi-1k": "cpu", "my own": "cpu"}
    assert {name: kind_of(name) for name in kinds} == kinds


def test_instances_come_in_pairs(run: Run) -> None:
    past, week = run.instances
    assert pairs(run) == [(past, week)]
    assert pairs(Run([week])) == [(None, week)]
    with pytest.raises(UnsupportedError, match="pairs of a past and a week"):
        pairs(Run([past, week, past]))


def test_every_policy_is_in_the_main_figure() -> None:
    from carbonopt.problems.elastic import PROBLEM

    assert set(EVERY) == set(PROBLEM.policies) - {"cap"}  # not one of the paper's


def test_more_jobs_are_the_same_jobs_twice(run: Run) -> None:
    week = pairs(run)[0][1]
    assert len(sweeps.with_more_jobs(week, 1.5).jobs) == 18
    assert len(sweeps.with_more_jobs(week, 0.5).jobs) == 6
    longer = sweeps.with_longer_jobs(week, 2.0)
    assert longer.jobs.length.sum() == pytest.approx(2 * week.jobs.length.sum())
    assert (longer.jobs.slack == week.jobs.slack).all()

"""CarbonFlex's figures across instances: Figures 11 (traces) and 12 (zones)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from carbonopt.papers.carbonflex_runs import (
    DEFAULTS,
    EVERY,
    NOT_PUBLIC,
    PAIRS,
    Policies,
    compared,
    legend_above,
    pairs,
)
from carbonopt.papers.figure import Figure, Run
from carbonopt.papers.marks import mark_paper
from carbonopt.plotting.points import bars

PAPER_OF_TRACE = {
    "azure": {"carbonflex": 0.437, "oracle": 0.473, "lowest-window": 0.214},
    "pai": {"carbonflex": 0.369, "oracle": 0.426, "lowest-window": 0.253},
}
"""Savings of section 6.4, which tells the oracle's and GAIA's as distances from CarbonFlex's, by what an instance of
the trace has in its name."""
PAPER_BELOW_ORACLE = (0.009, 0.0631)
"""Least and largest distance of CarbonFlex to its oracle in ten zones, none of which is named (section 6.5)."""


def _across(run: Run) -> pd.DataFrame:
    rows = []
    for past, week in pairs(run):
        facts = {"instance": week.name, "zone": week.cluster.zone, "jobs": len(week.jobs)}
        rows += [{**facts, **row} for row in compared(run, week, Policies(past), EVERY)]
    return pd.DataFrame(rows)


def _across_traces(run: Run) -> pd.DataFrame:
    """Return the table with the paper's savings of the instances whose names tell one of its traces."""
    table = _across(run)
    told = [_paper_saving(str(row.instance), str(row.policy)) for row in table.itertuples()]
    return table.assign(paper_saving=told)


def _paper_saving(instance: str, policy: str) -> float:
    traces = [savings for trace, savings in PAPER_OF_TRACE.items() if trace in instance.lower()]
    return traces[0].get(policy, np.nan) if traces else np.nan


def _draw_traces(table: pd.DataFrame, ax: Any = None) -> Any:
    axis = _draw("instance")(table, ax)
    place = {str(policy): number for number, policy in enumerate(dict.fromkeys(table["policy"]))}
    told = table.dropna(subset="paper_saving")
    if len(told):
        mark_paper(axis, told["policy"].map(place), told["paper_saving"], "the paper's, of its own weeks")
        legend_above(axis, 2)
    return axis


def _draw(by: str) -> Any:
    def draw(table: pd.DataFrame, ax: Any = None) -> Any:
        wide = table.pivot_table(index="policy", columns=by, values="saving", sort=False).reset_index()
        axis = bars(wide, "policy", {str(name): str(name) for name in wide.columns[1:]}, ax)
        legend_above(axis, 2 if by == "instance" else 6)
        axis.set_ylabel("saving over carbon-agnostic")
        return axis

    return draw


def _draw_zones(table: pd.DataFrame, ax: Any = None) -> Any:
    axis = _draw("zone")(table, ax)
    wide = table.pivot_table(index="policy", columns="zone", values="saving", sort=False)
    if {"carbonflex", "oracle"} <= set(wide.index):
        row, width = list(wide.index).index("carbonflex"), 0.8 / len(wide.columns)
        at = [row + (number - (len(wide.columns) - 1) / 2) * width for number in range(len(wide.columns))]
        for points in PAPER_BELOW_ORACLE:
            mark_paper(axis, at, wide.loc["oracle"] - points, f"the paper's: {100 * points:g} points below our oracle")
        legend_above(axis, 2)
    return axis


TRACES = Figure(
    "elastic",
    "savings on several traces (CarbonFlex, Figure 11)",
    _across_traces,
    _draw_traces,
    f"{NOT_PUBLIC} {PAIRS} The paper's traces are of Azure, Alibaba and SURF; of the first two there are public samples"
    " of GAIA's authors, and `carbonopt convert elastic` reads SWF and Slurm logs. The"
    " paper (section 6.4): on Azure's trace CarbonFlex saves 43.7 %, 3.6 points less than its oracle and 22.3 more than"
    " GAIA, on Alibaba's 36.9 %, 5.7 less and 11.6 more. They stand in paper_saving where the name of an instance tells"
    " its trace, by 'azure' or 'pai'.",
    DEFAULTS,
)

ZONES = Figure(
    "elastic",
    "savings in several zones (CarbonFlex, Figure 12)",
    _across,
    _draw_zones,
    f"{NOT_PUBLIC} {PAIRS} What can be saved differs from zone to zone, and so does the bound: compare with it."
    " The paper (section 6.5): CarbonFlex stays 0.9 to 6.31 points below its oracle in ten zones.",
    DEFAULTS,
)

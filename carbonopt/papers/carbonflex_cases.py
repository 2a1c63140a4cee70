"""CarbonFlex's figures across instances: Figures 11 (traces) and 12 (zones)."""

from __future__ import annotations

from typing import Any

import pandas as pd

from carbonopt.papers.carbonflex_runs import DEFAULTS, EVERY, NOT_PUBLIC, PAIRS, Policies, compared, legend_above, pairs
from carbonopt.papers.figure import Figure, Run
from carbonopt.plotting.points import bars


def _across(run: Run) -> pd.DataFrame:
    rows = []
    for past, week in pairs(run):
        facts = {"instance": week.name, "zone": week.cluster.zone, "jobs": len(week.jobs)}
        rows += [{**facts, **row} for row in compared(run, week, Policies(past), EVERY)]
    return pd.DataFrame(rows)


def _draw(by: str) -> Any:
    def draw(table: pd.DataFrame, ax: Any = None) -> Any:
        wide = table.pivot_table(index="policy", columns=by, values="saving", sort=False).reset_index()
        axis = bars(wide, "policy", {str(name): str(name) for name in wide.columns[1:]}, ax)
        legend_above(axis, 2 if by == "instance" else 6)
        axis.set_ylabel("saving over carbon-agnostic")
        return axis

    return draw


TRACES = Figure(
    "elastic",
    "savings on several traces (CarbonFlex, Figure 11)",
    _across,
    _draw("instance"),
    f"{NOT_PUBLIC} {PAIRS} The paper's traces are of Azure, Alibaba and SURF; of the first two there are public samples"
    " of GAIA's authors, and `carbonopt convert elastic` reads SWF and Slurm logs. The"
    " paper (section 6.4): on Azure's trace CarbonFlex saves"
    " 43.7 % and its oracle 3.6 points more, on Alibaba's 36.9 % and 5.7 points more.",
    DEFAULTS,
)

ZONES = Figure(
    "elastic",
    "savings in several zones (CarbonFlex, Figure 12)",
    _across,
    _draw("zone"),
    f"{NOT_PUBLIC} {PAIRS} What can be saved differs from zone to zone, and so does the bound: compare with it."
    " The paper (section 6.5): CarbonFlex stays 0.9 to 6.31 points below its oracle in ten zones.",
    DEFAULTS,
)

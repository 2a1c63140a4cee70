"""CarbonFlex's figures of one cluster: Figure 6 (all policies) and Figure 14 (virtual capacity curves)."""

from __future__ import annotations

from typing import Any

import pandas as pd

from carbonopt.papers.carbonflex_runs import EVERY, NOT_PUBLIC, PAIRS, Policies, compared, pairs
from carbonopt.papers.figure import Figure, Run
from carbonopt.plotting.points import bars


def _first(run: Run, names: tuple[str, ...]) -> pd.DataFrame:
    past, week = pairs(run)[0]
    return pd.DataFrame(compared(run, week, Policies(past), names))


def _draw(table: pd.DataFrame, ax: Any = None) -> Any:
    shown = table.assign(wait_days=table["mean_wait_slots"].astype(float) / 24)
    axis = bars(shown, "policy", {"saving": "saving over carbon-agnostic", "wait_days": "mean wait [24 slots]"}, ax)
    axis.axhline(float(table.loc[table["policy"] == "optimum", "saving"].iloc[0]), color="black", linestyle=":")
    return axis


POLICIES = Figure(
    "elastic",
    "savings and delay of every policy on one cluster (CarbonFlex, Figure 6)",
    lambda run: _first(run, EVERY),
    _draw,
    f"{NOT_PUBLIC} {PAIRS} The paper reports 43.7 % for CarbonFlex and 47.3 % for its oracle on its own month. The"
    " oracle is its Algorithm 1, which is no optimum; the optimum is the certified bound of the fluid model. Replan is"
    " not of the paper.",
)

VCC = Figure(
    "elastic",
    "virtual capacity curves with and without scaling (CarbonFlex, Figure 14)",
    lambda run: _first(run, ("carbon-agnostic", "vcc", "vcc-scaling", "carbonflex", "replan")),
    _draw,
    f"{NOT_PUBLIC} {PAIRS} How the paper sets the curve is open: here the whole cluster in the cleanest hours of each"
    " day, as many as the work needs that arrives in a day on average; scaling uses units with p of at least 0.5.",
)

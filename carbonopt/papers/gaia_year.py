"""GAIA on long traces: Figure 13, and a sweep of reserved CPUs that is not of the paper.

The artifact cannot run them: its simulator reads at most 720 hours, and takes the hours of the long traces for
seconds. So there is nothing to compare with, digit by digit.
"""

from __future__ import annotations

from dataclasses import replace
from math import nan
from typing import Any

import pandas as pd

from carbonopt.papers.figure import Figure, Run
from carbonopt.papers.gaia_week import METRICS, NO_WAIT, normalised, simulated
from carbonopt.papers.marks import mark_bars
from carbonopt.plotting.points import bars, lines
from carbonopt.problems.purchasing.data.instance import PurchasingInstance

POLICIES = ("lowest-window", "carbon-time", "wait-awhile", "ecovisor", "res-first-carbon-time")
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25)
"""Reserved CPUs of the sweep, over the CPUs that are in use on average."""
CALIFORNIA = "US-CAL-CISO"
PRINTED_CARBON = {"wait-awhile": 1 - 0.19, "lowest-window": 1 - 0.44 * 0.19}
"""Carbon over no-wait of the Azure trace in California (section 6.4.1)."""
CANNOT = (
    "The authors' public simulator cannot run traces longer than 720 hours, so their numbers cannot be checked,"
    " and the exact settings of the figure are not part of the artifact: this shows the same quantities for the"
    " traces, zones and limits that the instances have."
)


def _cases(run: Run) -> list[PurchasingInstance]:
    return [instance for instance in run.instances if isinstance(instance, PurchasingInstance)]


def _row(run: Run, instance: PurchasingInstance, policy: str) -> dict[str, Any]:
    metrics = simulated(run, instance, policy).metrics
    facts = {"instance": instance.name, "zone": instance.zone, "policy": policy}
    return facts | {"reserved_cpus": instance.reserved_cpus, **{name: metrics[name] for name in METRICS}}


def _across_traces(run: Run) -> pd.DataFrame:
    tables = []
    for instance in _cases(run):
        reference = simulated(run, replace(instance, reserved_cpus=0), NO_WAIT).metrics
        rows = [_row(run, instance, policy) for policy in (NO_WAIT, *POLICIES)]
        by = {"carbon_kg": reference["carbon_kg"], "cost_usd": reference["cost_usd"]}
        table = normalised(pd.DataFrame(rows), by)
        told = PRINTED_CARBON if instance.zone == CALIFORNIA else {}
        tables.append(table.assign(printed_carbon=table["policy"].map(lambda name, told=told: told.get(name, nan))))
    return pd.concat(tables, ignore_index=True)


def _draw_traces(table: pd.DataFrame, ax: Any = None) -> Any:
    wide = table.pivot_table(index="policy", columns="instance", values="carbon", sort=False).reset_index()
    columns = {name: name for name in wide.columns[1:]}
    axis = bars(wide, "policy", columns, ax)
    told = {str(name): wide["policy"].map(part.set_index("policy")["printed_carbon"])
            for name, part in table.groupby("instance")}  # fmt: skip
    mark_bars(axis, columns, told, "printed, Azure's trace in California")
    axis.set_ylabel("carbon over no-wait")
    return axis


ACROSS_TRACES = Figure(
    "purchasing",
    "policies on long traces and in several zones (GAIA, Figure 13)",
    _across_traces,
    _draw_traces,
    f"{CANNOT} Carbon and cost are over those of no-wait without reserved CPUs.",
)


def _across_reserved(run: Run) -> pd.DataFrame:
    tables = []
    for instance in _cases(run):
        free = replace(instance, reserved_cpus=0)
        reference = simulated(run, free, NO_WAIT).metrics
        demand = instance.features()["mean_cpus_in_use"]
        rows = []
        for share in SHARES:
            reserved = replace(instance, reserved_cpus=round(share * demand))
            rows.append({"reserved_share": share, **_row(run, reserved, "res-first-carbon-time")})
        by = {"carbon_kg": reference["carbon_kg"], "cost_usd": reference["cost_usd"]}
        tables.append(normalised(pd.DataFrame(rows), by))
    return pd.concat(tables, ignore_index=True)


def _draw_reserved(table: pd.DataFrame, ax: Any = None) -> Any:
    axis = ax
    for name, part in table.groupby("instance", sort=False):
        axis = lines(part, "reserved_share", {"carbon": f"carbon, {name}", "cost": f"cost, {name}"}, axis)
    axis.set_xlabel("reserved CPUs over mean CPUs in use")
    axis.set_ylabel("over no-wait without reserved CPUs")
    return axis


ACROSS_RESERVED = Figure(
    "purchasing",
    "RES-First-Carbon-Time on long traces against the share of reserved CPUs (not of GAIA)",
    _across_reserved,
    _draw_reserved,
    CANNOT,
)

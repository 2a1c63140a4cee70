"""GREEN over time, over its own parameters, and over the load: Figures 12 and 13, and one that the paper lacks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from carbonopt.core.errors import UnsupportedError
from carbonopt.papers.figure import Figure, Run
from carbonopt.papers.green_runs import (
    BASELINE,
    DIGITS,
    SETTINGS,
    added_watts,
    by_zone,
    clusters,
    completion_hours,
    simulated,
)
from carbonopt.plotting.points import lines
from carbonopt.problems.mlcluster.data.instance import MlClusterInstance

MU = (1.0, 1.5, 2.0, 2.5, 3.0)
RERANK_MINUTES = (10, 30, 60)
"""Of Figure 13; its text tells the defaults, 2 and 30 min."""
LOADS = (0.6, 0.8, 1.0, 1.2, 1.5, 2.0, 2.6)
"""Work over the GPU time while jobs arrive."""
LONG_HOURS = 60 * 24
"""Horizon beyond which periods are months, else weeks."""


def _periods(instance: MlClusterInstance, hours: Any) -> Any:
    """Return the month, or on short horizons the week, in which hours since the beginning of slot 0 are."""
    start = np.datetime64(instance.time.start.replace(tzinfo=None), "s")
    moments = start + np.round(np.asarray(hours) * 3600).astype("timedelta64[s]")
    if instance.time.hours > LONG_HOURS:
        return moments.astype("datetime64[M]").astype(str)
    week = (moments - start) // np.timedelta64(7, "D")
    return (start + week * np.timedelta64(7, "D")).astype("datetime64[D]").astype(str)


def _over_time(run: Run) -> pd.DataFrame:
    rows = []
    for instance in clusters(run):
        slot = _periods(instance, np.arange(instance.time.slots) * instance.time.slot_hours)
        arrival = _periods(instance, instance.jobs.arrival_minutes / 60)
        columns = {}
        for policy in (BASELINE, "green"):
            found = simulated(run, instance, policy)
            kg = added_watts(instance, found) * instance.kg_per_watt_minute * instance.slot_minutes
            columns[f"{policy}_kg"] = pd.Series(kg).groupby(slot).sum()
            columns[f"{policy}_jct_hours"] = pd.Series(completion_hours(instance, found)).groupby(arrival).mean()
        part = pd.DataFrame(columns).reset_index(names="period")
        ran = part[f"{BASELINE}_kg"] + part["green_kg"] > 0  # also without arrivals, and then without a mean JCT
        rows.append(part[ran].assign(zone=instance.zone))
    table = pd.concat(rows, ignore_index=True)
    base = table[f"{BASELINE}_kg"]
    table["added"] = (table["green_kg"] / base.where(base > 0) - 1).round(DIGITS)
    table["jct"] = (table["green_jct_hours"] / table[f"{BASELINE}_jct_hours"] - 1).round(DIGITS)
    return table


def _draw_over_time(table: pd.DataFrame, ax: Any = None) -> Any:
    axis = ax
    for zone, part in table.groupby("zone", sort=False):
        axis = lines(part, "period", {"added": f"added carbon, {zone}", "jct": f"JCT, {zone}"}, axis)
    axis.tick_params(axis="x", rotation=30)
    axis.set_ylabel("GREEN over Tiresias, less 1")
    return axis


YEAR = Figure(
    "mlcluster",
    "carbon and completion times over a long simulation (GREEN, Figure 12)",
    _over_time,
    _draw_over_time,
    f"{SETTINGS} The paper simulates a year at one-minute resolution, 146,000 jobs sampled from a trace of Alibaba's,"
    " and reports 31.6 % less carbon than Tiresias. Its sample is not public: give a year of your own (convert"
    " mlcluster with a trace, or generate mlcluster --jobs 146000 --arrival-hours 8760 --load 0.5). Rows are months of"
    " horizons above 60 days, else weeks; a job counts in the period of its arrival, carbon in that of its emission.",
)


def _sweep(run: Run) -> pd.DataFrame:
    changes = {f"green:mu={mu:g}": ("mu", mu) for mu in MU}
    changes |= {f"green:rerank_minutes={minutes}": ("rerank_minutes", float(minutes)) for minutes in RERANK_MINUTES}
    table = by_zone(run, (BASELINE, *changes))
    named = table[table["policy"] != BASELINE]
    facts = pd.DataFrame([changes[policy] for policy in named["policy"]], columns=["parameter", "value"])
    return pd.concat([facts, named.drop(columns="policy").reset_index(drop=True)], axis=1)


def _draw_sweep(table: pd.DataFrame, ax: Any = None) -> Any:
    part = table[table["parameter"] == "mu"].groupby("value")[["added", "jct"]].mean().reset_index()
    axis = lines(part, "value", {"added": "added carbon", "jct": "JCT"}, ax)
    axis.set_xlabel("mu: strength of shifting")
    axis.set_ylabel("over Tiresias, less 1, mean over zones")
    return axis


SWEEP = Figure(
    "mlcluster",
    "strength of shifting, and time between active rounds (GREEN, Figure 13)",
    _sweep,
    _draw_sweep,
    f"{SETTINGS} The paper takes mu = 2 for the best balance, and finds that intervals of 30 minutes or more work well"
    " (appendix A.2).",
)


def _with_load(instance: MlClusterInstance, load: float) -> MlClusterInstance:
    work = instance.jobs.work_gpu_minutes
    now = instance.features()["load"]
    if not now:
        raise UnsupportedError(f"{instance.name}: must have jobs that arrive at different moments, to have a load")
    return replace(instance, jobs=replace(instance.jobs, work_gpu_minutes=work * (load / now)))


def _by_load(run: Run) -> pd.DataFrame:
    parts = []
    for load in LOADS:
        scaled = [_with_load(instance, load) for instance in clusters(run)]
        part = by_zone(Run(scaled, run.settings, run.say), (BASELINE, "green"))
        parts.append(part[part["policy"] == "green"].drop(columns="policy").assign(load=load))
    table = pd.concat(parts, ignore_index=True)
    return table[["load", *table.columns[:-1]]]


def _draw_by_load(table: pd.DataFrame, ax: Any = None) -> Any:
    means = table.groupby("load")[["added", "jct", "above_bound"]].mean().reset_index()
    labels = {"jct": "JCT over Tiresias", "added": "added carbon over Tiresias", "above_bound": "above the bound"}
    axis = lines(means, "load", labels, ax)
    axis.axhline(0.06, color="black", linestyle=":")
    axis.set_ylabel("less 1, mean over zones")
    return axis


LOAD = Figure(
    "mlcluster",
    "GREEN against the load of the cluster (not of the paper)",
    _by_load,
    _draw_by_load,
    f"{SETTINGS} The same jobs with their work scaled; a day in the shares of Table 2 has a load of 2.6.",
)

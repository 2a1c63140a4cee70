"""GREEN over time, over its own parameters, and over the load: Figures 12 and 13, and one that the paper lacks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from carbonopt.core.errors import UnsupportedError
from carbonopt.papers.figure import Figure, Run
from carbonopt.papers.green_runs import (
    BASELINE,
    DIGITS,
    GREEN_OF_YEAR,
    SETTINGS,
    TAIL,
    YEAR,
    ZONES_YEAR,
    added_watts,
    as_footprint,
    by_zone,
    clusters,
    completion_hours,
    simulated,
)
from carbonopt.plotting.points import bars, lines
from carbonopt.problems.mlcluster.data.instance import MlClusterInstance

MU = (1.0, 1.5, 2.0, 2.5, 3.0)
RERANK_MINUTES = (10, 30, 60)
"""Of Figure 13; its text tells the defaults, 2 and 30 min."""
LOADS = (0.6, 0.8, 1.0, 1.2, 1.5, 2.0, 2.6)
"""Work over the GPU time while jobs arrive."""
PAPER_YEAR = {"footprint": -0.316, "jct": 0.051, "tail": 0.075}
"""GREEN over Tiresias, less 1 (section 8.3)."""
WHOLE = "all"
"""The period that is the whole horizon."""
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
    parts = []
    for instance in clusters(run, ZONES_YEAR):
        slot = _periods(instance, np.arange(instance.time.slots) * instance.time.slot_hours)
        arrival = _periods(instance, instance.jobs.arrival_minutes / 60)
        columns = {}
        for policy, name in ((BASELINE, BASELINE), (GREEN_OF_YEAR, "green")):
            found = simulated(run, instance, policy)
            watts = added_watts(as_footprint(instance), found)
            kg = pd.Series(watts * instance.kg_per_watt_minute * instance.slot_minutes)
            hours = pd.Series(completion_hours(instance, found))
            columns[f"{name}_kg"] = _by_period(kg, slot, pd.Series.sum)
            columns[f"{name}_jct_hours"] = _by_period(hours, arrival, pd.Series.mean)
            columns[f"{name}_tail_hours"] = _by_period(hours, arrival, _tail)
        part = pd.DataFrame(columns).reset_index(names="period")
        ran = part[f"{BASELINE}_kg"] + part["green_kg"] > 0  # also without arrivals, and then without a mean JCT
        parts.append(part[ran].assign(zone=instance.zone))
    table = pd.concat(parts, ignore_index=True)
    for column, name in (("kg", "footprint"), ("jct_hours", "jct"), ("tail_hours", "tail")):
        base = table[f"{BASELINE}_{column}"]
        table[name] = (table[f"green_{column}"] / base.where(base > 0) - 1).round(DIGITS)
    whole = table["period"] == WHOLE
    return table.assign(**{f"paper_{name}": pd.Series(value, table.index[whole]) for name, value in PAPER_YEAR.items()})


def _tail(hours: pd.Series) -> float:
    return float(np.percentile(hours, TAIL))


def _by_period(values: pd.Series, period: Any, summary: Callable[[pd.Series], float]) -> pd.Series:
    """Return a summary of the values in each period, and in `WHOLE`, that of all."""
    found: pd.Series[float] = pd.Series({name: summary(part) for name, part in values.groupby(period)})
    return pd.concat([found, pd.Series({WHOLE: summary(values)})])


def _draw_over_time(table: pd.DataFrame, ax: Any = None) -> Any:
    shown = table[table["period"] == WHOLE]
    axis = bars(shown, "zone", {"footprint": "footprint", "jct": "JCT", "tail": "tail JCT"}, ax)
    for value in PAPER_YEAR.values():
        axis.axhline(value, color="black", linestyle=":", linewidth=0.8)
    axis.set_ylabel("GREEN over Tiresias, less 1; dotted: the paper's")
    return axis


OVER_YEAR = Figure(
    "mlcluster",
    "carbon and completion times over a year (GREEN, Figure 12)",
    _over_time,
    _draw_over_time,
    f"{SETTINGS} By default a year of 146,000 jobs in the shares of Table 3 in five zones, a minute or two a zone; the"
    " paper samples them from a trace of Alibaba's at one-minute resolution. GREEN compares each hour with the mean of"
    " its day, as section 8.1 gives it a new curve every 24 hours. Rows are months of horizons above 60 days, else"
    f" weeks, and {WHOLE!r}; a job counts in the period of its arrival, carbon in that of its emission. The paper"
    " reports a footprint 31.6 % below Tiresias', a mean JCT 5.1 % and a tail JCT 7.5 % above: not reproduced.",
    (YEAR,),
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

"""What GAIA's figures of its inputs show, of the instances that are given: 1, 6 and 7 (carbon) and 5 (the trace)."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np
import pandas as pd

from carbonopt.papers.figure import Figure, Run
from carbonopt.papers.gaia_regions import ZONES
from carbonopt.plotting.points import bars, lines
from carbonopt.problems.purchasing.data.instance import PurchasingInstance

DAYS = 3
MONTH_ZONES = ("US-CAL-CISO", "AU-SA")
PRINTED_RATIO = {"temporal": 3.37, "spatial": 9.0}
"""Largest over least intensity of three days, within a region and between regions (caption of Figure 1)."""
PRINTED_SHARE = 0.5
"""Of the jobs, of those of up to an hour: "almost 50%" (section 6.2.2)."""
SHARES = np.linspace(0.01, 1.0, 100)
"""Of the jobs, in the distributions of lengths and CPUs."""
ONE_GIVEN = "Each instance gives the signal of its zone; without any, synthetic signals of published statistics."


def _given(run: Run) -> list[PurchasingInstance]:
    return [instance for instance in run.instances if isinstance(instance, PurchasingInstance)]


def _three_days(run: Run) -> pd.DataFrame:
    """Return the first three days of each signal, and its largest intensity over its least."""
    parts = []
    for instance in _given(run):
        hours = np.arange(instance.time.slots) * instance.time.slot_hours
        shown = hours < 24 * DAYS
        signal = instance.intensity[shown]
        facts = {"zone": instance.zone, "temporal_ratio": _ratio(float(signal.max()), float(signal.min()))}
        parts.append(pd.DataFrame({"hour": hours[shown], "g_per_kwh": signal, **facts}))
    table = pd.concat(parts, ignore_index=True)
    means = table.groupby("zone")["g_per_kwh"].mean()
    spatial = _ratio(float(means.max()), float(means.min()))
    told = {f"printed_{name}_ratio": ratio for name, ratio in PRINTED_RATIO.items()}
    return table.assign(spatial_ratio=spatial, **told)


def _ratio(most: float, least: float) -> float:
    return most / least if least > 0 else nan


def _draw_three_days(table: pd.DataFrame, ax: Any = None) -> Any:
    axis = ax
    for zone, part in table.groupby("zone", sort=False):
        ratio = part["temporal_ratio"].iloc[0]
        axis = lines(part, "hour", {"g_per_kwh": f"{zone} ({ratio:.1f})"}, axis)
    axis.set_xlabel("hour [h]")
    axis.set_ylabel("carbon intensity [gCO2e/kWh]")
    axis.set_title("in brackets: most over least; the paper's is up to 3.37", fontsize="small")
    return axis


def _by_month(run: Run) -> pd.DataFrame:
    """Return the mean intensity of each month and zone."""
    parts = []
    for instance in _given(run):
        start = np.datetime64(instance.time.start.replace(tzinfo=None), "m")
        minutes = np.round(np.arange(instance.time.slots) * instance.time.slot_hours * 60).astype("timedelta64[m]")
        month = (start + minutes).astype("datetime64[M]").astype(str)
        table = pd.DataFrame({"month": month, "mean_g_per_kwh": instance.intensity})
        parts.append(table.groupby("month", as_index=False).mean().assign(zone=instance.zone))
    return pd.concat(parts, ignore_index=True)[["zone", "month", "mean_g_per_kwh"]]


def _draw_by_month(table: pd.DataFrame, ax: Any = None) -> Any:
    wide = table.pivot_table(index="month", columns="zone", values="mean_g_per_kwh", sort=False).reset_index()
    axis = bars(wide, "month", {str(zone): str(zone) for zone in wide.columns[1:]}, ax)
    axis.set_ylabel("mean carbon intensity [gCO2e/kWh]")
    return axis


def _jobs(run: Run) -> pd.DataFrame:
    """Return the lengths and CPUs that so many jobs stay within, and the share of jobs of up to an hour."""
    parts = []
    for instance in _given(run):
        jobs = instance.jobs
        columns = {"length_hours": np.quantile(jobs.length_hours, SHARES), "cpus": np.quantile(jobs.cpus, SHARES)}
        hour = float((jobs.length_hours <= 1).mean())
        facts = {"instance": instance.name, "share_of_an_hour": hour, "printed_share_of_an_hour": PRINTED_SHARE}
        parts.append(pd.DataFrame({"jobs_share": SHARES, **columns, **facts}))
    return pd.concat(parts, ignore_index=True)


def _draw_jobs(table: pd.DataFrame, ax: Any = None) -> Any:
    axis = ax
    for name, part in table.groupby("instance", sort=False):
        axis = lines(part, "length_hours", {"jobs_share": f"length [h], {name}"}, axis)
        axis = lines(part, "cpus", {"jobs_share": f"CPUs, {name}"}, axis)
    axis.plot(1.0, PRINTED_SHARE, "kD", fillstyle="none", label="the paper's week: almost 50 % within an hour")
    axis.legend(fontsize="small")
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter("{x:g}")
    axis.set_xlabel("length [h], or CPUs")
    axis.set_ylabel("share of the jobs")
    return axis


THREE_DAYS = Figure(
    "purchasing",
    "carbon intensity of three days in several zones (GAIA, Figure 1)",
    _three_days,
    _draw_three_days,
    f"{ONE_GIVEN} The paper's three regions and days are not in its text: the intensity varies there by up to 3.37"
    " times within a region and by up to 9 times between regions (section 2.1). Here the second is of the means.",
    tuple({"zone": zone} for zone in ZONES),
)
BY_MONTH = Figure(
    "purchasing",
    "mean carbon intensity by month (GAIA, Figure 7)",
    _by_month,
    _draw_by_month,
    f"{ONE_GIVEN} Give instances whose signals span a year; the synthetic ones have no seasons. The paper says that"
    " South Australia's almost doubles between July and December (section 6.1); in public files of 2022 July has 2.5"
    " times the intensity of December, so that it falls.",
    tuple({"zone": zone} for zone in MONTH_ZONES),
)
TRACE = Figure(
    "purchasing",
    "lengths and CPUs of jobs (GAIA, Figure 5)",
    _jobs,
    _draw_jobs,
    "The distributions of each instance's jobs: give the sample of a week and that of a year. The paper's figure also"
    " has the original trace, of which its text says that jobs below five minutes are 38 % of the jobs and .36 % of"
    " the computing; the samples hold none. Jobs of up to an hour are almost half of the jobs (section 6.2.2).",
)

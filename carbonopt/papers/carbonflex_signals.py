"""CarbonFlex's figures of what is given: 1 and 5 (carbon), 2 (scaling profiles) and 4 (decisions of Algorithm 1)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from carbonopt.io.synthetic import published_zones
from carbonopt.papers.carbonflex_runs import WEEK, legend_above, pairs
from carbonopt.papers.figure import Figure, Run
from carbonopt.plotting.figure import axes_for
from carbonopt.plotting.points import bars, lines
from carbonopt.plotting.style import styled
from carbonopt.problems.elastic.data.catalogue import WORKLOADS, class_profile
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.online.learn import replayed
from carbonopt.problems.elastic.online.queue_statistics import QUEUE_HOURS

WEEK_HOURS = 168.0
SHOWN_ZONES = ("US-MIDA-PJM", "CA-ON", "US-CAL-CISO", "DE")
"""Virginia, Ontario and California are named in section 2.1; the fourth region of the figure is not in the text."""
ZONES_NOTE = (
    "Each instance gives the signal of its cluster's zone; without any, synthetic signals of published statistics."
)


def _weeks(run: Run) -> list[ElasticInstance]:
    return [instance for instance in run.instances if isinstance(instance, ElasticInstance)]


def _first_week(run: Run) -> pd.DataFrame:
    parts = []
    for instance in _weeks(run):
        hours = np.arange(instance.time.slots) * instance.time.slot_hours
        table = pd.DataFrame({"hour": hours, "zone": instance.cluster.zone, "g_per_kwh": instance.intensity})
        parts.append(table[table["hour"] < WEEK_HOURS])
    return pd.concat(parts, ignore_index=True)


def _draw_first_week(table: pd.DataFrame, ax: Any = None) -> Any:
    axis = ax
    for zone, part in table.groupby("zone", sort=False):
        axis = lines(part, "hour", {"g_per_kwh": str(zone)}, axis)
    axis.set_xlabel("hour of the week [h]")
    axis.set_ylabel("carbon intensity [gCO2e/kWh]")
    return axis


def _diversity(run: Run) -> pd.DataFrame:
    """Return mean and coefficient of variation of each zone, and the mean range of a day."""
    rows = []
    for instance in _weeks(run):
        signal = instance.intensity
        day = round(24 / instance.time.slot_hours)
        days = signal[: len(signal) // day * day].reshape(-1, day)
        daily = float(np.ptp(days, axis=1).mean()) if len(days) else float("nan")
        mean = float(signal.mean())
        rows.append(
            {
                "zone": instance.cluster.zone,
                "mean_g_per_kwh": mean,
                "variation": float(signal.std()) / mean if mean else float("nan"),
                "daily_range_g_per_kwh": daily,
            }
        )
    return pd.DataFrame(rows).sort_values("variation", ascending=False, ignore_index=True)


@styled
def _draw_diversity(table: pd.DataFrame, ax: Any = None) -> Any:
    axis = axes_for(ax, height=3.2)[0]
    axis.scatter(table["mean_g_per_kwh"], table["variation"])
    for row in table.itertuples():
        axis.annotate(str(row.zone), (row.mean_g_per_kwh, row.variation), (4, 4), textcoords="offset points")
    axis.set_xlabel("mean carbon intensity [gCO2e/kWh]")
    axis.set_ylabel("standard deviation over mean")
    return axis


def _profiles(_run: Run) -> pd.DataFrame:
    rows = []
    for name, workload in WORKLOADS.items():
        gains = class_profile(name).marginal_throughput
        facts = {"workload": name, "kind": workload.kind, "elasticity": workload.elasticity}
        rows += [{**facts, "server": server, "gain": float(gain)} for server, gain in enumerate(gains, 1)]
    return pd.DataFrame(rows)


def _draw_profiles(table: pd.DataFrame, ax: Any = None) -> Any:
    axis = ax
    for (kind, elasticity), part in table.groupby(["kind", "elasticity"], sort=False):
        first = part[part["workload"] == part["workload"].iloc[0]]
        axis = lines(first, "server", {"gain": f"{kind}, {elasticity}"}, axis)
    legend_above(axis, 4)
    axis.set_xlabel("server")
    axis.set_ylabel("throughput that it adds")
    return axis


def _decisions(run: Run) -> pd.DataFrame:
    """Return servers in use and least throughput of a used unit in each slot, as Algorithm 1 decides."""
    week = pairs(run)[0][1]
    cases = replayed(week, QUEUE_HOURS)
    slots = min(len(cases), week.time.slots)
    return pd.DataFrame(
        {
            "slot": np.arange(slots),
            "g_per_kwh": week.intensity[:slots],
            "servers": cases.servers[:slots],
            "least_gain": cases.rho[:slots],
        }
    )


def _draw_decisions(table: pd.DataFrame, ax: Any = None) -> Any:
    ranked = table.assign(rank=table["g_per_kwh"].rank(pct=True))
    deciles = ranked.assign(decile=np.ceil(ranked["rank"] * 10).astype(int)).groupby("decile").mean().reset_index()
    shares = deciles.assign(servers=deciles["servers"] / max(1.0, float(table["servers"].max())))
    named = {"servers": "servers over the most in use", "least_gain": "least throughput of a used server"}
    axis = bars(shares, "decile", named, ax)
    axis.set_xlabel("tenth of the slots, from the cleanest to the dirtiest")
    axis.set_ylabel("mean over the slots")
    return axis


def _signal_of(zone: str, hours: float, start: str) -> dict[str, Any]:
    return {"model": "fluid", "jobs": 200, "zone": zone, "arrival_hours": hours, "seed": 1, "start": start}


SIGNALS = Figure(
    "elastic",
    "carbon intensity of a week in several zones (CarbonFlex, Figure 1)",
    _first_week,
    _draw_first_week,
    f"{ZONES_NOTE} The paper has four locations in the first week of April 2022. Its text (section 2.1): up to about"
    " 400 g/kWh between Virginia and Ontario, and about 100 g/kWh within a day in California.",
    tuple(_signal_of(zone, WEEK_HOURS, "2022-04-01T00:00:00Z") for zone in SHOWN_ZONES),
)

PROFILES = Figure(
    "elastic",
    "throughput that each further server adds (CarbonFlex, Figure 2)",
    _profiles,
    _draw_profiles,
    "The paper's measured profiles are not published. These are the modelled ones of this package: Amdahl's law with a"
    " serial share for each printed class of Table 3, up to 16 CPU servers and 8 GPU servers.",
    (WEEK,),
)

DECISIONS = Figure(
    "elastic",
    "capacity and least throughput by carbon, as Algorithm 1 decides (CarbonFlex, Figure 4)",
    _decisions,
    _draw_decisions,
    "The paper draws one example. This shows the same two decisions, the servers m_t and the least throughput rho_t, in"
    " a week: cleaner slots have more servers, and the dirtiest ones only a job's first.",
    (WEEK,),
    shows=2,
)

DIVERSITY = Figure(
    "elastic",
    "mean and variation of carbon in several zones (CarbonFlex, Figure 5)",
    _diversity,
    _draw_diversity,
    f"{ZONES_NOTE} The paper's text has no numbers of this figure.",
    tuple(_signal_of(zone, 8640.0, "2022-01-01T00:00:00Z") for zone in published_zones()),
)

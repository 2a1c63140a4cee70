"""Every decision that GREEN's paper leaves open, changed alone, and which of them could explain its savings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from carbonopt.papers.figure import Figure, Run
from carbonopt.papers.green_runs import (
    BASELINE,
    DIGITS,
    SETTINGS,
    bound_by,
    certificate_at_equal,
    clusters,
    is_bounded,
    row_of,
    simulated,
)
from carbonopt.plotting.figure import new_axes
from carbonopt.problems.mlcluster.data.instance import MlClusterInstance

CHANGES: dict[str, tuple[str, str]] = {
    "as decided": ("green", BASELINE),
    "no shifting (Table 4: mu = 1)": ("green-no-shifting", BASELINE),
    "GPU hours in place of the footprint (Table 4)": ("green-gpu-hours", BASELINE),
    "both": ("green-gpu-hours-no-shifting", BASELINE),
    "mu = 4": ("green:mu=4", BASELINE),
    "Fig. 5a reversed": ("green:shifting=reversed", BASELINE),
    "PRIORITY descending": ("green:order=descending", BASELINE),
    "upper queue by degradation (Algorithm 1)": ("green:upper=degradation", BASELINE),
    "a scale-out that fails keeps the GPU": ("green:failed=keep", BASELINE),
    "a job that theta stops waits in the upper queue": ("green:full=wait", BASELINE),
    "gamma = 0.75": ("green:gamma=0.75", BASELINE),
    "gamma = 0.9": ("green:gamma=0.9", BASELINE),
    "gamma = 0.95": ("green:gamma=0.95", BASELINE),
    "gamma from 0.65": ("green:gamma_idle=0.65", BASELINE),
    "gamma up to 0.85": ("green:gamma_most=0.85", BASELINE),
    "gamma rises twice as fast": ("green:gamma_rise=0.2", BASELINE),
    "scale every 30 min": ("green:scale_minutes=30", BASELINE),
    "scale every minute": ("green:scale_minutes=1", BASELINE),
    "re-rank every 10 min": ("green:rerank_minutes=10", BASELINE),
    "re-rank every 2 h": ("green:rerank_minutes=120", BASELINE),
    "theta = 0.15": ("green:theta=0.15", BASELINE),
    "theta = 0.6": ("green:theta=0.6", BASELINE),
    "no backfill from the upper queue": ("green:backfill=false", BASELINE),
    "no growth into spare GPUs": ("green:spare=false", BASELINE),
    "mean intensity of the day": ("green:mean=day", BASELINE),
    "mean intensity of the past day": ("green:mean=past-day", BASELINE),
    "cap 2": ("green:cap=2", BASELINE),
    "cap 4": ("green:cap=4", BASELINE),
    "ageing after 6 h": ("green:ageing_hours=6", BASELINE),
    "no ageing": ("green:ageing_hours=none", BASELINE),
    "Tiresias preempts every 5 min": ("green", "tiresias:round_minutes=5"),
    "the same, and its GPUs by gamma = 0.9": ("green", "tiresias:round_minutes=5,gamma=0.9"),
    "Tiresias' GPUs by gamma = 0.9": ("green", "tiresias:gamma=0.9"),
    "Carbon-Time's GPUs by gamma = 0.9": ("green", "carbon-time:gamma=0.9"),
    "Ecovisor's GPUs by gamma = 0.9": ("green", "ecovisor:gamma=0.9"),
    "Tiresias' GPUs by gamma = 0.8": ("green", "tiresias:gamma=0.8"),
    "Tiresias' GPUs by gamma = 0.85": ("green", "tiresias:gamma=0.85"),
    "Tiresias' GPUs by gamma = 0.95": ("green", "tiresias:gamma=0.95"),
    "Tiresias on 1 GPU": ("green", "tiresias:gpus=1"),
    "Tiresias on 2 GPUs": ("green", "tiresias:gpus=2"),
    "Tiresias on 4 GPUs": ("green", "tiresias:gpus=4"),
    "Tiresias on 8 GPUs": ("green", "tiresias:gpus=8"),
    "Tiresias, two queues": ("green", "tiresias-2"),
    "Carbon-Time (GAIA), W = 12 h": ("green", "carbon-time"),
    "Ecovisor, 10th percentile": ("green", "ecovisor"),
    "fixed 1 GPU": ("green", "fixed-1"),
    "fixed 2 GPUs": ("green", "fixed-2"),
    "first come, first served": ("green", "fcfs"),
}
"""What is changed: GREEN, or what it is compared with."""
SHOWN = {
    "carbon_kg": "carbon",
    "until_end_kg": "until_end",
    "added_kg": "added",
    "footprint_kg": "footprint",
    "jct_hours": "jct",
    "peak_kw": "peak",
}
BOUNDED_POLICIES = (BASELINE, "tiresias:gamma=0.9", "tiresias:round_minutes=5,gamma=0.9", "green")
"""Policies that are told how much anybody could save at their own mean completion time."""
LEAST = "least of any scheduler, at the JCT of {}"
NEAR = 0.05
"""Mean completion times that differ by less share a certificate: its bound is valid at all of them, and on the
default day at most .1 % weaker than one of their own, which takes seconds."""
PAPER = -0.322


class _Bounds:
    """Certified least added carbon of an instance at any mean completion time, by few certificates."""

    def __init__(self, instance: MlClusterInstance) -> None:
        self.instance = instance
        self.known: dict[float, dict[str, Any]] = {}

    def at(self, metrics: Mapping[str, Any]) -> float:
        """Return the bound at a policy's own mean completion time [kg]; NaN on large instances."""
        hours = float(metrics["mean_jct_hours"])
        if not is_bounded(self.instance):
            return np.nan
        nearest = min(self.known, key=lambda other: abs(other - hours), default=np.inf)
        if abs(nearest - hours) > NEAR * hours:
            self.known[hours] = certificate_at_equal(self.instance, metrics)
            nearest = hours
        return bound_by(self.instance, metrics, self.known[nearest])


def _table(run: Run) -> pd.DataFrame:
    parts = [_in_one(run, instance) for instance in clusters(run)]
    return pd.concat(parts).groupby("change", sort=False).mean().reset_index().round(DIGITS)


def _in_one(run: Run, instance: MlClusterInstance) -> pd.DataFrame:
    """Return the table of one instance."""
    known: dict[str, dict[str, float]] = {}
    bounds = _Bounds(instance)

    def row(policy: str) -> dict[str, float]:
        if policy not in known:
            solution = simulated(run, instance, policy)
            known[policy] = row_of(instance, solution, bounded=policy in BOUNDED_POLICIES)
            if policy.startswith("green"):
                known[policy]["above_bound"] = known[policy]["added_kg"] / bounds.at(solution.metrics) - 1
        return known[policy]

    rows = [
        {"change": change, **_over(row(policy), row(baseline)), "above_bound": row(policy)["above_bound"]}
        for change, (policy, baseline) in CHANGES.items()
    ]
    least = [{"change": LEAST.format(policy), **_least(row(policy))} for policy in BOUNDED_POLICIES]
    return pd.DataFrame([*rows, *least])


def _over(mine: dict[str, float], other: dict[str, float]) -> dict[str, float]:
    """Return what a policy is over its baseline, less 1."""
    return {name: mine[metric] / other[metric] - 1 for metric, name in SHOWN.items()}


def _least(row: dict[str, float]) -> dict[str, float]:
    """Return by how much anybody could be below a policy at its own mean completion time: certified."""
    saved = dict.fromkeys(("carbon_kg", "added_kg"), row["added_kg"] - row["bound_kg"])
    saved |= {
        "footprint_kg": row["footprint_kg"] - row["bound_footprint_kg"],
        "until_end_kg": row["until_end_kg"] - row["bound_until_end_kg"],
    }
    changes = {name: -saved.get(metric, np.nan) / row[metric] for metric, name in SHOWN.items()}
    return changes | {"above_bound": 0.0}


def _draw(table: pd.DataFrame, ax: Any = None) -> Any:
    axis = new_axes(height=0.22 * len(table))[0] if ax is None else ax
    place = np.arange(len(table))[::-1]
    for column, marker in (("carbon", "o"), ("until_end", "^"), ("footprint", "s"), ("jct", "x")):
        axis.plot(table[column].clip(upper=1.0), place, marker, label=column, markersize=4)
    axis.axvline(PAPER, color="black", linestyle=":", label="carbon in the paper")
    axis.set_yticks(place, table["change"], fontsize="x-small")
    axis.set_xlabel("over the baseline, less 1, cut at 1")
    axis.legend(fontsize="small")
    return axis


SENSITIVITY = Figure(
    "mlcluster",
    "every decision that the paper leaves open, changed alone (GREEN)",
    _table,
    _draw,
    f"{SETTINGS} Each row is GREEN over a baseline, mean over zones, with one decision changed: GREEN's, or what it is"
    " compared with; the columns are changes over that baseline. Carbon is counted in four ways: of the cluster over"
    " one horizon, until the last job ends, what jobs add, and the paper's footprint of jobs. above_bound is GREEN's"
    " distance from the certified least that jobs add at its own mean JCT. The last rows are theorems: nobody saves"
    " more at the mean JCT of the policy that they name.",
)

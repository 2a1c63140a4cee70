"""GREEN's tables: completion times by size on the day (Table 2) and the year (Table 3), and ablations (Table 4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from carbonopt.papers.figure import Figure, Run
from carbonopt.papers.green_runs import (
    BASELINE,
    DIGITS,
    GREEN_OF_YEAR,
    METRICS,
    SETTINGS,
    TAIL,
    YEAR,
    ZONES_YEAR,
    clusters,
    completion_hours,
    simulated,
)
from carbonopt.plotting.points import bars
from carbonopt.problems.mlcluster.data.instance import MlClusterInstance
from carbonopt.problems.mlcluster.data.workload import SIZES_MIX, SIZES_YEAR, SizeClass

EDGES = [size.least for size in SIZES_MIX.values()][1:]
"""Between the size classes [hours on one GPU]."""
JCT_DAY = {
    "extra small": (-0.005, -0.004),
    "small": (0.017, 0.012),
    "medium": (0.044, 0.048),
    "large": (0.069, 0.058),
}
"""Table 2: mean and tail JCT over Tiresias, less 1."""
JCT_YEAR = {
    "extra small": (-0.001, -0.003),
    "small": (0.024, 0.047),
    "medium": (0.055, 0.080),
    "large": (0.059, 0.061),
}
"""Table 3, the same of the simulated year."""
ABLATIONS: Mapping[str, tuple[str, int | None, float, float, float]] = {
    "GREEN": ("green", None, 17.56, 45.20, 15.88),
    "no scaling, 1 GPU": ("green", 1, 19.91, 48.89, 18.38),
    "no scaling, 2 GPUs": ("green", 2, 18.53, 46.57, 16.71),
    "GPU hours": ("green-gpu-hours", None, 18.30, 47.15, 18.52),
    "no shifting": ("green-no-shifting", None, 17.19, 44.99, 18.93),
}
"""Table 4: policy, GPUs that each job is fixed to, and the paper's mean and tail JCT [h] and carbon [kg]."""
OVER_GREEN = {"mean_jct_hours": "jct", "p95_jct_hours": "tail", "footprint_kg": "footprint"}
"""Metrics of Table 4, and what they are called over GREEN's."""


def _size(instance: MlClusterInstance) -> Any:
    """Return the size class of each job, shape (N,)."""
    hours = instance.jobs.work_gpu_minutes / 60
    return np.array(list(SIZES_MIX))[np.searchsorted(EDGES, hours, side="right")]


def _by_size(
    run: Run,
    zones: tuple[str, ...] | None,
    green: str,
    sizes: Mapping[str, SizeClass],
    paper: Mapping[str, tuple[float, float]],
) -> pd.DataFrame:
    """Return mean and tail JCT of each size class in each zone, with the paper's changes and shares."""
    rows = []
    for instance in clusters(run, zones):
        size = _size(instance)
        ran = {BASELINE: simulated(run, instance, BASELINE), "green": simulated(run, instance, green)}
        hours = {policy: completion_hours(instance, found) for policy, found in ran.items()}
        for name in (*sizes, "all"):
            inside = np.ones(len(size), dtype=bool) if name == "all" else size == name
            if inside.any():
                row = {"zone": instance.zone, "size": name, "jobs": int(inside.sum())}
                rows.append(row | _change({policy: found[inside] for policy, found in hours.items()}))
    table = pd.DataFrame(rows)
    told = {"share": {name: size.share for name, size in sizes.items()}}
    told |= {column: {name: pair[k] for name, pair in paper.items()} for k, column in enumerate(("jct", "tail"))}
    share = table["jobs"] / table.groupby("zone")["jobs"].transform("max")
    columns = {f"paper_{column}": table["size"].map(values) for column, values in told.items()}
    return table.assign(share=share, **columns).round(DIGITS)


def _change(hours: Mapping[str, Any]) -> dict[str, float]:
    """Return the mean JCT under each policy [h], and GREEN's mean and tail JCT over the baseline's, less 1."""
    means = {policy: float(found.mean()) for policy, found in hours.items()}
    tails = {policy: float(np.percentile(found, TAIL)) for policy, found in hours.items()}
    row = {f"{policy}_jct_hours": value for policy, value in means.items()}
    return row | {
        "jct": means["green"] / means[BASELINE] - 1,
        "tail": tails["green"] / tails[BASELINE] - 1,
    }


def _draw_by_size(table: pd.DataFrame, ax: Any = None) -> Any:
    wide = table.pivot_table(index="size", columns="zone", values="jct", sort=False).reset_index()
    told = wide["size"].map(table.groupby("size")["paper_jct"].first())
    labels = {name: name for name in wide.columns[1:]}
    axis = bars(wide.assign(paper=told), "size", labels | {"paper": "paper"}, ax)
    axis.axhline(0.0, color="black", linewidth=0.8)
    axis.set_ylabel("mean JCT over Tiresias, less 1")
    return axis


OF_DAY = Figure(
    "mlcluster",
    "completion times by the size of jobs, a day (GREEN, Table 2)",
    partial(_by_size, zones=None, green="green", sizes=SIZES_MIX, paper=JCT_DAY),
    _draw_by_size,
    f"{SETTINGS} The shares are as printed; the distribution within a class is assumed, and that the running times are"
    " those on one GPU. Completion times are not reproduced: here GREEN delays the small jobs and hastens the large"
    " ones, in the paper the other way round.",
)
OF_YEAR = Figure(
    "mlcluster",
    "completion times by the size of jobs, a year (GREEN, Table 3)",
    partial(_by_size, zones=ZONES_YEAR, green=GREEN_OF_YEAR, sizes=SIZES_YEAR, paper=JCT_YEAR),
    _draw_by_size,
    f"{SETTINGS} By default a year of 146,000 jobs in five zones (section 8.3), some minutes a zone. The paper's shares"
    " add up to 98 %.",
    (YEAR,),
)


def _fixed_scale(instance: MlClusterInstance, gpus: int | None) -> MlClusterInstance:
    """Return the instance with so many GPUs for every job, as far as its profile goes; None leaves it."""
    if gpus is None:
        return instance
    held = np.minimum(gpus, instance.most_gpus)
    return replace(instance, jobs=replace(instance.jobs, min_gpus=held, max_gpus=held))


def _ablations(run: Run) -> pd.DataFrame:
    rows = []
    for instance in clusters(run):
        for name, (policy, gpus, *_) in ABLATIONS.items():
            metrics = simulated(run, _fixed_scale(instance, gpus), policy).metrics
            row = {METRICS[metric]: float(metrics[metric]) for metric in OVER_GREEN}
            rows.append({"zone": instance.zone, "ablation": name, **row})
    each = pd.DataFrame(rows)
    green = each[each["ablation"] == "GREEN"].set_index("zone")
    paper = {name: told for name, (_, _, *told) in ABLATIONS.items()}
    for number, (metric, name) in enumerate(OVER_GREEN.items()):
        column = METRICS[metric]
        each[f"paper_{column}"] = each["ablation"].map({key: told[number] for key, told in paper.items()})
        each[name] = each[column] / each["zone"].map(green[column]) - 1
        each[f"paper_{name}"] = each[f"paper_{column}"] / paper["GREEN"][number] - 1
    return each.drop(columns="zone").groupby("ablation", sort=False).mean().reset_index().round(DIGITS)


def _draw_ablations(table: pd.DataFrame, ax: Any = None) -> Any:
    labels = {"footprint": "footprint", "paper_footprint": "the paper's", "jct": "JCT", "paper_jct": "the paper's JCT"}
    axis = bars(table, "ablation", labels, ax)
    axis.set_ylabel("over GREEN, less 1, mean over zones")
    return axis


ABLATION = Figure(
    "mlcluster",
    "ablations: no scaling, GPU hours in the place of the footprint, no shifting (GREEN, Table 4)",
    _ablations,
    _draw_ablations,
    f"{SETTINGS} Here footprint, jct and tail are over GREEN's in the same zone, and all columns are means over zones."
    " Without scaling GREEN runs every job on 1 or 2 GPUs. The paper's kilograms are of its own cluster, in a zone that"
    " it does not name: compare the ratios. Partly reproduced: one or two GPUs are slower; that GPU hours or no"
    " shifting cost 16 to 20 % of carbon is not.",
)

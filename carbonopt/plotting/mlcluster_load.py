"""GPUs in use over time, by profile, against the cluster and carbon intensity."""

from __future__ import annotations

from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.solution import Solution
from carbonopt.plotting.figure import new_axes
from carbonopt.problems.mlcluster.data.instance import MlClusterInstance

LEAST_HEIGHT = 0.5


def plot_mlcluster_load(instance: MlClusterInstance, solution: Solution, ax: Any = None) -> Any:
    """Draw GPUs in use as stacked steps, the cluster's as a line, intensity on the right-hand axis.

    Parameters
    ----------
    instance, solution
        An ML cluster instance and a solution of it.
    ax
        Axes to draw on; None for a new figure.

    Returns
    -------
    Axes
        That of the GPUs.
    """
    from matplotlib import colormaps

    axis = new_axes(height=3.2)[0] if ax is None else ax
    edges, load = _load(instance, solution)
    top = np.zeros(len(edges) - 1)
    colors = colormaps["viridis"](np.linspace(0.15, 0.95, len(instance.profiles)))
    for profile, gpus, color in zip(instance.profiles, load, colors, strict=True):
        axis.stairs(top + gpus, edges, baseline=top, fill=True, color=color, label=profile.name)
        top = top + gpus
    axis.axhline(instance.cluster.gpus, color="black", label="cluster")
    axis.set_ylim(0, 1.1 * max(instance.cluster.gpus, top.max(), LEAST_HEIGHT))
    axis.set_xlim(0, instance.time.hours)
    axis.set_ylabel("GPUs")
    axis.set_xlabel("h")
    right = axis.twinx()
    hours = instance.time.slot_hours * np.arange(instance.time.slots + 1)
    right.stairs(instance.intensity, hours, baseline=None, color="tab:red")
    right.set_ylim(0, 1.1 * max(instance.intensity.max(), LEAST_HEIGHT))
    right.set_ylabel("gCO2eq/kWh", color="tab:red")
    added = solution.metrics.get("added_carbon_kg", 0.0)
    mean = solution.metrics.get("mean_jct_hours", 0.0)
    axis.set_title(f"{instance.name}, {solution.method}: {added:.4g} kgCO2eq added, mean JCT {mean:.3g} h")
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=6, fontsize="small", frameon=False)
    return axis


def _load(instance: MlClusterInstance, solution: Solution) -> tuple[FloatArray, FloatArray]:
    """Return moments [h] and the GPUs that each profile's jobs have between them, shape (P, moments - 1)."""
    rows = solution.schedule
    index = {name: i for i, name in enumerate(instance.jobs.name)}
    job = np.array([index[name] for name in rows["job"]], dtype=np.int64)
    start, end = (rows[name].to_numpy(dtype=float) / 60 for name in ("start_minutes", "end_minutes"))
    ends = np.array([0.0, instance.time.hours])
    edges, place = np.unique(np.concatenate([start, end, ends]), return_inverse=True)
    gpus = rows["gpus"].to_numpy(dtype=float)
    change = np.zeros((len(instance.profiles), len(edges)))
    profile = instance.profile_of_job[job]
    np.add.at(change, (profile, place[: len(job)]), gpus)
    np.add.at(change, (profile, place[len(job) : 2 * len(job)]), -gpus)
    return edges, np.cumsum(change, axis=1)[:, :-1]

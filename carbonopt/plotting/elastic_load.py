"""Servers in use over time, by profile, against capacity and carbon intensity."""

from __future__ import annotations

from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.solution import Solution
from carbonopt.plotting.figure import new_axes
from carbonopt.problems.elastic.data.instance import ElasticInstance

LEAST_HEIGHT = 0.5


def plot_elastic_load(instance: ElasticInstance, solution: Solution, ax: Any = None) -> Any:
    """Draw servers in use as stacked steps, capacity as a line, intensity on the right-hand axis.

    Parameters
    ----------
    instance, solution
        An elastic instance and a solution of it. In the fluid model a slot shows its average.
    ax
        Axes to draw on; None for a new figure.

    Returns
    -------
    Axes
        That of the servers.
    """
    from matplotlib import colormaps

    axis = new_axes(height=3.2)[0] if ax is None else ax
    load = _load(instance, solution)
    capacity = instance.cluster.capacity
    edges = np.arange(instance.time.slots + 1)
    top = np.zeros(instance.time.slots)
    colors = colormaps["viridis"](np.linspace(0.15, 0.95, len(instance.profiles)))
    for profile, servers, color in zip(instance.profiles, load, colors, strict=True):
        axis.stairs(top + servers, edges, baseline=top, fill=True, color=color, label=profile.name)
        top = top + servers
    axis.stairs(capacity, edges, baseline=None, color="black", label="capacity")
    axis.set_ylim(0, 1.1 * max(capacity.max(), top.max(), LEAST_HEIGHT))
    axis.set_ylabel("servers")
    axis.set_xlabel(f"slot of {instance.time.slot_hours:g} h")
    right = axis.twinx()
    right.stairs(instance.intensity, edges, baseline=None, color="tab:red")
    right.set_ylim(0, 1.1 * max(instance.intensity.max(), LEAST_HEIGHT))
    right.set_ylabel("gCO2eq/kWh", color="tab:red")
    axis.set_title(f"{instance.name}, {solution.method}: {solution.metrics.get('carbon_kg', 0.0):.4g} kgCO2eq")
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=5, fontsize="small", frameon=False)
    return axis


def _load(instance: ElasticInstance, solution: Solution) -> FloatArray:
    """Return the servers that each profile's jobs have in each slot on average, shape (P, T)."""
    rows = solution.schedule
    index = {name: i for i, name in enumerate(instance.jobs.name)}
    job = np.array([index[name] for name in rows["job"]], dtype=np.int64)
    servers = rows["servers"].to_numpy(dtype=float)
    if "share" in rows:
        servers = servers * rows["share"].to_numpy(dtype=float)
    load = np.zeros((len(instance.profiles), instance.time.slots))
    np.add.at(load, (instance.profile_of_job[job], rows["slot"].to_numpy(dtype=np.int64)), servers)
    return load

"""Load of each cluster over time against its capacity and the carbon intensity of its zone."""

from __future__ import annotations

from typing import Any

import numpy as np

from carbonopt.core.solution import Solution
from carbonopt.plotting.figure import new_axes
from carbonopt.problems.mosp.data.instance import MospInstance

TICK = 0.5


def plot_mosp_load(instance: MospInstance, solution: Solution, resource: str | None = None, ax: Any = None) -> Any:
    """Draw one axes a cluster: load as steps, capacity as a line, intensity on the right-hand axis.

    Parameters
    ----------
    instance, solution
        A mosp instance and a solution of it.
    resource
        Which resource; None for the first.
    ax
        As many axes as there are clusters; None for a new figure.

    Returns
    -------
    array of Axes
        One a cluster.
    """
    axes = np.atleast_1d(new_axes(len(instance.clusters)) if ax is None else ax)
    r = 0 if resource is None else instance.resources.index(resource)
    load = _load(instance, solution, r)
    edges = np.arange(instance.time.slots + 1)
    for j, axis in enumerate(axes):
        capacity = instance.clusters.capacity[j, r]
        axis.stairs(load[j], edges, fill=True, color="tab:blue", alpha=0.6, label="load")
        axis.stairs(capacity, edges, baseline=None, color="black", label="capacity")
        axis.set_ylim(0, 1.1 * max(capacity.max(), load[j].max(), TICK))
        axis.set_ylabel(f"{instance.clusters.name[j]}\n{instance.resources[r]}")
        right = axis.twinx()
        intensity = instance.carbon.g_per_kwh[instance.carbon.index(instance.clusters.zone[j])]
        right.stairs(intensity, edges, baseline=None, color="tab:red", label="carbon intensity")
        right.set_ylabel("gCO2eq/kWh", color="tab:red")
        right.set_ylim(0, 1.1 * max(intensity.max(), TICK))
    axes[-1].set_xlabel(f"slot of {instance.time.slot_hours:g} h")
    axes[0].set_title(f"{instance.name}, {solution.method}: {solution.metrics.get('carbon_kg', 0.0):.4g} kgCO2eq")
    axes[0].legend(loc="lower right", fontsize="small")
    return axes


def _load(instance: MospInstance, solution: Solution, r: int) -> Any:
    jobs = {name: i for i, name in enumerate(instance.jobs.name)}
    clusters = {name: j for j, name in enumerate(instance.clusters.name)}
    load = np.zeros((len(clusters), instance.time.slots))
    schedule = solution.schedule
    job = schedule["job"].map(jobs)
    end = schedule["end"] if "end" in schedule else schedule["start"] + instance.jobs.duration[job]  # pieces, or runs
    for i, cluster, first, last in zip(job, schedule["cluster"], schedule["start"], end, strict=True):
        load[clusters[cluster], first:last] += instance.jobs.demand[i, r]
    return load

"""Load of each cluster over time against its capacity and the carbon intensity of its zone."""

from __future__ import annotations

from typing import Any

import numpy as np

from carbonopt.core.display import number
from carbonopt.core.solution import Solution
from carbonopt.plotting.clock import slot_edges
from carbonopt.plotting.panels import Panel, Steps, draw_panels
from carbonopt.problems.mosp.data.instance import MospInstance


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
    list of Axes
        One a cluster.
    """
    r = 0 if resource is None else instance.resources.index(resource)
    hours = slot_edges(instance.time)
    load = _load(instance, solution, r)
    panels = [
        Panel(
            label=f"{name}\n[{instance.resources[r]}]",
            hours=hours,
            layers={"load": load[j]},
            limit={"capacity": Steps(hours, instance.clusters.capacity[j, r])},
            signal=instance.carbon.g_per_kwh[instance.carbon.index(instance.clusters.zone[j])],
        )
        for j, name in enumerate(instance.clusters.name)
    ]
    carbon = number(solution.metrics.get("carbon_kg"), 4)
    return draw_panels(instance, panels, f"{instance.name}, {solution.method}: {carbon} kg CO2e", ax)


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

"""Servers in use over time, by profile, against capacity and carbon intensity."""

from __future__ import annotations

from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.display import number
from carbonopt.core.solution import Solution
from carbonopt.plotting.clock import slot_edges
from carbonopt.plotting.panels import Panel, Steps, draw_panels
from carbonopt.problems.elastic.data.instance import ElasticInstance


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
    hours = slot_edges(instance.time)
    names = [profile.name for profile in instance.profiles]
    panel = Panel(
        label="servers",
        hours=hours,
        layers=dict(zip(names, _load(instance, solution), strict=True)),
        limit={"capacity": Steps(hours, instance.cluster.capacity)},
        signal=instance.intensity,
    )
    carbon = number(solution.metrics.get("carbon_kg"), 4)
    return draw_panels(instance, [panel], f"{instance.name}, {solution.method}: {carbon} kg CO2e", ax)[0]


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

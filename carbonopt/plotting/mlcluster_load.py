"""GPUs in use over time, by profile, against the cluster and carbon intensity."""

from __future__ import annotations

from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.display import number
from carbonopt.core.solution import Solution
from carbonopt.plotting.panels import Panel, Steps, draw_panels
from carbonopt.problems.mlcluster.data.instance import MlClusterInstance


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
    hours, load = _load(instance, solution)
    names = [profile.name for profile in instance.profiles]
    gpus = Steps(np.array([0.0, instance.time.hours]), np.array([float(instance.cluster.gpus)]))
    panel = Panel(
        label="GPUs",
        hours=hours,
        layers=dict(zip(names, load, strict=True)),
        limit={"cluster": gpus},
        signal=instance.intensity,
    )
    added = number(solution.metrics.get("added_carbon_kg"), 4)
    mean = number(solution.metrics.get("mean_jct_hours"), 3)
    title = f"{instance.name}, {solution.method}: {added} kg CO2e added, mean JCT {mean} h"
    return draw_panels(instance, [panel], title, ax)[0]


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

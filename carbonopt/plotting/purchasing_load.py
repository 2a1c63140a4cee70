"""CPUs in use over time, by what they are bought as, against the reserved CPUs and carbon intensity."""

from __future__ import annotations

from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.solution import Solution
from carbonopt.plotting.figure import new_axes
from carbonopt.problems.purchasing.data.instance import PurchasingInstance

KINDS = ("reserved", "on-demand", "spot")
LEAST_HEIGHT = 0.5


def plot_purchasing_load(instance: PurchasingInstance, solution: Solution, ax: Any = None) -> Any:
    """Draw CPUs in use as stacked steps, the reserved ones as a line, intensity on the right-hand axis.

    Parameters
    ----------
    instance, solution
        A purchasing instance and a solution of it. Runs on spot CPUs are shown as if none were evicted.
    ax
        Axes to draw on; None for a new figure.

    Returns
    -------
    Axes
        That of the CPUs.
    """
    from matplotlib import colormaps

    axis = new_axes(height=3.2)[0] if ax is None else ax
    if instance.reserved_cpus is None:
        reserved = int(solution.info.get("reserved_cpus", 0))
    else:
        reserved = instance.reserved_cpus
    moment, load = _load(solution, dict(zip(instance.jobs.name, instance.jobs.cpus.tolist(), strict=True)), reserved)
    top = np.zeros(len(moment))
    colors = colormaps["viridis"](np.linspace(0.15, 0.95, len(KINDS)))
    for kind, cpus, color in zip(KINDS, load, colors, strict=True):
        axis.fill_between(moment, top, top + cpus, step="post", linewidth=0, color=color, label=kind)
        top = top + cpus
    hours = instance.time.hours
    axis.hlines(reserved, 0, hours, color="black", linestyle="--", linewidth=1, label=f"{reserved} reserved CPUs")
    axis.set_ylim(0, 1.1 * max(reserved, top.max(initial=0.0), LEAST_HEIGHT))
    axis.set_xlim(0, hours)
    axis.set_ylabel("CPUs")
    axis.set_xlabel("hour")
    right = axis.twinx()
    edges = np.arange(instance.time.slots + 1) * instance.time.slot_hours
    right.stairs(instance.intensity, edges, baseline=None, color="tab:red")
    right.set_ylim(0, 1.1 * max(instance.intensity.max(), LEAST_HEIGHT))
    right.set_ylabel("gCO2eq/kWh", color="tab:red")
    carbon, cost = (solution.metrics.get(key, 0.0) for key in ("carbon_kg", "cost_usd"))
    axis.set_title(f"{instance.name}, {solution.method}: {carbon:.4g} kgCO2eq, {cost:.4g} $")
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=4, fontsize="small", frameon=False)
    return axis


def _load(solution: Solution, cpus_of: dict[str, float], reserved: int) -> tuple[FloatArray, FloatArray]:
    """Return the moments at which the load changes, and the CPUs of each kind from each on, shape (3, M)."""
    rows = solution.schedule
    start = rows["start_hours"].to_numpy(dtype=float)
    end = rows["end_hours"].to_numpy(dtype=float)
    option = rows["option"].to_numpy(dtype=str)
    cpus = np.array([cpus_of[name] for name in rows["job"]], dtype=float)
    moment = np.unique(np.concatenate([start, end]))
    level = {}
    for name in ("reserved", "shared", "on-demand", "spot"):
        change = np.zeros(len(moment))
        here = option == name
        np.add.at(change, np.searchsorted(moment, start[here]), cpus[here])
        np.add.at(change, np.searchsorted(moment, end[here]), -cpus[here])
        level[name] = np.cumsum(change)
    fits = np.clip(reserved - level["reserved"], 0.0, level["shared"])
    parts = (level["reserved"] + fits, level["on-demand"] + level["shared"] - fits, level["spot"])
    return moment, np.maximum(0.0, np.array(parts))

"""CPUs in use over time, by what they are bought as, against the reserved CPUs and carbon intensity."""

from __future__ import annotations

from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.display import number
from carbonopt.core.solution import Solution
from carbonopt.plotting.panels import Panel, Steps, draw_panels
from carbonopt.problems.purchasing.data.instance import PurchasingInstance

KINDS = ("reserved", "on-demand", "spot")


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
    if instance.reserved_cpus is None:
        reserved = int(solution.info.get("reserved_cpus", 0))
    else:
        reserved = instance.reserved_cpus
    moment, load = _load(solution, dict(zip(instance.jobs.name, instance.jobs.cpus.tolist(), strict=True)), reserved)
    whole = np.array([0.0, instance.time.hours])
    if len(moment) < 2:  # nothing runs
        moment, load = whole, np.zeros((len(KINDS), 2))
    panel = Panel(
        label="CPUs",
        hours=moment,
        layers=dict(zip(KINDS, load[:, :-1], strict=True)),
        limit={f"{reserved} reserved CPUs": Steps(whole, np.array([float(reserved)]))},
        signal=instance.intensity,
    )
    carbon = number(solution.metrics.get("carbon_kg"), 4)
    cost = number(solution.metrics.get("cost_usd"), 4)
    return draw_panels(instance, [panel], f"{instance.name}, {solution.method}: {carbon} kg CO2e, {cost} $", ax)[0]


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

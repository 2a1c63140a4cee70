"""Power of the machines over time, against the price of energy."""

from __future__ import annotations

from typing import Any

import numpy as np

from carbonopt.core.display import number
from carbonopt.core.solution import Solution
from carbonopt.plotting.clock import slot_edges
from carbonopt.plotting.panels import Panel, draw_panels
from carbonopt.problems.ecas.data.instance import EcasInstance


def plot_ecas_load(instance: EcasInstance, solution: Solution, ax: Any = None) -> Any:
    """Draw the power of each machine's jobs as stacked steps, and the price of energy on the right-hand axis.

    Parameters
    ----------
    instance, solution
        An ecas instance and a solution of it.
    ax
        Axes to draw on; None for a new figure.

    Returns
    -------
    Axes
        That of the power.
    """
    machines = {name: np.zeros(instance.time.slots) for name in instance.machines.name}
    jobs = {name: i for i, name in enumerate(instance.jobs.name)}
    rows = solution.schedule
    for name, machine, start in zip(rows["job"], rows["machine"], rows["start"], strict=True):
        if name in jobs:  # rows of machines that are switched name no job
            job = jobs[name]
            machines[machine][start : start + instance.jobs.duration[job]] += instance.jobs.power_kw[job]
    panel = Panel(
        label="power of the jobs [kW]",
        hours=slot_edges(instance.time),
        layers=machines,
        limit={},
        signal=instance.price_per_kwh,
        signal_name="price of energy",
        signal_unit="money/kWh",
    )
    cost = number(solution.objective, 6)
    return draw_panels(instance, [panel], f"{instance.name}, {solution.method}: objective {cost}", ax)[0]

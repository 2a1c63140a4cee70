"""GAIA on spot CPUs that are taken away: Figure 18, and a sweep of the rate of evictions.

The public simulator has neither evictions nor a limit on the length of spot jobs other than 2 hours.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.time import TimeGrid
from carbonopt.papers.figure import Figure, Run
from carbonopt.papers.gaia_week import METRICS, NO_WAIT, normalised, simulated
from carbonopt.plotting.points import lines
from carbonopt.problems.purchasing.data.instance import PurchasingInstance, Spot

POLICY = "spot-first-carbon-time"
LONGEST_HOURS = (1.0, 2.0, 4.0, 6.0, 12.0, 24.0)
"""J^max of Figure 18 [h]."""
CHANCES = (0.0, 0.05, 0.1, 0.15)
"""Chance of an eviction in an hour."""
JMAX_HOURS = (2.0, 6.0, 24.0)
"""J^max of the lines of the sweep of evictions [h]."""
SEEDS = 5
"""Runs over which each point is a mean: evictions are drawn at random."""
CANNOT = (
    "The public simulator has no evictions and a fixed limit of 2 hours, so the figure cannot be compared with"
    " it, and the artifact holds none of its numbers: this follows the text. An evicted job loses all it has done"
    f" and restarts at once, on demand. Each point is the mean of {SEEDS} seeds."
)


def _mean(run: Run, instance: PurchasingInstance, policy: str) -> dict[str, float]:
    first = int(run.settings.get("seed", 0))
    runs = [
        simulated(Run([instance], {**run.settings, "seed": first + extra}, run.say), instance, policy).metrics
        for extra in range(SEEDS)
    ]
    return {name: float(np.mean([metrics[name] for metrics in runs])) for name in (*METRICS, "evictions")}


def _points(run: Run, longest: tuple[float, ...]) -> pd.DataFrame:
    instance = run.instances[0]
    assert isinstance(instance, PurchasingInstance)
    free = replace(instance, reserved_cpus=0, spot=None)
    reference = simulated(run, free, NO_WAIT).metrics
    rows = []
    for chance in CHANCES:
        for hours in longest:
            spot = Spot(hours, float(-np.log1p(-chance)))
            found = _mean(run, _reaching(free, spot), POLICY)
            rows.append({"max_spot_hours": hours, "eviction_chance_per_hour": chance, **found})
    by = {"carbon_kg": reference["carbon_kg"], "cost_usd": reference["cost_usd"]}
    return normalised(pd.DataFrame(rows), by)


def _reaching(instance: PurchasingInstance, spot: Spot) -> PurchasingInstance:
    """Return the instance with spot CPUs; the signal begins again where evicted jobs may outlast it."""
    jobs, time = instance.jobs, instance.time
    longer = np.where(jobs.length_hours <= spot.max_length_hours, jobs.length_hours, 0.0)
    last = float((instance.latest_end_hours + longer).max(initial=0.0))
    slots = max(time.slots, int(np.ceil(last / time.slot_hours)))
    signal = np.resize(instance.intensity, (1, slots))
    assert instance.zone is not None
    carbon = CarbonSignal((instance.zone,), signal, TimeGrid(slots, time.slot_hours, time.start))
    return replace(instance, carbon=carbon, spot=spot)


def _draw(table: pd.DataFrame, x: str, by: str, label: str, ax: Any = None) -> Any:
    axis = ax
    for value, part in table.groupby(by, sort=False):
        axis = lines(
            part, x, {"cost": f"cost, {label.format(value)}", "carbon": f"carbon, {label.format(value)}"}, axis
        )
    axis.set_ylabel("over no-wait on demand")
    return axis


def _draw_longest(table: pd.DataFrame, ax: Any = None) -> Any:
    axis = _draw(table, "max_spot_hours", "eviction_chance_per_hour", "{:.0%} an hour", ax)
    axis.set_xlabel("longest job on spot CPUs [h]")
    return axis


LONGEST_SPOT_JOB = Figure(
    "purchasing",
    "Spot-First-Carbon-Time against the longest job on spot CPUs (GAIA, Figure 18)",
    lambda run: _points(run, LONGEST_HOURS),
    _draw_longest,
    CANNOT,
)


def _draw_evictions(table: pd.DataFrame, ax: Any = None) -> Any:
    axis = _draw(table, "eviction_chance_per_hour", "max_spot_hours", "jobs up to {:g} h", ax)
    axis.set_xlabel("chance of an eviction in an hour")
    return axis


EVICTIONS = Figure(
    "purchasing",
    "Spot-First-Carbon-Time against the rate of evictions (not of GAIA)",
    lambda run: _points(run, JMAX_HOURS),
    _draw_evictions,
    CANNOT,
)

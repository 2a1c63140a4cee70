"""GAIA's sweep of how long jobs may wait: Figure 14."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd

from carbonopt.papers.figure import Figure, Run
from carbonopt.papers.gaia_week import NO_WAIT, simulated, with_signal_until
from carbonopt.plotting.points import lines
from carbonopt.problems.purchasing.data.instance import PurchasingInstance, Queue

SHORT_HOURS = (1.0, 2.0, 3.0, 6.0, 12.0, 24.0)
"""W_short [h] where W_long is 24 h, as in Figure 14a, whose values the text does not print."""
LONG_HOURS = (6.0, 12.0, 18.0, 24.0, 36.0, 48.0)
"""W_long [h] where W_short is 6 h, as in Figure 14b, whose values the text does not print."""
FIXED_SHORT = 6.0
FIXED_LONG = 24.0
LIMIT_HOURS = 2.0
"""J_short: the longest job of the short queue [h] (section 6.1)."""
CASES = [("W_short", hours, hours, FIXED_LONG) for hours in SHORT_HOURS]
CASES += [("W_long", hours, FIXED_SHORT, hours) for hours in LONG_HOURS]


def _waiting(instance: PurchasingInstance, short: float, long: float) -> PurchasingInstance:
    """Return the instance with GAIA's two queues and these waits; its signal is repeated where it is too short."""
    queues = (Queue("short", LIMIT_HOURS, short), Queue("long", float("inf"), long))
    until = float((instance.jobs.arrival_hours + instance.jobs.length_hours).max(initial=0.0) + max(short, long))
    return replace(with_signal_until(instance, until), queues=queues)


def _sweep(run: Run) -> pd.DataFrame:
    instance = run.instances[0]
    assert isinstance(instance, PurchasingInstance)
    free = replace(instance, reserved_cpus=0, spot=None)
    rows = []
    for which, hours, short, long in CASES:
        case = _waiting(free, short, long)
        reference = simulated(run, case, NO_WAIT).metrics["carbon_kg"]
        window, carbon_time = (simulated(run, case, policy).metrics for policy in ("lowest-window", "carbon-time"))
        saved = {"lowest_window": reference - window["carbon_kg"], "carbon_time": reference - carbon_time["carbon_kg"]}
        waits = {"lowest_window": window["wait_hours"], "carbon_time": carbon_time["wait_hours"]}
        rows.append(
            {
                "swept": which,
                "wait_limit_hours": hours,
                **{f"g_per_wait_hour_{name}": 1000 * saved[name] / max(waits[name], 1e-12) for name in saved},
                "saving_kept": saved["carbon_time"] / saved["lowest_window"] if saved["lowest_window"] else 1.0,
                "wait_saved": 1 - waits["carbon_time"] / max(waits["lowest_window"], 1e-12),
            }
        )
    return pd.DataFrame(rows)


def _draw(table: pd.DataFrame, ax: Any = None) -> Any:
    axis = ax
    for which, part in table.groupby("swept", sort=False):
        named = {"g_per_wait_hour_lowest_window": "Lowest-Window", "g_per_wait_hour_carbon_time": "Carbon-Time"}
        axis = lines(part, "wait_limit_hours", {key: f"{label}, {which}" for key, label in named.items()}, axis)
    axis.set_xlabel("longest wait of the swept queue [h]")
    axis.set_ylabel("carbon saved in an hour of waiting [g]")
    return axis


WAITS = Figure(
    "purchasing",
    "carbon saved in an hour of waiting, against the longest wait of short or of long jobs (GAIA, Figure 14)",
    _sweep,
    _draw,
    "saving_kept is the saving of Carbon-Time over that of Lowest-Window, wait_saved how much less Carbon-Time waits."
    " The paper prints 80-90 % and 20-30 % for the year of the Alibaba-PAI trace in South Australia. The text does"
    " not print the thresholds of the figure: ours are chosen around the 6 and 24 h that it fixes.",
    shows=1,
)

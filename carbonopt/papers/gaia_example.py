"""GAIA's first example: what shifting by carbon alone costs, in Figure 2."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from carbonopt.core.arrays import FloatArray
from carbonopt.core.time import format_utc
from carbonopt.papers.figure import Figure, Run
from carbonopt.papers.gaia_week import NO_WAIT, simulated, with_signal_until
from carbonopt.plotting.points import bars
from carbonopt.problems.purchasing.data.instance import PurchasingInstance, PurchasingJobs, Queue

DAYS = 3
BETWEEN_ARRIVALS_HOURS = 0.8
LENGTH_HOURS = 4.0
RESERVED = 5
WAIT_HOURS = 24.0
"""The example of section 3: mean time between arrivals, mean length, reserved CPUs of one core, and longest wait."""
SEEDS = 20
"""Workloads over which each number is a mean: the paper shows one draw of a random workload."""
PRINTED = {"US-CAL-CISO": (0.64, 1.68, 5.3), "SE-SE3": (0.96, 1.76, 4.9)}
"""Carbon, cost and completion time of Wait Awhile over no-wait, in California and in Sweden (section 3)."""


def _workload(instance: PurchasingInstance, seed: int) -> PurchasingInstance:
    """Return three days of jobs on the instance's signal: exponential times between arrivals, exponential lengths."""
    rng = np.random.default_rng(seed)
    gaps = rng.exponential(BETWEEN_ARRIVALS_HOURS, int(4 * DAYS * 24 / BETWEEN_ARRIVALS_HOURS))
    arrival = np.cumsum(gaps)
    arrival = arrival[arrival < DAYS * 24]
    length = np.maximum(rng.exponential(LENGTH_HOURS, len(arrival)), 1 / 60)
    names = tuple(f"job{number}" for number in range(len(arrival)))
    return replace(
        with_signal_until(instance, float((arrival + length).max() + WAIT_HOURS)),
        name=f"{instance.name}-example-s{seed:02d}",
        jobs=PurchasingJobs(names, arrival, length, np.ones(len(arrival))),
        queues=(Queue("all", np.inf, WAIT_HOURS),),
        reserved_cpus=RESERVED,
        spot=None,
    )


def _totals(run: Run, workload: PurchasingInstance, policy: str) -> FloatArray:
    """Return carbon [kg], cost [$] with reserved CPUs paid for three days, and mean completion time [h] of a policy."""
    found = simulated(run, workload, policy).metrics
    prepaid = RESERVED * workload.prices.reserved_usd_per_cpu_hour * DAYS * 24
    return np.array([found["carbon_kg"], found["usage_usd"] + prepaid, found["mean_completion_hours"]])


def _example(run: Run) -> pd.DataFrame:
    rows = []
    for instance in run.instances:
        assert isinstance(instance, PurchasingInstance)
        empty = replace(instance, jobs=PurchasingJobs((), np.zeros(0), np.zeros(0), np.zeros(0)))
        first = int(run.settings.get("seed", 0))
        ratios = []
        for seed in range(first, first + SEEDS):
            workload = _workload(empty, seed)
            before, after = (_totals(run, workload, policy) for policy in (NO_WAIT, "wait-awhile"))
            ratios.append(after / before)
        printed = PRINTED.get(str(instance.zone), (np.nan,) * 3)
        for number, quantity in enumerate(("carbon", "cost", "completion time")):
            values = np.array(ratios)[:, number]
            rows.append(
                {
                    "zone": instance.zone,
                    "start": format_utc(instance.time.start),
                    "quantity": quantity,
                    "over_no_wait": float(values.mean()),
                    "least": float(values.min()),
                    "most": float(values.max()),
                    "printed": printed[number],
                }
            )
    return pd.DataFrame(rows)


def _draw(table: pd.DataFrame, ax: Any = None) -> Any:
    wide = table.assign(case=table["zone"] + " " + table["quantity"])
    shown = {"over_no_wait": "Wait Awhile over no-wait"}
    if table["printed"].notna().any():
        shown |= {"printed": "printed"}
    axis = bars(wide, "case", shown, ax)
    axis.axhline(1.0, color="black", linewidth=0.8)
    axis.set_ylabel("over no-wait")
    return axis


EXAMPLE = Figure(
    "purchasing",
    "Wait Awhile on three days of jobs with five reserved CPUs (GAIA, Figure 2)",
    _example,
    _draw,
    "The paper's workload is random and not published: ours are of the same distributions, and each number is the mean"
    f" of {SEEDS} draws, with the least and the most. The signal is that of the given instances, whose jobs are not"
    " used. The paper's are California and Sweden in February 2022: carbon -36 %, cost +68 %, completion time 5.3"
    " times; carbon -4 %, cost +76 %, completion time 4.9 times.",
    tuple({"zone": zone, "jobs": 10, "arrival_hours": 120.0} for zone in PRINTED),
)

"""GAIA's figures of one week: Figures 8 to 12.

W. A. Hanafy, Q. Liang, N. Bashir, A. Souza, D. Irwin, P. Shenoy. Going Green for Less Green: Optimizing the
Cost of Reducing Cloud Carbon Emissions. ASPLOS 2024. What the authors printed is in the notebook of their
public artifact; it is compared with ours in the tests. What their text prints stands in the columns `printed_...`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.solution import Solution
from carbonopt.core.time import TimeGrid
from carbonopt.papers.figure import Figure, Run
from carbonopt.papers.marks import mark_bars, mark_paper
from carbonopt.plotting.points import bars, lines
from carbonopt.plotting.style import legend
from carbonopt.problems.purchasing.data.instance import PurchasingInstance, Spot

NO_WAIT = "no-wait"
RESERVED = 9
"""Reserved CPUs of Figure 10."""
SWEEP = tuple(range(0, 25, 3))
"""Reserved CPUs of Figure 11."""
SPOT_HOURS = 2.0
"""J^max of Figure 12 [h]."""
METRICS = {"carbon_kg": "carbon", "cost_usd": "cost", "mean_wait_hours": "wait"}
PRINTED_OVER_WAIT_AWHILE = {"lowest-window": 1.16, "carbon-time": 1.23, "ecovisor": 1.16 / 1.03}
"""Carbon over that of Wait Awhile (section 6.2.1): Lowest-Window's is 3 % more than Ecovisor's."""
PRINTED_WAIT = 0.5
"""Wait of Carbon-Time over that of Wait Awhile (section 6.2.1)."""
PRINTED_SHARES = {1.0: 0.1, 24.0: 0.925}
"""Share of the saving in jobs up to a length [h] (section 6.2.2), which prints 7.5 % for jobs of 24 h and more."""
PRINTED_KEPT, PRINTED_COST = 0.5, 0.79
"""What RES-First-Carbon-Time keeps of Carbon-Time's saving, and its cost over Carbon-Time's (section 6.3.1)."""
PRINTED_SWEEP = {15: 0.9, 18: 0.94}
"""Carbon over no-wait by reserved CPUs (section 6.3.1)."""
PRINTED_SPOT = {
    "spot-first-carbon-time (0)": 0.83,
    "spot-first-ecovisor (0)": 0.83,
    "spot-res-carbon-time (9)": 0.58,
    "spot-res-carbon-time (6)": 0.58 * 1.11,
}
"""Cost over that of Carbon-Time on demand (section 6.3.2)."""
OVER_MOST = {name: f"{name} over the most" for name in METRICS.values()}
ARTIFACT = (
    "With --mode artifact on the authors' week (their trace pai_1k and the signal of AU-SA from hour 7000 of 2022"
    " on) the totals are those of their public simulator, digit by digit."
)


def _week(run: Run, reserved: int = 0, spot: float | None = None) -> PurchasingInstance:
    instance = run.instances[0]
    assert isinstance(instance, PurchasingInstance)
    return replace(instance, reserved_cpus=reserved, spot=None if spot is None else Spot(spot))


def simulated(run: Run, instance: PurchasingInstance, policy: str) -> Solution:
    """Return the checked schedule of a policy."""
    return run.simulate(instance, policy, f"{policy}, {instance.reserved_cpus} reserved")


def with_signal_until(instance: PurchasingInstance, hours: float) -> PurchasingInstance:
    """Return the instance with a signal of at least so many hours: it begins again where it ends."""
    time = instance.time
    slots = max(time.slots, int(np.ceil(hours / time.slot_hours)))
    if slots == time.slots:
        return instance
    assert instance.zone is not None
    signal = np.resize(instance.intensity, (1, slots))
    grid = TimeGrid(slots, time.slot_hours, time.start)
    return replace(instance, carbon=CarbonSignal((instance.zone,), signal, grid))


def _row(run: Run, instance: PurchasingInstance, policy: str) -> dict[str, Any]:
    metrics = simulated(run, instance, policy).metrics
    return {"policy": policy, "reserved_cpus": instance.reserved_cpus, **{name: metrics[name] for name in METRICS}}


def normalised(table: pd.DataFrame, by: dict[str, float]) -> pd.DataFrame:
    """Return the table with a column for each metric over what it is compared with; 0 where that is 0."""
    for metric, reference in by.items():
        table[METRICS[metric]] = table[metric] / reference if reference else 0.0
    return table


def _carbon_and_wait(run: Run) -> pd.DataFrame:
    week = _week(run)
    policies = (NO_WAIT, "lowest-slot", "lowest-window", "carbon-time", "ecovisor", "wait-awhile")
    table = pd.DataFrame([_row(run, week, policy) for policy in policies])
    by = {"carbon_kg": table["carbon_kg"][0], "mean_wait_hours": table["mean_wait_hours"].max()}
    table = normalised(table, by)
    by_name = table.set_index("policy")
    least, longest = float(by_name["carbon"]["wait-awhile"]), float(by_name["wait"]["wait-awhile"])
    return table.assign(
        printed_carbon=table["policy"].map(PRINTED_OVER_WAIT_AWHILE) * least,
        printed_wait=table["policy"].map({"carbon-time": PRINTED_WAIT}) * longest,
    )


def _draw(by: str, columns: dict[str, str], told: str) -> Any:
    """Return what draws columns as bars, with marks where the table has what the text prints of them."""

    def draw(table: pd.DataFrame, ax: Any = None) -> Any:
        axis = bars(table, by, columns, ax)
        printed = {name: table[f"printed_{name}"] for name in columns if f"printed_{name}" in table}
        mark_bars(axis, columns, printed, f"printed, over {told}")
        return axis

    return draw


CARBON_AND_WAIT = Figure(
    "purchasing",
    "carbon and waiting of the policies without reserved CPUs (GAIA, Figure 8)",
    _carbon_and_wait,
    _draw("policy", {"carbon": "carbon over no-wait", "wait": "wait over the longest"}, "wait-awhile"),
    f"{ARTIFACT} Carbon of no-wait, Lowest-Slot, Lowest-Window, Carbon-Time and Ecovisor equals what the authors"
    " printed. Wait Awhile does not, and cannot: the notebook's 0.6075 comes from code that they mended later;"
    " their released code, and ours, gives 0.5462. As waiting is over the longest, which is that of Wait Awhile,"
    " their whole column of waits depends on the same run. In mode artifact waits are means over segments, as"
    " theirs; in mode paper over jobs, from arrival to completion less the run.",
    shows=1,
)


def _by_length(run: Run) -> pd.DataFrame:
    week = _week(run)
    ran = [simulated(run, week, policy) for policy in (NO_WAIT, "carbon-time")]
    carbon = [_carbon_of_jobs(week, solution) for solution in ran]
    hours = week.jobs.length_hours
    order = np.argsort(hours, kind="stable")
    saved = (carbon[0] - carbon[1])[order]
    total = float(saved.sum())
    return pd.DataFrame(
        {
            "length_hours": hours[order],
            "carbon_kg_no_wait": carbon[0][order],
            "carbon_kg": carbon[1][order],
            "saved_kg": saved,
            "saved_share_cumulative": np.cumsum(saved) / total if total else np.zeros(len(saved)),
            "jobs_share": np.arange(1, len(saved) + 1) / len(saved),
            **{f"printed_share_{upto:g}_h": share for upto, share in PRINTED_SHARES.items()},
        }
    )


def _carbon_of_jobs(instance: PurchasingInstance, solution: Solution) -> Any:
    """Return the carbon of each job [kg], shape (N,), from the rows of its schedule."""
    schedule = solution.schedule
    edges = np.arange(instance.time.slots + 1) * instance.time.slot_hours
    prefix = np.concatenate([[0.0], np.cumsum(instance.kg_per_cpu_hour) * instance.time.slot_hours])
    between = np.interp(schedule["end_hours"], edges, prefix) - np.interp(schedule["start_hours"], edges, prefix)
    index = {name: number for number, name in enumerate(instance.jobs.name)}
    job = schedule["job"].map(index).to_numpy()
    return np.bincount(job, between * instance.jobs.cpus[job], len(instance.jobs))


def _draw_by_length(table: pd.DataFrame, ax: Any = None) -> Any:
    labels = {"saved_share_cumulative": "carbon saved", "jobs_share": "jobs"}
    axis = lines(table, "length_hours", labels, ax)
    mark_paper(axis, list(PRINTED_SHARES), list(PRINTED_SHARES.values()), "printed, carbon saved")
    legend(axis)
    axis.set_xscale("log")
    axis.set_xlabel("jobs up to this length [h]")
    axis.set_ylabel("share of all")
    return axis


BY_LENGTH = Figure(
    "purchasing",
    "carbon that Carbon-Time saves in jobs up to a length, without reserved CPUs (GAIA, Figure 9)",
    _by_length,
    _draw_by_length,
    f"{ARTIFACT} The authors group jobs by whole minutes; here each job is a row.",
    shows=1,
)


def _with_reserved(run: Run) -> pd.DataFrame:
    week = _week(run, RESERVED)
    policies = (NO_WAIT, "all-wait-threshold", "wait-awhile", "ecovisor", "carbon-time", "res-first-carbon-time")
    table = pd.DataFrame([_row(run, week, policy) for policy in policies])
    table = normalised(table, {metric: table[metric].max() for metric in METRICS})
    by_name = table.set_index("policy")
    kept = by_name["carbon"][NO_WAIT] - PRINTED_KEPT * (by_name["carbon"][NO_WAIT] - by_name["carbon"]["carbon-time"])
    name = "res-first-carbon-time"
    return table.assign(
        printed_carbon=table["policy"].map({name: kept}),
        printed_cost=table["policy"].map({name: PRINTED_COST * by_name["cost"]["carbon-time"]}),
    )


WITH_RESERVED = Figure(
    "purchasing",
    f"carbon, cost and waiting with {RESERVED} reserved CPUs (GAIA, Figure 10)",
    _with_reserved,
    _draw("policy", OVER_MOST, "carbon-time"),
    f"{ARTIFACT} All metrics are over the largest of the policies shown. Wait Awhile differs from the printed"
    " figure as in Figure 8. In mode artifact the reserved CPUs are paid until the last start, as the simulator"
    " does, and not over the horizon, as the paper says and mode paper does. Carbon with reserved CPUs depends on"
    " the order of jobs that arrive at the same moment; mode artifact reproduces the order that the simulator's"
    " heap gives.",
    shows=1,
)


def _reserved_sweep(run: Run) -> pd.DataFrame:
    reference = simulated(run, _week(run), NO_WAIT).metrics
    table = pd.DataFrame([_row(run, _week(run, reserved), "res-first-carbon-time") for reserved in SWEEP])
    table = normalised(table, {"carbon_kg": reference["carbon_kg"], "cost_usd": reference["cost_usd"]})
    return table.assign(printed_carbon=table["reserved_cpus"].map(PRINTED_SWEEP))


def _draw_sweep(table: pd.DataFrame, ax: Any = None) -> Any:
    labels = {"carbon": "carbon over no-wait", "cost": "cost over no-wait without reserved CPUs"}
    axis = lines(table, "reserved_cpus", labels, ax)
    mark_paper(axis, list(PRINTED_SWEEP), list(PRINTED_SWEEP.values()), "printed, carbon")
    legend(axis)
    axis.set_xlabel("reserved CPUs")
    return axis


RESERVED_SWEEP = Figure(
    "purchasing",
    "RES-First-Carbon-Time against the number of reserved CPUs (GAIA, Figure 11)",
    _reserved_sweep,
    _draw_sweep,
    f"{ARTIFACT} The printed figure is reproduced at every number of CPUs. In mode paper the cost falls less, and rises"
    " earlier, since idle reserved CPUs are paid to the end of the horizon.",
    shows=1,
)


def _with_spot(run: Run) -> pd.DataFrame:
    cases = [
        ("carbon-time", 0),
        ("spot-first-carbon-time", 0),
        ("spot-first-ecovisor", 0),
        ("spot-res-carbon-time", 9),
        ("spot-res-carbon-time", 6),
    ]
    rows = [_row(run, _week(run, reserved, SPOT_HOURS), policy) for policy, reserved in cases]
    table = pd.DataFrame(rows)
    table["case"] = [f"{row['policy']} ({row['reserved_cpus']})" for row in rows]
    table = normalised(table, {metric: table[metric].max() for metric in METRICS})
    return table.assign(printed_cost=table["case"].map(PRINTED_SPOT) * table["cost"][0])


WITH_SPOT = Figure(
    "purchasing",
    "spot and reserved CPUs together (GAIA, Figure 12)",
    _with_spot,
    _draw("case", OVER_MOST, "carbon-time"),
    f"{ARTIFACT} The public simulator evicts nobody, so mode artifact does not either, and spot CPUs look better"
    " than they are; see gaia-18 and gaia-evictions. All metrics are over the largest of the cases shown.",
    shows=1,
)

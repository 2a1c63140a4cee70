"""Caspian's figures: 3 (the signal), 4 (the load), 5 (carbon over time, completion ratios) and 6 (the sweep).

T. Bahreini, A. Tantawi, O. Tardieu. Caspian: A Carbon-aware Workload Scheduler in Multi-Cluster Kubernetes
Environments. MASCOTS 2024.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from carbonopt.core.arrays import FloatArray
from carbonopt.core.solution import Solution
from carbonopt.papers.caspian_sweep import (
    BASELINES,
    DRAWS,
    OPTIMIZERS,
    PAPERS_OWN,
    PRINTED,
    TARDINESS_KG,
    Case,
    Reference,
    Row,
    cases,
    paper_objective,
    simulated,
)
from carbonopt.papers.figure import Figure, Run
from carbonopt.papers.marks import mark_bars, mark_paper
from carbonopt.plotting.figure import new_axes
from carbonopt.plotting.points import bars, lines
from carbonopt.plotting.style import legend
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.formulation.objective import carbon_kg_per_unit

OMEGA = 1.0
"""omega_1 of the sustainable mode of Figures 4 and 5 (section V-B); their baseline mode has 0."""
SHORT = {
    "policy": "policy",
    "omega_1": "omega_1",
    "saving": "saving",
    "saving_random": "random",
    "saving_clean": "clean",
    "deadlines_met_share": "met",
    "completion_ratio": "ratio",
    "makespan_slots": "makespan",
    "churn": "churn",
    "gap_to_clairvoyant": "gap",
    "most_saving": "most",
    "paper_saving": "paper_saving",
    "paper_deadlines_met_share": "paper_met",
    "paper_completion_ratio": "paper_ratio",
    "paper_makespan_slots": "paper_makespan",
}
"""Columns of Figure 6, so that its table is not wider than a screen."""
BINS = 10
"""Of the histogram, up to a ratio of 1; what is late is in the last one."""
PRINTED_MAKESPAN = {1.0: 39, 0.0: 29}
"""Slot at which the last job ends, by omega_1 (section V-B)."""
PRINTED_SAVING = 0.382
"""Of omega_1 = 1 over omega_1 = 0."""
PRINTED_LATE = {1.0: 0.072, 0.0: 0.0}
"""Share of late jobs, by omega_1."""
SOURCE = (
    "The paper has 200 jobs on three clusters of 32 GPUs and the carbon of 14 November 2023; `carbonopt generate"
    " mosp --preset caspian --carbon ...` makes that instance of a signal, and without --carbon of a synthetic one."
)


def _simulated(run: Run, instance: MospInstance, case: Case) -> Solution:
    run.say(" ".join([f"{instance.name}:", *case.key]))
    return run.keep(case.label, simulated(instance, case, run.settings))


def _instance(run: Run) -> MospInstance:
    instance = run.instances[0]
    assert isinstance(instance, MospInstance)
    return instance


def _compared(run: Run) -> dict[str, Solution]:
    """Return the schedules that Figures 4 and 5 show: the paper's two modes, and both earliest starts."""
    modes = {f"{PAPERS_OWN}, omega_1 = {omega:g}": Case("caspian", paper_objective(omega), omega, printed=True)
             for omega in (OMEGA, 0.0)}  # fmt: skip
    others = {name: Case(name, paper_objective(OMEGA), OMEGA) for name in BASELINES}
    return {name: _simulated(run, _instance(run), case) for name, case in {**modes, **others}.items()}


def load_of(instance: MospInstance, solution: Solution) -> FloatArray:
    """Return the used units of each cluster, resource and slot of a simulated schedule, shape (M, R, T)."""
    load = np.zeros(instance.clusters.capacity.shape)
    job = {name: i for i, name in enumerate(instance.jobs.name)}
    cluster = {name: j for j, name in enumerate(instance.clusters.name)}
    columns = solution.columns
    assert columns is not None
    for row in zip(*(columns[name] for name in ("job", "cluster", "start", "end")), strict=True):
        load[cluster[row[1]], :, row[2] : row[3]] += instance.jobs.demand[job[row[0]]][:, None]
    return load


def _signal(run: Run) -> pd.DataFrame:
    carbon = _instance(run).carbon
    return pd.DataFrame(
        {"slot": np.arange(carbon.g_per_kwh.shape[1]), **dict(zip(carbon.zones, carbon.g_per_kwh, strict=True))}
    )


def _draw_signal(table: pd.DataFrame, ax: Any = None) -> Any:
    axis = lines(table, "slot", {name: name for name in table.columns[1:]}, ax)
    axis.set_ylabel("gCO2eq/kWh")
    return axis


SIGNAL = Figure(
    "mosp",
    "carbon intensity of the clusters (Caspian, Figure 3)",
    _signal,
    _draw_signal,
    f"{SOURCE} The paper shows 40 hours of CA-ON, JP-KN and DE.",
    shows=1,
)


def _allocation(run: Run) -> pd.DataFrame:
    instance = _instance(run)
    parts = []
    for policy, solution in _compared(run).items():
        load = load_of(instance, solution)[:, 0]
        for name, used in zip(instance.clusters.name, load, strict=True):
            parts.append(pd.DataFrame({"policy": policy, "cluster": name, "slot": np.arange(len(used)), "used": used}))
    return pd.concat(parts, ignore_index=True)


def _draw_allocation(table: pd.DataFrame, ax: Any = None) -> Any:
    clusters = list(dict.fromkeys(table["cluster"]))
    axes = np.atleast_1d(new_axes(len(clusters)) if ax is None else ax)
    for axis, cluster in zip(axes, clusters, strict=True):
        for policy, part in table[table["cluster"] == cluster].groupby("policy", sort=False):
            axis.step(part["slot"], part["used"], where="post", label=policy)
        axis.set_ylabel(cluster)
        for omega, slot in PRINTED_MAKESPAN.items():
            axis.axvline(
                slot, color="black", linestyle=":" if omega else "--", label=f"printed end, omega_1 = {omega:g}"
            )
    axes[0].legend(fontsize="small")
    axes[-1].set_xlabel("slot")
    return axes


ALLOCATION = Figure(
    "mosp",
    f"units in use on each cluster over time, omega_1 = {OMEGA:g} (Caspian, Figure 4)",
    _allocation,
    _draw_allocation,
    f"{SOURCE} The first resource is shown. The paper's makespans: slot 39 at omega_1 = 1, 29 at 0. Earliest starts"
    " are not of the paper.",
    shows=1,
)


def _cumulative(run: Run) -> pd.DataFrame:
    instance = _instance(run)
    per_unit = carbon_kg_per_unit(instance)
    table = {"slot": np.arange(1, instance.time.slots + 1)}
    for policy, solution in _compared(run).items():
        table[policy] = np.cumsum((load_of(instance, solution) * per_unit).sum(axis=(0, 1)))
    return pd.DataFrame(table)


def _draw_cumulative(table: pd.DataFrame, ax: Any = None) -> Any:
    axis = lines(table, "slot", {name: name for name in table.columns[1:]}, ax)
    last = table.iloc[-1]
    zero = f"{PAPERS_OWN}, omega_1 = 0"
    mark_paper(axis, last["slot"], (1 - PRINTED_SAVING) * last[zero], f"printed, over {zero}")
    legend(axis)
    axis.set_ylabel("kgCO2eq until then")
    return axis


CUMULATIVE = Figure(
    "mosp",
    f"carbon emitted so far, omega_1 = {OMEGA:g} (Caspian, Figure 5a)",
    _cumulative,
    _draw_cumulative,
    f"{SOURCE} The paper's baseline mode is its scheduler at omega_1 = 0, over which it saves 38.2 % at 1. Earliest"
    " starts, with random ties and with ties to the cleaner cluster, are not of the paper.",
    shows=1,
)


def completion_ratios(instance: MospInstance, solution: Solution) -> FloatArray:
    """Return the part of its allowed time that each job used, shape (N,); above 1 where it is late."""
    end = solution.schedule.groupby("job")["end"].max()
    jobs = instance.jobs
    completion = end.reindex(list(jobs.name)).to_numpy(dtype=np.float64)
    allowed = jobs.deadline - jobs.arrival
    ratio = np.divide(completion - jobs.arrival, allowed, out=np.full(len(jobs), np.inf), where=allowed > 0)
    return np.asarray(ratio)


def _histogram(run: Run) -> pd.DataFrame:
    instance = _instance(run)
    edges = np.append(np.arange(BINS + 1) / BINS, np.inf)
    table: dict[str, Any] = {"ratio": [*(f"{low:.1f}+" for low in edges[:BINS]), "late"]}
    for policy, solution in _compared(run).items():
        ratio = np.round(completion_ratios(instance, solution), 9)
        place = np.where(ratio > 1, BINS, np.minimum((ratio * BINS).astype(np.int64, copy=False), BINS - 1))
        table[policy] = np.bincount(place.astype(np.int64), minlength=BINS + 1) / len(ratio)
    return pd.DataFrame(table)


def _draw_histogram(table: pd.DataFrame, ax: Any = None) -> Any:
    columns = {name: name for name in table.columns[1:]}
    axis = bars(table, "ratio", columns, ax)
    axis.set_xlabel("completion ratio")
    axis.set_ylabel("share of jobs")
    printed = {f"{PAPERS_OWN}, omega_1 = {omega:g}": share for omega, share in PRINTED_LATE.items()}
    late = table["ratio"] == "late"
    mark_bars(axis, columns, {name: np.where(late, share, np.nan) for name, share in printed.items()}, "printed")
    return axis


HISTOGRAM = Figure(
    "mosp",
    f"share of jobs by completion ratio, omega_1 = {OMEGA:g} (Caspian, Figures 5b and 5c)",
    _histogram,
    _draw_histogram,
    f"{SOURCE} The ratio is completion less arrival over deadline less arrival. In the paper 7.2 % of the jobs are late"
    " at omega_1 = 1, and none at 0.",
    shows=1,
)


def _sweep_of(run: Run, instance: MospInstance) -> list[Row]:
    run.say(f"{instance.name}: baselines and bounds")
    reference = Reference.of(instance, run.settings)
    return [reference.row(case, _simulated(run, instance, case)) for case in cases()]


def _sweep(run: Run) -> pd.DataFrame:
    rows = [row for instance in run.instances if isinstance(instance, MospInstance) for row in _sweep_of(run, instance)]
    table = pd.DataFrame(rows)
    table["churn"] = table["suspensions"] + table["migrations"]
    means = table.groupby(["policy", "objective", "omega_1"], sort=False, dropna=False).mean().reset_index()
    return beside_the_paper(means).rename(columns=SHORT)[list(SHORT.values())].round(4)


def beside_the_paper(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with what the paper prints for the same omega_1, on the rows of its own plan."""
    theirs = table["omega_1"].where(table["policy"] == PAPERS_OWN)
    found = {
        f"paper_{name}": [PRINTED.get(omega, {}).get(name, np.nan) for omega in theirs]
        for name in ("saving", "deadlines_met_share", "completion_ratio", "makespan_slots")
    }
    return table.assign(**found)


def _draw_sweep(table: pd.DataFrame, ax: Any = None) -> Any:
    shown = (PAPERS_OWN, *OPTIMIZERS)
    part, rounded, milp = (table[(table["policy"] == name) & table["omega_1"].notna()] for name in shown)
    labels = {
        "saving": "saved over omega_1 = 0",
        "random": "saved over earliest-random",
        "clean": "saved over earliest-clean",
        "met": "deadlines met",
        "ratio": "completion ratio",
    }
    axis = lines(part, "omega_1", labels, ax)
    colours = dict(zip(labels, (line.get_color() for line in axis.get_lines()), strict=True))
    for name in ("saving", "met", "ratio"):
        axis.plot(part["omega_1"], part[f"paper_{name}"], "x", color=colours[name])
    axis.plot(rounded["omega_1"], rounded["met"], ":", color=colours["met"], label="met, deadlines in whole slots")
    axis.plot(milp["omega_1"], milp["saving"], "--", color=colours["saving"], label="saved, caspian-milp")
    axis.plot([], [], "kx", label="the paper")
    axis.legend(fontsize="small")
    return axis


SWEEP_OF_OMEGA = Figure(
    "mosp",
    "carbon saved, deadlines met, completion ratio and makespan by omega_1 (Caspian, Figure 6)",
    _sweep,
    _draw_sweep,
    f"{SOURCE} saving is over the paper's baseline, its scheduler as printed at omega_1 = 0 (equation 9); random and"
    f" clean are over earliest starts with random ties, whose carbon is the mean of {DRAWS} draws, and with ties to the"
    " cleaner cluster; met are deadlines, ratio and makespan those of"
    " completion, churn suspensions and migrations. Columns paper_... are what the paper prints, beside the rows of its"
    f" own scheduler, {PAPERS_OWN!r}: slots counted from now, deadlines as they are, jobs planned from the next slot"
    " on. The other rows count slots from the first, plan jobs in the slot in which they arrive, and round deadlines"
    " down to whole slots, which is not of the paper: more are met. Each row is the mean"
    " over the instances. Rows without omega_1 minimise kg of carbon,"
    f" {TARDINESS_KG:g} kg a slot of tardiness, and 0.005 kg a slot of completion; gap is to a bound for every schedule"
    " of this objective that may suspend and migrate and knows the future, most what no such schedule that meets all"
    " deadlines can save.",
)

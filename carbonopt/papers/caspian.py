"""Caspian's figures: 4 (where the load goes), 5 (carbon over time, completion ratios) and 6 (the sweep).

T. Bahreini, A. Tantawi, O. Tardieu. Caspian: A Carbon-aware Workload Scheduler in Multi-Cluster Kubernetes
Environments. MASCOTS 2024.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from carbonopt.core.arrays import FloatArray
from carbonopt.core.solution import Solution
from carbonopt.papers.figure import Figure, Run
from carbonopt.plotting.figure import new_axes
from carbonopt.plotting.points import bars, lines
from carbonopt.problems.mosp.instance import CarbonObjective, CaspianObjective, MospInstance, Objective
from carbonopt.problems.mosp.objective import carbon_kg_per_unit
from carbonopt.problems.mosp.online.bound import pieces_bound
from carbonopt.simulate import simulate
from carbonopt.solve import solve

BASELINES = ("earliest-random", "earliest-clean")
OMEGA = 0.5
"""omega_1 of Figures 4 and 5."""
SWEEP = (0.0, 0.25, 0.5, 1.0, 2.0)
"""omega_1 of Figure 6."""
OPTIMIZERS = ("caspian", "caspian-milp")
TARDINESS_KG = 3.0
"""Weight of a slot of tardiness in the carbon objective of Figure 6, in kg."""
BINS = 10
"""Of the histogram, up to a ratio of 1; what is late is in the last one."""
MEASURES = ("carbon_kg", "deadlines_met_share", "completion_ratio", "makespan_slots", "suspensions", "migrations")
SOURCE = (
    "The paper has 200 jobs on three clusters of 32 GPUs and the carbon of 14 November 2023; `carbonopt generate"
    " mosp --preset caspian --carbon ...` makes that instance of a signal, and without --carbon of a synthetic one."
)


def _simulated(run: Run, instance: MospInstance, policy: str, objective: Objective) -> Solution:
    run.say(f"{instance.name}: {policy}")
    found = simulate(instance.with_objective(objective), policy, **run.settings)
    if not found.has_solution:
        raise RuntimeError(f"{policy} on {instance.name} ended {found.status}: {found.info}")
    return found


def paper_objective(omega: float) -> CaspianObjective:
    """Return the paper's objective at omega_1, the others 1.

    Each period has its own normalizers. Those of the whole day would only scale a number that no figure shows.
    """
    return CaspianObjective(omega, 1.0, 1.0, normalizers=(1.0, 1.0, 1.0))


def _instance(run: Run) -> MospInstance:
    instance = run.instances[0]
    assert isinstance(instance, MospInstance)
    return instance


def _compared(run: Run) -> dict[str, Solution]:
    """Return the schedules that Figures 4 and 5 show."""
    names = (*BASELINES, "caspian")
    return {name: _simulated(run, _instance(run), name, paper_objective(OMEGA)) for name in names}


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


def _allocation(run: Run) -> pd.DataFrame:
    instance, parts = _instance(run), []
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
    axes[0].legend(fontsize="small")
    axes[-1].set_xlabel("slot")
    return axes


ALLOCATION = Figure(
    "mosp",
    f"units in use on each cluster over time, omega_1 = {OMEGA:g} (Caspian, Figure 4)",
    _allocation,
    _draw_allocation,
    f"{SOURCE} The first resource is shown.",
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
    axis.set_ylabel("kgCO2eq until then")
    return axis


CUMULATIVE = Figure(
    "mosp",
    f"carbon emitted so far, omega_1 = {OMEGA:g} (Caspian, Figure 5a)",
    _cumulative,
    _draw_cumulative,
    f"{SOURCE} The paper shows one baseline, whose ties between clusters are random; earliest-clean breaks them"
    " towards the cleaner cluster.",
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
    instance, edges = _instance(run), np.append(np.arange(BINS + 1) / BINS, np.inf)
    table: dict[str, Any] = {"ratio": [*(f"{low:.1f}+" for low in edges[:BINS]), "late"]}
    for policy, solution in _compared(run).items():
        ratio = np.round(completion_ratios(instance, solution), 9)
        place = np.where(ratio > 1, BINS, np.minimum((ratio * BINS).astype(np.int64, copy=False), BINS - 1))
        table[policy] = np.bincount(place.astype(np.int64), minlength=BINS + 1) / len(ratio)
    return pd.DataFrame(table)


HISTOGRAM = Figure(
    "mosp",
    f"share of jobs by completion ratio, omega_1 = {OMEGA:g} (Caspian, Figures 5b and 5c)",
    _histogram,
    lambda table, ax=None: bars(table, "ratio", {name: name for name in table.columns[1:]}, ax),
    f"{SOURCE} The ratio is completion less arrival over deadline less arrival. Jobs arrive at the beginning of a"
    " slot here and may start in it; the paper's ratios are larger by about the slot that its jobs wait.",
)


def _row(solution: Solution, carbon: dict[str, float], bound: float | None) -> dict[str, Any]:
    found = {name: solution.metrics[name] for name in MEASURES}
    saved = {f"less_than_{name}": 1 - found["carbon_kg"] / carbon[name] for name in carbon}
    gap = None if bound is None or solution.objective is None else 1 - bound / solution.objective
    return {**found, **saved, "gap_to_clairvoyant": gap}


def _sweep_of(run: Run, instance: MospInstance) -> list[dict[str, Any]]:
    own = CarbonObjective(tardiness_slots=TARDINESS_KG)
    bound = clairvoyant(instance.with_objective(own), int(run.settings.get("seed", 0)))
    base = {name: _simulated(run, instance, name, own) for name in BASELINES}
    carbon = {name: float(found.metrics["carbon_kg"]) for name, found in base.items()}
    rows: list[dict[str, Any]] = [
        {"policy": name, "objective": "carbon", "omega_1": np.nan, **_row(found, carbon, bound)}
        for name, found in base.items()
    ]
    for policy in OPTIMIZERS:
        for omega in SWEEP:
            found = _simulated(run, instance, policy, paper_objective(omega))
            rows.append({"policy": policy, "objective": "caspian", "omega_1": omega, **_row(found, carbon, None)})
        found = _simulated(run, instance, policy, own)
        rows.append({"policy": policy, "objective": "carbon", "omega_1": np.nan, **_row(found, carbon, bound)})
    return rows


def clairvoyant(instance: MospInstance, seed: int = 0) -> float | None:
    """Return what no schedule can be below, in pieces or not, even if it knows all jobs and the signal."""
    relaxed = solve(instance, "lp", seed=seed)
    prices = None if relaxed.certificate is None else np.array(relaxed.certificate["prices"])
    return pieces_bound(instance, prices=prices)[0]


def _sweep(run: Run) -> pd.DataFrame:
    rows = [row for instance in run.instances if isinstance(instance, MospInstance) for row in _sweep_of(run, instance)]
    table = pd.DataFrame(rows).astype({"gap_to_clairvoyant": float})
    return table.groupby(["policy", "objective", "omega_1"], sort=False, dropna=False).mean().reset_index()


def _draw_sweep(table: pd.DataFrame, ax: Any = None) -> Any:
    part = table[(table["policy"] == OPTIMIZERS[0]) & (table["objective"] == "caspian")]
    labels = {
        "less_than_earliest-random": "less carbon than earliest-random",
        "less_than_earliest-clean": "less carbon than earliest-clean",
        "deadlines_met_share": "deadlines met",
        "completion_ratio": "completion ratio",
    }
    return lines(part, "omega_1", labels, ax)


SWEEP_OF_OMEGA = Figure(
    "mosp",
    "carbon saved, deadlines met, completion ratio and makespan by omega_1 (Caspian, Figure 6)",
    _sweep,
    _draw_sweep,
    f"{SOURCE} The paper: 19.4 % saved at 0.25; 33.2 %, 98.3 % of deadlines met, ratio 0.60 at 0.5; 38.2 %, 92.8 %,"
    " 0.72, makespan 39 at 1; 42.4 %, about 85 % at 2; 100 %, 0.49, 29 at 0, all against its baseline of random"
    " ties. Each row is the mean over the instances. Rows of objective carbon minimise kg of carbon, "
    f"{TARDINESS_KG:g} kg a slot of tardiness, and 0.005 kg a slot of completion; their gap is to a bound for every"
    " schedule of this objective that may suspend and migrate and knows the future.",
)

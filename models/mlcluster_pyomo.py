"""GREEN's ML cluster, offline: the linear program that bounds every schedule from below, on one page.

Xu, Sun, Tian, Zhang, Chen, "GREEN: Carbon-efficient Resource Scheduling for Machine Learning Clusters", NSDI 2025.
Run `python models/mlcluster_pyomo.py INSTANCE [--cells K] [--time-limit S]`; INSTANCE is an mlcluster .json[.gz] file.

    j, t, n       jobs, cells (a slot is cut into K), GPUs     X_j(n)  throughput on n GPUs, X(1) = 1
    r_j, W_j      arrival [min], work [1-GPU min]              dP_j(n) power over that of n idle GPUs [W]
    C, delta      GPUs, length of a cell [min]                 c_t     carbon of a watt [kg/min]: g/kWh / 6e7
    b_jt, a_jt    beginning and length of the part of cell t after r_j [min]
    p_j           W_j / max X_j, the shortest run [min]        y_jtn   minutes of job j on n GPUs in cell t

    min  sum (w_c c_t dP_j(n) + w X_j(n) b_jt / W_j / 60) y_jtn + w sum_j (p_j / 2 - r_j) / 60
    s.t. work_j      sum_tn X_j(n) y_jtn >= W_j
         capacity_t  sum_jn n y_jtn <= C delta
         once_jt     sum_n y_jtn <= a_jt
         budget      mean over j of M_j + (p_j / 2 - r_j) / 60 <= B   where the file has a limit on mean_jct_hours
                     M_j = sum_tn X_j(n) b_jt y_jtn / W_j / 60        mean moment of the job's progress [h]

A completion time is at least M_j + p_j / 2 - r_j, restarts only cost, and whole GPUs and moments are relaxed: the
optimum is a lower bound for every preemptive malleable schedule that ends by the end of the signal.
"""

import argparse
import gzip
import json
import logging
from pathlib import Path

import pyomo.environ as pyo


def load(path: str | Path) -> dict:
    """Read the instance in a .json or .json.gz file."""
    with (gzip.open if str(path).endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def work_needed(work: float) -> float:
    """W_j, less what the checker takes for rounding."""
    return work * (1 - 1e-9) - min(1e-6, work / 1000)


def build(data: dict, cells: int = 1) -> pyo.ConcreteModel:
    """Build the program over slots cut into `cells`."""
    jobs, cluster, time = data["jobs"], data["cluster"], data["time"]
    goal = data.get("objective") or {}
    weights, limit = goal.get("weights") or {}, (goal.get("limits") or {}).get("mean_jct_hours")
    grams = data["carbon"]["g_per_kwh"][data["carbon"]["zones"].index(cluster["zone"])]
    delta = time.get("slot_hours", 1.0) * 60 / cells
    kg, late_price = weights.get("carbon_kg", 1.0), weights.get("jct_hours", 0.0)
    profiles = [data["profiles"][name] for name in jobs["profile"]]
    idle = cluster.get("idle_watts_per_gpu", 0.0)
    m = pyo.ConcreteModel(data["name"])
    m.J, m.T = range(len(jobs["name"])), range(time["slots"] * cells)
    m.N = [range(jobs["min_gpus"][j], min(jobs["max_gpus"][j], cluster["gpus"]) + 1) for j in m.J]
    speed = [{n: profiles[j]["throughput"][n - 1] for n in m.N[j]} for j in m.J]
    added = [{n: profiles[j]["watts"][n - 1] - n * idle for n in m.N[j]} for j in m.J]
    work = [work_needed(value) for value in jobs["work_gpu_minutes"]]
    arrival = jobs["arrival_minutes"]
    begin = [[max(t * delta, arrival[j]) for t in m.T] for j in m.J]
    there = [[max(0.0, (t + 1) * delta - begin[j][t]) for t in m.T] for j in m.J]
    pairs = [(j, t) for j in m.J for t in m.T if there[j][t] > 0]
    m.Y = pyo.Set(dimen=3, initialize=[(j, t, n) for j, t in pairs for n in m.N[j]])
    m.y = pyo.Var(m.Y, within=pyo.NonNegativeReals)
    moment = {(j, t, n): speed[j][n] * begin[j][t] / work[j] / 60 for j, t, n in m.Y}  # of M_j
    least = sum(work[j] / max(speed[j].values()) / 2 - arrival[j] for j in m.J) / 60
    of_job = {j: [] for j in m.J}
    of_cell = {t: [] for t in m.T}
    for j, t, n in m.Y:
        of_job[j].append((t, n))
        of_cell[t].append((j, n))

    @m.Constraint(m.J)
    def work_done(m, j):
        return sum(speed[j][n] * m.y[j, t, n] for t, n in of_job[j]) / work[j] >= 1

    @m.Constraint(m.T)
    def capacity(m, t):
        used = sum(n * m.y[j, t, n] for j, n in of_cell[t])
        return used <= cluster["gpus"] * delta if of_cell[t] else pyo.Constraint.Skip

    @m.Constraint(pairs)
    def once(m, j, t):
        return sum(m.y[j, t, n] for n in m.N[j]) <= there[j][t]

    m.late = pyo.Expression(expr=sum(moment[key] * m.y[key] for key in m.Y) + least)  # sum of completion times [h]
    m.budget = (
        pyo.Constraint(expr=m.late <= limit * len(m.J))
        if limit is not None and len(m.J)
        else pyo.Constraint(expr=pyo.Constraint.Feasible)
    )
    carbon = sum(grams[t // cells] / 6e7 * added[j][n] * m.y[j, t, n] for j, t, n in m.Y)
    m.objective = pyo.Objective(expr=kg * carbon + late_price * m.late)
    return m


def solve(data: dict, cells: int = 1, time_limit: float | None = None) -> dict:
    """Solve for at most time_limit [s] after the build; the optimum is a bound, `minutes` is no schedule."""
    m, job = build(data, cells), data["jobs"]["name"]
    status, value, rows = "optimal", 0.0, []
    if job:
        options = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}
        result = pyo.SolverFactory("highs").solve(m, timelimit=time_limit, options=options, load_solutions=False)
        words = {"maxTimeLimit": "time_limit", "infeasibleOrUnbounded": "infeasible"}  # no cost is without bound here
        status = words.get(str(result.solver.termination_condition), str(result.solver.termination_condition))
        value = None
        if status == "optimal":
            m.solutions.load_from(result)
            value = pyo.value(m.objective)
            rows = [(job[j], t, n, m.y[j, t, n].value) for j, t, n in m.Y if m.y[j, t, n].value > 1e-9]
    columns = {name: [row[k] for row in rows] for k, name in enumerate(("job", "cell", "gpus", "minutes"))}
    return {"instance": data["name"], "bound": value, "sense": "min", "status": status, "relaxed": columns}


if __name__ == "__main__":
    logging.getLogger("pyomo").setLevel(logging.ERROR)  # Pyomo warns on stdout, which is for the JSON
    parser = argparse.ArgumentParser(description="Bound an mlcluster instance from below with Pyomo and HiGHS.")
    parser.add_argument("instance", type=Path, help="an mlcluster .json or .json.gz file")
    parser.add_argument("--cells", type=int, default=1, metavar="K", help="cells of each slot")
    parser.add_argument("--time-limit", type=float, metavar="S", help="stop HiGHS after S seconds")
    args = parser.parse_args()
    print(json.dumps(solve(load(args.instance), args.cells, args.time_limit), indent=2))

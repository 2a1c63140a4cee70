"""GREEN's ML cluster on a grid: jobs change their GPUs at the edges of cells alone, as an integer program on one page.

Xu, Sun, Tian, Zhang, Chen, "GREEN: Carbon-efficient Resource Scheduling for Machine Learning Clusters", NSDI 2025.
Run `python models/mlcluster_milp_pyomo.py INSTANCE [--cells K] [--time-limit S]`; INSTANCE is an mlcluster file.

    j, t, n       jobs, cells (a slot is cut into K), GPUs     X_j(n)  throughput on n GPUs, X(1) = 1
    r_j, W_j      arrival [min], work [1-GPU min]              dP_j(n) power over that of n idle GPUs [W]
    C, delta      GPUs, length of a cell [min]                 c_t     carbon of a watt [kg/min]: g/kWh / 6e7
    a_jt          what of cell t is left after r_j [min]       R_j     restart [min], at most delta
    y_jtn         1 where job j holds n GPUs in cell t         d_jtn   how much earlier it stops there [min]
    f_jt, z_jt    1 in a cell in which, at the latest, the     k_jtn   1 where a run begins with a restart
                  job first, and at the earliest, last runs

    min  w_c sum c_t dP_j(n) (a_jt y_jtn - d_jtn) + w_J sum_j C_j / 60
    s.t. once_jt      sum_n y_jtn <= 1
         capacity_t   sum_jn n y_jtn <= C
         work_j       sum_tn X_j(n) (a_jt y_jtn - d_jtn - R_j k_jtn) >= W_j
         first_jt     y_jtn <= sum_{s <= t} f_js, sum_t f_jt = 1
         last_jt      y_jtn <= sum_{s >= t} z_js, sum_t z_jt = 1
         stop_jtn     d_jtn <= a_jt y_jtn, d_jtn <= a_jt z_jt
         restart_jtn  k_jtn >= y_jtn - y_j,t-1,n - f_jt
         budget       sum_j C_j <= 60 N B                  where the file has a limit on mean_jct_hours
         C_j = sum_t (t + 1) delta z_jt - sum_tn d_jtn - r_j

The optimum is that of schedules on the grid: no bound for those that change GPUs between the edges of cells.
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


def build(data: dict, cells: int = 1) -> pyo.ConcreteModel:
    """Build the program over slots cut into `cells`."""
    jobs, cluster, time = data["jobs"], data["cluster"], data["time"]
    goal = data.get("objective") or {}
    weights, limit = goal.get("weights") or {}, (goal.get("limits") or {}).get("mean_jct_hours")
    grams = data["carbon"]["g_per_kwh"][data["carbon"]["zones"].index(cluster["zone"])]
    delta = time.get("slot_hours", 1.0) * 60 / cells
    profiles = [data["profiles"][name] for name in jobs["profile"]]
    idle, arrival = cluster.get("idle_watts_per_gpu", 0.0), jobs["arrival_minutes"]
    m = pyo.ConcreteModel(data["name"])
    m.J = range(len(jobs["name"]))
    count = time["slots"] * cells
    there = [[min(delta, (t + 1) * delta - arrival[j]) for t in range(count)] for j in m.J]
    cells_of = [[t for t in range(count) if there[j][t] > 0] for j in m.J]
    scales = [range(jobs["min_gpus"][j], min(jobs["max_gpus"][j], cluster["gpus"]) + 1) for j in m.J]
    pairs = [(j, t) for j in m.J for t in cells_of[j]]
    keys = [(j, t, n) for j, t in pairs for n in scales[j]]
    m.P, m.K = pyo.Set(dimen=2, initialize=pairs), pyo.Set(dimen=3, initialize=keys)
    m.y, m.f, m.z = (pyo.Var(kind, within=pyo.Binary) for kind in (m.K, m.P, m.P))
    m.d, m.k = pyo.Var(m.K, within=pyo.NonNegativeReals), pyo.Var(m.K, within=pyo.NonNegativeReals)

    def run(j, t, n):
        return there[j][t] * m.y[j, t, n] - m.d[j, t, n]

    @m.Constraint(m.P)
    def once(m, j, t):
        return sum(m.y[j, t, n] for n in scales[j]) <= 1

    @m.Constraint(range(count))
    def capacity(m, t):
        used = [n * m.y[j, t, n] for j in m.J if there[j][t] > 0 for n in scales[j]]
        return sum(used) <= cluster["gpus"] if used else pyo.Constraint.Skip

    @m.Constraint(m.J)
    def work(m, j):
        speed, restart = profiles[j]["throughput"], profiles[j].get("restart_minutes", 0.0)
        done = sum(speed[n - 1] * (run(j, t, n) - restart * m.k[j, t, n]) for t in cells_of[j] for n in scales[j])
        return done >= jobs["work_gpu_minutes"][j]

    m.one_first = pyo.Constraint(m.J, rule=lambda m, j: sum(m.f[j, t] for t in cells_of[j]) == 1)
    m.one_last = pyo.Constraint(m.J, rule=lambda m, j: sum(m.z[j, t] for t in cells_of[j]) == 1)
    m.first = pyo.Constraint(m.K, rule=lambda m, j, t, n: m.y[j, t, n] <= sum(m.f[j, s] for s in cells_of[j] if s <= t))
    m.last = pyo.Constraint(m.K, rule=lambda m, j, t, n: m.y[j, t, n] <= sum(m.z[j, s] for s in cells_of[j] if s >= t))
    m.stop = pyo.Constraint(m.K, rule=lambda m, j, t, n: m.d[j, t, n] <= there[j][t] * m.y[j, t, n])
    m.stop_last = pyo.Constraint(m.K, rule=lambda m, j, t, n: m.d[j, t, n] <= there[j][t] * m.z[j, t])

    @m.Constraint(m.K)
    def restart(m, j, t, n):
        before = m.y[j, t - 1, n] if (j, t - 1, n) in m.K else 0
        return m.k[j, t, n] >= m.y[j, t, n] - before - m.f[j, t]

    ends = sum((t + 1) * delta * m.z[j, t] for j, t in pairs) - sum(m.d[key] for key in keys)
    m.late = pyo.Expression(expr=(ends - sum(arrival)) / 60)  # sum of completion times [h]
    if limit is not None and pairs:
        m.budget = pyo.Constraint(expr=m.late <= limit * len(m.J))
    added = {(j, n): profiles[j]["watts"][n - 1] - n * idle for j in m.J for n in scales[j]}
    carbon = sum(grams[t // cells] / 6e7 * added[j, n] * run(j, t, n) for j, t, n in keys)
    m.objective = pyo.Objective(expr=weights.get("carbon_kg", 1.0) * carbon + weights.get("jct_hours", 0.0) * m.late)
    return m


def solve(data: dict, cells: int = 1, time_limit: float | None = None) -> dict:
    """Solve for at most time_limit [s] after the build; `held` are the GPUs of each job in each cell."""
    m, job = build(data, cells), data["jobs"]["name"]
    status, value, rows = "optimal", 0.0, []
    if job:
        result = pyo.SolverFactory("highs").solve(m, timelimit=time_limit, load_solutions=False)
        status, value = str(result.solver.termination_condition), None
        status = {"maxTimeLimit": "time_limit", "infeasibleOrUnbounded": "infeasible"}.get(status, status)
        if status == "optimal":
            m.solutions.load_from(result)
            value = pyo.value(m.objective)
            rows = [(job[j], t, n) for j, t, n in m.K if m.y[j, t, n].value > 0.5]
    held = {name: [row[k] for row in rows] for k, name in enumerate(("job", "cell", "gpus"))}
    return {"instance": data["name"], "objective": value, "sense": "min", "status": status, "held": held}


if __name__ == "__main__":
    logging.getLogger("pyomo").setLevel(logging.ERROR)  # Pyomo warns on stdout, which is for the JSON
    parser = argparse.ArgumentParser(description="Solve an mlcluster instance on a grid with Pyomo and HiGHS.")
    parser.add_argument("instance", type=Path, help="an mlcluster .json or .json.gz file")
    parser.add_argument("--cells", type=int, default=1, metavar="K", help="cells of each slot")
    parser.add_argument("--time-limit", type=float, metavar="S", help="stop HiGHS after S seconds")
    args = parser.parse_args()
    print(json.dumps(solve(load(args.instance), args.cells, args.time_limit), indent=2))

"""GREEN's ML cluster, offline: the linear program in matrices on one page.

Xu, Sun, Tian, Zhang, Chen, "GREEN: Carbon-efficient Resource Scheduling for Machine Learning Clusters", NSDI 2025.
Run `python models/mlcluster_cvxpy.py INSTANCE [--cells K] [--time-limit S]`; INSTANCE is an mlcluster .json[.gz] file.

A row of the table is a job j on n GPUs in a cell t (a slot is cut into K) after its arrival.

    y   R          minutes that the job spends there             C delta   GPU minutes of a cell
    P   J x R      throughput X_j(n) / W_j, in the row of its job  l   P     minutes of each pair (job, cell)
    N   T x R      GPUs n, in the row of its cell                s   R     X_j(n) b / W_j / 60: b where the cell begins
    O   P x R      1, in the row of its pair (job, cell)         k   R     c_t dP_j(n): kilograms of a minute

    min  (w_c k + w s) y + w h     subject to   P y >= 1,   N y <= C delta,   O y <= l,   y >= 0,   s y + h <= J B

    h = sum_j (p_j / 2 - r_j) / 60, p_j the shortest run; the last row where there is a limit B on mean_jct_hours

Why this is a bound for every schedule is in mlcluster_pyomo.py.
"""

import argparse
import gzip
import json
from pathlib import Path

import cvxpy as cp
import numpy as np
from scipy.sparse import csr_array

WORDS = {"user_limit": "time_limit", "infeasible_or_unbounded": "infeasible"}  # no cost is without bound here


def load(path: str | Path) -> dict:
    """Read the instance in a .json or .json.gz file."""
    with (gzip.open if str(path).endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def table(data: dict, cells: int) -> tuple[np.ndarray, ...]:
    """(job, cell, GPUs, throughput, watts added, beginning [min]) by row."""
    jobs, cluster = data["jobs"], data["cluster"]
    delta = data["time"].get("slot_hours", 1.0) * 60 / cells
    rows = []
    for j, name in enumerate(jobs["profile"]):
        profile, arrival = data["profiles"][name], jobs["arrival_minutes"][j]
        for t in range(int(arrival // delta), data["time"]["slots"] * cells):
            for n in range(jobs["min_gpus"][j], min(jobs["max_gpus"][j], cluster["gpus"]) + 1):
                added = profile["watts"][n - 1] - n * cluster.get("idle_watts_per_gpu", 0.0)
                rows.append((j, t, n, profile["throughput"][n - 1], added, max(arrival, t * delta)))
    job, cell, gpus, speed, watts, begin = np.array(rows, dtype=float).reshape(-1, 6).T
    return job.astype(int), cell.astype(int), gpus, speed, watts, begin


def build(data: dict, cells: int = 1) -> tuple[cp.Problem, cp.Variable]:
    """Build the linear program and its variable y."""
    job, cell, gpus, speed, watts, begin = table(data, cells)
    count, rows = len(data["jobs"]["name"]), np.arange(len(job))
    delta, slots = data["time"].get("slot_hours", 1.0) * 60 / cells, data["time"]["slots"]
    goal = data.get("objective") or {}
    weights, limit = goal.get("weights") or {}, (goal.get("limits") or {}).get("mean_jct_hours")
    grams = np.array(data["carbon"]["g_per_kwh"][data["carbon"]["zones"].index(data["cluster"]["zone"])])
    needed = np.array(data["jobs"]["work_gpu_minutes"], dtype=float)
    needed = needed * (1 - 1e-9) - np.minimum(1e-6, needed / 1000)  # what the checker takes for all of it
    fastest = np.zeros(count)
    np.maximum.at(fastest, job, speed)
    least = float((needed / fastest / 2 - np.array(data["jobs"]["arrival_minutes"])).sum()) / 60
    pair, place = np.unique(job * slots * cells + cell, return_inverse=True)
    once = csr_array((np.ones(len(job)), (place, rows)), shape=(len(pair), len(rows)))
    length = np.zeros(len(pair))
    length[place] = (cell + 1) * delta - begin
    moment = speed * begin / needed[job] / 60
    carbon = grams[cell // cells] / 6e7 * watts
    y = cp.Variable(len(rows), nonneg=True)
    constraints = [
        csr_array((speed / needed[job], (job, rows)), shape=(count, len(rows))) @ y >= 1,
        csr_array((gpus, (cell, rows)), shape=(slots * cells, len(rows))) @ y <= data["cluster"]["gpus"] * delta,
        once @ y <= length,
    ]
    if limit is not None:
        constraints.append(moment @ y + least <= count * limit)
    price = weights.get("jct_hours", 0.0)
    cost = weights.get("carbon_kg", 1.0) * carbon + price * moment
    return cp.Problem(cp.Minimize(cost @ y + price * least), constraints), y


def solve(data: dict, cells: int = 1, time_limit: float | None = None) -> dict:
    """Solve for at most time_limit [s]; the optimum is a bound, `minutes` is no schedule."""
    result = {"instance": data["name"], "bound": 0.0, "sense": "min", "status": "optimal"}
    relaxed = {"job": [], "cell": [], "gpus": [], "minutes": []}
    if not data["jobs"]["name"]:
        return {**result, "relaxed": relaxed}
    problem, y = build(data, cells)
    options = {"primal_feasibility_tolerance": 1e-9} | ({"time_limit": time_limit} if time_limit is not None else {})
    problem.solve(solver=cp.HIGHS, **options)
    if problem.status != "optimal":
        return {**result, "bound": None, "status": WORDS.get(problem.status, problem.status), "relaxed": relaxed}
    job, cell, gpus, *_ = table(data, cells)
    used = y.value > 1e-9
    names = [data["jobs"]["name"][j] for j in job[used]]
    columns = (names, cell[used].tolist(), gpus[used].astype(int).tolist(), y.value[used].tolist())
    return {**result, "bound": float(problem.value), "relaxed": dict(zip(relaxed, columns, strict=True))}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Bound an mlcluster instance from below with CVXPY and HiGHS.")
    parser.add_argument("instance", type=Path, help="an mlcluster .json or .json.gz file")
    parser.add_argument("--cells", type=int, default=1, metavar="K", help="cells of each slot")
    parser.add_argument("--time-limit", type=float, metavar="S", help="stop HiGHS after S seconds")
    args = parser.parse_args()
    print(json.dumps(solve(load(args.instance), args.cells, args.time_limit), indent=2))

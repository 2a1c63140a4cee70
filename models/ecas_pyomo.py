"""Energy-cost aware scheduling with machines that are switched on and off, as an integer program on one page.

Simonis, O'Sullivan, Mehta, Hurley, De Cauwer, "Energy-Cost Aware Scheduling/Forecasting Competition", CSPLib 059.
Run `python models/ecas_pyomo.py INSTANCE [--time-limit S]`; INSTANCE is an ecas .json[.gz] file.

    j, m, t, r   jobs, machines, slots, resources      x_jmt  job j starts on machine m in slot t
    d, e, l, p   duration, arrival, deadline, kW       v_mt   machine m is on in slot t (0 before the first)
    u_jr, c_mr   use, capacity                         y_mt   it is switched on at the beginning of slot t
    h, f_t       slot [h], worth of a kWh

    min  sum x_jmt p_j h (f_t + ... + f_t+d-1) + sum v_mt idle_m h f_t + sum y_mt (up_m + down_m)
    s.t. sum_mt x_jmt = 1                                    each j
         sum of u_jr x_jmt' over runs in t <= c_mr v_mt      each m, t, r
         sum of x_jmt' over runs in t <= v_mt                each j, m, t
         v_mt - v_m,t-1 <= y_mt                              each m, t

Everything is off at last, so a machine is stopped as often as it is started: one variable pays for both.
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


def build(data: dict) -> pyo.ConcreteModel:
    """Build the program."""
    jobs, machines, time = data["jobs"], data["machines"], data["time"]
    weights = (data.get("objective") or {}).get("weights") or {}
    h, d = time.get("slot_hours", 1.0), jobs["duration"]
    f = [weights.get("cost", 1.0) * price for price in data["price_per_kwh"]]
    if data["carbon"]["zones"]:
        [grams] = data["carbon"]["g_per_kwh"]
        f = [worth + weights.get("carbon_kg", 0.0) * g / 1000 for worth, g in zip(f, grams, strict=True)]
    m = pyo.ConcreteModel(data["name"])
    m.J, m.M, m.T = range(len(jobs["name"])), range(len(machines["name"])), range(time["slots"])
    m.R = list(jobs["use"])
    fixed = jobs.get("machine") or [None] * len(jobs["name"])
    starts = [(j, i, t) for j in m.J for i in m.M for t in range(jobs["arrival"][j], jobs["deadline"][j] - d[j] + 1)]
    starts = [(j, i, t) for j, i, t in starts if fixed[j] in (None, machines["name"][i])]
    m.x = pyo.Var(starts, within=pyo.Binary)
    m.v = pyo.Var(m.M, m.T, within=pyo.Binary)
    m.y = pyo.Var(m.M, m.T, within=pyo.Binary)
    runs = {(j, i, t): [] for j in m.J for i in m.M for t in m.T}  # starts with which j runs on i in t
    for j, i, s in starts:
        for t in range(s, s + d[j]):
            runs[j, i, t].append(s)

    for i, row in enumerate(machines.get("available") or []):
        for t in m.T:
            m.v[i, t].setub(row[t])

    @m.Constraint(m.J)
    def placed(m, j):
        places = [m.x[k] for k in starts if k[0] == j]
        return sum(places) == 1 if places else pyo.Constraint.Infeasible

    @m.Constraint(m.M, m.T, m.R)
    def capacity(m, i, t, r):
        used = sum(jobs["use"][r][j] * m.x[j, i, s] for j in m.J for s in runs[j, i, t])
        return used <= machines["capacity"][r][i] * m.v[i, t]

    @m.Constraint(m.J, m.M, m.T)
    def running(m, j, i, t):
        return sum(m.x[j, i, s] for s in runs[j, i, t]) <= m.v[i, t] if runs[j, i, t] else pyo.Constraint.Skip

    @m.Constraint(m.M, m.T)
    def switched(m, i, t):
        return m.v[i, t] - (m.v[i, t - 1] if t else 0) <= m.y[i, t]

    energy = sum(jobs["power_kw"][j] * h * sum(f[t : t + d[j]]) * m.x[j, i, t] for j, i, t in starts)
    idle = sum(machines["idle_kw"][i] * h * f[t] * m.v[i, t] for i in m.M for t in m.T)
    changes = sum((machines["up_cost"][i] + machines["down_cost"][i]) * m.y[i, t] for i in m.M for t in m.T)
    m.objective = pyo.Objective(expr=energy + idle + changes)
    return m


def solve(data: dict, time_limit: float | None = None) -> dict:
    """Solve for at most time_limit [s] after the build."""
    m = build(data)
    # At this tolerance, restarts have cut off optima.
    options = {"mip_rel_gap": 0.0, "mip_feasibility_tolerance": 1e-9, "mip_allow_restart": False}
    result = pyo.SolverFactory("highs").solve(m, timelimit=time_limit, options=options, load_solutions=False)
    status, value, rows = str(result.solver.termination_condition), None, []
    if status == "optimal":
        m.solutions.load_from(result)
        value = pyo.value(m.objective)
        names, machines = data["jobs"]["name"], data["machines"]["name"]
        rows = [(names[j], machines[i], t) for j, i, t in m.x if m.x[j, i, t].value > 0.5]
    words = {"maxTimeLimit": "time_limit", "infeasibleOrUnbounded": "infeasible"}  # no cost is without bound here
    columns = {name: [row[k] for row in rows] for k, name in enumerate(("job", "machine", "start"))}
    told = {"instance": data["name"], "objective": value, "sense": "min", "status": words.get(status, status)}
    return told | {"schedule": columns}


if __name__ == "__main__":
    logging.getLogger("pyomo").setLevel(logging.ERROR)  # Pyomo warns on stdout, which is for the JSON
    parser = argparse.ArgumentParser(description="Solve an ecas instance with Pyomo and HiGHS.")
    parser.add_argument("instance", type=Path, help="an ecas .json or .json.gz file")
    parser.add_argument("--time-limit", type=float, metavar="S", help="stop HiGHS after S seconds")
    args = parser.parse_args()
    print(json.dumps(solve(load(args.instance), args.time_limit), indent=2))

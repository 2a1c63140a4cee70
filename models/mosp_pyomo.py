"""Caspian's scheduling and placement of jobs on clusters: the paper's algebra on one page.

Bahreini, Tantawi, Tardieu, "Caspian: A Carbon-aware Workload Scheduler in Multi-Cluster Kubernetes Environments".
Run `python models/mosp_pyomo.py INSTANCE [--lp] [--time-limit S]`; INSTANCE is a mosp .json or .json.gz file.

    i, j, r, t    jobs, clusters, resources, slots 0..T-1 (the paper counts slots from 1)
    r_ir, l_i     demand [units], duration [slots]             C_jr^t   capacity [units]
    d_i, a_ij     deadline [slots]; 1 if i may run on j        I_j^t    carbon intensity [g/kWh]
    x_ijt, y_i    1 if i starts on j in t; 1 if i is left out  rho_jr   power [W per unit]

    tardiness_it  = max(0, t + l_i - d_i) [slots]              gamma(i,t)  = 1 + tardiness_it
    completion_it = t + l_i [slots]                            lambda(i,t) = 1 + completion_it

    caspian   max  omega_1 Z1/Zbar1 + omega_2 Z2/Zbar2 + omega_3 Z3/Zbar3,   Zbar_k = LP optimum of Z_k alone
              Z1 = sum_jrt load_jrt / (C_jr^t I_j^t rho_jr),   Z2 = sum x/gamma,   Z3 = sum x/lambda
    carbon    min  sum (w_1 carbon_ijt + w_2 tardiness_it + w_3 completion_it + w_4 energy_cost_ijt) x_ijt
                   + price sum y_i
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


def capacity(data: dict, j: int, r: str, t: int) -> float:
    """C_jr^t [units]; the file has one number or a list over the slots."""
    units = data["clusters"]["capacity"][r][j]
    return units[t] if isinstance(units, list) else units


def usage(data: dict, i: int, j: int, t: int) -> list[tuple[float, float, float, float]]:
    """(r_ir, C_jr, I_j, rho_jr) [units, units, g/kWh, W per unit], by resource and slot, of job i on j from slot t."""
    clusters, zone = data["clusters"], data["carbon"]["zones"].index(data["clusters"]["zone"][j])
    grams, run = data["carbon"]["g_per_kwh"][zone], range(t, t + data["jobs"]["duration"][i])
    used = {r: units[i] for r, units in data["jobs"]["demand"].items() if units[i] > 0}
    return [(used[r], capacity(data, j, r, s), grams[s], clusters["watts_per_unit"][r][j]) for r in used for s in run]


def times(data: dict, i: int, t: int) -> tuple[float, float]:
    """(tardiness, completion) [slots] of job i if it starts in slot t."""
    completion = t + data["jobs"]["duration"][i]
    return max(0, completion - data["jobs"]["deadline"][i]), completion


def cost(data: dict, i: int, j: int, t: int) -> float:
    """Weighted carbon [kg], tardiness [slots] and completion [slots] of job i on cluster j from slot t."""
    w, hours = data["objective"]["weights"], data["time"].get("slot_hours", 1.0)
    tardiness, completion = times(data, i, t)
    kg = sum(units * watts / 1000 * hours * grams / 1000 for units, _, grams, watts in usage(data, i, j, t))
    time = w["tardiness_slots"] * tardiness + w["completion_slots"] * completion
    return w["carbon_kg"] * kg + time + w.get("energy_cost", 0) * energy_cost(data, i, j, t)


def energy_cost(data: dict, i: int, j: int, t: int) -> float:
    """Cost of the energy of job i on cluster j from slot t [currency]; 0 without a price."""
    if data.get("energy_price") is None:
        return 0.0
    clusters, tariff = data["clusters"], data["energy_price"]
    price = tariff["per_kwh"][tariff["zones"].index(clusters["zone"][j])]
    watts = sum(units[i] * clusters["watts_per_unit"][r][j] for r, units in data["jobs"]["demand"].items())
    run = range(t, t + data["jobs"]["duration"][i])
    return watts / 1000 * data["time"].get("slot_hours", 1.0) * sum(price[s] for s in run)


def merits(data: dict, i: int, j: int, t: int) -> tuple[float, float, float]:
    """Return what x_ijt = 1 adds to (Z1, Z2, Z3), Z1 in 1/(g/kWh W per unit); a slot without capacity adds 0."""
    used, (tardiness, completion) = usage(data, i, j, t), times(data, i, t)
    if any(grams * watts == 0 for _, _, grams, watts in used):
        raise ValueError(f"Z1 divides by I rho, which is 0 under job {i} on cluster {j} from slot {t}")
    z1 = sum(units / (limit * grams * watts) for units, limit, grams, watts in used if limit > 0)
    return z1, 1 / (1 + tardiness), 1 / (1 + completion)


def feasible(data: dict, relax: bool = False) -> pyo.ConcreteModel:
    """Build the model without an objective: constraints (5) to (7) and, unless relaxed, (8)."""
    jobs, clusters, horizon = data["jobs"], data["clusters"]["name"], data["time"]["slots"]
    demand, length, eligible = jobs["demand"], jobs["duration"], jobs.get("eligible")
    must_run = data["objective"]["kind"] == "carbon" and data["objective"].get("rejection_price") is None
    m = pyo.ConcreteModel(data["name"])
    m.I, m.J, m.R, m.T = range(len(jobs["name"])), range(len(clusters)), list(demand), range(horizon)
    window = [range(jobs["arrival"][i], horizon - length[i] + 1) for i in m.I]
    allowed = [[j for j in m.J if eligible is None or clusters[j] in eligible[i]] for i in m.I]  # x_ijt <= a_ij
    m.X = pyo.Set(dimen=3, initialize=[(i, j, t) for i in m.I for j in allowed[i] for t in window[i]])
    m.x = pyo.Var(m.X, bounds=(0, 1), domain=pyo.Reals if relax else pyo.Binary)  # (8)
    m.y = pyo.Var(m.I, bounds=(0, 0 if must_run else 1))

    @m.Constraint(m.J, m.R, m.T)
    def within_capacity(m, j, r, t):  # (5)  sum_i r_ir sum_{t' in (t - l_i, t]} x_ijt' <= C_jr^t
        users = [i for i in m.I if demand[r][i] > 0]
        load = [demand[r][i] * m.x[i, j, s] for i in users for s in range(t - length[i] + 1, t + 1) if (i, j, s) in m.X]
        return sum(load) <= capacity(data, j, r, t) if load else pyo.Constraint.Skip

    @m.Constraint(m.I)
    def placed_once(m, i):  # (6)  sum_jt x_ijt <= 1, y_i its slack; = 1 where every job must run
        return sum(m.x[i, j, t] for j in allowed[i] for t in window[i]) + m.y[i] == 1

    settled = data.get("fixed") or {"job": [], "cluster": [], "start": []}
    columns = (settled["job"], settled["cluster"], settled["start"])
    kept = {(jobs["name"].index(i), clusters.index(j), t) for i, j, t in zip(*columns, strict=True)}

    @m.Constraint(kept)
    def runs_already(m, i, j, t):  # x_ijt = 1 for jobs that run already; they are no starts in (S)
        return m.x[i, j, t] == 1

    if (most := data["clusters"].get("max_starts_per_slot")) is not None:

        @m.Constraint(m.J, m.T)
        def few_starts(m, j, t):  # (S)  sum_i x_ijt <= S_j, one number or one for each cluster
            started = [m.x[i, j, t] for i in m.I if (i, j, t) in m.X and (i, j, t) not in kept]
            return sum(started) <= (most[j] if isinstance(most, list) else most) if started else pyo.Constraint.Skip

    return m


def normalizers(data: dict) -> tuple[float, float, float]:
    """(Zbar1, Zbar2, Zbar3): those in the file, or else the LP optimum of each Z_k alone, in the units of `merits`."""
    if (given := data["objective"].get("normalizers")) is not None:
        return given["z1"], given["z2"], given["z3"]
    m, best = feasible(data, relax=True), []
    for k in range(3):
        z = {ijt: merits(data, *ijt)[k] for ijt in m.X}
        top = max(z.values(), default=0) or 1  # Z1 can be 1e-6: scaled, it is clear of the LP's tolerances
        m.del_component("objective")
        m.objective = pyo.Objective(expr=sum(z[ijt] / top * m.x[ijt] for ijt in m.X), sense=pyo.maximize)
        best.append(top * pyo.value(m.objective) if z and optimize(m) == "optimal" else 0.0)
    return best[0], best[1], best[2]


def build(data: dict, relax: bool = False) -> pyo.ConcreteModel:
    """Build the whole program of the instance's objective, or its LP relaxation."""
    m, objective = feasible(data, relax), data["objective"]
    if objective["kind"] == "carbon":
        left_out = (objective.get("rejection_price") or 0) * sum(m.y.values())
        m.objective = pyo.Objective(expr=sum(cost(data, *ijt) * m.x[ijt] for ijt in m.X) + left_out)
        return m
    # omega/Zbar; Algorithm 2 as printed would give omega*Zbar. A Z_k that can only be 0 counts 0.
    weight = [objective["weights"][f"z{k}"] / zbar if zbar else 0 for k, zbar in enumerate(normalizers(data), start=1)]
    gain = {ijt: sum(w * z for w, z in zip(weight, merits(data, *ijt), strict=True)) for ijt in m.X}
    m.objective = pyo.Objective(expr=sum(gain[ijt] * m.x[ijt] for ijt in m.X), sense=pyo.maximize)
    return m


def optimize(m: pyo.ConcreteModel, time_limit: float | None = None) -> str:
    """Run HiGHS to a closed gap and load what it found: "optimal", "infeasible", "time_limit" or HiGHS's own word."""
    options = {"mip_rel_gap": 0.0, "mip_abs_gap": 0.0, "primal_feasibility_tolerance": 1e-9}
    result = pyo.SolverFactory("highs").solve(m, timelimit=time_limit, options=options, load_solutions=False)
    if len(result.solution):
        m.solutions.load_from(result)
    return str(result.solver.termination_condition).replace("maxTimeLimit", "time_limit")


def solve(data: dict, relax: bool = False, time_limit: float | None = None) -> dict:
    """Solve for at most time_limit [s] after the build; relaxed, `share` is the part of the job placed there."""
    m = build(data, relax)
    unknowns = list(m.component_data_objects(pyo.Var))
    status = optimize(m, time_limit) if data["jobs"]["name"] else "optimal"
    found = status == "optimal" or (status == "time_limit" and not relax and all(v.value is not None for v in unknowns))
    for v in unknowns if found and not relax else []:
        v.set_value(round(v.value))
    objective, sense = pyo.value(m.objective) if found else None, "min" if m.objective.is_minimizing() else "max"
    job, cluster = data["jobs"]["name"], data["clusters"]["name"]
    rows = [(job[i], cluster[j], t, m.x[i, j, t].value) for i, j, t in m.X if found and m.x[i, j, t].value > 1e-9]
    columns = ["job", "cluster", "start", "share"] if relax else ["job", "cluster", "start"]
    schedule = {column: [row[k] for row in rows] for k, column in enumerate(columns)}
    return {"instance": data["name"], "objective": objective, "sense": sense, "status": status, "schedule": schedule}


if __name__ == "__main__":
    logging.getLogger("pyomo").setLevel(logging.ERROR)  # Pyomo warns on stdout, which is for the JSON
    parser = argparse.ArgumentParser(description="Solve a mosp instance exactly with Pyomo and HiGHS.")
    parser.add_argument("instance", type=Path, help="a mosp .json or .json.gz file")
    parser.add_argument("--lp", action="store_true", help="solve the LP relaxation: drop (8)")
    parser.add_argument("--time-limit", type=float, metavar="S", help="stop HiGHS after S seconds")
    args = parser.parse_args()
    print(json.dumps(solve(load(args.instance), relax=args.lp, time_limit=args.time_limit), indent=2))

"""CarbonFlex's elastic allocation of servers to jobs on one cluster: the program's algebra on one page.

Hanafy, Wu, Irwin, Shenoy, "CarbonFlex: Enabling Carbon-aware Provisioning and Scheduling for Cloud Clusters".
Run `python models/elastic_pyomo.py INSTANCE [--time-limit S]`; INSTANCE is an elastic .json or .json.gz file.

    j, t          jobs, slots 0..T-1                     u     units of a job: 0 is its k_min servers, u >= 1 one more
    a_j, l_j, d_j arrival, length, slack [slots]         W_j   window {a_j, .., a_j + ceil(l_j) + d_j - 1}
    w_ju          servers of a unit: k_min or 1          p_ju  its gain, slots of work a slot: 1 = p_j0 >= p_j1 >= ..
    e_ju          its energy in a slot [kWh]             CI_t  carbon intensity [g/kWh]       M_t  servers
    y_jtu         1 if unit u of j is on in t            s_jt  servers of j in t, 0 outside W_j

    min  sum CI_t e_ju y_jtu + price sum |s_jt - s_j,t-1|    [g], price [g per server started or stopped]
    s.t. work_j         sum_tu p_ju y_jtu >= l_j             whole units are paid, work beyond l_j is allowed
         capacity_t     sum_ju w_ju y_jtu <= M_t
         precedence_jtu y_jtu <= y_jt,u-1

    e_ju = (marginal_watts_u + eta_net marginal_gbps_u) / 1000 * slot_hours, the network's share by (2)-(3)

Model "integer": y binary. Model "fluid": y in [0, 1] and no price; y_jtu - y_jt,u+1 is the share of t with u on top.
"""

import argparse
import gzip
import json
import logging
from math import ceil
from pathlib import Path

import pyomo.environ as pyo

ALLOWANCE = 1e-9  # relative: work of l_j (1 - ALLOWANCE) is done, a load of M_t (1 + ALLOWANCE) is within capacity


def load(path: str | Path) -> dict:
    """Read the instance in a .json or .json.gz file."""
    with (gzip.open if str(path).endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def window(data: dict, j: int) -> range:
    """W_j, which ends by slot T; half-open, where Algorithm 1 as printed runs one slot longer."""
    jobs = data["jobs"]
    slots = range(jobs["arrival"][j], jobs["arrival"][j] + ceil(jobs["length"][j] * (1 - ALLOWANCE)) + jobs["slack"][j])
    if slots.stop > data["time"]["slots"]:
        raise ValueError(f"job {jobs['name'][j]!r} has until slot {slots.stop}, after the last slot's end")
    return slots


def units(data: dict, j: int) -> list[tuple[int, float, float]]:
    """(w_ju, p_ju, e_ju) [servers, slots of work a slot, kWh in a slot] by unit of job j."""
    profile = data["profiles"][data["jobs"]["profile"][j]]
    gains, watts, gbps = (profile.get(f"marginal_{name}") for name in ("throughput", "watts", "gbps"))
    eta_net, hours = data["cluster"].get("network_watts_per_gbps", 0), data["time"].get("slot_hours", 1.0)
    power = [own + eta_net * moved for own, moved in zip(watts, gbps or [0] * len(watts), strict=True)]  # (2)-(3)
    servers = [profile.get("k_min", 1), *[1] * (len(gains) - 1)]
    return [(w, p, each / 1000 * hours) for w, p, each in zip(servers, gains, power, strict=True)]


def build(data: dict) -> pyo.ConcreteModel:
    """Build the program: the unit formulation if the model is "integer", its relaxation if it is "fluid"."""
    jobs, horizon, limit = data["jobs"], data["time"]["slots"], data["cluster"]["capacity"]
    grams = data["carbon"]["g_per_kwh"][data["carbon"]["zones"].index(data["cluster"]["zone"])]
    price, domain = switching_price(data), {"fluid": pyo.Reals, "integer": pyo.Binary}[data["model"]]
    m = pyo.ConcreteModel(data["name"])
    m.J, m.T = range(len(jobs["name"])), range(horizon)
    w, p, e = ([[unit[k] for unit in units(data, j)] for j in m.J] for k in range(3))
    m.W, m.U = [window(data, j) for j in m.J], [range(len(p[j])) for j in m.J]
    m.Y = pyo.Set(dimen=3, initialize=[(j, t, u) for j in m.J for t in m.W[j] for u in m.U[j]])
    m.y = pyo.Var(m.Y, bounds=(0, 1), domain=domain)

    @m.Constraint(m.J)
    def work(m, j):
        return sum(p[j][u] * m.y[j, t, u] for t in m.W[j] for u in m.U[j]) >= jobs["length"][j] * (1 - ALLOWANCE)

    @m.Expression(m.J, range(-1, horizon + 1))
    def servers(m, j, t):  # s_jt
        return sum(w[j][u] * m.y[j, t, u] for u in m.U[j]) if t in m.W[j] else 0

    @m.Constraint(m.T)
    def capacity(m, t):
        running = [m.servers[j, t] for j in m.J if t in m.W[j]]
        most = limit[t] if isinstance(limit, list) else limit
        return sum(running) <= most * (1 + ALLOWANCE) if running else pyo.Constraint.Skip

    @m.Constraint(m.Y)
    def precedence(m, j, t, u):  # redundant only where k_min = 1, p does not increase and e does not decrease in u
        return m.y[j, t, u] <= m.y[j, t, u - 1] if u > 0 else pyo.Constraint.Skip

    edges = [(j, t) for j in m.J for t in range(m.W[j].start, m.W[j].stop + 1)] if price else []
    m.E = pyo.Set(dimen=2, initialize=edges)
    m.change = pyo.Expression(m.E, rule=lambda m, j, t: m.servers[j, t] - m.servers[j, t - 1])
    m.z = pyo.Var(m.E, within=pyo.NonNegativeReals)  # |s_jt - s_j,t-1|
    m.started = pyo.Constraint(m.E, rule=lambda m, j, t: m.z[j, t] >= m.change[j, t])
    m.stopped = pyo.Constraint(m.E, rule=lambda m, j, t: m.z[j, t] >= -m.change[j, t])

    carbon = sum(grams[t] * e[j][u] * m.y[j, t, u] for j, t, u in m.Y)
    m.objective = pyo.Objective(expr=carbon + price * sum(m.z.values()))
    return m


def switching_price(data: dict) -> float:
    """Grams for each server that starts or stops; the file may leave it out."""
    price = (data.get("objective") or {}).get("switching_g_per_server") or 0
    if price and data["model"] == "fluid":
        raise ValueError("switching_g_per_server needs the model 'integer': time-shared levels have no count of starts")
    return price


def optimize(m: pyo.ConcreteModel, time_limit: float | None = None) -> str:
    """Run HiGHS to a closed gap and load what it found: "optimal", "infeasible", "time_limit" or HiGHS's own word."""
    options = {"mip_rel_gap": 0.0, "mip_abs_gap": 0.0, "primal_feasibility_tolerance": 1e-9}
    result = pyo.SolverFactory("highs").solve(m, timelimit=time_limit, options=options, load_solutions=False)
    if len(result.solution):
        m.solutions.load_from(result)
    words = {"maxTimeLimit": "time_limit", "infeasibleOrUnbounded": "infeasible"}  # no cost is without bound here
    return words.get(str(result.solver.termination_condition), str(result.solver.termination_condition))


def solve(data: dict, time_limit: float | None = None) -> dict:
    """Solve for at most time_limit [s] after the build; a fluid schedule has the `share` of the slot at `servers`."""
    fluid, job, m = data["model"] == "fluid", data["jobs"]["name"], build(data)
    status = optimize(m, time_limit) if job else "optimal"
    valued = all(y.value is not None for y in m.y.values())
    found = status == "optimal" or (status == "time_limit" and not fluid and valued)
    if found and not fluid:
        for y in m.y.values():
            y.set_value(round(y.value))
        for j, t in m.E:
            m.z[j, t].set_value(abs(pyo.value(m.change[j, t])))
    rows = []
    for j, t, u in m.Y if found else []:
        above = m.y[j, t, u + 1].value if (j, t, u + 1) in m.Y else 0
        if (share := m.y[j, t, u].value - above) > 1e-9:
            rows.append((job[j], t, sum(w for w, _, _ in units(data, j)[: u + 1]), share))
    columns = ["job", "slot", "servers", "share"] if fluid else ["job", "slot", "servers"]
    schedule = {column: [row[k] for row in rows] for k, column in enumerate(columns)}
    objective = pyo.value(m.objective) if found else None
    return {"instance": data["name"], "objective": objective, "sense": "min", "status": status, "schedule": schedule}


if __name__ == "__main__":
    logging.getLogger("pyomo").setLevel(logging.ERROR)  # Pyomo warns on stdout, which is for the JSON
    parser = argparse.ArgumentParser(description="Solve an elastic instance exactly with Pyomo and HiGHS.")
    parser.add_argument("instance", type=Path, help="an elastic .json or .json.gz file")
    parser.add_argument("--time-limit", type=float, metavar="S", help="stop HiGHS after S seconds")
    args = parser.parse_args()
    print(json.dumps(solve(load(args.instance), time_limit=args.time_limit), indent=2))

"""CarbonFlex's elastic allocation, fluid model: the linear program in matrices on one page.

Hanafy, Wu, Irwin, Shenoy, "CarbonFlex: Enabling Carbon-aware Provisioning and Scheduling for Cloud Clusters".
Run `python models/elastic_cvxpy.py INSTANCE [--time-limit S]`; INSTANCE is an elastic .json or .json.gz file.

A row of the table is a unit u of a job j in a slot t of its window: u = 0 is its k_min servers, u >= 1 one more.

    y   N      share of the slot in which the unit is on        c   N      carbon of the unit, whole slot [g]
    P   J x N  gain of the unit, in the row of its job          l   J      work [slots at k_min]
    W   T x N  servers of the unit, in the row of its slot      M   T      capacity [servers]
    D   . x N  for each u >= 1: 1 at the unit, -1 at unit u - 1 of the same job and slot

    min c y   subject to   P y >= l,   W y <= M,   D y <= 0,   0 <= y <= 1

    c = CI_t e_ju,   e_ju = (marginal_watts_u + eta_net marginal_gbps_u) / 1000 * slot_hours, the network by (2)-(3)

The integer model, and with it the price of switching, is in elastic_pyomo.py. `least_risk` states the integer model for
uncertain carbon, with y in {0, 1} and c^s the carbon in scenario s: the tail mean of c^s y, or the mean of c^s y with
the Gamma largest rises of a slot.
"""

import argparse
import gzip
import json
from pathlib import Path

import cvxpy as cp
import numpy as np
from scipy.sparse import csr_array

ALLOWANCE = 1e-9  # relative: work of l (1 - ALLOWANCE) is done, a load of M (1 + ALLOWANCE) is within capacity
WORDS = {"user_limit": "time_limit", "infeasible_or_unbounded": "infeasible"}  # no cost is without bound here


def load(path: str | Path) -> dict:
    """Read the instance in a .json or .json.gz file."""
    with (gzip.open if str(path).endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def table(data: dict) -> tuple[np.ndarray, ...]:
    """(job, slot, unit, servers, gain, kWh) by row: units of a job and slot are next to each other, in order."""
    jobs, hours, eta_net = (
        data["jobs"],
        data["time"].get("slot_hours", 1.0),
        data["cluster"].get("network_watts_per_gbps"),
    )
    rows = []
    for j, name in enumerate(jobs["profile"]):
        profile, start = data["profiles"][name], jobs["arrival"][j]
        gain, watts = profile["marginal_throughput"], np.array(profile["marginal_watts"], dtype=float)
        kwh = (watts + (eta_net or 0) * np.array(profile.get("marginal_gbps") or 0)) / 1000 * hours
        end = start + int(np.ceil(jobs["length"][j] * (1 - ALLOWANCE))) + jobs["slack"][j]  # the window is half-open
        if end > data["time"]["slots"]:
            raise ValueError(f"job {jobs['name'][j]!r} has until slot {end}, after the last slot's end")
        servers = [profile.get("k_min", 1), *[1] * (len(gain) - 1)]
        rows += [(j, t, u, servers[u], gain[u], kwh[u]) for t in range(start, end) for u in range(len(gain))]
    job, slot, unit, servers, gain, kwh = np.array(rows, dtype=float).reshape(-1, 6).T
    return job.astype(int), slot.astype(int), unit.astype(int), servers.astype(int), gain, kwh


def build(data: dict) -> tuple[cp.Problem, cp.Variable]:
    """Build the linear program and its variable y."""
    job, slot, unit, servers, gain, kwh = table(data)
    jobs, slots, rows = len(data["jobs"]["name"]), data["time"]["slots"], np.arange(len(job))
    carbon = np.array(data["carbon"]["g_per_kwh"][data["carbon"]["zones"].index(data["cluster"]["zone"])])[slot] * kwh
    gains = csr_array((gain, (job, rows)), shape=(jobs, len(rows)))
    loads = csr_array((servers, (slot, rows)), shape=(slots, len(rows)))
    above = np.flatnonzero(unit)
    y = cp.Variable(len(rows), bounds=[0, 1])
    constraints = [
        gains @ y >= np.array(data["jobs"]["length"]) * (1 - ALLOWANCE),
        loads @ y <= np.broadcast_to(data["cluster"]["capacity"], slots) * (1 + ALLOWANCE),
        y[above] <= y[above - 1],
    ]
    return cp.Problem(cp.Minimize(carbon @ y), constraints), y


def least_risk(
    data: dict, scenarios: np.ndarray, level: float | None = None, pairs: float | None = None
) -> float | None:
    """Return the least CVaR at `level`, or the least worst case of `pairs` slots; None where there is no schedule.

    The signals have shape (S, Z, T) and are equally likely.
    """
    job, slot, unit, servers, gain, kwh = table(data)
    jobs, slots, rows = len(data["jobs"]["name"]), data["time"]["slots"], np.arange(len(job))
    signal = np.asarray(scenarios, dtype=float)[:, data["carbon"]["zones"].index(data["cluster"]["zone"])]
    energy = csr_array((kwh, (slot, rows)), shape=(slots, len(rows)))
    above = np.flatnonzero(unit)
    y = cp.Variable(len(rows), boolean=True)
    constraints = [
        csr_array((gain, (job, rows)), shape=(jobs, len(rows))) @ y
        >= np.array(data["jobs"]["length"]) * (1 - ALLOWANCE),
        csr_array((servers, (slot, rows)), shape=(slots, len(rows))) @ y
        <= np.broadcast_to(data["cluster"]["capacity"], slots) * (1 + ALLOWANCE),
        y[above] <= y[above - 1],
    ]
    if level is not None:
        cost = cp.cvar(signal @ energy @ y, level)
    else:
        mean = signal.mean(axis=0)
        risen = cp.multiply(signal.max(axis=0) - mean, energy @ y)
        all_rise = pairs >= risen.size  # cvxpy's own atom has no optimum then
        cost = mean @ energy @ y + (cp.sum(risen) if all_rise else cp.sum_largest(risen, pairs) if pairs else 0)
    problem = cp.Problem(cp.Minimize(cost), constraints)
    problem.solve(solver=cp.HIGHS, highs_options={"mip_rel_gap": 0.0})
    return float(problem.value) if problem.status == "optimal" else None


def solve(data: dict, time_limit: float | None = None) -> dict:
    """Solve for at most time_limit [s]; `share` of the slot is spent at `servers`."""
    if data["model"] != "fluid":
        raise ValueError(f"this page states the model 'fluid', not {data['model']!r}: use models/elastic_pyomo.py")
    if (data.get("objective") or {}).get("switching_g_per_server"):
        raise ValueError("switching_g_per_server needs the model 'integer': use models/elastic_pyomo.py")
    result = {"instance": data["name"], "objective": 0.0, "sense": "min", "status": "optimal"}
    schedule = {"job": [], "slot": [], "servers": [], "share": []}
    if not data["jobs"]["name"]:
        return {**result, "schedule": schedule}
    problem, y = build(data)
    options = {"primal_feasibility_tolerance": 1e-9} | ({"time_limit": time_limit} if time_limit is not None else {})
    problem.solve(solver=cp.HIGHS, **options)
    if problem.status != "optimal":
        status = WORDS.get(problem.status, problem.status)
        return {**result, "objective": None, "status": status, "schedule": schedule}
    job, slot, unit, servers, _, _ = table(data)
    share = y.value - np.append(y.value[1:] * (unit[1:] > 0), 0)  # of the slot with this unit on top
    running = share > 1e-9
    level = servers[np.arange(len(unit)) - unit] + unit  # k_min + u
    names = [data["jobs"]["name"][j] for j in job[running]]
    columns = (names, slot[running].tolist(), level[running].tolist(), share[running].tolist())
    return {**result, "objective": float(problem.value), "schedule": dict(zip(schedule, columns, strict=True))}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Solve an elastic instance of model fluid with CVXPY and HiGHS.")
    parser.add_argument("instance", type=Path, help="an elastic .json or .json.gz file")
    parser.add_argument("--time-limit", type=float, metavar="S", help="stop HiGHS after S seconds")
    args = parser.parse_args()
    print(json.dumps(solve(load(args.instance), time_limit=args.time_limit), indent=2))

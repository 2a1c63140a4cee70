"""GAIA's reserved, on-demand and spot CPUs: the offline program over slots, its algebra on one page.

Hanafy, Liang, Bashir, Souza, Irwin, Shenoy, "Going Green for Less Green: Optimizing the Cost of Reducing Cloud Carbon
Emissions". Run `python models/purchasing_pyomo.py INSTANCE [--time-limit S]`; INSTANCE is a purchasing .json(.gz) file.

    j, t           jobs, slots of delta hours               a_j, L_j, n_j, W_j   arrival, length, CPUs, longest wait
    c_t            carbon of a CPU [kg/h]                   p_od, p_res, p_sp    price of a CPU-hour [$]
    R, o_t         reserved CPUs, CPU-hours above them      h, H                 evictions an hour, horizon [h]
    b in B_j       breakpoints of start: a_j, a_j + W_j, edges of slots, edges - L_j
    x_jbk, y_jbk   1 if j starts at b or after it, on option k; y <= x is the part of the way to the next breakpoint,
                   0 where arrivals, lengths and waits are whole slots and nothing is limited: whole starts are best
    l_jbt          hours in slot t when started at b

    min  w_c carbon + w_p (usage + [R decided] p_res H R) + w_w wait
    s.t. one_j    sum_bk x_jbk = 1
         load_t   sum_jb n_j (l_jbt x_jb + (l_jb't - l_jbt) y_jb) <= R delta + o_t     on shared or on reserved CPUs
         limits   carbon, cost with what is prepaid, and mean wait, are at most what the file says
    splitting:    k = shared, o_t >= sum_jb (n_j - R)+ (...) too; usage p_od o_t          spot: one more option k
    no-split:     k = reserved (no o_t, n_j <= R) or on-demand (usage p_od n_j L_j)
    suspend-resume: y_jt hours of j in t, sum_t y_jt = L_j unless on spot; c_jt = 1 if j completes in t, wait_j =
                  sum_t (begin_jt - a_j - L_j) c_jt + hours in the slot of completion, no work after it
    spot:         usage n (p_sp (1 - e^-hL) / h + p_od L (1 - e^-hL)), wait + (1 - e^-hL) / h - L e^-hL, carbon
                  n (C(s, s+L) + int_0^L (e^-hu - e^-hL) c(s+L+u) du), at its best start s where nothing is limited
"""

import argparse
import gzip
import json
import logging
from itertools import pairwise
from math import exp, expm1, floor
from pathlib import Path

import pyomo.environ as pyo

TINY = 1e-9
COLUMNS = ("job", "start_hours", "end_hours", "option")


def load(path: str | Path) -> dict:
    """Read the instance in a .json or .json.gz file."""
    with (gzip.open if str(path).endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        return json.load(file)


class Data:
    """What the file says, under the names of the algebra."""

    def __init__(self, data: dict):
        jobs, prices = data["jobs"], data["prices"]
        self.name, self.model, self.delta = data["name"], data.get("model", "splitting"), data["time"]["slot_hours"]
        zones, zone = data["carbon"]["zones"], data.get("zone")
        grams = data["carbon"]["g_per_kwh"][0 if zone is None else zones.index(zone)]
        self.c = [g * data["watts_per_cpu"] / 1e6 for g in grams]
        self.J, self.T, self.H = range(len(jobs["name"])), range(len(grams)), len(grams) * self.delta
        self.jobs, self.a, self.L, self.n = jobs["name"], jobs["arrival_hours"], jobs["length_hours"], jobs["cpus"]
        queues = [(q["max_length_hours"] or float("inf"), q["max_wait_hours"]) for q in data["queues"].values()]
        self.W = [min(q for q in queues if q[0] >= length)[1] for length in self.L]
        self.p_od = prices["on_demand_usd_per_cpu_hour"]
        self.p_res, self.p_sp = (prices[f"{kind}_fraction"] * self.p_od for kind in ("reserved", "spot"))
        self.R, self.spot = data["reserved_cpus"], data.get("spot")
        self.h = self.spot["evictions_per_hour"] if self.spot else 0.0
        weights, limits = data["objective"]["weights"], data["objective"].get("limits") or {}
        self.w_c, self.w_p, self.w_w = weights["carbon_kg"], weights["cost_usd"], weights["wait_hours"]
        self.limits = {name: limit for name, limit in limits.items() if limit is not None}

    def on_spot(self, j: int) -> bool:
        """Whether job j may run on spot CPUs."""
        return self.spot is not None and self.L[j] <= self.spot["max_length_hours"]

    def whole(self) -> bool:
        """Whether arrivals, lengths and waits are whole slots: then whole slots are the best starts, too."""
        parts = [part / self.delta for part in (*self.a, *self.L, *self.W)]
        return all(abs(part - round(part)) < TINY for part in parts)

    def hours(self, j: int, s: float, t: int) -> float:
        """Hours of job j in slot t when it starts at s."""
        return max(0.0, min(s + self.L[j], (t + 1) * self.delta) - max(s, t * self.delta))

    def carbon(self, j: int, s: float) -> float:
        """Carbon of a run of job j from s [kg]."""
        return self.n[j] * sum(self.c[t] * self.hours(j, s, t) for t in self.T)

    def starts(self, j: int, times: tuple[int, ...] = (0, 1)) -> list[float]:
        """Breakpoints of the start of job j at which s, s + L_j, .. is an edge of a slot."""
        first, last = self.a[j], self.a[j] + self.W[j]
        edges = (t * self.delta - k * self.L[j] for t in range(len(self.c) + 1) for k in times)
        points = sorted([first, last, *(s for s in edges if first < s < last)])
        return [s for i, s in enumerate(points) if i == 0 or s > points[i - 1] + TINY]

    def spot_carbon(self, j: int, s: float) -> float:
        """Carbon of job j on spot CPUs from s, expected [kg]."""
        again, end, h, length = 0.0, s + self.L[j], self.h, self.L[j]
        for t in self.T if h else ():
            one, two = (min(max(edge * self.delta - end, 0.0), length) for edge in (t, t + 1))
            again += self.c[t] * ((exp(-h * one) - exp(-h * two)) / h - exp(-h * length) * (two - one))
        return self.carbon(j, s) + self.n[j] * again

    def spot_sums(self, j: int) -> tuple[float, float]:
        """Cost [$] and hours lost of job j on spot CPUs, expected."""
        chance = -expm1(-self.h * self.L[j])
        run = chance / self.h if self.h else self.L[j]
        lost = run - self.L[j] * exp(-self.h * self.L[j]) if self.h else 0.0
        return self.n[j] * (self.p_sp * run + self.p_od * self.L[j] * chance), lost

    def best_on_spot(self, j: int) -> float:
        """Start at which job j on spot CPUs costs least."""
        points = self.starts(j, (0, 1, 2))

        def cost(s: float) -> float:
            return self.w_c * self.spot_carbon(j, s) + self.w_w * s

        return min([*points, *(_least_between(cost, one, two) for one, two in pairwise(points))], key=cost)


def _least_between(cost, one: float, two: float) -> float:
    """Point of least cost between two breakpoints, if it is convex there."""
    for _ in range(200):
        left, right = one + (two - one) / 3, two - (two - one) / 3
        one, two = (one, right) if cost(left) < cost(right) else (left, two)
    return (one + two) / 2


def build(data: dict) -> pyo.ConcreteModel:
    """Build the program."""
    d = Data(data)
    if d.limits and d.h and any(d.on_spot(j) and d.W[j] > 0 for j in d.J):
        raise ValueError("limits with evictions are stated only where no job waits: carbon is not linear in the start")
    m = pyo.ConcreteModel(d.name)
    m.data = d
    most = 0 if d.model == "no-split" else None
    m.o = pyo.Var(d.T, bounds=(0, most))
    m.R = pyo.Var(domain=pyo.NonNegativeIntegers, bounds=(0, int(sum(d.n)) + 1))
    if d.R is not None:
        m.R.fix(d.R)
    runs = [(j, k) for j in d.J for k in options(d, j)]
    at = {jk: [d.best_on_spot(jk[0])] if jk[1] == "spot" and not d.limits else d.starts(jk[0]) for jk in runs}
    m.X = pyo.Set(dimen=3, initialize=[(j, k, i) for j, k in runs for i in range(len(at[j, k]))])
    m.x, m.y = pyo.Var(m.X, domain=pyo.Binary), pyo.Var(m.X, bounds=(0, 1))
    moves = d.limits or not d.whole()
    m.move = pyo.Constraint(m.X, rule=lambda m, j, k, i: m.y[j, k, i] <= (m.x[j, k, i] if moves else 0))
    m.starts = at

    def total(value, j, k):  # of what is linear between breakpoints
        points = [value(s) for s in at[j, k]]
        steps = [two - one for one, two in pairwise(points)] + [0.0]
        return sum(points[i] * m.x[j, k, i] + steps[i] * m.y[j, k, i] for i in range(len(points)))

    carbon, usage, wait = [], [d.p_od * m.o[t] for t in d.T], []
    use = {t: [] for t in d.T}  # CPU-hours that compete for reserved CPUs
    chosen = {j: [m.x[i] for i in m.X if i[0] == j] for j in d.J}
    for j, k in runs:
        if k == "spot":
            usd, lost = d.spot_sums(j)
            carbon.append(total(lambda s, j=j: d.spot_carbon(j, s), j, k))
        else:
            usd, lost = (d.p_od * d.n[j] * d.L[j] if k == "on-demand" else 0.0), 0.0
            carbon.append(total(lambda s, j=j: d.carbon(j, s), j, k))
        usage.append(usd * sum(m.x[j, k, i] for i in range(len(at[j, k]))))
        wait.append(total(lambda s, j=j, lost=lost: s - d.a[j] + lost, j, k))
        for t in d.T if k in ("shared", "reserved") else ():
            if any(d.hours(j, s, t) for s in at[j, k]):
                use[t].append((d.n[j], total(lambda s, j=j, t=t: d.hours(j, s, t), j, k)))
    if d.model == "suspend-resume":
        _pieces(m, d, chosen, carbon, wait, use)
    else:
        m.one = pyo.Constraint(d.J, rule=lambda _, j: sum(chosen[j]) == 1)
    for t, terms in use.items():  # of a job, n_j - R CPUs at least overflow: so where R is given it counts for less
        above = [] if d.R is None or d.model == "no-split" else [max(n - d.R, 0) * part for n, part in terms]
        usage.append(d.p_od * sum(above))
        below = sum((n if d.R is None else min(n, d.R)) * part for n, part in terms)
        m.add_component(f"load_{t}", pyo.Constraint(expr=below + 0 * m.o[t] <= m.R * d.delta + m.o[t]))
    m.carbon, m.wait = pyo.Expression(expr=sum(carbon)), pyo.Expression(expr=sum(wait))
    m.usage, m.prepaid = pyo.Expression(expr=sum(usage)), pyo.Expression(expr=d.p_res * d.H * m.R)
    decided = m.prepaid if d.R is None else 0
    m.objective = pyo.Objective(expr=d.w_c * m.carbon + d.w_p * (m.usage + decided) + d.w_w * m.wait)
    sums = {"carbon_kg": m.carbon, "cost_usd": m.usage + m.prepaid, "mean_wait_hours": m.wait / max(1, len(d.J))}
    m.limits = pyo.ConstraintList()
    for name, limit in d.limits.items():
        m.limits.add((0, sums[name] + 0 * m.R, limit))
    return m


def options(d: Data, j: int) -> list[str]:
    """Name what a whole run of job j may be on."""
    pool = {"splitting": ["shared"], "no-split": ["reserved", "on-demand"], "suspend-resume": []}[d.model]
    fits = d.R is None or d.n[j] <= d.R
    return [k for k in pool if fits or k != "reserved"] + (["spot"] if d.on_spot(j) else [])


def _pieces(m: pyo.ConcreteModel, d: Data, chosen: dict, carbon: list, wait: list, use: dict) -> None:
    """Hours of each job in each slot, and the slot of its completion."""
    span = {}  # hours of slot t in the window of j, and when they begin
    for j in d.J:
        for t in range(floor(d.a[j] / d.delta), len(d.c)):
            one, two = max(d.a[j], t * d.delta), min(d.a[j] + d.W[j] + d.L[j], (t + 1) * d.delta)
            if two > one + TINY:
                span[j, t] = (two - one, one)
    m.P = pyo.Set(dimen=2, initialize=list(span))
    m.work, m.late = pyo.Var(m.P, within=pyo.NonNegativeReals), pyo.Var(m.P, within=pyo.NonNegativeReals)
    m.done = pyo.Var(m.P, domain=pyo.Binary)
    slots = {j: [t for i, t in span if i == j] for j in d.J}
    on_spot = {j: sum(chosen[j]) for j in d.J}
    m.all_work = pyo.Constraint(d.J, rule=lambda m, j: sum(m.work[j, t] for t in slots[j]) == d.L[j] * (1 - on_spot[j]))
    m.once = pyo.Constraint(d.J, rule=lambda m, j: sum(m.done[j, t] for t in slots[j]) == 1 - on_spot[j])

    @m.Constraint(m.P)
    def open_until_done(m, j, t):
        return m.work[j, t] <= span[j, t][0] * sum(m.done[j, e] for e in slots[j] if e >= t)

    @m.Constraint(m.P)
    def hours_in_last(m, j, t):
        return m.late[j, t] >= m.work[j, t] - span[j, t][0] * (1 - m.done[j, t])

    for (j, t), (_, begin) in span.items():
        carbon.append(d.n[j] * d.c[t] * m.work[j, t])
        wait.append((begin - d.a[j] - d.L[j]) * m.done[j, t] + m.late[j, t])
        use[t].append((d.n[j], m.work[j, t]))


def solve(data: dict, time_limit: float | None = None) -> dict:
    """Solve for at most time_limit [s]; the objective is the program's, which bounds what a schedule costs."""
    m = build(data)
    d = m.data
    options = {"mip_rel_gap": 0.0, "mip_abs_gap": 0.0, "primal_feasibility_tolerance": 1e-9}
    status, rows, found = "optimal", [], not len(d.J)
    if len(d.J):
        result = pyo.SolverFactory("highs").solve(m, timelimit=time_limit, options=options, load_solutions=False)
        if found := bool(len(result.solution)):
            m.solutions.load_from(result)
        words = {"maxTimeLimit": "time_limit", "infeasibleOrUnbounded": "infeasible"}
        status = words.get(str(result.solver.termination_condition), str(result.solver.termination_condition))
    for j, k, i in m.X if found else ():
        if m.x[j, k, i].value > 0.5:
            at = m.starts[j, k]
            ahead = (m.y[j, k, i].value or 0.0) * ((at[i + 1] if i + 1 < len(at) else at[i]) - at[i])
            rows.append((d.jobs[j], at[i] + ahead, at[i] + ahead + d.L[j], k))
    found_objective = pyo.value(m.objective) if found and len(d.J) else (0.0 if found else None)
    return {
        "instance": d.name,
        "objective": found_objective,
        "sense": "min",
        "status": status,
        "reserved_cpus": round(pyo.value(m.R)) if found and len(d.J) else d.R,
        "runs": {
            name: [row[i] for row in rows] for i, name in enumerate(("job", "start_hours", "end_hours", "option"))
        },
    }


if __name__ == "__main__":
    logging.getLogger("pyomo").setLevel(logging.ERROR)  # Pyomo warns on stdout, which is for the JSON
    parser = argparse.ArgumentParser(description="Solve a purchasing instance over slots with Pyomo and HiGHS.")
    parser.add_argument("instance", type=Path, help="a purchasing .json or .json.gz file")
    parser.add_argument("--time-limit", type=float, metavar="S", help="stop HiGHS after S seconds")
    args = parser.parse_args()
    print(json.dumps(solve(load(args.instance), time_limit=args.time_limit), indent=2))

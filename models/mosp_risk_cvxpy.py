"""Caspian's placement for uncertain carbon: tail mean and budget of uncertainty, in matrices on one page.

Run `python models/mosp_risk_cvxpy.py INSTANCE SCENARIOS [--cvar 0.9 [--review 6] | --budget 6]`;
INSTANCE is a mosp .json file under the carbon objective, SCENARIOS a .json list of signals,
scenario x zone x slot [g/kWh], all equally likely.

A column is a placement (i, j, t) of job i on cluster j from slot t; y_i = 1 if job i is left out.

    x   N        1 if the placement is chosen      c   N        cost of time: tardiness and completion
    P   J x N    1 at the placements of a job      G   S x N    weighted carbon of each placement in each scenario
    U   . x N    units by cluster, resource, slot  E   Z T x N  weighted energy of each placement by zone and slot

    min  c x + price sum y + CVaR_alpha(G x)                              the mean of the worst 1 - alpha
    min  c x + price sum y + mean(G) x + sum of the Gamma largest of d E x   d: largest of all scenarios less the mean
    so that  P x + y = 1,   U x <= C,   x in {0, 1}

With a review v, x has a row for each scenario: x_s = x_0 at placements from before v, and each x_s keeps all rows.

    min  CVaR_alpha of (c + G_s) x_s + price sum y_s over s                alpha = 0: the expectation

Rockafellar and Uryasev 2000; Bertsimas and Sim 2004. Both measures are atoms here; the package writes them as rows.
"""

import argparse
import json
from pathlib import Path

import cvxpy as cp
import numpy as np


def columns(data: dict) -> list[tuple[int, int, int]]:
    """Every placement (i, j, t) that arrival, eligibility and the horizon allow."""
    jobs, names, slots = data["jobs"], data["clusters"]["name"], data["time"]["slots"]
    eligible = jobs.get("eligible")
    return [
        (i, j, t)
        for i in range(len(jobs["name"]))
        for j, name in enumerate(names)
        if eligible is None or name in eligible[i]
        for t in range(jobs["arrival"][i], slots - jobs["duration"][i] + 1)
    ]


def matrices(data: dict, scenarios: np.ndarray) -> tuple[np.ndarray, ...]:
    """(c, P, U, C, G, E) as above; U and C have a row for each cluster, resource and slot."""
    jobs, clusters, slots = data["jobs"], data["clusters"], data["time"]["slots"]
    weights, hours, places = data["objective"]["weights"], data["time"].get("slot_hours", 1.0), columns(data)
    zones, resources = data["carbon"]["zones"], list(jobs["demand"])
    many, few = len(clusters["name"]), len(resources)
    c, p = np.zeros(len(places)), np.zeros((len(jobs["name"]), len(places)))
    u, e = np.zeros((many, few, slots, len(places))), np.zeros((len(zones), slots, len(places)))
    for n, (i, j, t) in enumerate(places):
        end = t + jobs["duration"][i]
        late = max(0.0, end - jobs["deadline"][i])
        c[n], p[i, n] = weights["tardiness_slots"] * late + weights["completion_slots"] * end, 1
        for k, r in enumerate(resources):
            u[j, k, t:end, n] = jobs["demand"][r][i]
            kwh = jobs["demand"][r][i] * clusters["watts_per_unit"][r][j] / 1000 * hours
            e[zones.index(clusters["zone"][j]), t:end, n] += weights["carbon_kg"] * kwh / 1000
    room = [[np.broadcast_to(clusters["capacity"][r][j], slots) for r in resources] for j in range(many)]
    g = np.tensordot(scenarios, e, axes=([1, 2], [0, 1]))
    return c, p, u.reshape(-1, len(places)), np.array(room).reshape(-1), g, e.reshape(-1, len(places))


def build(data: dict, scenarios: np.ndarray, level: float | None, pairs: float | None) -> cp.Problem:
    """Build the program of CVaR at `level`, or of a budget of `pairs`."""
    c, p, u, room, g, e = matrices(data, scenarios)
    x, y = cp.Variable(len(c), boolean=True), cp.Variable(len(p), nonneg=True)
    price = data["objective"].get("rejection_price")
    rows = [p @ x + y == 1, u @ x <= room * (1 + 1e-9)] + ([y == 0] if price is None else [])
    certain = c @ x + (price or 0) * cp.sum(y)
    if level is not None:
        return cp.Problem(cp.Minimize(certain + cp.cvar(g @ x, level)), rows)
    rise = np.maximum(0, scenarios.max(axis=0) - scenarios.mean(axis=0)).reshape(-1)
    worst = largest(cp.multiply(rise, e @ x), pairs)
    return cp.Problem(cp.Minimize(certain + g.mean(axis=0) @ x + worst), rows)


def largest(terms: cp.Expression, count: float) -> cp.Expression | float:
    """Sum of the largest terms, the last one in part; cvxpy's own atom has no optimum once it takes all of them."""
    if count >= terms.size:
        return cp.sum(terms)
    whole, part = int(count), count - int(count)
    more = largest(terms, whole + 1) if part else 0.0
    return (1 - part) * (cp.sum_largest(terms, whole) if whole else 0.0) + part * more


def build_review(data: dict, scenarios: np.ndarray, level: float, review: int) -> cp.Problem:
    """Build the two-stage program of CVaR at `level`: what starts before `review` does so in all scenarios."""
    c, p, u, room, g, _ = matrices(data, scenarios)
    many = len(scenarios)
    x, y = cp.Variable((many, len(c)), boolean=True), cp.Variable((many, len(p)), nonneg=True)
    now = np.array([t < review for _, _, t in columns(data)])
    price = data["objective"].get("rejection_price")
    rows = [x @ p.T + y == 1, x @ u.T <= np.tile(room * (1 + 1e-9), (many, 1))] + ([y == 0] if price is None else [])
    rows += [x[s, now] == x[0, now] for s in range(1, many) if now.any()]
    costs = cp.sum(cp.multiply(c + g, x), axis=1) + (price or 0) * cp.sum(y, axis=1)
    return cp.Problem(cp.Minimize(cp.cvar(costs, level)), rows)


def solve(
    data: dict,
    scenarios: np.ndarray,
    level: float | None = None,
    pairs: float | None = None,
    review: int | None = None,
) -> float | None:
    """Return the optimum, None where there is no schedule."""
    signals = np.asarray(scenarios, dtype=float)
    if review is None:
        problem = build(data, signals, level, pairs)
    else:
        problem = build_review(data, signals, level or 0.0, review)
    problem.solve(solver=cp.HIGHS, highs_options={"mip_rel_gap": 0.0})
    return float(problem.value) if problem.status == "optimal" else None


def main() -> None:
    """Solve the instance that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("instance", type=Path)
    parser.add_argument("scenarios", type=Path)
    parser.add_argument("--cvar", type=float)
    parser.add_argument("--budget", type=float)
    parser.add_argument("--review", type=int)
    asked = parser.parse_args()
    if (asked.cvar is None) == (asked.budget is None):
        parser.error("name one of --cvar and --budget")
    if asked.review is not None and asked.cvar is None:
        parser.error("--review needs --cvar; 0 is the expectation")
    data, scenarios = json.loads(asked.instance.read_text()), json.loads(asked.scenarios.read_text())
    print(solve(data, np.array(scenarios), asked.cvar, asked.budget, asked.review))


if __name__ == "__main__":
    main()

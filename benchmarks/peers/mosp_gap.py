"""Solve one mosp instance with the method `price`, HiGHS and CP-SAT in equal time, and compare the gaps.

    python benchmarks/peers/mosp_gap.py --jobs 200 --clusters 3 --slots 48 --seed 1 --time-limit 20 [-o results.json]

    price         carbonopt's slot prices and search
    lp-rounding   carbonopt's rounding of the LP relaxation
    milp          HiGHS on the whole program, from the best schedule that insertion and rounding find
    highs         HiGHS on the whole program, alone
    cp-sat        OR-Tools CP-SAT, one optional interval a job and cluster; costs in millionths. Left out, and said so,
                  where ortools cannot be imported.

Each line is a process of its own with one thread; highspy and ortools cannot share one anyway. CPU seconds are of the
process from the instance in memory on, building the program included; loops are compiled, or loaded from numba's
cache, on a small instance before. Schedules pass the checker. "gap" is to the best proven bound of all lines, "own
gap" to the line's own; "peak MB" is by how much the run raises the memory of its process.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import carbonopt
from carbonopt.check import evaluate
from carbonopt.core.options import Options
from carbonopt.core.solution import relative_gap
from carbonopt.problems.mosp.instance import CarbonObjective, MospInstance

Numbers = dict[str, Any]
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
MILLION = 1_000_000


def peak_mb() -> float:
    """Return the peak memory of this process."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def by_method(name: str) -> Callable[[MospInstance, float], Numbers]:
    """Return a case that runs a method of carbonopt."""

    def run(instance: MospInstance, seconds: float) -> Numbers:
        found = carbonopt.solve(instance, name, time_limit=seconds, threads=1, mip_rel_gap=0.0)
        return {"objective": found.objective, "bound": found.bound, "status": str(found.status)}

    return run


def highs_alone(instance: MospInstance, seconds: float) -> Numbers:
    """Give the whole program to HiGHS, with no schedule to start from."""
    from carbonopt.milp import highs
    from carbonopt.problems.mosp.bounds import free_bound, tighter
    from carbonopt.problems.mosp.objective import placement_value
    from carbonopt.problems.mosp.program import build

    value, options = placement_value(instance), Options(time_limit=seconds, threads=1, mip_rel_gap=0.0)
    form = build(instance, value)
    result = highs.solve(form.program, options)
    bound = tighter("min", result.bound, free_bound(instance, value))
    if result.values is None:
        return {"objective": None, "bound": bound, "status": str(result.status)}
    report = evaluate(instance, form.schedule(result.values, instance))
    objective = None if report.violations else report.objective
    return {"objective": objective, "bound": bound, "status": str(result.status)}


def cp_sat(instance: MospInstance, seconds: float) -> Numbers:
    """State the instance with optional intervals; costs and demands must be whole, so costs are rounded down."""
    if find_spec("ortools") is None:
        return {"objective": None, "bound": None, "status": "ortools is not installed"}
    from ortools.sat.python import cp_model

    from carbonopt.problems.mosp.objective import placement_value

    value, jobs, limit = placement_value(instance), instance.jobs, instance.clusters.capacity
    if (limit != limit[:, :, :1]).any() or (jobs.demand != np.floor(jobs.demand)).any():
        return {"objective": None, "bound": None, "status": "only whole demands and constant capacities"}
    model = cp_model.CpModel()
    running: list[list[Any]] = [[] for _ in instance.clusters.name]
    chosen, costs = [], []
    for i in range(len(jobs)):
        first, last = int(jobs.arrival[i]), instance.time.slots - int(jobs.duration[i])
        table = np.floor(value.table(i, np.arange(first, last + 1)) * MILLION).astype(int)
        start = model.new_int_var(first, last, "")
        cost = model.new_int_var(int(table.min()), int(table.max()), "")
        used = []
        for j in np.flatnonzero(instance.eligible[i]):
            here = model.new_bool_var("")
            run = model.new_optional_fixed_size_interval_var(start, int(jobs.duration[i]), here, "")
            running[j].append((run, jobs.demand[i]))
            shifted = model.new_int_var(0, last - first, "")
            model.add(shifted == start - first)
            of_cluster = model.new_int_var(int(table[j].min()), int(table[j].max()), "")
            model.add_element(shifted, table[j].tolist(), of_cluster)
            model.add(cost >= of_cluster).only_enforce_if(here)
            used.append((j, here))
        model.add_exactly_one(here for _, here in used)
        chosen.append((start, used))
        costs.append(cost)
    for j, runs in enumerate(running):
        for r in range(limit.shape[1]):
            units = [int(demand[r]) for _, demand in runs]
            model.add_cumulative([run for run, _ in runs], units, int(limit[j, r, 0]))
    model.minimize(sum(costs))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = seconds
    status = solver.solve(model)
    text, bound = solver.status_name(status).lower(), solver.best_objective_bound / MILLION
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return {"objective": None, "bound": bound, "status": text}
    places = [next(j for j, here in used if solver.boolean_value(here)) for _, used in chosen]
    schedule = {
        "job": list(jobs.name),
        "cluster": [instance.clusters.name[j] for j in places],
        "start": [int(solver.value(start)) for start, _ in chosen],
    }
    report = evaluate(instance, schedule)
    return {"objective": None if report.violations else report.objective, "bound": bound, "status": text}


CASES: dict[str, Callable[[MospInstance, float], Numbers]] = {
    "price": by_method("price"),
    "lp-rounding": by_method("lp-rounding"),
    "milp": by_method("milp"),
    "highs": highs_alone,
    "cp-sat": cp_sat,
}


def measure(name: str, instance: MospInstance, seconds: float) -> Numbers:
    """Run a case and return what it found and what that cost; a refusal for lack of memory is a status too."""
    before, begun = peak_mb(), time.process_time()
    try:
        found = CASES[name](instance, seconds)
    except carbonopt.TooLargeError as error:
        found = {"objective": None, "bound": None, "status": str(error).splitlines()[0]}
    return {"name": name, **found, "cpu_s": time.process_time() - begun, "peak_mb": peak_mb() - before}


def measure_apart(name: str, path: Path, seconds: float) -> Numbers:
    """Run a case in a process of its own."""
    command = [sys.executable, __file__, "--only", name, "--instance", str(path), "--time-limit", str(seconds)]
    environment = os.environ | dict.fromkeys(ONE_THREAD, "1")
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment, check=False)
    if done.returncode:
        failed = f"ended with {done.returncode}"
        return {"name": name, "objective": None, "bound": None, "status": failed, "cpu_s": None, "peak_mb": None}
    found: Numbers = json.loads(done.stdout.splitlines()[-1])
    return found


def warm_up() -> None:
    """Load or compile every loop."""
    for jobs in (80, 5_100):
        small = carbonopt.generate("mosp", preset="bench", jobs=jobs, clusters=3, slots=24, seed=1)
        carbonopt.solve(small, "price", time_limit=120, mip_rel_gap=0.005 if jobs > 1_000 else 0.05)


def table(results: Sequence[Numbers]) -> str:
    """Return the results as lines of text, with gaps to the best bound of all."""
    bounds = [result["bound"] for result in results if result["bound"] is not None]
    best = max(bounds, default=None)
    lines = [f"{'':12}{'CPU s':>8}{'peak MB':>9}{'objective':>14}{'bound':>14}{'gap':>10}{'own gap':>10}  status"]
    for result in results:
        gap, own = (relative_gap(result["objective"], bound) for bound in (best, result["bound"]))
        numbers = (
            (result["cpu_s"], 8, ".1f"),
            (result["peak_mb"], 9, ".0f"),
            (result["objective"], 14, ",.4f"),
            (result["bound"], 14, ",.4f"),
            (gap, 10, ".4%"),
            (own, 10, ".4%"),
        )
        cells = [f"{'-' if value is None else format(value, style):>{width}}" for value, width, style in numbers]
        lines.append(f"{result['name']:12}{''.join(cells)}  {result['status']}")
    return "\n".join(lines)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compare certified gaps on one mosp instance in equal time.")
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--clusters", type=int, default=3)
    parser.add_argument("--slots", type=int, default=48)
    parser.add_argument("--load", type=float, default=0.7)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--time-limit", type=float, default=20.0, help="of each line [s]")
    parser.add_argument("--cases", default=",".join(CASES), help="comma-separated")
    parser.add_argument("--instance", type=Path, help="a file instead of a generated instance")
    parser.add_argument("-o", "--output", type=Path, help="write the results as JSON")
    parser.add_argument("--only", choices=CASES, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    if options.only:
        if options.only == "price":
            warm_up()
        given = carbonopt.read(options.instance)
        assert isinstance(given, MospInstance)
        print(json.dumps(measure(options.only, given, options.time_limit)))
        return 0
    size = {"jobs": options.jobs, "clusters": options.clusters, "slots": options.slots, "load": options.load}
    instance = carbonopt.read(options.instance) if options.instance else None
    instance = instance or carbonopt.generate("mosp", preset="bench", seed=options.seed, **size)
    assert isinstance(instance, MospInstance)
    assert isinstance(instance.objective, CarbonObjective), "the lines compare the carbon objective"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "instance.json"
        instance.write(path)
        results = [measure_apart(name, path, options.time_limit) for name in options.cases.split(",")]
    print(f"{instance.name}, {options.time_limit:g} s each")
    print(table(results))
    if options.output:
        options.output.write_text(json.dumps({"instance": instance.name, "results": results}, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

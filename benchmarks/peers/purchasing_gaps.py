"""Gaps of `price` on job traces, and beside it HiGHS's LP and MIP of the slot program.

    python benchmarks/peers/purchasing_gaps.py --trace pai_1k.csv --time-unit seconds --carbon AU-SA.csv DE.csv \
        --reserved 9 18 --start 0 4000 --models splitting no-split --time-limit 10 [--highs 60] [-o rows.csv]

Weights are such that carbon and cost of running every job at its arrival on demand count 1 each, and an hour of mean
wait .005. What is paid in advance is no part of the objective, so it does not flatter the gaps. The carbon signal is
the year of the file from its hour --start, repeated after its end.

Each line tells the checked objective, the proven bound, their gap, CPU seconds of one thread, and the most memory that
the command has had so far; "first" is the gap of the first schedule of `price` itself. With --cpu the limit counts CPU
seconds, so that a busy machine does not matter. Before the first line every loop is compiled or loaded. "lp" and
"milp" are HiGHS, for at most --highs seconds. Lines are printed, and written to -o, as soon as they are known; at the
end come mean and range of the gaps.
"""

from __future__ import annotations

import argparse
import csv
import resource
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any

if "--cpu" in sys.argv:
    time.perf_counter = time.process_time  # what limits are measured by; the package takes it when it is imported

import numpy as np

import carbonopt as co
from carbonopt.cli.compile import warm_up
from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.time import TimeGrid
from carbonopt.io.carbon import read_carbon
from carbonopt.io.jobs import JobTrace, read_jobs
from carbonopt.problems.purchasing.data.instance import PurchasingInstance, PurchasingJobs, Weights

LONGEST_WAIT_HOURS = 24.0
WAIT_WEIGHT = 0.005


def instance_of(trace: JobTrace, carbon: str, start: int, reserved: int, model: str) -> PurchasingInstance:
    """Return the instance of a trace under a signal that begins `start` hours after the file's own beginning."""
    arrival, length, cpus = (np.array(column) for column in (trace.arrival_hours, trace.length_hours, trace.cpus))
    slots = int(np.ceil((arrival + length).max() + LONGEST_WAIT_HOURS)) + 1
    signal = read_carbon(carbon)
    g_per_kwh = signal.g_per_kwh[0][(start + np.arange(slots)) % signal.time.slots]
    table = PurchasingJobs(tuple(f"j{j}" for j in range(len(arrival))), arrival, length, cpus)
    instance = PurchasingInstance(
        name=f"{len(arrival)} jobs",
        carbon=CarbonSignal(signal.zones[:1], g_per_kwh[None, :], TimeGrid(slots)),
        jobs=table,
        reserved_cpus=reserved,
        model=model,
    )
    edges, until = np.arange(slots + 1), np.concatenate([[0.0], np.cumsum(instance.kg_per_cpu_hour)])
    kg = float(cpus @ (np.interp(arrival + length, edges, until) - np.interp(arrival, edges, until)))
    usd = instance.prices.on_demand_usd_per_cpu_hour * float(cpus @ length)
    return instance.with_objective(Weights(1 / kg, 1 / usd, WAIT_WEIGHT / len(arrival)))


def run(instance: PurchasingInstance, method: str, seed: int, limit: float) -> dict[str, Any]:
    """Return what a method finds, and what that costs."""
    reported: list[float] = []
    begin = time.process_time()
    found = co.solve(
        instance,
        method,
        time_limit=limit,
        seed=seed,
        threads=1,
        callback=lambda p: reported.append(p.incumbent) if p.incumbent and p.bound is not None else None,
    )
    first = reported[0] / found.bound - 1 if reported and found.bound else None
    return {
        "method": method,
        "objective": found.objective,
        "bound": found.bound,
        "gap": found.gap,
        "first": first,
        "cpu_seconds": time.process_time() - begin,
        "status": str(found.status),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


HEADS = {
    "trace": "<12", "zone": "<12", "start": ">5", "seed": ">4", "reserved": ">8", "model": "<14", "method": "<6",
    "objective": ">10.6f", "bound": ">10.6f", "gap": ">8.3%", "first": ">8.3%", "cpu_seconds": ">11.1f",
    "peak_mb": ">7.0f",
}  # fmt: skip
"""Columns of the table, and their forms."""


def width(form: str) -> int:
    """Return the width of a form."""
    return int(form[1:].split(".")[0].rstrip("f%"))


def line(row: dict[str, Any]) -> str:
    """Return a row of the table."""
    cells = [f"{'-':>{width(form)}}" if row[key] is None else format(row[key], form) for key, form in HEADS.items()]
    return " ".join(cells)


def write(path: str | None, row: dict[str, Any], first: bool) -> None:
    """Add a row to the file, which the first one begins anew."""
    if path is None:
        return
    with open(path, "w" if first else "a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*HEADS, "status"])
        if first:
            writer.writeheader()
        writer.writerow(row)


def summary(rows: list[dict[str, Any]]) -> list[str]:
    """Return mean and range of the gaps by reserved CPUs, model and method."""
    groups: dict[tuple[Any, ...], list[float]] = {}
    for row in rows:
        if row["gap"] is not None:
            groups.setdefault((row["reserved"], row["model"], row["method"]), []).append(row["gap"])
    return [
        f"R={key[0]} {key[1]} {key[2]}: {len(gaps)} runs, gap {sum(gaps) / len(gaps):.3%} "
        f"({min(gaps):.3%} to {max(gaps):.3%})"
        for key, gaps in groups.items()
    ]


def parse() -> argparse.Namespace:
    """Return the arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trace", required=True)
    parser.add_argument("--time-unit", required=True, choices=("seconds", "minutes", "hours"))
    parser.add_argument("--carbon", required=True, nargs="+")
    parser.add_argument("--reserved", required=True, nargs="+", type=int)
    parser.add_argument("--start", nargs="+", type=int, default=[0])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--models", nargs="+", default=["splitting"])
    parser.add_argument("--time-limit", type=float, default=10.0)
    parser.add_argument("--highs", type=float, default=0.0)
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("-o", "--output")
    return parser.parse_args()


def main() -> None:
    """Print the table."""
    told = parse()
    trace = read_jobs(told.trace, told.time_unit)
    warm_up("purchasing")
    rows: list[dict[str, Any]] = []
    print(" ".join(f"{name:{form[0]}{width(form)}}" for name, form in HEADS.items()), flush=True)
    runs = [("price", seed, told.time_limit) for seed in told.seeds]
    runs += [(method, 0, told.highs) for method in ("lp", "milp") if told.highs]
    for carbon, start, reserved, model in product(told.carbon, told.start, told.reserved, told.models):
        instance = instance_of(trace, carbon, start, reserved, model)
        for method, seed, limit in runs:
            where = {"trace": Path(told.trace).stem, "zone": instance.zone, "start": start, "seed": seed}
            row = where | {"reserved": reserved, "model": model} | run(instance, method, seed, limit)
            write(told.output, row, first=not rows)
            rows.append(row)
            print(line(row), flush=True)
    print(*summary(rows), sep="\n")


if __name__ == "__main__":
    main()

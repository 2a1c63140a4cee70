"""Solve purchasing instances of job traces with `price`, and beside it HiGHS's LP and MIP of the slot program.

    python benchmarks/peers/purchasing_gaps.py --trace pai_1k.csv --time-unit seconds --carbon AU-SA.csv DE.csv \
        --reserved 9 18 --start 0 4000 --seeds 0 1 --time-limit 10 [--model no-split] [--highs 60] [-o rows.json]

Weights are such that carbon and cost of running every job at its arrival on demand count 1 each, and an hour of mean
wait .005. What is paid in advance is no part of the objective, so it does not flatter the gaps. The carbon signal is
the year of the file from its hour --start, repeated after its end.

Each line tells the checked objective, the proven bound, their gap, and CPU seconds of one thread; "first" is the gap
of the first schedule that was reported. With --cpu the limit counts CPU seconds, so that a busy machine does not
matter. The first line is preceded by a run on a small part of the trace: numba compiles or loads its code there.
"HiGHS LP" and "HiGHS MIP" are methods `lp` and `milp`, for at most --highs seconds.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from typing import Any

import numpy as np

import carbonopt as co
from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.time import TimeGrid
from carbonopt.io.carbon import read_carbon
from carbonopt.io.jobs import JobTrace, read_jobs
from carbonopt.problems.purchasing.instance import PurchasingInstance, PurchasingJobs, Weights

LONGEST_WAIT_HOURS = 24.0
WAIT_WEIGHT = 0.005
FEW = 50


def instance_of(
    trace: JobTrace, carbon: str, start: int, reserved: int, model: str, jobs: int | None = None
) -> PurchasingInstance:
    """Return the instance of a trace under a signal that begins `start` hours after the file's own beginning."""
    arrival, length, cpus = (
        np.array(column[:jobs]) for column in (trace.arrival_hours, trace.length_hours, trace.cpus)
    )
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
        callback=lambda p: reported.append(p.objective) if p.objective else None,
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


def line(row: dict[str, Any]) -> str:
    """Return a row of the table."""

    def percent(value: float | None) -> str:
        return "-" if value is None else f"{100 * value:.3f} %"

    numbers = [("objective", "{:.6f}"), ("bound", "{:.6f}")]
    shown = ["-" if row[key] is None else form.format(row[key]) for key, form in numbers]
    where = f"{row['zone']:<14} {row['start']:>5} {row['seed']:>4} {row['reserved']:>5} {row['method']:<6}"
    cost = f"{row['cpu_seconds']:>7.1f} s {row['peak_mb']:>6.0f} MB"
    return f"{where} {shown[0]:>10} {shown[1]:>10} {percent(row['gap']):>9} {percent(row['first']):>9} {cost}"


def parse() -> argparse.Namespace:
    """Return the arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trace", required=True)
    parser.add_argument("--time-unit", required=True, choices=("seconds", "minutes", "hours"))
    parser.add_argument("--carbon", required=True, nargs="+")
    parser.add_argument("--reserved", required=True, nargs="+", type=int)
    parser.add_argument("--start", nargs="+", type=int, default=[0])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--model", default="splitting")
    parser.add_argument("--time-limit", type=float, default=10.0)
    parser.add_argument("--highs", type=float, default=0.0)
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("-o", "--output")
    return parser.parse_args()


def main() -> None:
    """Print the table."""
    told = parse()
    if told.cpu:
        time.perf_counter = time.process_time  # what time limits are measured by
    trace = read_jobs(told.trace, told.time_unit)
    run(instance_of(trace, told.carbon[0], 0, told.reserved[0], told.model, FEW), "price", 0, 5.0)
    rows: list[dict[str, Any]] = []
    print("zone           start seed     R method  objective      bound       gap     first      CPU       peak")
    for carbon in told.carbon:
        for start in told.start:
            for reserved in told.reserved:
                instance = instance_of(trace, carbon, start, reserved, told.model)
                runs = [("price", seed, told.time_limit) for seed in told.seeds]
                runs += [(method, 0, told.highs) for method in ("lp", "milp") if told.highs]
                for method, seed, limit in runs:
                    where = {"zone": instance.zone, "start": start, "seed": seed, "reserved": reserved}
                    rows.append(where | run(instance, method, seed, limit))
                    print(line(rows[-1]), flush=True)
    if told.output:
        with open(told.output, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()

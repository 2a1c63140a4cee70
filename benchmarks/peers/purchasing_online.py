"""Every online policy of purchasing against the certified optimum at its own cost and wait, zone by zone, week by week.

    python benchmarks/peers/purchasing_online.py --trace pai_1k.csv --time-unit seconds --carbon AU-SA.csv DE.csv \
        --start 0 4000 --reserved 0 9 18 --forecast error=0.1,window=48 -o online.csv

Weights and signals are those of `purchasing_gaps`. The columns, mean and range over zones and starts:

    saving          of carbon over no-wait with the same reserved CPUs
    excess carbon   over the proven least at the policy's own cost and mean wait, reserved CPUs shared in any way
    excess cost     over the proven least at its own carbon and mean wait
    over loosest    excess carbon over the proven least if jobs may also split and be interrupted, which is due to
        forecast        errors of the forecast and its window
        lengths         not knowing how long jobs run
        heuristic       the policy itself, which knows all that then
        commitment      jobs that neither split nor stop

Only bounds count here: a run ends its search for a schedule at a gap of --gap. A row goes to the file -o as soon as it
is finished, and what the file holds already is not run again: a campaign that was stopped goes on where it was. Where
nothing is reserved, policies that wait for reserved CPUs are left out: they are the same as those they are made of.
"""

from __future__ import annotations

import argparse
import time
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
from purchasing_gaps import instance_of

from carbonopt.excess import excess_table
from carbonopt.io.jobs import read_jobs
from carbonopt.simulate import policies_of
from carbonopt.simulation.forecast import parse_forecast

KEY = ["zone", "start", "reserved_cpus", "policy"]
SHOWN = {
    "saving": "saving_vs_no_wait",
    "excess carbon": "excess_carbon_kg",
    "excess cost": "excess_cost_usd",
    "over loosest": "excess_over_loosest",
    "forecast": "due_to_forecast",
    "lengths": "due_to_lengths",
    "heuristic": "due_to_heuristic",
    "commitment": "due_to_commitment",
}
SUMS = {
    "due_to_forecast": ["due_to_forecast_errors", "due_to_forecast_window"],
    "due_to_commitment": ["due_to_splitting", "due_to_preemption"],
}
COLUMNS = [
    *KEY,
    "model",
    *("carbon_kg", "cost_usd", "mean_wait_hours"),
    *("least_carbon_kg", "least_cost_usd"),
    *SHOWN.values(),
    *(part for parts in SUMS.values() for part in parts),
    "cpu_seconds",
]
"""Of the file: the same for all policies."""


def finished(path: Path) -> set[tuple[Any, ...]]:
    """Return the keys of the rows that a file holds."""
    if not path.exists():
        return set()
    return set(pd.read_csv(path)[KEY].itertuples(index=False, name=None))


def append(path: Path, row: pd.DataFrame) -> None:
    """Add a row to a file, with the heads if it is the first."""
    row.to_csv(path, mode="a", header=not path.exists(), index=False)


def run(told: argparse.Namespace) -> None:
    """Run what the file does not hold yet."""
    trace = read_jobs(told.trace, told.time_unit)
    done = finished(told.output)
    for start, carbon, reserved in product(told.start, told.carbon, told.reserved):
        instance = instance_of(trace, carbon, start, reserved, "splitting", told.jobs)
        for policy in told.policies or policies_of(instance):
            waits_for_reserved = policy.startswith(("res-first", "spot-res", "all-wait"))
            if (instance.zone, start, reserved, policy) in done or (reserved == 0 and waits_for_reserved):
                continue
            began = time.process_time()
            row = excess_table(
                instance,
                [policy],
                split=True,
                forecast=None if told.forecast is None else parse_forecast(told.forecast),
                lengths=told.lengths,
                seed=told.seed,
                method="price",
                time_limit=told.time_limit,
                mip_rel_gap=told.gap,
                threads=1,
            )
            for name, parts in SUMS.items():
                known = [part for part in parts if part in row]  # one that may stop jobs commits to less
                row[name] = row[known].astype(float).sum(axis=1, skipna=False)
            row = row.assign(zone=instance.zone, start=start, reserved_cpus=reserved)
            seconds = time.process_time() - began
            append(told.output, row.assign(cpu_seconds=seconds).reindex(columns=COLUMNS))
            print(f"{instance.zone} {start} R={reserved} {policy}: {seconds:.1f} s", flush=True)


def summary(path: Path) -> pd.DataFrame:
    """Return mean and range of each column by policy and reserved CPUs, in percent."""
    rows = pd.read_csv(path)
    groups = rows.groupby(["reserved_cpus", "policy"], sort=False)

    def told(values: Any) -> str:
        return f"{100 * values.mean():.1f} ({100 * values.min():.1f} to {100 * values.max():.1f})"

    table = pd.DataFrame({head: groups[column].agg(told) for head, column in SHOWN.items()})
    table.insert(0, "runs", groups.size())
    return table.reset_index().sort_values("reserved_cpus", kind="stable")


def markdown(table: pd.DataFrame) -> str:
    """Return a table as the documentation has it."""
    rows = [list(table), ["---"] * len(table.columns), *table.astype(str).to_numpy().tolist()]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def parse() -> argparse.Namespace:
    """Return the arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trace", required=True)
    parser.add_argument("--time-unit", required=True, choices=("seconds", "minutes", "hours"))
    parser.add_argument("--carbon", required=True, nargs="+", help="one file a zone")
    parser.add_argument("--start", nargs="+", type=int, default=[0], help="hours of the year at which the trace begins")
    parser.add_argument("--reserved", nargs="+", type=int, default=[0, 9, 18])
    parser.add_argument("--policies", nargs="+", help="none: all that need no spot CPUs")
    parser.add_argument("--jobs", type=int, help="the first of the trace alone")
    parser.add_argument("--forecast", help="e.g. error=0.1,window=48; none: perfect")
    parser.add_argument("--lengths", default="mean", choices=("mean", "true"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--time-limit", type=float, default=3.0, help="of each bound, of eight a policy")
    parser.add_argument("--gap", type=float, default=1.0)
    parser.add_argument("--cpu", action="store_true", help="limits count CPU seconds (see purchasing_gaps)")
    parser.add_argument("--summary", action="store_true", help="of what the file holds, without running anything")
    parser.add_argument("-o", "--output", type=Path, required=True, help="CSV with a row a run")
    return parser.parse_args()


def main() -> None:
    """Run, and print the summary."""
    told = parse()
    if not told.summary:
        run(told)
    print(markdown(summary(told.output)))


if __name__ == "__main__":
    main()

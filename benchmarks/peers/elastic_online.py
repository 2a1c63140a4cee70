"""Online policies week by week, on what they have not been tuned on, beside Algorithm 1 and the certified optimum.

    python benchmarks/peers/elastic_online.py --trace azure.csv --carbon AU-SA.csv            seven weeks
    python benchmarks/peers/elastic_online.py --trace azure.csv --carbon *.csv --weeks 2022-08-15 --seed 31
    python benchmarks/peers/elastic_online.py --jobs 60 --capacity 10 --arrival-hours 72      a small one, synthetic

Each week is drawn from the trace with a seed of its own, and so is its past: the eight weeks before. Policies know the
past's statistics, CarbonFlex has learned from it, and no policy sees a job or a length before its time. The columns:

    saving              over the carbon-agnostic policy of the same week
    bound               the same of the certified bound of the fluid model, which no schedule of the week can beat
    late                jobs that end after their window. A schedule with late jobs is compared with the bound of the
                        week in which their windows are as much longer, or the command fails
    suspensions, rescalings
                        how often a job stops and goes on later, and how often it changes its servers while it runs
    late by             slots that the late jobs are late, their mean and the most
    carbonflex:..       as printed: every 5 minutes, without forced runs, and with p > rho and delays of a + d - t
    told, told:..       Algorithm 3 with the m and rho that Algorithm 1 has in this very week
    algorithm-1         where it leaves jobs unfinished their deadlines are extended, as in the paper: these are late
    CPU s               of the simulation, checker included, and for carbonflex what it learns while it runs. Learning
                        from the past is told apart, once for each past
"""

from __future__ import annotations

import argparse
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import carbonopt as co
from carbonopt.core.time import format_utc, parse_utc
from carbonopt.io.carbon import read_carbon
from carbonopt.io.jobs import JobTrace, read_jobs
from carbonopt.papers.carbonflex_runs import BASELINE, EVERY, Policies, reference_row
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.online.carbonflex import CarbonFlex
from carbonopt.problems.elastic.online.hourly import HourlyPolicy
from carbonopt.problems.elastic.online.learn import replayed
from carbonopt.problems.elastic.online.queue_statistics import QUEUE_HOURS
from carbonopt.problems.elastic.online.view import View
from carbonopt.problems.elastic.verify.late_windows import extended
from carbonopt.simulate import simulate

WEEKS = ("2022-07-04", "2022-07-25", "2022-08-15", "2022-09-05", "2022-09-26", "2022-10-17", "2022-11-07")
PRINTED = (
    "carbonflex:decide_minutes=5",
    "carbonflex:decide_minutes=5,forced=false",
    "carbonflex:forced=false",
    "carbonflex:printed=true",
    "carbonflex:forced=false,printed=true",
)
"""CarbonFlex with more of what the paper prints. Decisions every 5 minutes need the fluid model."""
TOLD = ("told", "told:forced=false")
PAST_WEEKS = 8
PAST_SEED = 1000
SPARE_HOURS = 130
"""Hours from the last arrival to the end of the longest window: 72 h of work, 48 h of slack, and rounding."""
LEAST_ROUNDING = 1e-7
GRAMS = 1000.0


class Told(CarbonFlex):
    """Algorithm 3 with the servers and rho of Algorithm 1 on the same week, instead of Algorithm 2."""

    def __init__(self, week: ElasticInstance, forced: bool) -> None:
        super().__init__(learning=False, forced=forced)
        self.oracle_cases = replayed(week, QUEUE_HOURS)

    def provision(self, view: View) -> tuple[int, float]:
        slot = min(view.slot, len(self.oracle_cases) - 1)
        return int(np.ceil(self.oracle_cases.servers[slot] - 1e-6)), float(self.oracle_cases.rho[slot])


def made(name: str, week: ElasticInstance, policies: Policies) -> HourlyPolicy:
    """Return a new policy."""
    return Told(week, "false" not in name) if name.startswith("told") else policies.make(name)


def draw(
    args: argparse.Namespace, trace: JobTrace | None, file: Path | None, start: str, hours: float, seed: int
) -> Any:
    """Return an instance of so many hours from `start` on."""
    carbon = None
    if file is not None:
        carbon = read_carbon(file, start=parse_utc(start), slots=int(hours) + SPARE_HOURS, slot_hours=1.0)
    size: dict[str, Any] = {"utilisation": args.utilisation}
    if args.jobs is not None:
        size = {"jobs": round(args.jobs * hours / args.arrival_hours)}
    size |= {"capacity": args.capacity, "model": args.model, "trace": trace, "carbon": carbon}
    return co.generate("elastic", start=start, arrival_hours=hours, seed=seed, **size)


def measure(
    week: ElasticInstance, past: ElasticInstance, options: dict[str, Any], names: tuple[str, ...]
) -> list[dict[str, Any]]:
    """Return one row a policy and reference."""
    began = time.process_time()
    policies = Policies(past)
    learning = time.process_time() - began
    began = time.process_time()
    optimum = co.solve(week.with_model("fluid"), "price", time_limit=None)
    rows, reference = [], 1.0
    references = [{"policy": "optimum", "objective": optimum.bound, "CPU s": time.process_time() - began}]
    for name in names:
        began = time.process_time()
        found = simulate(week, made(name, week, policies), **options)
        seconds = time.process_time() - began
        if found.objective is None:  # nothing runs where every rho is 1 and only p > rho may
            left = len(found.info["unfinished_jobs"])
            rows.append({"policy": name, "objective": np.nan, "unfinished": left, "CPU s": seconds})
            continue
        late, metrics, bound = found.info["late_slots"], found.metrics, optimum.bound
        if late:
            bound = co.solve(extended(week, late).with_model("fluid"), "price", time_limit=None).bound
        assert bound is not None
        if found.objective < bound * (1 - LEAST_ROUNDING):
            raise SystemExit(f"{week.name}: {name} emits {found.objective} g, less than the bound {bound} g")
        rows.append({
            "policy": name, "objective": found.objective, "bound": bound, "late": len(late), "unfinished": 0,
            "late by": float(np.mean([*late.values()] or [0])), "most late": max(late.values(), default=0),
            "wait": metrics["mean_wait_slots"], "suspensions": metrics["suspensions"],
            "rescalings": metrics["rescalings"], "CPU s": seconds, "learning s": learning,
        })  # fmt: skip
        reference = rows[0]["objective"]
    began = time.process_time()
    assert optimum.bound is not None
    found = reference_row(week, "oracle", optimum.bound / GRAMS)
    references.append({
        "policy": "algorithm-1", "objective": found["carbon_kg"] * GRAMS, "bound": found["bound_kg"] * GRAMS,
        "late": found["late_jobs"], "CPU s": time.process_time() - began,
    })  # fmt: skip
    for row in (*rows, *references):
        row["saving"] = 1 - row["objective"] / reference
        row["bound saving"] = 1 - (row.get("bound") or optimum.bound) / reference
    return [*rows, *references]


def main() -> None:
    """Run, and print mean and range over the weeks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trace", type=Path, help="CSV of GAIA's form, in hours; none: synthetic lengths")
    parser.add_argument("--carbon", type=Path, nargs="*", default=[None], help="one file a zone; none: synthetic")
    parser.add_argument("--weeks", nargs="*", default=list(WEEKS), help="first days")
    parser.add_argument("--jobs", type=int, help="in a week, instead of --utilisation")
    parser.add_argument("--utilisation", type=float, default=0.5)
    parser.add_argument("--capacity", type=float, default=150.0)
    parser.add_argument("--arrival-hours", type=float, default=168.0)
    parser.add_argument("--past-weeks", type=int, default=PAST_WEEKS)
    parser.add_argument("--model", default="fluid", choices=("fluid", "integer"))
    parser.add_argument("--forecast", help="e.g. error=0.2,window=48; none: perfect")
    parser.add_argument("--lengths", default="mean", choices=("mean", "true"))
    parser.add_argument("--policies", nargs="*", default=list(EVERY), help="beside the carbon-agnostic one")
    parser.add_argument("--printed", action="store_true", help="rows of CarbonFlex as printed, and told by the oracle")
    parser.add_argument("--seed", type=int, default=1, help="of the first week; the others follow")
    parser.add_argument("-o", "--output", type=Path, help="CSV with a row a week and policy")
    args = parser.parse_args()
    trace = None if args.trace is None else read_jobs(args.trace, "hours")
    names = (
        BASELINE,
        *(name for name in args.policies if name != BASELINE),
        *((*PRINTED, *TOLD) if args.printed else ()),
    )
    tables = []
    for file in args.carbon:
        for number, first in enumerate(args.weeks):
            start = parse_utc(first)
            before = format_utc(start - timedelta(hours=args.arrival_hours * args.past_weeks))
            seed = args.seed + number
            past = draw(args, trace, file, before, args.arrival_hours * args.past_weeks, PAST_SEED + seed)
            week = draw(args, trace, file, format_utc(start), args.arrival_hours, seed)
            rows = measure(week, past, {"forecast": args.forecast, "lengths": args.lengths}, names)
            tables.append(pd.DataFrame(rows).assign(week=first, zone=week.cluster.zone))
            print(f"{week.name} {first}: done", flush=True)
    table = pd.concat(tables, ignore_index=True)
    if args.output is not None:
        table.to_csv(args.output, index=False)
    grouped = table.groupby("policy", sort=False)
    means = ["saving", "bound saving", "wait", "late", "late by", "suspensions", "rescalings", "CPU s", "learning s"]
    shown = grouped[means].mean()
    shown.insert(5, "most late", grouped["most late"].max())
    shown.insert(1, "least", grouped["saving"].min())
    shown.insert(2, "most", grouped["saving"].max())
    print(shown.round(3).to_string())


if __name__ == "__main__":
    main()

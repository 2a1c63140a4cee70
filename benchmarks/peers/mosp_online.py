"""Caspian's experiment on several seeds: its sweep over omega_1, the carbon objective, both baselines and the bound.

    python benchmarks/peers/mosp_online.py --carbon CA-ON.csv JP-KN.csv DE.csv --wrap -o rows.csv
    python benchmarks/peers/mosp_online.py --expecting caspian-milp ...   and one that expects the jobs of another day
    python benchmarks/peers/mosp_online.py --jobs 20 --seeds 1 --policies caspian             a small one, synthetic

Each row is written as soon as it is there; run again with the same file, the command goes on where it stopped. A file
may hold several experiments: each row has the options of its own, and only those of the present one are summed up. The
other columns are those of `carbonopt reproduce caspian-6` (`carbonopt.papers.caspian_sweep`):

    saving                 over the paper's scheduler, as printed, at omega_1 = 0: its equation (9)
    saving_random, _clean  over earliest starts with random ties (mean of ten draws), and with ties to the clean cluster
    most_saving            what no schedule of the seed that meets all deadlines can exceed
    gap_to_clairvoyant     of the carbon objective, to a bound for schedules in pieces that know the future
    paper_...              what the paper prints, beside its own scheduler, as printed
    seconds                CPU seconds of the simulation, checker included
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import carbonopt as co
from carbonopt.io.carbon import read_carbon
from carbonopt.papers.caspian import beside_the_paper
from carbonopt.papers.caspian_sweep import AS_PRINTED, OPTIMIZERS, SWEEP, Case, Reference, cases, simulated
from carbonopt.problems.mosp.data.instance import MospInstance

PAST_SEED = 1000
DAY = "2023-11-14T00:00:00Z"
KEY = ("policy", "objective", "omega_1")
OPTIONS = ("carbon", "wrap", "start", "slots", "jobs", "draw")
"""Columns that hold what else an experiment depends on."""


def instance_of(args: argparse.Namespace, seed: int) -> MospInstance:
    """Return the instance of a seed."""
    carbon = None
    if args.carbon:
        carbon = read_carbon(*args.carbon, start=args.start, slots=args.slots, wrap=args.wrap)
    made = co.generate("mosp", preset="caspian", jobs=args.jobs, slots=args.slots, seed=seed, carbon=carbon)
    assert isinstance(made, MospInstance)
    return made


def options_of(args: argparse.Namespace) -> dict[str, Any]:
    """Return the columns `OPTIONS` of an experiment."""
    carbon = " ".join(map(str, args.carbon)) if args.carbon else "synthetic"
    return {"carbon": carbon, **{name: getattr(args, name) for name in OPTIONS[1:]}}


def rows_in(file: Path) -> list[dict[str, Any]]:
    """Return the rows that are there already."""
    table = pd.read_csv(file) if file.is_file() and file.stat().st_size else pd.DataFrame(columns=["seed", *OPTIONS])
    lacking = [name for name in OPTIONS if name not in table]
    if lacking:
        raise SystemExit(f"{file}: its rows do not say of which experiment they are (no {', '.join(lacking)})")
    return table.to_dict("records")


def experiment_of(row: dict[str, Any]) -> tuple[str, ...]:
    """Return what all rows of an experiment have in common."""
    return tuple(str(row[name]) for name in OPTIONS)


def key_of(row: dict[str, Any]) -> tuple[Any, ...]:
    """Return what tells a row from others."""
    return *experiment_of(row), int(row["seed"]), row["policy"], row["objective"], f"{float(row['omega_1']):g}"


def append(file: Path, row: dict[str, Any]) -> None:
    """Write a row at the end of a file, below its header."""
    begun = file.is_file() and file.stat().st_size > 0
    with file.open("a", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, list(row))
        if not begun:
            writer.writeheader()
        writer.writerow(row)


def measured(instance: MospInstance, case: Case, reference: Reference, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the row of one run."""
    began = time.process_time()
    found = simulated(instance, case, settings)
    return {**reference.row(case, found), "seconds": time.process_time() - began}


def run(args: argparse.Namespace) -> pd.DataFrame:
    """Make the rows of an experiment that are missing, and return all of it."""
    options = options_of(args)
    rows = [row for row in rows_in(args.output) if experiment_of(row) == experiment_of(options)]
    known = {key_of(row) for row in rows}
    for seed in args.seeds:
        instance, past, settings = instance_of(args, seed), instance_of(args, PAST_SEED + seed), {"seed": args.draw}
        wanted = cases(args.policies, args.omegas, args.expecting, past, args.printed)
        left = [case for case in wanted if (*experiment_of(options), seed, *case.key) not in known]
        if not left:
            continue
        reference = Reference.of(instance, settings)
        for case in left:
            row = {"seed": seed, **options, **measured(instance, case, reference, settings)}
            append(args.output, row)
            rows.append(row)
            print(f"seed {seed} {' '.join(case.key)}: saved {row['saving']:.1%}, {row['seconds']:.1f} s", flush=True)
    return pd.DataFrame(rows)


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Return mean and range over the seeds, one row a case."""
    groups = table.drop(columns=list(OPTIONS)).groupby(list(KEY), sort=False, dropna=False)
    mean = groups.mean(numeric_only=True).drop(columns="seed").reset_index()
    for name in ("saving", "deadlines_met_share"):
        mean.insert(mean.columns.get_loc(name) + 1, f"{name}_least", groups[name].min().to_numpy())
        mean.insert(mean.columns.get_loc(name) + 2, f"{name}_most", groups[name].max().to_numpy())
    return beside_the_paper(mean)


def main() -> None:
    """Run, and print mean and range over the seeds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--carbon", type=Path, nargs="*", help="files of CA-ON, JP-KN and DE; none: synthetic")
    parser.add_argument("--wrap", action="store_true", help="repeat the files' data")
    parser.add_argument("--start", default=DAY, help="beginning of slot 0")
    parser.add_argument("--slots", type=int, default=48)
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--seeds", type=int, nargs="*", default=[1, 2, 3, 4, 5], help="of the instances")
    parser.add_argument("--draw", type=int, default=0, help="seed of the simulations")
    parser.add_argument("--policies", nargs="*", default=list(OPTIMIZERS))
    parser.add_argument("--omegas", type=float, nargs="*", default=list(SWEEP), help="omega_1 of the paper's objective")
    parser.add_argument(
        "--printed", nargs="*", default=list(AS_PRINTED), help="policies that also run as the paper prints them"
    )
    parser.add_argument(
        "--expecting", nargs="*", default=[], help="policies to run with the jobs of another seed in view"
    )
    parser.add_argument("-o", "--output", type=Path, default=Path("mosp_online.csv"), help="CSV with a row a run")
    args = parser.parse_args()
    warnings.simplefilter("ignore")  # of ranges of coefficients, once a period
    table = summary(run(args))
    with pd.option_context("display.width", 250, "display.max_columns", None):
        print(table.replace({np.nan: None}).round(3).to_string())


if __name__ == "__main__":
    main()

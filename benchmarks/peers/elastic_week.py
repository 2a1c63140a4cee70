"""Solve one week of elastic jobs with plain Python, carbonopt and HiGHS, and compare what that costs and gives.

    python benchmarks/peers/elastic_week.py [-o results.json]                    a synthetic week, 150 servers
    python benchmarks/peers/elastic_week.py --jobs 40 --capacity 10              a small one
    python benchmarks/peers/elastic_week.py --trace azure.csv --time-unit hours --carbon AU-SA.csv

Two models are compared, and every line says which it is of. In the integer model a job has whole servers for whole
slots; in the fluid model it may share a slot between numbers of servers. The fluid optimum bounds both. So a gap in
the integer model is to the best proven bound of any line, one in the fluid model to the best of a fluid line.

    plain Python        CarbonFlex's Algorithm 1 as a loop over a sorted list, see `elastic_plain.py`; "recomputed" and
                        "running" is how work and load are added up. Its schedule must equal that of carbonopt's loop,
                        or the command fails.
    Algorithm 1         carbonopt's three variants. As printed it may end late or leave work undone: then it has no
                        gap. From half a million units on its loop is compiled; below, plain Python ends first.
    HiGHS, LP           the whole LP, all levels of all jobs in all slots: by the solver that HiGHS chooses (the simplex
                        method), and by its interior point method with crossover, whose optimum is not certified here
    price, fluid        carbonopt's own way to the same optimum, by prices of slots. The three must agree to 1e-6, or
                        the command fails.
    HiGHS, MILP         the whole integer program, for at most --time-limit; from the schedule of Algorithm 1 if that
                        completes every job
    price, integer      carbonopt's own way, with the same limit

Each line is a process of its own with one thread (OMP_NUM_THREADS and its kin, HiGHS's `threads`). It reads the
instance after every loop is compiled or loaded, and the same has run on a small one. CPU seconds are of the process.
They hold all work from the instance in memory to the schedule, building the program included; runs below half a second
are repeated, and the median is shown. The checker runs outside the clock, but for `price`, `lp` and `milp`, whose
`solve` holds it. "peak MB" is by how much the run raises the memory of the process at its peak.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from elastic_cases import CASES, Numbers, measure, warm_up
from machine import installed

import carbonopt
from carbonopt.core.solution import relative_gap
from carbonopt.core.threads import THREADS
from carbonopt.io.carbon import read_carbon
from carbonopt.io.jobs import read_jobs
from carbonopt.problems.elastic.data.instance import ElasticInstance

AGREEMENT = 1e-6
"""Largest relative difference between two fluid optima that counts as rounding."""
PLAIN_UNITS = 100_000
"""Units above which recomputed sums are left out, unless --plain-seconds asks for them."""

EQUAL_SCHEDULES = (
    ("plain-recomputed", "greedy-printed"),
    ("plain-printed", "greedy-printed"),
    ("plain-corrected", "greedy-corrected"),
)
EQUAL_OPTIMA = ("lp", "lp-ipm", "price-fluid")


def measure_apart(name: str, path: Path, limits: Numbers) -> Numbers:
    """Run a case in a process of its own."""
    command = [sys.executable, __file__, "--only", name, "--instance", str(path)]
    for key, value in limits.items():
        command += [] if value is None else [f"--{key.replace('_', '-')}", str(value)]
    environment = os.environ | dict.fromkeys(THREADS, "1")
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    found: Numbers = json.loads(done.stdout.splitlines()[-1])
    return found


# Reporting


def add_gaps(results: Sequence[Numbers]) -> None:
    """Add the gap to the best certified bound of the model; bounds of the fluid model hold for both."""
    bounds = [(result["model"], result["bound"]) for result in results if result["bound"] is not None]
    for result in results:
        best = max((bound for model, bound in bounds if model in ("fluid", result["model"])), default=None)
        result["gap"] = relative_gap(result["objective"], best) if result["feasible"] else None


def disagreements(results: Sequence[Numbers]) -> list[str]:
    """Say which schedules or optima that should be equal are not."""
    known = {result["name"]: result for result in results}
    found = []
    for one, two in EQUAL_SCHEDULES:
        pair = [known.get(name, {}).get("schedule_sha256") for name in (one, two)]
        if None not in pair and pair[0] != pair[1]:
            found.append(f"{one} and {two} differ in the schedule")
    optima = [(name, known[name]["objective"]) for name in EQUAL_OPTIMA if name in known]
    for name, value in optima[1:]:
        first, least = optima[0]
        if None in (value, least) or abs(value - least) > AGREEMENT * abs(least):
            found.append(f"{first} and {name} differ in the fluid optimum: {least!r} and {value!r}")
    return found


TABLE = {
    "": ("title", ""),
    "model": ("model", ""),
    "CPU s": ("cpu_s", ".3f"),
    "wall s": ("wall_s", ".3f"),
    "peak MB": ("peak_mb", ".0f"),
    "carbon g": ("objective", ",.2f"),
    "bound g": ("bound", ",.2f"),
    "gap": ("gap", ".5%"),
    "note": ("note", ""),
}
"""Key and format of each column of the printed table."""
TEXT = {"", "model", "note"}


def table(results: Sequence[Numbers]) -> str:
    """Return the results as lines of text."""
    lines: list[tuple[str, ...]] = [tuple(TABLE)]
    for result in results:
        shown = ((result[key], style) for key, style in TABLE.values())
        lines.append(tuple("-" if value is None else format(value, style) for value, style in shown))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    sides = [str.ljust if name in TEXT else str.rjust for name in TABLE]
    padded = ([side(cell, w) for side, cell, w in zip(sides, line, widths, strict=True)] for line in lines)
    return "\n".join("  ".join(cells).rstrip() for cells in padded)


def generated(options: argparse.Namespace) -> ElasticInstance:
    """Return the week that the options ask for."""
    parameters: Numbers = {"jobs": options.jobs, "capacity": options.capacity, "seed": options.seed}
    parameters |= {"arrival_hours": options.arrival_hours, "zone": options.zone}
    if options.trace is not None:
        parameters |= {"trace": read_jobs(options.trace, options.time_unit), "source": options.trace.name.split(".")[0]}
    if options.carbon is not None:
        zones = None if options.zone is None else [options.zone]
        parameters["carbon"] = lambda slots: read_carbon(options.carbon, zones=zones, start=options.start, slots=slots)
    else:
        parameters["start"] = options.start
    found = carbonopt.generate("elastic", **parameters)
    assert isinstance(found, ElasticInstance)
    return found


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Solve one week of elastic jobs in several ways and compare.")
    parser.add_argument("--jobs", type=int, help="by default as many as use half of the servers")
    parser.add_argument("--capacity", type=float, help="servers; by default 150, or such that --jobs use half of them")
    parser.add_argument("--arrival-hours", type=float, default=168.0, help="hours in which jobs arrive")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--trace", type=Path, help="draw lengths of at least an hour from this trace")
    parser.add_argument("--time-unit", choices=("seconds", "minutes", "hours"), help="of the trace")
    parser.add_argument("--carbon", type=Path, help="carbon file; without it the signal is synthetic")
    parser.add_argument("--zone", help="of the signal; by default AU-SA, or the file's only one")
    parser.add_argument("--start", default="2022-06-01T00:00:00Z", help="of the signal")
    parser.add_argument("--time-limit", type=float, default=60.0, help="of the integer model's lines [s]")
    parser.add_argument(
        "--plain-seconds",
        type=float,
        help=f"stop the recomputed sums then; without it they run to the end, up to {PLAIN_UNITS:,} units",
    )
    parser.add_argument("--cases", default=",".join(CASES), help="comma-separated")
    parser.add_argument(
        "--apart",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="each line in a process of its own, warmed up; else the times are no measurements",
    )
    parser.add_argument("-o", "--output", type=Path, help="write the results as JSON")
    parser.add_argument("--only", choices=CASES, help=argparse.SUPPRESS)
    parser.add_argument("--instance", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    options.cases = options.cases.split(",")
    if unknown := [name for name in options.cases if name not in CASES]:
        parser.error(f"unknown case {unknown[0]!r}: must be one of {', '.join(CASES)}")
    if options.trace is not None and options.time_unit is None:
        parser.error("--trace needs --time-unit")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    limits = {"time_limit": options.time_limit, "plain_seconds": options.plain_seconds}
    if options.only:
        warm_up(CASES[options.only])
        week = carbonopt.read(options.instance)
        assert isinstance(week, ElasticInstance)
        print(json.dumps(measure(CASES[options.only], week, limits)))
        return 0
    instance = generated(options)
    size = instance.features()
    if size["units"] > PLAIN_UNITS and options.plain_seconds is None and "plain-recomputed" in options.cases:
        options.cases.remove("plain-recomputed")
        print(f"plain-recomputed left out: {size['units']:,} units; --plain-seconds runs it", file=sys.stderr)
    results = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "week.json"
        instance.write(path)
        for name in options.cases:
            found = measure_apart(name, path, limits) if options.apart else measure(CASES[name], instance, limits)
            results.append({"name": name, "title": CASES[name].title, "model": CASES[name].model} | found)
    add_gaps(results)
    print(f"{instance.name}: {size['jobs']:,} jobs, {size['slots']} slots, {size['units']:,} units")
    print(table(results))
    if options.output:
        versions = {name: installed(name) for name in ("carbonopt", "highspy", "numba", "numpy")}
        about = {"instance": instance.name, "sha256": instance.sha256, **limits, "python": platform.python_version()}
        about |= {"machine": platform.machine(), "cpus": os.cpu_count(), "versions": versions, "results": results}
        options.output.write_text(json.dumps(about, indent=2) + "\n")
    faults = disagreements(results)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

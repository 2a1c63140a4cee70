"""Build one mosp program with carbonopt, Pyomo, linopy and CVXPY, and compare what that costs.

    python benchmarks/peers/mosp_build.py [--jobs 1000 --clusters 10 --slots 48 --seed 1] [-o results.json]

Every tool states the same program from the same arrays: one binary column for each placement (job, cluster,
start) that the job's release, the horizon and the cluster's capacity allow; one equation a job; one capacity row
a cluster and slot; carbon, tardiness and completion as costs.

The build begins with the instance's data in memory, and ends, for every tool alike, when the program's rows,
columns and coefficients exist as arrays that HiGHS takes: costs, bounds, integrality, the sides of the rows and a
compressed sparse matrix. Where each tool has them:

    carbonopt   `formulate(instance).arrays()`
    pyomo       Pyomo's `LinearStandardFormCompiler`, and bounds and domains of the columns it names. Of its ways
                to a solver this is the fastest: from the same model the LP writer took 1.3-2 times as long, APPSI
                and the new HiGHS interface 2.5-3 times.
    linopy      `Model.matrices`, from which its `to_highspy` and `solve` take everything
    cvxpy       `Problem.get_problem_data(cp.HIGHS)`; the sparse matrices that its user builds are counted too

The second time, "loaded", ends when a HiGHS object holds the program, by the tool's own way where it has one
(linopy: `to_highspy`), else by one `passModel` of the arrays. The LP relaxation is solved in that very object.

Each model is written for speed, by the means that the tool itself offers: Pyomo with `LinearExpression` over lists
instead of sums of products; linopy (0.10 or later) with `Model(sparse=True)` and grouped sums over the nonzeros,
which takes about a third of the time of variables on a full grid of jobs, clusters and slots; CVXPY with one
variable, one matrix product a kind of row and the SciPy backend, its fastest here. What they have in common, the
numpy arithmetic that lists the placements and prices them, is `placements` and `usage` in `mosp_data.py`, and
counts as part of each build.

Times are CPU seconds of the process, collection of cyclic garbage off as in `timeit`, after a build of a tiny
instance that loads every module. Tools take turns; the median of the repeats is shown, Pyomo is built once. After
the first large builds the process reuses its memory, which helps the tools that allocate little else. So each tool
also builds in processes of its own, once in each: that gives "first", the seconds of a build in fresh memory, and by
how much the build raises the peak of that process.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import highspy
import numpy as np
from machine import installed, peak_bytes
from mosp_data import Arrays, Data, Tool, read_data
from mosp_models import TOOLS

import carbonopt
from carbonopt.problems.mosp.data.instance import MospInstance

AGREEMENT = 1e-6
"""Largest relative difference between two LP optima that counts as rounding."""
WARM_UP = {"jobs": 10, "clusters": 2, "slots": 12, "seed": 1}


@dataclass
class Run:
    """What was measured of one tool."""

    build: list[float] = field(default_factory=list)
    loaded: list[float] = field(default_factory=list)
    size: tuple[int, int, int] = (0, 0, 0)
    highs: Any = None


def load_arrays(arrays: Arrays) -> Any:
    """Return a HiGHS object that holds the program."""
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    layout = highspy.MatrixFormat.kRowwise if arrays.by_rows else highspy.MatrixFormat.kColwise
    status = highs.passModel(
        len(arrays.cost),
        len(arrays.row_lower),
        len(arrays.values),
        int(layout),
        int(highspy.ObjSense.kMinimize),
        0.0,
        arrays.cost,
        arrays.lower,
        arrays.upper,
        arrays.row_lower,
        arrays.row_upper,
        arrays.starts.astype(np.int32, copy=False),
        arrays.indices.astype(np.int32, copy=False),
        arrays.values,
        arrays.integer.astype(np.int32),
    )
    if status == highspy.HighsStatus.kError:
        raise SystemExit("HiGHS refuses the program")
    return highs


def solve_relaxation(highs: Any) -> tuple[float, float]:
    """Return optimum and CPU seconds of the LP relaxation of the program in `highs`."""
    settings = {"output_flag": False, "solve_relaxation": True, "solver": "ipm", "threads": 1}
    for name, value in settings.items():
        highs.setOptionValue(name, value)
    began = time.process_time()
    highs.run()
    seconds = time.process_time() - began
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise SystemExit(f"the LP relaxation ended {highs.modelStatusToString(highs.getModelStatus())}")
    return float(highs.getInfo().objective_function_value), seconds


def build_once(tool: Tool, data: Data, run: Run) -> None:
    """Build the program once and add the seconds to `run`."""
    run.highs = None
    gc.collect()
    gc.disable()
    try:
        began = time.process_time()
        model = tool.model(data)
        modelled = time.process_time()
        arrays = tool.arrays(model)
        built = time.process_time()
        run.highs = load_arrays(arrays) if tool.load is None else tool.load(model)
        loaded = time.process_time()
    finally:
        gc.enable()
    run.build.append(built - began)
    run.loaded.append(loaded - (began if tool.load is None else began + built - modelled))
    run.size = arrays.size()


def measure(names: Sequence[str], data: Data, warm_up: Data, repeats: int) -> dict[str, Run]:
    """Build with each tool: in turns, slow ones once and last."""
    runs = {name: Run() for name in names}
    for name in names:
        build_once(TOOLS[name], warm_up, Run())
    for _ in range(repeats):
        for name in names:
            if not TOOLS[name].slow:
                build_once(TOOLS[name], data, runs[name])
    for name in names:
        if TOOLS[name].slow:
            build_once(TOOLS[name], data, runs[name])
    return runs


def build_first(name: str, data: Data, warm_up: Data) -> dict[str, float]:
    """Return CPU seconds of this process's first large build, and by how much it raises the peak."""
    TOOLS[name].arrays(TOOLS[name].model(warm_up))
    gc.collect()
    gc.disable()
    before, began = peak_bytes(), time.process_time()
    model = TOOLS[name].model(data)
    TOOLS[name].arrays(model)
    seconds = time.process_time() - began
    return {"first_cpu_s": seconds, "peak_mb": (peak_bytes() - before) / 1e6}


def build_apart(name: str, size: dict[str, int], repeats: int) -> dict[str, float]:
    """Return the medians of `build_first` over processes of its own."""
    options = [part for key, value in size.items() for part in (f"--{key}", str(value))]
    command = [sys.executable, __file__, *options, "--only-first", name]
    found: list[dict[str, float]] = []
    for _ in range(1 if TOOLS[name].slow else repeats):
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        found.append(json.loads(done.stdout.splitlines()[-1]))
    return {key: statistics.median(each[key] for each in found) for key in found[0]}


# Reporting


def disagreements(results: Sequence[dict[str, Any]]) -> list[str]:
    """Say where the tools did not build the same program."""
    found, first = [], results[0]
    for other in results[1:]:
        pair = f"{first['tool']} and {other['tool']}"
        for key in ("columns", "rows", "nonzeros"):
            if first[key] != other[key]:
                found.append(f"{pair} differ in {key}: {first[key]} and {other[key]}")
        one, two = first["lp_optimum"], other["lp_optimum"]
        if one is not None and two is not None and not abs(one - two) <= AGREEMENT * max(1e-9, abs(one)):
            found.append(f"{pair} differ in the LP optimum: {one!r} and {two!r}")
    return found


TABLE = {
    "tool": ("tool", ""),
    "columns": ("columns", ","),
    "rows": ("rows", ","),
    "nonzeros": ("nonzeros", ","),
    "build s": ("build_cpu_s", ".3f"),
    "ratio": ("ratio", ".1f"),
    "loaded s": ("loaded_cpu_s", ".3f"),
    "first s": ("first_cpu_s", ".3f"),
    "peak MB": ("peak_mb", ".0f"),
    "LP optimum": ("lp_optimum", ".9g"),
    "LP s": ("lp_cpu_s", ".1f"),
}
"""Key and format of each column of the printed table."""


def table(results: Sequence[dict[str, Any]]) -> str:
    """Return the results as lines of text."""
    lines: list[tuple[str, ...]] = [tuple(TABLE)]
    for result in results:
        shown = ((result[key], style) for key, style in TABLE.values())
        lines.append(tuple("-" if value is None else format(value, style) for value, style in shown))
    widths = [max(len(line[k]) for line in lines) for k in range(len(TABLE))]
    return "\n".join(
        "  ".join(cell.rjust(w) if k else cell.ljust(w) for k, (cell, w) in enumerate(zip(line, widths, strict=True)))
        for line in lines
    )


def generated(size: dict[str, int]) -> Data:
    """Return the data of the benchmark instance of that size."""
    instance = carbonopt.generate("mosp", preset="bench", **size)
    assert isinstance(instance, MospInstance)
    return read_data(instance)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Build one mosp program with several tools and compare the cost.")
    for name, default in (("jobs", 1000), ("clusters", 10), ("slots", 48), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--tools", default=",".join(TOOLS), help="comma-separated; ratios are to the first")
    parser.add_argument("--repeats", type=int, default=3, help="builds a tool; Pyomo is built once")
    parser.add_argument("--solve", action=argparse.BooleanOptionalAction, default=True, help="solve the LP relaxations")
    parser.add_argument(
        "--apart",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="also build in processes of their own: first-build seconds and peak memory",
    )
    parser.add_argument("-o", "--output", type=Path, help="write the results as JSON")
    parser.add_argument("--only-first", choices=TOOLS, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    options.tools = options.tools.split(",")
    if unknown := [name for name in options.tools if name not in TOOLS]:
        parser.error(f"unknown tool {unknown[0]!r}: must be one of {', '.join(TOOLS)}")
    if options.repeats < 1:
        parser.error("--repeats must be at least 1")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    size = {name: getattr(options, name) for name in ("jobs", "clusters", "slots", "seed")}
    data, warm_up = generated(size), generated(WARM_UP)
    if options.only_first:
        print(json.dumps(build_first(options.only_first, data, warm_up)))
        return 0
    unknown = {"first_cpu_s": None, "peak_mb": None}
    apart = {name: build_apart(name, size, options.repeats) if options.apart else unknown for name in options.tools}
    runs = measure(options.tools, data, warm_up, options.repeats)
    reference = statistics.median(runs[options.tools[0]].build)
    results = []
    for name, run in runs.items():
        optimum, seconds = solve_relaxation(run.highs) if options.solve else (None, None)
        results.append(
            {
                "tool": name,
                "version": installed(TOOLS[name].package),
                **dict(zip(("columns", "rows", "nonzeros"), run.size, strict=True)),
                "build_cpu_s": statistics.median(run.build),
                "ratio": statistics.median(run.build) / reference,
                "loaded_cpu_s": statistics.median(run.loaded),
                "builds_cpu_s": run.build,
                **apart[name],
                "lp_optimum": optimum,
                "lp_cpu_s": seconds,
            }
        )
        run.highs = None
    print(f"{data.instance.name}: ratio is of build s, to {options.tools[0]}")
    print(table(results))
    if options.output:
        names = ("highspy", "numpy", "scipy")
        about = {"instance": data.instance.name, "sha256": data.instance.sha256, **size, "repeats": options.repeats}
        about |= {"python": platform.python_version(), "machine": platform.machine(), "cpus": os.cpu_count()}
        versions = {name: installed(name) for name in names}
        options.output.write_text(json.dumps({**about, "versions": versions, "results": results}, indent=2) + "\n")
    faults = disagreements(results)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

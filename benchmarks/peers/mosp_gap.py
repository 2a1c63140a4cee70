"""Solve mosp instances with carbonopt, HiGHS, Pyomo, linopy and CP-SAT in equal time, and compare the gaps.

    python benchmarks/peers/mosp_gap.py --jobs 200 --clusters 3 --slots 48 --seeds 21,22,23 --time-limit 20
    python benchmarks/peers/mosp_gap.py --load 1.2 --cases price,cp-sat-boolean -o results.json

    price                   carbonopt's slot prices and search
    lp                      the LP relaxation: a bound
    highs-root              HiGHS's bound with cuts, before it branches, and what its heuristics find there
    milp                    HiGHS on the whole program, from the best schedule that insertion and rounding find
    highs                   HiGHS on the whole program, alone, at carbonopt's tolerances
    pyomo, linopy           the same program as a user of the tool writes it (`mosp_models.py`), solved by HiGHS at its
                            own tolerances
    cp-sat-boolean          OR-Tools CP-SAT, one boolean a job, cluster and start
    cp-sat-interval         CP-SAT, one optional interval a job and cluster
    lp-rounding             carbonopt's rounding of the LP relaxation
    lp-rounding-caspian     Caspian's Algorithms 2 and 3
    greedy-clean            every job as early as it fits, on the cleanest cluster
    greedy-random           the same, clusters at random: the paper's baseline

Each line is a process of its own with one thread; highspy and ortools cannot share one anyway. A line has the time
limit in wall seconds, from the instance in memory on, building included; CPU seconds are of the same span, and what
to judge by. Modules and compiled loops are loaded before. Schedules pass the checker. "gap" is to the best proven
bound of all lines, "own gap" to the line's own, "bound gap" of the line's bound to the best objective of all. "peak
MB" is the largest size of the process during the run, "rise MB" how much of that the run added. Tools that are not
installed, or cannot state an instance, are left out, and the status says so. With -o, everything is written again
after each line.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
from machine import installed, peak_bytes
from mosp_gap_cases import CASES
from mosp_gap_cpsat import Numbers, nothing
from mosp_gap_tables import CASE, LINE, add_gaps, summary, table

import carbonopt
from carbonopt.cli.compile import warm_up as compile_all
from carbonopt.core.files import require_writable, write_bytes
from carbonopt.core.threads import THREADS
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.data.objectives import CarbonObjective

PACKAGES = ("carbonopt", "highspy", "pyomo", "linopy", "ortools", "numpy", "numba")
APART = {"highspy", "ortools"}
"""Both bring a HiGHS of their own, and must not be loaded together."""


def measure(name: str, instance: MospInstance, seconds: float) -> Numbers:
    """Run a case and return what it found and what that cost; a refusal for lack of memory is a status too."""
    before, wall, begun = memory_now(), time.perf_counter(), time.process_time()
    try:
        found = CASES[name](instance, seconds)
    except carbonopt.TooLargeError as error:
        found = nothing(str(error).splitlines()[0])
    except MemoryError:
        found = nothing("out of memory")
    cpu_s, wall_s = time.process_time() - begun, time.perf_counter() - wall
    if sys.modules.keys() >= APART:
        raise SystemExit(f"{name} loads highspy and ortools in one process")
    found |= {key: None for key in ("objective", "bound") if not np.isfinite(found[key] or 0.0)}
    peak = peak_bytes()
    cost = {"cpu_s": cpu_s, "wall_s": wall_s, "peak_mb": peak / 1e6, "rise_mb": (peak - before) / 1e6}
    return {"name": name, **found, **cost}


def memory_now() -> int:
    """Return the resident size, from which on the peak counts; where it cannot be reset, the peak so far."""
    gc.collect()
    with contextlib.suppress(AttributeError, OSError, TypeError):  # Linux: give back what the warm-up has freed
        ctypes.CDLL(None).malloc_trim(0)
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return peak_bytes()


def measure_apart(name: str, path: Path, seconds: float, warm: bool = True) -> Numbers:
    """Run a case in a process of its own."""
    command = [sys.executable, __file__, "--only", name, "--instance", str(path), "--time-limit", str(seconds)]
    command += [] if warm else ["--no-warm-up"]
    environment = os.environ | dict.fromkeys(THREADS, "1")
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment, check=False)
    if done.returncode:
        failed = nothing(f"ended with {done.returncode}")
        return {"name": name, **failed, **dict.fromkeys(("cpu_s", "wall_s", "peak_mb", "rise_mb"))}
    found: Numbers = json.loads(done.stdout.splitlines()[-1])
    return found


def warm_up(name: str) -> None:
    """Load every module that a case needs, and every compiled loop."""
    tiny = carbonopt.generate("mosp", preset="bench", jobs=10, clusters=2, slots=12, seed=1)
    assert isinstance(tiny, MospInstance)
    CASES[name](tiny, 3.0)
    if name == "price":
        compile_all("mosp")


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options, refusing what cannot be run."""
    parser = argparse.ArgumentParser(description="Compare certified gaps on mosp instances in equal time.")
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--clusters", type=int, default=3)
    parser.add_argument("--slots", type=int, default=48)
    parser.add_argument("--load", type=float, default=0.7, help="above 0.95 jobs may be rejected at a price")
    parser.add_argument("--seeds", default="1", help="comma-separated, one instance each")
    parser.add_argument("--time-limit", type=float, default=20.0, help="of each line, wall time [s]")
    parser.add_argument("--cases", default=",".join(CASES), help="comma-separated; all: %(default)s")
    parser.add_argument("--instance", type=Path, help="a file instead of generated instances")
    parser.add_argument("--no-warm-up", action="store_true", help="count the loading of modules and loops too")
    parser.add_argument("-o", "--output", type=Path, help="write the results as JSON, again after each line")
    return parse_lists(parser, arguments, CASES)


def parse_lists(
    parser: argparse.ArgumentParser, arguments: Sequence[str] | None, cases: Collection[str]
) -> argparse.Namespace:
    """Return the options, with `cases` and `seeds` as lists, refusing those that there are not."""
    parser.add_argument("--only", choices=cases, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    options.cases = options.cases.split(",")
    if unknown := [name for name in options.cases if name not in cases]:
        parser.error(f"unknown case {unknown[0]!r}: must be one of {', '.join(cases)}")
    try:
        options.seeds = [int(seed) for seed in options.seeds.split(",")]
    except ValueError:
        parser.error(f"--seeds {options.seeds!r}: must be whole numbers, with commas between")
    return options


def read(path: Path) -> MospInstance:
    """Return the instance in a file, which must have the carbon objective."""
    instance = carbonopt.read(path)
    if not isinstance(instance, MospInstance) or not isinstance(instance.objective, CarbonObjective):
        raise SystemExit(f"{path}: the lines compare mosp under the carbon objective")
    return instance


def save(path: Path, instances: Sequence[Numbers], seconds: float) -> None:
    """Write everything that is known by now, whole or not at all."""
    versions = {name: installed(name) for name in PACKAGES}
    about = {"time_limit_s": seconds, "threads": 1, "python": platform.python_version(), "versions": versions}
    about |= {"machine": platform.machine(), "cpus": os.cpu_count(), "instances": instances}
    about |= {"summary": summary([each["results"] for each in instances])}
    write_bytes(path, (json.dumps(about, indent=2, allow_nan=False) + "\n").encode())


def compare(instance: MospInstance, options: argparse.Namespace, instances: list[Numbers]) -> None:
    """Run all lines on one instance, add what they find to `instances`, and print the table."""
    results: list[Numbers] = []
    instances.append({"instance": instance.name, "sha256": instance.sha256, "results": results})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "instance.json"
        instance.write(path)
        for name in options.cases:
            results.append(measure_apart(name, path, options.time_limit, not options.no_warm_up))
            add_gaps(results)
            if options.output:
                save(options.output, instances, options.time_limit)
    print(f"{instance.name}, {options.time_limit:g} s each")
    print(table(results, LINE), flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    if options.only:
        if not options.no_warm_up:
            warm_up(options.only)
        print(json.dumps(measure(options.only, read(options.instance), options.time_limit)))
        return 0
    if options.output:
        require_writable(options.output)
    size = {"jobs": options.jobs, "clusters": options.clusters, "slots": options.slots, "load": options.load}
    instances: list[Numbers] = []
    for seed in options.seeds[:1] if options.instance else options.seeds:
        made = None if options.instance else carbonopt.generate("mosp", preset="bench", seed=seed, **size)
        instance = read(options.instance) if options.instance else made
        assert isinstance(instance, MospInstance)
        compare(instance, options, instances)
    if len(instances) > 1:
        print(f"\nall {len(instances)} instances")
        print(table(summary([each["results"] for each in instances]), CASE))
    return 0


if __name__ == "__main__":
    sys.exit(main())

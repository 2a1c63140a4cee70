"""Solve ecas instances with carbonopt, HiGHS and CP-SAT in equal time, and compare the gaps.

    python benchmarks/peers/ecas_gap.py --jobs 50 --machines 3 --slots 48 --seeds 21,22,23 --time-limit 20
    python benchmarks/peers/ecas_gap.py --instance instance.json --cases price,milp -o results.json
    python benchmarks/peers/ecas_gap.py --smoke

    price              carbonopt's prices, and its ruin and recreation
    greedy             carbonopt's insertion
    lp                 the LP relaxation: a bound
    milp               HiGHS on the whole program
    cp-sat-interval    OR-Tools CP-SAT: optional intervals for jobs, and for every period that a machine can be on
    cp-sat-4           the same with four periods a machine at most, which is smaller; it proves no bound

Each line is a process of its own with one thread; highspy and ortools cannot share one anyway. A line has the time
limit in wall seconds, building included; CPU seconds are of the same span, and what to judge by. Loops are compiled
before. Schedules pass the checker. The columns are those of `mosp_gap.py`.
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
from functools import partial
from pathlib import Path

from ecas_gap_cpsat import cp_sat_interval
from machine import peak_bytes
from mosp_gap import memory_now, parse_lists
from mosp_gap_cpsat import Numbers, nothing
from mosp_gap_tables import CASE, LINE, add_gaps, summary, table

import carbonopt
from carbonopt.cli.compile import warm_up as compile_all
from carbonopt.core.files import require_writable, write_bytes
from carbonopt.core.threads import THREADS
from carbonopt.problems.ecas.data.instance import EcasInstance

SMOKE = {"jobs": 4, "machines": 2, "slots": 8, "load": 0.2}
SMOKE_SECONDS = 100.0
"""At which every line ends by itself."""
COSTS = ("cpu_s", "wall_s", "peak_mb", "rise_mb")


def by_method(name: str, instance: EcasInstance, seconds: float) -> Numbers:
    """Run a method of carbonopt."""
    found = carbonopt.solve(instance, name, time_limit=seconds, threads=1, mip_rel_gap=0.0)
    return {"objective": found.objective, "bound": found.bound, "status": str(found.status)}


CASES: dict[str, Callable[[EcasInstance, float], Numbers]] = {
    **{name: partial(by_method, name) for name in ("price", "greedy", "lp", "milp")},
    "cp-sat-interval": cp_sat_interval,
    "cp-sat-4": partial(cp_sat_interval, most_periods=4),
}


def measure(name: str, instance: EcasInstance, seconds: float) -> Numbers:
    """Run a case in this process, and return what it found and what that cost."""
    before = memory_now()
    wall = time.perf_counter()
    begun = time.process_time()
    try:
        found = CASES[name](instance, seconds)
    except (carbonopt.TooLargeError, MemoryError) as error:
        found = nothing(str(error).partition("\n")[0] or "out of memory")
    cost = (time.process_time() - begun, time.perf_counter() - wall)
    peak = peak_bytes()
    return {"name": name, **found, **dict(zip(COSTS, (*cost, peak / 1e6, (peak - before) / 1e6), strict=True))}


def measure_apart(name: str, path: Path, seconds: float) -> Numbers:
    """Run a case in a process of its own."""
    command = [sys.executable, __file__, "--only", name, "--instance", str(path), "--time-limit", str(seconds)]
    environment = os.environ | dict.fromkeys(THREADS, "1")
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment, check=False)
    if done.returncode:
        return {"name": name, **nothing(f"ended with {done.returncode}"), **dict.fromkeys(COSTS)}
    found: Numbers = json.loads(done.stdout.splitlines()[-1])
    return found


def compare(instance: EcasInstance, options: argparse.Namespace) -> list[Numbers]:
    """Run all lines on one instance, print the table, and return it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "instance.json"
        instance.write(path)
        results = [measure_apart(name, path, options.time_limit) for name in options.cases]
    add_gaps(results)
    print(f"{instance.name}, {options.time_limit:g} s each")
    print(table(results, LINE), flush=True)
    return results


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options, refusing what cannot be run."""
    parser = argparse.ArgumentParser(description="Compare certified gaps on ecas instances in equal time.")
    parser.add_argument("--jobs", type=int, default=50)
    parser.add_argument("--machines", type=int, default=3)
    parser.add_argument("--slots", type=int, default=48)
    parser.add_argument("--load", type=float, default=0.4)
    parser.add_argument("--family", default="challenge", help="or heavy-tails, data-centre")
    parser.add_argument("--seeds", default="1", help="comma-separated, one instance each")
    parser.add_argument("--time-limit", type=float, default=20.0, help="of each line, wall time [s]")
    parser.add_argument("--cases", default=",".join(CASES), help="comma-separated; all: %(default)s")
    parser.add_argument("--instance", type=Path, help="a file instead of generated instances")
    parser.add_argument("--smoke", action="store_true", help="one tiny instance, which every line closes")
    parser.add_argument("-o", "--output", type=Path, help="write the results as JSON, again after each instance")
    options = parse_lists(parser, arguments, CASES)
    if options.smoke:
        vars(options).update(SMOKE, time_limit=SMOKE_SECONDS)
    return options


def read(path: Path) -> EcasInstance:
    """Return the instance in a file."""
    instance = carbonopt.read(path)
    if not isinstance(instance, EcasInstance):
        raise SystemExit(f"{path}: must be of ecas, not of {instance.problem}")
    return instance


def generated(options: argparse.Namespace, seed: int) -> EcasInstance:
    """Return an instance of the sizes that were asked for."""
    sizes = {name: getattr(options, name) for name in ("jobs", "machines", "slots", "load", "family")}
    instance = carbonopt.generate("ecas", seed=seed, **sizes)
    assert isinstance(instance, EcasInstance)
    return instance


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    if options.only:
        instance = read(options.instance)
        if options.only in ("price", "greedy") and instance.time.slots > SMOKE["slots"]:
            compile_all("ecas")
        print(json.dumps(measure(options.only, instance, options.time_limit)))
        return 0
    if options.output:
        require_writable(options.output)
    instances = [read(options.instance)] if options.instance else [generated(options, seed) for seed in options.seeds]
    results: list[list[Numbers]] = []
    for instance in instances:
        results.append(compare(instance, options))
        if options.output:
            pairs = zip(instances, results, strict=False)
            found = [{"instance": one.name, "sha256": one.sha256, "results": lines} for one, lines in pairs]
            about = {"time_limit_s": options.time_limit, "threads": 1, "instances": found}
            write_bytes(options.output, (json.dumps(about, indent=2, allow_nan=False) + "\n").encode())
    if len(results) > 1:
        print(f"\nall {len(results)} instances")
        print(table(summary(results), CASE))
    return 0


if __name__ == "__main__":
    sys.exit(main())

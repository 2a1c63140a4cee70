"""What `elastic_week.py` compares: how each line is run, timed and read."""

from __future__ import annotations

import contextlib
import hashlib
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elastic_plain import Algorithm1, Walk
from machine import peak_bytes

import carbonopt
from carbonopt.check import report_on
from carbonopt.cli.compile import warm_up as compile_all
from carbonopt.core.options import Options
from carbonopt.milp import highs
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.methods.greedy import allocate

SHORT_SECONDS, REPEATS = 0.5, 5
"""Runs below so many CPU seconds are repeated, so often in all."""
WARM_UP = {"jobs": 12, "utilisation": 0.6, "arrival_hours": 24, "seed": 1}
"""Small, and hard enough to take `price` through all its steps."""
WARM_UP_SECONDS = 1.0
"""Of the small instance, at most [s]."""

Numbers = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """One line: what it is called, its model, and how to run and read it."""

    title: str
    model: str
    run: Callable[[ElasticInstance, Numbers], Any]
    read: Callable[[ElasticInstance, Any], Numbers]


def schedule_numbers(instance: ElasticInstance, schedule: dict[str, Any]) -> Numbers:
    """Let the checker say what a schedule costs, and if it is one."""
    report = report_on(instance, schedule)
    kinds = [violation.constraint for violation in report.violations]
    faults = ", ".join(f"{kinds.count(kind)} x {kind}" for kind in sorted(set(kinds)))
    digest = hashlib.sha256(json.dumps(schedule).encode()).hexdigest()
    note = f"violates: {faults}" if faults else "feasible"
    return {"objective": report.objective, "feasible": not faults, "schedule_sha256": digest, "note": note}


def greedy(title: str, variant: str) -> Case:
    """Carbonopt's Algorithm 1."""
    model = "fluid" if variant == "fluid" else "integer"
    return Case(title, model, lambda week, _: allocate(week, variant).schedule(week), schedule_numbers)


def plain(title: str, printed: bool, recompute: bool) -> Case:
    """Algorithm 1 in plain Python."""

    def run(week: ElasticInstance, limits: Numbers) -> Walk:
        return Algorithm1(week, printed).run(recompute, limits["plain_seconds"] if recompute else None)

    def read(week: ElasticInstance, walk: Walk) -> Numbers:
        if walk.share == 1:
            return schedule_numbers(week, walk.schedule)
        return {"note": f"stopped after {walk.share:.1%} of the units"}

    return Case(title, "integer", run, read)


def solved(title: str, model: str, method: str, limited: bool) -> Case:
    """A method of carbonopt."""

    def run(week: ElasticInstance, limits: Numbers) -> carbonopt.Solution:
        return carbonopt.solve(week, method, time_limit=limits["time_limit"] if limited else None, threads=1)

    def read(_: ElasticInstance, found: carbonopt.Solution) -> Numbers:
        own = found.info
        iterations = [f"{own[key]:,} {key[:-11]}" for key in ("simplex_iterations", "ipm_iterations") if own.get(key)]
        note = ", ".join([str(found.status), *iterations])
        objective = own.get("lp_optimum") if found.objective is None else found.objective
        return {"objective": objective, "bound": found.bound, "feasible": found.has_solution, "note": note}

    return Case(title, model, run, read)


def interior_point() -> Case:
    """HiGHS's interior point method with crossover; its claim is not certified, so it is no bound here."""

    def run(week: ElasticInstance, _: Numbers) -> highs.Result:
        return highs.solve(carbonopt.formulate(week, "lp"), Options(time_limit=None, threads=1), lp_solver="ipm")

    def read(_: ElasticInstance, found: highs.Result) -> Numbers:
        note = f"{found.status}, {found.info['ipm_iterations']:,} ipm"
        return {"objective": found.objective, "feasible": found.values is not None, "note": note}

    return Case("HiGHS, LP: interior point", "fluid", run, read)


CASES = {
    "plain-recomputed": plain("plain Python, printed, recomputed", printed=True, recompute=True),
    "plain-printed": plain("plain Python, printed, running", printed=True, recompute=False),
    "plain-corrected": plain("plain Python, corrected, running", printed=False, recompute=False),
    "greedy-printed": greedy("Algorithm 1, printed", "printed"),
    "greedy-corrected": greedy("Algorithm 1, corrected", "corrected"),
    "milp": solved("HiGHS, MILP", "integer", "milp", limited=True),
    "price-integer": solved("price, integer", "integer", "price", limited=True),
    "greedy-fluid": greedy("Algorithm 1, fluid", "fluid"),
    "lp": solved("HiGHS, LP: its choice", "fluid", "lp", limited=False),
    "lp-ipm": interior_point(),
    "price-fluid": solved("price, fluid", "fluid", "price", limited=False),
}


def warm_up(case: Case) -> None:
    """Load every module that a case needs, and every compiled loop."""
    compile_all("elastic")
    small = carbonopt.generate("elastic", model=case.model, **WARM_UP)
    assert isinstance(small, ElasticInstance)
    case.run(small, {"time_limit": WARM_UP_SECONDS, "plain_seconds": None})


def forget_peak() -> None:
    """Let the peak of this process begin anew; the warm-up's, with numba's compiler, may be higher than the run's."""
    with contextlib.suppress(OSError):  # Linux only
        Path("/proc/self/clear_refs").write_text("5")


def measure(case: Case, instance: ElasticInstance, limits: Numbers) -> Numbers:
    """Run a case in this process, short ones several times."""
    week = instance.with_model(case.model)
    cpu: list[float] = []
    wall: list[float] = []
    peak = 0
    forget_peak()
    while not cpu or (cpu[0] < SHORT_SECONDS and len(cpu) < REPEATS):
        before, began, clock = peak_bytes(), time.process_time(), time.perf_counter()
        found = case.run(week, limits)
        cpu.append(time.process_time() - began)
        wall.append(time.perf_counter() - clock)
        peak = max(peak, peak_bytes() - before)
    times = {"cpu_s": statistics.median(cpu), "wall_s": statistics.median(wall), "peak_mb": peak / 1e6}
    return {"objective": None, "bound": None, "feasible": False} | times | case.read(week, found)

"""The lines of `mosp_gap.py`: each takes an instance and the wall seconds it may use, building included.

Solvers and modelling tools are imported where they are used, since highspy and ortools cannot share a process.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from machine import installed
from mosp_data import placements, read_data
from mosp_gap_cpsat import Numbers, cp_sat_boolean, cp_sat_interval, nothing
from mosp_models import TOOLS, carbonopt_arrays

import carbonopt
from carbonopt.check import report_on
from carbonopt.core.options import Options, Schedule
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.data.schedule import as_schedule
from carbonopt.problems.mosp.formulation.objective import placement_value
from carbonopt.problems.mosp.formulation.program import estimate_size, refuse_if_too_large

Case = Callable[[MospInstance, float], Numbers]
MOST_COLUMNS = {"pyomo": 3_000_000}
"""Programs of more columns are refused: Pyomo needs some kB for each."""
LINOPY = (0, 10)
"""The first version that has the sparse models of `mosp_models.py`."""
TOLERANCE = 1e-7
"""HiGHS's own, of dual feasibility; the bounds of lines that leave it there are weakened by twice that a job."""


def checked(instance: MospInstance, schedule: Schedule | None) -> float | None:
    """Return the checker's objective; None without a schedule that violates nothing."""
    if schedule is None:
        return None
    report = report_on(instance, schedule)
    return None if report.violations else report.objective


def by_method(name: str) -> Case:
    """Return a case that runs a method of carbonopt."""

    def run(instance: MospInstance, seconds: float) -> Numbers:
        found = carbonopt.solve(instance, name, time_limit=seconds, threads=1, mip_rel_gap=0.0)
        return {"objective": found.objective, "bound": found.bound, "status": str(found.status)}

    return run


def highs_alone(instance: MospInstance, seconds: float) -> Numbers:
    """Give the whole program to HiGHS, with no schedule to start from."""
    options = Options(time_limit=seconds, threads=1, mip_rel_gap=0.0)
    from carbonopt.milp import highs
    from carbonopt.problems.mosp.formulation.program import build
    from carbonopt.problems.mosp.methods.bounds import free_bound, tighter

    value = placement_value(instance)
    form = build(instance, value)
    result = highs.solve(form.program, options)
    bound = tighter("min", result.bound, free_bound(instance, value))
    schedule = None if result.values is None else form.schedule(result.values, instance)
    return {"objective": checked(instance, schedule), "bound": bound, "status": str(result.status)}


def highs_root(instance: MospInstance, seconds: float) -> Numbers:
    """Let HiGHS strengthen the LP by cuts and try its heuristics at the root, and stop before it branches."""
    options = Options(time_limit=seconds)
    from mosp_build import load_arrays

    from carbonopt.problems.mosp.formulation.program import build

    form = build(instance, placement_value(instance))
    highs = load_arrays(carbonopt_arrays(form.program))
    values, found = run_highs(highs, instance, options, mip_max_nodes=1)
    schedule = None if values is None else form.schedule(values, instance)
    return found | {"objective": checked(instance, schedule)}


def modelled(name: str) -> Case:
    """Return a case that states the program with one of the tools of `mosp_models.py`, for HiGHS to solve."""

    def run(instance: MospInstance, seconds: float) -> Numbers:
        options = Options(time_limit=seconds)
        if status := absent(name) or too_large(name, instance):
            return nothing(status)
        try:
            data = read_data(instance)
        except SystemExit as refused:
            return nothing(str(refused))
        from mosp_build import load_arrays

        tool = TOOLS[name]
        model = tool.model(data)
        highs = load_arrays(tool.arrays(model)) if tool.load is None else tool.load(model)
        values, found = run_highs(highs, instance, options)
        if values is None:
            return found
        chosen, x = np.flatnonzero(values > 0.5), placements(data)
        schedule = as_schedule(instance, x.job[chosen], x.cluster[chosen], x.start[chosen])
        return found | {"objective": checked(instance, schedule)}

    return run


def absent(name: str) -> str | None:
    """Return why a tool cannot be used; None where it can."""
    if find_spec(name) is None:
        return f"{name} is not installed"
    version = installed(name) or "0.0"
    old = name == "linopy" and tuple(int(part) for part in version.split(".")[:2]) < LINOPY
    return f"linopy {version} is installed, 0.10 is needed" if old else None


def too_large(name: str, instance: MospInstance) -> str | None:
    """Return what a tool cannot hold; None where it can.

    Raises
    ------
    TooLargeError
        If not even the program's arrays would fit into memory.
    """
    refuse_if_too_large(instance)
    columns, _ = estimate_size(instance)
    return f"too large: {columns:,} columns" if columns > MOST_COLUMNS.get(name, columns) else None


def run_highs(highs: Any, instance: MospInstance, options: Options, **settings: Any) -> tuple[Any, Numbers]:
    """Solve the program in a HiGHS object in what is left of the time; return values, if any, and bound and status."""
    if options.remaining == 0:
        return None, nothing(f"out of time: built for {options.elapsed:.1f} s")
    settings |= {"output_flag": False, "threads": 1, "mip_rel_gap": 0.0, "mip_abs_gap": 0.0}
    for key, value in (settings | {"time_limit": options.remaining}).items():
        highs.setOptionValue(key, value)
    highs.run()
    info, solution, status = highs.getInfo(), highs.getSolution(), highs.getModelStatus()
    # The status of a point is 2 where HiGHS holds it to be feasible; else its values are not one.
    values = np.array(solution.col_value) if solution.value_valid and info.primal_solution_status == 2 else None
    text = str(highs.modelStatusToString(status)).lower()
    text = {"time limit reached": "time_limit", "solution limit reached": "root is done"}.get(text, text)
    known = text in ("optimal", "time_limit", "root is done") and np.isfinite(info.mip_dual_bound)
    bound = float(info.mip_dual_bound) - 2 * TOLERANCE * len(instance.jobs) if known else None
    return values, nothing(text) | {"bound": bound}


CASES: dict[str, Case] = {
    "price": by_method("price"),
    "lp": by_method("lp"),
    "highs-root": highs_root,
    "milp": by_method("milp"),
    "highs": highs_alone,
    "pyomo": modelled("pyomo"),
    "linopy": modelled("linopy"),
    "cp-sat-boolean": cp_sat_boolean,
    "cp-sat-interval": cp_sat_interval,
    "lp-rounding": by_method("lp-rounding"),
    "lp-rounding-caspian": by_method("lp-rounding-caspian"),
    "greedy-clean": by_method("greedy-clean"),
    "greedy-random": by_method("greedy-random"),
}

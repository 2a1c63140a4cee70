"""CP-SAT on mosp, in boolean and in interval form. Costs in millionths, rounded down, so that its bound stays one.

ortools is imported where it is used: it and highspy cannot share a process, so nothing here may import a solver.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from carbonopt.check import report_on
from carbonopt.core.options import Options
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.data.schedule import as_schedule
from carbonopt.problems.mosp.formulation.objective import placement_value
from carbonopt.problems.mosp.formulation.program import Placements, estimate_size, possible_placements

Numbers = dict[str, Any]
Ints = npt.NDArray[np.int64]
Reader = Callable[[Any], tuple[Ints, Ints, Ints]]
"""Jobs that run, their clusters and their starts, from a solver that has a solution."""
Form = Callable[[Any, MospInstance, Options], tuple[Any, Reader] | None]
"""Adds variables and constraints to a model, returns its objective and a reader; None where the time ran out."""
MILLION = 1_000_000
MOST_PLACEMENTS = 3_000_000
"""Models of more placements (booleans, or entries of the tables of costs) are refused: they need many GB."""


def nothing(status: str) -> Numbers:
    """Return the result of a line that found nothing, and why."""
    return {"objective": None, "bound": None, "status": status}


def refusal(instance: MospInstance, what: str) -> str | None:
    """Return why a form cannot state the instance; None where it can."""
    if find_spec("ortools") is None:
        return "ortools is not installed"
    if (instance.jobs.demand != np.floor(instance.jobs.demand)).any():
        return "only whole demands"
    placements, _ = estimate_size(instance)
    return f"too large: {placements:,} {what}" if placements > MOST_PLACEMENTS else None


def solve(form: Form, instance: MospInstance, seconds: float) -> Numbers:
    """Build a form and solve it in what is left of the time."""
    options = Options(time_limit=seconds)
    from ortools.sat.python import cp_model  # type: ignore[import-not-found, unused-ignore]

    model = cp_model.CpModel()
    built = form(model, instance, options)
    if built is None or options.remaining == 0:
        return nothing(f"out of time: built for {options.elapsed:.1f} s")
    cost, read = built
    model.minimize(cost)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = options.remaining
    status = solver.solve(model)
    text, bound = solver.status_name(status).lower(), solver.best_objective_bound / MILLION
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):  # a bound of 0 is then what an empty answer holds
        return nothing(text) | {"bound": bound if status == cp_model.UNKNOWN and bound else None}
    report = report_on(instance, as_schedule(instance, *read(solver)))
    return {"objective": None if report.violations else report.objective, "bound": bound, "status": text}


def in_millionths(instance: MospInstance, placements: Placements) -> Ints:
    """Return what each placement costs, rounded down."""
    value, job = placement_value(instance), placements.job
    cost = value.of(job, placements.cluster, placements.start) - value.rounding()[job]
    return np.floor(cost * MILLION).astype(np.int64)


def rejection_cost(instance: MospInstance) -> int | None:
    """Return what a rejected job costs, rounded down; None where every job must run."""
    price = instance.objective.rejection_cost
    return int(np.floor(price * MILLION)) if np.isfinite(price) else None


def whole_limits(instance: MospInstance) -> Ints:
    """Return how many whole units fit, shape (M, R, T)."""
    return np.floor(instance.clusters.limit).astype(np.int64)


# One boolean a placement


def cp_sat_boolean(instance: MospInstance, seconds: float) -> Numbers:
    """State the instance as the integer program that it is: every variable and row of `milp`."""
    status = refusal(instance, "booleans")
    return nothing(status) if status else solve(boolean_form, instance, seconds)


def boolean_form(model: Any, instance: MospInstance, options: Options) -> tuple[Any, Reader] | None:
    """Add one boolean a placement, exactly one of them a job, and one linear row a cluster, resource and slot."""
    from ortools.sat.python.cp_model import LinearExpr  # type: ignore[import-not-found, unused-ignore]

    placements, price = possible_placements(instance), rejection_cost(instance)
    x = [model.new_bool_var("") for _ in range(len(placements))]
    costs, out = in_millionths(instance, placements).tolist(), []
    ends = np.searchsorted(placements.job, np.arange(1, len(instance.jobs) + 1)).tolist()
    for first, end in zip([0, *ends[:-1]], ends, strict=True):
        if options.remaining == 0:
            return None
        rejected = [] if price is None else [model.new_bool_var("")]
        model.add_exactly_one(x[first:end] + rejected)
        out += rejected
    for used, needs, limit in capacity_rows(instance, placements):
        if options.remaining == 0:
            return None
        model.add(LinearExpr.weighted_sum([x[k] for k in used], needs) <= limit)

    def read(solver: Any) -> tuple[Ints, Ints, Ints]:
        chosen = np.array([k for k, here in enumerate(x) if solver.boolean_value(here)], dtype=np.int64)
        return placements.job[chosen], placements.cluster[chosen], placements.start[chosen]

    return LinearExpr.weighted_sum(x + out, costs + [price or 0] * len(out)), read


def capacity_rows(instance: MospInstance, placements: Placements) -> list[tuple[list[int], list[int], int]]:
    """Return the placements that use each cluster, resource and slot, what they need there, and how much there is."""
    limits, jobs, rows = whole_limits(instance), instance.jobs, []
    slots, duration = limits.shape[2], jobs.duration[placements.job]
    column = np.repeat(np.arange(len(placements)), duration)
    within = np.arange(len(column)) - np.repeat(np.cumsum(duration) - duration, duration)
    place = (placements.cluster * slots + placements.start)[column] + within
    order = np.argsort(place, kind="stable")
    ends = np.searchsorted(place[order], np.arange(1, len(limits) * slots + 1))
    for k, columns in enumerate(np.split(column[order], ends[:-1])):
        for r in range(limits.shape[1]):
            needs = jobs.demand[placements.job[columns], r].astype(np.int64)
            if needs.any():
                rows.append((columns.tolist(), needs.tolist(), int(limits[k // slots, r, k % slots])))
    return rows


# One optional interval a job and cluster


def cp_sat_interval(instance: MospInstance, seconds: float) -> Numbers:
    """State the instance with intervals, tables of costs, and one cumulative a cluster and resource."""
    status = refusal(instance, "entries in tables of costs")
    limit = instance.clusters.capacity
    if status is None and (limit != limit[:, :, :1]).any():
        status = "only constant capacities"
    return nothing(status) if status else solve(interval_form, instance, seconds)


def interval_form(model: Any, instance: MospInstance, options: Options) -> tuple[Any, Reader] | None:
    """Add the start of each job, an optional interval on each cluster, and its cost by a table of the starts."""
    placements, limits, jobs = possible_placements(instance, fitting=False), whole_limits(instance), instance.jobs
    costs, price = in_millionths(instance, placements), rejection_cost(instance)
    ends = np.searchsorted(placements.job, np.arange(1, len(jobs) + 1)).tolist()
    running: list[list[tuple[Any, int]]] = [[] for _ in limits]
    chosen: list[tuple[Any, list[tuple[int, Any]]]] = []
    paid = []
    for i, (begin, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
        if options.remaining == 0:
            return None
        first, last = int(jobs.arrival[i]), max(int(jobs.arrival[i]), instance.time.slots - int(jobs.duration[i]))
        table = costs[begin:end].reshape(-1, last - first + 1)
        clusters = placements.cluster[begin : end : last - first + 1].tolist()
        start, shifted = model.new_int_var(first, last, ""), model.new_int_var(0, last - first, "")
        model.add(shifted == start - first)
        used = [(j, model.new_bool_var("")) for j in clusters]
        for j, here in used:
            running[j].append((model.new_optional_fixed_size_interval_var(start, int(jobs.duration[i]), here, ""), i))
        on = [here for _, here in used]
        if price is None:
            model.add_exactly_one(on)
            paid.append(cost_by_place(model, table, shifted, on) if on else 0)
        else:
            out = model.new_bool_var("")
            model.add_exactly_one([*on, out])
            paid.append(cost_by_cluster(model, table, shifted, on, out, price))
        chosen.append((start, used))
    for j, runs in enumerate(running):
        for r in range(limits.shape[1]):
            needs = [int(jobs.demand[i, r]) for _, i in runs]
            model.add_cumulative([run for run, _ in runs], needs, int(limits[j, r, 0]))

    def read(solver: Any) -> tuple[Ints, Ints, Ints]:
        runs = [
            (i, j, solver.value(start))
            for i, (start, used) in enumerate(chosen)
            for j, here in used
            if solver.boolean_value(here)
        ]
        job, cluster, begin = np.array(runs, dtype=np.int64).reshape(-1, 3).T
        return job, cluster, begin

    return sum(paid), read


def cost_by_place(model: Any, table: Ints, shifted: Any, on: list[Any]) -> Any:
    """Return the cost of a job that must run, by one table of its clusters and starts.

    At 60 jobs in 6 s it finds schedules at about half the cost of those that a table a cluster finds.
    """
    place = model.new_int_var(0, table.size - 1, "")
    for k, here in enumerate(on):
        model.add(place == k * table.shape[1] + shifted).only_enforce_if(here)
    cost = model.new_int_var(int(table.min()), int(table.max()), "")
    model.add_element(place, table.ravel().tolist(), cost)
    return cost


def cost_by_cluster(model: Any, table: Ints, shifted: Any, on: list[Any], out: Any, price: int) -> Any:
    """Return the cost of a job that may stay out, by a table a cluster: here that is better than one of all."""
    cost = model.new_int_var(int(table.min(initial=price)), int(table.max(initial=price)), "")
    for here, of_start in zip(on, table.tolist(), strict=True):
        of_cluster = model.new_int_var(min(of_start), max(of_start), "")
        model.add_element(shifted, of_start, of_cluster)
        model.add(cost >= of_cluster).only_enforce_if(here)
    model.add(cost >= price).only_enforce_if(out)
    return cost

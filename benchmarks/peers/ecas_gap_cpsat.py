"""CP-SAT on ecas: optional intervals for jobs and for the periods in which machines are on.

Costs are in millionths and rounded down, so that the bound stays one. ortools is imported where it is used: it and
highspy cannot share a process, so nothing here may import a solver.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from mosp_gap_cpsat import MILLION, Numbers, nothing

from carbonopt.check import report_on
from carbonopt.core.arrays import prefix_sums
from carbonopt.core.options import Options, Schedule
from carbonopt.problems.ecas.data.instance import EcasInstance
from carbonopt.problems.ecas.data.schedule import as_schedule

MOST_PAIRS = 2_000_000
"""Pairs of a job and a period in which it could run: larger models are refused, they need many GB."""


def periods(instance: EcasInstance) -> int:
    """Return in how many periods a machine is on at most in some optimum.

    Between two periods a machine is off for a slot. At prices that are nowhere negative each period has a job.
    """
    most = (instance.time.slots + 1) // 2
    return most if (instance.value_per_kwh < 0).any() else min(most, len(instance.jobs))


def cp_sat_interval(instance: EcasInstance, seconds: float, most_periods: int = 0) -> Numbers:
    """Solve an instance.

    Parameters
    ----------
    instance, seconds
        What to solve, and the wall time, building included.
    most_periods
        Of each machine; with fewer than `periods` there is no bound. 0 for all of them.
    """
    options = Options(time_limit=seconds)
    if find_spec("ortools") is None:
        return nothing("ortools is not installed")
    if instance.constraints:
        return nothing(f"not stated: {', '.join(instance.constraints)}")
    count = min(most_periods or periods(instance), periods(instance))
    if count * len(instance.machines) * len(instance.jobs) > MOST_PAIRS:
        return nothing(f"too large: {count} periods of {len(instance.machines)} machines, {len(instance.jobs)} jobs")
    from ortools.sat.python import cp_model  # type: ignore[import-not-found, unused-ignore]

    model = cp_model.CpModel()
    on = [_machine(model, instance, m, count) for m in range(len(instance.machines))]
    jobs = []
    for j in range(len(instance.jobs)):
        if options.remaining == 0:
            return nothing(f"out of time: built for {options.elapsed:.1f} s")
        jobs.append(_job(model, instance, j, on))
    for m in range(len(on)):
        _add_capacity(model, instance, m, jobs)
    model.minimize(sum(cost for _, _, cost in jobs) + sum(cost for machine in on for *_, cost in machine))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = max(options.remaining, 0.01)
    status = solver.solve(model)
    text = solver.status_name(status).lower()
    bound = solver.best_objective_bound / MILLION if count == periods(instance) else None
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):  # a bound of 0 is then what an empty answer holds
        return nothing(text) | {"bound": bound if status == cp_model.UNKNOWN and bound else None}
    report = report_on(instance, _schedule(instance, solver, jobs, on))
    return {"objective": None if report.violations else report.objective, "bound": bound, "status": text}


def _machine(model: Any, instance: EcasInstance, m: int, count: int) -> list[tuple[Any, Any, Any, Any]]:
    """Add the periods of a machine, in the order of time: begin, end, whether there is one, and its cost."""
    slots = instance.time.slots
    value = prefix_sums(instance.idle_cost[m])
    least = np.floor(value * MILLION).astype(np.int64).tolist()  # what is counted to the end, rounded down,
    most = np.ceil(value * MILLION).astype(np.int64).tolist()  # less what is counted to the begin, rounded up
    change = int(np.floor((instance.machines.up_cost[m] + instance.machines.down_cost[m]) * MILLION))
    found = []
    last = None
    for _ in range(count):
        begin, end = model.new_int_var(0, slots, ""), model.new_int_var(0, slots, "")
        here = model.new_bool_var("")
        to_end, to_begin = model.new_int_var(min(least), max(least), ""), model.new_int_var(min(most), max(most), "")
        model.add_element(end, least, to_end)
        model.add_element(begin, most, to_begin)
        span = max(least) - min(most)
        cost = model.new_int_var(min(0, min(least) - max(most) + change), max(0, span + change), "")
        model.add(cost == to_end - to_begin + change).only_enforce_if(here)
        model.add(cost == 0).only_enforce_if(~here)
        model.add(begin + 1 <= end).only_enforce_if(here)
        model.add(begin == slots).only_enforce_if(~here)  # those that are not there come last
        model.add(end == slots).only_enforce_if(~here)
        if last is not None:
            model.add_implication(here, last[2])
            model.add(last[1] + 1 <= begin).only_enforce_if(here)
        last = (begin, end, here, cost)
        found.append(last)
    return found


def _job(model: Any, instance: EcasInstance, j: int, on: list[Any]) -> tuple[Any, dict[int, tuple[Any, Any]], Any]:
    """Add a job: its start, by machine whether it is there and its interval, and the cost of its energy."""
    jobs = instance.jobs
    first, last, length = int(jobs.arrival[j]), int(jobs.last_start[j]), int(jobs.duration[j])
    start = model.new_int_var(first, last, "")
    places = {}
    for m in np.flatnonzero(instance.fits[j]).tolist():
        here = model.new_bool_var("")
        places[m] = (here, model.new_optional_fixed_size_interval_var(start, length, here, ""))
        within = []
        for begin, end, _, _ in on[m]:
            inside = model.new_bool_var("")
            model.add(begin <= start).only_enforce_if(inside)
            model.add(start + length <= end).only_enforce_if(inside)
            within.append(inside)
        model.add(sum(within) == here)
    model.add_exactly_one([here for here, _ in places.values()])
    value = prefix_sums(instance.value_per_kwh)
    kwh = float(instance.job_kwh[j])
    table = np.floor(kwh * (value[first + length : last + length + 1] - value[first : last + 1]) * MILLION)
    cost = model.new_int_var(int(table.min()), int(table.max()), "")
    shifted = model.new_int_var(0, last - first, "")
    model.add(shifted == start - first)
    model.add_element(shifted, table.astype(np.int64).tolist(), cost)
    return start, places, cost


def _add_capacity(model: Any, instance: EcasInstance, m: int, jobs: list[Any]) -> None:
    runs = [(places[m][1], j) for j, (_, places, _) in enumerate(jobs) if m in places]
    for r in range(len(instance.resources)):
        use = [int(instance.jobs.use[j, r]) for _, j in runs]
        model.add_cumulative([run for run, _ in runs], use, int(instance.machines.capacity[m, r]))


def _schedule(instance: EcasInstance, solver: Any, jobs: list[Any], on: list[Any]) -> Schedule:
    start = [solver.value(begin) for begin, _, _ in jobs]
    machine = [next(m for m, (here, _) in places.items() if solver.boolean_value(here)) for _, places, _ in jobs]
    is_on = np.zeros((len(instance.machines), instance.time.slots), dtype=bool)
    for m, machine_periods in enumerate(on):
        for begin, end, here, _ in machine_periods:
            if solver.boolean_value(here):
                is_on[m, solver.value(begin) : solver.value(end)] = True
    return as_schedule(instance, range(len(jobs)), machine, start, is_on)

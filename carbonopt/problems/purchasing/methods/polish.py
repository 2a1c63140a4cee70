"""Best responses in continuous time: each job in turn starts where it costs least beside the others.

The program over slots does not see where within a slot the reserved CPUs are free. Here a job may also start or end
just when another one does.
"""

from __future__ import annotations

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray, prefix_sums
from carbonopt.core.work import Work
from carbonopt.problems.purchasing.data.instance import ROUNDING, PurchasingInstance
from carbonopt.problems.purchasing.data.purchase_options import ON_DEMAND, RESERVED, SPOT
from carbonopt.problems.purchasing.formulation.breakpoints import breakpoints
from carbonopt.problems.purchasing.methods.parameters import PolishParameters
from carbonopt.problems.purchasing.verify.accounts import load_of

BETTER = 1e-12
"""Relative difference of costs, and hours without a free CPU, that count as rounding."""
JOB_STEPS = 150.0
"""Loop steps of the best response of one job for each other one."""
CALLS = 500
"""Jobs that calls of numpy stand for."""


def polished(
    instance: PurchasingInstance,
    reserved: float,
    job: IntArray,
    start: FloatArray,
    option: IntArray,
    parameters: PolishParameters,
) -> tuple[FloatArray, IntArray]:
    """Return starts and options after a few sweeps of best responses; runs on spot CPUs stay as they are.

    Parameters
    ----------
    instance, reserved
        The instance, not limited and not of the model ``suspend-resume``, and R.
    job, start, option
        One run of each job.
    parameters
        How much work it may take.
    """
    start = start.copy()
    option = option.copy()
    movable = np.flatnonzero(option != SPOT)
    if instance.limits or len(job) > parameters.most_jobs:
        return start, option
    points = breakpoints(instance, job)
    work = Work()
    for _ in range(parameters.sweeps):
        moved = False
        for run in movable:
            if work.units > parameters.work:
                return start, option
            work.add(JOB_STEPS * (CALLS + len(job)))
            others = (option != SPOT) & (option != ON_DEMAND)
            others[run] = False
            end = start + instance.jobs.length_hours[job]
            busy = load_of(start[others], end[others], instance.jobs.cpus[job[others]])
            found = _best_response(instance, reserved, int(job[run]), start[run], int(option[run]), points[run], busy)
            moved = moved or found != (start[run], option[run])
            start[run], option[run] = found
        if not moved:
            break
    return start, option


def _best_response(
    instance: PurchasingInstance,
    reserved: float,
    j: int,
    start: float,
    option: int,
    points: FloatArray,
    busy: tuple[FloatArray, FloatArray],
) -> tuple[float, int]:
    """Return the best start and option of one job beside the load of the others."""
    moment, load = busy
    arrival, length, cpus = (
        float(getattr(instance.jobs, name)[j]) for name in ("arrival_hours", "length_hours", "cpus")
    )
    starts = np.clip(np.concatenate([[start], points, moment, moment - length]), *_window(instance, j))
    edges = np.arange(instance.time.slots + 1) * instance.time.slot_hours
    until = prefix_sums(instance.kg_per_cpu_hour) * instance.time.slot_hours
    kg = cpus * (np.interp(starts + length, edges, until) - np.interp(starts, edges, until))
    cost = instance.weights.carbon_kg * kg + instance.weights.wait_hours * (starts - arrival)
    price = instance.weights.cost_usd * instance.prices.on_demand_usd_per_cpu_hour
    times = np.concatenate([[0.0], moment, [instance.time.hours]])
    level = np.concatenate([[0.0], load])
    if instance.model == "splitting":
        over = np.clip(level + cpus - reserved, 0.0, cpus)
        costs = {option: cost + price * _between(times, over, starts, length)}
    else:
        full = _between(times, (level + cpus > reserved * (1 + ROUNDING)).astype(np.float64), starts, length)
        costs = {RESERVED: np.where(full <= BETTER, cost, np.inf), ON_DEMAND: cost + price * cpus * length}
    best = (start, option)
    value = costs[option][0]
    for code, values in costs.items():
        least = int(values.argmin())
        if values[least] < value - BETTER * abs(value):
            best = (float(starts[least]), code)
            value = values[least]
    return best


def _window(instance: PurchasingInstance, j: int) -> tuple[float, float]:
    arrival = float(instance.jobs.arrival_hours[j])
    return arrival, arrival + float(instance.max_wait_hours[j])


def _between(times: FloatArray, level: FloatArray, start: FloatArray, length: float) -> FloatArray:
    """Return the integral over each run of a function that is constant between `times`."""
    sums = np.concatenate([[0.0], np.cumsum(level * np.diff(times))])
    return np.asarray(np.interp(start + length, times, sums) - np.interp(start, times, sums))
